//! Files that come into a folder.

use super::{Amount, Rows, Source};
use crate::Session;
use crate::session::blocking;
use crate::streaming::log::CompactLog;
use async_trait::async_trait;
use firesteel_analyzer::streaming::StreamingTable;
use firesteel_config::SqlConf;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_sources::options::SourceOptions;
use firesteel_sources::store::Stores;
use firesteel_sources::{ScanRequest, listing, path};
use firesteel_types::StructType;
use serde_json::{Value, json};
use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

/// How old files may be before they count as seen, in milliseconds.
const MAX_AGE: i64 = 7 * 86_400_000;

/// A file that has come.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NewFile {
    uri: String,
    timestamp: i64,
    bytes: u64,
}

/// Which files a batch takes.
#[derive(Debug, Clone, Default)]
struct Limits {
    files: Option<usize>,
    bytes: Option<u64>,
    latest_first: bool,
    by_name_only: bool,
    max_age: i64,
}

/// Files of a folder. Offsets count the batches of its log.
pub(super) struct FileSource {
    session: Arc<Session>,
    request: ScanRequest,
    root: String,
    limits: Limits,
    log: CompactLog,
    /// Names of files that were taken, with their times.
    seen: HashMap<String, i64>,
    latest_seen: i64,
    /// Files of the log by batch, as far as they may be asked for.
    entries: HashMap<i64, Vec<String>>,
    last: i64,
    /// What there was when the query was told to end.
    frozen: Option<VecDeque<NewFile>>,
}

/// Checks what a stream of files is told.
pub(in crate::streaming) fn check_options(options: &SourceOptions) -> Result<()> {
    if let Some(clean) = options.get("cleanSource")
        && !clean.eq_ignore_ascii_case("off")
    {
        return Err(SparkError::unsupported(format!("the option cleanSource with the value {clean}")));
    }
    Limits::of(options).map(|_| ())
}

impl Limits {
    fn of(options: &SourceOptions) -> Result<Self> {
        let positive = |key: &str| -> Result<Option<u64>> {
            let Some(text) = options.get(key) else { return Ok(None) };
            match text.trim().parse::<u64>() {
                Ok(number) if number > 0 => Ok(Some(number)),
                _ => Err(SparkError::plain(
                    ExceptionClass::IllegalArgument,
                    format!("Invalid value '{text}' for option '{key}', must be a positive integer"),
                )),
            }
        };
        let (files, bytes) = (positive("maxFilesPerTrigger")?, positive("maxBytesPerTrigger")?);
        if files.is_some() && bytes.is_some() {
            return Err(SparkError::plain(
                ExceptionClass::IllegalArgument,
                "Options 'maxFilesPerTrigger' and 'maxBytesPerTrigger' can't be both set at the same time",
            ));
        }
        let latest_first = options.boolean("latestFirst", false)?;
        let max_age = match options.get("maxFileAge") {
            _ if latest_first && (files.is_some() || bytes.is_some()) => i64::MAX,
            Some(text) => age(text)?,
            None => MAX_AGE,
        };
        Ok(Self {
            files: files.map(|n| usize::try_from(n).unwrap_or(usize::MAX)),
            bytes,
            latest_first,
            by_name_only: options.boolean("fileNameOnly", false)?,
            max_age,
        })
    }

    /// How many of these files a batch takes.
    fn take(&self, files: &[NewFile], amount: Amount) -> usize {
        if amount == Amount::All {
            return files.len();
        }
        if let Some(most) = self.bytes {
            let mut sum = 0u64;
            let within = files.iter().take_while(|file| {
                sum = sum.saturating_add(file.bytes);
                sum <= most
            });
            return within.count().max(1).min(files.len());
        }
        self.files.map_or(files.len(), |most| most.min(files.len()))
    }
}

/// A time such as `7d` in milliseconds.
fn age(text: &str) -> Result<i64> {
    let text = text.trim().to_ascii_lowercase();
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let factor = match unit {
        "" | "ms" => Some(1),
        "s" => Some(1_000),
        "m" | "min" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        _ => None,
    };
    let millis = number.trim().parse::<i64>().ok().zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
    millis.ok_or_else(|| {
        SparkError::plain(
            ExceptionClass::IllegalArgument,
            format!("Invalid value '{text}' for option 'maxFileAge', must be a time such as 7d"),
        )
    })
}

