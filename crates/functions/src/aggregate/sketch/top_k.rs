//! The most frequent values: `approx_top_k` and its family.

use super::super::fold::{Fold, Folded};
use super::super::states::{Rows, States, column, typed};
use super::super::udaf::{Call, Kernel, OverNothing};
use super::super::{AggregateContext, constant, declare};
use super::frequent::Frequent;
use super::top_k_items::Layout;
use super::{Missing, any, binaries, complete, kernel, scalar, text_of, type_check};
use crate::coercion::mismatch;
use crate::scalar::string::constant::integer_of;
use crate::scalar::string::rows::{array_or_constant, finish, internal, row_count};
use crate::{AggregateCall, ArgType, BuildContext, Function, KernelArgs, Signature, TypedExpr};
use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, Int32Array, Int64Array, ListArray, StringArray, StructArray, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType as ArrowType, Fields, Int32Type};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, StructField, arrow_mapping};
use std::sync::Arc;

const DEFAULT_ITEMS: i32 = 5;
const DEFAULT_TRACKED: i32 = 10_000;
const MOST_TRACKED: i64 = 1_000_000;
/// The size of the first sketch that is combined.
const AS_FIRST: i32 = -1;

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "approx_top_k",
        &[],
        Signature::with_optional(&[any("expr"), any("k"), any("maxItemsTracked")], 2),
        build_top,
        "approx_top_k(expr[, k[, maxItemsTracked]]) - Returns the k most frequent values with their counts.",
    ),
    &declare(
        "approx_top_k_accumulate",
        &[],
        Signature::with_optional(&[any("expr"), any("maxItemsTracked")], 1),
        build_accumulate,
        "approx_top_k_accumulate(expr[, maxItemsTracked]) - Returns a sketch of the most frequent values.",
    ),
    &declare(
        "approx_top_k_combine",
        &[],
        Signature::with_optional(&[any("state"), any("maxItemsTracked")], 1),
        build_combine,
        "approx_top_k_combine(state[, maxItemsTracked]) - Returns one sketch of the most frequent values of several.",
    ),
    &scalar(
        "approx_top_k_estimate",
        Signature::with_optional(&[any("state"), any("k")], 1),
        build_estimate,
        "approx_top_k_estimate(state[, k]) - Returns the k most frequent values of a sketch with their counts.",
    ),
];

static ESTIMATE: Function = kernel("approx_top_k_estimate", estimate);

pub static KERNELS: &[&Function] = &[&ESTIMATE];

static TOP: Kernel =
    Kernel { name: "approx_top_k", states: |c, _| new_states(c, Kind::Top), over_nothing: OverNothing::Evaluated };
static ACCUMULATE: Kernel = Kernel {
    name: "approx_top_k_accumulate",
    states: |c, _| new_states(c, Kind::Accumulate),
    over_nothing: OverNothing::Evaluated,
};
static COMBINE: Kernel = Kernel {
    name: "approx_top_k_combine",
    states: |c, _| new_states(c, Kind::Combine),
    over_nothing: OverNothing::Evaluated,
};

pub static AGGREGATES: &[&Kernel] = &[&TOP, &ACCUMULATE, &COMBINE];

/// A constant and positive number.
fn positive(text: &str, argument: &TypedExpr, name: &str, not_constant: &str) -> Result<i64> {
    let Some(value) = constant::value(argument)? else { return Err(type_check(text, not_constant)) };
    if value.is_null() {
        return Err(SparkError::new("APPROX_TOP_K_NULL_ARG").with("argName", format!("`{name}`")));
    }
    match integer_of(&value) {
        Some(number) if number > 0 => Ok(number),
        Some(number) => Err(SparkError::new("APPROX_TOP_K_NON_POSITIVE_ARG")
            .with("argName", format!("`{name}`"))
            .with("argValue", number.to_string())),
        None => Err(mismatch::unexpected_input(text, 1, ArgType::Integer, argument)),
    }
}

fn items_of(text: &str, argument: &TypedExpr) -> Result<i64> {
    positive(text, argument, "k", "K must be a constant literal")
}

