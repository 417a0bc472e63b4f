//! The tree that `printSchema` shows.

use crate::{DataType, StructType};

impl StructType {
    /// The tree of fields down to `max_level` levels, or all of them.
    ///
    /// ```
    /// use firesteel_types::ddl::parse_table_schema;
    /// let schema = parse_table_schema("a BIGINT, b ARRAY<INT>")?;
    /// assert_eq!(
    ///     schema.tree_string(Some(1)),
    ///     "root\n |-- a: long (nullable = true)\n |-- b: array (nullable = true)\n"
    /// );
    /// # Ok::<(), firesteel_error::SparkError>(())
    /// ```
    pub fn tree_string(&self, max_level: Option<i32>) -> String {
        // Spark takes zero and less to mean no limit.
        let depth = max_level.filter(|level| *level > 0).unwrap_or(i32::MAX);
        let mut out = String::from("root\n");
        write_fields(&mut out, self, " |", depth);
        out
    }
}

fn write_fields(out: &mut String, fields: &StructType, prefix: &str, depth: i32) {
    for field in &fields.fields {
        let note = format!("(nullable = {})", field.nullable);
        write_line(out, prefix, &escape(&field.name), &field.data_type, Some(&note), depth);
    }
}

fn write_line(out: &mut String, prefix: &str, name: &str, data_type: &DataType, note: Option<&str>, depth: i32) {
    if depth <= 0 {
        return;
    }
    out.push_str(prefix);
    out.push_str("-- ");
    out.push_str(name);
    out.push_str(": ");
    out.push_str(&data_type.type_name());
    if let Some(note) = note {
        out.push(' ');
        out.push_str(note);
    }
    out.push('\n');
    let prefix = format!("{prefix}    |");
    let depth = depth - 1;
    match data_type {
        DataType::Array { element, contains_null } => {
            let note = format!("(containsNull = {contains_null})");
            write_line(out, &prefix, "element", element, Some(&note), depth);
        }
        DataType::Map { key, value, value_contains_null } => {
            let note = format!("(valueContainsNull = {value_contains_null})");
            write_line(out, &prefix, "key", key, None, depth);
            write_line(out, &prefix, "value", value, Some(&note), depth);
        }
        DataType::Struct(fields) => write_fields(out, fields, &prefix, depth),
        _ => {}
    }
}

/// Control characters as their escapes.
fn escape(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{c}' => out.push_str("\\f"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{7}' => out.push_str("\\a"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::ddl::parse_table_schema;

    const SCHEMA: &str = "a int not null, b struct<x:int,y:array<map<string,struct<z:bigint not null>>>>, v varchar(4)";

    #[test]
    fn nested_types_are_indented() {
        let expected = "root
 |-- a: integer (nullable = false)
 |-- b: struct (nullable = true)
 |    |-- x: integer (nullable = true)
 |    |-- y: array (nullable = true)
 |    |    |-- element: map (containsNull = true)
 |    |    |    |-- key: string
 |    |    |    |-- value: struct (valueContainsNull = true)
 |    |    |    |    |-- z: long (nullable = false)
 |-- v: varchar(4) (nullable = true)
";
        assert_eq!(parse_table_schema(SCHEMA).unwrap().tree_string(None), expected);
    }

    #[test]
    fn depth_is_limited() {
        let expected = "root
 |-- a: integer (nullable = false)
 |-- b: struct (nullable = true)
 |    |-- x: integer (nullable = true)
 |    |-- y: array (nullable = true)
 |-- v: varchar(4) (nullable = true)
";
        assert_eq!(parse_table_schema(SCHEMA).unwrap().tree_string(Some(2)), expected);
    }

    #[test]
    fn control_characters_are_escaped() {
        let schema = parse_table_schema("`a\nb\tc\\` int").unwrap();
        assert_eq!(schema.tree_string(None), "root\n |-- a\\nb\\tc\\: integer (nullable = true)\n");
    }
}
