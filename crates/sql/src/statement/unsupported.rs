//! Statements that are known, and not run.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::Statement;

/// First words of Hive's statements that Spark refuses.
const REFUSED: [(&[K], &str); 19] = [
    (&[K::CREATE, K::ROLE], "CREATE ROLE"),
    (&[K::DROP, K::ROLE], "DROP ROLE"),
    (&[K::GRANT, K::ROLE], "GRANT ROLE"),
    (&[K::GRANT], "GRANT"),
    (&[K::REVOKE, K::ROLE], "REVOKE ROLE"),
    (&[K::REVOKE], "REVOKE"),
    (&[K::EXPORT, K::TABLE], "EXPORT TABLE"),
    (&[K::IMPORT, K::TABLE], "IMPORT TABLE"),
    (&[K::ALTER, K::INDEX], "ALTER INDEX"),
    (&[K::LOCK, K::TABLE], "LOCK TABLE"),
    (&[K::LOCK, K::DATABASE], "LOCK DATABASE"),
    (&[K::UNLOCK, K::TABLE], "UNLOCK TABLE"),
    (&[K::UNLOCK, K::DATABASE], "UNLOCK DATABASE"),
    (&[K::CREATE, K::TEMPORARY, K::MACRO], "CREATE TEMPORARY MACRO"),
    (&[K::DROP, K::TEMPORARY, K::MACRO], "DROP TEMPORARY MACRO"),
    (&[K::START, K::TRANSACTION], "START TRANSACTION"),
    (&[K::COMMIT], "COMMIT"),
    (&[K::ROLLBACK], "ROLLBACK"),
    (&[K::DFS], "DFS"),
];

impl Parser<'_> {
    /// A statement of Hive's, or no statement at all.
    pub(super) fn hive_statement(&mut self) -> Result<Statement> {
        let start = self.mark();
        for (words, operation) in REFUSED {
            if self.are(words) {
                self.skip_statement();
                return Err(self.invalid_statement(start, operation));
            }
        }
        Err(self.unexpected())
    }

    /// A statement that Spark runs and this server does not: its first words name it.
    pub(super) fn unsupported_statement(&mut self) -> Result<Statement> {
        let mark = self.mark();
        // The statement's own first word was perhaps taken already.
        let first = mark.checked_sub(1).map(|before| self.token_text(before)).filter(|word| {
            ["CREATE", "DROP", "ALTER", "SHOW", "DESCRIBE", "DESC"].iter().any(|verb| word.eq_ignore_ascii_case(verb))
        });
        let second = self.token_text(mark);
        let third = self.token_text(mark + 1);
        self.skip_statement();
        let words = match (first, second.to_uppercase().as_str()) {
            (Some(first), "MATERIALIZED" | "STREAMING") => format!("{first} {second} {third}"),
            (Some(first), _) => format!("{first} {second}"),
            (None, "LOAD" | "WITH") => format!("{second} {third}"),
            (None, _) => second,
        };
        Ok(Statement::Unsupported(words.to_uppercase()))
    }

    /// What follows CALL: no catalog here has procedures.
    pub(super) fn call_procedure(&mut self) -> Result<Statement> {
        let start = self.mark();
        self.expect(K::CALL)?;
        let name = self.qualified_name()?;
        self.expect_mark("(")?;
        self.arguments()?;
        Ok(Statement::Procedure { name, origin: self.origin(start) })
    }

    /// `LOAD DATA [LOCAL] INPATH 'path' [OVERWRITE] INTO TABLE name [PARTITION …]`.
    pub(super) fn load_data(&mut self) -> Result<Statement> {
        self.expect_all(&[K::LOAD, K::DATA])?;
        self.take(K::LOCAL);
        self.expect(K::INPATH)?;
        self.string()?;
        self.take(K::OVERWRITE);
        self.expect_all(&[K::INTO, K::TABLE])?;
        let table = self.table_name()?;
        self.partition()?;
        Ok(Statement::LoadData { table })
    }

    /// `INDEX [IF [NOT] EXISTS] name ON [TABLE] table …` after CREATE or DROP.
    pub(super) fn index(&mut self, operation: &str) -> Result<Statement> {
        self.expect(K::INDEX)?;
        if !self.take_if_not_exists() {
            self.take_if_exists();
        }
        self.identifier()?;
        self.expect(K::ON)?;
        if self.is(K::TABLE) && self.ahead_is_name(1) {
            self.advance();
        }
        let table = self.table_name()?;
        self.skip_statement();
        Ok(Statement::Index { table, operation: operation.to_string() })
    }

    /// `MATERIALIZED VIEW …`, `STREAMING TABLE …`, `FLOW …` after CREATE.
    pub(super) fn pipeline_dataset(&mut self) -> Result<Statement> {
        let kind = match self.keyword() {
            Some(K::MATERIALIZED) => "MATERIALIZED VIEW",
            Some(K::STREAMING) => "STREAMING TABLE",
            _ => "FLOW",
        };
        self.skip_statement();
        Ok(Statement::PipelineDataset(kind.to_string()))
    }

    /// Goes to the end of the statement: a semicolon, or the end of the text.
    fn skip_statement(&mut self) {
        while !matches!(self.peek().kind, TokenKind::End | TokenKind::Mark(";")) {
            self.advance();
        }
    }
}
