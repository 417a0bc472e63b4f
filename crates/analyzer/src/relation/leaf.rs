//! Relations without inputs.

use super::arrow_stream;
use crate::analyzer::Analyzer;
use crate::attribute::{Attribute, AttributeId};
use crate::environment::{LocalRows, PersistedFrame, Scan};
use crate::expression::{self, NamedExpr};
use crate::resolved::{Frame, Resolved, built, project};
use crate::scope::Scope;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::TreeNode;
use datafusion::datasource::{MemTable, provider_as_source};
use datafusion::logical_expr::{EmptyRelation, Expr as DfExpr, LogicalPlan, LogicalPlanBuilder};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_functions::{TypedExpr, coercion};
use firesteel_plan::{Expr, ExprKind, LocalRelation, Origin};
use firesteel_types::{DataType, Literal, StructField, StructType, arrow_mapping};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// `SELECT 1`: one row, no columns.
pub(crate) fn one_row() -> Result<Resolved> {
    Ok(Resolved::leaf(one_row_plan(), Vec::new()))
}

pub(crate) fn one_row_plan() -> LogicalPlan {
    LogicalPlan::EmptyRelation(EmptyRelation {
        produce_one_row: true,
        schema: Arc::new(datafusion::common::DFSchema::empty()),
    })
}

/// `spark.range(…)`.
pub(crate) fn range(start: i64, end: i64, step: i64, num_partitions: Option<i32>) -> Result<Resolved> {
    if step == 0 {
        return Err(SparkError::plain(ExceptionClass::IllegalArgument, "requirement failed: step (0) cannot be 0"));
    }
    super::unary::within_reason(num_partitions.and_then(|count| usize::try_from(count).ok()).unwrap_or(0))?;
    let provider = crate::range::RangeTable::new(start, end, step, num_partitions);
    let scan = Scan {
        provider: Arc::new(provider),
        schema: StructType::new(vec![StructField::new("id", DataType::Long, false)]),
        name: "range".into(),
        metadata_columns: Vec::new(),
    };
    self::scan(&scan, &[])
}

/// A scan, its columns renamed to attributes.
pub(crate) fn scan(scan: &Scan, qualifier: &[String]) -> Result<Resolved> {
    let attributes = scan.attributes(qualifier);
    let provider_schema = scan.provider.schema();
    let plan = built(
        LogicalPlanBuilder::scan(
            scan.name.as_str().to_owned() + "#scan",
            provider_as_source(scan.provider.clone()),
            None,
        )
        .and_then(LogicalPlanBuilder::build),
    )?;
    let hidden: Vec<Attribute> =
        scan.metadata_columns.iter().map(|f| Attribute::from_field(f).with_qualifier(qualifier)).collect();
    let columns = plan.schema().columns();
    if columns.len() < attributes.len() + hidden.len() {
        return Err(SparkError::internal(format!(
            "the scan has {} columns, its schema {}",
            provider_schema.fields().len(),
            attributes.len()
        )));
    }
    let expressions =
        attributes.iter().chain(&hidden).zip(columns).map(|(a, c)| DfExpr::Column(c).alias(a.column_name())).collect();
    let mut resolved = Resolved::leaf(project(plan, expressions)?, attributes);
    resolved.hidden = hidden;
    Ok(resolved)
}

