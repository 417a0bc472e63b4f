//! Options of `format("jdbc")`.

use super::url::Address;
use crate::error::illegal;
use crate::options::SourceOptions;
use firesteel_error::{ExceptionClass, Result, SparkError};
use std::time::Duration;

/// What to read from or write to, and how.
#[derive(Debug, Clone)]
pub struct JdbcOptions {
    pub address: Address,
    /// What stands after FROM: a table's name or a query in parentheses with a name.
    pub table: String,
    /// True where `query` gave the table.
    pub is_query: bool,
    /// Text before each query.
    pub prepare: String,
    pub partitioning: Option<Bounds>,
    pub partitions: Option<i32>,
    pub timeout: Option<Duration>,
    pub init_statement: Option<String>,
    pub pushes_predicates: bool,
    pub custom_schema: Option<String>,
    pub prefers_ntz: bool,
    pub batch_rows: usize,
    pub truncates: bool,
    pub cascades: bool,
    pub table_options: String,
    pub column_types: Option<String>,
    /// SQL's name of the level; None for `NONE`.
    pub isolation: Option<&'static str>,
}

/// How a column divides a table.
#[derive(Debug, Clone)]
pub struct Bounds {
    pub column: String,
    pub lower: String,
    pub upper: String,
    pub count: i32,
}

impl JdbcOptions {
    /// The options of a reader.
    pub fn reader(options: &SourceOptions) -> Result<Self> {
        let url = options.get("url").ok_or_else(|| required("Option 'url' is required."))?;
        let (table, is_query) = table(options)?;
        let bounds = ["partitionColumn", "lowerBound", "upperBound"].map(|key| options.get(key));
        let partitions = int(options, "numPartitions")?;
        let partitioning = match (bounds, partitions) {
            ([None, None, None], _) => None,
            ([Some(_), Some(_), Some(_)], Some(_)) if is_query => return Err(required(QUERY_WITH_COLUMN)),
            ([Some(column), Some(lower), Some(upper)], Some(count)) => {
                let (column, lower, upper) = (column.to_string(), lower.to_string(), upper.to_string());
                Some(Bounds { column, lower, upper, count })
            }
            _ => {
                return Err(required(
                    "When reading JDBC data sources, users need to specify all or none for the following options: \
                     'partitionColumn', 'lowerBound', 'upperBound', and 'numPartitions'",
                ));
            }
        };
        let timeout = int(options, "queryTimeout")?.unwrap_or(0);
        if timeout < 0 {
            return Err(required(&format!("Invalid value `{timeout}` for parameter `queryTimeout`.")));
        }
        // How many rows come at once is the stream's affair.
        int(options, "fetchsize")?;
        let batch_rows = int(options, "batchsize")?.unwrap_or(1000);
        if batch_rows < 1 {
            let text = format!("Invalid value `{batch_rows}` for parameter `batchsize`. The minimum value is 1.");
            return Err(required(&text));
        }
        for key in ["pushDownAggregate", "pushDownLimit", "pushDownOffset", "pushDownTableSample", "pushDownJoin"] {
            options.boolean(key, true)?;
        }
        Ok(Self {
            table,
            is_query,
            prepare: options.get("prepareQuery").map(|text| format!("{text} ")).unwrap_or_default(),
            partitioning,
            partitions,
            timeout: (timeout > 0).then(|| Duration::from_secs(u64::from(timeout.unsigned_abs()))),
            init_statement: options.get("sessionInitStatement").map(str::to_string),
            pushes_predicates: options.boolean("pushDownPredicate", true)?,
            custom_schema: options.get("customSchema").map(str::to_string),
            prefers_ntz: options.boolean("preferTimestampNTZ", false)?,
            batch_rows: usize::try_from(batch_rows).unwrap_or(1),
            truncates: options.boolean("truncate", false)?,
            cascades: options.boolean("cascadeTruncate", false)?,
            table_options: options.get("createTableOptions").unwrap_or_default().to_string(),
            column_types: options.get("createTableColumnTypes").map(str::to_string),
            isolation: isolation(options.get("isolationLevel").unwrap_or("READ_UNCOMMITTED"))?,
            address: Address::parse(url, options)?,
        })
    }

    /// The options of a writer.
    pub fn writer(options: &SourceOptions) -> Result<Self> {
        let read = Self::reader(options)?;
        if read.is_query {
            return Err(required("Option 'dbtable' is required. Option 'query' is not applicable while writing."));
        }
        Ok(read)
    }
}

const QUERY_WITH_COLUMN: &str = "\nOptions 'query' and 'partitionColumn' can not be specified together.\n\
    Please define the query using `dbtable` option instead and make sure to qualify\n\
    the partition columns using the supplied subquery alias to resolve any ambiguity.\n\
    Example :\n\
    spark.read.format(\"jdbc\")\n\
    \x20 .option(\"url\", jdbcUrl)\n\
    \x20 .option(\"dbtable\", \"(select c1, c2 from t1) as subq\")\n\
    \x20 .option(\"partitionColumn\", \"c1\")\n\
    \x20 .option(\"lowerBound\", \"1\")\n\
    \x20 .option(\"upperBound\", \"100\")\n\
    \x20 .option(\"numPartitions\", \"3\")\n\
    \x20 .load()\n     ";

fn required(text: &str) -> SparkError {
    illegal(format!("requirement failed: {text}"))
}

fn table(options: &SourceOptions) -> Result<(String, bool)> {
    let named =
        |condition| SparkError::new(condition).with("jdbcTableName", "dbtable").with("jdbcQueryString", "query");
    let empty = |option: &str| SparkError::new("_LEGACY_ERROR_TEMP_2080").with("optionName", option);
    match (options.get("dbtable"), options.get("query")) {
        (Some(_), Some(_)) => Err(named("_LEGACY_ERROR_TEMP_2078")),
        (None, None) => Err(named("_LEGACY_ERROR_TEMP_2079")),
        (Some(""), None) => Err(empty("dbtable")),
        (Some(table), None) => Ok((table.trim().to_string(), false)),
        (None, Some("")) => Err(empty("query")),
        (None, Some(query)) => {
            let query = query.trim().trim_end_matches(';');
            Ok((format!("({query}) SPARK_GEN_SUBQ_0"), true))
        }
    }
}

/// A number, as Java reads one.
fn int(options: &SourceOptions, key: &str) -> Result<Option<i32>> {
    let Some(text) = options.get(key) else { return Ok(None) };
    let wrong = || SparkError::plain(ExceptionClass::NumberFormat, format!("For input string: \"{text}\""));
    text.parse().map(Some).map_err(|_| wrong())
}

fn isolation(level: &str) -> Result<Option<&'static str>> {
    Ok(match level {
        "NONE" => None,
        "READ_UNCOMMITTED" => Some("READ UNCOMMITTED"),
        "READ_COMMITTED" => Some("READ COMMITTED"),
        "REPEATABLE_READ" => Some("REPEATABLE READ"),
        "SERIALIZABLE" => Some("SERIALIZABLE"),
        other => {
            return Err(SparkError::new("_LEGACY_ERROR_TEMP_2081")
                .with("value", other)
                .with("jdbcTxnIsolationLevel", "isolationLevel"));
        }
    })
}
