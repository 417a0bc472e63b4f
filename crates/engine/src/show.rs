//! `df.show()`: rows as a text table.

use crate::execution::{Execution, ExecutionStatus, ObservedMetrics, OperatorMetrics, Progress, RunContext};
use crate::session::Session;
use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType as ArrowType, Field, Schema};
use firesteel_error::{Result, SparkError};
use firesteel_plan::{Expr, Relation, RelationKind};
use firesteel_types::value_text::{TextStyle, ValueFormatter};
use firesteel_types::{DataType, Literal, StructField, StructType};
use futures::StreamExt;
use std::sync::Arc;
use unicode_width::UnicodeWidthChar;

/// Runs a ShowString or HtmlString relation: one row, one column of text.
pub(crate) async fn execute(session: &Arc<Session>, relation: Relation, run: RunContext) -> Result<Execution> {
    let (input, num_rows, truncate, vertical, html) = match relation.into_kind() {
        RelationKind::ShowString { input, num_rows, truncate, vertical } => {
            (input, num_rows, truncate, vertical, false)
        }
        RelationKind::HtmlString { input, num_rows, truncate } => (input, num_rows, truncate, false, true),
        _ => return Err(SparkError::internal("not a show relation")),
    };
    let num_rows = num_rows.clamp(0, i32::MAX - 15);
    let limited = Relation::new(RelationKind::Limit { input, limit: Expr::literal(Literal::Integer(num_rows + 1)) });
    let inner = crate::execution::execute_any(session, limited, run);
    let mut inner = Box::pin(inner).await?;
    let mut batches = Vec::new();
    while let Some(batch) = inner.batches.next().await {
        batches.push(batch?);
    }
    let limit = usize::try_from(num_rows).unwrap_or(0);
    let conf = session.conf();
    let table = Table::new(&inner.schema, &batches, limit, truncate, &conf.time_zone)?;
    let (name, text) = if html {
        ("html_string", table.html())
    } else if vertical {
        ("show_string", table.vertical())
    } else {
        ("show_string", table.plain(truncate))
    };
    let arrow_schema = Arc::new(Schema::new(vec![Field::new(name, ArrowType::Utf8, false)]));
    let column: ArrayRef = Arc::new(StringArray::from(vec![text]));
    let batch =
        RecordBatch::try_new(arrow_schema.clone(), vec![column]).map_err(|e| SparkError::internal(e.to_string()))?;
    Ok(Execution {
        schema: StructType::new(vec![StructField::new(name, DataType::STRING, false)]),
        arrow_schema,
        batches: futures::stream::iter(vec![Ok(batch)]).boxed(),
        status: Arc::new(Shown { inner: inner.status }),
    })
}

struct Shown {
    inner: Arc<dyn ExecutionStatus>,
}

impl ExecutionStatus for Shown {
    fn progress(&self) -> Progress {
        self.inner.progress()
    }

    fn metrics(&self) -> Vec<OperatorMetrics> {
        self.inner.metrics()
    }

    fn observed(&self) -> Vec<ObservedMetrics> {
        self.inner.observed()
    }
}

/// Cells of a table as text.
pub struct Table {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    has_more: bool,
    limit: usize,
}