impl FileSource {
    pub fn open(session: &Arc<Session>, table: &StreamingTable, folder: PathBuf) -> Result<Self> {
        let mut options = table.source.options.clone();
        let limits = Limits::of(&SourceOptions::new(&options))?;
        let root = table.source.paths.first().cloned().unwrap_or_default();
        let local = path::local_path(&root)?;
        if !path::is_glob(&root) && local.is_dir() && SourceOptions::new(&options).get("basePath").is_none() {
            options.push(("basePath".to_string(), root.clone()));
        }
        let log = CompactLog::open(folder)?;
        let mut source = Self {
            session: session.clone(),
            request: ScanRequest {
                format: table.source.format.clone().unwrap_or_default(),
                paths: vec![root.clone()],
                schema: Some(table.columns.clone()),
                options,
                partition_columns: table.partition_columns.clone(),
                conf: session.conf().as_ref().clone(),
            },
            root,
            limits,
            log,
            seen: HashMap::new(),
            latest_seen: 0,
            entries: HashMap::new(),
            last: -1,
            frozen: None,
        };
        source.recover()?;
        Ok(source)
    }

    /// Takes over what an earlier run noted.
    fn recover(&mut self) -> Result<()> {
        for line in self.log.all()? {
            let entry: Value = serde_json::from_str(&line).unwrap_or_default();
            let (Some(uri), Some(timestamp), Some(batch)) =
                (entry["path"].as_str(), entry["timestamp"].as_i64(), entry["batchId"].as_i64())
            else {
                return Err(SparkError::plain(
                    ExceptionClass::IllegalState,
                    format!("The log of the files of {} has the entry {line}", self.root),
                ));
            };
            self.note(uri, timestamp);
            self.entries.entry(batch).or_default().push(uri.to_string());
        }
        self.last = self.log.latest()?.unwrap_or(-1);
        Ok(())
    }

    fn note(&mut self, uri: &str, timestamp: i64) {
        let name = self.name(uri);
        self.seen.insert(name, timestamp);
        self.latest_seen = self.latest_seen.max(timestamp);
        let oldest = self.oldest();
        // What is too old to be taken again need not be remembered.
        if self.seen.len().is_multiple_of(4096) {
            self.seen.retain(|_, time| *time >= oldest);
        }
    }

    /// What tells files apart.
    fn name(&self, uri: &str) -> String {
        match self.limits.by_name_only {
            true => uri.rsplit('/').next().unwrap_or(uri).to_string(),
            false => uri.to_string(),
        }
    }

    fn oldest(&self) -> i64 {
        self.latest_seen.saturating_sub(self.limits.max_age)
    }

    /// Files that nobody has taken, in the order in which they are.
    async fn unseen(&self) -> Result<Vec<NewFile>> {
        let (paths, options, conf) =
            (self.request.paths.clone(), self.request.options.clone(), self.request.conf.clone());
        let mut files = blocking(move || list(&paths, &options, &conf)).await?;
        let oldest = self.oldest();
        files.retain(|file| file.timestamp >= oldest && !self.seen.contains_key(&self.name(&file.uri)));
        files.sort_by(|a, b| (a.timestamp, &a.uri).cmp(&(b.timestamp, &b.uri)));
        if self.limits.latest_first {
            files.reverse();
        }
        if self.limits.by_name_only {
            let mut names = std::collections::HashSet::new();
            files.retain(|file| names.insert(self.name(&file.uri)));
        }
        Ok(files)
    }
}

/// The files of a folder as they are now.
fn list(paths: &[String], options: &[(String, String)], conf: &SqlConf) -> Result<Vec<NewFile>> {
    let found = listing::list(paths, &SourceOptions::new(options), conf, &Stores::new(conf, options))?;
    Ok(found
        .files
        .into_iter()
        .map(|file| NewFile {
            uri: path::uri(&file.path),
            timestamp: file.meta.last_modified.timestamp_millis(),
            bytes: file.meta.size,
        })
        .collect())
}

#[async_trait]
impl Source for FileSource {
    fn description(&self) -> String {
        let root = path::local_path(&self.root).map(|path| path.display().to_string());
        format!("FileStreamSource[file:{}]", root.unwrap_or_else(|_| self.root.clone()))
    }

