//! Actions: what makes a frame run.

use super::DataFrame;
use crate::batches::{BatchStream, ExecutionInfo};
use crate::error::{Error, Result};
use crate::rows::{Row, records};
use arrow::array::RecordBatch;
use firesteel_proto::connect as proto;
use firesteel_types::StructType;
use futures::Stream;
use proto::relation::RelType;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// How `show` lays out rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShowOptions {
    /// Rows to show.
    pub rows: i32,
    /// Characters of a value to show; 0 shows all.
    pub truncate: i32,
    /// One line per value.
    pub vertical: bool,
}

impl Default for ShowOptions {
    fn default() -> Self {
        ShowOptions { rows: 20, truncate: 20, vertical: false }
    }
}

impl DataFrame {
    /// All rows, as Arrow batches.
    pub async fn collect(&self) -> Result<Vec<RecordBatch>> {
        Ok(self.collect_with_info().await?.0)
    }

    /// All rows, and what the server told about the execution.
    pub async fn collect_with_info(&self) -> Result<(Vec<RecordBatch>, ExecutionInfo)> {
        let (mut batches, _, info) = self.stream()?.collect_batches().await?;
        // Empty batches only tell the schema; one is enough for that.
        if batches.iter().any(|batch| batch.num_rows() > 0) {
            batches.retain(|batch| batch.num_rows() > 0);
        } else {
            batches.truncate(1);
        }
        Ok((batches, info))
    }

    /// The rows batch by batch, as the server makes them.
    pub fn stream(&self) -> Result<BatchStream> {
        let responses = self.session.responses(self.root(), Some(Arc::clone(&self.plan)))?;
        Ok(BatchStream::new(self.session.clone(), responses))
    }

