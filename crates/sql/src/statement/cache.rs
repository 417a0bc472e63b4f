//! CACHE, UNCACHE, CLEAR CACHE and REFRESH.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{Statement, TableName};

impl Parser<'_> {
    pub(super) fn cache_statement(&mut self) -> Result<Statement> {
        let start = self.mark();
        if self.take_all(&[K::CLEAR, K::CACHE]) {
            return Ok(Statement::ClearCache);
        }
        if self.take(K::CLEAR) {
            return Err(self.missing("CACHE"));
        }
        if self.take(K::UNCACHE) {
            self.expect(K::TABLE)?;
            let if_exists = self.take_if_exists();
            return Ok(Statement::UncacheTable { name: self.table_name()?, if_exists });
        }
        if self.take(K::REFRESH) {
            return self.refresh(start);
        }
        self.expect(K::CACHE)?;
        let is_lazy = self.take(K::LAZY);
        self.expect(K::TABLE)?;
        let name = self.table_name()?;
        let options = if self.take(K::OPTIONS) { self.properties()? } else { Vec::new() };
        let query = self.optional_query()?;
        if let (Some(_), TableName::Parts(parts, _)) = (&query, &name)
            && let [qualifier @ .., _] = parts.as_slice()
            && !qualifier.is_empty()
        {
            return Err(self.error(start, "_LEGACY_ERROR_TEMP_0037").with("quoted", qualifier.join(".")));
        }
        Ok(Statement::CacheTable { name, query, is_lazy, options })
    }

    /// `TABLE name`, `FUNCTION name`, or a path as it is written.
    fn refresh(&mut self, start: usize) -> Result<Statement> {
        if self.is(K::TABLE) && self.ahead_is_name(1) {
            self.advance();
            return Ok(Statement::RefreshTable { name: self.table_name()? });
        }
        if self.is(K::FUNCTION) && self.ahead_is_name(1) {
            self.advance();
            return Ok(Statement::RefreshFunction { name: self.qualified_name()? });
        }
        if self.ahead_is_text(0) {
            return Ok(Statement::RefreshPath { path: self.string()? });
        }
        let text = self.rest();
        self.skip_to_end();
        let path = text.trim_end().trim_end_matches(';').trim_end();
        if path.is_empty() || path.contains(char::is_whitespace) {
            let error =
                self.error(start, if path.is_empty() { "_LEGACY_ERROR_TEMP_0064" } else { "_LEGACY_ERROR_TEMP_0063" });
            let message = if path.is_empty() {
                "Resource paths cannot be empty in REFRESH statements. Use / to match everything"
            } else {
                "REFRESH statements cannot contain ' ', '\\n', '\\r', '\\t' inside unquoted resource paths"
            };
            return Err(error.with("msg", message));
        }
        Ok(Statement::RefreshPath { path: path.to_string() })
    }
}
