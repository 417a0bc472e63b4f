//! Relations of `df.na` and `df.stat`.

use super::{Decoder, literal};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{RelationKind, Statistic};
use firesteel_proto::connect as proto;

impl Decoder<'_> {
    pub(super) fn fill_na(&mut self, message: &proto::NaFill) -> Result<RelationKind> {
        if message.values.is_empty() {
            return Err(SparkError::new("CONNECT_INVALID_PLAN.NA_FILL_VALUES_EMPTY"));
        }
        if message.values.len() > 1 && message.values.len() != message.cols.len() {
            return Err(SparkError::new("CONNECT_INVALID_PLAN.NA_FILL_VALUES_LENGTH_MISMATCH"));
        }
        Ok(RelationKind::FillNa {
            input: self.input(message.input.as_deref())?,
            columns: message.cols.clone(),
            values: message.values.iter().map(literal::literal).collect::<Result<_>>()?,
        })
    }

    pub(super) fn drop_na(&mut self, message: &proto::NaDrop) -> Result<RelationKind> {
        Ok(RelationKind::DropNa {
            input: self.input(message.input.as_deref())?,
            columns: message.cols.clone(),
            min_non_nulls: message.min_non_nulls,
        })
    }

    pub(super) fn replace(&mut self, message: &proto::NaReplace) -> Result<RelationKind> {
        let replacements = message.replacements.iter().map(|replacement| {
            let old = literal::required(replacement.old_value.as_ref())?;
            let new = literal::required(replacement.new_value.as_ref())?;
            Ok((old, new))
        });
        Ok(RelationKind::Replace {
            replacements: replacements.collect::<Result<_>>()?,
            input: self.input(message.input.as_deref())?,
            columns: message.cols.clone(),
        })
    }

    pub(super) fn statistic(&mut self, input: Option<&proto::Relation>, statistic: Statistic) -> Result<RelationKind> {
        Ok(RelationKind::Statistic { input: self.input(input)?, statistic })
    }

    pub(super) fn approximate_quantile(&mut self, message: &proto::StatApproxQuantile) -> Result<RelationKind> {
        self.statistic(
            message.input.as_deref(),
            Statistic::ApproximateQuantile {
                columns: message.cols.clone(),
                probabilities: message.probabilities.iter().map(|value| (*value).into()).collect(),
                relative_error: message.relative_error.into(),
            },
        )
    }

    pub(super) fn sample_by(&mut self, message: &proto::StatSampleBy) -> Result<RelationKind> {
        let fractions = message
            .fractions
            .iter()
            .map(|fraction| Ok((literal::required(fraction.stratum.as_ref())?, fraction.fraction.into())));
        let statistic = Statistic::SampleBy {
            column: Box::new(self.required(message.col.as_ref())?),
            fractions: fractions.collect::<Result<_>>()?,
            seed: message.seed,
        };
        self.statistic(message.input.as_deref(), statistic)
    }
}