    /// The rows as values of a type, one by one, as the server makes them.
    ///
    /// ```
    /// # use futures::TryStreamExt;
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let mut numbers = spark.range(0, 1000).stream_as::<(i64,)>()?;
    /// let mut sum = 0;
    /// while let Some((number,)) = numbers.try_next().await? {
    ///     sum += number;
    /// }
    /// assert_eq!(sum, 499_500);
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    pub fn stream_as<T: DeserializeOwned + Send + 'static>(
        &self,
    ) -> Result<impl Stream<Item = Result<T>> + Send + Unpin + use<T>> {
        Ok(self.stream()?.records())
    }

    /// All rows.
    ///
    /// ```
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let rows = spark.sql("SELECT 1 AS a, 'x' AS b").await?.rows().await?;
    /// assert_eq!((rows[0].get::<i32>("a")?, rows[0].get::<String>("b")?), (1, "x".to_string()));
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    pub async fn rows(&self) -> Result<Vec<Row>> {
        Ok(self.collect().await?.iter().flat_map(Row::of_batch).collect())
    }

    /// All rows as values of a type: a struct by the names of columns, a tuple by their order.
    ///
    /// ```
    /// # use serde::Deserialize;
    /// #[derive(Deserialize, Debug, PartialEq)]
    /// struct City { name: String, people: Option<i64> }
    ///
    /// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
    /// let cities = spark.sql("SELECT 'Oslo' AS name, 717710L AS people").await?;
    /// let cities: Vec<City> = cities.collect_as().await?;
    /// assert_eq!(cities, [City { name: "Oslo".to_string(), people: Some(717_710) }]);
    /// # Ok(()) }
    /// # firesteel_client::doc_test(run);
    /// ```
    pub async fn collect_as<T: DeserializeOwned>(&self) -> Result<Vec<T>> {
        let mut all = Vec::new();
        let mut batches = self.stream()?;
        while let Some(batch) = batches.next_batch().await? {
            all.extend(records(&batch)?);
        }
        Ok(all)
    }

    /// The number of rows.
    pub async fn count(&self) -> Result<i64> {
        self.agg(crate::functions::count(crate::functions::lit(1))).only().await
    }

    /// The first row, if there is one, as a value of a type.
    pub async fn first<T: DeserializeOwned>(&self) -> Result<Option<T>> {
        Ok(self.limit(1).collect_as().await?.into_iter().next())
    }

    /// The first row, if there is one.
    pub async fn first_row(&self) -> Result<Option<Row>> {
        Ok(self.head(1).await?.into_iter().next())
    }

    /// The first rows.
    pub async fn head(&self, rows: i32) -> Result<Vec<Row>> {
        self.limit(rows).rows().await
    }

    /// As [`head`](Self::head).
    pub async fn take(&self, rows: i32) -> Result<Vec<Row>> {
        self.head(rows).await
    }

    /// The last rows.
    pub async fn tail(&self, rows: i32) -> Result<Vec<Row>> {
        self.last_rows(rows).rows().await
    }

    /// Whether there is no row.
    pub async fn is_empty(&self) -> Result<bool> {
        Ok(self.select(()).limit(1).count().await? == 0)
    }

    /// Calls a function with each row, as rows come.
    pub async fn for_each<T: DeserializeOwned>(&self, mut function: impl FnMut(T)) -> Result<()> {
        let mut batches = self.stream()?;
        while let Some(batch) = batches.next_batch().await? {
            records(&batch)?.into_iter().for_each(&mut function);
        }
        Ok(())
    }

    /// Prints the first rows as a table.
    pub async fn show(&self) -> Result<()> {
        self.show_with(ShowOptions::default()).await
    }

    /// Prints rows as a table.
    pub async fn show_with(&self, options: ShowOptions) -> Result<()> {
        println!("{}", self.show_string(options).await?);
        Ok(())
    }

    /// Rows as a table.
    pub async fn show_string(&self, options: ShowOptions) -> Result<String> {
        let ShowOptions { rows: num_rows, truncate, vertical } = options;
        self.derive(move |inputs| {
            RelType::ShowString(Box::new(proto::ShowString { input: inputs.take(), num_rows, truncate, vertical }))
        })
        .only()
        .await
    }

    /// Rows as a table of HTML.
    pub async fn html_string(&self, num_rows: i32, truncate: i32) -> Result<String> {
        self.derive(move |inputs| {
            RelType::HtmlString(Box::new(proto::HtmlString { input: inputs.take(), num_rows, truncate }))
        })
        .only()
        .await
    }

    /// All rows with their schema in Spark's types.
    pub async fn collect_with_schema(&self) -> Result<(Vec<RecordBatch>, StructType)> {
        let (batches, schema, _) = self.stream()?.collect_batches().await?;
        Ok((batches, schema.ok_or_else(|| Error::protocol("a result without a schema"))?))
    }

    /// Makes the frame a temporary view of the session.
    pub async fn create_temp_view(&self, name: impl Into<String>) -> Result<()> {
        self.create_view(name.into(), false, false).await
    }

    /// Makes the frame a temporary view, in the place of one of that name.
    pub async fn create_or_replace_temp_view(&self, name: impl Into<String>) -> Result<()> {
        self.create_view(name.into(), false, true).await
    }

    /// Makes the frame a view `global_temp.name` of all sessions.
    pub async fn create_global_temp_view(&self, name: impl Into<String>) -> Result<()> {
        self.create_view(name.into(), true, false).await
    }

    /// Makes the frame a view of all sessions, in the place of one of that name.
    pub async fn create_or_replace_global_temp_view(&self, name: impl Into<String>) -> Result<()> {
        self.create_view(name.into(), true, true).await
    }

    async fn create_view(&self, name: String, is_global: bool, replace: bool) -> Result<()> {
        let input = Some(self.plan.relation());
        let command = proto::CreateDataFrameViewCommand { input, name, is_global, replace };
        self.session.run(proto::command::CommandType::CreateDataframeView(command)).await.map(drop)
    }
}
