//! INSERT.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::query::With;
use firesteel_error::Result;
use firesteel_plan::{Insert, InsertDirectory, Relation, Statement, TableName};

impl Parser<'_> {
    /// `INSERT INTO | OVERWRITE … query`; the query is given where FROM came first.
    pub(super) fn insert(&mut self, with: Option<With>) -> Result<Statement> {
        let mut insert = self.insert_target()?;
        if let Some(feature) = self.replace_condition()? {
            self.query()?;
            return Ok(Statement::Unsupported(feature.to_string()));
        }
        let start = self.mark();
        let query = self.query()?;
        insert.query = match with {
            Some(with) => self.within(start, with, query)?,
            None => query,
        };
        Ok(Statement::Insert(insert))
    }

    /// What stands before the query.
    fn insert_target(&mut self) -> Result<Insert> {
        let start = self.mark();
        self.expect(K::INSERT)?;
        let with_schema_evolution = self.take_schema_evolution()?;
        let overwrite = match self.take_any(&[K::INTO, K::OVERWRITE]) {
            Some(word) => word == K::OVERWRITE,
            None => return Err(self.unexpected()),
        };
        let mut insert = empty_insert(TableName::of(Vec::new()), overwrite);
        insert.with_schema_evolution = with_schema_evolution;
        if overwrite
            && (self.is(K::DIRECTORY) || self.are(&[K::LOCAL, K::DIRECTORY]))
            && !self.at_table_called_directory()
        {
            insert.directory = Some(self.insert_directory(start)?);
            return Ok(insert);
        }
        if self.is(K::TABLE) && self.ahead_is_name(1) {
            self.advance();
        }
        insert.table = self.table_name()?;
        if self.is(K::WITH) && self.ahead_is_mark(1, "(") {
            self.advance();
            insert.options = self.properties()?;
        }
        if let Some(partition) = self.partition()? {
            insert.partition = partition;
            insert.if_partition_not_exists = self.take_if_not_exists();
            if insert.if_partition_not_exists && !overwrite {
                return Err(self.invalid_statement(start, "INSERT INTO ... IF NOT EXISTS"));
            }
            let dynamic: Vec<&str> =
                insert.partition.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| name.as_str()).collect();
            if insert.if_partition_not_exists && !dynamic.is_empty() {
                let message = format!("IF NOT EXISTS with dynamic partitions: {}", dynamic.join(", "));
                return Err(self.not_allowed(start, message));
            }
        }
        if self.take_all(&[K::BY, K::NAME]) {
            insert.by_name = true;
        } else if self.is_mark("(") && !self.ahead_begins_query(1) && !self.ahead_is_mark(1, "(") {
            insert.columns = self.identifier_list()?;
        }
        if self.are(&[K::REPLACE, K::WHERE]) {
            self.advance();
            self.advance();
            insert.replace_where = Some(self.expression()?);
            insert.overwrite = true;
        }
        Ok(insert)
    }

    /// `REPLACE ON condition` or `REPLACE USING (column, …)`: which of them it is.
    fn replace_condition(&mut self) -> Result<Option<&'static str>> {
        if self.take_all(&[K::REPLACE, K::ON]) {
            self.expression()?;
            return Ok(Some("INSERT … REPLACE ON"));
        }
        if self.take_all(&[K::REPLACE, K::USING]) {
            self.identifier_list()?;
            return Ok(Some("INSERT … REPLACE USING"));
        }
        Ok(None)
    }

    /// `WITH SCHEMA EVOLUTION`.
    pub(super) fn take_schema_evolution(&mut self) -> Result<bool> {
        if !self.take(K::WITH) {
            return Ok(false);
        }
        self.expect_all(&[K::SCHEMA, K::EVOLUTION])?;
        Ok(true)
    }

    fn at_table_called_directory(&self) -> bool {
        self.is(K::DIRECTORY) && (self.ahead_is_mark(1, ".") || self.ahead_begins_query(1))
    }

    /// `[LOCAL] DIRECTORY ['path'] USING provider [OPTIONS …]`, or with a Hive format.
    fn insert_directory(&mut self, start: Mark) -> Result<InsertDirectory> {
        let is_local = self.take(K::LOCAL);
        self.expect(K::DIRECTORY)?;
        let path = if self.ahead_is_text(0) { Some(self.string()?) } else { None };
        let mut directory = InsertDirectory { path, provider: None, options: Vec::new(), is_local };
        if self.take(K::USING) {
            directory.provider = Some(self.qualified_name()?.join("."));
            if self.take(K::OPTIONS) {
                directory.options = self.properties()?;
            }
            let has_option = directory.options.iter().any(|(key, _)| key.eq_ignore_ascii_case("path"));
            if directory.path.is_some() == has_option {
                let message = "Directory path and 'path' in OPTIONS should be specified one, but not both";
                return Err(self.error(start, "_LEGACY_ERROR_TEMP_0049").with("msg", message));
            }
        } else {
            self.row_format()?;
            self.stored_as()?;
        }
        Ok(directory)
    }

    /// `FROM relation INSERT … SELECT … INSERT … SELECT …`; None where no INSERT follows.
    pub(super) fn multi_insert(&mut self, with: Option<&With>) -> Result<Option<Statement>> {
        let (start, parameters) = (self.mark(), self.parameters);
        let from = self.take_from_clause()?;
        if !self.is(K::INSERT) {
            self.back_to(start);
            self.parameters = parameters;
            return Ok(None);
        }
        let mut inserts = Vec::new();
        while self.is(K::INSERT) {
            let mut insert = self.insert_target()?;
            let mark = self.mark();
            let query = self.select_from(from.clone())?;
            insert.query = match with {
                Some(with) => self.within(mark, with.clone(), query)?,
                None => query,
            };
            inserts.push(Statement::Insert(insert));
        }
        match inserts.pop() {
            Some(only) if inserts.is_empty() => Ok(Some(only)),
            Some(last) => {
                inserts.push(last);
                Ok(Some(Statement::MultiInsert(inserts)))
            }
            None => Err(self.unexpected()),
        }
    }
}

/// An insert of nothing.
fn empty_insert(table: TableName, overwrite: bool) -> Insert {
    Insert {
        table,
        columns: Vec::new(),
        partition: Vec::new(),
        if_partition_not_exists: false,
        query: Relation::new(firesteel_plan::RelationKind::OneRow),
        overwrite,
        by_name: false,
        replace_where: None,
        directory: None,
        with_schema_evolution: false,
        options: Vec::new(),
    }
}
