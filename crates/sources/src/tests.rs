//! What scans and writes do, as real Spark does it.

use crate::{SaveMode, ScanRequest, WriteRequest, scan, write};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::datasource::MemTable;
use datafusion::logical_expr::{col, lit};
use datafusion::physical_plan::collect;
use datafusion::prelude::{SessionConfig, SessionContext};
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_types::arrow_mapping::to_arrow_schema;
use firesteel_types::ddl::parse_table_schema;
use firesteel_types::{DataType, StructType};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

struct Place {
    folder: TempDir,
    context: SessionContext,
}

type Pairs<'a> = &'a [(&'a str, &'a str)];

fn owned(pairs: Pairs<'_>) -> Vec<(String, String)> {
    pairs.iter().map(|(k, v)| ((*k).to_string(), (*v).to_string())).collect()
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, context: SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2)) }
    }

    fn put(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_string_lossy().into_owned()
    }

    fn request(&self, format: &str, path: &str, schema: &str, options: Pairs<'_>) -> ScanRequest {
        ScanRequest {
            format: format.into(),
            paths: vec![path.into()],
            schema: (!schema.is_empty()).then(|| parse_table_schema(schema).unwrap()),
            options: owned(options),
            partition_columns: None,
            conf: SqlConf::default(),
        }
    }

    async fn rows_of(&self, request: ScanRequest) -> Result<(String, Vec<String>)> {
        let found = scan(&request, &self.context.state()).await?;
        let width = found.schema.fields.len();
        let run = async {
            let frame = self.context.read_table(found.provider.clone())?;
            let names: Vec<_> = found.schema.fields.iter().map(|f| col(format!("\"{}\"", f.name))).collect();
            let frame = if names.is_empty() { frame } else { frame.select(names)? };
            frame.collect().await
        };
        let batches = run.await.map_err(crate::error::from_datafusion)?;
        Ok((found.schema.simple_string(), texts(&batches, width)))
    }

    async fn read(&self, format: &str, path: &str, schema: &str, options: Pairs<'_>) -> Result<(String, Vec<String>)> {
        self.rows_of(self.request(format, path, schema, options)).await
    }

    async fn read_text(&self, format: &str, text: &str, schema: &str, options: Pairs<'_>) -> (String, Vec<String>) {
        let path = self.put(&format!("{}.x", uuid::Uuid::new_v4()), text);
        self.read(format, &path, schema, options).await.unwrap()
    }

    async fn write(
        &self,
        name: &str,
        format: &str,
        schema: &str,
        columns: Vec<ArrayRef>,
        mode: SaveMode,
        by: &[&str],
        options: Pairs<'_>,
    ) -> Result<crate::WriteSummary> {
        let schema: StructType = parse_table_schema(schema).unwrap();
        let arrow = Arc::new(to_arrow_schema(&schema));
        let batch = RecordBatch::try_new(arrow.clone(), columns).unwrap();
        let table = MemTable::try_new(arrow, vec![vec![batch]]).unwrap();
        let frame = self.context.read_table(Arc::new(table)).unwrap();
        let plan = frame.create_physical_plan().await.unwrap();
        let request = WriteRequest {
            format: format.into(),
            path: Some(self.path(name)),
            mode,
            partition_by: by.iter().map(|s| (*s).to_string()).collect(),
            schema,
            options: owned(options),
            conf: SqlConf::default(),
        };
        write(request, plan, self.context.task_ctx()).await
    }
}

fn texts(batches: &[RecordBatch], width: usize) -> Vec<String> {
    let options = FormatOptions::new().with_null("NULL");
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<_> = batch.columns()[..width.min(batch.num_columns())].to_vec();
        let formatters: Vec<_> = columns.iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            rows.push(formatters.iter().map(|f| f.value(row).to_string()).collect::<Vec<_>>().join("|"));
        }
    }
    rows
}

/// The text of all data files below a folder, by their folders.
fn contents(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().is_file() && !name.starts_with('_') {
            let parent = entry.path().parent().unwrap().strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            found.push((parent, std::fs::read_to_string(entry.path()).unwrap()));
        }
    }
    found
}

