//! ALTER TABLE, save what is about columns.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::Result;
use firesteel_plan::{PartitionSpec, Statement, TableAction};

/// Words after a table's name that Hive knows and Spark refuses.
const REFUSED: [(&[K], &str); 14] = [
    (&[K::NOT, K::CLUSTERED], "NOT CLUSTERED"),
    (&[K::CLUSTERED, K::BY], "CLUSTERED BY"),
    (&[K::NOT, K::SORTED], "NOT SORTED"),
    (&[K::SKEWED, K::BY], "SKEWED BY"),
    (&[K::NOT, K::SKEWED], "NOT SKEWED"),
    (&[K::NOT, K::STORED, K::AS], "NOT STORED AS DIRECTORIES"),
    (&[K::SET, K::SKEWED], "SET SKEWED LOCATION"),
    (&[K::EXCHANGE, K::PARTITION], "EXCHANGE PARTITION"),
    (&[K::ARCHIVE, K::PARTITION], "ARCHIVE PARTITION"),
    (&[K::UNARCHIVE, K::PARTITION], "UNARCHIVE PARTITION"),
    (&[K::TOUCH], "TOUCH"),
    (&[K::COMPACT], "COMPACT"),
    (&[K::CONCATENATE], "CONCATENATE"),
    (&[K::SET, K::FILEFORMAT], "SET FILEFORMAT"),
];

impl Parser<'_> {
    /// What follows `ALTER TABLE`.
    pub(super) fn alter_table(&mut self, start: Mark) -> Result<Statement> {
        let name = self.table_name()?;
        let partition = self.partition()?;
        for (words, operation) in REFUSED {
            if self.are(words) {
                self.skip_to_end();
                return Err(self.invalid_statement(start, format!("ALTER TABLE {operation}")));
            }
        }
        let action = match partition {
            Some(partition) => self.partition_action(start, partition)?,
            None => self.table_action(start)?,
        };
        Ok(Statement::AlterTable { name, action: Box::new(action) })
    }

    /// What can be done to a single partition.
    fn partition_action(&mut self, start: Mark, partition: PartitionSpec) -> Result<TableAction> {
        if self.take_all(&[K::RENAME, K::TO]) {
            let Some(to) = self.full_partition()? else { return Err(self.unexpected()) };
            return Ok(TableAction::RenamePartition { from: partition, to });
        }
        if self.is(K::CHANGE) || self.are(&[K::REPLACE, K::COLUMNS]) {
            let operation = if self.is(K::CHANGE) { "CHANGE COLUMN" } else { "REPLACE COLUMNS" };
            self.skip_to_end();
            return Err(self.invalid_statement(start, format!("ALTER TABLE ... PARTITION ... {operation}")));
        }
        self.expect(K::SET)?;
        self.storage_action(Some(partition))
    }

    /// `LOCATION …`, `SERDE …`, `SERDEPROPERTIES …` after SET.
    fn storage_action(&mut self, partition: Option<PartitionSpec>) -> Result<TableAction> {
        if self.take(K::LOCATION) {
            return Ok(TableAction::SetLocation { partition, location: self.string()? });
        }
        if self.take(K::SERDEPROPERTIES) {
            return Ok(TableAction::SetSerde { class: None, properties: self.properties()?, partition });
        }
        self.expect(K::SERDE)?;
        let class = Some(self.string()?);
        let properties = if self.take_all(&[K::WITH, K::SERDEPROPERTIES]) { self.properties()? } else { Vec::new() };
        Ok(TableAction::SetSerde { class, properties, partition })
    }

    fn table_action(&mut self, start: Mark) -> Result<TableAction> {
        let Some(keyword) = self.keyword() else { return Err(self.unexpected()) };
        match keyword {
            K::RENAME => {
                self.advance();
                if self.take(K::COLUMN) {
                    let column = self.qualified_name()?;
                    self.expect(K::TO)?;
                    return Ok(TableAction::RenameColumn { column, to: self.object_identifier()? });
                }
                self.expect(K::TO)?;
                self.qualified_name().map(TableAction::Rename)
            }
            K::SET => {
                self.advance();
                if self.take(K::TBLPROPERTIES) {
                    return self.table_properties().map(TableAction::SetProperties);
                }
                self.storage_action(None)
            }
            K::UNSET => {
                self.expect_all(&[K::UNSET, K::TBLPROPERTIES])?;
                let if_exists = self.take_if_exists();
                Ok(TableAction::UnsetProperties { keys: self.property_keys()?, if_exists })
            }
            K::ADD => self.add_action(),
            K::DROP => self.drop_action(),
            K::ALTER | K::CHANGE => self.alter_columns(start),
            K::REPLACE => {
                self.expect_all(&[K::REPLACE, K::COLUMNS])?;
                self.in_parentheses(Self::new_column).map(TableAction::ReplaceColumns)
            }
            K::RECOVER => {
                self.expect_all(&[K::RECOVER, K::PARTITIONS])?;
                Ok(TableAction::RecoverPartitions)
            }
            K::CLUSTER => {
                self.expect_all(&[K::CLUSTER, K::BY])?;
                if self.take(K::NONE) {
                    return Ok(TableAction::ClusterBy(Vec::new()));
                }
                self.in_parentheses(Self::qualified_name).map(TableAction::ClusterBy)
            }
            K::DEFAULT => self.default_collation().map(TableAction::SetCollation),
            _ => Err(self.unexpected()),
        }
    }

    fn add_action(&mut self) -> Result<TableAction> {
        self.expect(K::ADD)?;
        if self.at_constraint() {
            return self.table_constraint().map(TableAction::AddConstraint);
        }
        if self.take_any(&[K::COLUMN, K::COLUMNS]).is_some() {
            let has_parenthesis = self.is_mark("(");
            let columns = if has_parenthesis {
                self.in_parentheses(Self::new_column)?
            } else {
                self.comma_separated(Self::new_column)?
            };
            return Ok(TableAction::AddColumns(columns));
        }
        let if_not_exists = self.take_if_not_exists();
        let mut partitions = Vec::new();
        while let Some(partition) = self.full_partition()? {
            let location = if self.take(K::LOCATION) { Some(self.string()?) } else { None };
            partitions.push((partition, location));
        }
        if partitions.is_empty() {
            return Err(self.unexpected());
        }
        Ok(TableAction::AddPartitions { partitions, if_not_exists })
    }

    fn drop_action(&mut self) -> Result<TableAction> {
        self.expect(K::DROP)?;
        if self.take_any(&[K::COLUMN, K::COLUMNS]).is_some() {
            let if_exists = self.take_if_exists();
            let columns = if self.is_mark("(") {
                self.in_parentheses(Self::qualified_name)?
            } else {
                self.comma_separated(Self::qualified_name)?
            };
            return Ok(TableAction::DropColumns { columns, if_exists });
        }
        if self.take(K::CONSTRAINT) {
            let if_exists = self.take_if_exists();
            let name = self.object_identifier()?;
            let cascade = matches!(self.take_any(&[K::RESTRICT, K::CASCADE]), Some(K::CASCADE));
            return Ok(TableAction::DropConstraint { name, if_exists, cascade });
        }
        let if_exists = self.take_if_exists();
        let partitions = self.comma_separated(|parser| match parser.full_partition()? {
            Some(partition) => Ok(partition),
            None => Err(parser.unexpected()),
        })?;
        let purge = self.take(K::PURGE);
        Ok(TableAction::DropPartitions { partitions, if_exists, purge })
    }
}
