//! Exception classes, as clients know them.

use ExceptionClass::*;

/// The exception class that a client raises for an error.
///
/// A client gets the names of the class and of all its ancestors, and raises
/// the most specific one that it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExceptionClass {
    /// A query that does not make sense: names, types, rules.
    Analysis,
    /// An analysis error that carries the plan as it stood.
    ExtendedAnalysis,
    /// SQL text that is not SQL.
    Parse,
    /// An argument out of its domain.
    IllegalArgument,
    /// A call at the wrong moment.
    IllegalState,
    /// A fault while a query runs, as older code reports it.
    QueryExecution,
    /// Text that is not a number.
    NumberFormat,
    /// Overflow, division by zero.
    Arithmetic,
    /// Something that the server does not do.
    UnsupportedOperation,
    /// An index outside an array.
    ArrayIndexOutOfBounds,
    /// Text or fields that are not a date or time.
    DateTime,
    /// A fault that depends on the data.
    Runtime,
    /// Behaviour that changed between versions.
    Upgrade,
    /// A key, setting or element that is not there.
    NoSuchElement,
    /// The general class.
    Spark,
    /// A fault of a JDBC source.
    SparkSql,
    /// A feature that a JDBC source does not have.
    SqlFeatureNotSupported,
    /// A fault in a SQL script.
    SqlScripting,
    /// A malformed request: the plan.
    InvalidPlanInput,
    /// A malformed request: the command. Only 4.0 clients know it.
    InvalidCommandInput,
    /// A table that does not exist.
    NoSuchTable,
    /// A view that does not exist.
    NoSuchView,
    /// A schema of the session catalog that does not exist.
    NoSuchDatabase,
    /// A namespace that does not exist.
    NoSuchNamespace,
    /// A function that does not exist.
    NoSuchFunction,
    /// A partition that does not exist.
    NoSuchPartition,
    /// An index that does not exist.
    NoSuchIndex,
    /// A table that exists already.
    TableAlreadyExists,
    /// A view that exists already.
    ViewAlreadyExists,
    /// A schema that exists already.
    DatabaseAlreadyExists,
    /// A function that exists already.
    FunctionAlreadyExists,
    /// A temporary view that exists already.
    TempTableAlreadyExists,
    /// Partitions that exist already.
    PartitionsAlreadyExist,
    /// An index that exists already.
    IndexAlreadyExists,
    /// A schema that still holds objects.
    NonEmptyNamespace,
    /// A catalog that is not configured.
    CatalogNotFound,
    /// A user-defined function of an unusable class.
    InvalidUdfClass,
    /// An exception inside a user's Python function.
    Python,
    /// A Python worker of a streaming query that did not start.
    StreamingPythonRunner,
    /// A streaming query that ended with an error.
    StreamingQuery,
    /// A file that does not exist.
    FileNotFound,
    /// A file that exists already.
    FileAlreadyExists,
    /// A class that cannot be loaded.
    ClassNotFound,
    /// A clash of two writers.
    ConcurrentModification,
    /// No memory left for an operator.
    OutOfMemory,
    /// An action that is not permitted.
    Security,
    /// A path whose scheme no file system has.
    UnsupportedFileSystem,
    /// A file or folder that the user may not use.
    AccessDenied,
    /// A fault of a file system.
    Io,
}

macro_rules! hierarchy {
    ($($name:literal),+ $(,)?) => { &[$($name),+, "java.lang.Throwable", "java.lang.Object"] };
}

macro_rules! analysis {
    ($($name:literal),* $(,)?) => {
        hierarchy!($($name,)* "org.apache.spark.sql.AnalysisException", "java.lang.Exception")
    };
}

macro_rules! runtime {
    ($($name:literal),+ $(,)?) => {
        hierarchy!($($name,)+ "java.lang.RuntimeException", "java.lang.Exception")
    };
}