fn ints(values: &[i32]) -> ArrayRef {
    Arc::new(arrow::array::Int32Array::from(values.to_vec()))
}

fn strings(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(arrow::array::StringArray::from(values.to_vec()))
}

#[tokio::test]
async fn csv_quotes_and_escapes() {
    let place = Place::new();
    let text = "\"a\\\\b\",1\n\"a\\\"b\",2\n\"a\\nb\",3\n\"a\\\\\",4\na\\b,5\na\\\"b,6\n\"a\"\"b\",7\n";
    let (schema, rows) = place.read_text("csv", text, "", &[]).await;
    assert_eq!(schema, "struct<_c0:string,_c1:string>");
    assert_eq!(rows, ["a\\b|1", "a\"b|2", "a\\nb|3", "a\\|4", "a\\b|5", "a\\\"b|6", "\"a\"\"b\"|7"]);
    let text = "\"a\"b,c\n\"a,c\nab\"c,d\n\"a\" ,d\n \"a\",d\n";
    let (_, rows) = place.read_text("csv", text, "", &[]).await;
    assert_eq!(rows, ["\"a\"b|c", "a,c|NULL", "ab\"c|d", "a|d", " \"a\"|d"]);
}

#[tokio::test]
async fn csv_empty_values_and_lines() {
    let place = Place::new();
    let (_, rows) = place.read_text("csv", "a,,\"\",d\n,\n\n   \n\"\",x\n", "", &[]).await;
    assert_eq!(rows, ["a|NULL|NULL|d", "NULL|NULL|NULL|NULL", "NULL|x|NULL|NULL"]);
    let (_, rows) = place.read_text("csv", "a,,\"\",d\n", "", &[("emptyValue", "E"), ("nullValue", "N")]).await;
    assert_eq!(rows, ["a|NULL|E|d"]);
    let (_, rows) = place.read_text("csv", "NA,\"NA\",x\n", "", &[("nullValue", "NA")]).await;
    assert_eq!(rows, ["NULL|NULL|x"]);
    let trim = [("ignoreLeadingWhiteSpace", "true"), ("ignoreTrailingWhiteSpace", "true")];
    let (_, rows) = place.read_text("csv", " a , b ,\" c \" \n", "", &trim).await;
    assert_eq!(rows, ["a|b| c "]);
}

#[tokio::test]
async fn csv_headers_and_inference() {
    let place = Place::new();
    let (schema, rows) = place.read_text("csv", "a,b,a,,\"c d\"\n1,2,3,4,5\n", "", &[("header", "true")]).await;
    assert_eq!(schema, "struct<a0:string,b:string,a2:string,_c3:string,c d:string>");
    assert_eq!(rows, ["1|2|3|4|5"]);
    let infer = [("inferSchema", "true")];
    let text =
        "1,2147483648,1.5,true,2020-01-01,2020-01-01 10:00:00,2020-01-01T10:00:00Z,x,9223372036854775808,1e3,2020-01\n";
    let (schema, _) = place.read_text("csv", text, "", &infer).await;
    assert_eq!(
        schema,
        "struct<_c0:int,_c1:bigint,_c2:double,_c3:boolean,_c4:date,_c5:timestamp,_c6:timestamp,_c7:string,_c8:decimal(19,0),_c9:double,_c10:timestamp>"
    );
    let text = "1,a,1,NaN,2020-01-01,,Inf\n2,,1.5,1,2020-01-01 10:00:00,,1\n";
    let (schema, _) = place.read_text("csv", text, "", &infer).await;
    assert_eq!(schema, "struct<_c0:int,_c1:string,_c2:double,_c3:double,_c4:timestamp,_c5:string,_c6:double>");
    let text = "10:30,2020/01/01, 1,1 ,TRUE,12345678901234567890123456789012345678901,1.0d,0x10,2020-1-1,2020\n";
    let (schema, _) = place.read_text("csv", text, "", &infer).await;
    assert_eq!(
        schema,
        "struct<_c0:timestamp,_c1:string,_c2:double,_c3:double,_c4:boolean,_c5:double,_c6:double,_c7:string,_c8:timestamp,_c9:int>"
    );
}

