//! Rows into a table of a database.

use super::options::JdbcOptions;
use super::session::{Fault, Session};
use super::url::{Database, sql_error};
use super::{describe, plain, schema_of};
use crate::error::from_datafusion;
use crate::options::SourceOptions;
use crate::request::SaveMode;
use arrow::array::RecordBatch;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, Literal, StructField, StructType, TimeZone, ddl};
use futures::StreamExt;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Statements are not longer than this, unless one row is.
const STATEMENT_BYTES: usize = 512 * 1024;

/// What to write.
pub struct JdbcWrite<'a> {
    pub mode: SaveMode,
    /// The columns of the plan, in order, with Spark types.
    pub schema: &'a StructType,
    /// Writer options; keys in any letter case.
    pub options: &'a [(String, String)],
    pub conf: &'a SqlConf,
}

/// What each task needs.
struct Task {
    options: JdbcOptions,
    zone: TimeZone,
    zone_name: String,
    types: Vec<DataType>,
    /// `INSERT INTO … VALUES `
    insert: String,
}

/// Fails for options and columns that no table can be written with.
pub fn check(request: &JdbcWrite<'_>) -> Result<()> {
    JdbcOptions::writer(&SourceOptions::new(request.options))?;
    for field in &request.schema.fields {
        let data_type = &field.data_type;
        if matches!(
            data_type,
            DataType::DayTimeInterval(..)
                | DataType::YearMonthInterval(..)
                | DataType::CalendarInterval
                | DataType::Variant
                | DataType::Time(_)
                | DataType::Geometry(_)
                | DataType::Geography(_)
        ) {
            return Err(SparkError::new("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE")
                .with("format", "JDBC")
                .with("columnName", firesteel_types::text::quote_identifier(&field.name))
                .with("columnType", format!("\"{}\"", data_type.sql())));
        }
    }
    Ok(())
}

/// Runs a plan and inserts its rows. Partitions that have ended stay where others fail, as in Spark.
pub async fn write(request: &JdbcWrite<'_>, plan: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> Result<()> {
    check(request)?;
    let options = JdbcOptions::writer(&SourceOptions::new(request.options))?;
    let zone = TimeZone::parse(&request.conf.time_zone)?;
    let database = options.address.database;
    let mut session = Session::open(&options, zone, &request.conf.time_zone).await?;
    let exists = session.execute(&database.exists(&options.table)).await.is_ok();
    let columns = match (exists, request.mode) {
        (true, SaveMode::ErrorIfExists) => {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1288").with("name", &options.table));
        }
        (true, SaveMode::Ignore) => {
            session.close().await;
            return Ok(());
        }
        (true, SaveMode::Append) => existing_columns(request, &options).await?,
        (true, SaveMode::Overwrite) if options.truncates && database.truncates_alone() => {
            let columns = existing_columns(request, &options).await?;
            run(&mut session, &database.truncate(&options.table, options.cascades)).await?;
            columns
        }
        (true, SaveMode::Overwrite) => {
            let create = create_statement(request, &options)?;
            run(&mut session, &format!("DROP TABLE {}", options.table)).await?;
            run(&mut session, &create).await?;
            request.schema.names().map(str::to_string).collect()
        }
        (false, _) => {
            run(&mut session, &create_statement(request, &options)?).await?;
            request.schema.names().map(str::to_string).collect()
        }
    };
    session.close().await;
    let count = options.partitions;
    if let Some(count) = count.filter(|count| *count < 1) {
        return Err(SparkError::new("_LEGACY_ERROR_TEMP_2087")
            .with("n", count.to_string())
            .with("jdbcNumPartitions", "numPartitions"));
    }
    let names: Vec<String> = columns.iter().map(|name| database.quoted(name)).collect();
    let insert = format!("INSERT INTO {} ({}) VALUES ", options.table, names.join(","));
    let types = request.schema.fields.iter().map(|field| plain(&field.data_type)).collect();
    let task = Task { zone, zone_name: request.conf.time_zone.clone(), types, insert, options };
    run_tasks(task, plan, context, count).await
}

async fn run(session: &mut Session, statement: &str) -> Result<()> {
    session.execute(statement).await.map_err(Fault::plain)
}

/// The table's own names of the columns that are written.
async fn existing_columns(request: &JdbcWrite<'_>, options: &JdbcOptions) -> Result<Vec<String>> {
    let described = describe(options, request.conf).await?;
    let schema = schema_of(options, &described, request.conf);
    let case_sensitive = request.conf.case_sensitive;
    let same = |a: &str, b: &str| if case_sensitive { a == b } else { a.eq_ignore_ascii_case(b) };
    let found = |field: &StructField| {
        let of_table = schema.names().find(|name| same(name, &field.name));
        of_table.map(str::to_string).ok_or_else(|| {
            let names: Vec<String> = request.schema.names().map(firesteel_types::text::quote_identifier).collect();
            SparkError::new("COLUMN_NOT_DEFINED_IN_TABLE")
                .with("colType", format!("\"{}\"", field.data_type.sql()))
                .with("colName", firesteel_types::text::quote_identifier(&field.name))
                .with("tableName", firesteel_types::text::quote_identifier(&options.table))
                .with("tableCols", names.join(", "))
        })
    };
    request.schema.fields.iter().map(found).collect()
}

