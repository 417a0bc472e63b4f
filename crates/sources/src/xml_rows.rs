//! The elements of XML text that are rows.

/// A row of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Row<'a> {
    Element(&'a str),
    /// The text ends within it.
    Unclosed,
}

/// The outermost elements of a name, in order.
pub(crate) fn rows<'a>(text: &'a str, tag: &'a str) -> Rows<'a> {
    Rows { text, tag, at: 0 }
}

/// Finds rows.
pub(crate) struct Rows<'a> {
    text: &'a str,
    tag: &'a str,
    at: usize,
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
        let mut start = None;
        let mut depth = 0;
        loop {
            let Some((mark, begin, end)) = self.mark(self.at) else {
                self.at = self.text.len();
                return start.map(|_: usize| Row::Unclosed);
            };
            self.at = end;
            match mark {
                Mark::Start { is_row: true, is_closed } => {
                    start.get_or_insert(begin);
                    depth += usize::from(!is_closed);
                }
                Mark::End { is_row: true } if depth > 0 => depth -= 1,
                _ => continue,
            }
            if depth == 0
                && let Some(start) = start
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
        assert_eq!(found("<rs><r><a>1</a></r><r>"), [Row::Element("<r><a>1</a></r>"), Row::Unclosed]);
        assert_eq!(found("<rs/>"), []);
        assert_eq!(found(""), []);
    }
}
