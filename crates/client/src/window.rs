//! Windows: which rows a window function sees.

use crate::column::{Column, IntoColumns, split};
use firesteel_proto::connect as proto;
use proto::expression::ExprType;
use proto::expression::window::window_frame::frame_boundary::Boundary;
use proto::expression::window::window_frame::{FrameBoundary, FrameType};

/// How rows are grouped and ordered for a window function, and which of them it sees.
///
/// ```
/// use firesteel_client::{Bound, Window, functions::{col, sum}};
/// let by_day = Window::partition_by("store").order_by("day");
/// let week = by_day.rows_between(-6, Bound::CurrentRow);
/// let running = sum("sales").over(week);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Window {
    partition: Vec<Column>,
    order: Vec<Column>,
    frame: Option<(FrameType, Bound, Bound)>,
}

/// An end of a window's frame; numbers count rows, or values of the order, from the current row.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    UnboundedPreceding,
    CurrentRow,
    UnboundedFollowing,
    Offset(i64),
}

impl From<i64> for Bound {
    fn from(offset: i64) -> Self {
        if offset == 0 { Bound::CurrentRow } else { Bound::Offset(offset) }
    }
}

impl From<i32> for Bound {
    fn from(offset: i32) -> Self {
        i64::from(offset).into()
    }
}

impl Window {
    /// All rows.
    pub fn new() -> Self {
        Window::default()
    }

    /// Groups of rows with equal values in some columns.
    pub fn partition_by(columns: impl IntoColumns) -> Self {
        Window { partition: columns.into_columns(), ..Window::default() }
    }

    /// The same window in an order.
    #[must_use]
    pub fn order_by(self, columns: impl IntoColumns) -> Self {
        Window { order: columns.into_columns(), ..self }
    }

    /// The same window with other groups.
    #[must_use]
    pub fn with_partition(self, columns: impl IntoColumns) -> Self {
        Window { partition: columns.into_columns(), ..self }
    }

    /// Only the rows from one to another, counted from the current one.
    #[must_use]
    pub fn rows_between(self, start: impl Into<Bound>, end: impl Into<Bound>) -> Self {
        Window { frame: Some((FrameType::Row, start.into(), end.into())), ..self }
    }

    /// Only the rows whose order lies from one distance to another of the current row's.
    #[must_use]
    pub fn range_between(self, start: impl Into<Bound>, end: impl Into<Bound>) -> Self {
        Window { frame: Some((FrameType::Range, start.into(), end.into())), ..self }
    }

    pub(crate) fn over(self, function: Column) -> Column {
        let (partition_spec, mut references) = split(self.partition);
        let mut order_spec = Vec::with_capacity(self.order.len());
        for mut column in self.order {
            references.extend(std::mem::take(&mut column.references));
            order_spec.push(column.into_sort_order());
        }
        let frame_spec = self.frame.map(|(kind, start, end)| {
            let bound = |bound| Some(Box::new(FrameBoundary { boundary: Some(boundary(kind, bound)) }));
            let (lower, upper) = (bound(start), bound(end));
            Box::new(proto::expression::window::WindowFrame { frame_type: kind.into(), lower, upper })
        });
        function
            .wrap(|window_function| {
                ExprType::Window(Box::new(proto::expression::Window {
                    window_function,
                    partition_spec,
                    order_spec,
                    frame_spec,
                }))
            })
            .with_references(references)
    }
}

fn boundary(kind: FrameType, bound: Bound) -> Boundary {
    use crate::column::IntoValue;
    match bound {
        Bound::UnboundedPreceding | Bound::UnboundedFollowing => Boundary::Unbounded(true),
        Bound::CurrentRow => Boundary::CurrentRow(true),
        Bound::Offset(offset) => {
            let narrow = (kind == FrameType::Row).then(|| i32::try_from(offset).ok()).flatten();
            let value = narrow.map_or_else(|| offset.into_value(), IntoValue::into_value);
            Boundary::Value(Box::new(value.expression))
        }
    }
}
