//! The settings that analysis and kernels read, as plain values.

use crate::hadoop::HadoopSettings;
use crate::keys;
use crate::reader::Reader;
use crate::time_zone;

/// A setting whose options are names.
macro_rules! options {
    ($(#[doc = $doc:literal] $name:ident { $(#[doc = $option_doc:literal] $option:ident = $text:literal,)+ })+) => {
        $(
            #[doc = $doc]
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
            pub enum $name {
                $(#[doc = $option_doc] $option,)+
            }

            impl $name {
                /// The option as the setting spells it.
                pub const fn name(self) -> &'static str {
                    match self {
                        $(Self::$option => $text,)+
                    }
                }

            }

            impl Named for $name {
                const ALL: &[Self] = &[$(Self::$option),+];

                fn spelling(self) -> &'static str {
                    self.name()
                }
            }
        )+
    };
}

options! {
    /// What `TIMESTAMP` without more means.
    TimestampType {
        /// A moment, shown in the session's time zone.
        Ltz = "TIMESTAMP_LTZ",
        /// A wall-clock time, without zone.
        Ntz = "TIMESTAMP_NTZ",
    }

    /// Which values a column of another type takes on insert.
    StoreAssignmentPolicy {
        /// Casts that the SQL standard allows, checked for overflow.
        Ansi = "ANSI",
        /// Anything that a cast can do.
        Legacy = "LEGACY",
        /// Only casts that lose nothing.
        Strict = "STRICT",
    }

    /// What a function does that builds a map with the same key twice.
    MapKeyDedupPolicy {
        /// It fails.
        Exception = "EXCEPTION",
        /// It takes the later value.
        LastWin = "LAST_WIN",
    }

    /// How text is parsed where the parsers of Spark 2 and Spark 3 differ.
    TimeParserPolicy {
        /// As Spark 3 does.
        Corrected = "CORRECTED",
        /// As Spark 2 did.
        Legacy = "LEGACY",
        /// The query fails.
        Exception = "EXCEPTION",
    }

    /// What an overwrite of a partitioned table deletes.
    PartitionOverwriteMode {
        /// All partitions that match the given values.
        Static = "STATIC",
        /// Only partitions that get rows.
        Dynamic = "DYNAMIC",
    }

    /// Which definition wins where a nested `WITH` repeats a name.
    CtePrecedence {
        /// The inner one.
        Corrected = "CORRECTED",
        /// The outer one.
        Legacy = "LEGACY",
        /// The query fails.
        Exception = "EXCEPTION",
    }
}

/// Options with names; the first is what an unknown name means.
trait Named: Copy + Sized + 'static {
    const ALL: &[Self];

    fn spelling(self) -> &'static str;
}

/// Kinds of values that only the snapshot has.
trait ReadOption: Reader {
    fn option<T: Named>(&self, key: &str) -> T {
        let text = self.text(key);
        T::ALL.iter().copied().find(|option| option.spelling() == text).unwrap_or(T::ALL[0])
    }

    fn zone(&self, key: &str) -> String {
        time_zone::normalise(&self.text(key)).unwrap_or_else(|| "UTC".to_string())
    }
}

impl<R: Reader> ReadOption for R {}

