//! ANALYZE and REPAIR.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::Result;
use firesteel_plan::{Statement, TableName};

impl Parser<'_> {
    pub(super) fn analyze(&mut self) -> Result<Statement> {
        let start = self.mark();
        self.expect(K::ANALYZE)?;
        if self.take(K::TABLES) {
            let mut namespace = None;
            if self.take_any(&[K::FROM, K::IN]).is_some() {
                namespace = Some(self.qualified_name()?);
            }
            self.expect_all(&[K::COMPUTE, K::STATISTICS])?;
            return Ok(Statement::AnalyzeTables { namespace, no_scan: self.no_scan(start)? });
        }
        self.expect(K::TABLE)?;
        let name = self.table_name()?;
        let partition = self.partition()?;
        self.expect_all(&[K::COMPUTE, K::STATISTICS])?;
        let mut columns = None;
        let mut all_columns = false;
        if self.take_all(&[K::FOR, K::ALL, K::COLUMNS]) {
            all_columns = true;
        } else if self.take_all(&[K::FOR, K::COLUMNS]) {
            columns = Some(self.comma_separated(Self::object_identifier)?);
        }
        let no_scan = if all_columns || columns.is_some() { false } else { self.no_scan(start)? };
        Ok(Statement::AnalyzeTable { name, partition, columns, all_columns, no_scan })
    }

    /// `[NOSCAN]`.
    fn no_scan(&mut self, start: Mark) -> Result<bool> {
        if !self.ahead_is_name(0) {
            return Ok(false);
        }
        let word = self.identifier()?.to_uppercase();
        if word == "NOSCAN" {
            return Ok(true);
        }
        Err(self.error(start, "INVALID_SQL_SYNTAX.ANALYZE_TABLE_UNEXPECTED_NOSCAN").with("ctx", word))
    }

    /// `[MSCK] REPAIR TABLE name [ADD | DROP | SYNC PARTITIONS]`.
    pub(super) fn repair(&mut self) -> Result<Statement> {
        self.take(K::MSCK);
        self.expect_all(&[K::REPAIR, K::TABLE])?;
        let name: TableName = self.table_name()?;
        let word = self.take_any(&[K::ADD, K::DROP, K::SYNC]);
        if word.is_some() {
            self.expect(K::PARTITIONS)?;
        }
        let add = !matches!(word, Some(K::DROP));
        let drop = matches!(word, Some(K::DROP | K::SYNC));
        Ok(Statement::RepairTable { name, add, drop })
    }
}
