//! Keys that change answers in Spark and are not done here.

use firesteel_error::{Result, SparkError};

const ON: &[&str] = &["true"];
const OFF: &[&str] = &["false"];
const CORRECTED: &[&str] = &["CORRECTED"];

/// Such keys, each with the values that say what is done anyway, sorted. Other values fail
/// by name, rather than mean nothing.
#[rustfmt::skip]
static UNDONE: &[(&str, &[&str])] = &[
    ("spark.sql.analyzer.preferColumnOverLcaInArrayIndex", ON),
    ("spark.sql.avro.datetimeRebaseModeInRead", CORRECTED),
    ("spark.sql.avro.datetimeRebaseModeInWrite", CORRECTED),
    ("spark.sql.chunkBase64String.enabled", ON),
    ("spark.sql.csv.parser.columnPruning.enabled", ON),
    ("spark.sql.defaultColumn.useNullsForMissingDefaultValues", ON),
    ("spark.sql.fileSource.insert.enforceNotNull", OFF),
    ("spark.sql.files.ignoreInvalidPartitionPaths", OFF),
    ("spark.sql.function.protobufExtensions.enabled", OFF),
    ("spark.sql.functionResolution.sessionOrder", &["second"]),
    ("spark.sql.geospatial.enabled", ON),
    ("spark.sql.icu.caseMappings.enabled", ON),
    ("spark.sql.insertNestedTypeCoercion.enabled", OFF),
    ("spark.sql.json.enableExactStringParsing", ON),
    ("spark.sql.json.enablePartialResults", ON),
    ("spark.sql.jsonGenerator.writeNullIfWithDefaultValue", ON),
    ("spark.sql.legacy.allowUdfParameterToShadowParameterlessFunction", OFF),
    ("spark.sql.legacy.csv.enableDateTimeParsingFallback", OFF),
    ("spark.sql.legacy.cteDuplicateAttributeNames", OFF),
    ("spark.sql.legacy.dataFrameWriterV2IgnorePathOption", OFF),
    ("spark.sql.legacy.decimal.retainFractionDigitsOnTruncate", OFF),
    ("spark.sql.legacy.disableMapKeyNormalization", OFF),
    ("spark.sql.legacy.extraOptionsBehavior.enabled", OFF),
    ("spark.sql.legacy.groupingIdWithAppendedUserGroupBy", OFF),
    ("spark.sql.legacy.histogramNumericPropagateInputType", ON),
    ("spark.sql.legacy.json.allowEmptyString.enabled", OFF),
    ("spark.sql.legacy.json.enableDateTimeParsingFallback", OFF),
    ("spark.sql.legacy.keepPartitionSpecAsStringLiteral", OFF),
    ("spark.sql.legacy.noCharPaddingInPredicate", OFF),
    ("spark.sql.legacy.nullValueWrittenAsQuotedEmptyStringCsv", OFF),
    ("spark.sql.legacy.parquet.datetimeRebaseModeInRead", CORRECTED),
    ("spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing", OFF),
    ("spark.sql.legacy.parseNullPartitionSpecAsStringLiteral", OFF),
    ("spark.sql.legacy.persistentCatalogFirst", OFF),
    ("spark.sql.legacy.readFileSourceTableCacheIgnoreOptions", OFF),
    ("spark.sql.legacy.respectNullabilityInTextDatasetConversion", OFF),
    ("spark.sql.legacy.scalarSubqueryCountBugBehavior", OFF),
    ("spark.sql.legacy.skipTypeValidationOnAlterPartition", OFF),
    ("spark.sql.legacy.storeAnalyzedPlanForView", OFF),
    ("spark.sql.legacy.useCurrentConfigsForView", OFF),
    ("spark.sql.legacy.useLegacyXMLParser", OFF),
    ("spark.sql.listagg.allowDistinctCastWithOrder.enabled", ON),
    ("spark.sql.optimizer.decorrelateExistsSubqueryLegacyIncorrectCountHandling.enabled", OFF),
    ("spark.sql.parquet.datetimeRebaseModeInRead", CORRECTED),
    ("spark.sql.parquet.datetimeRebaseModeInWrite", CORRECTED),
    ("spark.sql.parquet.fieldId.read.enabled", OFF),
    ("spark.sql.parquet.ignoreVariantAnnotation", OFF),
    ("spark.sql.parquet.int96RebaseModeInRead", CORRECTED),
    ("spark.sql.parquet.int96RebaseModeInWrite", CORRECTED),
    ("spark.sql.parquet.int96TimestampConversion", OFF),
    ("spark.sql.parquet.reader.respectUnknownTypeAnnotation.enabled", OFF),
    ("spark.sql.parquet.writeLegacyFormat", OFF),
    ("spark.sql.sources.bucketing.maxBuckets", &["100000"]),
    ("spark.sql.stableDerivedColumnAlias.enabled", OFF),
    ("spark.sql.variant.allowReadingShredded", ON),
    ("spark.sql.variant.validateUnicodeInJsonParsing", ON),
    ("spark.sql.xml.variant.respectInferSchema", ON),
];

/// Fails for a value that would be ignored.
pub(crate) fn check(key: &str, text: &str) -> Result<()> {
    let Ok(index) = UNDONE.binary_search_by_key(&key, |(known, _)| *known) else { return Ok(()) };
    let is_done = UNDONE.get(index).is_some_and(|(_, done)| done.iter().any(|d| d.eq_ignore_ascii_case(text.trim())));
    if is_done {
        return Ok(());
    }
    Err(SparkError::unsupported(format!("the setting {key} with the value {text}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Default;
    use crate::table::lookup;

    #[test]
    fn undone_keys_are_sorted_and_take_their_defaults() {
        for pair in UNDONE.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} before {}", pair[0].0, pair[1].0);
        }
        for (key, _) in UNDONE {
            if let Some(Default::Is(text)) = lookup(key).map(|entry| entry.default) {
                assert!(check(key, text).is_ok(), "{key}");
            }
            let is_older = crate::table::ALTERNATIVES.iter().any(|(old, _)| old == key);
            assert!(lookup(key).is_some() || is_older, "{key}");
        }
    }

    #[test]
    fn other_values_fail_by_name() {
        assert!(check("spark.sql.chunkBase64String.enabled", "TRUE").is_ok());
        assert!(check("spark.sql.chunkBase64String.enabled", "false").is_err());
        assert!(check("spark.sql.ansi.enabled", "false").is_ok());
    }
}
