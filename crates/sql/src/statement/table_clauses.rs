//! The clauses of CREATE TABLE after its columns.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::{BucketSpec, Expr, PartitionField, SortOrder, TableSpec};

/// How many buckets a table may have.
const MAX_BUCKETS: i64 = 100_000;

impl Parser<'_> {
    /// `[USING provider]` and all that may follow in any order.
    pub(super) fn table_clauses(&mut self, start: Mark, is_external: bool) -> Result<TableSpec> {
        let mut spec = TableSpec { is_external, ..TableSpec::default() };
        if self.take(K::USING) {
            spec.provider = Some(self.qualified_name()?.join("."));
        }
        let mut seen: Vec<&'static str> = Vec::new();
        while let Some(clause) = self.table_clause(&mut spec)? {
            if seen.contains(&clause) {
                return Err(self.duplicate_clause(start, clause));
            }
            seen.push(clause);
        }
        let has = |clause: &str| seen.contains(&clause);
        if let (Some(_), Some(serde)) = (&spec.provider, &spec.serde) {
            let operation = format!("CREATE TABLE ... USING ... {}", serde.replace('\'', "").to_uppercase());
            self.defer_whole(SparkError::new("INVALID_STATEMENT_OR_CLAUSE").with("operation", operation));
        }
        if has("CLUSTER BY") && (has("CLUSTERED BY") || has("PARTITIONED BY")) {
            return Err(self.not_allowed(start, "Clustering and partitioning or bucketing cannot both be specified"));
        }
        Ok(spec)
    }

    /// Reads one clause, and says which.
    fn table_clause(&mut self, spec: &mut TableSpec) -> Result<Option<&'static str>> {
        Ok(Some(if self.take(K::OPTIONS) {
            spec.options = self.expression_properties()?;
            "OPTIONS"
        } else if self.take_all(&[K::PARTITIONED, K::BY]) {
            spec.partitioning = self.partition_fields()?;
            "PARTITIONED BY"
        } else if self.take_all(&[K::CLUSTERED, K::BY]) {
            spec.bucket = Some(self.bucket_clause()?);
            "CLUSTERED BY"
        } else if self.take_all(&[K::CLUSTER, K::BY]) {
            spec.cluster_by = self.in_parentheses(Self::qualified_name)?;
            "CLUSTER BY"
        } else if self.take_all(&[K::SKEWED, K::BY]) {
            self.identifier_list()?;
            self.skip_to_end();
            let operation = "CREATE TABLE ... SKEWED BY";
            self.defer_whole(SparkError::new("INVALID_STATEMENT_OR_CLAUSE").with("operation", operation));
            "SKEWED BY"
        } else if self.is(K::ROW) && self.ahead_is(1, K::FORMAT) {
            let start = self.mark();
            self.row_format()?;
            append(&mut spec.serde, self.text_from(start));
            "ROW FORMAT"
        } else if self.is(K::STORED) {
            let start = self.mark();
            if let Some(format) = self.stored_as()? {
                append(&mut spec.serde, format!("STORED AS {format}"));
            } else {
                append(&mut spec.serde, self.text_from(start));
            }
            "STORED AS/BY"
        } else if self.take(K::LOCATION) {
            spec.location = Some(self.string()?);
            "LOCATION"
        } else if self.take(K::COMMENT) {
            spec.comment = Some(self.string()?);
            "COMMENT"
        } else if self.are(&[K::DEFAULT, K::COLLATION]) {
            spec.collation = Some(self.default_collation()?);
            "DEFAULT COLLATION"
        } else if self.take(K::TBLPROPERTIES) {
            spec.properties = self.table_properties()?;
            "TBLPROPERTIES"
        } else {
            return Ok(None);
        }))
    }

    /// `(key = expression, …)`.
    pub(super) fn expression_properties(&mut self) -> Result<Vec<(String, Expr)>> {
        self.in_parentheses(|parser| {
            let key = parser.property_key()?;
            if !parser.take_mark("==") {
                parser.take_mark("=");
            }
            if parser.is_mark(",") || parser.is_mark(")") {
                let start = parser.mark();
                return Err(parser.not_allowed(start, format!("A value must be specified for the key: {key}.")));
            }
            let value = parser.expression()?;
            Ok((key, value))
        })
    }

    /// `(field, …)`: either all of them name what is there, or all of them are new columns.
    fn partition_fields(&mut self) -> Result<Vec<PartitionField>> {
        let mut texts = (Vec::new(), Vec::new());
        let fields = self.in_parentheses(|parser| {
            let start = parser.mark();
            let field = parser.partition_field()?;
            let text = parser.text_from(start);
            match &field {
                PartitionField::Transform(_) => texts.0.push(text),
                PartitionField::Column(column) => {
                    texts.1.push(format!("{} {}", column.field.name, column.field.data_type.simple_string()));
                }
            }
            Ok(field)
        })?;
        let (expressions, columns) = texts;
        if !expressions.is_empty() && !columns.is_empty() {
            let message = format!(
                "PARTITION BY: Cannot mix partition expressions and partition columns:\nExpressions: {}\nColumns: {}",
                expressions.join(", "),
                columns.join(", ")
            );
            self.defer_whole(SparkError::new("_LEGACY_ERROR_TEMP_0035").with("message", message));
        }
        Ok(fields)
    }

    /// A column, a transform, or a column's definition.
    fn partition_field(&mut self) -> Result<PartitionField> {
        if self.ahead_is_bare_name(0) || !self.ahead_is_name(0) {
            let start = self.mark();
            let transform = self.value()?;
            if self.mark() == start {
                return Err(self.unexpected());
            }
            return Ok(PartitionField::Transform(transform));
        }
        self.column_definition().map(PartitionField::Column)
    }

    /// `(column, …) [SORTED BY (column, …)] INTO n BUCKETS`.
    pub(super) fn bucket_clause(&mut self) -> Result<BucketSpec> {
        let start = self.mark();
        let columns = self.identifier_list()?;
        let mut sort = Vec::new();
        if self.take_all(&[K::SORTED, K::BY]) {
            sort = self.in_parentheses(|parser| {
                let mark = parser.mark();
                let child = Expr::column(parser.object_identifier()?).at(parser.origin(mark));
                let (ascending, _) = parser.sort_direction()?;
                if !ascending {
                    let message = "Operation not allowed: Column ordering must be ASC";
                    return Err(parser.not_allowed(mark, message));
                }
                Ok(SortOrder::ascending(child))
            })?;
        }
        self.expect(K::INTO)?;
        let num_buckets = self.signed_integer()?;
        self.expect(K::BUCKETS)?;
        if num_buckets < 0 {
            return Err(self.unexpected_at(start));
        }
        if !(1..=MAX_BUCKETS).contains(&num_buckets) {
            return Err(SparkError::new("INVALID_BUCKET_COUNT")
                .with_class(ExceptionClass::Parse)
                .with("bucketingMaxBuckets", MAX_BUCKETS.to_string())
                .with("numBuckets", num_buckets.to_string()));
        }
        Ok(BucketSpec { num_buckets, columns, sort })
    }

    /// `STORED AS format`, `STORED AS INPUTFORMAT … OUTPUTFORMAT …`, `STORED BY …`; the format's name if it has one.
    pub(super) fn stored_as(&mut self) -> Result<Option<String>> {
        let start = self.mark();
        if !self.take(K::STORED) {
            return Ok(None);
        }
        if self.take(K::BY) {
            self.string()?;
            return Err(self.not_allowed(start, "Operation not allowed: STORED BY"));
        }
        self.expect(K::AS)?;
        if self.take(K::INPUTFORMAT) {
            self.string()?;
            self.expect(K::OUTPUTFORMAT)?;
            self.string()?;
            return Ok(None);
        }
        self.object_identifier().map(Some)
    }
}

fn append(serde: &mut Option<String>, text: String) {
    *serde = Some(match serde.take() {
        Some(before) => format!("{before} {text}"),
        None => text,
    });
}