fn tracked_of(text: &str, argument: &TypedExpr) -> Result<i64> {
    let tracked = positive(text, argument, "maxItemsTracked", "Number of items tracked must be a constant literal")?;
    if tracked > MOST_TRACKED {
        return Err(SparkError::new("APPROX_TOP_K_MAX_ITEMS_TRACKED_EXCEEDS_LIMIT")
            .with("maxItemsTracked", tracked.to_string())
            .with("limit", MOST_TRACKED.to_string()));
    }
    Ok(tracked)
}

fn check_items(items: i64, tracked: i64) -> Result<()> {
    if items <= tracked {
        return Ok(());
    }
    Err(SparkError::new("APPROX_TOP_K_MAX_ITEMS_TRACKED_LESS_THAN_K")
        .with("maxItemsTracked", tracked.to_string())
        .with("k", items.to_string()))
}

/// The layout of a type that items may have.
fn layout_of(text: &str, data_type: &DataType) -> Result<Layout> {
    let word = data_type.simple_string();
    let word = word.split(['<', '(']).next().unwrap_or_default().to_string();
    Layout::of(data_type).ok_or_else(|| type_check(text, format!("{word} columns are not supported")))
}

fn result_type(item: DataType) -> DataType {
    let fields = vec![StructField::new("item", item, true), StructField::new("count", DataType::Long, false)];
    DataType::array(DataType::struct_of(fields), false)
}

fn state_type(item: DataType) -> DataType {
    DataType::struct_of(vec![
        StructField::new("sketch", DataType::Binary, false),
        StructField::new("maxItemsTracked", DataType::Integer, false),
        StructField::new("itemDataType", item, true),
        StructField::new("itemDataTypeDDL", DataType::STRING, false),
    ])
}

