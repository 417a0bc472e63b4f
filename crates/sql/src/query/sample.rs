//! TABLESAMPLE.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::token::{NumberKind, TokenKind};
use firesteel_error::Result;
use firesteel_plan::{Relation, RelationKind};

impl Parser<'_> {
    /// Whether a sample is next.
    pub(super) fn at_sample(&self) -> bool {
        self.is(K::TABLESAMPLE)
            && (self.ahead_is_mark(1, "(")
                || ((self.ahead_is(1, K::SYSTEM) || self.ahead_is(1, K::BERNOULLI)) && self.ahead_is_mark(2, "(")))
    }

    /// `TABLESAMPLE (n ROWS | n PERCENT | BUCKET n OUT OF m) [REPEATABLE (seed)]`.
    pub(super) fn sample(&mut self, start: Mark, input: Relation) -> Result<Relation> {
        let mark = self.mark();
        self.expect(K::TABLESAMPLE)?;
        let is_system = self.take(K::SYSTEM);
        if !is_system {
            self.take(K::BERNOULLI);
        }
        self.expect_mark("(")?;
        let mut fraction = None;
        let mut limit = None;
        if self.is_mark(")") {
            self.advance();
            return Err(self.error(mark, "_LEGACY_ERROR_TEMP_0014"));
        }
        if self.is(K::BUCKET) {
            fraction = Some(self.bucket(mark)?);
        } else {
            let is_negative = self.is_mark("-");
            let number = self.ahead(usize::from(is_negative));
            let is_number = matches!(number.kind, TokenKind::Number(NumberKind::Integer | NumberKind::Decimal));
            if is_number && self.ahead_is(usize::from(is_negative) + 1, K::PERCENT) {
                self.take_mark("-");
                self.advance();
                self.advance();
                let percent: f64 = self.text_of(number).parse().unwrap_or(f64::NAN);
                fraction = Some(if is_negative { -percent } else { percent } / 100.0);
            } else {
                let first = self.mark();
                let rows = self.expression()?;
                if self.take(K::ROWS) {
                    limit = Some(rows);
                } else if self.is_mark(")") {
                    let bytes = self.text_from(first);
                    let has_unit = bytes.ends_with(|unit: char| "bkmgBKMG".contains(unit));
                    if has_unit && bytes.starts_with(|digit: char| digit.is_ascii_digit()) {
                        return Err(self.error(mark, "_LEGACY_ERROR_TEMP_0015").with("msg", "byteLengthLiteral"));
                    }
                    return Err(self.error(mark, "_LEGACY_ERROR_TEMP_0016").with("bytesStr", bytes));
                } else {
                    return Err(self.unexpected());
                }
            }
        }
        self.expect_mark(")")?;
        let mut seed = None;
        if self.is(K::REPEATABLE) && self.ahead_is_mark(1, "(") {
            self.advance();
            self.advance();
            seed = Some(self.signed_integer()?);
            self.expect_mark(")")?;
        }
        if is_system && seed.is_some() {
            return Err(self.error(mark, "UNSUPPORTED_FEATURE.TABLESAMPLE_SYSTEM_REPEATABLE"));
        }
        if is_system && fraction.is_none() {
            let method = "ROWS";
            return Err(self
                .error(mark, "UNSUPPORTED_FEATURE.TABLESAMPLE_SYSTEM_SAMPLE_METHOD")
                .with("sampleMethod", method));
        }
        self.deepen()?;
        let kind = match (limit, fraction) {
            (Some(limit), _) => RelationKind::Limit { input, limit },
            (None, fraction) => {
                let fraction = fraction.unwrap_or(f64::NAN);
                if !(-1e-6..=1.0 + 1e-6).contains(&fraction) {
                    let message = format!("Sampling fraction ({fraction:?}) must be on interval [0, 1]");
                    return Err(self.error(mark, "_LEGACY_ERROR_TEMP_0064").with("msg", message));
                }
                RelationKind::Sample {
                    input,
                    lower: 0.0.into(),
                    upper: fraction.into(),
                    with_replacement: false,
                    seed,
                    deterministic_order: false,
                }
            }
        };
        Ok(self.relation_from(start, kind))
    }

    /// `BUCKET n OUT OF m`, as a fraction.
    fn bucket(&mut self, mark: Mark) -> Result<f64> {
        self.expect(K::BUCKET)?;
        let numerator = self.signed_integer()?;
        self.expect_all(&[K::OUT, K::OF])?;
        let denominator = self.signed_integer()?;
        if self.take(K::ON) {
            let is_function = self.ahead_is_mark(1, "(");
            self.expression()?;
            self.expect_mark(")")?;
            let form = if is_function { "BUCKET x OUT OF y ON function" } else { "BUCKET x OUT OF y ON colname" };
            return Err(self.error(mark, "_LEGACY_ERROR_TEMP_0015").with("msg", form));
        }
        #[allow(clippy::cast_precision_loss)]
        Ok(numerator as f64 / denominator as f64)
    }
}
