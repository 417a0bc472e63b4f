//! DROP and TRUNCATE.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{Statement, TableName};

impl Parser<'_> {
    pub(super) fn drop_statement(&mut self) -> Result<Statement> {
        let start = self.mark();
        self.expect(K::DROP)?;
        if self.at_namespace_word() {
            self.advance();
            let if_exists = self.take_if_exists();
            let name = self.table_name()?;
            let cascade = matches!(self.take_any(&[K::RESTRICT, K::CASCADE]), Some(K::CASCADE));
            return Ok(Statement::DropNamespace { name, if_exists, cascade });
        }
        if self.take(K::TABLE) {
            let if_exists = self.take_if_exists();
            let name = self.table_name()?;
            let purge = self.take(K::PURGE);
            return Ok(Statement::DropTable { name, if_exists, purge });
        }
        if self.take(K::VIEW) {
            let if_exists = self.take_if_exists();
            return Ok(Statement::DropView { name: self.table_name()?, if_exists });
        }
        let is_temporary = self.take_any(&[K::TEMPORARY, K::TEMP]).is_some();
        if self.take(K::FUNCTION) {
            let if_exists = self.take_if_exists();
            let name = self.table_name()?;
            if let (true, TableName::Parts(parts, _)) = (is_temporary, &name)
                && let [.., qualifier, function] = parts.as_slice()
            {
                return Err(self.invalid_qualifier(start, "FUNCTION", qualifier, function));
            }
            return Ok(Statement::DropFunction { name, if_exists, is_temporary });
        }
        if is_temporary && self.take_any(&[K::VARIABLE, K::VAR]).is_some() {
            let if_exists = self.take_if_exists();
            return Ok(Statement::DropVariable { name: self.variable_name()?, if_exists });
        }
        if self.is(K::INDEX) {
            return self.index("DropIndex");
        }
        if self.is(K::MATERIALIZED) {
            return self.unsupported_statement();
        }
        if self.is_any(&[K::ROLE, K::MACRO]) || is_temporary {
            self.back_to(start);
            return self.hive_statement();
        }
        Err(self.unexpected())
    }

    /// `TRUNCATE TABLE name [PARTITION …]`.
    pub(super) fn truncate(&mut self) -> Result<Statement> {
        self.expect_all(&[K::TRUNCATE, K::TABLE])?;
        let table = self.table_name()?;
        let partition = self.full_partition()?;
        Ok(Statement::Truncate { table, partition })
    }
}