impl ExceptionClass {
    /// The Java class name and the names of its ancestors, most specific first.
    ///
    /// ```
    /// use firesteel_error::ExceptionClass;
    /// assert_eq!(
    ///     ExceptionClass::Parse.java_classes()[..2],
    ///     ["org.apache.spark.sql.catalyst.parser.ParseException", "org.apache.spark.sql.AnalysisException"],
    /// );
    /// ```
    pub fn java_classes(self) -> &'static [&'static str] {
        match self {
            Analysis => analysis!(),
            ExtendedAnalysis => {
                analysis!("org.apache.spark.sql.catalyst.ExtendedAnalysisException")
            }
            Parse => analysis!("org.apache.spark.sql.catalyst.parser.ParseException"),
            IllegalArgument => {
                runtime!("org.apache.spark.SparkIllegalArgumentException", "java.lang.IllegalArgumentException")
            }
            IllegalState => runtime!("org.apache.spark.SparkIllegalStateException", "java.lang.IllegalStateException"),
            QueryExecution => {
                hierarchy!("org.apache.spark.sql.execution.QueryExecutionException", "java.lang.Exception")
            }
            NumberFormat => runtime!(
                "org.apache.spark.SparkNumberFormatException",
                "java.lang.NumberFormatException",
                "java.lang.IllegalArgumentException",
            ),
            Arithmetic => runtime!("org.apache.spark.SparkArithmeticException", "java.lang.ArithmeticException"),
            UnsupportedOperation => runtime!(
                "org.apache.spark.SparkUnsupportedOperationException",
                "java.lang.UnsupportedOperationException",
            ),
            ArrayIndexOutOfBounds => runtime!(
                "org.apache.spark.SparkArrayIndexOutOfBoundsException",
                "java.lang.ArrayIndexOutOfBoundsException",
                "java.lang.IndexOutOfBoundsException",
            ),
            DateTime => runtime!("org.apache.spark.SparkDateTimeException", "java.time.DateTimeException"),
            Runtime => runtime!("org.apache.spark.SparkRuntimeException"),
            Upgrade => runtime!("org.apache.spark.SparkUpgradeException"),
            NoSuchElement => {
                runtime!("org.apache.spark.SparkNoSuchElementException", "java.util.NoSuchElementException")
            }
            Spark => hierarchy!("org.apache.spark.SparkException", "java.lang.Exception"),
            SparkSql => {
                hierarchy!("org.apache.spark.SparkSQLException", "java.sql.SQLException", "java.lang.Exception")
            }
            SqlFeatureNotSupported => hierarchy!(
                "org.apache.spark.SparkSQLFeatureNotSupportedException",
                "java.sql.SQLFeatureNotSupportedException",
                "java.sql.SQLNonTransientException",
                "java.sql.SQLException",
                "java.lang.Exception",
            ),
            SqlScripting => {
                hierarchy!("org.apache.spark.sql.exceptions.SqlScriptingException", "java.lang.Exception")
            }
            InvalidPlanInput => {
                hierarchy!("org.apache.spark.sql.connect.common.InvalidPlanInput", "java.lang.Exception")
            }
            InvalidCommandInput => {
                hierarchy!("org.apache.spark.sql.connect.common.InvalidCommandInput", "java.lang.Exception")
            }
            NoSuchTable => analysis!("org.apache.spark.sql.catalyst.analysis.NoSuchTableException"),
            NoSuchView => analysis!("org.apache.spark.sql.catalyst.analysis.NoSuchViewException"),
            NoSuchDatabase => {
                analysis!("org.apache.spark.sql.catalyst.analysis.NoSuchDatabaseException")
            }
            NoSuchNamespace => analysis!(
                "org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException",
                "org.apache.spark.sql.catalyst.analysis.NoSuchDatabaseException",
            ),
            NoSuchFunction => {
                analysis!("org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException")
            }
            NoSuchPartition => {
                analysis!("org.apache.spark.sql.catalyst.analysis.NoSuchPartitionsException")
            }
            NoSuchIndex => analysis!("org.apache.spark.sql.catalyst.analysis.NoSuchIndexException"),
            TableAlreadyExists => {
                analysis!("org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException")
            }
            ViewAlreadyExists => {
                analysis!("org.apache.spark.sql.catalyst.analysis.ViewAlreadyExistsException")
            }
            DatabaseAlreadyExists => analysis!(
                "org.apache.spark.sql.catalyst.analysis.DatabaseAlreadyExistsException",
                "org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException",
            ),
            FunctionAlreadyExists => {
                analysis!("org.apache.spark.sql.catalyst.analysis.FunctionAlreadyExistsException")
            }
            TempTableAlreadyExists => {
                analysis!("org.apache.spark.sql.catalyst.analysis.TempTableAlreadyExistsException")
            }
            PartitionsAlreadyExist => {
                analysis!("org.apache.spark.sql.catalyst.analysis.PartitionsAlreadyExistException")
            }
            IndexAlreadyExists => {
                analysis!("org.apache.spark.sql.catalyst.analysis.IndexAlreadyExistsException")
            }
            NonEmptyNamespace => {
                analysis!("org.apache.spark.sql.catalyst.analysis.NonEmptyNamespaceException")
            }
            CatalogNotFound => hierarchy!(
                "org.apache.spark.sql.connector.catalog.CatalogNotFoundException",
                "org.apache.spark.SparkException",
                "java.lang.Exception",
            ),
            InvalidUdfClass => {
                analysis!("org.apache.spark.sql.catalyst.catalog.InvalidUDFClassException")
            }
            Python => runtime!("org.apache.spark.api.python.PythonException"),
            StreamingPythonRunner => runtime!(
                "org.apache.spark.api.python.StreamingPythonRunner$StreamingPythonRunnerInitializationException",
                "org.apache.spark.SparkPythonException",
            ),
            StreamingQuery => {
                hierarchy!("org.apache.spark.sql.streaming.StreamingQueryException", "java.lang.Exception")
            }
            FileNotFound => hierarchy!(
                "org.apache.spark.SparkFileNotFoundException",
                "java.io.FileNotFoundException",
                "java.io.IOException",
                "java.lang.Exception",
            ),
            FileAlreadyExists => hierarchy!(
                "org.apache.spark.SparkFileAlreadyExistsException",
                "org.apache.hadoop.fs.FileAlreadyExistsException",
                "java.io.IOException",
                "java.lang.Exception",
            ),
            ClassNotFound => hierarchy!(
                "org.apache.spark.SparkClassNotFoundException",
                "java.lang.ClassNotFoundException",
                "java.lang.ReflectiveOperationException",
                "java.lang.Exception",
            ),
            ConcurrentModification => runtime!(
                "org.apache.spark.SparkConcurrentModificationException",
                "java.util.ConcurrentModificationException",
            ),
            OutOfMemory => hierarchy!(
                "org.apache.spark.memory.SparkOutOfMemoryError",
                "java.lang.OutOfMemoryError",
                "java.lang.VirtualMachineError",
                "java.lang.Error",
            ),
            Security => runtime!("org.apache.spark.SparkSecurityException", "java.lang.SecurityException"),
            UnsupportedFileSystem => hierarchy!(
                "org.apache.hadoop.fs.UnsupportedFileSystemException",
                "java.io.IOException",
                "java.lang.Exception",
            ),
            AccessDenied => hierarchy!(
                "java.nio.file.AccessDeniedException",
                "java.nio.file.FileSystemException",
                "java.io.IOException",
                "java.lang.Exception",
            ),
            Io => hierarchy!("java.io.IOException", "java.lang.Exception"),
        }
    }

    /// The class of `CAST_INVALID_INPUT` where text is cast to `target`, a type in SQL.
    ///
    /// ```
    /// use firesteel_error::ExceptionClass;
    /// assert_eq!(ExceptionClass::of_cast("TIMESTAMP_NTZ"), ExceptionClass::DateTime);
    /// ```
    pub fn of_cast(target: &str) -> Self {
        match target {
            "DATE" => DateTime,
            // TIME(6), TIMESTAMP, TIMESTAMP_NTZ
            time if time.starts_with("TIME") => DateTime,
            "BOOLEAN" => Runtime,
            _ => NumberFormat,
        }
    }

    /// The name of the class itself, as `ErrorInfo.reason` carries it.
    pub fn java_class(self) -> &'static str {
        self.java_classes().first().copied().unwrap_or("java.lang.Throwable")
    }
}

#[cfg(test)]
#[path = "class_tests.rs"]
mod tests;
