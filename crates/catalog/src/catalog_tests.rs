//! What a catalog holds, and what its storage brings back.

use super::*;
use crate::{Bucketing, Statistics, TableKind, ViewDefinition};
use firesteel_types::StructType;
use firesteel_types::ddl::parse_table_schema;
use std::sync::atomic::{AtomicBool, Ordering};

fn table(name: &str) -> CatalogTable {
    CatalogTable {
        name: QualifiedName::new("default", name),
        kind: TableKind::Managed,
        provider: Some("parquet".into()),
        schema: StructType::default(),
        partition_columns: Vec::new(),
        bucketing: None,
        location: None,
        comment: None,
        properties: BTreeMap::new(),
        options: BTreeMap::new(),
        collation: None,
        created: 0,
        owner: String::new(),
        statistics: None,
        view: None,
        unknown_partitions: Vec::new(),
    }
}

#[test]
fn names_are_found_in_any_case() {
    let catalog = Catalog::new("/tmp/warehouse");
    catalog.create_table(table("T"), false).unwrap();
    assert!(catalog.table(&QualifiedName::new("DEFAULT", "t")).is_some());
    assert!(catalog.create_table(table("t"), false).unwrap_err().is("TABLE_OR_VIEW_ALREADY_EXISTS"));
}

#[test]
fn databases_with_tables_are_dropped_by_cascade_only() {
    let catalog = Catalog::new("/tmp/warehouse");
    let database = Database { name: "Db".into(), ..catalog.database("default").unwrap() };
    assert!(catalog.create_database(database.clone(), false).unwrap());
    assert!(!catalog.create_database(database.clone(), true).unwrap());
    assert!(catalog.create_database(database, false).unwrap_err().is("SCHEMA_ALREADY_EXISTS"));
    let inside = CatalogTable { name: QualifiedName::new("db", "t"), ..table("t") };
    catalog.create_table(inside, false).unwrap();
    assert!(catalog.drop_database("db", false, false).unwrap_err().is("SCHEMA_NOT_EMPTY"));
    assert!(catalog.drop_database("DB", false, true).unwrap().is_some());
    assert!(catalog.drop_database("db", false, true).unwrap_err().is("SCHEMA_NOT_FOUND"));
}

#[test]
fn a_failed_change_changes_nothing() {
    let catalog = Catalog::new("/tmp/warehouse");
    catalog.create_table(table("t"), false).unwrap();
    let name = QualifiedName::new("default", "t");
    let result = catalog.alter_table(&name, |t| {
        t.comment = Some("x".into());
        Err(SparkError::internal("no"))
    });
    assert!(result.is_err());
    assert_eq!(catalog.table(&name).unwrap().comment, None);
}

fn view(name: &str) -> CatalogTable {
    let definition = ViewDefinition {
        text: "SELECT 1 AS a".into(),
        output: vec!["a".into()],
        catalog: "spark_catalog".into(),
        database: "default".into(),
        settings: vec![("spark.sql.ansi.enabled".into(), "false".into())],
        schema_mode: "COMPENSATION".into(),
    };
    CatalogTable { kind: TableKind::View, provider: None, view: Some(definition), ..table(name) }
}

/// A storage that several catalogs use one after the other.
#[derive(Debug, Clone, Default)]
struct Shelf {
    entries: Arc<Mutex<BTreeMap<EntryKey, String>>>,
    is_full: Arc<AtomicBool>,
}

impl Storage for Shelf {
    fn load(&self) -> Result<Vec<(EntryKey, String)>> {
        Ok(self.entries.lock().iter().map(|(key, text)| (key.clone(), text.clone())).collect())
    }

    fn apply(&self, changes: &[Change]) -> Result<()> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(SparkError::internal("no room"));
        }
        let mut entries = self.entries.lock();
        for Change { key, value } in changes {
            match value {
                Some(text) => entries.insert(key.clone(), text.clone()),
                None => entries.remove(key),
            };
        }
        Ok(())
    }
}