impl Table {
    /// Formats at most `limit` rows; longer cells are cut to `truncate` characters where it is positive.
    pub fn new(
        schema: &StructType,
        batches: &[RecordBatch],
        limit: usize,
        truncate: i32,
        time_zone: &str,
    ) -> Result<Self> {
        let cut = usize::try_from(truncate).unwrap_or(0);
        let header = schema.fields.iter().map(|f| escape(&f.name)).collect();
        let mut formatters = Vec::new();
        for field in &schema.fields {
            formatters.push(ValueFormatter::new(&field.data_type, time_zone, TextStyle::Show)?);
        }
        let mut rows = Vec::new();
        let mut has_more = false;
        'all: for batch in batches {
            for row in 0..batch.num_rows() {
                if rows.len() == limit {
                    has_more = true;
                    break 'all;
                }
                let mut cells = Vec::with_capacity(formatters.len());
                for (formatter, column) in formatters.iter().zip(batch.columns()) {
                    let mut text = String::new();
                    formatter.write(&mut text, column.as_ref(), row)?;
                    cells.push(shorten(escape(&text), cut));
                }
                rows.push(cells);
            }
        }
        Ok(Self { header, rows, has_more, limit })
    }

    /// The table with borders.
    pub fn plain(&self, truncate: i32) -> String {
        const MINIMUM: usize = 3;
        let mut widths: Vec<usize> = self.header.iter().map(|h| width(h).max(MINIMUM)).collect();
        for row in &self.rows {
            for (w, cell) in widths.iter_mut().zip(row) {
                *w = (*w).max(width(cell));
            }
        }
        let line: String = {
            let dashes: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
            format!("+{}+\n", dashes.join("+"))
        };
        // Cut tables are right-aligned, others left-aligned.
        let is_right = truncate > 0;
        let write = |out: &mut String, cells: &[String]| {
            out.push('|');
            for (i, (w, cell)) in widths.iter().zip(cells).enumerate() {
                if i > 0 {
                    out.push('|');
                }
                let padding = " ".repeat(w - width(cell));
                if is_right {
                    out.push_str(&padding);
                    out.push_str(cell);
                } else {
                    out.push_str(cell);
                    out.push_str(&padding);
                }
            }
            out.push_str("|\n");
        };
        let mut out = line.clone();
        write(&mut out, &self.header);
        out.push_str(&line);
        for row in &self.rows {
            write(&mut out, row);
        }
        out.push_str(&line);
        self.footer(&mut out);
        out
    }

    fn footer(&self, out: &mut String) {
        if self.has_more {
            let rows = if self.limit == 1 { "row" } else { "rows" };
            out.push_str(&format!("only showing top {} {rows}", self.limit));
        }
    }

    /// A line per cell.
    pub fn vertical(&self) -> String {
        const MINIMUM: usize = 3;
        if self.rows.is_empty() {
            return "(0 rows)".to_string();
        }
        let names = self.header.iter().map(|h| width(h)).max().unwrap_or(0).max(MINIMUM);
        let values = self.rows.iter().flatten().map(|c| width(c)).max().unwrap_or(0).max(MINIMUM);
        let mut out = String::new();
        for (i, row) in self.rows.iter().enumerate() {
            let mark = format!("-RECORD {i}");
            out.push_str(&mark);
            out.push_str(&"-".repeat((names + values + 5).saturating_sub(mark.len())));
            out.push('\n');
            for (name, value) in self.header.iter().zip(row) {
                out.push(' ');
                out.push_str(name);
                out.push_str(&" ".repeat(names - width(name)));
                out.push_str(" | ");
                out.push_str(value);
                out.push_str(&" ".repeat(values - width(value)));
                out.push_str(" \n");
            }
        }
        self.footer(&mut out);
        out
    }

    /// The table for notebooks.
    pub fn html(&self) -> String {
        let mut out = String::from("<table border='1'>\n<tr>");
        let cells = |out: &mut String, tag: &str, row: &[String]| {
            for (i, cell) in row.iter().enumerate() {
                if i > 0 {
                    out.push_str(&format!("</{tag}><{tag}>"));
                } else {
                    out.push_str(&format!("<{tag}>"));
                }
                out.push_str(&escape_html(cell));
            }
            out.push_str(&format!("</{tag}></tr>\n"));
        };
        cells(&mut out, "th", &self.header);
        for row in &self.rows {
            out.push_str("<tr>");
            cells(&mut out, "td", row);
        }
        out.push_str("</table>\n");
        self.footer(&mut out);
        if self.has_more {
            out.push('\n');
        }
        out
    }
}

fn escape_html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Control characters as escapes, so that a cell stays on its line.
fn escape(text: &str) -> String {
    if !text.contains(['\n', '\r', '\t', '\u{c}', '\u{8}', '\u{b}', '\u{7}']) {
        return text.to_string();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{c}' => out.push_str("\\f"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{7}' => out.push_str("\\a"),
            c => out.push(c),
        }
    }
    out
}

fn shorten(text: String, cut: usize) -> String {
    if cut == 0 || text.chars().count() <= cut {
        return text;
    }
    if cut < 4 {
        return text.chars().take(cut).collect();
    }
    let mut short: String = text.chars().take(cut - 3).collect();
    short.push_str("...");
    short
}

/// Columns on a terminal: East Asian wide characters take two.
fn width(text: &str) -> usize {
    text.chars().map(|c| if c.width() == Some(2) { 2 } else { 1 }).sum()
}
