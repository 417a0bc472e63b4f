//! ALTER VIEW.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{Statement, ViewAction};

impl Parser<'_> {
    /// What follows `ALTER VIEW`.
    pub(super) fn alter_view(&mut self) -> Result<Statement> {
        let start = self.mark().saturating_sub(2);
        let name = self.table_name()?;
        let action = if self.take_all(&[K::RENAME, K::TO]) {
            ViewAction::Rename(self.qualified_name()?)
        } else if self.take_all(&[K::SET, K::TBLPROPERTIES]) {
            ViewAction::SetProperties(self.table_properties()?)
        } else if self.take_all(&[K::UNSET, K::TBLPROPERTIES]) {
            let if_exists = self.take_if_exists();
            ViewAction::UnsetProperties { keys: self.property_keys()?, if_exists }
        } else if self.are(&[K::WITH, K::SCHEMA]) {
            ViewAction::SchemaMode(self.schema_mode()?)
        } else if self.is(K::ADD) && !self.ahead_is_mark(1, ".") {
            self.skip_to_end();
            return Err(self.invalid_statement(start, "ALTER VIEW ... ADD PARTITION"));
        } else if self.is(K::DROP) {
            self.skip_to_end();
            return Err(self.invalid_statement(start, "ALTER VIEW ... DROP PARTITION"));
        } else {
            self.take(K::AS);
            let (query, text) = self.query_with_text()?;
            ViewAction::As(query, text)
        };
        Ok(Statement::AlterView { name, action })
    }
}