#[tokio::test]
async fn csv_malformed_records() {
    let place = Place::new();
    let text = "1,a\nx,b\n3\n4,d,e\n";
    let (_, rows) = place.read_text("csv", text, "a int, b string, _corrupt_record string", &[]).await;
    assert_eq!(rows, ["1|a|NULL", "NULL|b|x,b", "3|NULL|3", "4|d|4,d,e"]);
    let (_, rows) = place.read_text("csv", text, "a int, b string", &[]).await;
    assert_eq!(rows, ["1|a", "NULL|b", "3|NULL", "4|d"]);
    let (_, rows) = place.read_text("csv", text, "a int, b string", &[("mode", "DROPMALFORMED")]).await;
    assert_eq!(rows, ["1|a"]);
    let path = place.put("bad.csv", text);
    let error = place.read("csv", &path, "a int, b string", &[("mode", "FAILFAST")]).await.unwrap_err();
    assert!(error.is("FAILED_READ_FILE.NO_HINT"), "{error}");
}

#[tokio::test]
async fn csv_types() {
    let place = Place::new();
    let text = "1,+1,true,TRUE,1.50,2020-01-01,abc\n 1,1.0,yes,t,1.555,2020-1-1,zz\n";
    let schema = "a int,b long,c boolean,d boolean,e decimal(10,2),f date,h string";
    let (_, rows) = place.read_text("csv", text, schema, &[]).await;
    assert_eq!(rows, ["1|1|true|true|1.50|2020-01-01|abc", "NULL|NULL|NULL|NULL|1.56|2020-01-01|zz"]);
    let text = "NaN,Inf,-Inf\nnan,Infinity,-Infinity\n1.5f,1d, 2\n";
    let (_, rows) = place.read_text("csv", text, "a double,b double,c double", &[]).await;
    assert_eq!(rows, ["NaN|inf|-inf", "NULL|inf|-inf", "1.5|1.0|2.0"]);
    let formats = [("dateFormat", "dd/MM/yyyy"), ("timestampFormat", "dd/MM/yyyy HH:mm")];
    let (_, rows) = place.read_text("csv", "01/02/2020,01/02/2020 10:11\n", "a date,b timestamp", &formats).await;
    assert_eq!(rows, ["2020-02-01|2020-02-01T10:11:00Z"]);
    let path = place.put("complex.csv", "1\n");
    let error = place.read("csv", &path, "a array<int>", &[]).await.unwrap_err();
    assert!(error.is("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE"));
}

#[tokio::test]
async fn csv_lines_and_separators() {
    let place = Place::new();
    let (_, rows) = place.read_text("csv", "a,\"b\nc\",d\n\"e\r\nf\",g,h\n", "", &[("multiLine", "true")]).await;
    assert_eq!(rows, ["a|b\nc|d", "e\r\nf|g|h"]);
    let (_, rows) = place.read_text("csv", "a||b||c\n", "", &[("sep", "||")]).await;
    assert_eq!(rows, ["a|b|c"]);
    let (_, rows) = place.read_text("csv", "a,b\rc,d\r\ne,f", "", &[]).await;
    assert_eq!(rows, ["a|b", "c|d", "e|f"]);
    let (_, rows) = place.read_text("csv", "#x\na,b\n #c\n", "", &[("comment", "#")]).await;
    assert_eq!(rows, ["a|b", " #c|NULL"]);
    let (_, rows) = place.read_text("csv", "\u{feff}a,b\n1,2\n", "", &[("header", "true")]).await;
    assert_eq!(rows, ["1|2"]);
    let (schema, rows) = place.read_text("csv", "", "", &[]).await;
    assert_eq!((schema.as_str(), rows.len()), ("struct<>", 0));
}

