//! CREATE and ALTER: what of.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{Statement, ViewKind};

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Result<Statement> {
        let start = self.mark();
        if self.take(K::REPLACE) {
            self.expect(K::TABLE)?;
            return self.create_table(start, true, true, false);
        }
        self.expect(K::CREATE)?;
        let replace = self.take_all(&[K::OR, K::REPLACE]);
        if !replace && self.at_namespace_word() {
            return self.create_namespace(start);
        }
        if !replace && self.are(&[K::EXTERNAL, K::TABLE]) {
            self.advance();
            self.advance();
            return self.create_table(start, false, false, true);
        }
        if self.take(K::TABLE) {
            return self.create_table(start, replace, false, false);
        }
        let is_global = self.take(K::GLOBAL);
        let is_temporary = self.take_any(&[K::TEMPORARY, K::TEMP]).is_some();
        if self.take(K::VIEW) {
            let kind = match (is_global, is_temporary) {
                (false, false) => ViewKind::Persistent,
                (false, true) => ViewKind::Temporary,
                (true, _) => ViewKind::GlobalTemporary,
            };
            return self.create_view(start, kind, replace);
        }
        if is_global {
            return Err(self.unexpected());
        }
        if self.take(K::FUNCTION) {
            return self.create_function(start, is_temporary, replace);
        }
        if is_temporary && self.take(K::TABLE) {
            return self.create_temporary_table(start);
        }
        if self.is(K::INDEX) {
            return self.index("CreateIndex");
        }
        if self.is_any(&[K::MATERIALIZED, K::STREAMING, K::FLOW]) {
            return self.pipeline_dataset();
        }
        if self.is_any(&[K::ROLE, K::MACRO]) || is_temporary {
            self.back_to(start);
            return self.hive_statement();
        }
        Err(self.unexpected())
    }

    pub(super) fn alter(&mut self) -> Result<Statement> {
        let start = self.mark();
        self.expect(K::ALTER)?;
        if self.at_namespace_word() {
            return self.alter_namespace();
        }
        if self.take(K::TABLE) {
            return self.alter_table(start);
        }
        if self.take(K::VIEW) {
            return self.alter_view();
        }
        if self.is_any(&[K::MATERIALIZED, K::STREAMING]) {
            return self.unsupported_statement();
        }
        if self.is(K::INDEX) {
            self.back_to(start);
            return self.hive_statement();
        }
        Err(self.unexpected())
    }
}
