//! Calls of the catalog API.

use super::{identifier, not_set, options, types};
use firesteel_error::Result;
use firesteel_plan::{CatalogRequest, Show, Statement, StorageLevel, TableName};
use firesteel_proto::connect as proto;
use proto::catalog::CatType;

/// The level of a message, as it is.
pub(super) fn storage_level(message: &proto::StorageLevel) -> StorageLevel {
    StorageLevel {
        use_disk: message.use_disk,
        use_memory: message.use_memory,
        use_off_heap: message.use_off_heap,
        deserialized: message.deserialized,
        replication: message.replication,
    }
}

fn name(text: &str) -> Result<TableName> {
    Ok(TableName::of(identifier(text)?))
}

fn statement(statement: Statement) -> CatalogRequest {
    CatalogRequest::Statement(Box::new(statement))
}

/// The request of a message.
pub(super) fn request(message: &proto::Catalog) -> Result<CatalogRequest> {
    let call = message.cat_type.as_ref().ok_or_else(|| not_set("Catalog", "cat_type"))?;
    Ok(match call {
        CatType::CurrentDatabase(_) => CatalogRequest::CurrentDatabase,
        CatType::SetCurrentDatabase(call) => CatalogRequest::SetCurrentDatabase { name: call.db_name.clone() },
        CatType::ListDatabases(call) => CatalogRequest::ListDatabases { pattern: call.pattern.clone() },
        CatType::ListTables(call) => {
            CatalogRequest::ListTables { database: call.db_name.clone(), pattern: call.pattern.clone() }
        }
        CatType::ListFunctions(call) => {
            CatalogRequest::ListFunctions { database: call.db_name.clone(), pattern: call.pattern.clone() }
        }
        CatType::ListColumns(call) => {
            CatalogRequest::ListColumns { table: call.table_name.clone(), database: call.db_name.clone() }
        }
        CatType::GetDatabase(call) => CatalogRequest::GetDatabase { name: call.db_name.clone() },
        CatType::GetTable(call) => {
            CatalogRequest::GetTable { table: call.table_name.clone(), database: call.db_name.clone() }
        }
        CatType::GetFunction(call) => {
            CatalogRequest::GetFunction { function: call.function_name.clone(), database: call.db_name.clone() }
        }
        CatType::DatabaseExists(call) => CatalogRequest::DatabaseExists { name: call.db_name.clone() },
        CatType::TableExists(call) => {
            CatalogRequest::TableExists { table: call.table_name.clone(), database: call.db_name.clone() }
        }
        CatType::FunctionExists(call) => {
            CatalogRequest::FunctionExists { function: call.function_name.clone(), database: call.db_name.clone() }
        }
        CatType::CreateExternalTable(call) => CatalogRequest::CreateTable {
            table: call.table_name.clone(),
            path: call.path.clone(),
            source: call.source.clone(),
            description: None,
            schema: types::optional_type(call.schema.as_ref())?,
            options: options(&call.options),
            is_external: true,
        },
        CatType::CreateTable(call) => CatalogRequest::CreateTable {
            table: call.table_name.clone(),
            path: call.path.clone(),
            source: call.source.clone(),
            description: call.description.clone(),
            schema: types::optional_type(call.schema.as_ref())?,
            options: options(&call.options),
            is_external: false,
        },
        CatType::DropTempView(call) => CatalogRequest::DropTempView { name: call.view_name.clone() },
        CatType::DropGlobalTempView(call) => CatalogRequest::DropGlobalTempView { name: call.view_name.clone() },
        CatType::RecoverPartitions(call) => CatalogRequest::RecoverPartitions { table: call.table_name.clone() },
        CatType::IsCached(call) => CatalogRequest::IsCached { table: call.table_name.clone() },
        CatType::CacheTable(call) => CatalogRequest::CacheTable {
            table: call.table_name.clone(),
            storage_level: call.storage_level.as_ref().map(storage_level),
        },
        CatType::UncacheTable(call) => CatalogRequest::UncacheTable { table: call.table_name.clone() },
        CatType::ClearCache(_) => CatalogRequest::ClearCache,
        CatType::RefreshTable(call) => CatalogRequest::RefreshTable { table: call.table_name.clone() },
        CatType::RefreshByPath(call) => CatalogRequest::RefreshByPath { path: call.path.clone() },
        CatType::CurrentCatalog(_) => CatalogRequest::CurrentCatalog,
        CatType::SetCurrentCatalog(call) => CatalogRequest::SetCurrentCatalog { name: call.catalog_name.clone() },
        CatType::ListCatalogs(call) => CatalogRequest::ListCatalogs { pattern: call.pattern.clone() },
        CatType::DropTable(call) => statement(Statement::DropTable {
            name: name(&call.table_name)?,
            if_exists: call.if_exists,
            purge: call.purge,
        }),
        CatType::DropView(call) => {
            statement(Statement::DropView { name: name(&call.view_name)?, if_exists: call.if_exists })
        }
        CatType::CreateDatabase(call) => statement(create_database(call)?),
        CatType::DropDatabase(call) => statement(Statement::DropNamespace {
            name: name(&call.db_name)?,
            if_exists: call.if_exists,
            cascade: call.cascade,
        }),
        CatType::ListPartitions(call) => {
            statement(Statement::Show(Show::Partitions { table: name(&call.table_name)?, partition: None }))
        }
        CatType::ListViews(call) => {
            CatalogRequest::ListViews { database: call.db_name.clone(), pattern: call.pattern.clone() }
        }
        CatType::GetTableProperties(call) => {
            statement(Statement::Show(Show::TableProperties { table: name(&call.table_name)?, key: None }))
        }
        CatType::GetCreateTableString(call) => {
            statement(Statement::Show(Show::CreateTable { table: name(&call.table_name)?, as_serde: call.as_serde }))
        }
        CatType::TruncateTable(call) => {
            statement(Statement::Truncate { table: name(&call.table_name)?, partition: None })
        }
        CatType::AnalyzeTable(call) => statement(Statement::AnalyzeTable {
            name: name(&call.table_name)?,
            partition: None,
            columns: None,
            all_columns: false,
            no_scan: call.no_scan,
        }),
    })
}

/// The properties `comment` and `location` are the namespace's own.
fn create_database(call: &proto::CreateDatabase) -> Result<Statement> {
    let mut properties = options(&call.properties);
    let mut take = |key: &str| {
        let index = properties.iter().position(|(name, _)| name == key)?;
        Some(properties.remove(index).1)
    };
    let (comment, location) = (take("comment"), take("location"));
    Ok(Statement::CreateNamespace {
        name: name(&call.db_name)?,
        if_not_exists: call.if_not_exists,
        comment,
        location,
        properties,
    })
}