#[test]
fn parts_of_a_file_cover_each_line_once() {
    use crate::lines::{LineOptions, Lines};
    let place = Place::new();
    let text = "one\ntwo\r\nthree\rfour\n\nfive";
    let path = place.put("lines.txt", text);
    let size = text.len() as u64;
    for cut in 0..=size {
        let mut lines = Vec::new();
        for (start, end) in [(0, cut), (cut, size)] {
            let part = crate::records::FilePart::local(path.as_ref(), size, start..end);
            let mut reader = Lines::open(&part, &LineOptions::default()).unwrap();
            while start < end
                && let Some(line) = reader.next_line().unwrap()
            {
                lines.push(String::from_utf8(line.to_vec()).unwrap());
            }
        }
        assert_eq!(lines, ["one", "two", "three", "four", "", "five"], "cut at {cut}");
    }
}

#[tokio::test]
async fn json_inference() {
    let place = Place::new();
    let (schema, rows) =
        place.read_text("json", "{\"b\":1,\"a\":\"x\"}\n{\"a\":null,\"c\":1.5,\"b\":2147483648}\n", "", &[]).await;
    assert_eq!(schema, "struct<a:string,b:bigint,c:double>");
    assert_eq!(rows, ["x|1|NULL", "NULL|2147483648|1.5"]);
    let text = "{\"i\":1,\"e\":1e3,\"t\":true,\"n\":null,\"big\":12345678901234567890,\"arr\":[1,2.5],\"o\":{\"y\":1,\"x\":[]},\"m\":[{\"a\":1},{\"b\":\"x\"}],\"mix\":[1,\"a\"]}\n";
    let (schema, _) = place.read_text("json", text, "", &[]).await;
    assert_eq!(
        schema,
        "struct<arr:array<double>,big:decimal(20,0),e:double,i:bigint,m:array<struct<a:bigint,b:string>>,mix:array<string>,n:string,o:struct<x:array<string>,y:bigint>,t:boolean>"
    );
    let text = "{\"a\":1}\n{\"a\":\nxyz\n[{\"a\":2},{\"a\":3}]\n\"str\"\n\n 12\n";
    let (schema, rows) = place.read_text("json", text, "", &[]).await;
    assert_eq!(schema, "struct<_corrupt_record:string,a:bigint>");
    assert_eq!(rows, ["NULL|1", "{\"a\":|NULL", "xyz|NULL", "NULL|2", "NULL|3", "\"str\"|NULL", " 12|NULL"]);
    let text = "{\"a\":null,\"b\":[],\"c\":{\"d\":null},\"e\":[null],\"f\":{}}\n";
    let (schema, _) = place.read_text("json", text, "", &[]).await;
    assert_eq!(schema, "struct<a:string,b:array<string>,c:struct<d:string>,e:array<string>>");
    let text = "{\"a\":null,\"b\":[],\"c\":{\"d\":null},\"e\":[null],\"g\":1}\n";
    let (schema, _) = place.read_text("json", text, "", &[("dropFieldIfAllNull", "true")]).await;
    assert_eq!(schema, "struct<g:bigint>");
}

#[tokio::test]
async fn json_values() {
    let place = Place::new();
    let (_, rows) =
        place.read_text("json", "{\"a\":1}\n{\"a\":\nxyz\n{\"a\":\"q\"}\n", "a int, _corrupt_record string", &[]).await;
    assert_eq!(rows, ["1|NULL", "NULL|{\"a\":", "NULL|xyz", "NULL|{\"a\":\"q\"}"]);
    for (value, data_type, expected) in [
        ("1.0", "int", "NULL"),
        ("1", "double", "1.0"),
        ("\"NaN\"", "double", "NaN"),
        ("{\"x\": 1}", "string", "{\"x\": 1}"),
        ("[1, 2]", "string", "[1, 2]"),
        ("1.50", "string", "1.50"),
        ("1577836800", "timestamp", "2020-01-01T00:00:00Z"),
        ("\"1.5\"", "decimal(5,2)", "1.50"),
        ("123456", "decimal(5,2)", "NULL"),
        ("[1,\"x\"]", "array<int>", "NULL"),
        ("\"\"", "string", ""),
    ] {
        let (_, rows) = place.read_text("json", &format!("{{\"a\":{value}}}\n"), &format!("a {data_type}"), &[]).await;
        assert_eq!(rows, [expected], "{value} as {data_type}");
    }
    let (_, rows) = place.read_text("json", "[{\"a\":1},\n{\"a\":2}]", "", &[("multiLine", "true")]).await;
    assert_eq!(rows, ["1", "2"]);
    let (_, rows) = place.read_text("json", "{\"a\":1}\n{\"a\":\nxyz\n", "", &[("mode", "DROPMALFORMED")]).await;
    assert_eq!(rows, ["1"]);
}

