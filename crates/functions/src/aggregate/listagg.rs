//! `listagg` and `string_agg`.

use super::gather::Gathered;
use super::states::{Rows, States, column};
use super::udaf::{Call, Kernel, OverNothing};
use super::{AggregateContext, any, constant, declare};
use crate::{AggregateCall, ArgType, BuildContext, Function, Signature, TypedExpr, coercion};
use arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, UInt32Array};
use arrow::compute::{SortOptions, cast, take};
use arrow::datatypes::DataType as ArrowType;
use arrow::row::{RowConverter, SortField};
use datafusion::common::Result as DfResult;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::sync::Arc;

const SIGNATURE: Signature = Signature::with_optional(&[any("expr"), any("delimiter")], 1);
const USAGE: &str = "listagg(expr[, delimiter]) [WITHIN GROUP (ORDER BY key [, ...])] - Returns the strings or binaries of \
                     a group joined, without nulls.";

pub static FUNCTIONS: &[&Function] = &[
    &declare("listagg", &[], SIGNATURE, |c, a| build("listagg", c, a), USAGE),
    &declare("string_agg", &[], SIGNATURE, |c, a| build("string_agg", c, a), USAGE),
];

pub static KERNEL: Kernel = Kernel { name: "listagg", states: new_states, over_nothing: OverNothing::Null };

fn build(name: &'static str, context: &mut BuildContext<'_>, call: AggregateCall) -> Result<TypedExpr> {
    let mut call = AggregateContext::new(name, call);
    let value = call.argument(0)?.clone();
    let delimiter = call.call.arguments.get(1).cloned();
    let distinct = if call.call.is_distinct { "DISTINCT " } else { "" };
    let shown = delimiter.as_ref().map_or("NULL", |d| d.name.as_str());
    call.text = format!("{name}({distinct}{}, {shown})", value.name);
    let is_binary = value.data_type == DataType::Binary;
    let value_name = value.name.clone();
    let value =
        if is_binary { value } else { coercion::coerce_argument(value, ArgType::String, 0, &call.text, context)? };
    let delimiter = match delimiter {
        None => Vec::new(),
        Some(delimiter) => {
            let wanted = if is_binary { ArgType::Binary } else { ArgType::String };
            if !delimiter.is_foldable() {
                let wanted = if is_binary { "\"BINARY\"" } else { "\"STRING\"" };
                constant::required(&call.text, "delimiter", wanted, &delimiter)?;
            }
            let delimiter = coercion::coerce_argument(delimiter, wanted, 1, &call.text, context)?;
            match constant::required(&call.text, "delimiter", "\"STRING\"", &delimiter)? {
                ScalarValue::Utf8(Some(text))
                | ScalarValue::Utf8View(Some(text))
                | ScalarValue::LargeUtf8(Some(text)) => text.into_bytes(),
                ScalarValue::Binary(Some(bytes)) => bytes,
                _ => Vec::new(),
            }
        }
    };
    let mut keys = Vec::new();
    let mut shown = Vec::new();
    let mut orders = String::new();
    for (sort, key) in std::mem::take(&mut call.call.order_by) {
        if call.call.is_distinct && key.name != value_name {
            return Err(SparkError::new("INVALID_WITHIN_GROUP_EXPRESSION.MISMATCH_WITH_DISTINCT_INPUT")
                .with("funcName", format!("`{name}`"))
                .with("funcArg", format!("\"{value_name}\""))
                .with("orderingExpr", format!("\"{}\"", key.name)));
        }
        let direction = if sort.asc { "ASC" } else { "DESC" };
        let nulls = if sort.nulls_first { "FIRST" } else { "LAST" };
        shown.push(format!("{} {direction} NULLS {nulls}", key.name));
        orders.push(match (sort.asc, sort.nulls_first) {
            (true, true) => 'a',
            (true, false) => 'A',
            (false, true) => 'd',
            (false, false) => 'D',
        });
        keys.push(key);
    }
    if !shown.is_empty() {
        // With an order, the text has the function's first name.
        let own = call.text.strip_prefix(name).unwrap_or(&call.text);
        call.text = format!("listagg{own} WITHIN GROUP (ORDER BY {})", shown.join(", "));
    }
    let returns = value.data_type.clone();
    call.call.arguments = vec![value];
    call.call.arguments.extend(keys);
    let payload = format!("{orders};{}", hex::encode(delimiter));
    call.aggregate(&KERNEL, context, returns, true, Some(&payload))
}

