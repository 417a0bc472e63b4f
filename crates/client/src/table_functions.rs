//! Functions that give tables, and frames as their arguments.

use crate::column::{Column, IntoColumn, IntoColumns, IntoValue, split};
use crate::plan::{Plan, References};
use crate::{DataFrame, SparkSession};
use firesteel_proto::connect as proto;
use proto::expression::ExprType;
use proto::relation::RelType;
use proto::subquery_expression::TableArgOptions;

/// Functions that give tables.
///
/// ```
/// # use firesteel_client::functions::{array, lit};
/// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
/// let rows = spark.tvf().explode(array((lit(1), lit(2), lit(3))));
/// assert_eq!(rows.count().await?, 3);
/// # Ok(()) }
/// # firesteel_client::doc_test(run);
/// ```
#[derive(Debug, Clone)]
pub struct TableFunctions {
    session: SparkSession,
}

macro_rules! of_one_column {
    ($($(#[$doc:meta])* $name:ident)*) => {
        impl TableFunctions {
            $($(#[$doc])*
            pub fn $name(&self, column: impl IntoColumn) -> DataFrame {
                self.call(stringify!($name), column.into_column())
            })*
        }
    };
}

of_one_column! {
    /// A row for each element of an array, or entry of a map.
    explode
    /// As `explode`, with a row of NULL for nothing.
    explode_outer
    /// A row for each struct of an array.
    inline
    /// As `inline`, with a row of NULL for nothing.
    inline_outer
    /// A row for each element with its position.
    posexplode
    /// As `posexplode`, with a row of NULL for nothing.
    posexplode_outer
    /// A row for each field or element of a variant.
    variant_explode
    /// As `variant_explode`, with a row of NULL for nothing.
    variant_explode_outer
}

impl TableFunctions {
    pub(crate) fn new(session: SparkSession) -> Self {
        TableFunctions { session }
    }

    /// A table function by its name, built-in or registered.
    pub fn call(&self, name: impl Into<String>, arguments: impl IntoColumns) -> DataFrame {
        let (arguments, references) = split(arguments.into_columns());
        let call = proto::UnresolvedTableValuedFunction { function_name: name.into(), arguments };
        let build = move |_: &mut crate::plan::Inputs| RelType::UnresolvedTableValuedFunction(call.clone());
        self.session.frame(Plan::new(Vec::new(), references, build))
    }

    /// Whole numbers, in the column `id`.
    pub fn range(&self, start: i64, end: i64, step: i64) -> DataFrame {
        self.session.range_step(start, end, step, None)
    }

    /// Values spread over a number of rows.
    pub fn stack(&self, rows: impl IntoValue, values: impl IntoColumns) -> DataFrame {
        let mut arguments = vec![rows.into_value()];
        arguments.extend(values.into_columns());
        self.call("stack", arguments)
    }

    /// Fields of a JSON text, each a column.
    pub fn json_tuple<V: IntoValue>(&self, text: impl IntoColumn, fields: impl IntoIterator<Item = V>) -> DataFrame {
        let mut arguments = vec![text.into_column()];
        arguments.extend(fields.into_iter().map(IntoValue::into_value));
        self.call("json_tuple", arguments)
    }

    /// The collations.
    pub fn collations(&self) -> DataFrame {
        self.call("collations", ())
    }

    /// The keywords of SQL.
    pub fn sql_keywords(&self) -> DataFrame {
        self.call("sql_keywords", ())
    }

    /// What Python functions logged.
    pub fn python_worker_logs(&self) -> DataFrame {
        self.call("python_worker_logs", ())
    }
}

/// A frame as the argument of a table function.
#[derive(Debug, Clone)]
pub struct TableArgument(Column);

impl TableArgument {
    pub(crate) fn new(subquery: Column) -> Self {
        TableArgument(subquery)
    }

    fn with_options(mut self, change: impl FnOnce(&mut TableArgOptions)) -> Self {
        if let Some(ExprType::SubqueryExpression(subquery)) = &mut self.0.expression.expr_type {
            change(subquery.table_arg_options.get_or_insert_default());
        }
        self
    }

    /// Gives the function the rows in groups of equal values.
    #[must_use]
    pub fn partition_by(self, columns: impl IntoColumns) -> Self {
        let (expressions, references) = split(columns.into_columns());
        let mut result = self.with_options(|options| options.partition_spec = expressions);
        result.0.references.extend(references);
        result
    }

    /// Gives the function the rows of each group in an order.
    #[must_use]
    pub fn order_by(self, columns: impl IntoColumns) -> Self {
        let mut more = References::default();
        let order = columns.into_columns().into_iter().map(|mut column| {
            more.extend(std::mem::take(&mut column.references));
            column.into_sort_order()
        });
        let order = order.collect();
        let mut result = self.with_options(|options| options.order_spec = order);
        result.0.references.extend(more);
        result
    }

    /// Gives the function all rows together.
    #[must_use]
    pub fn with_single_partition(self) -> Self {
        self.with_options(|options| options.with_single_partition = Some(true))
    }
}

impl IntoColumn for TableArgument {
    fn into_column(self) -> Column {
        self.0
    }
}
