//! Constraints of tables and columns.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::Result;
use firesteel_plan::{ConstraintKind, TableConstraint};

impl Parser<'_> {
    /// Whether a constraint is next, with a name or without.
    pub(super) fn at_constraint(&self) -> bool {
        let count = if self.is(K::CONSTRAINT) && self.ahead_is_name(1) { 2 } else { 0 };
        (self.ahead_is(count, K::PRIMARY) && self.ahead_is(count + 1, K::KEY))
            || (self.ahead_is(count, K::FOREIGN) && self.ahead_is(count + 1, K::KEY))
            || (self.ahead_is(count, K::CHECK) && self.ahead_is_mark(count + 1, "("))
            || self.ahead_is(count, K::UNIQUE)
            || (self.ahead_is(count, K::REFERENCES) && self.ahead_is_name(count + 1))
    }

    fn constraint_name(&mut self) -> Result<Option<String>> {
        if self.take(K::CONSTRAINT) { self.object_identifier().map(Some) } else { Ok(None) }
    }

    /// A constraint among a table's columns.
    pub(super) fn table_constraint(&mut self) -> Result<TableConstraint> {
        let start = self.mark();
        let name = self.constraint_name()?;
        let kind = if self.take_all(&[K::PRIMARY, K::KEY]) {
            ConstraintKind::PrimaryKey(self.identifier_list()?)
        } else if self.take(K::UNIQUE) {
            ConstraintKind::Unique(self.identifier_list()?)
        } else if self.take_all(&[K::FOREIGN, K::KEY]) {
            let columns = self.identifier_list()?;
            self.references(columns)?
        } else {
            self.check()?
        };
        self.characterised(start, name, kind)
    }

    /// A constraint of one column.
    pub(super) fn column_constraint(&mut self, column: &str) -> Result<TableConstraint> {
        let start = self.mark();
        let name = self.constraint_name()?;
        let kind = if self.take_all(&[K::PRIMARY, K::KEY]) {
            ConstraintKind::PrimaryKey(vec![column.to_string()])
        } else if self.take(K::UNIQUE) {
            ConstraintKind::Unique(vec![column.to_string()])
        } else if self.is(K::REFERENCES) {
            self.references(vec![column.to_string()])?
        } else {
            self.check()?
        };
        self.characterised(start, name, kind)
    }

    fn check(&mut self) -> Result<ConstraintKind> {
        self.expect(K::CHECK)?;
        self.expect_mark("(")?;
        let (text, condition) = self.expression_with_text()?;
        self.expect_mark(")")?;
        Ok(ConstraintKind::Check { text, condition })
    }

    fn references(&mut self, columns: Vec<String>) -> Result<ConstraintKind> {
        self.expect(K::REFERENCES)?;
        let table = self.qualified_name()?;
        let references = if self.is_mark("(") { self.identifier_list()? } else { Vec::new() };
        // Only NO ACTION and FULL are what is done anyway.
        loop {
            if self.take_word("match") {
                self.expect(K::FULL)?;
            } else if self.is(K::ON) && (self.ahead_is(1, K::UPDATE) || self.ahead_is(1, K::DELETE)) {
                self.advance();
                self.advance();
                self.expect(K::NO)?;
                if !self.take_word("action") {
                    return Err(self.unexpected());
                }
            } else {
                return Ok(ConstraintKind::ForeignKey { columns, table, references });
            }
        }
    }

    /// `[NOT] ENFORCED`, `RELY`, `NORELY` and the like after a constraint.
    fn characterised(&mut self, start: Mark, name: Option<String>, kind: ConstraintKind) -> Result<TableConstraint> {
        let mut characteristics: Vec<String> = Vec::new();
        loop {
            let count = usize::from(self.is(K::NOT));
            let is_enforced = self.ahead_is(count, K::ENFORCED);
            let is_word = ["deferrable", "initially"].iter().any(|word| self.ahead_is_word(count, word));
            if !(is_enforced || is_word || self.is_any(&[K::RELY, K::NORELY])) {
                break;
            }
            let mark = self.mark();
            for _ in 0..=count {
                self.advance();
            }
            if self.ahead_is_word(0, "deferred") || self.ahead_is(0, K::IMMEDIATE) {
                self.advance();
            }
            characteristics.push(self.text_from(mark).to_uppercase());
        }
        let has = |word: &str| characteristics.iter().filter(|found| found.as_str() == word).count();
        if has("ENFORCED") + has("NOT ENFORCED") > 1 || has("RELY") + has("NORELY") > 1 {
            return Err(self
                .error(start, "INVALID_CONSTRAINT_CHARACTERISTICS")
                .with("characteristics", characteristics.join(", ")));
        }
        let (label, refused) = match kind {
            ConstraintKind::Check { .. } => ("CHECK", "NOT ENFORCED"),
            ConstraintKind::PrimaryKey(_) => ("PRIMARY KEY", "ENFORCED"),
            ConstraintKind::Unique(_) => ("UNIQUE", "ENFORCED"),
            ConstraintKind::ForeignKey { .. } => ("FOREIGN KEY", "ENFORCED"),
        };
        if has(refused) > 0 {
            return Err(self
                .error(start, "UNSUPPORTED_CONSTRAINT_CHARACTERISTIC")
                .with("characteristic", refused)
                .with("constraintType", label));
        }
        Ok(TableConstraint { name, kind, characteristics })
    }
}
