//! Signatures: which arguments a function takes, and what they are cast to.

use crate::{BuildContext, TypedExpr};
use firesteel_error::{Result, SparkError};

/// What an argument may be. Other types are cast to it implicitly where
/// Spark's coercion (ANSI or not) has a rule for it.
#[derive(Debug, Clone, Copy)]
pub enum ArgType {
    Any,
    Boolean,
    Integer,
    Long,
    Float,
    Double,
    String,
    Binary,
    Date,
    Timestamp,
    TimestampNtz,
    CalendarInterval,
    /// One of Spark's collection of types; the first is the default target of a cast.
    Integral,
    Numeric,
    Decimal,
    AnyTimestamp,
    Array,
    Map,
    Struct,
    AnyInterval,
    Variant,
    /// An array of such elements.
    ArrayOf(&'static ArgType),
    /// The first of these that the argument is, else the first it can be cast to.
    OneOf(&'static [ArgType]),
    /// Must be constant; then as the inner type.
    Foldable(&'static ArgType),
}

/// A parameter of a function.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    pub name: &'static str,
    pub arg_type: ArgType,
}

/// The parameters of a function.
#[derive(Debug, Clone, Copy)]
pub struct Signature {
    pub params: &'static [Param],
    /// How many of the last `params` may be left out.
    pub optional: usize,
    /// Any number of further arguments.
    pub variadic: Option<ArgType>,
    /// The arguments from this position on are brought to their least common type
    /// (conditions, comparisons, `coalesce`, `array`, `greatest`).
    pub common_type_from: Option<usize>,
}

impl Signature {
    pub const NONE: Self = Self::of(&[]);

    pub const fn of(params: &'static [Param]) -> Self {
        Self { params, optional: 0, variadic: None, common_type_from: None }
    }

    pub const fn with_optional(params: &'static [Param], optional: usize) -> Self {
        Self { params, optional, variadic: None, common_type_from: None }
    }

    /// Any number of arguments after `params`.
    pub const fn variadic(params: &'static [Param], rest: ArgType) -> Self {
        Self { params, optional: 0, variadic: Some(rest), common_type_from: None }
    }

    #[must_use]
    pub const fn common_type(mut self, from: usize) -> Self {
        self.common_type_from = Some(from);
        self
    }

    /// The parameters as they are written: `(str, len[, pad])`.
    ///
    /// ```
    /// use firesteel_functions::registry;
    /// let Some(function) = registry::lookup("lpad") else { return };
    /// assert_eq!(function.signature.text(), "(str, len[, pad])");
    /// ```
    pub fn text(&self) -> String {
        let required = self.params.len().saturating_sub(self.optional);
        let mut text = String::from("(");
        for (index, param) in self.params.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let bracket = if index < required { "" } else { "[" };
            text.extend([bracket, separator, param.name]);
        }
        text.push_str(&"]".repeat(self.params.len() - required));
        if self.variadic.is_some() {
            text.push_str(if self.params.is_empty() { "..." } else { ", ..." });
        }
        text.push(')');
        text
    }

    /// Checks the number of arguments and casts them.
    pub fn apply(
        &self,
        function: &str,
        call: &str,
        mut arguments: Vec<TypedExpr>,
        context: &mut BuildContext<'_>,
    ) -> Result<Vec<TypedExpr>> {
        self.check_arity(function, arguments.len())?;
        for (index, argument) in arguments.iter_mut().enumerate() {
            let wanted = self.params.get(index).map(|p| p.arg_type).or(self.variadic).unwrap_or(ArgType::Any);
            if matches!(wanted, ArgType::Foldable(_)) && !argument.is_foldable() {
                let name = self.params.get(index).map_or("arg", |p| p.name);
                return Err(crate::coercion::mismatch::not_foldable(call, name, wanted, argument));
            }
            *argument = crate::coercion::coerce_argument(argument.clone(), wanted, index, call, context)?;
        }
        if let Some(from) = self.common_type_from
            && from < arguments.len()
        {
            let rest = arguments.split_off(from);
            arguments.extend(crate::coercion::to_common_type(rest, function, call, context)?);
        }
        Ok(arguments)
    }

    /// Fails with Spark's error when the number of arguments is wrong.
    pub fn check_arity(&self, function: &str, actual: usize) -> Result<()> {
        let most = self.params.len();
        let least = most - self.optional;
        if actual >= least && (actual <= most || self.variadic.is_some()) {
            return Ok(());
        }
        let expected = if self.variadic.is_some() {
            format!("> {}", least.saturating_sub(1))
        } else if self.optional == 0 {
            most.to_string()
        } else {
            format!("[{}]", (least..=most).map(|n| n.to_string()).collect::<Vec<_>>().join(", "))
        };
        Err(SparkError::new("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
            .with("functionName", format!("`{function}`"))
            .with("expectedNum", expected)
            .with("actualNum", actual.to_string())
            .with("docroot", "https://spark.apache.org/docs/latest"))
    }
}

/// The Spark types an [`ArgType`] stands for, for messages.
pub fn describe(arg_type: ArgType) -> String {
    match arg_type {
        ArgType::Any => "ANY".into(),
        ArgType::Boolean => "BOOLEAN".into(),
        ArgType::Integer => "INT".into(),
        ArgType::Long => "BIGINT".into(),
        ArgType::Float => "FLOAT".into(),
        ArgType::Double => "DOUBLE".into(),
        ArgType::String => "STRING".into(),
        ArgType::Binary => "BINARY".into(),
        ArgType::Date => "DATE".into(),
        ArgType::Timestamp => "TIMESTAMP".into(),
        ArgType::TimestampNtz => "TIMESTAMP_NTZ".into(),
        ArgType::CalendarInterval => "INTERVAL".into(),
        ArgType::Integral => "INTEGRAL".into(),
        ArgType::Numeric => "NUMERIC".into(),
        ArgType::Decimal => "DECIMAL".into(),
        ArgType::AnyTimestamp => "(TIMESTAMP OR TIMESTAMP WITHOUT TIME ZONE)".into(),
        ArgType::Array => "ARRAY".into(),
        ArgType::ArrayOf(element) => format!("ARRAY<{}>", describe(*element)),
        ArgType::Map => "MAP".into(),
        ArgType::Struct => "STRUCT".into(),
        ArgType::Variant => "VARIANT".into(),
        ArgType::AnyInterval => "(INTERVAL OR INTERVAL DAY TO SECOND OR INTERVAL YEAR TO MONTH)".into(),
        ArgType::OneOf(options) => {
            format!("({})", options.iter().map(|o| describe(*o)).collect::<Vec<_>>().join(" or "))
        }
        ArgType::Foldable(inner) => describe(*inner),
    }
}