#[tokio::test]
async fn text_files() {
    let place = Place::new();
    place.put("txt/a.txt", "x\ny\r\nz");
    place.put("txt/_h.txt", "no");
    place.put("txt/sub/b.txt", "w");
    let path = place.path("txt");
    assert_eq!(place.read("text", &path, "", &[]).await.unwrap().1, ["x", "y", "z"]);
    assert_eq!(place.read("text", &path, "", &[("wholetext", "true")]).await.unwrap().1, ["x\ny\r\nz"]);
    assert_eq!(place.read("text", &path, "", &[("lineSep", "\n")]).await.unwrap().1, ["x", "y\r", "z"]);
    let recursive = [("recursiveFileLookup", "true")];
    assert_eq!(place.read("text", &path, "", &recursive).await.unwrap().1, ["x", "y", "z", "w"]);
    assert_eq!(place.read("text", &format!("{path}/{{a,c}}.t?t"), "", &[]).await.unwrap().1.len(), 3);
}

#[tokio::test]
async fn missing_and_empty_paths() {
    let place = Place::new();
    let error = |result: Result<(String, Vec<String>)>| result.unwrap_err();
    assert!(error(place.read("csv", &place.path("nope"), "", &[]).await).is("PATH_NOT_FOUND"));
    assert!(error(place.read("parquet", &place.path("nope*"), "", &[]).await).is("PATH_NOT_FOUND"));
    std::fs::create_dir(place.path("empty")).unwrap();
    for format in ["parquet", "csv", "json"] {
        let e = error(place.read(format, &place.path("empty"), "", &[]).await);
        assert!(e.is("UNABLE_TO_INFER_SCHEMA"), "{format}: {e}");
    }
    assert_eq!(place.read("text", &place.path("empty"), "", &[]).await.unwrap().0, "struct<value:string>");
    assert!(error(place.read("nope", "/", "", &[]).await).is("DATA_SOURCE_NOT_FOUND"));
    let bad = place.put("bad.parquet", "xxx");
    assert!(error(place.read("parquet", &bad, "", &[]).await).is("FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER"));
}

#[tokio::test]
async fn parquet_comes_back() {
    let place = Place::new();
    let columns = || vec![ints(&[1, 2, 3]), strings(&[Some("a"), None, Some("c")])];
    place.write("p", "parquet", "i int, s string", columns(), SaveMode::ErrorIfExists, &[], &[]).await.unwrap();
    let path = place.path("p");
    let names: Vec<String> =
        std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.iter().any(|n| n == "_SUCCESS"));
    assert!(names.iter().any(|n| n.starts_with("part-00000-") && n.ends_with("-c000.snappy.parquet")), "{names:?}");
    let (schema, rows) = place.read("parquet", &path, "", &[]).await.unwrap();
    assert_eq!(schema, "struct<i:int,s:string>");
    assert_eq!(rows, ["1|a", "2|NULL", "3|c"]);
    let (schema, rows) = place.read("parquet", &path, "I long, q string", &[]).await.unwrap();
    assert_eq!(schema, "struct<I:bigint,q:string>");
    assert_eq!(rows, ["1|NULL", "2|NULL", "3|NULL"]);
    let error = place.read("parquet", &path, "i string", &[]).await.unwrap_err();
    assert!(error.is("FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH"), "{error}");
    let found = scan(&place.request("parquet", &path, "I long", &[]), &place.context.state()).await.unwrap();
    let frame = place.context.read_table(found.provider).unwrap().filter(col("\"I\"").gt(lit(1_i64))).unwrap();
    assert_eq!(frame.count().await.unwrap(), 2);
}

