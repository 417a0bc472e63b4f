//! Statements that are not queries, and scripts.

#![allow(clippy::unwrap_used, clippy::panic)]

use firesteel_plan::{
    ColumnChange, ColumnPosition, ConstraintKind, Describe, FunctionBody, MergeActionKind, NamespaceAction,
    ScriptStatement, SetStatement, SetVariableSource, Show, Statement, TableAction, TableName, ViewAction, ViewKind,
};
use firesteel_sql::{
    ParserOptions, parse_column_definitions, parse_script_or_statement, parse_table_schema, split_statements,
};
use firesteel_types::DataType;

fn parse(text: &str) -> Statement {
    parse_script_or_statement(text, &ParserOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn condition(text: &str) -> &'static str {
    match parse_script_or_statement(text, &ParserOptions::default()) {
        Ok(statement) => panic!("{text} parses: {statement:?}"),
        Err(error) => error.condition().unwrap(),
    }
}

fn parts(name: &str) -> TableName {
    TableName::of(name.split('.').map(str::to_string).collect())
}

#[test]
fn insert_has_a_target_and_a_query() {
    let Statement::Insert(insert) =
        parse("INSERT OVERWRITE TABLE a.t PARTITION (p = 1, q = 2) IF NOT EXISTS (x, y) SELECT 1, 2")
    else {
        panic!()
    };
    assert_eq!(insert.table, parts("a.t"));
    assert!(insert.overwrite && insert.if_partition_not_exists);
    assert_eq!(insert.columns, ["x", "y"]);
    assert_eq!(
        insert.partition.iter().map(|(name, value)| (name.as_str(), value.is_some())).collect::<Vec<_>>(),
        [("p", true), ("q", true)]
    );
    let Statement::Insert(insert) = parse("INSERT INTO t BY NAME (SELECT 1 AS a)") else { panic!() };
    assert!(insert.by_name && insert.columns.is_empty());
    let Statement::Insert(insert) = parse("INSERT INTO t REPLACE WHERE a = 1 SELECT 1") else { panic!() };
    assert!(insert.replace_where.is_some());
    let Statement::Insert(insert) = parse("INSERT OVERWRITE LOCAL DIRECTORY 'x' USING csv OPTIONS (a = 1) SELECT 1")
    else {
        panic!()
    };
    assert!(insert.directory.is_some_and(|directory| directory.is_local && directory.path.as_deref() == Some("x")));
    assert!(
        matches!(parse("FROM t INSERT INTO a SELECT 1 INSERT INTO b SELECT 2"), Statement::MultiInsert(both) if both.len() == 2)
    );
    assert!(matches!(parse("WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x"), Statement::Insert(_)));
    assert_eq!(condition("INSERT INTO t PARTITION (a = 1) IF NOT EXISTS SELECT 1"), "INVALID_STATEMENT_OR_CLAUSE");
}

#[test]
fn rows_are_changed() {
    let Statement::Update { assignments, condition: filter, alias, .. } =
        parse("UPDATE t AS u SET u.a = 1, b = DEFAULT WHERE c")
    else {
        panic!()
    };
    assert_eq!((assignments.len(), filter.is_some(), alias.as_deref()), (2, true, Some("u")));
    assert!(matches!(parse("DELETE FROM t WHERE a IN (SELECT 1)"), Statement::Delete { condition: Some(_), .. }));
    assert_eq!(condition("DELETE FROM t u(a)"), "COLUMN_ALIASES_NOT_ALLOWED");
    let merge = parse(
        "MERGE INTO t x USING (SELECT 1) s ON x.a = s.a WHEN MATCHED AND b THEN UPDATE SET * WHEN MATCHED THEN DELETE \
         WHEN NOT MATCHED THEN INSERT (a) VALUES (1) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET a = 1",
    );
    let Statement::Merge(merge) = merge else { panic!() };
    assert_eq!(merge.matched.len(), 2);
    assert!(matches!(merge.not_matched[0].kind, MergeActionKind::Insert(_)));
    assert!(matches!(merge.not_matched_by_source[0].kind, MergeActionKind::Update(_)));
    assert_eq!(condition("MERGE INTO t USING s ON a"), "MERGE_WITHOUT_WHEN");
    assert_eq!(
        condition("MERGE INTO t USING s ON a WHEN MATCHED THEN DELETE WHEN MATCHED THEN DELETE"),
        "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION"
    );
}

#[test]
fn tables_are_created() {
    let Statement::CreateTable(table) = parse(
        "CREATE TABLE IF NOT EXISTS a.t (x INT NOT NULL COMMENT 'c' DEFAULT 1 + 1, y STRING, CONSTRAINT k PRIMARY KEY (x), CHECK (x > 0)) \
         USING parquet OPTIONS (a.b 'c') PARTITIONED BY (y, bucket(4, x)) CLUSTERED BY (x) INTO 4 BUCKETS LOCATION '/l' COMMENT 'd' \
         TBLPROPERTIES ('p' = 'q')",
    ) else {
        panic!()
    };
    assert!(table.if_not_exists && !table.replace);
    assert_eq!(table.columns[0].default.as_ref().map(|(text, _)| text.as_str()), Some("1 + 1"));
    assert!(!table.columns[0].field.nullable);
    assert!(matches!(&table.constraints[0].kind, ConstraintKind::PrimaryKey(columns) if columns == &["x"]));
    assert!(matches!(&table.constraints[1].kind, ConstraintKind::Check { text, .. } if text == "x > 0"));
    assert_eq!(table.spec.provider.as_deref(), Some("parquet"));
    assert_eq!(table.spec.partitioning.len(), 2);
    assert_eq!(table.spec.bucket.as_ref().map(|bucket| bucket.num_buckets), Some(4));
    assert_eq!(table.spec.properties, [("p".to_string(), "q".to_string())]);
    let Statement::CreateTable(table) = parse("CREATE OR REPLACE TABLE t USING csv SELECT 1") else { panic!() };
    assert!(table.query.is_some() && table.replace && !table.must_exist);
    assert!(matches!(parse("CREATE TABLE t LIKE u USING csv"), Statement::CreateTableLike { .. }));
    assert_eq!(condition("CREATE TABLE t (a INT) COMMENT 'x' COMMENT 'y'"), "DUPLICATE_CLAUSES");
    assert_eq!(condition("CREATE TABLE t (a foo)"), "UNSUPPORTED_DATATYPE");
    assert_eq!(condition("CREATE TABLE t (a INT) AS SELECT 1"), "_LEGACY_ERROR_TEMP_0035");
    assert_eq!(condition("CREATE TABLE a-b (a INT)"), "INVALID_IDENTIFIER");
}

#[test]
fn tables_are_altered() {
    let action = |text: &str| match parse(text) {
        Statement::AlterTable { action, .. } => *action,
        other => panic!("{other:?}"),
    };
    assert_eq!(action("ALTER TABLE t RENAME TO a.u"), TableAction::Rename(vec!["a".to_string(), "u".to_string()]));
    let TableAction::AddColumns(columns) = action("ALTER TABLE t ADD COLUMNS (a.b INT AFTER c, d STRING FIRST)") else {
        panic!()
    };
    assert_eq!(columns[0].0, ["a", "b"]);
    assert_eq!(columns[0].1.position, Some(ColumnPosition::After("c".to_string())));
    let TableAction::AlterColumns(columns) = action("ALTER TABLE t ALTER COLUMN a TYPE BIGINT, b COMMENT 'x'") else {
        panic!()
    };
    assert_eq!(columns[0].1, [ColumnChange::Type(DataType::Long)]);
    assert_eq!(columns[1].1, [ColumnChange::Comment("x".to_string())]);
    let TableAction::AlterColumns(columns) = action("ALTER TABLE t CHANGE a a INT COMMENT 'x' FIRST") else { panic!() };
    assert_eq!(columns[0].1.len(), 3);
    assert!(
        matches!(action("ALTER TABLE t DROP IF EXISTS PARTITION (a = 1), PARTITION (a = 2) PURGE"), TableAction::DropPartitions { partitions, if_exists: true, purge: true } if partitions.len() == 2)
    );
    assert!(matches!(
        action("ALTER TABLE t PARTITION (a = 1) RENAME TO PARTITION (a = 2)"),
        TableAction::RenamePartition { .. }
    ));
    assert!(matches!(action("ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)"), TableAction::AddConstraint(_)));
    assert!(matches!(action("ALTER TABLE t CLUSTER BY NONE"), TableAction::ClusterBy(columns) if columns.is_empty()));
    assert_eq!(condition("ALTER TABLE t TOUCH"), "INVALID_STATEMENT_OR_CLAUSE");
    assert_eq!(condition("ALTER TABLE t ADD PARTITION (a)"), "INVALID_SQL_SYNTAX.EMPTY_PARTITION_VALUE");
    assert_eq!(condition("ALTER TABLE t CHANGE COLUMN a b INT"), "_LEGACY_ERROR_TEMP_0034");
}

#[test]
fn views_keep_their_text() {
    let Statement::CreateView(view) = parse("CREATE OR REPLACE TEMP VIEW v (a COMMENT 'x', b) AS  SELECT 1,  2 ;")
    else {
        panic!()
    };
    assert_eq!((view.kind, view.replace, view.query_text.as_str()), (ViewKind::Temporary, true, "SELECT 1,  2"));
    assert_eq!(view.columns[0], ("a".to_string(), Some("x".to_string())));
    let Statement::CreateView(view) = parse("CREATE TEMPORARY VIEW v (a INT) USING csv OPTIONS (path 'x')") else {
        panic!()
    };
    assert!(view.using.is_some_and(|using| using.provider == "csv" && using.schema.len() == 1));
    let Statement::CreateView(view) = parse("CREATE VIEW v WITH SCHEMA TYPE EVOLUTION AS SELECT 1") else { panic!() };
    assert_eq!(view.schema_mode.as_deref(), Some("TYPE EVOLUTION"));
    assert!(
        matches!(parse("ALTER VIEW v AS SELECT 1"), Statement::AlterView { action: ViewAction::As(_, text), .. } if text == "SELECT 1")
    );
    assert_eq!(condition("CREATE TEMPORARY VIEW a.v AS SELECT 1"), "INVALID_TEMP_OBJ_QUALIFIER");
    assert_eq!(
        condition("CREATE OR REPLACE VIEW IF NOT EXISTS v AS SELECT 1"),
        "CREATE_VIEW_WITH_IF_NOT_EXISTS_AND_REPLACE"
    );
}

#[test]
fn functions_have_bodies() {
    let Statement::CreateFunction(function) =
        parse("CREATE FUNCTION f(x INT, y STRING DEFAULT 'a') RETURNS INT DETERMINISTIC RETURN x + 1")
    else {
        panic!()
    };
    let FunctionBody::Sql { parameters, returns, text, expression, deterministic, .. } = function.body else {
        panic!()
    };
    assert_eq!((parameters.len(), returns, text.as_str()), (2, Some(DataType::Integer), "x + 1"));
    assert!(expression.is_some() && deterministic == Some(true));
    let Statement::CreateFunction(function) =
        parse("CREATE TEMPORARY FUNCTION f() RETURNS TABLE (a INT) RETURN SELECT 1")
    else {
        panic!()
    };
    assert!(
        matches!(function.body, FunctionBody::Sql { query: Some(_), returns_table: Some(columns), .. } if columns.len() == 1)
    );
    let Statement::CreateFunction(function) = parse("CREATE FUNCTION f AS 'x.Y' USING JAR 'a.jar'") else { panic!() };
    assert!(matches!(function.body, FunctionBody::Class { class, .. } if class == "x.Y"));
}

#[test]
fn settings_are_taken_as_text() {
    let set = |text: &str| match parse(text) {
        Statement::Set(set) => set,
        other => panic!("{other:?}"),
    };
    let assign = |key: &str, value: &str| SetStatement::Assign { key: key.to_string(), value: value.to_string() };
    assert_eq!(set("SET"), SetStatement::ShowAll { verbose: false });
    assert_eq!(set("SET -v"), SetStatement::ShowAll { verbose: true });
    assert_eq!(set("SET a.b"), SetStatement::Show { key: "a.b".to_string() });
    assert_eq!(set("SET a.b = c d  e ;"), assign("a.b", "c d  e"));
    assert_eq!(set("SET a = b = c"), assign("a", "b = c"));
    assert_eq!(set("SET `a b` = `c;`"), assign("a b", "c;"));
    assert_eq!(set("SET a.b="), assign("a.b", ""));
    assert_eq!(condition("SET a b"), "INVALID_SET_SYNTAX");
    assert!(matches!(set("SET TIME ZONE 'Europe/Paris'"), SetStatement::TimeZone { zone: Some(_) }));
    assert!(matches!(set("SET TIME ZONE LOCAL"), SetStatement::TimeZone { zone: None }));
    assert_eq!(condition("SET TIME ZONE INTERVAL 19 HOURS"), "INVALID_INTERVAL_FORMAT.TIMEZONE_INTERVAL_OUT_OF_RANGE");
    assert_eq!(parse("RESET a.b"), Statement::Reset { key: Some("a.b".to_string()) });
    assert!(
        matches!(parse("SET VARIABLE x = 1, y = DEFAULT"), Statement::SetVariable { targets, .. } if targets.len() == 2)
    );
    assert!(matches!(
        parse("SET VAR (x, y) = (SELECT 1, 2)"),
        Statement::SetVariable { source: SetVariableSource::Query(_), .. }
    ));
    assert!(matches!(
        parse("DECLARE OR REPLACE VARIABLE x INT DEFAULT 5"),
        Statement::DeclareVariable { replace: true, .. }
    ));
    assert_eq!(condition("DECLARE x"), "INVALID_SQL_SYNTAX.VARIABLE_TYPE_OR_DEFAULT_REQUIRED");
    assert!(
        matches!(parse("EXECUTE IMMEDIATE 'SELECT ?' INTO x USING 1 AS a"), Statement::ExecuteImmediate { using, .. } if using.len() == 1)
    );
}

#[test]
fn questions_are_asked() {
    assert!(matches!(
        parse("DESCRIBE EXTENDED t PARTITION (a = 1)"),
        Statement::Describe(Describe::Table { is_extended: true, partition: Some(_), .. })
    ));
    assert!(matches!(parse("DESC t a.b"), Statement::Describe(Describe::Column { .. })));
    assert!(matches!(parse("DESC FUNCTION +"), Statement::Describe(Describe::Function { .. })));
    assert!(matches!(parse("DESCRIBE QUERY SELECT 1"), Statement::Describe(Describe::Query(_))));
    assert!(matches!(
        parse("DESC SCHEMA EXTENDED a"),
        Statement::Describe(Describe::Namespace { is_extended: true, .. })
    ));
    assert!(matches!(parse("DESCRIBE table"), Statement::Describe(Describe::Table { .. })));
    assert!(matches!(
        parse("SHOW TABLES IN a LIKE 'x'"),
        Statement::Show(Show::Tables { namespace: Some(_), pattern: Some(_) })
    ));
    assert!(matches!(parse("SHOW DATABASES"), Statement::Show(Show::Namespaces { .. })));
    assert!(
        matches!(parse("SHOW USER FUNCTIONS a.b"), Statement::Show(Show::Functions { scope, .. }) if scope == "USER")
    );
    assert!(matches!(parse("SHOW COLUMNS IN t FROM d"), Statement::Show(Show::Columns { namespace: Some(_), .. })));
    assert_eq!(condition("SHOW foo FUNCTIONS"), "INVALID_SQL_SYNTAX.SHOW_FUNCTIONS_INVALID_SCOPE");
    assert_eq!(condition("SHOW ROLES"), "INVALID_STATEMENT_OR_CLAUSE");
    assert!(matches!(parse("EXPLAIN EXTENDED CREATE TABLE t (a INT)"), Statement::Explain { .. }));
}

#[test]
fn the_rest_of_the_catalog() {
    assert!(matches!(parse("USE DATABASE a"), Statement::Use { is_namespace: true, .. }));
    assert!(matches!(
        parse("CREATE SCHEMA IF NOT EXISTS a COMMENT 'x' WITH DBPROPERTIES (b = 1)"),
        Statement::CreateNamespace { if_not_exists: true, .. }
    ));
    assert!(matches!(
        parse("ALTER DATABASE a SET LOCATION 'x'"),
        Statement::AlterNamespace { action: NamespaceAction::SetLocation(_), .. }
    ));
    assert!(matches!(parse("DROP DATABASE IF EXISTS a CASCADE"), Statement::DropNamespace { cascade: true, .. }));
    assert!(matches!(
        parse("CACHE LAZY TABLE t OPTIONS ('a' 'b') AS SELECT 1"),
        Statement::CacheTable { is_lazy: true, query: Some(_), .. }
    ));
    assert_eq!(parse("REFRESH /a/b"), Statement::RefreshPath { path: "/a/b".to_string() });
    assert!(matches!(
        parse("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS a, b"),
        Statement::AnalyzeTable { columns: Some(_), .. }
    ));
    assert_eq!(
        parse("ADD JARS a 'b c'"),
        Statement::AddResource { kind: "jar".to_string(), paths: vec!["a".to_string(), "b c".to_string()] }
    );
    assert!(matches!(parse("CALL p(1)"), Statement::Procedure { .. }));
    assert_eq!(
        parse("CREATE MATERIALIZED VIEW v AS SELECT 1"),
        Statement::PipelineDataset("MATERIALIZED VIEW".to_string())
    );
    assert_eq!(condition("foo bar"), "PARSE_SYNTAX_ERROR");
    assert_eq!(condition(""), "PARSE_EMPTY_STATEMENT");
}

#[test]
fn scripts_hold_statements() {
    let Statement::Script(script) = parse(
        "BEGIN DECLARE x INT DEFAULT 1; DECLARE c CONDITION FOR SQLSTATE '22012'; \
         DECLARE EXIT HANDLER FOR c, SQLSTATE '42703' BEGIN SELECT 0; END; \
         l: WHILE x < 3 DO SET x = x + 1; ITERATE l; END WHILE l; \
         IF x THEN SELECT 1; ELSEIF y THEN SELECT 2; ELSE SELECT 3; END IF; \
         CASE x WHEN 1 THEN SELECT 1; ELSE SELECT 2; END CASE; \
         FOR r AS SELECT 1 AS a DO SELECT r.a; END FOR; \
         REPEAT SELECT 1; UNTIL true END REPEAT; BEGIN END; SELECT CASE WHEN a THEN 1 END; END",
    ) else {
        panic!()
    };
    assert_eq!(script.body.len(), 10);
    assert!(
        matches!(&script.body[2], ScriptStatement::DeclareHandler { conditions, .. } if conditions.len() == 2 && conditions[0] == "c")
    );
    assert!(
        matches!(&script.body[3], ScriptStatement::While { label: Some(label), body, .. } if label == "l" && body.len() == 2)
    );
    assert!(
        matches!(&script.body[4], ScriptStatement::If { branches, otherwise } if branches.len() == 2 && otherwise.len() == 1)
    );
    assert!(matches!(&script.body[6], ScriptStatement::For { variable: Some(_), .. }));
    assert_eq!(condition("BEGIN SELECT 1; DECLARE x INT; END"), "INVALID_VARIABLE_DECLARATION.ONLY_AT_BEGINNING");
    assert_eq!(condition("BEGIN LEAVE l; END"), "INVALID_LABEL_USAGE.DOES_NOT_EXIST");
    assert_eq!(condition("BEGIN l: LOOP LEAVE l; END LOOP m; END"), "LABELS_MISMATCH");
    assert_eq!(condition("BEGIN SELECT 1 END"), "PARSE_SYNTAX_ERROR");
    assert_eq!(condition("BEGIN DECLARE c CURSOR FOR SELECT 1; END"), "UNSUPPORTED_FEATURE.SQL_CURSOR");
    let cursors = ParserOptions { cursors: true, ..ParserOptions::default() };
    let text = "BEGIN DECLARE c CURSOR FOR SELECT 1; OPEN c; FETCH NEXT FROM c INTO x; CLOSE c; END";
    assert!(parse_script_or_statement(text, &cursors).is_ok());
}

#[test]
fn statements_are_split_at_semicolons() {
    assert_eq!(split_statements("SELECT ';'; -- a;\n\n SELECT 2 /* ; */;; "), ["SELECT ';'", "SELECT 2"]);
    let script = "BEGIN IF a THEN SELECT 1; END IF; SELECT CASE WHEN b THEN 1 END; END";
    assert_eq!(split_statements(&format!("SELECT 1; {script}; SELECT 2")), ["SELECT 1", script, "SELECT 2"]);
    assert_eq!(split_statements(" ; "), [""; 0]);
}

#[test]
fn schemas_are_lists_of_columns() {
    let schema =
        parse_table_schema("a INT, b: STRUCT<c: ARRAY<ARRAY<INT>>> NOT NULL COMMENT 'x'", &ParserOptions::default())
            .unwrap();
    assert_eq!(schema.fields.len(), 2);
    assert!(!schema.fields[1].nullable);
    let columns = parse_column_definitions(
        "a INT DEFAULT 1, b BIGINT GENERATED ALWAYS AS IDENTITY (START WITH 2)",
        &ParserOptions::default(),
    )
    .unwrap();
    assert_eq!(columns[1].identity.map(|identity| (identity.start, identity.step)), Some((2, 1)));
}