    async fn next(&mut self, start: Option<&str>, amount: Amount) -> Result<Option<String>> {
        let start_batch = start.map(position).transpose()?.unwrap_or(-1);
        if self.last > start_batch {
            // An earlier run has noted more than it used.
            return Ok(Some(offset(self.last)));
        }
        let files: Vec<NewFile> = match &mut self.frozen {
            Some(waiting) => {
                let count = self.limits.take(waiting.make_contiguous(), amount);
                waiting.drain(..count).collect()
            }
            None => {
                let mut files = self.unseen().await?;
                let count = self.limits.take(&files, amount);
                files.truncate(count);
                files
            }
        };
        if files.is_empty() {
            return Ok(start.map(str::to_string));
        }
        let batch = self.last + 1;
        let lines: Vec<String> = files
            .iter()
            .map(|file| json!({ "path": file.uri, "timestamp": file.timestamp, "batchId": batch }).to_string())
            .collect();
        self.log.write(batch, &lines)?;
        for file in &files {
            self.note(&file.uri, file.timestamp);
        }
        self.entries.insert(batch, files.into_iter().map(|file| file.uri).collect());
        self.last = batch;
        Ok(Some(offset(batch)))
    }

    async fn freeze(&mut self, _: Option<&str>) -> Result<()> {
        self.frozen = Some(self.unseen().await?.into());
        Ok(())
    }

    async fn rows(&mut self, start: Option<&str>, end: &str) -> Result<Rows> {
        let start = start.map(position).transpose()?.unwrap_or(-1);
        let end = position(end)?;
        let mut paths = Vec::new();
        for batch in start + 1..=end {
            paths.extend(self.entries.get(&batch).cloned().unwrap_or_default());
        }
        // What comes before has been written by the sink.
        self.entries.retain(|batch, _| *batch > start);
        if paths.is_empty() {
            return Ok(Rows::Empty);
        }
        let mut request = self.request.clone();
        request.paths = paths;
        request.options.push(("__globPaths__".to_string(), "false".to_string()));
        let found = firesteel_sources::scan(&request, self.session.state()).await?;
        check_columns(&found.schema, self.request.schema.as_ref())?;
        Ok(Rows::Table(found.provider))
    }
}

/// Partitions of new files must be those that the stream began with.
fn check_columns(found: &StructType, declared: Option<&StructType>) -> Result<()> {
    let names = |schema: &StructType| schema.fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>();
    match declared {
        Some(declared) if names(found) != names(declared) => {
            Err(SparkError::unsupported("files of a stream whose partition columns are new"))
        }
        _ => Ok(()),
    }
}

fn offset(batch: i64) -> String {
    json!({ "logOffset": batch }).to_string()
}

fn position(offset: &str) -> Result<i64> {
    let value: Value = serde_json::from_str(offset).unwrap_or_default();
    value["logOffset"].as_i64().or_else(|| value.as_i64()).ok_or_else(|| {
        SparkError::plain(
            ExceptionClass::IllegalState,
            format!("The checkpoint has the offset {offset}, which the source does not know"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(bytes: u64) -> NewFile {
        NewFile { uri: format!("file:///{bytes}"), timestamp: 0, bytes }
    }

    #[test]
    fn a_batch_takes_as_many_files_as_it_may() {
        let files = [file(5), file(5), file(5)];
        let limits = |options: &[(&str, &str)]| {
            let options: Vec<_> = options.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
            Limits::of(&SourceOptions::new(&options))
        };
        assert_eq!(limits(&[]).unwrap().take(&files, Amount::Limited), 3);
        assert_eq!(limits(&[("maxFilesPerTrigger", "2")]).unwrap().take(&files, Amount::Limited), 2);
        assert_eq!(limits(&[("maxFilesPerTrigger", "2")]).unwrap().take(&files, Amount::All), 3);
        assert_eq!(limits(&[("maxBytesPerTrigger", "11")]).unwrap().take(&files, Amount::Limited), 2);
        assert_eq!(limits(&[("maxBytesPerTrigger", "1")]).unwrap().take(&files, Amount::Limited), 1);
        assert!(limits(&[("maxFilesPerTrigger", "0")]).is_err());
    }

    #[test]
    fn ages_are_times_with_a_unit() {
        assert_eq!(age("7d").unwrap(), MAX_AGE);
        assert_eq!(age("90").unwrap(), 90);
        assert!(age("soon").is_err());
    }
}