#[tokio::test]
async fn save_modes() {
    let place = Place::new();
    let write = |mode, value| place.write("m", "csv", "i int", vec![ints(&[value])], mode, &[], &[]);
    write(SaveMode::ErrorIfExists, 1).await.unwrap();
    let error: SparkError = write(SaveMode::ErrorIfExists, 2).await.unwrap_err();
    assert!(error.is("PATH_ALREADY_EXISTS"));
    write(SaveMode::Ignore, 3).await.unwrap();
    assert_eq!(place.read("csv", &place.path("m"), "", &[]).await.unwrap().1, ["1"]);
    write(SaveMode::Append, 4).await.unwrap();
    assert_eq!(place.read("csv", &place.path("m"), "", &[]).await.unwrap().1.len(), 2);
    write(SaveMode::Overwrite, 5).await.unwrap();
    assert_eq!(place.read("csv", &place.path("m"), "", &[]).await.unwrap().1, ["5"]);
    assert!(
        !Path::new(&place.path("m")).read_dir().unwrap().any(|e| e
            .unwrap()
            .file_name()
            .to_string_lossy()
            .contains("temporary"))
    );
}

#[tokio::test]
async fn partitioned_files() {
    let place = Place::new();
    let columns = || vec![ints(&[1, 2, 3]), strings(&[Some("a/b:c=d e"), None, Some("%[]{}^#?*\"'\\é")])];
    let schema = "i int, s string";
    place.write("q", "csv", schema, columns(), SaveMode::ErrorIfExists, &["s"], &[]).await.unwrap();
    let found = contents(&place.path("q"));
    let expected = [
        ("s=%25%5B%5D%7B}%5E%23%3F%2A%22%27%5Cé", "3\n"),
        ("s=__HIVE_DEFAULT_PARTITION__", "2\n"),
        ("s=a%2Fb%3Ac%3Dd e", "1\n"),
    ];
    assert_eq!(found, expected.map(|(a, b)| (a.to_string(), b.to_string())));
    let (schema_found, mut rows) = place.read("csv", &place.path("q"), "", &[]).await.unwrap();
    rows.sort();
    assert_eq!(schema_found, "struct<_c0:string,s:string>");
    assert_eq!(rows, ["1|a/b:c=d e", "2|NULL", "3|%[]{}^#?*\"'\\é"]);
    let scanned = scan(&place.request("csv", &place.path("q"), "", &[]), &place.context.state()).await.unwrap();
    let frame = place.context.read_table(scanned.provider).unwrap().filter(col("s").is_null()).unwrap();
    assert_eq!(frame.count().await.unwrap(), 1);
    let all = place.write("x", "csv", "i int", vec![ints(&[1])], SaveMode::ErrorIfExists, &["i"], &[]).await;
    assert!(all.unwrap_err().is("ALL_PARTITION_COLUMNS_NOT_ALLOWED"));
    let dynamic = [("partitionOverwriteMode", "dynamic")];
    let one = || vec![ints(&[9]), strings(&[None])];
    place.write("q", "csv", schema, one(), SaveMode::Overwrite, &["s"], &dynamic).await.unwrap();
    let (_, mut rows) = place.read("csv", &place.path("q"), "", &[]).await.unwrap();
    rows.sort();
    assert_eq!(rows, ["1|a/b:c=d e", "3|%[]{}^#?*\"'\\é", "9|NULL"]);
}

