//! Definitions of columns.

use crate::data_type::comment_metadata;
use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use crate::token::TokenKind;
use firesteel_error::Result;
use firesteel_plan::{ColumnDefinition, ColumnPosition, Expr, Identity};
use firesteel_types::{DataType, StructField};

impl Parser<'_> {
    /// `name type [options]`.
    pub(crate) fn column_definition(&mut self) -> Result<ColumnDefinition> {
        let start = self.mark();
        let name = self.object_identifier()?;
        let data_type = self.data_type()?;
        self.column_options(start, name, data_type)
    }

    /// Definitions between commas.
    pub(crate) fn column_definitions(&mut self) -> Result<Vec<ColumnDefinition>> {
        self.comma_separated(Self::column_definition)
    }

    /// `NOT NULL`, `DEFAULT …`, `GENERATED …`, `COMMENT …`, constraints, a position.
    pub(super) fn column_options(
        &mut self,
        start: Mark,
        name: String,
        data_type: DataType,
    ) -> Result<ColumnDefinition> {
        let mut column = ColumnDefinition::new(StructField::new(name, data_type, true));
        loop {
            let duplicate = |parser: &Self, option: &str, name: &str| {
                parser
                    .error(start, "CREATE_TABLE_COLUMN_DESCRIPTOR_DUPLICATE")
                    .with("columnName", name)
                    .with("optionName", option)
            };
            if self.take_all(&[K::NOT, K::NULL]) {
                if !column.field.nullable {
                    return Err(duplicate(self, "NOT NULL", &column.field.name));
                }
                column.field.nullable = false;
            } else if self.is(K::DEFAULT) && !self.ahead_is(1, K::COLLATION) {
                self.advance();
                if column.default.is_some() {
                    return Err(duplicate(self, "DEFAULT", &column.field.name));
                }
                column.default = Some(self.expression_with_text()?);
            } else if self.is(K::GENERATED) {
                if column.generated.is_some() || column.identity.is_some() {
                    return Err(duplicate(self, "GENERATED ALWAYS AS", &column.field.name));
                }
                self.generated(start, &mut column)?;
            } else if self.take(K::COMMENT) {
                if column.comment.replace(self.string()?).is_some() {
                    return Err(duplicate(self, "COMMENT", &column.field.name));
                }
            } else if self.at_constraint() {
                let name = column.field.name.clone();
                column.constraints.push(self.column_constraint(&name)?);
            } else if self.at_position() {
                if column.position.replace(self.position_clause()?).is_some() {
                    return Err(duplicate(self, "FIRST|AFTER", &column.field.name));
                }
            } else {
                break;
            }
        }
        if let Some(comment) = &column.comment {
            column.field = column.field.with_metadata(comment_metadata(comment.clone()));
        }
        Ok(column)
    }

    /// An expression and how it was written.
    pub(super) fn expression_with_text(&mut self) -> Result<(String, Expr)> {
        let start = self.mark();
        let expression = self.expression()?;
        Ok((self.text_from(start), expression))
    }

    fn generated(&mut self, start: Mark, column: &mut ColumnDefinition) -> Result<()> {
        self.expect(K::GENERATED)?;
        let always = self.take(K::ALWAYS);
        if !always {
            self.expect_all(&[K::BY, K::DEFAULT])?;
        }
        self.expect(K::AS)?;
        if self.take(K::IDENTITY) {
            column.identity = Some(self.identity(start, always)?);
            if !matches!(column.field.data_type, DataType::Long | DataType::Integer) {
                let name = match &column.field.data_type {
                    DataType::String(_) => "StringType".to_string(),
                    other => format!("{other:?}Type"),
                };
                return Err(self.error(start, "IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE").with("dataType", name));
            }
            return Ok(());
        }
        if !always {
            return Err(self.unexpected());
        }
        self.expect_mark("(")?;
        column.generated = Some(self.expression_with_text()?);
        self.expect_mark(")")
    }

    /// `[(START WITH n INCREMENT BY n)]`.
    fn identity(&mut self, start: Mark, always: bool) -> Result<Identity> {
        let (mut first, mut step) = (None, None);
        let mut repeated = None;
        if self.take_mark("(") {
            while !self.take_mark(")") {
                let (slot, option) = if self.take_all(&[K::START, K::WITH]) {
                    (&mut first, "START")
                } else if self.take_all(&[K::INCREMENT, K::BY]) {
                    (&mut step, "STEP")
                } else {
                    return Err(self.unexpected());
                };
                if slot.replace(self.signed_integer()?).is_some() {
                    repeated = Some(option);
                }
            }
        }
        if let Some(option) = repeated {
            return Err(self
                .error(start, "IDENTITY_COLUMNS_DUPLICATED_SEQUENCE_GENERATOR_OPTION")
                .with("sequenceGeneratorOption", option));
        }
        let step = step.unwrap_or(1);
        if step == 0 {
            return Err(self.error(start, "IDENTITY_COLUMNS_ILLEGAL_STEP"));
        }
        Ok(Identity { always, start: first.unwrap_or(1), step })
    }

    pub(super) fn at_position(&self) -> bool {
        self.is(K::FIRST) || (self.is(K::AFTER) && self.ahead_is_name(1))
    }

    /// `FIRST`, `AFTER name`.
    pub(super) fn position_clause(&mut self) -> Result<ColumnPosition> {
        if self.take(K::FIRST) {
            return Ok(ColumnPosition::First);
        }
        self.expect(K::AFTER)?;
        self.object_identifier().map(ColumnPosition::After)
    }

    /// Whether a keyword, a comma or a parenthesis follows a name, so that it has no type.
    pub(super) fn ahead_is_bare_name(&self, count: usize) -> bool {
        self.ahead_is_name(count) && matches!(self.ahead(count + 1).kind, TokenKind::Mark("," | ")" | "." | "("))
    }
}
