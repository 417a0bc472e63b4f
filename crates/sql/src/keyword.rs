//! The words that mean something in some place of the grammar.
//!
//! Nearly all of them may be used as names too; see [`Keyword::is_strict`] and
//! [`Keyword::is_reserved`].

/// Declares the keywords and how to find them.
macro_rules! keywords {
    ($($word:ident),* $(,)?) => {
        /// A keyword, spelled as in SQL.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Keyword { $($word),* }

        impl Keyword {
            /// The keyword in capitals.
            pub(crate) fn text(self) -> &'static str {
                match self { $(Keyword::$word => stringify!($word)),* }
            }

            /// All keywords, sorted.
            pub(crate) fn every() -> &'static [Self] {
                &[$(Keyword::$word),*]
            }

            fn of_capitals(word: &str) -> Option<Self> {
                $(
                    #[allow(non_upper_case_globals)]
                    const $word: &str = stringify!($word);
                )*
                match word { $($word => Some(Keyword::$word),)* _ => None }
            }
        }
    };
}

keywords! {
    ADD, AFTER, AGGREGATE, ALL, ALTER, ALWAYS, ANALYZE, AND, ANTI, ANY, ANY_VALUE, APPROX, ARCHIVE, ARRAY,
    AS, ASC, ASENSITIVE, AT, ATOMIC, AUTHORIZATION, BEGIN, BERNOULLI, BETWEEN, BIGINT, BINARY, BINDING,
    BOOLEAN, BOTH, BUCKET, BUCKETS, BY, BYTE, CACHE, CALL, CALLED, CASCADE, CASE, CAST, CATALOG, CATALOGS,
    CHANGE, CHANGES, CHAR, CHARACTER, CHECK, CLEAR, CLOSE, CLUSTER, CLUSTERED, CODEGEN, COLLATE, COLLATION,
    COLLATIONS, COLLECTION, COLUMN, COLUMNS, COMMENT, COMMIT, COMPACT, COMPACTIONS, COMPENSATION, COMPUTE,
    CONCATENATE, CONDITION, CONSTRAINT, CONTAINS, CONTINUE, COST, CREATE, CROSS, CUBE, CURRENT,
    CURRENT_DATABASE, CURRENT_DATE, CURRENT_PATH, CURRENT_SCHEMA, CURRENT_TIME, CURRENT_TIMESTAMP,
    CURRENT_USER, CURSOR, DATA, DATABASE, DATABASES, DATE, DATEADD, DATEDIFF, DATE_ADD, DATE_DIFF, DAY,
    DAYOFYEAR, DAYS, DBPROPERTIES, DEC, DECIMAL, DECLARE, DEFAULT, DEFAULT_PATH, DEFINED, DEFINER, DELAY,
    DELETE, DELIMITED, DESC, DESCRIBE, DETERMINISTIC, DFS, DIRECTORIES, DIRECTORY, DISTANCE, DISTINCT,
    DISTRIBUTE, DIV, DO, DOUBLE, DROP, ELSE, ELSEIF, END, ENFORCED, ESCAPE, ESCAPED, EVOLUTION, EXACT,
    EXCEPT, EXCHANGE, EXCLUDE, EXCLUSIVE, EXECUTE, EXISTS, EXIT, EXPLAIN, EXPORT, EXTEND, EXTENDED, EXTERNAL,
    EXTRACT, FALSE, FETCH, FIELDS, FILEFORMAT, FILTER, FIRST, FLOAT, FLOW, FOLLOWING, FOR, FOREIGN, FORMAT,
    FORMATTED, FOUND, FROM, FULL, FUNCTION, FUNCTIONS, GENERATED, GEOGRAPHY, GEOMETRY, GLOBAL, GRANT, GROUP,
    GROUPING, HANDLER, HAVING, HOUR, HOURS, IDENTIFIED, IDENTIFIER, IDENTITY, IF, IGNORE, ILIKE, IMMEDIATE,
    IMPORT, IN, INCLUDE, INCLUSIVE, INCREMENT, INDEX, INDEXES, INNER, INPATH, INPUT, INPUTFORMAT,
    INSENSITIVE, INSERT, INT, INTEGER, INTERSECT, INTERVAL, INTO, INVOKER, IS, ITEMS, ITERATE, JOIN, JSON,
    KEY, KEYS, LANGUAGE, LAST, LATERAL, LAZY, LEADING, LEAVE, LEFT, LEVEL, LIKE, LIMIT, LINES, LIST, LOAD,
    LOCAL, LOCATION, LOCK, LOCKS, LOGICAL, LONG, LOOP, MACRO, MAP, MATCHED, MATERIALIZED, MAX, MEASURE,
    MERGE, METRICS, MICROSECOND, MICROSECONDS, MILLISECOND, MILLISECONDS, MINUS, MINUTE, MINUTES, MODIFIES,
    MONTH, MONTHS, MSCK, NAME, NAMESPACE, NAMESPACES, NANOSECOND, NANOSECONDS, NATURAL, NEAREST, NEXT, NO,
    NONE, NORELY, NOT, NULL, NULLS, NUMERIC, OF, OFFSET, ON, ONLY, OPEN, OPTION, OPTIONS, OR, ORDER, OUT,
    OUTER, OUTPUTFORMAT, OVER, OVERLAPS, OVERLAY, OVERWRITE, PARTITION, PARTITIONED, PARTITIONS, PATH,
    PERCENT, PIVOT, PLACING, POSITION, PRECEDING, PRIMARY, PRINCIPALS, PROCEDURE, PROCEDURES, PROPERTIES,
    PURGE, QUALIFY, QUARTER, QUERY, RANGE, READ, READS, REAL, RECORDREADER, RECORDWRITER, RECOVER, RECURSION,
    RECURSIVE, REDUCE, REFERENCES, REFRESH, REGEXP, RELY, RENAME, REPAIR, REPEAT, REPEATABLE, REPLACE, RESET,
    RESPECT, RESTRICT, RETURN, RETURNS, REVOKE, RIGHT, RLIKE, ROLE, ROLES, ROLLBACK, ROLLUP, ROW, ROWS,
    SCHEMA, SCHEMAS, SECOND, SECONDS, SECURITY, SELECT, SEMI, SEPARATED, SERDE, SERDEPROPERTIES,
    SESSION_USER, SET, SETS, SHORT, SHOW, SIMILARITY, SINGLE, SKEWED, SMALLINT, SOME, SORT, SORTED,
    SOURCE, SPECIFIC, SQL, SQLEXCEPTION, SQLSTATE, START, STATISTICS, STORED, STRATIFY, STREAM, STREAMING,
    STRING, STRUCT, SUBSTR, SUBSTRING, SYNC, SYSTEM, SYSTEM_PATH, SYSTEM_TIME, SYSTEM_VERSION, TABLE, TABLES,
    TABLESAMPLE, TARGET, TBLPROPERTIES, TEMP, TEMPORARY, TERMINATED, THEN, TIME, TIMEDIFF, TIMESTAMP,
    TIMESTAMPADD, TIMESTAMPDIFF, TIMESTAMP_LTZ, TIMESTAMP_NTZ, TINYINT, TO, TOUCH, TRAILING, TRANSACTION,
    TRANSACTIONS, TRANSFORM, TRIM, TRUE, TRUNCATE, TRY_CAST, TYPE, UNARCHIVE, UNBOUNDED, UNCACHE, UNION,
    UNIQUE, UNKNOWN, UNLOCK, UNPIVOT, UNSET, UNTIL, UPDATE, USE, USER, USING, VALUE, VALUES, VAR, VARCHAR,
    VARIABLE, VARIANT, VERSION, VIEW, VIEWS, VOID, WATERMARK, WEEK, WEEKS, WHEN, WHERE, WHILE, WINDOW, WITH,
    WITHIN, WITHOUT, X, YEAR, YEARS, ZONE,
}