#[tokio::test]
async fn csv_and_json_text() {
    let place = Place::new();
    let columns = || {
        vec![
            ints(&[1, 2, 3]),
            strings(&[Some("a,b"), Some("q\"x"), Some("back\\slash")]),
            strings(&[None, Some("n"), Some("l\nf")]),
            strings(&[Some(""), Some(" s "), Some("#c")]),
        ]
    };
    let schema = "i int, s string, n string, e string";
    for (name, options, expected) in [
        ("plain", &[][..], "1,\"a,b\",,\"\"\n2,\"q\\\"x\",n,s\n3,back\\slash,\"l\nf\",#c\n"),
        (
            "all",
            &[("quoteAll", "true")][..],
            "\"1\",\"a,b\",\"\",\"\"\n\"2\",\"q\\\"x\",\"n\",\"s\"\n\"3\",\"back\\\\slash\",\"l\nf\",\"#c\"\n",
        ),
        ("escape", &[("escape", "\"")][..], "1,\"a,b\",,\"\"\n2,\"q\"\"x\",n,s\n3,back\\slash,\"l\nf\",#c\n"),
        (
            "header",
            &[("header", "true"), ("nullValue", "NULL"), ("emptyValue", "EMPTY")][..],
            "i,s,n,e\n1,\"a,b\",NULL,EMPTY\n2,\"q\\\"x\",n,s\n3,back\\slash,\"l\nf\",#c\n",
        ),
    ] {
        place.write(name, "csv", schema, columns(), SaveMode::ErrorIfExists, &[], options).await.unwrap();
        assert_eq!(contents(&place.path(name))[0].1, expected, "{name}");
    }
    place.write("json", "json", schema, columns(), SaveMode::ErrorIfExists, &[], &[]).await.unwrap();
    let expected = "{\"i\":1,\"s\":\"a,b\",\"e\":\"\"}\n{\"i\":2,\"s\":\"q\\\"x\",\"n\":\"n\",\"e\":\" s \"}\n{\"i\":3,\"s\":\"back\\\\slash\",\"n\":\"l\\nf\",\"e\":\"#c\"}\n";
    assert_eq!(contents(&place.path("json"))[0].1, expected);
    place
        .write(
            "gz",
            "csv",
            schema,
            columns(),
            SaveMode::ErrorIfExists,
            &[],
            &[("compression", "gzip"), ("multiLine", "true")],
        )
        .await
        .unwrap();
    assert_eq!(place.read("csv", &place.path("gz"), "", &[("multiLine", "true")]).await.unwrap().1.len(), 3);
    let records = [("maxRecordsPerFile", "2")];
    place
        .write("few", "csv", "i int", vec![ints(&[0, 1, 2, 3, 4])], SaveMode::ErrorIfExists, &[], &records)
        .await
        .unwrap();
    let found: Vec<String> = contents(&place.path("few")).into_iter().map(|(_, text)| text).collect();
    assert_eq!(found, ["0\n1\n", "2\n3\n", "4\n"]);
}

#[tokio::test]
async fn a_failed_write_leaves_nothing() {
    let place = Place::new();
    place.write("k", "csv", "i int", vec![ints(&[1])], SaveMode::ErrorIfExists, &[], &[]).await.unwrap();
    let schema = parse_table_schema("i int").unwrap();
    let failing = place.context.sql("select arrow_cast('x', 'Int32') as i from (values (1), (2))").await;
    if let Ok(frame) = failing
        && let Ok(plan) = frame.create_physical_plan().await
    {
        for name in ["k", "fresh/deep"] {
            let request = WriteRequest {
                format: "csv".into(),
                path: Some(place.path(name)),
                mode: SaveMode::Overwrite,
                partition_by: vec![],
                schema: schema.clone(),
                options: vec![],
                conf: SqlConf::default(),
            };
            assert!(write(request, plan.clone(), place.context.task_ctx()).await.is_err());
        }
    }
    let error = place
        .write(
            "fresh/deep",
            "csv",
            "i map<int,int>",
            vec![arrow::array::new_null_array(
                to_arrow_schema(&parse_table_schema("i map<int,int>").unwrap()).field(0).data_type(),
                1,
            )],
            SaveMode::Overwrite,
            &[],
            &[],
        )
        .await;
    assert!(error.unwrap_err().is("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE"));
    assert!(!Path::new(&place.path("fresh")).exists());
    assert_eq!(contents(&place.path("k")), [(String::new(), "1\n".to_string())]);
}

#[tokio::test]
async fn hidden_metadata() {
    let place = Place::new();
    let path = place.put("one.txt", "x\n");
    let found = scan(&place.request("text", &path, "", &[]), &place.context.state()).await.unwrap();
    assert_eq!(found.files, [format!("file://{path}")]);
    assert_eq!(found.metadata_columns[0].name, "_metadata");
    assert!(matches!(found.metadata_columns[0].data_type, DataType::Struct(_)));
    let frame = place.context.read_table(found.provider).unwrap();
    let plan = frame.create_physical_plan().await.unwrap();
    let batches = collect(plan, place.context.task_ctx()).await.unwrap();
    let metadata = batches[0].column(1).as_struct();
    assert_eq!(metadata.column(0).as_string::<i32>().value(0), format!("file:{path}"));
    assert_eq!(metadata.column(2).len(), 1);
}

