//! `array_sort`: by the natural order, nulls last, or by a comparing lambda.

use super::flat::Flat;
use super::higher_order::{Call, call_text, lambda_at, make, value_at, with_body};
use super::transform::{array_in_question, check_count};
use crate::coercion::mismatch;
use crate::function::{BuildContext, HigherOrder, LambdaArg, LambdaQuestion};
use crate::scalar::array::list::element_of;
use crate::scalar::predicate::equality::order;
use crate::scalar::string::declare::{function, param};
use crate::scalar::string::rows::{downcast, internal};
use crate::{ArgType, Body, Signature, TypedExpr};
use arrow::array::{Array, ArrayRef, Int32Array, UInt64Array};
use firesteel_error::{Result, SparkError};
use firesteel_types::DataType;
use std::cmp::Ordering;

function! {
    /// `array_sort(array[, (left, right) -> …])`
    ARRAY_SORT = "array_sort" in Lambda,
        Signature::with_optional(&[param("argument", ArgType::Any), param("function", ArgType::Any)], 1)
        => Body::HigherOrder(HigherOrder { lambda_parameters: parameters, build });
    text |a| if a.len() == 1 { format!("array_sort({}, {NATURAL})", a[0]) } else { format!("array_sort({})", a.join(", ")) };
    usage "The elements in order, nulls last; or in the order of a lambda that gives a negative number, 0 or a positive number for two elements.";
    since "2.4.0";
    example "SELECT array_sort(array('b', 'd', null, 'c', 'a'))" => "[\"a\",\"b\",\"c\",\"d\",null]";
    example "SELECT array_sort(array(5, 6, 1), (left, right) -> left - right)" => "[1,5,6]";
}

/// What Spark shows for the comparison that is used without a lambda.
const NATURAL: &str = "lambdafunction((IF(((namedlambdavariable() IS NULL) AND (namedlambdavariable() IS NULL)), 0, \
    (IF((namedlambdavariable() IS NULL), 1, (IF((namedlambdavariable() IS NULL), -1, \
    (IF((namedlambdavariable() < namedlambdavariable()), -1, \
    (IF((namedlambdavariable() > namedlambdavariable()), 1, 0)))))))))), namedlambdavariable(), namedlambdavariable())";

fn parameters(question: &LambdaQuestion<'_>) -> Result<Vec<(DataType, bool)>> {
    check_count(question, 2)?;
    let element = array_in_question(question, "array_sort", 0)?;
    Ok(vec![element.clone(), element])
}

fn build(context: &mut BuildContext<'_>, arguments: Vec<LambdaArg>) -> Result<TypedExpr> {
    let array = value_at(&arguments, 0)?;
    let call = call_text(&ARRAY_SORT, &arguments);
    if !matches!(array.data_type, DataType::Array { .. }) {
        return Err(mismatch::unexpected_input(&call, 0, ArgType::Array, &array));
    }
    let element = element_of(&array.data_type);
    let result = (array.data_type.clone(), array.nullable);
    if arguments.len() == 1 {
        if !element.0.is_orderable() {
            return Err(mismatch::no_ordering(&call, "array_sort", &array.data_type));
        }
        return Ok(make(&ARRAY_SORT, natural, &arguments, Vec::new(), result, context, None));
    }
    let (names, body) = lambda_at(&arguments, 1)?;
    if body.data_type != DataType::Integer {
        return Err(SparkError::new("DATATYPE_MISMATCH.UNEXPECTED_RETURN_TYPE")
            .with("sqlExpr", mismatch::quoted(&call))
            .with("functionName", "`lambdafunction`")
            .with("expectedType", "\"INT\"")
            .with("actualType", mismatch::quoted_type(&body.data_type)));
    }
    let types = vec![vec![element.clone(), element]];
    let arguments = [LambdaArg::Value(array), with_body(names, body)];
    Ok(make(&ARRAY_SORT, by_lambda, &arguments, types, result, context, None))
}

fn sorted(call: &Call<'_>, flat: &Flat, picks: Vec<u64>) -> Result<ArrayRef> {
    let values = arrow::compute::take(flat.values(), &UInt64Array::from(picks), None).map_err(internal)?;
    flat.with_values(call, values)
}

/// A call that has travelled tells by its arguments which of the two it is.
pub(super) fn sort(call: &Call<'_>) -> Result<ArrayRef> {
    if call.has(1) { by_lambda(call) } else { natural(call) }
}

fn natural(call: &Call<'_>) -> Result<ArrayRef> {
    let flat = Flat::of_arrays(&call.value(0)?)?;
    let values = flat.values();
    let (element, _) = element_of(call.return_type());
    let order = order(values, values, &element)?;
    let mut picks = Vec::with_capacity(values.len());
    for row in 0..flat.len() {
        let mut positions: Vec<usize> = flat.span(row).collect();
        positions.sort_by(|a, b| match (values.is_null(*a), values.is_null(*b)) {
            (false, false) => order(*a, *b),
            (a, b) => a.cmp(&b),
        });
        picks.extend(positions.into_iter().map(|p| p as u64));
    }
    sorted(call, &flat, picks)
}

