//! Records that stand as texts in a column rather than in files.

use crate::csv::reader::CsvReader;
use crate::csv::{self, CsvOptions};
use crate::json::{self, JsonOptions, JsonReader};
use crate::options::SourceOptions;
use crate::write::validate::check_types;
use crate::xml::{self, XmlOptions, XmlReader};
use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::DataType as ArrowType;
use firesteel_config::SqlConf;
use firesteel_error::{Result, SparkError};
use firesteel_types::StructType;

const BATCH_SIZE: usize = 8192;

/// Parses the texts of the only column of batches; without a schema it is inferred. A text that is NULL is no record,
/// but for XML.
pub fn parse(
    format: &str,
    batches: &[RecordBatch],
    schema: Option<&StructType>,
    given: &[(String, String)],
    conf: &SqlConf,
) -> Result<(StructType, Vec<RecordBatch>)> {
    let options = SourceOptions::new(given);
    options.check_reader(format)?;
    let declared = schema.map(StructType::as_nullable);
    let columns = |schema: &StructType| (0..schema.fields.len()).collect::<Vec<_>>();
    let (schema, rows) = match format {
        "csv" => {
            let texts: Vec<String> = texts(batches)?.into_iter().flatten().collect();
            let options = CsvOptions::new(&options, conf)?;
            let schema = match declared {
                Some(schema) => schema,
                None => csv::infer::infer_texts(&texts, &options)?,
            };
            check_types(format, &schema)?;
            let reader = CsvReader::new(options, schema.clone(), false);
            (schema.clone(), reader.read_texts(texts, &columns(&schema), BATCH_SIZE)?)
        }
        "json" => {
            let texts: Vec<String> = texts(batches)?.into_iter().flatten().collect();
            let options = JsonOptions::new(&options, given, conf)?;
            let schema = match declared {
                Some(schema) => schema,
                None => json::infer_texts(texts.clone(), &options)?,
            };
            check_types(format, &schema)?;
            let reader = JsonReader::new(options, schema.clone(), false);
            (schema.clone(), reader.read_texts(texts, &columns(&schema), BATCH_SIZE)?)
        }
        "xml" => {
            let texts = texts(batches)?;
            let options = XmlOptions::of_texts(&options, given, conf)?;
            let schema = match declared {
                Some(schema) => schema,
                None => xml::infer_texts(&texts, &options)?,
            };
            check_types(format, &schema)?;
            let reader = XmlReader::new(options, schema.clone());
            (schema.clone(), reader.read_texts(texts, &columns(&schema), BATCH_SIZE)?)
        }
        other => return Err(SparkError::unsupported(format!("reading {other} from a frame of strings"))),
    };
    Ok((schema, rows.collect::<Result<Vec<_>>>()?))
}

fn texts(batches: &[RecordBatch]) -> Result<Vec<Option<String>>> {
    let mut all = Vec::with_capacity(batches.iter().map(RecordBatch::num_rows).sum());
    for batch in batches {
        let Some(column) = batch.columns().first() else { continue };
        let column = arrow::compute::cast(column, &ArrowType::Utf8).map_err(crate::error::from_arrow)?;
        let column = column.as_string::<i32>();
        all.extend(column.iter().map(|text| text.map(str::to_string)));
    }
    Ok(all)
}
