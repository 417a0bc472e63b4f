//! Characters taken off the ends.

use super::collation_search::{Search, Wanted};
use super::declare::{function, param, same_type};
use super::rows::{Rows, Texts, texts};
use crate::{ArgType, KernelArgs, Signature};
use datafusion::logical_expr::ColumnarValue;
use firesteel_error::Result;
use std::fmt::Write;

const TRIM_ARGUMENTS: Signature =
    Signature::with_optional(&[param("trimStr", ArgType::String), param("str", ArgType::String)], 1);

function! {
    /// `trim([trimStr,] str)`: with two arguments, what `TRIM(BOTH trimStr FROM str)` means
    TRIM = "trim" in String, TRIM_ARGUMENTS => same_type(|args| trim(args, Order::CharactersFirst, Ends::Both));
    text |a| if a.len() == 1 { format!("trim({})", a[0]) } else { format!("TRIM(BOTH {} FROM {})", a[0], a[1]) };
    usage "The text without blanks, or without characters of `trimStr`, at both ends.";
    since "1.5.0";
    example "SELECT trim('    SparkSQL   ')" => "SparkSQL";
    example "SELECT trim(BOTH 'SL' FROM 'SSparkSQLS')" => "parkSQ";
}
function! {
    /// `ltrim([trimStr,] str)`
    LTRIM = "ltrim" in String, TRIM_ARGUMENTS => same_type(|args| trim(args, Order::CharactersFirst, Ends::Start));
    text |a| if a.len() == 1 { format!("ltrim({})", a[0]) } else { format!("TRIM(LEADING {} FROM {})", a[0], a[1]) };
    usage "The text without blanks, or without characters of `trimStr`, at its start.";
    since "1.5.0";
    example "SELECT ltrim('    SparkSQL   ')" => "SparkSQL   ";
}
function! {
    /// `rtrim([trimStr,] str)`
    RTRIM = "rtrim" in String, TRIM_ARGUMENTS => same_type(|args| trim(args, Order::CharactersFirst, Ends::End));
    text |a| if a.len() == 1 { format!("rtrim({})", a[0]) } else { format!("TRIM(TRAILING {} FROM {})", a[0], a[1]) };
    usage "The text without blanks, or without characters of `trimStr`, at its end.";
    since "1.5.0";
    example "SELECT rtrim('    SparkSQL   ')" => "    SparkSQL";
}
function! {
    /// `btrim(str[, trimStr])`
    BTRIM = "btrim" in String,
        Signature::with_optional(&[param("str", ArgType::String), param("trimStr", ArgType::String)], 1)
        => same_type(|args| trim(args, Order::TextFirst, Ends::Both));
    usage "The text without blanks, or without characters of `trimStr`, at both ends.";
    since "3.2.0";
    example "SELECT btrim('    SparkSQL   ')" => "SparkSQL";
    example "SELECT btrim('SSparkSQLS', 'SL')" => "parkSQ";
}

#[derive(Clone, Copy, PartialEq)]
enum Ends {
    Both,
    Start,
    End,
}

#[derive(Clone, Copy, PartialEq)]
enum Order {
    CharactersFirst,
    TextFirst,
}

fn trim(args: &KernelArgs<'_>, order: Order, ends: Ends) -> Result<ColumnarValue> {
    if args.values.len() == 1 {
        let values: Texts = Rows::of(args, 0)?;
        return texts(args, |row, out| {
            Ok(values.get(row).and_then(|text| {
                let trimmed = match ends {
                    Ends::Both => text.trim_matches(' '),
                    Ends::Start => text.trim_start_matches(' '),
                    Ends::End => text.trim_end_matches(' '),
                };
                out.write_str(trimmed).ok()
            }))
        });
    }
    let search = Search::of(args)?;
    let (text_at, characters_at) = if order == Order::TextFirst { (0, 1) } else { (1, 0) };
    let (values, characters): (Texts, Texts) = (Rows::of(args, text_at)?, Rows::of(args, characters_at)?);
    texts(args, |row, out| {
        let (Some(text), Some(characters)) = (values.get(row), characters.get(row)) else { return Ok(None) };
        // Blanks that do not count stay where they are.
        let counted = if characters.contains(' ') || ends == Ends::Start { text } else { search.counted(text) };
        let trimmed = if search.is_bytes() {
            let listed = |c: char| characters.contains(c);
            match ends {
                Ends::Both => counted.trim_matches(listed),
                Ends::Start => counted.trim_start_matches(listed),
                Ends::End => counted.trim_end_matches(listed),
            }
        } else {
            trim_by_rule(counted, characters, &search, ends)
        };
        let _ = out.write_str(trimmed);
        Ok(out.write_str(&text[counted.len()..]).ok())
    })
}

/// The text without matches of the characters at its ends.
fn trim_by_rule<'a>(text: &'a str, characters: &str, search: &Search, ends: Ends) -> &'a str {
    let characters: Vec<&str> = characters.char_indices().map(|(at, c)| &characters[at..at + c.len_utf8()]).collect();
    let wanted: Vec<Wanted<'_>> = characters.iter().map(|character| search.wanted(character)).collect();
    let mut rest = text;
    if ends != Ends::End {
        while let Some(end) = wanted.iter().find_map(|wanted| wanted.end_at(rest, 0)).filter(|end| *end > 0) {
            rest = &rest[end..];
        }
    }
    if ends != Ends::Start {
        let last =
            |rest: &str| wanted.iter().filter_map(|wanted| wanted.start_of_end(rest)).find(|start| *start < rest.len());
        while let Some(start) = last(rest) {
            rest = &rest[..start];
        }
    }
    rest
}