fn opened(shelf: &Shelf) -> Catalog {
    Catalog::open("/tmp/warehouse", Box::new(shelf.clone())).unwrap()
}

#[test]
fn what_was_made_is_there_again() {
    let shelf = Shelf::default();
    let first = opened(&shelf);
    let database = Database {
        name: "db".into(),
        properties: BTreeMap::from([("k".into(), "v".into())]),
        ..first.database("default").unwrap()
    };
    first.create_database(database.clone(), false).unwrap();
    let schema = parse_table_schema("a CHAR(3) COMMENT 'x', b STRING COLLATE UTF8_LCASE, c STRUCT<d: INT>").unwrap();
    let made = CatalogTable {
        schema: schema.clone(),
        partition_columns: vec!["a".into()],
        bucketing: Some(Bucketing { count: 4, columns: vec!["b".into()], sort_columns: vec![] }),
        properties: BTreeMap::from([("p".into(), "1".into())]),
        statistics: Some(Statistics { bytes: 10, rows: Some(2) }),
        ..table("t")
    };
    first.create_table(made, false).unwrap();
    first.create_table(view("v"), false).unwrap();
    first
        .alter_table(&QualifiedName::new("default", "t"), |t| {
            t.comment = Some("c".into());
            Ok(())
        })
        .unwrap();
    first.rename_table(&QualifiedName::new("default", "t"), &QualifiedName::new("default", "u")).unwrap();

    let second = opened(&shelf);
    assert_eq!(second.database("db").unwrap(), database);
    assert!(second.table(&QualifiedName::new("default", "t")).is_none());
    let table = second.table(&QualifiedName::new("default", "u")).unwrap();
    assert_eq!((&table.schema, table.comment.as_deref()), (&schema, Some("c")));
    assert_eq!((table.partition_columns.len(), table.bucketing.as_ref().unwrap().count), (1, 4));
    assert_eq!(table.statistics, Some(Statistics { bytes: 10, rows: Some(2) }));
    let view = second.table(&QualifiedName::new("default", "v")).unwrap();
    assert!(view.view.as_ref().unwrap().query(&view.name).is_ok());
}

#[test]
fn what_was_dropped_is_gone() {
    let shelf = Shelf::default();
    let first = opened(&shelf);
    let database = Database { name: "db".into(), ..first.database("default").unwrap() };
    first.create_database(database, false).unwrap();
    first.create_table(CatalogTable { name: QualifiedName::new("db", "t"), ..table("t") }, false).unwrap();
    first.create_table(table("t"), false).unwrap();
    first.drop_database("db", false, true).unwrap();
    first.drop_table(&QualifiedName::new("default", "t")).unwrap();
    assert_eq!(shelf.entries.lock().keys().collect::<Vec<_>>(), [&EntryKey::database("default")]);
    assert_eq!(opened(&shelf).database_names(), ["default"]);
}

#[test]
fn what_cannot_be_kept_is_not_done() {
    let shelf = Shelf::default();
    let catalog = opened(&shelf);
    catalog.create_table(table("t"), false).unwrap();
    shelf.is_full.store(true, Ordering::Relaxed);
    let name = QualifiedName::new("default", "t");
    assert!(catalog.create_table(table("u"), false).is_err());
    assert!(catalog.drop_table(&name).is_err());
    assert!(catalog.rename_table(&name, &QualifiedName::new("default", "u")).is_err());
    assert_eq!(catalog.tables("default").unwrap().len(), 1);
    assert!(catalog.table(&name).is_some());
}

#[test]
fn an_entry_that_cannot_be_read_is_named() {
    let shelf = Shelf::default();
    opened(&shelf);
    shelf.entries.lock().insert(EntryKey::table("default", "t"), "{}".into());
    let error = Catalog::open("/tmp/warehouse", Box::new(shelf)).unwrap_err().to_string();
    assert!(error.contains("table default.t"), "{error}");
}
