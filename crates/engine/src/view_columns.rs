//! The columns of a view over what its query gives now.

use crate::environment::SessionEnvironment;
use firesteel_analyzer::{Analyzer, Attribute, Resolved, attribute};
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_functions::cast;
use firesteel_plan::{CastMode, Expr, ExprKind, Relation, RelationKind};
use firesteel_types::StructType;

/// How a view follows changes of the tables that it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaMode {
    /// Made while modes were off.
    Unsupported,
    /// Types may only widen.
    Binding,
    /// Types are cast.
    Compensation,
    /// Types follow the query.
    TypeEvolution,
    /// Names too.
    Evolution,
}

impl SchemaMode {
    /// The mode by its words; None for what a view has without modes.
    pub fn parse(words: &str) -> Self {
        match words {
            "BINDING" => Self::Binding,
            "COMPENSATION" => Self::Compensation,
            "TYPE EVOLUTION" => Self::TypeEvolution,
            "EVOLUTION" => Self::Evolution,
            _ => Self::Unsupported,
        }
    }

    /// The words of the mode that a view gets which names none, or `words`.
    pub fn words(words: Option<&str>, has_column_names: bool, conf: &SqlConf) -> Result<String> {
        let words = match words {
            Some(_) if !conf.view_schema_binding => {
                return Err(SparkError::new("FEATURE_NOT_ENABLED")
                    .with("featureName", "VIEW ... WITH SCHEMA ...")
                    .with("configKey", "spark.sql.legacy.viewSchemaBindingMode")
                    .with("configValue", "true"));
            }
            // Names that the view gives stay.
            Some("EVOLUTION") if has_column_names => "TYPE EVOLUTION",
            Some(words) => words,
            None if !conf.view_schema_binding => "",
            None if conf.view_schema_compensation => "COMPENSATION",
            None => "BINDING",
        };
        Ok(words.to_string())
    }

    fn follows_types(self) -> bool {
        matches!(self, Self::TypeEvolution | Self::Evolution)
    }
}

/// A view's query, and what it was when the view was made.
pub(crate) struct ViewShape<'v> {
    pub query: &'v Relation,
    /// Names of the query's columns.
    pub output: &'v [String],
    /// The view's columns.
    pub schema: &'v StructType,
    pub mode: SchemaMode,
    pub name: &'v [String],
    /// The statement that would make the view anew.
    pub suggestion: String,
}

/// The view as it is to be read.
pub(crate) fn read(environment: &SessionEnvironment, shape: &ViewShape<'_>, conf: &SqlConf) -> Result<Resolved> {
    let resolved = Analyzer::new(environment).relation(shape.query)?;
    if shape.mode == SchemaMode::Evolution {
        let schema = own_schema(&resolved)?;
        return crate::statement::view::named(&resolved, &schema);
    }
    let positions = positions(&resolved, shape)?;
    let chosen: Vec<&Attribute> = positions.iter().filter_map(|i| resolved.output.get(*i)).collect();
    let differs = |(column, field): (&&Attribute, &firesteel_types::StructField)| {
        column.data_type.as_nullable() != field.data_type.as_nullable()
    };
    let is_cast = !shape.mode.follows_types() && chosen.iter().zip(&shape.schema.fields).any(differs);
    if !is_cast {
        let mut schema = shape.schema.clone();
        for (field, column) in schema.fields.iter_mut().zip(&chosen) {
            field.data_type = column.data_type.clone();
        }
        let output = chosen.into_iter().cloned().collect();
        return crate::statement::view::named(&Resolved { output, ..resolved }, &schema);
    }
    let is_up_cast =
        shape.mode == SchemaMode::Binding || (shape.mode == SchemaMode::Unsupported && !conf.view_schema_compensation);
    if is_up_cast {
        check_up_casts(&chosen, shape.schema)?;
    }
    let columns = (0..resolved.output.len()).map(|i| format!("c{i}")).collect();
    let expressions = positions
        .iter()
        .zip(&shape.schema.fields)
        .map(|(position, field)| {
            let child = Box::new(Expr::column(format!("c{position}")));
            let kind = ExprKind::Cast { child, to: field.data_type.clone(), mode: CastMode::Ansi };
            Expr::new(kind).alias(&field.name)
        })
        .collect();
    let input = Relation::new(RelationKind::ToDataFrame { input: shape.query.clone(), columns });
    let cast = Relation::new(RelationKind::Project { input, expressions });
    crate::statement::view::named(&Analyzer::new(environment).relation(&cast)?, shape.schema)
}

/// The query's own columns, each name once.
fn own_schema(resolved: &Resolved) -> Result<StructType> {
    let output = &resolved.output;
    let repeated = output
        .iter()
        .enumerate()
        .find(|(i, c)| output[..*i].iter().any(|before| before.name.eq_ignore_ascii_case(&c.name)));
    match repeated {
        Some((_, column)) => {
            Err(SparkError::new("COLUMN_ALREADY_EXISTS")
                .with("columnName", attribute::quote(&column.name.to_lowercase())))
        }
        None => Ok(attribute::schema_of(output)),
    }
}

/// Where each column of the view is among the query's: by its name then.
fn positions(resolved: &Resolved, shape: &ViewShape<'_>) -> Result<Vec<usize>> {
    let mut positions = Vec::with_capacity(shape.output.len());
    for (i, name) in shape.output.iter().enumerate() {
        let same = |other: &String| other.eq_ignore_ascii_case(name);
        let expected = shape.output.iter().filter(|n| same(n)).count();
        let ordinal = shape.output[..i].iter().filter(|n| same(n)).count();
        let found: Vec<usize> =
            resolved.output.iter().enumerate().filter(|(_, c)| same(&c.name)).map(|(i, _)| i).collect();
        match found.get(ordinal) {
            Some(position) if found.len() == expected => positions.push(*position),
            _ => {
                let actual: Vec<String> = found.iter().map(|i| resolved.output[*i].name.clone()).collect();
                return Err(SparkError::new("INCOMPATIBLE_VIEW_SCHEMA_CHANGE")
                    .with("viewName", attribute::quote_parts(shape.name))
                    .with("colName", name.clone())
                    .with("expectedNum", expected.to_string())
                    .with("actualCols", format!("[{}]", actual.join(",")))
                    .with("suggestion", shape.suggestion.clone()));
            }
        }
    }
    Ok(positions)
}

fn check_up_casts(columns: &[&Attribute], schema: &StructType) -> Result<()> {
    for (column, field) in columns.iter().zip(&schema.fields) {
        if column.data_type != field.data_type && !cast::can_up_cast(&column.data_type, &field.data_type) {
            let full: Vec<&str> = column.qualifier.iter().chain([&column.name]).map(String::as_str).collect();
            return Err(SparkError::new("CANNOT_UP_CAST_DATATYPE")
                .with("expression", full.join("."))
                .with("sourceType", format!("\"{}\"", column.data_type.sql()))
                .with("targetType", format!("\"{}\"", field.data_type.sql()))
                .with(
                    "details",
                    "The type path of the target object is:\n\nYou can either add an explicit cast to the input data \
                     or choose a higher precision type of the field in the target object",
                ));
        }
    }
    Ok(())
}
