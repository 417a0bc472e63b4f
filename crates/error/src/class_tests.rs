//! Class hierarchies as a Spark 4.2.1 server sent them.

use super::ExceptionClass;

#[track_caller]
fn assert_classes(class: ExceptionClass, sent: &str) {
    let names: Vec<&str> = sent.split(',').collect();
    assert_eq!(class.java_classes(), names);
}

#[test]
fn hierarchies_are_the_ones_spark_sends() {
    assert_classes(
        ExceptionClass::ExtendedAnalysis,
        "org.apache.spark.sql.catalyst.ExtendedAnalysisException,org.apache.spark.sql.AnalysisException,\
         java.lang.Exception,java.lang.Throwable,java.lang.Object",
    );
    assert_classes(
        ExceptionClass::Analysis,
        "org.apache.spark.sql.AnalysisException,java.lang.Exception,java.lang.Throwable,java.lang.Object",
    );
    assert_classes(
        ExceptionClass::Parse,
        "org.apache.spark.sql.catalyst.parser.ParseException,org.apache.spark.sql.AnalysisException,\
         java.lang.Exception,java.lang.Throwable,java.lang.Object",
    );
    assert_classes(
        ExceptionClass::Arithmetic,
        "org.apache.spark.SparkArithmeticException,java.lang.ArithmeticException,java.lang.RuntimeException,\
         java.lang.Exception,java.lang.Throwable,java.lang.Object",
    );
    assert_classes(
        ExceptionClass::NumberFormat,
        "org.apache.spark.SparkNumberFormatException,java.lang.NumberFormatException,\
         java.lang.IllegalArgumentException,java.lang.RuntimeException,java.lang.Exception,\
         java.lang.Throwable,java.lang.Object",
    );
    assert_classes(
        ExceptionClass::DateTime,
        "org.apache.spark.SparkDateTimeException,java.time.DateTimeException,java.lang.RuntimeException,\
         java.lang.Exception,java.lang.Throwable,java.lang.Object",
    );
    assert_classes(
        ExceptionClass::ArrayIndexOutOfBounds,
        "org.apache.spark.SparkArrayIndexOutOfBoundsException,java.lang.ArrayIndexOutOfBoundsException,\
         java.lang.IndexOutOfBoundsException,java.lang.RuntimeException,java.lang.Exception,\
         java.lang.Throwable,java.lang.Object",
    );
    assert_classes(
        ExceptionClass::NoSuchNamespace,
        "org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException,\
         org.apache.spark.sql.catalyst.analysis.NoSuchDatabaseException,\
         org.apache.spark.sql.AnalysisException,java.lang.Exception,java.lang.Throwable,java.lang.Object",
    );
    assert_classes(
        ExceptionClass::DatabaseAlreadyExists,
        "org.apache.spark.sql.catalyst.analysis.DatabaseAlreadyExistsException,\
         org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException,\
         org.apache.spark.sql.AnalysisException,java.lang.Exception,java.lang.Throwable,java.lang.Object",
    );
    assert_classes(
        ExceptionClass::TableAlreadyExists,
        "org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException,\
         org.apache.spark.sql.AnalysisException,java.lang.Exception,java.lang.Throwable,java.lang.Object",
    );
    assert_classes(
        ExceptionClass::Runtime,
        "org.apache.spark.SparkRuntimeException,java.lang.RuntimeException,java.lang.Exception,\
         java.lang.Throwable,java.lang.Object",
    );
}
