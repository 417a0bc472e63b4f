//! Settings of a session.

use crate::SparkSession;
use crate::error::{Error, Result};
use firesteel_proto::connect as proto;
use proto::config_request::operation::OpType;
use proto::config_request::{self as request, Operation};
use std::collections::BTreeMap;

/// The settings of a session.
///
/// ```
/// # async fn run(spark: firesteel_client::SparkSession) -> firesteel_client::Result<()> {
/// let conf = spark.conf();
/// conf.set("spark.sql.session.timeZone", "Europe/Oslo").await?;
/// assert_eq!(conf.get("spark.sql.session.timeZone").await?, "Europe/Oslo");
/// conf.unset("spark.sql.session.timeZone").await?;
/// # Ok(()) }
/// # firesteel_client::doc_test(run);
/// ```
#[derive(Debug, Clone)]
pub struct RuntimeConf {
    session: SparkSession,
}

impl RuntimeConf {
    pub(crate) fn new(session: SparkSession) -> Self {
        RuntimeConf { session }
    }

    async fn call(&self, operation: OpType) -> Result<proto::ConfigResponse> {
        let transport = &self.session.transport;
        let request = proto::ConfigRequest {
            session_id: transport.session_id.clone(),
            client_observed_server_side_session_id: transport.observed_session(),
            user_context: transport.user(),
            operation: Some(Operation { op_type: Some(operation) }),
            client_type: transport.client_type(),
        };
        self.session.call(request, |mut stub, request| async move { stub.config(request).await }).await
    }

    /// Sets a value.
    pub async fn set(&self, key: impl Into<String>, value: impl ToString) -> Result<()> {
        let pairs = vec![proto::KeyValue { key: key.into(), value: Some(value.to_string()) }];
        self.call(OpType::Set(request::Set { pairs, silent: None })).await.map(drop)
    }

    /// Sets values; the warnings about those that the server refuses.
    pub async fn set_all_silently(&self, pairs: Vec<(String, String)>) -> Result<Vec<String>> {
        let pairs = pairs.into_iter().map(|(key, value)| proto::KeyValue { key, value: Some(value) }).collect();
        Ok(self.call(OpType::Set(request::Set { pairs, silent: Some(true) })).await?.warnings)
    }

    /// A value; an error, if there is no such key.
    pub async fn get(&self, key: impl Into<String>) -> Result<String> {
        let key = key.into();
        let answer = self.call(OpType::Get(request::Get { keys: vec![key.clone()] })).await?;
        let value = answer.pairs.into_iter().next().and_then(|pair| pair.value);
        value.ok_or_else(|| Error::protocol(format!("{key} has no value")))
    }

    /// A value, or None if it is not set and has no default.
    pub async fn get_option(&self, key: impl Into<String>) -> Result<Option<String>> {
        let answer = self.call(OpType::GetOption(request::GetOption { keys: vec![key.into()] })).await?;
        Ok(answer.pairs.into_iter().next().and_then(|pair| pair.value))
    }

    /// The values of those keys that have one.
    pub(crate) async fn get_options(&self, keys: impl Into<Vec<String>>) -> Result<BTreeMap<String, String>> {
        let answer = self.call(OpType::GetOption(request::GetOption { keys: keys.into() })).await?;
        Ok(answer.pairs.into_iter().filter_map(|pair| Some((pair.key, pair.value?))).collect())
    }

    /// A value, or another if it is not set.
    pub async fn get_or(&self, key: impl Into<String>, default: impl Into<String>) -> Result<String> {
        let default = default.into();
        let pairs = vec![proto::KeyValue { key: key.into(), value: Some(default.clone()) }];
        let answer = self.call(OpType::GetWithDefault(request::GetWithDefault { pairs })).await?;
        Ok(answer.pairs.into_iter().next().and_then(|pair| pair.value).unwrap_or(default))
    }

    /// The values that are set, of the keys with a prefix, which is cut off.
    pub async fn get_all(&self, prefix: Option<&str>) -> Result<BTreeMap<String, String>> {
        let answer = self.call(OpType::GetAll(request::GetAll { prefix: prefix.map(str::to_string) })).await?;
        Ok(answer.pairs.into_iter().filter_map(|pair| Some((pair.key, pair.value?))).collect())
    }

    /// Gives a key its default again.
    pub async fn unset(&self, key: impl Into<String>) -> Result<()> {
        self.call(OpType::Unset(request::Unset { keys: vec![key.into()] })).await.map(drop)
    }

    /// Whether a session may set a key.
    pub async fn is_modifiable(&self, key: impl Into<String>) -> Result<bool> {
        let answer = self.call(OpType::IsModifiable(request::IsModifiable { keys: vec![key.into()] })).await?;
        Ok(answer.pairs.first().and_then(|pair| pair.value.as_deref()) == Some("true"))
    }
}
