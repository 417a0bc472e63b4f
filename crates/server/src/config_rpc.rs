//! Config: reads and changes a session's settings.

use crate::sessions::ServerSession;
use firesteel_config::session::warning;
use firesteel_config::{SessionConfig, Warning};
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_proto::connect::KeyValue;
use firesteel_proto::connect::config_request::operation::OpType;
use firesteel_proto::connect::config_request::{Operation, Set};

/// What a config operation answers.
#[derive(Debug, Default)]
pub struct Answer {
    /// Keys and their values.
    pub pairs: Vec<KeyValue>,
    /// What the user should know.
    pub warnings: Vec<String>,
}

impl Answer {
    fn warn(&mut self, warning: Option<Warning>) {
        self.warnings.extend(warning.map(|warning| warning.text));
    }

    fn add(&mut self, key: &str, value: Option<String>) {
        self.pairs.push(KeyValue { key: key.to_string(), value });
    }
}

/// Runs one operation on the settings of a session.
pub fn apply(session: &ServerSession, operation: Option<&Operation>) -> Result<Answer> {
    let Some(operation) = operation.and_then(|operation| operation.op_type.as_ref()) else {
        return Err(SparkError::plain(ExceptionClass::UnsupportedOperation, "OPTYPE_NOT_SET not supported."));
    };
    let mut answer = Answer::default();
    match operation {
        OpType::Set(set) => change(&mut session.engine.config().write(), set, &mut answer)?,
        OpType::Unset(unset) => {
            let mut config = session.engine.config().write();
            for key in &unset.keys {
                answer.warn(config.unset(key)?);
            }
        }
        OpType::Get(get) => {
            let config = session.engine.config().read();
            for key in &get.keys {
                answer.add(key, config.get(key)?);
                answer.warn(warning(key));
            }
        }
        OpType::GetWithDefault(get) => {
            let config = session.engine.config().read();
            for pair in &get.pairs {
                answer.add(&pair.key, config.get_with_default(&pair.key, pair.value.as_deref())?);
                answer.warn(warning(&pair.key));
            }
        }
        OpType::GetOption(get) => {
            let config = session.engine.config().read();
            for key in &get.keys {
                answer.add(key, config.get_option(key));
                answer.warn(warning(key));
            }
        }
        OpType::GetAll(get) => {
            for (key, value) in session.engine.config().read().get_all(get.prefix.as_deref()) {
                answer.pairs.push(KeyValue { key, value: Some(value) });
            }
        }
        OpType::IsModifiable(keys) => {
            let config = session.engine.config().read();
            for key in &keys.keys {
                answer.add(key, Some(config.is_modifiable(key).to_string()));
                answer.warn(warning(key));
            }
        }
    }
    Ok(answer)
}

/// Sets pairs. A silent request gets failures as warnings, and the rest is set.
fn change(config: &mut SessionConfig, set: &Set, answer: &mut Answer) -> Result<()> {
    for pair in &set.pairs {
        let result = match &pair.value {
            Some(value) => config.set(&pair.key, value),
            None => Err(SparkError::plain(
                ExceptionClass::IllegalArgument,
                format!("requirement failed: value cannot be null for key: {}", pair.key),
            )),
        };
        match result {
            Ok(warning) => answer.warn(warning),
            Err(error) if set.silent.unwrap_or(false) => answer.warnings.push(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