/// A scan of files: fields of metadata columns that differ from row to row are columns of the provider.
pub(crate) fn files(a: &Analyzer<'_>, scan: &Scan, qualifier: &[String]) -> Result<Resolved> {
    let Some(field) = scan.metadata_columns.first() else { return self::scan(scan, qualifier) };
    let DataType::Struct(fields) = &field.data_type else { return self::scan(scan, qualifier) };
    let provided = scan.provider.schema();
    let first = scan.schema.fields.len();
    let stored = provided.fields().get(first).and_then(|f| arrow_mapping::from_arrow(f.data_type(), f.metadata()).ok());
    let Some(DataType::Struct(stored)) = stored else { return self::scan(scan, qualifier) };
    if stored.fields.len() == fields.fields.len() {
        return self::scan(scan, qualifier);
    }
    let resolved = self::scan(
        &Scan {
            metadata_columns: vec![StructField { data_type: DataType::Struct(stored.clone()), ..field.clone() }],
            ..scan.clone()
        },
        qualifier,
    )?;
    let LogicalPlan::Projection(projection) = &resolved.plan else {
        return Err(SparkError::internal("a scan is not projected"));
    };
    let columns = projection.input.schema().columns();
    let of_rows = fields.fields.iter().skip(stored.fields.len()).zip(columns.iter().skip(first + 1));
    let constant = columns
        .get(first)
        .map(|c| TypedExpr::new(DfExpr::Column(c.clone()), DataType::Struct(stored.clone()), false, ""))
        .ok_or_else(|| SparkError::internal("a scan has no metadata column"))?;
    let mut arguments = Vec::new();
    for (i, field) in stored.fields.iter().enumerate() {
        arguments.push(expression::literal(&Literal::String(field.name.clone()))?);
        arguments.push(expression::get_field(a, constant.clone(), i)?);
    }
    for (field, column) in of_rows {
        arguments.push(expression::literal(&Literal::String(field.name.clone()))?);
        let column = DfExpr::Column(column.clone());
        arguments.push(TypedExpr::new(column, field.data_type.clone(), field.nullable, field.name.clone()));
    }
    let whole = a.build_context(&Origin::Unknown).call("named_struct", arguments)?;
    let hidden = Attribute::from_field(field).with_qualifier(qualifier);
    let mut expressions = projection.expr.clone();
    expressions.truncate(resolved.output.len());
    expressions.push(whole.expr.alias(hidden.column_name()));
    let plan = project(projection.input.as_ref().clone(), expressions)?;
    let mut resolved = Resolved::leaf(plan, resolved.output);
    resolved.hidden = vec![hidden];
    Ok(resolved)
}

/// A scan of persisted rows in place of the relation: the columns and the
/// frames below as analysed, under fresh ids.
pub(crate) fn persisted(persisted: &PersistedFrame) -> Result<Resolved> {
    let scanned = scan(&persisted.scan, &[])?;
    let mut renewed = HashMap::new();
    let output = renew(&persisted.output, &mut renewed);
    let mut seen = HashSet::new();
    let expressions = scanned
        .output
        .iter()
        .zip(&output)
        .filter(|(_, new)| seen.insert(new.id))
        .map(|(stored, new)| stored.expr().alias(new.column_name()))
        .collect();
    let frame = renew_frame(&persisted.frame, &mut renewed);
    let mut resolved = Resolved::leaf(project(scanned.plan, expressions)?, output);
    resolved.frame = frame;
    Ok(resolved)
}

fn renew(attributes: &[Attribute], renewed: &mut HashMap<AttributeId, AttributeId>) -> Vec<Attribute> {
    attributes
        .iter()
        .map(|a| Attribute { id: *renewed.entry(a.id).or_insert_with(AttributeId::fresh), ..a.clone() })
        .collect()
}

fn renew_frame(frame: &Frame, renewed: &mut HashMap<AttributeId, AttributeId>) -> Arc<Frame> {
    stacker::maybe_grow(512 * 1024, 8 * 1024 * 1024, || {
        let output = renew(&frame.output, renewed);
        let children = frame.children.iter().map(|c| renew_frame(c, renewed)).collect();
        Arc::new(Frame { plan_id: frame.plan_id, output, children })
    })
}

/// Rows at hand.
pub(crate) fn rows(rows: &LocalRows) -> Result<Resolved> {
    let scan = memory_scan(&rows.schema, rows.arrow_schema.clone(), rows.batches.clone())?;
    self::scan(&scan, &[])
}

/// A scan of batches.
pub(crate) fn memory_scan(
    schema: &StructType,
    mut arrow_schema: SchemaRef,
    mut batches: Vec<RecordBatch>,
) -> Result<Scan> {
    // Columns are taken by position; only DataFusion asks that their names differ.
    let mut names = HashSet::new();
    if !arrow_schema.fields().iter().all(|field| names.insert(field.name().as_str())) {
        let fields = arrow_schema.fields().iter().enumerate();
        let fields: Vec<_> = fields.map(|(i, f)| f.as_ref().clone().with_name(format!("{}#{i}", f.name()))).collect();
        arrow_schema = Arc::new(Schema::new(fields));
        for batch in &mut batches {
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            *batch = RecordBatch::try_new_with_options(arrow_schema.clone(), batch.columns().to_vec(), &options)
                .map_err(|e| SparkError::internal(e.to_string()))?;
        }
    }
    let provider: Arc<dyn TableProvider> = Arc::new(built(MemTable::try_new(arrow_schema, vec![batches]))?);
    Ok(Scan { provider, schema: schema.clone(), name: "local".into(), metadata_columns: Vec::new() })
}

