//! DESCRIBE.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use crate::token::TokenKind;
use firesteel_error::{ExceptionClass, Result, SparkError};
use firesteel_plan::{Describe, Statement, TableName};

impl Parser<'_> {
    pub(super) fn describe(&mut self) -> Result<Statement> {
        let start = self.mark();
        self.advance();
        if self.is(K::FUNCTION) && !self.at_described_name() {
            return self.describe_function();
        }
        if self.at_namespace_word() && !self.at_described_name() {
            self.advance();
            let is_extended = self.is(K::EXTENDED) && self.ahead_is_name(1);
            if is_extended {
                self.advance();
            }
            return Ok(Statement::Describe(Describe::Namespace { name: self.table_name()?, is_extended }));
        }
        if self.is(K::PROCEDURE) && self.ahead_is_name(1) {
            self.advance();
            let name = self.qualified_name()?;
            return Ok(Statement::Procedure { name, origin: self.origin(start) });
        }
        if self.is(K::QUERY) && (self.ahead_begins_query(1) || self.ahead_is_mark(1, "(")) {
            self.advance();
            return self.query().map(Describe::Query).map(Statement::Describe);
        }
        if self.ahead_begins_query(0) && !self.is(K::TABLE) {
            return self.query().map(Describe::Query).map(Statement::Describe);
        }
        if self.is(K::TABLE) && self.ahead_is_name(1) {
            self.advance();
        }
        let is_extended =
            self.is_any(&[K::EXTENDED, K::FORMATTED]) && self.ahead_is_name(1) && !self.ahead_is(1, K::AS);
        if is_extended {
            self.advance();
        }
        let name = self.table_name()?;
        let partition = self.full_partition()?;
        let mut column = None;
        if self.ahead_is_name(0) && !self.are(&[K::AS, K::JSON]) {
            column = Some(self.qualified_name()?);
        }
        let as_json = self.take_all(&[K::AS, K::JSON]);
        if let Some(column) = column {
            if partition.is_some() {
                return Err(self.error(start, "UNSUPPORTED_FEATURE.DESC_TABLE_COLUMN_PARTITION"));
            }
            if as_json {
                return Err(
                    SparkError::new("UNSUPPORTED_FEATURE.DESC_TABLE_COLUMN_JSON").with_class(ExceptionClass::Parse)
                );
            }
            return Ok(Statement::Describe(Describe::Column { table: name, column, is_extended }));
        }
        if as_json && !is_extended {
            let table = match &name {
                TableName::Parts(parts, _) => parts.join("."),
                TableName::Identifier(_) => String::new(),
            };
            return Err(SparkError::new("DESCRIBE_JSON_NOT_EXTENDED")
                .with_class(ExceptionClass::Parse)
                .with("tableName", table));
        }
        Ok(Statement::Describe(Describe::Table { name, is_extended, partition, as_json }))
    }

    /// Whether the word is a table's name: nothing follows, or a dot.
    fn at_described_name(&self) -> bool {
        matches!(self.ahead(1).kind, TokenKind::End | TokenKind::Mark("." | ";"))
    }

    /// `FUNCTION [EXTENDED] name`, where the name may be an operator or a string.
    fn describe_function(&mut self) -> Result<Statement> {
        self.advance();
        let is_extended = self.is(K::EXTENDED) && !self.at_described_name();
        if is_extended {
            self.advance();
        }
        let name = match self.peek().kind {
            TokenKind::Mark(mark) if !matches!(mark, "(" | ")" | ";" | "," | ".") => {
                self.advance();
                TableName::of(vec![mark.to_string()])
            }
            _ if self.ahead_is_text(0) => TableName::of(vec![self.string()?]),
            _ => self.table_name()?,
        };
        Ok(Statement::Describe(Describe::Function { name, is_extended }))
    }
}