/// A merge sort that asks for one comparison at a time, so that those of many rows are made together.
struct Merge {
    from: Vec<usize>,
    to: Vec<usize>,
    width: usize,
    /// Where the left run goes on, the right run goes on, and the right run ends.
    left: usize,
    right: usize,
    end: usize,
}

impl Merge {
    fn new(items: Vec<usize>) -> Self {
        let mut made = Self { to: Vec::with_capacity(items.len()), from: items, width: 1, left: 0, right: 0, end: 0 };
        made.open(0);
        made
    }

    fn open(&mut self, start: usize) {
        let length = self.from.len();
        self.left = start;
        self.right = (start + self.width).min(length);
        self.end = (start + 2 * self.width).min(length);
    }

    /// The end of the left run.
    fn middle(&self) -> usize {
        let start = self.to.len() / (2 * self.width) * (2 * self.width);
        (start + self.width).min(self.from.len())
    }

    /// The two items to compare next; None when all are in order.
    fn question(&mut self) -> Option<(usize, usize)> {
        while self.width < self.from.len() {
            let middle = self.middle();
            if self.left < middle && self.right < self.end {
                return Some((self.from[self.left], self.from[self.right]));
            }
            self.to.extend_from_slice(&self.from[self.left..middle.max(self.left)]);
            self.to.extend_from_slice(&self.from[self.right..self.end]);
            if self.end == self.from.len() {
                std::mem::swap(&mut self.from, &mut self.to);
                self.to.clear();
                self.width *= 2;
                self.open(0);
            } else {
                self.open(self.end);
            }
        }
        None
    }

    fn answer(&mut self, order: Ordering) {
        // Merged items count towards the run, so its bounds are taken before.
        let middle = self.middle();
        if order == Ordering::Greater {
            self.to.push(self.from[self.right]);
            self.right += 1;
        } else {
            self.to.push(self.from[self.left]);
            self.left += 1;
        }
        // A finished run is closed at once, while its bounds are known.
        if self.left == middle || self.right == self.end {
            self.to.extend_from_slice(&self.from[self.left..middle]);
            self.to.extend_from_slice(&self.from[self.right..self.end]);
            (self.left, self.right) = (middle, self.end);
            if self.end == self.from.len() {
                std::mem::swap(&mut self.from, &mut self.to);
                self.to.clear();
                self.width *= 2;
                self.open(0);
            } else {
                self.open(self.end);
            }
        }
    }
}

fn by_lambda(call: &Call<'_>) -> Result<ArrayRef> {
    let flat = Flat::of_arrays(&call.value(0)?)?;
    let mut merges: Vec<Merge> = (0..flat.len()).map(|row| Merge::new(flat.span(row).collect())).collect();
    loop {
        let (mut asking, mut lefts, mut rights) = (Vec::new(), Vec::new(), Vec::new());
        for (row, merge) in merges.iter_mut().enumerate() {
            if let Some((left, right)) = merge.question() {
                asking.push(row as u64);
                lefts.push(left as u64);
                rights.push(right as u64);
            }
        }
        if asking.is_empty() {
            break;
        }
        let rows = UInt64Array::from(asking);
        let lefts = arrow::compute::take(flat.values(), &UInt64Array::from(lefts), None).map_err(internal)?;
        let rights = arrow::compute::take(flat.values(), &UInt64Array::from(rights), None).map_err(internal)?;
        let answers = call.lambda(1, &[lefts, rights], &rows)?;
        let answers = downcast::<Int32Array>(&answers)?;
        for (place, row) in rows.values().iter().enumerate() {
            if answers.is_null(place) {
                return Err(SparkError::new("COMPARATOR_RETURNS_NULL").with("firstValue", "").with("secondValue", ""));
            }
            if let Some(merge) = merges.get_mut(*row as usize) {
                merge.answer(answers.value(place).cmp(&0));
            }
        }
    }
    let picks = merges.into_iter().flat_map(|m| m.from.into_iter().map(|p| p as u64)).collect();
    sorted(call, &flat, picks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_sort_stably() {
        for length in 0..40_usize {
            let keys: Vec<usize> = (0..length).map(|i| i * 7919 % 11).collect();
            let mut merge = Merge::new((0..length).collect());
            while let Some((a, b)) = merge.question() {
                merge.answer(keys[a].cmp(&keys[b]));
            }
            let mut expected: Vec<usize> = (0..length).collect();
            expected.sort_by_key(|i| keys[*i]);
            assert_eq!(merge.from, expected, "{length}");
        }
    }
}