/// `createDataFrame`: Arrow streams and a schema.
pub(crate) fn local(a: &mut Analyzer<'_>, local: &LocalRelation) -> Result<Resolved> {
    let declared = match &local.schema {
        Some(text) if !text.trim().is_empty() => Some(schema_of(text)?),
        _ => None,
    };
    let mut batches = Vec::new();
    let mut arrow_schema: Option<SchemaRef> = None;
    for data in local.data.iter().filter(|d| !d.is_empty()) {
        let (schema, read) = arrow_stream::read(data)?;
        arrow_schema.get_or_insert(schema);
        batches.extend(read);
    }
    let Some(arrow_schema) = arrow_schema else {
        let schema =
            declared.ok_or_else(|| SparkError::new("CONNECT_INVALID_PLAN.SCHEMA_REQUIRED_FOR_LOCAL_RELATION"))?;
        let arrow = Arc::new(unique_names(&arrow_mapping::to_arrow_schema(&schema)));
        return scan(&memory_scan(&schema, arrow, Vec::new())?, &[]);
    };
    let mut sent = arrow_mapping::from_arrow_schema(&arrow_schema)?;
    if let Some(declared) = &declared
        && declared.fields.len() == sent.fields.len()
    {
        // Whether parts may be null is for the schema to say; user-defined types are stored as what they are made of.
        for (field, declared) in sent.fields.iter_mut().zip(&declared.fields) {
            let stored = declared.data_type.stored();
            if field.data_type.same_type(&stored) {
                field.data_type = stored;
            }
        }
    }
    // Columns may share a name, and may come in types that are not ours.
    let canonical = Arc::new(unique_names(&arrow_mapping::to_arrow_schema(&sent)));
    let mut converted = Vec::with_capacity(batches.len());
    for batch in batches {
        converted.push(arrow_mapping::to_canonical_batch(&batch, &canonical)?);
    }
    let resolved = scan(&memory_scan(&sent, canonical, converted)?, &[])?;
    match declared {
        Some(declared) if declared != sent => declare(a, resolved, &declared),
        _ => Ok(resolved),
    }
}

fn schema_of(text: &str) -> Result<StructType> {
    match firesteel_types::ddl::parse_schema(text)? {
        DataType::Struct(schema) => Ok(schema.as_ref().clone()),
        other => Ok(StructType::new(vec![StructField::new("value", other, true)])),
    }
}

/// Column names that DataFusion's tables accept: each once.
fn unique_names(schema: &Schema) -> Schema {
    let fields: Vec<_> =
        schema.fields().iter().enumerate().map(|(i, f)| f.as_ref().clone().with_name(format!("{i}"))).collect();
    Schema::new(fields)
}

/// Renames and casts the columns, by position, to a declared schema.
fn declare(a: &mut Analyzer<'_>, resolved: Resolved, declared: &StructType) -> Result<Resolved> {
    if declared.fields.len() != resolved.output.len() {
        return Err(SparkError::plain(
            ExceptionClass::IllegalArgument,
            format!("The data have {} columns, the schema has {}", resolved.output.len(), declared.fields.len()),
        ));
    }
    let mut outputs = Vec::new();
    for (attribute, field) in resolved.output.iter().zip(&declared.fields) {
        let typed = if attribute.data_type == field.data_type.stored() {
            attribute.typed()
        } else {
            expression::implicit_cast(a, attribute.typed(), &field.data_type)?
        };
        let mut named = NamedExpr::computed(typed, &field.name);
        named.attribute.nullable = field.nullable;
        named.attribute.data_type = field.data_type.clone();
        named.attribute.metadata = field.metadata.clone();
        outputs.push(named);
    }
    let plan = project(resolved.plan.clone(), outputs.iter().map(NamedExpr::expr).collect())?;
    Ok(Resolved::leaf(plan, outputs.into_iter().map(|o| o.attribute).collect()))
}

/// VALUES takes no aggregates, windows and random values.
fn check_inline(value: &TypedExpr) -> Result<()> {
    let cannot = |e: &DfExpr| matches!(e, DfExpr::AggregateFunction(_) | DfExpr::WindowFunction(_));
    if value.expr.is_volatile() || value.expr.exists(|e| Ok(cannot(e))).unwrap_or(false) {
        return Err(SparkError::new("INVALID_INLINE_TABLE.CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE")
            .with("expr", format!("\"{}\"", value.name)));
    }
    Ok(())
}

