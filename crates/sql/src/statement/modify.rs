//! UPDATE and DELETE.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use crate::query::{With, or_default};
use firesteel_error::Result;
use firesteel_plan::{Expr, Statement};

impl Parser<'_> {
    /// INSERT, UPDATE, DELETE or MERGE, perhaps after WITH.
    pub(super) fn modification(&mut self, with: Option<With>) -> Result<Statement> {
        match self.keyword() {
            Some(K::INSERT) => self.insert(with),
            Some(K::MERGE) => self.merge(with),
            Some(K::UPDATE) => {
                let update = self.update()?;
                Ok(if with.is_some() { Statement::Unsupported("WITH … UPDATE".to_string()) } else { update })
            }
            _ => {
                let delete = self.delete()?;
                Ok(if with.is_some() { Statement::Unsupported("WITH … DELETE".to_string()) } else { delete })
            }
        }
    }

    /// `DELETE FROM table [alias] [WHERE condition]`.
    fn delete(&mut self) -> Result<Statement> {
        self.expect(K::DELETE)?;
        if !self.take(K::FROM) {
            return Err(if self.ahead_is_name(0) { self.missing("FROM") } else { self.unexpected() });
        }
        let table = self.table_name()?;
        let alias = self.simple_alias("DELETE")?;
        let condition = self.optional_where()?;
        Ok(Statement::Delete { table, alias, condition })
    }

    /// `UPDATE table [alias] SET column = value, … [WHERE condition]`.
    fn update(&mut self) -> Result<Statement> {
        self.expect(K::UPDATE)?;
        let table = self.table_name()?;
        let alias = if self.is(K::SET) && !self.ahead_is(1, K::SET) { None } else { self.simple_alias("UPDATE")? };
        self.expect(K::SET)?;
        let assignments = self.comma_separated(Self::assignment)?;
        let condition = self.optional_where()?;
        Ok(Statement::Update { table, alias, assignments, condition })
    }

    pub(super) fn optional_where(&mut self) -> Result<Option<Expr>> {
        if self.take(K::WHERE) { self.expression().map(Some) } else { Ok(None) }
    }

    /// `column = value`.
    pub(super) fn assignment(&mut self) -> Result<(Expr, Expr)> {
        let start = self.mark();
        let column = Expr::attribute(self.qualified_name()?);
        if !self.take_mark("==") {
            self.expect_mark("=")?;
        }
        let value = self.expression()?;
        Ok((column.at(self.origin(start)), or_default(value)))
    }

    /// An alias of a table without names for its columns.
    pub(super) fn simple_alias(&mut self, operation: &str) -> Result<Option<String>> {
        let start = self.mark();
        match self.table_alias()? {
            None => Ok(None),
            Some((alias, columns)) if columns.is_empty() => Ok(Some(alias)),
            Some(_) => Err(self.error(start, "COLUMN_ALIASES_NOT_ALLOWED").with("op", operation)),
        }
    }
}
