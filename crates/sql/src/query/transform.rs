//! SELECT TRANSFORM, MAP and REDUCE: rows through a program, which is not supported.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::{Relation, RelationKind};

impl Parser<'_> {
    /// Whether rows go through a program here: the closing parenthesis is followed by USING or a format.
    pub(super) fn at_transform(&self) -> bool {
        if self.is(K::MAP) || self.is(K::REDUCE) {
            return true;
        }
        if !(self.are(&[K::SELECT, K::TRANSFORM]) && self.ahead_is_mark(2, "(")) {
            return false;
        }
        let mut depth = 0usize;
        let mut count = 2;
        loop {
            match self.ahead(count).kind {
                TokenKind::Mark("(") => depth += 1,
                TokenKind::Mark(")") => {
                    depth -= 1;
                    if depth == 0 {
                        let next = count + 1;
                        return self.ahead_is(next, K::USING)
                            || self.ahead_is(next, K::ROW)
                            || self.ahead_is(next, K::RECORDWRITER);
                    }
                }
                TokenKind::End => return false,
                _ => {}
            }
            count += 1;
        }
    }

    pub(super) fn transform(&mut self, from: Option<Relation>) -> Result<Relation> {
        let start = self.mark();
        let is_select = self.take(K::SELECT);
        self.advance();
        if is_select {
            self.expect_mark("(")?;
            if self.is_any(&[K::DISTINCT, K::ALL]) && self.ahead_begins_expression(1) {
                self.advance();
                return Err(self.error(start, "UNSUPPORTED_FEATURE.TRANSFORM_DISTINCT_ALL"));
            }
        }
        self.comma_separated(Self::expression)?;
        if is_select {
            self.expect_mark(")")?;
        }
        self.row_format()?;
        if self.take(K::RECORDWRITER) {
            self.string()?;
        }
        self.expect(K::USING)?;
        self.string()?;
        if self.take(K::AS) {
            let has_parenthesis = self.take_mark("(");
            self.comma_separated(|parser| {
                parser.object_identifier()?;
                let is_type =
                    parser.ahead_is_name(0) && !parser.keyword().is_some_and(|word| parser.begins_clause(word));
                if is_type {
                    parser.data_type()?;
                }
                Ok(())
            })?;
            if has_parenthesis {
                self.expect_mark(")")?;
            }
        }
        self.row_format()?;
        if self.take(K::RECORDREADER) {
            self.string()?;
        }
        let input = match from {
            Some(from) => from,
            None if self.is(K::FROM) => self.take_from_clause()?,
            None => Relation::new(RelationKind::OneRow),
        };
        self.filtered(start, input)?;
        self.group_by()?;
        if self.take(K::HAVING) {
            self.expression()?;
        }
        self.window_clause()?;
        Ok(self.relation_from(start, RelationKind::Unsupported("TRANSFORM".to_string())))
    }

    /// `ROW FORMAT SERDE …` or `ROW FORMAT DELIMITED …`, if it is there.
    pub(crate) fn row_format(&mut self) -> Result<bool> {
        if !(self.is(K::ROW) && self.ahead_is(1, K::FORMAT)) {
            return Ok(false);
        }
        self.advance();
        self.advance();
        if self.take(K::SERDE) {
            self.string()?;
            if self.take_all(&[K::WITH, K::SERDEPROPERTIES]) {
                self.properties()?;
            }
            return Ok(true);
        }
        self.expect(K::DELIMITED)?;
        loop {
            if self.take_all(&[K::FIELDS, K::TERMINATED, K::BY]) {
                self.string()?;
                if self.take_all(&[K::ESCAPED, K::BY]) {
                    self.string()?;
                }
            } else if self.take_all(&[K::COLLECTION, K::ITEMS, K::TERMINATED, K::BY])
                || self.take_all(&[K::MAP, K::KEYS, K::TERMINATED, K::BY])
            {
                self.string()?;
            } else if self.take_all(&[K::LINES, K::TERMINATED, K::BY]) {
                let mark = self.mark();
                if self.string()? != "\n" {
                    let message = "LINES TERMINATED BY only supports newline '\\n' right now";
                    return Err(self.error(mark, "_LEGACY_ERROR_TEMP_0064").with("msg", message));
                }
            } else if self.take_all(&[K::NULL, K::DEFINED, K::AS]) {
                self.string()?;
            } else {
                return Ok(true);
            }
        }
    }
}
