//! The elements of XML text that are rows.

/// A row of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Row<'a> {
    Element(&'a str),
    /// What comes is no XML, or the text ends within a row.
    Malformed,
}

/// The outermost elements of a name, in order.
pub(crate) fn rows<'a>(text: &'a str, tag: &'a str) -> Rows<'a> {
    Rows { text, tag, at: 0, open: 0, is_done: false }
}

/// Finds rows.
pub(crate) struct Rows<'a> {
    text: &'a str,
    tag: &'a str,
    at: usize,
    /// How many elements are open.
    open: usize,
    /// True behind the outermost element.
    is_done: bool,
}

/// A piece of a text in angle brackets.
enum Mark {
    Start {
        is_row: bool,
        is_closed: bool,
    },
    End {
        is_row: bool,
    },
    /// A comment, a declaration, text in a CDATA section.
    Other,
}

impl Rows<'_> {
    /// The next mark, where it begins, and where it ends; None at the end. A mark without an end is none.
    fn mark(&self, from: usize) -> Option<(Mark, usize, usize)> {
        let start = from + memchr::memchr(b'<', self.text.as_bytes().get(from..)?)?;
        let rest = self.text.get(start..)?;
        for (opening, closing) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")] {
            if rest.starts_with(opening) {
                let inner = rest.get(opening.len()..)?;
                let end = inner.find(closing)? + opening.len() + closing.len();
                return Some((Mark::Other, start, start + end));
            }
        }
        if let Some(name) = rest.strip_prefix("</") {
            let end = rest.find('>')? + 1;
            return Some((Mark::End { is_row: self.is_row(name) }, start, start + end));
        }
        let end = tag_end(rest)?;
        let is_closed = rest.get(..end).is_some_and(|tag| tag.ends_with("/>"));
        let is_row = rest.get(1..).is_some_and(|name| self.is_row(name));
        Some((Mark::Start { is_row, is_closed }, start, start + end))
    }

    /// True where a text begins with the name of rows and nothing that belongs to a name.
    fn is_row(&self, text: &str) -> bool {
        let rest = text.strip_prefix(self.tag).and_then(|rest| rest.chars().next());
        rest.is_some_and(|c| c.is_whitespace() || matches!(c, '>' | '/'))
    }
}

/// Where a start tag ends; brackets in the quotes of attributes do not count.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().enumerate() {
        match (byte, quote) {
            (b'>', None) => return Some(at + 1),
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    None
}

impl<'a> Iterator for Rows<'a> {
    type Item = Row<'a>;

    fn next(&mut self) -> Option<Row<'a>> {
        let mut start: Option<usize> = None;
        let mut depth = 0;
        loop {
            let found = self.mark(self.at);
            let (begin, end) =
                found.as_ref().map_or((self.text.len(), self.text.len()), |(_, begin, end)| (*begin, *end));
            // Outside of the outermost element there is no text, and no other element.
            let is_outside = self.open == 0;
            let has_text = self.text.get(self.at..begin).is_some_and(|text| !text.trim().is_empty());
            let is_second = matches!(found, Some((Mark::Start { .. }, ..))) && self.is_done;
            self.at = end;
            if is_outside && (has_text || is_second) {
                self.at = self.text.len();
                return Some(Row::Malformed);
            }
            let Some((mark, ..)) = found else { return start.map(|_| Row::Malformed) };
            let is_row = match mark {
                Mark::Start { is_row, is_closed } => {
                    self.open += usize::from(!is_closed);
                    if is_row {
                        start.get_or_insert(begin);
                        depth += usize::from(!is_closed);
                    }
                    is_row
                }
                Mark::End { is_row } => {
                    self.open = self.open.saturating_sub(1);
                    let is_row = is_row && depth > 0;
                    depth -= usize::from(is_row);
                    is_row
                }
                Mark::Other => continue,
            };
            self.is_done |= self.open == 0;
            if let Some(start) = start
                && is_row
                && depth == 0
            {
                return Some(Row::Element(self.text.get(start..end).unwrap_or_default()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found() {
        let found = |text: &'static str| rows(text, "r").collect::<Vec<_>>();
        assert_eq!(
            found("<?xml?><rs><!-- <r/> --><rr/><r a='>'/><r><r>1</r></r ><x><![CDATA[<r>]]></x></rs>"),
            [Row::Element("<r a='>'/>"), Row::Element("<r><r>1</r></r >")]
        );
        assert_eq!(found("<rs><r><a>1</a></r><r>"), [Row::Element("<r><a>1</a></r>"), Row::Malformed]);
        assert_eq!(found("<r/>junk"), [Row::Element("<r/>"), Row::Malformed]);
        assert_eq!(found("<r/><r/>"), [Row::Element("<r/>"), Row::Malformed]);
        assert_eq!(found("junk<r/>"), [Row::Malformed]);
        assert_eq!(found("<rs><r/>"), [Row::Element("<r/>")]);
        assert_eq!(found("<rs/>"), []);
        assert_eq!(found(""), []);
    }
}