/// The statement that makes the table.
fn create_statement(request: &JdbcWrite<'_>, options: &JdbcOptions) -> Result<String> {
    let database = options.address.database;
    let given = options.column_types.as_deref().map(|text| column_types(text, request)).transpose()?;
    let columns = request
        .schema
        .fields
        .iter()
        .map(|field| {
            let own = given.iter().flatten().find(|(name, _)| name.eq_ignore_ascii_case(&field.name));
            let data_type = match own {
                Some((_, text)) => text.clone(),
                None => database.type_name(&plain(&field.data_type))?,
            };
            let nullable = if field.nullable { "" } else { " NOT NULL" };
            Ok(format!("{} {data_type}{nullable}", database.quoted(&field.name)))
        })
        .collect::<Result<Vec<_>>>()?;
    let text = format!("CREATE TABLE {} ({}) {}", options.table, columns.join(", "), options.table_options);
    Ok(text.trim_end().to_string())
}

/// The types of the option `createTableColumnTypes`, as the database is told them.
fn column_types(text: &str, request: &JdbcWrite<'_>) -> Result<Vec<(String, String)>> {
    let types = ddl::parse_table_schema(text)?;
    crate::scan::check_names(&types, request.conf.case_sensitive)?;
    let case_sensitive = request.conf.case_sensitive;
    let same = |a: &str, b: &str| if case_sensitive { a == b } else { a.eq_ignore_ascii_case(b) };
    let mut all = Vec::new();
    for field in &types.fields {
        if !request.schema.names().any(|name| same(name, &field.name)) {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_1171")
                .with("col", &field.name)
                .with("schema", request.schema.catalog_string()));
        }
        all.push((field.name.clone(), field.data_type.sql()));
    }
    Ok(all)
}

/// Runs all tasks, not more at a time than there may be connections; the first that fails ends the others.
async fn run_tasks(
    task: Task,
    mut plan: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    most: Option<i32>,
) -> Result<()> {
    let partitions = plan.output_partitioning().partition_count();
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    // A file of SQLite has one writer.
    let most = if task.options.address.database == Database::Sqlite { 1 } else { most };
    if most == 1 && partitions > 1 {
        plan = Arc::new(CoalescePartitionsExec::new(plan));
    }
    let count = plan.output_partitioning().partition_count();
    let limit = Arc::new(tokio::sync::Semaphore::new(most.min(count).clamp(1, tokio::sync::Semaphore::MAX_PERMITS)));
    let task = Arc::new(task);
    let mut tasks: JoinSet<Result<()>> = JoinSet::new();
    for partition in 0..count {
        let (task, plan, context, limit) = (task.clone(), plan.clone(), context.clone(), limit.clone());
        tasks.spawn(async move {
            let _permit = limit.acquire().await.map_err(|error| SparkError::internal(error.to_string()))?;
            insert(&task, &plan, partition, context).await
        });
    }
    while let Some(ended) = tasks.join_next().await {
        match ended {
            Ok(result) => result?,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => return Err(SparkError::internal(error.to_string())),
            },
        }
    }
    Ok(())
}

/// Inserts the rows of a partition, in one transaction.
async fn insert(task: &Task, plan: &Arc<dyn ExecutionPlan>, partition: usize, context: Arc<TaskContext>) -> Result<()> {
    let mut rows = plan.execute(partition, context).map_err(from_datafusion)?;
    let mut session: Option<Session> = None;
    let mut statement = String::new();
    let mut count = 0;
    while let Some(batch) = rows.next().await {
        let batch = batch.map_err(from_datafusion)?;
        if batch.num_rows() == 0 {
            continue;
        }
        let mut open = match session.take() {
            Some(session) => session,
            None => begin(task).await?,
        };
        let zone = open.server_zone(task.zone);
        for row in 0..batch.num_rows() {
            let values = values(task, &batch, row, zone)?;
            if count == task.options.batch_rows || (count > 0 && statement.len() + values.len() > STATEMENT_BYTES) {
                flush(&mut open, task, &mut statement).await?;
                count = 0;
            }
            statement.push_str(if count == 0 { &task.insert } else { "," });
            statement.push_str(&values);
            count += 1;
        }
        session = Some(open);
    }
    let Some(mut session) = session else { return Ok(()) };
    if count > 0 {
        flush(&mut session, task, &mut statement).await?;
    }
    if task.options.isolation.is_some() {
        run(&mut session, "COMMIT").await?;
    }
    session.close().await;
    Ok(())
}

/// A connection in a transaction.
async fn begin(task: &Task) -> Result<Session> {
    let mut session = Session::open(&task.options, task.zone, &task.zone_name).await?;
    if let Some(isolation) = task.options.isolation {
        session.begin(isolation).await.map_err(Fault::plain)?;
    }
    Ok(session)
}

async fn flush(session: &mut Session, task: &Task, statement: &mut String) -> Result<()> {
    let text = std::mem::take(statement);
    session.execute(&text).await.map_err(|fault| fault.while_running(task.insert.trim_end()))
}

/// A row as `(…, …)`.
fn values(task: &Task, batch: &RecordBatch, row: usize, zone: TimeZone) -> Result<String> {
    let database = task.options.address.database;
    let mut text = String::from("(");
    for (i, (column, data_type)) in batch.columns().iter().zip(&task.types).enumerate() {
        if i > 0 {
            text.push(',');
        }
        let literal = Literal::from_array(column, row, data_type)?;
        let value = database.literal(&literal, zone).ok_or_else(|| {
            sql_error(&format!("The database takes no such value of the type {}.", data_type.simple_string()))
        })?;
        text.push_str(&value);
    }
    text.push(')');
    Ok(text)
}