/// The type of the items of a state; None for other types.
fn item_type(state: &DataType) -> Option<DataType> {
    match state {
        DataType::Struct(fields) => match fields.fields.as_slice() {
            [sketch, _, item, _] if sketch.data_type == DataType::Binary => Some(item.data_type.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn build_top(context: &mut BuildContext<'_>, mut call: AggregateCall) -> Result<TypedExpr> {
    complete(&mut call.arguments, 3, &[Missing::Integer(DEFAULT_ITEMS), Missing::Integer(DEFAULT_TRACKED)]);
    let mut call = AggregateContext::new("approx_top_k", call);
    let item = call.argument(0)?.clone();
    layout_of(&call.text, &item.data_type)?;
    call.check_collation(&item.data_type)?;
    let items = items_of(&call.text, call.argument(1)?)?;
    let tracked = tracked_of(&call.text, call.argument(2)?)?;
    check_items(items, tracked)?;
    let returns = result_type(item.data_type.clone());
    call.call.arguments = vec![item];
    call.aggregate(&TOP, context, returns, false, Some(&format!("{tracked} {items}")))
}

fn build_accumulate(context: &mut BuildContext<'_>, mut call: AggregateCall) -> Result<TypedExpr> {
    complete(&mut call.arguments, 2, &[Missing::Integer(DEFAULT_TRACKED)]);
    let mut call = AggregateContext::new("approx_top_k_accumulate", call);
    let item = call.argument(0)?.clone();
    layout_of(&call.text, &item.data_type)?;
    call.check_collation(&item.data_type)?;
    let tracked = tracked_of(&call.text, call.argument(1)?)?;
    let returns = state_type(item.data_type.clone());
    call.call.arguments = vec![item];
    call.aggregate(&ACCUMULATE, context, returns, false, Some(&tracked.to_string()))
}

fn build_combine(context: &mut BuildContext<'_>, mut call: AggregateCall) -> Result<TypedExpr> {
    let is_given = call.arguments.len() > 1;
    complete(&mut call.arguments, 2, &[Missing::Integer(AS_FIRST)]);
    let mut call = AggregateContext::new("approx_top_k_combine", call);
    let state = call.argument(0)?.clone();
    let Some(item) = item_type(&state.data_type) else {
        return Err(mismatch::unexpected_input(&call.text, 0, ArgType::Struct, &state));
    };
    layout_of(&call.text, &item)?;
    let tracked = if is_given { tracked_of(&call.text, call.argument(1)?)? } else { AS_FIRST.into() };
    call.call.arguments = vec![state];
    call.aggregate(&COMBINE, context, state_type(item), false, Some(&tracked.to_string()))
}

fn build_estimate(context: &mut BuildContext<'_>, mut arguments: Vec<TypedExpr>) -> Result<TypedExpr> {
    complete(&mut arguments, 2, &[Missing::Integer(DEFAULT_ITEMS)]);
    let text = text_of("approx_top_k_estimate", &arguments);
    let [state, items] = arguments.as_slice() else { return Err(SparkError::internal("no state to estimate of")) };
    let Some(item) = item_type(&state.data_type) else {
        return Err(mismatch::unexpected_input(&text, 0, ArgType::Struct, state));
    };
    layout_of(&text, &item)?;
    let number = items_of(&text, items)?;
    let literal = datafusion::logical_expr::lit(number);
    let items = TypedExpr::new(literal, DataType::Long, false, items.name.clone());
    let returns = result_type(item);
    let nullable = state.nullable;
    let typed = [state.clone(), items];
    let expr = crate::kernel::call(&ESTIMATE, estimate, &typed, &returns, nullable, context)?;
    Ok(TypedExpr::new(expr, returns, nullable, text))
}

/// What a group has seen.
#[derive(Debug, Clone)]
struct Tracked {
    sketch: Frequent,
    nulls: i64,
    size: i32,
    /// Whether it is made of sketches that other tasks sent.
    is_merged: bool,
}

impl Tracked {
    fn new(layout: Layout, size: i32) -> Self {
        Self { sketch: layout.sketch(size), nulls: 0, size, is_merged: false }
    }

    fn write(&self, layout: Layout) -> Vec<u8> {
        let (mut bytes, items) = self.sketch.serialize();
        layout.write(&items, &mut bytes);
        bytes.extend_from_slice(&self.nulls.to_be_bytes());
        bytes
    }

    fn read(bytes: &[u8], size: i32, layout: Layout) -> Option<Self> {
        let (sketch, nulls) = bytes.split_last_chunk::<8>()?;
        let sketch = Frequent::deserialize(sketch, layout.hash_code(), |bytes, count| layout.read(bytes, count))?;
        Some(Self { sketch, nulls: i64::from_be_bytes(*nulls), size, is_merged: false })
    }

    fn merge(&mut self, other: &Self) {
        self.sketch.merge(&other.sketch);
        self.nulls += other.nulls;
    }

    /// The sketch as it would be had it come from another task: as in Spark, where every sketch is sent to the
    /// task that ends the aggregation. The order of items of one count depends on it.
    fn sent(&self, layout: Layout) -> Option<Self> {
        let mut whole = Self::new(layout, self.size);
        whole.merge(&Self::read(&self.write(layout), self.size, layout)?);
        Some(whole)
    }

    /// The most frequent items, nulls among them.
    fn top(&self, most: usize) -> Vec<(Option<&[u8]>, i64)> {
        let mut items: Vec<(Option<&[u8]>, i64)> =
            self.sketch.frequent_items().into_iter().map(|(item, count)| (Some(item), count)).collect();
        if self.nulls > 0 {
            let place = items.partition_point(|(_, count)| *count >= self.nulls);
            items.insert(place, (None, self.nulls));
        }
        items.truncate(most);
        items
    }
}

/// Lists of items with their counts.
fn lists(
    rows: &[Option<Vec<(Option<&[u8]>, i64)>>],
    layout: Layout,
    item: &DataType,
    returns: &DataType,
) -> DfResult<ArrayRef> {
    let wanted = arrow_mapping::to_arrow(returns);
    let ArrowType::List(field) = &wanted else {
        return Err(DataFusionError::Internal(format!("approx_top_k as {wanted}")));
    };
    let ArrowType::Struct(fields) = field.data_type() else {
        return Err(DataFusionError::Internal(format!("approx_top_k of {field}")));
    };
    let all = || rows.iter().flatten().flatten();
    let items: Vec<Option<&[u8]>> = all().map(|(item, _)| *item).collect();
    let counts = Int64Array::from_iter_values(all().map(|(_, count)| *count));
    let columns: Vec<ArrayRef> = vec![layout.column(&items, item)?, Arc::new(counts)];
    let structs = StructArray::try_new(fields.clone(), columns, None)?;
    let lengths = rows.iter().map(|row| row.as_ref().map_or(0, Vec::len));
    let nulls = rows.iter().any(Option::is_none).then(|| rows.iter().map(Option::is_some).collect::<NullBuffer>());
    Ok(Arc::new(ListArray::try_new(field.clone(), OffsetBuffer::from_lengths(lengths), Arc::new(structs), nulls)?))
}

fn not_a_state() -> SparkError {
    SparkError::internal("the state of approx_top_k has no sketch")
}

fn estimate(args: &KernelArgs<'_>) -> Result<ColumnarValue> {
    let Some(item) = args.types.first().and_then(item_type) else { return Err(not_a_state()) };
    let layout = Layout::of(&item).ok_or_else(not_a_state)?;
    let (states, is_constant) = array_or_constant(args, 0)?;
    let (items, _) = array_or_constant(args, 1)?;
    let items = items.as_primitive::<arrow::datatypes::Int64Type>();
    let items = if items.is_empty() { 0 } else { items.value(0) };
    let states = states.as_struct();
    let (sketches, sizes) = (states.column(0).as_binary::<i32>(), states.column(1).as_primitive::<Int32Type>());
    let mut found = Vec::new();
    for row in 0..row_count(args) {
        let row = if is_constant { 0 } else { row };
        if states.is_null(row) {
            found.push(None);
            continue;
        }
        let state = Tracked::read(sketches.value(row), sizes.value(row), layout).ok_or_else(not_a_state)?;
        check_items(items, state.size.into())?;
        found.push(Some(state));
    }
    let most = usize::try_from(items).unwrap_or(0);
    let rows: Vec<_> = found.iter().map(|state| state.as_ref().map(|state| state.top(most))).collect();
    finish(args, lists(&rows, layout, &item, args.return_type).map_err(internal)?)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Top,
    Accumulate,
    Combine,
}

#[derive(Debug, Clone)]
struct TopFold {
    call: Call,
    kind: Kind,
    item: DataType,
    layout: Layout,
    size: i32,
    most: usize,
}

type State = Option<Box<Tracked>>;

fn new_states(call: &Call, kind: Kind) -> DfResult<Box<dyn States>> {
    let (size, most) = call.payload().split_once(' ').unwrap_or((call.payload(), "0"));
    let first = call.arguments.first().cloned().unwrap_or(DataType::Null);
    let item = if kind == Kind::Combine { item_type(&first).unwrap_or(DataType::Null) } else { first };
    let layout = Layout::of(&item).ok_or_else(|| call.error(not_a_state()))?;
    let (size, most) = (size.parse().unwrap_or(DEFAULT_TRACKED), most.parse().unwrap_or(0));
    Ok(Folded::boxed(TopFold { call: call.clone(), kind, item, layout, size, most }))
}

impl TopFold {
    fn take(&self, state: &mut State, bytes: &[u8], size: i32) -> Result<()> {
        let other = Tracked::read(bytes, size, self.layout).ok_or_else(not_a_state)?;
        match state {
            Some(own) if self.kind == Kind::Combine && self.size == AS_FIRST && own.size != size => {
                Err(SparkError::new("APPROX_TOP_K_SKETCH_SIZE_NOT_MATCH")
                    .with("size1", own.size.to_string())
                    .with("size2", size.to_string()))
            }
            Some(own) => {
                own.merge(&other);
                Ok(())
            }
            None => {
                let size = if self.size == AS_FIRST { size } else { self.size };
                let mut own = Tracked::new(self.layout, size);
                own.merge(&other);
                *state = Some(Box::new(own));
                Ok(())
            }
        }
    }

    fn states(&self, states: &[State]) -> DfResult<ArrayRef> {
        let empty = Tracked::new(self.layout, if self.size == AS_FIRST { 0 } else { self.size });
        let all = || states.iter().map(|state| state.as_deref().unwrap_or(&empty));
        let ddl = if self.item == DataType::STRING {
            "item string not null".to_string()
        } else {
            format!("item {} NOT NULL", self.item.sql())
        };
        let item = arrow_mapping::to_arrow(&self.item);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(BinaryArray::from_iter_values(all().map(|state| state.write(self.layout)))),
            Arc::new(Int32Array::from_iter_values(all().map(|state| state.size))),
            new_null_array(&item, states.len()),
            Arc::new(StringArray::from_iter_values(std::iter::repeat_n(ddl, states.len()))),
        ];
        let ArrowType::Struct(fields) = self.call.arrow_return() else {
            return Err(DataFusionError::Internal("the state of approx_top_k is no struct".into()));
        };
        let fields: Fields = fields;
        Ok(Arc::new(StructArray::try_new(fields, columns, None)?))
    }
}

impl Fold for TopFold {
    type State = State;

    fn state_types(&self) -> Vec<ArrowType> {
        vec![ArrowType::Binary, ArrowType::Int32]
    }

    fn update(&self, states: &mut [State], arguments: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let values = column(arguments, 0)?;
        if self.kind == Kind::Combine {
            let structs: &StructArray = typed(arguments, 0)?;
            let (sketches, sizes) =
                (structs.column(0).as_binary::<i32>(), structs.column(1).as_primitive::<Int32Type>());
            return rows.try_for_each(structs.nulls(), |row, group| {
                self.take(&mut states[group], sketches.value(row), sizes.value(row)).map_err(|e| self.call.error(e))
            });
        }
        let new = || Box::new(Tracked::new(self.layout, self.size));
        if values.null_count() > 0 {
            rows.for_each(None, |row, group| {
                if values.is_null(row) {
                    states[group].get_or_insert_with(new).nulls += 1;
                }
            });
        }
        self.layout.for_each_item(values, rows, |group, item| {
            states[group].get_or_insert_with(new).sketch.update(item, 1);
        })
    }

    fn merge(&self, states: &mut [State], columns: &[ArrayRef], rows: &Rows<'_>) -> DfResult<()> {
        let sketches: &BinaryArray = typed(columns, 0)?;
        let sizes: &Int32Array = typed(columns, 1)?;
        rows.try_for_each(sketches.nulls(), |row, group| {
            let state = &mut states[group];
            self.take(state, sketches.value(row), sizes.value(row)).map_err(|e| self.call.error(e))?;
            state.iter_mut().for_each(|own| own.is_merged = true);
            Ok(())
        })
    }

    fn state(&self, states: &[State]) -> DfResult<Vec<ArrayRef>> {
        let sizes = states.iter().map(|state| state.as_ref().map(|state| state.size)).collect::<Int32Array>();
        Ok(vec![
            binaries(states.iter().map(|state| state.as_ref().map(|state| state.write(self.layout)))),
            Arc::new(sizes),
        ])
    }

    fn evaluate(&self, states: &[State]) -> DfResult<ArrayRef> {
        let whole = |state: &State| match state.as_deref() {
            Some(own) if !own.is_merged => own.sent(self.layout).map(Box::new),
            _ => state.clone(),
        };
        let states: Vec<State> = states.iter().map(whole).collect();
        if self.kind != Kind::Top {
            return self.states(&states);
        }
        let rows: Vec<_> = states
            .iter()
            .map(|state| Some(state.as_ref().map(|state| state.top(self.most)).unwrap_or_default()))
            .collect();
        lists(&rows, self.layout, &self.item, &self.call.returns)
    }

    fn heap_size(&self, state: &State) -> usize {
        state.as_ref().map_or(0, |state| size_of::<Tracked>() + state.sketch.heap_size())
    }
}