/// The values of VALUES can be computed at once.
fn check_computable(expr: &Expr, value: &TypedExpr) -> Result<()> {
    if matches!(expr.kind, ExprKind::Literal(_)) || !value.is_foldable() {
        return Ok(());
    }
    match expression::folded(value) {
        Err(error) if !error.is("INTERNAL_ERROR") => {
            Err(SparkError::new("INVALID_INLINE_TABLE.FAILED_SQL_EXPRESSION_EVALUATION")
                .with("sqlExpr", format!("\"{}\"", value.name)))
        }
        _ => Ok(()),
    }
}

/// Literals, and what the grammar itself makes of them: no name has to be looked up.
fn is_plain(expr: &Expr) -> bool {
    const OPERATORS: [&str; 16] =
        ["+", "-", "*", "/", "%", "==", "<=>", "<", "<=", ">", ">=", "and", "or", "not", "when", "struct"];
    match &expr.kind {
        ExprKind::Literal(_) => true,
        ExprKind::Cast { child, .. } => is_plain(child),
        ExprKind::Function(call) => {
            matches!(call.name.as_slice(), [name] if OPERATORS.contains(&name.as_str()))
                && call.arguments.iter().all(is_plain)
        }
        _ => false,
    }
}

/// `VALUES (…), (…)`: columns `col1`, `col2`, … of the rows' common types; errors call the columns as the alias around does, where there is one.
pub(crate) fn values(a: &mut Analyzer<'_>, rows: &[Vec<Expr>], names: &[String]) -> Result<Resolved> {
    let scope = Scope::default();
    let mut typed_rows = Vec::with_capacity(rows.len());
    let width = rows.first().map_or(0, Vec::len);
    for (index, row) in rows.iter().enumerate() {
        if row.len() != width {
            return Err(SparkError::new("INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH")
                .with("expectedNumCols", width.to_string())
                .with("actualNumCols", row.len().to_string())
                .with("rowIndex", index.to_string()));
        }
        let mut typed = Vec::with_capacity(width);
        for expr in row {
            if matches!(expr.kind, ExprKind::Star { .. }) {
                return Err(SparkError::new("INVALID_INLINE_TABLE.CANNOT_EVALUATE_EXPRESSION_IN_INLINE_TABLE")
                    .with("expr", "\"*\""));
            }
            let value = a.expression(expr, &scope)?;
            check_inline(&value)?;
            typed.push(value);
        }
        typed_rows.push(typed);
    }
    let mut attributes = Vec::with_capacity(width);
    for column in 0..width {
        let types: Vec<DataType> = typed_rows.iter().map(|r| r[column].data_type.clone()).collect();
        let common = coercion::wider_without_strings(&types, false).ok_or_else(|| {
            let name = names.get(column).cloned().unwrap_or_else(|| format!("col{}", column + 1));
            let error = SparkError::new("INVALID_INLINE_TABLE.INCOMPATIBLE_TYPES_IN_INLINE_TABLE")
                .with("colName", crate::attribute::quote(&name));
            // Spark makes a table of its rows as it parses, where no name has to be looked up.
            if rows.iter().flatten().all(is_plain) { error.with_class(ExceptionClass::Parse) } else { error }
        })?;
        let nullable = typed_rows.iter().any(|r| r[column].nullable);
        attributes.push(Attribute::new(format!("col{}", column + 1), common, nullable));
    }
    for (row, typed) in rows.iter().zip(&typed_rows) {
        row.iter().zip(typed).try_for_each(|(expr, value)| check_computable(expr, value))?;
    }
    let mut lists = Vec::with_capacity(typed_rows.len());
    for row in typed_rows {
        let mut list = Vec::with_capacity(width);
        for (typed, attribute) in row.into_iter().zip(&attributes) {
            list.push(expression::implicit_cast(a, typed, &attribute.data_type)?.expr);
        }
        lists.push(list);
    }
    let plan = built(LogicalPlanBuilder::values(lists).and_then(LogicalPlanBuilder::build))?;
    let expressions = plan
        .schema()
        .columns()
        .into_iter()
        .zip(&attributes)
        .map(|(c, a)| DfExpr::Column(c).alias(a.column_name()))
        .collect();
    Ok(Resolved::leaf(project(plan, expressions)?, attributes))
}
