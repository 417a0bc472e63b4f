//! `schema_of_variant_agg`.

use super::fold::{Fold, Folded};
use super::states::{Rows, typed};
use super::udaf::{Kernel, OverNothing};
use super::{AggregateContext, declare};
use crate::cast::variant::Variants;
use crate::scalar::variant::schema::Schema;
use crate::{AggregateCall, ArgType, BuildContext, Function, Param, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, BinaryArray, BinaryBuilder, StringBuilder};
use arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DataFusionError, Result as DfResult};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

pub static FUNCTIONS: &[&Function] = &[&declare(
    "schema_of_variant_agg",
    &[],
    Signature::of(&[Param { name: "v", arg_type: ArgType::Variant }]),
    build,
    "schema_of_variant_agg(v) - Returns the type, as SQL text, that the variants of a group have in common.",
)];

pub static KERNEL: Kernel = Kernel {
    name: "schema_of_variant_agg",
    states: |_, _| Ok(Folded::boxed(SchemaFold)),
    over_nothing: OverNothing::Evaluated,
};

fn build(context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    AggregateContext::new("schema_of_variant_agg", call).aggregate(&KERNEL, context, DataType::STRING, false, None)
}

#[derive(Debug, Clone)]
struct SchemaFold;

fn failed(error: SparkError) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

impl Fold for SchemaFold {
    type State = Schema;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::Binary]
    }

    fn update(&self, states: &mut [Schema], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let array = super::states::column(arguments, 0)?;
        let variants = Variants::of(array).map_err(failed)?;
        let mut failure = None;
        rows.for_each(array.nulls(), |row, group| match variants.get(row).map(|v| Schema::of(&v)).transpose() {
            Ok(Some(schema)) => states[group] = std::mem::take(&mut states[group]).merge(schema),
            Ok(None) => {}
            Err(error) => failure = Some(error),
        });
        failure.map_or(Ok(()), |error| Err(failed(error)))
    }

    fn merge(&self, states: &mut [Schema], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let schemas: &BinaryArray = typed(columns, 0)?;
        rows.for_each(schemas.nulls(), |row, group| {
            let schema = Schema::decode(&mut schemas.value(row)).unwrap_or_default();
            states[group] = std::mem::take(&mut states[group]).merge(schema);
        });
        Ok(())
    }

    fn state(&self, states: &[Schema]) -> DfResult<Vec<ArrayRef>> {
        let mut out = BinaryBuilder::new();
        let mut bytes = Vec::new();
        for state in states {
            bytes.clear();
            state.encode(&mut bytes);
            out.append_value(&bytes);
        }
        Ok(vec![Arc::new(out.finish())])
    }

    fn evaluate(&self, states: &[Schema]) -> DfResult<ArrayRef> {
        let mut out = StringBuilder::new();
        let mut text = String::new();
        for state in states {
            text.clear();
            state.write(&mut text);
            out.append_value(&text);
        }
        Ok(Arc::new(out.finish()))
    }

    fn heap_size(&self, state: &Schema) -> usize {
        state.heap_size()
    }
}
