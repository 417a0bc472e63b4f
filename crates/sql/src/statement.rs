//! Statements: queries and everything else that a whole text can say.

mod alter_column;
mod alter_table;
mod alter_view;
mod analyze;
mod cache;
mod column;
mod constraint;
mod create;
mod create_function;
mod create_table;
mod create_view;
mod describe;
mod drop;
mod insert;
mod merge;
mod modify;
mod namespace;
mod partition;
mod resource;
mod session;
mod setting;
mod show;
mod table_clauses;
mod unsupported;
mod variable;

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{ExplainMode, Statement};

impl Parser<'_> {
    /// A whole statement, without the semicolon after it.
    pub fn statement(&mut self) -> Result<Statement> {
        self.nested(|parser| {
            let start = parser.mark();
            let statement = parser.any_statement()?;
            parser.whole_statement(start)?;
            Ok(statement)
        })
    }

    fn any_statement(&mut self) -> Result<Statement> {
        let Some(keyword) = self.keyword() else {
            return if self.is_mark("(") { self.query().map(Statement::Query) } else { Err(self.unexpected()) };
        };
        match keyword {
            K::SELECT | K::VALUES | K::TABLE | K::MAP | K::REDUCE => self.query().map(Statement::Query),
            K::WITH => self.with_statement(),
            K::FROM => self.inserts_or_query(),
            K::INSERT | K::UPDATE | K::DELETE | K::MERGE => self.modification(None),
            K::CREATE | K::REPLACE => self.create(),
            K::ALTER => self.alter(),
            K::DROP => self.drop_statement(),
            K::EXPLAIN => self.explain(),
            K::DESCRIBE | K::DESC => self.describe(),
            K::SHOW => self.show(),
            K::USE => self.use_statement(),
            K::SET => self.set(),
            K::RESET => self.reset(),
            K::DECLARE => self.declare(),
            K::EXECUTE if self.ahead_is(1, K::IMMEDIATE) => self.execute_immediate(),
            K::CACHE | K::UNCACHE | K::CLEAR | K::REFRESH => self.cache_statement(),
            K::ANALYZE => self.analyze(),
            K::TRUNCATE => self.truncate(),
            K::MSCK | K::REPAIR => self.repair(),
            K::COMMENT => self.comment(),
            K::ADD | K::LIST => self.resources(),
            K::CALL => self.call_procedure(),
            K::LOAD => self.load_data(),
            _ => self.hive_statement(),
        }
    }

    /// `EXPLAIN [mode] statement`.
    fn explain(&mut self) -> Result<Statement> {
        let start = self.mark();
        self.expect(K::EXPLAIN)?;
        let mode = match self.take_any(&[K::LOGICAL, K::FORMATTED, K::EXTENDED, K::CODEGEN, K::COST]) {
            Some(K::LOGICAL) => return Err(self.invalid_statement(start, "EXPLAIN LOGICAL")),
            Some(K::FORMATTED) => ExplainMode::Formatted,
            Some(K::EXTENDED) => ExplainMode::Extended,
            Some(K::CODEGEN) => ExplainMode::Codegen,
            Some(K::COST) => ExplainMode::Cost,
            _ => ExplainMode::Simple,
        };
        let statement = Box::new(self.statement()?);
        Ok(Statement::Explain { mode, statement })
    }

    /// A query or a modification after WITH.
    fn with_statement(&mut self) -> Result<Statement> {
        let start = self.mark();
        let Some(with) = self.with_clause()? else { return Err(self.unexpected()) };
        if self.is_any(&[K::INSERT, K::UPDATE, K::DELETE, K::MERGE]) {
            return self.modification(Some(with));
        }
        if self.is(K::FROM)
            && let Some(inserts) = self.multi_insert(Some(&with))?
        {
            return Ok(inserts);
        }
        let query = self.query_body()?;
        self.within(start, with, query).map(Statement::Query)
    }

    fn inserts_or_query(&mut self) -> Result<Statement> {
        match self.multi_insert(None)? {
            Some(inserts) => Ok(inserts),
            None => self.query().map(Statement::Query),
        }
    }
}
