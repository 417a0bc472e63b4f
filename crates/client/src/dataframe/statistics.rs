//! Statistics of columns.

use super::{DataFrame, names};
use crate::error::{Error, Result};
use firesteel_proto::connect as proto;
use proto::relation::RelType;

impl DataFrame {
    /// Count, mean, deviation, least and greatest value of columns; of all numbers and texts, if none are named.
    pub fn describe(&self, columns: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        let cols = names(columns);
        self.derive(move |inputs| {
            RelType::Describe(Box::new(proto::StatDescribe { input: inputs.take(), cols: cols.clone() }))
        })
    }

    /// Statistics of all columns, by their names, such as `count` or `75%`; the usual ones, if none are named.
    pub fn summary(&self, statistics: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        let statistics = names(statistics);
        self.derive(move |inputs| {
            RelType::Summary(Box::new(proto::StatSummary { input: inputs.take(), statistics: statistics.clone() }))
        })
    }

    /// How often each value of one column meets each of another, as a table.
    pub fn crosstab(&self, col1: impl Into<String>, col2: impl Into<String>) -> DataFrame {
        let (col1, col2) = (col1.into(), col2.into());
        self.derive(move |inputs| {
            let (input, col1, col2) = (inputs.take(), col1.clone(), col2.clone());
            RelType::Crosstab(Box::new(proto::StatCrosstab { input, col1, col2 }))
        })
    }

    /// Values that more than a share of the rows have, for each column.
    pub fn freq_items(&self, columns: impl IntoIterator<Item = impl Into<String>>, support: Option<f64>) -> DataFrame {
        let cols = names(columns);
        self.derive(move |inputs| {
            RelType::FreqItems(Box::new(proto::StatFreqItems { input: inputs.take(), cols: cols.clone(), support }))
        })
    }

    /// The sample covariance of two columns.
    pub async fn cov(&self, col1: impl Into<String>, col2: impl Into<String>) -> Result<f64> {
        let (col1, col2) = (col1.into(), col2.into());
        self.derive(move |inputs| {
            let (input, col1, col2) = (inputs.take(), col1.clone(), col2.clone());
            RelType::Cov(Box::new(proto::StatCov { input, col1, col2 }))
        })
        .only()
        .await
    }

    /// Pearson's correlation of two columns.
    pub async fn corr(&self, col1: impl Into<String>, col2: impl Into<String>) -> Result<f64> {
        let (col1, col2) = (col1.into(), col2.into());
        self.derive(move |inputs| {
            let (input, col1, col2, method) = (inputs.take(), col1.clone(), col2.clone(), Some("pearson".to_string()));
            RelType::Corr(Box::new(proto::StatCorr { input, col1, col2, method }))
        })
        .only()
        .await
    }

    /// For each column, the values at probabilities, within an error.
    pub async fn approx_quantile(
        &self,
        columns: impl IntoIterator<Item = impl Into<String>>,
        probabilities: &[f64],
        relative_error: f64,
    ) -> Result<Vec<Vec<f64>>> {
        let (cols, probabilities) = (names(columns), probabilities.to_vec());
        self.derive(move |inputs| {
            RelType::ApproxQuantile(Box::new(proto::StatApproxQuantile {
                input: inputs.take(),
                cols: cols.clone(),
                probabilities: probabilities.clone(),
                relative_error,
            }))
        })
        .only()
        .await
    }

    /// The value of a frame of one row and one column.
    pub(crate) async fn only<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        // No limit on top: not every relation may be the input of another.
        let first: Option<(T,)> = self.collect_as().await?.into_iter().next();
        first.map(|(value,)| value).ok_or_else(|| Error::protocol("no row where there must be one"))
    }
}
