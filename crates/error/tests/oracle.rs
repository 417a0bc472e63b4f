//! What a Spark 4.2.1 server sends for the errors that are met most often.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use firesteel_error::{SparkError, conditions};

/// Condition, SQLSTATE, Java class, names of the message parameters.
#[rustfmt::skip]
const SENT: &[(&str, &str, &str, &[&str])] = &[
    ("AMBIGUOUS_REFERENCE", "42704", "org.apache.spark.sql.AnalysisException", &["name", "referenceNames"]),
    ("ARITHMETIC_OVERFLOW", "22003", "org.apache.spark.SparkArithmeticException", &["alternative", "config", "message"]),
    ("CANNOT_DECODE_URL", "22546", "org.apache.spark.SparkIllegalArgumentException", &["url"]),
    ("CANNOT_MODIFY_STATIC_CONFIG", "46110", "org.apache.spark.sql.AnalysisException", &["key"]),
    ("CANNOT_PARSE_TIMESTAMP", "22007", "org.apache.spark.SparkDateTimeException", &["func", "message"]),
    ("CAST_INVALID_INPUT", "22018", "org.apache.spark.SparkNumberFormatException", &["ansiConfig", "expression", "sourceType", "targetType"]),
    ("CAST_OVERFLOW", "22003", "org.apache.spark.SparkArithmeticException", &["ansiConfig", "sourceType", "targetType", "value"]),
    ("COLLATION_INVALID_NAME", "42704", "org.apache.spark.SparkException", &["collationName", "proposals"]),
    ("COLLATION_MISMATCH.EXPLICIT", "42P21", "org.apache.spark.sql.AnalysisException", &["explicitTypes"]),
    ("COLUMN_ALREADY_EXISTS", "42711", "org.apache.spark.sql.AnalysisException", &["columnName"]),
    ("DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES", "42K09", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["left", "right", "sqlExpr"]),
    ("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION", "42K09", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["sqlExpr", "srcType", "targetType"]),
    ("DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION", "42K09", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["functionNames", "sqlExpr", "srcType", "targetType"]),
    ("DATATYPE_MISMATCH.DATA_DIFF_TYPES", "42K09", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["dataType", "functionName", "sqlExpr"]),
    ("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", "42K09", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["filter", "sqlExpr", "type"]),
    ("DATATYPE_MISMATCH.INVALID_MAP_KEY_TYPE", "42K09", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["keyType", "sqlExpr"]),
    ("DATATYPE_MISMATCH.IN_SUBQUERY_LENGTH_MISMATCH", "42K09", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["leftColumns", "leftLength", "rightColumns", "rightLength", "sqlExpr"]),
    ("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE", "42K09", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["inputSql", "inputType", "paramIndex", "requiredType", "sqlExpr"]),
    ("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE", "42K09", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["currentValue", "exprName", "sqlExpr", "valueRange"]),
    ("DATA_SOURCE_NOT_FOUND", "42K02", "org.apache.spark.SparkClassNotFoundException", &["provider"]),
    ("DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION", "22023", "org.apache.spark.SparkDateTimeException", &["ansiConfig", "rangeMessage"]),
    ("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "22003", "org.apache.spark.SparkArithmeticException", &["maxPrecision", "precision"]),
    ("DISTINCT_WINDOW_FUNCTION_UNSUPPORTED", "0A000", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["windowExpr"]),
    ("DIVIDE_BY_ZERO", "22012", "org.apache.spark.SparkArithmeticException", &["config"]),
    ("DUPLICATED_CTE_NAMES", "42602", "org.apache.spark.sql.catalyst.parser.ParseException", &["duplicateNames"]),
    ("DUPLICATED_MAP_KEY", "23505", "org.apache.spark.SparkRuntimeException", &["key", "mapKeyDedupPolicy"]),
    ("FAILED_FUNCTION_CALL", "38000", "org.apache.spark.sql.AnalysisException", &["funcName"]),
    ("FIELD_NOT_FOUND", "42704", "org.apache.spark.sql.AnalysisException", &["fieldName", "fields"]),
    ("GROUP_BY_POS_OUT_OF_RANGE", "42805", "org.apache.spark.sql.AnalysisException", &["index", "size"]),
    ("HLL_INVALID_INPUT_SKETCH_BUFFER", "22546", "org.apache.spark.SparkRuntimeException", &["function"]),
    ("ILLEGAL_DAY_OF_WEEK", "22009", "org.apache.spark.SparkIllegalArgumentException", &["string"]),
    ("INCOMPATIBLE_COLUMN_TYPE", "42825", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["columnOrdinalNumber", "dataType1", "dataType2", "hint", "operator", "tableOrdinalNumber"]),
    ("INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST", "KD000", "org.apache.spark.sql.AnalysisException", &["colName", "srcType", "tableName", "targetType"]),
    ("INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS", "21S01", "org.apache.spark.sql.AnalysisException", &["dataColumns", "tableColumns", "tableName"]),
    ("INTERNAL_ERROR", "XX000", "org.apache.spark.SparkException", &["message"]),
    ("INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "22015", "org.apache.spark.SparkArithmeticException", &[]),
    ("INTERVAL_DIVIDED_BY_ZERO", "22012", "org.apache.spark.SparkArithmeticException", &[]),
    ("INVALID_ARRAY_INDEX", "22003", "org.apache.spark.SparkArrayIndexOutOfBoundsException", &["arraySize", "indexValue"]),
    ("INVALID_ARRAY_INDEX_IN_ELEMENT_AT", "22003", "org.apache.spark.SparkArrayIndexOutOfBoundsException", &["arraySize", "indexValue"]),
    ("INVALID_CONF_VALUE.TYPE_MISMATCH", "22022", "org.apache.spark.SparkIllegalArgumentException", &["confName", "confType", "confValue"]),
    ("INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER", "22007", "org.apache.spark.SparkIllegalArgumentException", &["c", "pattern"]),
    ("INVALID_DATETIME_PATTERN.WITH_SUGGESTION", "22007", "org.apache.spark.SparkRuntimeException", &["docroot", "pattern"]),
    ("INVALID_EXTRACT_BASE_FIELD_TYPE", "42000", "org.apache.spark.sql.AnalysisException", &["base", "other"]),
    ("INVALID_EXTRACT_FIELD", "42601", "org.apache.spark.sql.AnalysisException", &["expr", "field"]),
    ("INVALID_FORMAT.EMPTY", "42601", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["format"]),
    ("INVALID_FORMAT.MISMATCH_INPUT", "42601", "org.apache.spark.SparkIllegalArgumentException", &["format", "input", "inputType"]),
    ("INVALID_FORMAT.WRONG_NUM_DIGIT", "42601", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["format"]),
    ("INVALID_INDEX_OF_ZERO", "22003", "org.apache.spark.SparkRuntimeException", &[]),
    ("INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH", "42000", "org.apache.spark.sql.catalyst.parser.ParseException", &["actualNumCols", "expectedNumCols", "rowIndex"]),
    ("INVALID_LAMBDA_FUNCTION_CALL.NUM_ARGS_MISMATCH", "42K0D", "org.apache.spark.sql.AnalysisException", &["actualNumArgs", "expectedNumArgs"]),
    ("INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE", "42K0E", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["dataType", "expr", "name"]),
    ("INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE", "42K0E", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["expr", "name", "v"]),
    ("INVALID_NUMERIC_LITERAL_RANGE", "22003", "org.apache.spark.sql.catalyst.parser.ParseException", &["maxValue", "minValue", "rawStrippedQualifier", "typeName"]),
    ("INVALID_PARAMETER_VALUE.AES_KEY_LENGTH", "22023", "org.apache.spark.SparkRuntimeException", &["actualLength", "functionName", "parameter"]),
    ("INVALID_PARAMETER_VALUE.CHARSET", "22023", "org.apache.spark.SparkIllegalArgumentException", &["charset", "charsets", "functionName", "parameter"]),
    ("INVALID_PARAMETER_VALUE.LENGTH", "22023", "org.apache.spark.SparkRuntimeException", &["functionName", "length", "parameter"]),
    ("INVALID_PARAMETER_VALUE.PATTERN", "22023", "org.apache.spark.SparkRuntimeException", &["functionName", "parameter", "value"]),
    ("INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX", "22023", "org.apache.spark.SparkRuntimeException", &["functionName", "groupCount", "groupIndex", "parameter"]),
    ("INVALID_PARAMETER_VALUE.ZERO_INDEX", "22023", "org.apache.spark.sql.AnalysisException", &["functionName", "parameter"]),
    ("INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY", "42601", "org.apache.spark.sql.AnalysisException", &["name"]),
    ("INVALID_TYPED_LITERAL", "42604", "org.apache.spark.sql.catalyst.parser.ParseException", &["value", "valueType"]),
    ("INVALID_URL", "22P02", "org.apache.spark.SparkIllegalArgumentException", &["url"]),
    ("INVALID_USAGE_OF_STAR_OR_REGEX", "42000", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["elem", "prettyName"]),
    ("INVALID_VARIANT_CAST", "22023", "org.apache.spark.SparkRuntimeException", &["dataType", "value"]),
    ("INVALID_VARIANT_GET_PATH", "22023", "org.apache.spark.SparkRuntimeException", &["functionName", "path"]),
    ("INVALID_WHERE_CONDITION", "42903", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["condition", "expressionList"]),
    ("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", "22023", "org.apache.spark.SparkException", &["badRecord", "failFastMode"]),
    ("MISSING_AGGREGATION", "42803", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["expression", "expressionAnyValue"]),
    ("MISSING_GROUP_BY", "42803", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &[]),
    ("MISSING_WINDOW_SPECIFICATION", "42P20", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["docroot", "windowName"]),
    ("NESTED_AGGREGATE_FUNCTION", "42607", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &[]),
    ("NULL_MAP_KEY", "2200E", "org.apache.spark.SparkRuntimeException", &[]),
    ("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "22003", "org.apache.spark.SparkArithmeticException", &["config", "precision", "scale", "value"]),
    ("NUM_COLUMNS_MISMATCH", "42826", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["firstNumColumns", "invalidNumColumns", "invalidOrdinalNum", "operator"]),
    ("ORDER_BY_POS_OUT_OF_RANGE", "42805", "org.apache.spark.sql.AnalysisException", &["index", "size"]),
    ("PARSE_SYNTAX_ERROR", "42601", "org.apache.spark.sql.catalyst.parser.ParseException", &["error", "hint"]),
    ("PATH_NOT_FOUND", "42K03", "org.apache.spark.sql.AnalysisException", &["path"]),
    ("RECURSION_LEVEL_LIMIT_EXCEEDED", "42836", "org.apache.spark.SparkException", &["levelLimit"]),
    ("REMAINDER_BY_ZERO", "22012", "org.apache.spark.SparkArithmeticException", &["config"]),
    ("SCALAR_SUBQUERY_TOO_MANY_ROWS", "21000", "org.apache.spark.SparkException", &[]),
    ("SCHEMA_ALREADY_EXISTS", "42P06", "org.apache.spark.sql.catalyst.analysis.DatabaseAlreadyExistsException", &["schemaName"]),
    ("SCHEMA_NOT_FOUND", "42704", "org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException", &["schemaName"]),
    ("TABLE_OR_VIEW_ALREADY_EXISTS", "42P07", "org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException", &["relationName"]),
    ("TABLE_OR_VIEW_NOT_FOUND", "42P01", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["relationName", "searchPath"]),
    ("UNBOUND_SQL_PARAMETER", "42P02", "org.apache.spark.sql.AnalysisException", &["name"]),
    ("UNCLOSED_BRACKETED_COMMENT", "42601", "org.apache.spark.sql.catalyst.parser.ParseException", &[]),
    ("UNRESOLVABLE_TABLE_VALUED_FUNCTION", "42883", "org.apache.spark.sql.AnalysisException", &["name"]),
    ("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION", "42703", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["objectName"]),
    ("UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["objectName", "proposal"]),
    ("UNRESOLVED_ROUTINE", "42883", "org.apache.spark.sql.AnalysisException", &["routineName", "searchPath"]),
    ("UNRESOLVED_USING_COLUMN_FOR_JOIN", "42703", "org.apache.spark.sql.AnalysisException", &["colName", "side", "suggestion"]),
    ("UNRESOLVED_VARIABLE", "42883", "org.apache.spark.sql.AnalysisException", &["searchPath", "variableName"]),
    ("UNSUPPORTED_DATATYPE", "0A000", "org.apache.spark.sql.catalyst.parser.ParseException", &["typeName"]),
    ("UNSUPPORTED_FEATURE.TABLE_OPERATION", "0A000", "org.apache.spark.SparkUnsupportedOperationException", &["operation", "tableName"]),
    ("UNSUPPORTED_FEATURE.TIME_TRAVEL", "0A000", "org.apache.spark.sql.AnalysisException", &["relationId"]),
    ("UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS", "42K0E", "org.apache.spark.sql.AnalysisException", &["expression"]),
    ("UNSUPPORTED_GROUPING_EXPRESSION", "42K0E", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &[]),
    ("USER_RAISED_EXCEPTION", "P0001", "org.apache.spark.SparkRuntimeException", &["errorMessage"]),
    ("WINDOW_FUNCTION_FRAME_NOT_ORDERED", "42601", "org.apache.spark.sql.AnalysisException", &["wf_expr", "wf_name"]),
    ("WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE", "42601", "org.apache.spark.sql.catalyst.ExtendedAnalysisException", &["funcName"]),
    ("WRONG_NUM_ARGS.WITHOUT_SUGGESTION", "42605", "org.apache.spark.sql.AnalysisException", &["actualNum", "docroot", "expectedNum", "functionName"]),
    ("_LEGACY_ERROR_TEMP_0026", "", "org.apache.spark.sql.catalyst.parser.ParseException", &["value"]),
    ("_LEGACY_ERROR_TEMP_0064", "", "org.apache.spark.sql.catalyst.parser.ParseException", &["msg"]),
    ("_LEGACY_ERROR_TEMP_1036", "", "org.apache.spark.sql.AnalysisException", &["required", "wf"]),
    ("_LEGACY_ERROR_TEMP_1251", "", "org.apache.spark.sql.AnalysisException", &["action", "tableName"]),
];

#[test]
fn conditions_are_the_ones_spark_sends() {
    for (condition, state, class, _) in SENT {
        let error = SparkError::from_condition_name(condition).unwrap();
        assert_eq!(error.sql_state().unwrap_or_default(), *state, "{condition}");
        assert_eq!(error.java_classes()[0], *class, "{condition}");
    }
}

#[test]
fn parameters_are_the_ones_spark_sends() {
    for (condition, _, _, sent) in SENT {
        let declared: BTreeSet<_> = conditions::lookup(condition).unwrap().parameters.iter().collect();
        assert_eq!(declared, sent.iter().collect(), "{condition}");
    }
}

#[test]
fn common_errors_have_texts_of_their_own() {
    for (condition, ..) in SENT {
        let declared = conditions::lookup(condition).unwrap();
        assert!(!declared.is_named() || !declared.text.is_empty(), "{condition}");
    }
}
