//! Columns in ALTER TABLE.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::Result;
use firesteel_plan::{ColumnChange, ColumnDefinition, Name, TableAction};

impl Parser<'_> {
    /// `a.b type [options]` of a new column.
    pub(super) fn new_column(&mut self) -> Result<(Name, ColumnDefinition)> {
        let start = self.mark();
        let name = self.qualified_name()?;
        let data_type = self.data_type()?;
        let last = name.last().cloned().unwrap_or_default();
        Ok((name, self.column_options(start, last, data_type)?))
    }

    /// `ALTER | CHANGE [COLUMN] name change, …`.
    pub(super) fn alter_columns(&mut self, start: Mark) -> Result<TableAction> {
        let is_change = self.is(K::CHANGE);
        self.advance();
        self.take(K::COLUMN);
        let mut columns: Vec<(Name, Vec<ColumnChange>)> = Vec::new();
        loop {
            let name = self.qualified_name()?;
            if is_change && columns.is_empty() && self.at_hive_change() {
                return self.hive_change(start, &name);
            }
            let Some(change) = self.column_change()? else {
                let verb = if is_change { "CHANGE" } else { "ALTER" };
                let message =
                    format!("ALTER TABLE table {verb} COLUMN requires a TYPE, a SET/DROP, a COMMENT, or a FIRST/AFTER");
                return Err(self.not_allowed(start, message));
            };
            columns.push((name, vec![change]));
            if !self.take_mark(",") {
                return Ok(TableAction::AlterColumns(columns));
            }
        }
    }

    /// Whether a new name and a type follow, as in Hive's `CHANGE a a INT`.
    fn at_hive_change(&self) -> bool {
        let is_change = self.is_any(&[K::TYPE, K::SET, K::DROP, K::COMMENT, K::FIRST, K::AFTER]);
        self.ahead_is_name(0) && self.ahead_is_name(1) && !is_change
    }

    /// `CHANGE name name type [COMMENT …] [position]`: the name must stay.
    fn hive_change(&mut self, start: Mark, name: &Name) -> Result<TableAction> {
        let column = self.column_definition()?;
        let old = name.last().map_or("", String::as_str);
        if !column.field.name.eq_ignore_ascii_case(old) {
            return Err(self
                .error(start, "_LEGACY_ERROR_TEMP_0034")
                .with("operation", "Renaming column")
                .with("command", "ALTER COLUMN")
                .with("msg", ", please run RENAME COLUMN instead"));
        }
        if column.default.is_some() || !column.field.nullable {
            let command = "ALTER TABLE ... CHANGE COLUMN";
            let operation = if column.default.is_some() { "DEFAULT" } else { "NOT NULL" };
            return Err(self
                .error(start, "_LEGACY_ERROR_TEMP_0034")
                .with("operation", operation)
                .with("command", command)
                .with("msg", ""));
        }
        let mut changes = vec![ColumnChange::Type(column.field.data_type)];
        changes.extend(column.comment.map(ColumnChange::Comment));
        changes.extend(column.position.map(ColumnChange::Position));
        Ok(TableAction::AlterColumns(vec![(name.clone(), changes)]))
    }

    fn column_change(&mut self) -> Result<Option<ColumnChange>> {
        if self.at_position() {
            return self.position_clause().map(ColumnChange::Position).map(Some);
        }
        let Some(word) = self.take_any(&[K::TYPE, K::COMMENT, K::SET, K::DROP]) else { return Ok(None) };
        let change = match word {
            K::TYPE => ColumnChange::Type(self.data_type()?),
            K::COMMENT => ColumnChange::Comment(self.string()?),
            K::SET if self.take_all(&[K::NOT, K::NULL]) => ColumnChange::SetNotNull,
            K::SET => {
                self.expect(K::DEFAULT)?;
                let (text, expression) = self.expression_with_text()?;
                ColumnChange::SetDefault(text, expression)
            }
            _ if self.take_all(&[K::NOT, K::NULL]) => ColumnChange::DropNotNull,
            _ => {
                self.expect(K::DEFAULT)?;
                ColumnChange::DropDefault
            }
        };
        Ok(Some(change))
    }
}