impl Keyword {
    /// Finds the keyword that a word is, whatever its case.
    pub(crate) fn find(word: &str) -> Option<Self> {
        const LONGEST: usize = 20;
        let mut capitals = [0u8; LONGEST];
        let bytes = word.as_bytes();
        let buffer = capitals.get_mut(..bytes.len())?;
        buffer.copy_from_slice(bytes);
        buffer.make_ascii_uppercase();
        Self::of_capitals(std::str::from_utf8(buffer).ok()?)
    }

    /// Words of joins and set operations: names, but no aliases of tables.
    pub(crate) fn is_strict(self) -> bool {
        use Keyword::*;
        matches!(
            self,
            ANTI | CROSS
                | EXCEPT
                | FULL
                | INNER
                | INTERSECT
                | JOIN
                | LATERAL
                | LEFT
                | MINUS
                | NATURAL
                | ON
                | RIGHT
                | SEMI
                | UNION
                | USING
        )
    }

    /// Words that are no names where reserved words are enforced.
    pub(crate) fn is_reserved(self) -> bool {
        use Keyword::*;
        matches!(
            self,
            ALL | AND
                | ANY
                | AS
                | AUTHORIZATION
                | BOTH
                | CALL
                | CASE
                | CAST
                | CHECK
                | COLLATE
                | COLLATION
                | COLLATIONS
                | COLUMN
                | CONSTRAINT
                | CREATE
                | CROSS
                | CURRENT_DATE
                | CURRENT_PATH
                | CURRENT_SCHEMA
                | CURRENT_TIME
                | CURRENT_TIMESTAMP
                | CURRENT_USER
                | DISTINCT
                | ELSE
                | END
                | ESCAPE
                | EXCEPT
                | EXECUTE
                | FALSE
                | FETCH
                | FILTER
                | FOR
                | FOREIGN
                | FROM
                | FULL
                | GRANT
                | GROUP
                | HAVING
                | IN
                | INNER
                | INTERSECT
                | INTO
                | IS
                | JOIN
                | LATERAL
                | LEADING
                | LEFT
                | NATURAL
                | NOT
                | NULL
                | OFFSET
                | ON
                | ONLY
                | OR
                | ORDER
                | OUTER
                | OVERLAPS
                | PRIMARY
                | RECURSIVE
                | REFERENCES
                | RIGHT
                | SELECT
                | SESSION_USER
                | SOME
                | SQL
                | TABLE
                | THEN
                | TIME
                | TO
                | TRAILING
                | UNION
                | UNIQUE
                | UNKNOWN
                | USER
                | USING
                | WHEN
                | WHERE
                | WITH
                | WITHIN
        )
    }

    /// Units of interval literals.
    pub(crate) fn is_interval_unit(self) -> bool {
        use Keyword::*;
        matches!(
            self,
            YEAR | YEARS
                | MONTH
                | MONTHS
                | WEEK
                | WEEKS
                | DAY
                | DAYS
                | HOUR
                | HOURS
                | MINUTE
                | MINUTES
                | SECOND
                | SECONDS
                | MILLISECOND
                | MILLISECONDS
                | MICROSECOND
                | MICROSECONDS
                | NANOSECOND
                | NANOSECONDS
        )
    }
}