macro_rules! snapshot {
    ($(#[doc = $doc:literal] $field:ident: $type:ty = $read:ident($key:ident);)+) => {
        /// The settings that analysis and kernels read, taken at one moment.
        #[derive(Debug, Clone, PartialEq)]
        pub struct SqlConf {
            $(#[doc = $doc] pub $field: $type,)+
            /// What is said of file systems, credentials among it.
            pub hadoop: HadoopSettings,
        }

        impl SqlConf {
            /// The settings as they are now.
            pub fn new(reader: &impl Reader) -> Self {
                Self { $($field: reader.$read(keys::$key),)+ hadoop: reader.hadoop() }
            }
        }
    };
}

snapshot! {
    /// Whether errors are raised where the other mode yields NULL or wraps around.
    ansi_enabled: bool = boolean(ANSI_ENABLED);
    /// Whether names differ by case.
    case_sensitive: bool = boolean(CASE_SENSITIVE);
    /// The session's time zone, as the engine names it.
    time_zone: String = zone(SESSION_TIME_ZONE);
    /// The session's time zone, as the user wrote it.
    time_zone_text: String = text(SESSION_TIME_ZONE);
    /// What `TIMESTAMP` without more means.
    timestamp_type: TimestampType = option(TIMESTAMP_TYPE);
    /// How text is parsed where Spark 2 and Spark 3 differ.
    time_parser_policy: TimeParserPolicy = option(TIME_PARSER_POLICY);
    /// Which values a column of another type takes on insert.
    store_assignment_policy: StoreAssignmentPolicy = option(STORE_ASSIGNMENT_POLICY);
    /// What building a map with the same key twice does.
    map_key_dedup_policy: MapKeyDedupPolicy = option(MAP_KEY_DEDUP_POLICY);
    /// What an overwrite of a partitioned table deletes.
    partition_overwrite_mode: PartitionOverwriteMode = option(PARTITION_OVERWRITE_MODE);
    /// Which definition wins where a nested `WITH` repeats a name.
    cte_precedence: CtePrecedence = option(CTE_PRECEDENCE_POLICY);

    /// Whether `"a"` is an identifier (in ANSI mode).
    double_quoted_identifiers: bool = boolean(DOUBLE_QUOTED_IDENTIFIERS);
    /// Whether the standard's reserved words are refused as identifiers (in ANSI mode).
    enforce_reserved_keywords: bool = boolean(ENFORCE_RESERVED_KEYWORDS);
    /// Whether joins bind tighter than commas in `FROM` (in ANSI mode).
    relation_precedence: bool = boolean(RELATION_PRECEDENCE);
    /// Whether backslashes in string literals stand for themselves.
    escaped_string_literals: bool = boolean(ESCAPED_STRING_LITERALS);
    /// Whether a quoted name in a select list is a pattern of names.
    quoted_regex_column_names: bool = boolean(QUOTED_REGEX_COLUMN_NAMES);
    /// Whether `|>` is read.
    pipe_syntax_enabled: bool = boolean(PIPE_SYNTAX_ENABLED);
    /// Whether `BEGIN … END` is read.
    scripting_enabled: bool = boolean(SCRIPTING_ENABLED);
    /// Whether scripts may have cursors.
    cursors_enabled: bool = boolean(SCRIPTING_CURSOR_ENABLED);
    /// Whether `${name}` in SQL text is replaced.
    variable_substitute: bool = boolean(VARIABLE_SUBSTITUTE);
    /// Whether `EXCEPT` and `UNION` bind as tight as `INTERSECT`.
    setops_precedence: bool = boolean(SETOPS_PRECEDENCE);
    /// Whether `1e3` is a decimal literal.
    exponent_literal_as_decimal: bool = boolean(EXPONENT_LITERAL_AS_DECIMAL);
    /// Whether integer literals beside decimals take the fewest digits that hold them.
    literal_minimum_precision: bool = boolean(LITERAL_MINIMUM_PRECISION);
    /// Whether interval literals are of the old calendar type.
    legacy_interval: bool = boolean(LEGACY_INTERVAL);
    /// Whether decimals may have a negative scale.
    allow_negative_scale: bool = boolean(ALLOW_NEGATIVE_SCALE);
    /// Whether `HAVING` without `GROUP BY` is `WHERE`.
    having_as_where: bool = boolean(HAVING_AS_WHERE);
    /// Whether `!` stands for NOT in `x ! IN …`, `x ! LIKE …`, `IF ! EXISTS`.
    bang_equals_not: bool = boolean(BANG_EQUALS_NOT);
    /// Whether `'a''b'` is `ab` rather than `a'b`.
    consecutive_string_literals: bool = boolean(CONSECUTIVE_STRING_LITERALS);

    /// Whether `count(t.*)` counts rows without a null.
    count_of_table_star: bool = boolean(COUNT_OF_TABLE_STAR);
    /// Whether numbers in `GROUP BY` are positions.
    group_by_ordinal: bool = boolean(GROUP_BY_ORDINAL);
    /// Whether `GROUP BY` knows the aliases of the select list.
    group_by_aliases: bool = boolean(GROUP_BY_ALIASES);
    /// Whether numbers in `ORDER BY` are positions.
    order_by_ordinal: bool = boolean(ORDER_BY_ORDINAL);
    /// Whether positions in ORDER BY mean outputs alone, not columns that other keys need besides.
    ordinals_first: bool = boolean(ORDINALS_FIRST);
    /// Whether a select list knows its own earlier aliases.
    lateral_column_alias: bool = boolean(LATERAL_COLUMN_ALIAS);
    /// Whether arguments may be given as `name => value`.
    named_function_arguments: bool = boolean(NAMED_FUNCTION_ARGUMENTS);
    /// Whether joins without condition are allowed.
    cross_join_enabled: bool = boolean(CROSS_JOIN_ENABLED);
    /// Whether `df.groupBy` keeps the grouping columns.
    retain_group_columns: bool = boolean(RETAIN_GROUP_COLUMNS);
    /// Whether a column that both sides of a self-join have is refused.
    fail_ambiguous_self_join: bool = boolean(FAIL_AMBIGUOUS_SELF_JOIN);
    /// Whether ``SELECT … FROM parquet.`path` `` reads files.
    run_sql_on_files: bool = boolean(RUN_SQL_ON_FILES);
    /// Whether columns may have defaults.
    default_column_enabled: bool = boolean(DEFAULT_COLUMN_ENABLED);
    /// Whether the TIME type exists.
    time_type_enabled: bool = boolean(TIME_TYPE_ENABLED);
    /// Whether map keys may have a collation.
    collation_in_map_keys: bool = boolean(COLLATION_IN_MAP_KEYS);
    /// Whether an object of a variant may repeat a key: the last one counts.
    variant_allow_duplicate_keys: bool = boolean(VARIANT_ALLOW_DUPLICATE_KEYS);
    /// Whether a decimal result that is too wide gives up digits of its fraction.
    decimal_allow_precision_loss: bool = boolean(DECIMAL_ALLOW_PRECISION_LOSS);
    /// Whether CHAR and VARCHAR are plain strings.
    char_varchar_as_string: bool = boolean(CHAR_VARCHAR_AS_STRING);
    /// Views keep how they follow changes of what they read.
    view_schema_binding: bool = boolean(VIEW_SCHEMA_BINDING_MODE);
    /// Views cast columns that changed their types.
    view_schema_compensation: bool = boolean(VIEW_SCHEMA_COMPENSATION);
    /// Whether CHAR is VARCHAR in new tables.
    char_as_varchar: bool = boolean(CHAR_AS_VARCHAR);
    /// Whether CHAR and VARCHAR stay types of their own in queries.
    preserve_char_varchar: bool = boolean(PRESERVE_CHAR_VARCHAR);
    /// Whether CHAR columns are padded when read.
    read_side_char_padding: bool = boolean(READ_SIDE_CHAR_PADDING);

    /// Whether `concat` of binary values is a string.
    concat_binary_as_string: bool = boolean(CONCAT_BINARY_AS_STRING);
    /// Whether `elt` of binary values is a string.
    elt_output_as_string: bool = boolean(ELT_OUTPUT_AS_STRING);
    /// Whether `size(NULL)` is -1 (outside ANSI mode).
    size_of_null: bool = boolean(SIZE_OF_NULL);
    /// Whether maps may be hashed.
    allow_hash_on_map: bool = boolean(ALLOW_HASH_ON_MAP);
    /// Whether `count()` is allowed.
    allow_parameterless_count: bool = boolean(ALLOW_PARAMETERLESS_COUNT);
    /// Whether `%0$s` is allowed in formats.
    allow_zero_index_in_format: bool = boolean(ALLOW_ZERO_INDEX_IN_FORMAT);
    /// Whether arrays, maps and structs are cast to text as Spark 3.0 did.
    cast_complex_legacy: bool = boolean(CAST_COMPLEX_LEGACY);
    /// Whether `array()` and `map()` are of strings.
    empty_collection_as_string: bool = boolean(EMPTY_COLLECTION_AS_STRING);
    /// Whether `exists` over an array with NULLs can be NULL.
    three_valued_exists: bool = boolean(THREE_VALUED_EXISTS);
    /// Whether day-time interval text is read leniently.
    from_day_time_string: bool = boolean(FROM_DAY_TIME_STRING);
    /// Whether `grouping_id` is an INT.
    integer_grouping_id: bool = boolean(INTEGER_GROUPING_ID);
    /// Whether the old rules of nullability of `IN (subquery)` hold.
    in_subquery_nullability: bool = boolean(IN_SUBQUERY_NULLABILITY);
    /// Whether `x IN ()` is NULL for NULL; unset means: not in ANSI mode.
    null_in_empty_list: Option<String> = optional_text(NULL_IN_EMPTY_LIST);
    /// Whether `encode` and `decode` take any charset of Java.
    java_charsets: bool = boolean(LEGACY_JAVA_CHARSETS);
    /// Whether `encode` and `decode` replace what they cannot map.
    coding_error_action: bool = boolean(LEGACY_CODING_ERROR_ACTION);
    /// Whether `lpad` and `rpad` of binary values are strings.
    lpad_rpad_string: bool = boolean(LPAD_RPAD_STRING);
    /// Whether -1 in `array_insert` means before the last element.
    negative_index_in_insert: bool = boolean(NEGATIVE_INDEX_IN_INSERT);
    /// Whether `percentile_disc` picks values as older releases did.
    percentile_disc_legacy: bool = boolean(PERCENTILE_DISC_LEGACY);
    /// Whether statistics over one row are NaN rather than NULL.
    statistical_aggregate: bool = boolean(STATISTICAL_AGGREGATE);
    /// Whether `split` with an empty pattern drops what is over the limit.
    truncate_for_empty_regex: bool = boolean(TRUNCATE_FOR_EMPTY_REGEX);
    /// Whether dates and times compare with strings as strings.
    datetime_to_string: bool = boolean(DATETIME_TO_STRING);
    /// Whether SHOW and DESCRIBE name their columns as Spark 2 did.
    keep_command_output_schema: bool = boolean(KEEP_COMMAND_OUTPUT_SCHEMA);
    /// Whether CREATE TABLE without USING makes a Hive table.
    create_hive_table: bool = boolean(CREATE_HIVE_TABLE);

    /// How many values a pivot without a list may find.
    pivot_max_values: usize = count(PIVOT_MAX_VALUES);
    /// How many rows `transpose` may turn into columns.
    transpose_max_values: usize = count(TRANSPOSE_MAX_VALUES);
    /// How many fields a plan's text shows of a long list.
    max_to_string_fields: usize = count(MAX_TO_STRING_FIELDS);
    /// How deep views may refer to views.
    max_nested_view_depth: usize = count(MAX_NESTED_VIEW_DEPTH);
    /// How many steps a recursive CTE may take; -1 for any number.
    cte_recursion_level_limit: i64 = integer(CTE_RECURSION_LEVEL_LIMIT);
    /// How many rows a recursive CTE may make; -1 for any number.
    cte_recursion_row_limit: i64 = integer(CTE_RECURSION_ROW_LIMIT);
    /// How many partitions an exchange makes.
    shuffle_partitions: usize = count(SHUFFLE_PARTITIONS);
    /// The largest side of a join in bytes that is broadcast; -1 for none.
    broadcast_threshold: i64 = integer(BROADCAST_THRESHOLD);
    /// How binary values are shown; `None` for the way of the caller.
    binary_output_style: Option<String> = optional_text(BINARY_OUTPUT_STYLE);

    /// Whether a notebook shows a DataFrame's rows.
    eager_eval_enabled: bool = boolean(EAGER_EVAL_ENABLED);
    /// How many rows it shows.
    eager_eval_max_rows: usize = count(EAGER_EVAL_MAX_ROWS);
    /// How many characters of a cell it shows.
    eager_eval_truncate: usize = count(EAGER_EVAL_TRUNCATE);

    /// How many rows a batch of a result holds at most; 0 or less for any number.
    arrow_max_records: i64 = integer(ARROW_MAX_RECORDS);
    /// How many bytes a batch for Python holds at most.
    arrow_max_bytes: i64 = integer(ARROW_MAX_BYTES);
    /// Whether Arrow's 64-bit offsets are sent for strings and binaries.
    arrow_large_var_types: bool = boolean(ARROW_LARGE_VAR_TYPES);
    /// Whether Python functions of plain type run over Arrow.
    python_udf_arrow: bool = boolean(PYTHON_UDF_ARROW);
    /// Whether Python table functions run over Arrow.
    python_udtf_arrow: bool = boolean(PYTHON_UDTF_ARROW);

    /// The catalog of names without one.
    default_catalog: String = text(DEFAULT_CATALOG);
    /// The format of reads and writes without one.
    default_source: String = text(DEFAULT_SOURCE);
    /// Whether the types of partition columns are guessed from their values.
    partition_type_inference: bool = boolean(PARTITION_TYPE_INFERENCE);
    /// Whether values of partition columns must fit the given schema.
    validate_partition_columns: bool = boolean(VALIDATE_PARTITION_COLUMNS);
    /// Whether unreadable files are skipped.
    ignore_corrupt_files: bool = boolean(IGNORE_CORRUPT_FILES);
    /// Whether files that vanished are skipped.
    ignore_missing_files: bool = boolean(IGNORE_MISSING_FILES);
    /// How many bytes of files one task reads.
    max_partition_bytes: i64 = integer(MAX_PARTITION_BYTES);
    /// What opening a file costs, as bytes that could be read meanwhile.
    open_cost_in_bytes: i64 = integer(OPEN_COST_IN_BYTES);
    /// How many tasks should read files at least; unset: one per core.
    min_partition_num: Option<i64> = optional_integer(MIN_PARTITION_NUM);
    /// How many tasks should read files at most.
    max_partition_num: Option<i64> = optional_integer(MAX_PARTITION_NUM);
    /// How many tasks read a source that does not say; unset: one per core.
    leaf_node_parallelism: Option<i64> = optional_integer(LEAF_NODE_PARALLELISM);
    /// How many rows a written file holds at most; 0 or less for any number.
    max_records_per_file: i64 = integer(MAX_RECORDS_PER_FILE);
    /// The codec of written Parquet files.
    parquet_compression: String = text(PARQUET_COMPRESSION);
    /// Whether Parquet schemas of all files are merged.
    parquet_merge_schema: bool = boolean(PARQUET_MERGE_SCHEMA);
    /// Whether Parquet binaries without annotation are strings.
    parquet_binary_as_string: bool = boolean(PARQUET_BINARY_AS_STRING);
    /// Whether Parquet INT96 is a timestamp.
    parquet_int96_as_timestamp: bool = boolean(PARQUET_INT96_AS_TIMESTAMP);
    /// Whether Parquet timestamps without zone are TIMESTAMP_NTZ.
    parquet_infer_ntz: bool = boolean(PARQUET_INFER_NTZ);
    /// How timestamps are written to Parquet.
    parquet_output_timestamp_type: String = text(PARQUET_OUTPUT_TIMESTAMP_TYPE);
    /// Whether Parquet timestamps of nanoseconds are numbers.
    parquet_nanos_as_long: bool = boolean(PARQUET_NANOS_AS_LONG);
    /// How many bytes a file may have that is read whole.
    binary_file_max_length: i64 = integer(BINARY_FILE_MAX_LENGTH);
    /// Whether the option `path` is one path of several.
    legacy_path_option: bool = boolean(LEGACY_PATH_OPTION);
    /// Whether ORC schemas of all files are merged.
    orc_merge_schema: bool = boolean(ORC_MERGE_SCHEMA);
    /// The codec of written ORC files.
    orc_compression: String = text(ORC_COMPRESSION);
    /// The codec of written Avro files.
    avro_compression: String = text(AVRO_COMPRESSION);
    /// Whether JSON leaves fields out that are NULL.
    json_ignore_null_fields: bool = boolean(JSON_IGNORE_NULL_FIELDS);
    /// The column that takes records that cannot be parsed.
    corrupt_record_column: String = text(CORRUPT_RECORD_COLUMN);
    /// The schema that holds global temporary views.
    global_temp_database: String = text(GLOBAL_TEMP_DATABASE);
}

impl std::default::Default for SqlConf {
    /// The settings of a session that has changed none.
    fn default() -> Self {
        Self::new(&crate::ServerConfig::default())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::SessionConfig;

    #[test]
    fn defaults_are_sparks() {
        let conf = SqlConf::default();
        assert!(conf.ansi_enabled && !conf.case_sensitive && conf.size_of_null);
        assert_eq!(conf.time_zone, "UTC");
        assert_eq!(conf.timestamp_type, TimestampType::Ltz);
        assert_eq!(conf.time_parser_policy, TimeParserPolicy::Corrected);
        assert_eq!(conf.store_assignment_policy, StoreAssignmentPolicy::Ansi);
        assert_eq!(conf.arrow_max_records, 10_000);
        assert_eq!(conf.shuffle_partitions, 200);
        assert_eq!(conf.broadcast_threshold, 10 << 20);
    }

    #[test]
    fn options_are_read_in_any_case() {
        let mut config = SessionConfig::default();
        config.set(keys::TIMESTAMP_TYPE, "timestamp_ntz").unwrap();
        config.set(keys::MAP_KEY_DEDUP_POLICY, "last_win").unwrap();
        config.set(keys::SESSION_TIME_ZONE, "GMT+1").unwrap();
        let conf = SqlConf::new(&config);
        assert_eq!(conf.timestamp_type, TimestampType::Ntz);
        assert_eq!(conf.map_key_dedup_policy, MapKeyDedupPolicy::LastWin);
        assert_eq!((conf.time_zone.as_str(), conf.time_zone_text.as_str()), ("+01:00", "GMT+1"));
    }
}
