//! Rows as XML elements.

use super::file::TextEncoding;
use crate::options::SourceOptions;
use crate::xml::row_tag;
use arrow::array::{ArrayRef, RecordBatch, StructArray};
use firesteel_config::SqlConf;
use firesteel_error::Result;
use firesteel_functions::scalar::datetime::pattern::Use;
use firesteel_functions::scalar::json::checks;
use firesteel_functions::scalar::json::formats::Formats;
use firesteel_functions::scalar::json::options::Options;
use firesteel_functions::scalar::xml::to_xml::Writer;
use firesteel_types::{DataType, StructType};
use std::sync::Arc;

/// How rows become XML.
pub struct XmlEncoding {
    formats: Formats,
    row: DataType,
    row_tag: String,
    /// The outermost element with its attributes.
    root: String,
    declaration: String,
    /// True where rows have no lines of their own within.
    is_unindented: bool,
}

impl XmlEncoding {
    /// The encoding that options ask for.
    pub fn new(
        options: &SourceOptions,
        given: &[(String, String)],
        conf: &SqlConf,
        schema: &StructType,
    ) -> Result<Self> {
        let mut values = Options::default();
        for (key, value) in given {
            values.set(key, value.clone());
        }
        let row_tag = row_tag(options)?;
        checks::xml(&values)?;
        if values.get("timeZone").is_none() {
            values.set("timeZone", conf.time_zone.clone());
        }
        let is_unindented = values.get("indent") == Some("");
        let text = |name: &str, default: &str| options.get(name).unwrap_or(default).to_string();
        Ok(Self {
            formats: Formats::compile(values, Use::Printing)?,
            row: DataType::Struct(Arc::new(schema.clone())),
            row_tag,
            root: text("rootTag", "ROWS"),
            declaration: text("declaration", "version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\""),
            is_unindented,
        })
    }
}

impl TextEncoding for XmlEncoding {
    fn start(&self, out: &mut String) {
        if !self.declaration.trim().is_empty() {
            out.push_str("<?xml ");
            out.push_str(&self.declaration);
            out.push_str("?>\n");
        }
        out.push('<');
        out.push_str(&self.root.replace('\'', "\""));
        out.push('>');
    }

    fn rows(&self, batch: &RecordBatch, out: &mut String) -> Result<()> {
        let writer = Writer::new(&self.formats)?;
        let rows: ArrayRef = Arc::new(StructArray::from(batch.clone()));
        (0..batch.num_rows()).try_for_each(|row| {
            if self.is_unindented {
                out.push('\n');
            }
            writer.element(out, &self.row_tag, &self.row, &rows, row, 1)
        })
    }

    fn is_empty_without_rows(&self) -> bool {
        true
    }

    fn end(&self, out: &mut String) {
        let name = self.root.split_whitespace().next().unwrap_or_default();
        out.push_str("\n</");
        out.push_str(name);
        out.push('>');
    }
}