fn new_states(call: &Call, types: &[ArrowType]) -> DfResult<Box<dyn States>> {
    let (orders, delimiter) = call.payload().split_once(';').unwrap_or_default();
    let orders = orders
        .chars()
        .map(|c| SortOptions { descending: c.eq_ignore_ascii_case(&'d'), nulls_first: c.is_ascii_lowercase() })
        .collect();
    Ok(Box::new(ListaggStates {
        return_type: call.arrow_return(),
        delimiter: hex::decode(delimiter).unwrap_or_default(),
        orders,
        values: Gathered::new(types.to_vec()),
    }))
}

#[derive(Debug)]
struct ListaggStates {
    return_type: ArrowType,
    delimiter: Vec<u8>,
    /// The orders of the columns after the first.
    orders: Vec<SortOptions>,
    values: Gathered,
}

impl ListaggStates {
    /// The rows of each group in the order of the keys.
    fn ordered(&self, columns: &[ArrayRef], offsets: &[i32]) -> DfResult<ArrayRef> {
        let values = column(columns, 0)?;
        if self.orders.is_empty() {
            return Ok(Arc::clone(values));
        }
        let keys = columns.get(1..).unwrap_or_default();
        let fields = keys
            .iter()
            .zip(&self.orders)
            .map(|(key, order)| SortField::new_with_options(key.data_type().clone(), *order))
            .collect();
        let keys = keys.iter().map(super::ordering::normalized).collect::<DfResult<Vec<_>>>()?;
        let encoded = RowConverter::new(fields)?.convert_columns(&keys)?;
        let mut order: Vec<u32> = (0..values.len() as u32).collect();
        for range in offsets.windows(2) {
            order[range[0] as usize..range[1] as usize]
                .sort_by(|a, b| encoded.row(*a as usize).cmp(&encoded.row(*b as usize)));
        }
        Ok(take(values, &UInt32Array::from(order), None)?)
    }
}

impl States for ListaggStates {
    fn state_types(&self) -> Vec<ArrowType> {
        self.values.state_types()
    }

    fn resize(&mut self, groups: usize) {
        self.values.resize(groups);
    }

    fn update(&mut self, arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let nulls = column(arguments, 0)?.logical_nulls();
        self.values.push(arguments, rows, nulls.as_ref())
    }

    fn merge(&mut self, states: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        self.values.merge(states, rows)
    }

    fn state(&self) -> DfResult<Vec<ArrayRef>> {
        self.values.state()
    }

    fn evaluate(&self) -> DfResult<ArrayRef> {
        let (offsets, columns) = self.values.sorted()?;
        let values = cast(&self.ordered(&columns, &offsets)?, &ArrowType::Binary)?;
        let values = values.as_binary::<i32>();
        let mut joined = BinaryBuilder::new();
        for range in offsets.windows(2) {
            if range[0] == range[1] {
                joined.append_null();
                continue;
            }
            let mut bytes = Vec::new();
            for row in range[0]..range[1] {
                if row > range[0] {
                    bytes.extend_from_slice(&self.delimiter);
                }
                bytes.extend_from_slice(values.value(row as usize));
            }
            joined.append_value(bytes);
        }
        let joined: ArrayRef = Arc::new(joined.finish());
        Ok(cast(&joined, &self.return_type)?)
    }

    fn take_first(&mut self, groups: usize) -> DfResult<Box<dyn States>> {
        Ok(Box::new(Self {
            return_type: self.return_type.clone(),
            delimiter: self.delimiter.clone(),
            orders: self.orders.clone(),
            values: self.values.take_first(groups)?,
        }))
    }

    fn size(&self) -> usize {
        self.values.size()
    }
}
