//! `lag` and `lead`.

use super::{declare, over_nothing, passes_over_nulls};
use crate::aggregate::constant;
use crate::aggregate::udaf::plain_type;
use crate::{ArgType, BuildContext, Function, Param, Signature, TypedExpr, WindowCall, coercion};
use arrow::array::{Array, ArrayRef};
use arrow::compute::{cast, interleave};
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef};
use datafusion::common::{DataFusionError, Result as DfResult};
use datafusion::logical_expr::function::{PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{
    LimitEffect, PartitionEvaluator, Signature as DfSignature, Volatility, WindowUDF, WindowUDFImpl, lit,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::scalar::ScalarValue;
use firesteel_error::{Result, SparkError};
use firesteel_types::{DataType, arrow_mapping};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

const SIGNATURE: Signature = Signature::with_optional(
    &[
        Param { name: "input", arg_type: ArgType::Any },
        Param { name: "offset", arg_type: ArgType::Any },
        Param { name: "default", arg_type: ArgType::Any },
        Param { name: "ignoreNulls", arg_type: ArgType::Any },
    ],
    4,
);

pub static FUNCTIONS: &[&Function] = &[
    &declare(
        "lag",
        SIGNATURE,
        |c, a| build("lag", -1, c, a),
        "lag(input[, offset[, default]]) - The value of the row so many rows before, by default of the row before.",
    ),
    &declare(
        "lead",
        SIGNATURE,
        |c, a| build("lead", 1, c, a),
        "lead(input[, offset[, default]]) - The value of the row so many rows after, by default of the next row.",
    ),
];

fn build(name: &'static str, sign: i64, context: &mut BuildContext<'_>, call: WindowCall) -> Result<TypedExpr> {
    let mut arguments = call.arguments.into_iter();
    let null = || TypedExpr::new(lit(ScalarValue::Null), DataType::Null, true, "NULL");
    let input = arguments.next().unwrap_or_else(null);
    let (offset, default, flag) = (arguments.next(), arguments.next(), arguments.next());
    let offset_text = offset.as_ref().map_or("1", |o| o.name.as_str());
    let default_text = default.as_ref().map_or("NULL", |d| d.name.as_str());
    let text = format!("{name}({}, {offset_text}, {default_text})", input.name);
    let distance = match &offset {
        None => 1,
        Some(offset) => {
            let value = constant::required(&text, "offset", "\"INT\"", offset)?;
            match value {
                ScalarValue::Int32(Some(rows)) => i64::from(rows),
                ScalarValue::Int16(Some(rows)) => i64::from(rows),
                ScalarValue::Int8(Some(rows)) => i64::from(rows),
                ScalarValue::Int64(Some(rows)) => rows,
                other if other.is_null() => return Err(constant::unexpected_null(&text, "offset")),
                _ => return Err(coercion::mismatch::unexpected_input(&text, 1, ArgType::Integer, offset)),
            }
        }
    };
    let data_type = input.data_type.clone();
    let nullable = input.nullable || default.as_ref().is_none_or(|d| d.nullable);
    let arrow_type = arrow_mapping::to_arrow(&data_type);
    let default = match default {
        None => lit(ScalarValue::try_from(&arrow_type).map_err(|e| SparkError::internal(e.to_string()))?),
        Some(default) if default.is_null_literal() => {
            lit(ScalarValue::try_from(&arrow_type).map_err(|e| SparkError::internal(e.to_string()))?)
        }
        Some(default) => coercion::implicitly(default, &data_type, context)?.expr,
    };
    let ignore_nulls = passes_over_nulls(name, flag.as_ref(), call.ignore_nulls)?;
    let function = Offset::new(name, sign * distance, ignore_nulls, data_type.clone(), nullable)
        .ok_or_else(|| SparkError::internal(format!("{name} is no offset function")))?;
    let function = Arc::new(WindowUDF::new_from_impl(function));
    let expr = over_nothing(function, vec![input.expr, default], false);
    Ok(TypedExpr::new(expr, data_type, nullable, text))
}

/// The value of the row at a distance, else the default, which may differ from row to row.
#[derive(Debug, Clone)]
pub struct Offset {
    name: &'static str,
    /// The name with what makes calls differ: plans tell calls apart by it.
    plan_name: String,
    /// Rows ahead; negative for rows behind.
    rows: i64,
    ignore_nulls: bool,
    data_type: DataType,
    nullable: bool,
    signature: DfSignature,
}

impl PartialEq for Offset {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.rows == other.rows
            && self.ignore_nulls == other.ignore_nulls
            && self.data_type == other.data_type
            && self.nullable == other.nullable
    }
}

impl Eq for Offset {}

impl Hash for Offset {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name, self.rows, self.ignore_nulls).hash(state);
        self.data_type.hash(state);
    }
}