/// Files for a look with other readers: set `FIRESTEEL_SAMPLES` to a folder.
#[tokio::test]
async fn samples_for_other_readers() {
    let Ok(folder) = std::env::var("FIRESTEEL_SAMPLES") else { return };
    let mut place = Place::new();
    let schema = "i int, l long, sh smallint, by tinyint, d double, f float, b boolean, s string, bi binary, \
        dt date, ts timestamp, tn timestamp_ntz, de decimal(10,3), dw decimal(30,2), a array<int>, m map<string,int>, \
        st struct<x:int,y:string>, iy interval year to month, id interval day to second, c char(3), t time";
    let parsed = parse_table_schema(schema).unwrap();
    let columns: Vec<ArrayRef> = to_arrow_schema(&parsed)
        .fields()
        .iter()
        .map(|f| {
            let null = arrow::array::new_null_array(f.data_type(), 1);
            let texts = strings(&[Some("1")]);
            let one = arrow::compute::cast(&ints(&[1]), f.data_type())
                .or_else(|_| arrow::compute::cast(&texts, f.data_type()))
                .unwrap_or_else(|_| null.clone());
            arrow::compute::concat(&[&one, &null]).unwrap()
        })
        .collect();
    place.folder.disable_cleanup(true);
    for codec in ["snappy", "zstd", "gzip", "lz4_raw", "none"] {
        let options = [("compression", codec)];
        place
            .write(&format!("parquet_{codec}"), "parquet", schema, columns.clone(), SaveMode::Overwrite, &[], &options)
            .await
            .unwrap();
    }
    place
        .write(
            "partitioned",
            "parquet",
            "i int, p date",
            vec![ints(&[1, 2]), arrow::compute::cast(&ints(&[0, 18262]), &arrow::datatypes::DataType::Date32).unwrap()],
            SaveMode::Overwrite,
            &["p"],
            &[],
        )
        .await
        .unwrap();
    std::fs::rename(place.folder.path(), folder).unwrap();
}

#[tokio::test]
async fn schemas_are_inferred_from_a_sample() {
    let place = Place::new();
    let record =
        |i: i32| format!("{{\"a\":{},\"c{i}\":1}}\n", if i % 10 == 0 { "\"q\"".into() } else { i.to_string() });
    let path = place.put("s.json", (1..=100).map(record).collect::<String>());
    let (schema, _) = place.read("json", &path, "", &[("samplingRatio", "0.05")]).await.unwrap();
    assert_eq!(schema, "struct<a:string,c100:bigint,c88:bigint>");
    let (schema, _) = place.read("json", &path, "", &[("samplingRatio", "0.01")]).await.unwrap();
    assert_eq!(schema, "struct<a:string,c100:bigint>");
    let error = place.read("json", &path, "", &[("samplingRatio", "0")]).await.unwrap_err();
    assert_eq!(error.to_string(), "requirement failed: samplingRatio (0.0) should be greater than 0");
}

#[tokio::test]
async fn options_that_would_mean_nothing_are_refused() {
    let place = Place::new();
    let path = place.put("a.csv", "1,2\n");
    for (option, refused, taken) in [
        ("locale", "de", "en-US"),
        ("maxCharsPerColumn", "5", "-1"),
        ("unescapedQuoteHandling", "RAISE_ERROR", "STOP_AT_DELIMITER"),
    ] {
        let error = place.read("csv", &path, "", &[(option, refused)]).await.unwrap_err();
        assert!(error.is("UNSUPPORTED_FEATURE.NOT_IN_THIS_SERVER"), "{error}");
        assert!(error.to_string().contains(option), "{error}");
        place.read("csv", &path, "", &[(option, taken)]).await.unwrap();
    }
}