impl Offset {
    /// A function from its plain data; None unless the name is `lag` or `lead`.
    pub fn new(name: &str, rows: i64, ignore_nulls: bool, data_type: DataType, nullable: bool) -> Option<Self> {
        let name = ["lag", "lead"].into_iter().find(|n| *n == name)?;
        let signature = DfSignature::any(2, Volatility::Immutable);
        let plan_name = format!("{name}[{rows}{}]", if ignore_nulls { " ignore nulls" } else { "" });
        Some(Self { name, plan_name, rows, ignore_nulls, data_type, nullable, signature })
    }

    /// `lag` or `lead`.
    pub fn function(&self) -> &'static str {
        self.name
    }

    /// Rows ahead; negative for rows behind.
    pub fn rows(&self) -> i64 {
        self.rows
    }

    pub fn ignores_nulls(&self) -> bool {
        self.ignore_nulls
    }

    pub fn data_type(&self) -> &DataType {
        &self.data_type
    }

    pub fn is_nullable(&self) -> bool {
        self.nullable
    }
}

impl WindowUDFImpl for Offset {
    fn name(&self) -> &str {
        &self.plan_name
    }

    fn signature(&self) -> &DfSignature {
        &self.signature
    }

    fn partition_evaluator(&self, _: PartitionEvaluatorArgs<'_>) -> DfResult<Box<dyn PartitionEvaluator>> {
        let (rows, ignore_nulls) = (self.rows, self.ignore_nulls);
        Ok(Box::new(OffsetEvaluator { rows, ignore_nulls, data_type: arrow_mapping::to_arrow(&self.data_type) }))
    }

    fn field(&self, args: WindowUDFFieldArgs<'_>) -> DfResult<FieldRef> {
        Ok(Arc::new(Field::new(args.name(), arrow_mapping::to_arrow(&self.data_type), self.nullable)))
    }

    fn limit_effect(&self, _: &[Arc<dyn PhysicalExpr>]) -> LimitEffect {
        match usize::try_from(self.rows) {
            Ok(rows) if !self.ignore_nulls => LimitEffect::Relative(rows),
            Err(_) => LimitEffect::None,
            Ok(_) => LimitEffect::Unknown,
        }
    }
}

#[derive(Debug)]
struct OffsetEvaluator {
    rows: i64,
    ignore_nulls: bool,
    data_type: ArrowType,
}

impl OffsetEvaluator {
    fn plain(&self, array: &ArrayRef) -> DfResult<ArrayRef> {
        if plain_type(array.data_type()) == *array.data_type() {
            return Ok(Arc::clone(array));
        }
        Ok(cast(array, &self.data_type)?)
    }

    /// The row that each row's value comes from.
    fn sources(&self, input: &ArrayRef, number_rows: usize) -> Vec<Option<usize>> {
        let nulls = if self.ignore_nulls { input.logical_nulls() } else { None };
        match nulls {
            Some(nulls) if nulls.null_count() > 0 && self.rows != 0 => {
                let valid: Vec<usize> = nulls.valid_indices().collect();
                let steps = self.rows.unsigned_abs() as usize;
                let mut before = 0;
                (0..number_rows)
                    .map(|row| {
                        let is_valid = nulls.is_valid(row);
                        let source = if self.rows > 0 {
                            valid.get(before + usize::from(is_valid) + (steps - 1))
                        } else {
                            before.checked_sub(steps).and_then(|i| valid.get(i))
                        };
                        before += usize::from(is_valid);
                        source.copied()
                    })
                    .collect()
            }
            _ => (0..number_rows as i64)
                .map(|row| {
                    let source = row.checked_add(self.rows)?;
                    usize::try_from(source).ok().filter(|s| *s < number_rows)
                })
                .collect(),
        }
    }
}

impl PartitionEvaluator for OffsetEvaluator {
    fn evaluate_all(&mut self, values: &[ArrayRef], number_rows: usize) -> DfResult<ArrayRef> {
        let [input, default] = values else {
            return Err(DataFusionError::Internal("lag and lead take a value and a default".into()));
        };
        let (input, default) = (self.plain(input)?, self.plain(default)?);
        let places: Vec<(usize, usize)> = self
            .sources(&input, number_rows)
            .into_iter()
            .enumerate()
            .map(|(row, source)| source.map_or((1, row), |s| (0, s)))
            .collect();
        Ok(interleave(&[input.as_ref(), default.as_ref()], &places)?)
    }
}
