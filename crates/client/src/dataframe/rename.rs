//! Columns added, renamed, dropped; frames named.

use super::{DataFrame, names};
use crate::column::{Column, IntoColumns, IntoDataType};
use crate::plan::References;
use crate::types::{IntoSchema, schema_to_proto};
use firesteel_proto::connect as proto;
use proto::expression::ExprType;
use proto::relation::RelType;

impl DataFrame {
    /// The frame with a column added or replaced.
    pub fn with_column(&self, name: impl Into<String>, column: impl Into<Column>) -> DataFrame {
        self.with_columns([(name, column.into())])
    }

    /// The frame with columns added or replaced.
    pub fn with_columns(&self, columns: impl IntoIterator<Item = (impl Into<String>, Column)>) -> DataFrame {
        let mut references = References::default();
        let alias = |(name, column): (_, Column)| {
            references.extend(column.references);
            let expr = Some(Box::new(column.expression));
            proto::expression::Alias { expr, name: vec![Into::into(name)], metadata: None }
        };
        let aliases: Vec<_> = columns.into_iter().map(alias).collect();
        self.derive_with(&[], references, move |inputs| {
            RelType::WithColumns(Box::new(proto::WithColumns { input: inputs.take(), aliases: aliases.clone() }))
        })
    }

    /// The frame with a column's metadata, a JSON object.
    pub fn with_metadata(&self, name: impl Into<String>, metadata: &serde_json::Value) -> DataFrame {
        let name = name.into();
        let expr = Some(Box::new(self.col(&name).expression));
        let aliases = vec![proto::expression::Alias { expr, name: vec![name], metadata: Some(metadata.to_string()) }];
        self.derive(move |inputs| {
            RelType::WithColumns(Box::new(proto::WithColumns { input: inputs.take(), aliases: aliases.clone() }))
        })
    }

    /// The frame with a column renamed; as it is, if there is none of that name.
    pub fn with_column_renamed(&self, existing: impl Into<String>, new: impl Into<String>) -> DataFrame {
        self.with_columns_renamed([(existing, new)])
    }

    /// The frame with columns renamed.
    pub fn with_columns_renamed(
        &self,
        renames: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> DataFrame {
        let rename = |(existing, new)| proto::with_columns_renamed::Rename {
            col_name: Into::into(existing),
            new_col_name: Into::into(new),
        };
        let renames: Vec<_> = renames.into_iter().map(rename).collect();
        self.derive(move |inputs| {
            let (input, renames) = (inputs.take(), renames.clone());
            RelType::WithColumnsRenamed(Box::new(proto::WithColumnsRenamed { input, renames, ..Default::default() }))
        })
    }

    /// The frame without some columns; names that it has not are ignored.
    pub fn drop(&self, columns: impl IntoColumns) -> DataFrame {
        let (mut dropped, mut column_names, mut references) = (Vec::new(), Vec::new(), References::default());
        for column in columns.into_columns() {
            match column.expression.expr_type {
                // A bare name drops all columns of that name, and may be missing.
                Some(ExprType::UnresolvedAttribute(name)) if name.plan_id.is_none() => {
                    column_names.push(name.unparsed_identifier);
                }
                expr_type => {
                    dropped.push(proto::Expression { common: None, expr_type });
                    references.extend(column.references);
                }
            }
        }
        self.derive_with(&[], references, move |inputs| {
            let (columns, column_names) = (dropped.clone(), column_names.clone());
            RelType::Drop(Box::new(proto::Drop { input: inputs.take(), columns, column_names }))
        })
    }

    /// The frame with new names for all columns.
    pub fn to_df(&self, columns: impl IntoIterator<Item = impl Into<String>>) -> DataFrame {
        let column_names = names(columns);
        self.derive(move |inputs| {
            RelType::ToDf(Box::new(proto::ToDf { input: inputs.take(), column_names: column_names.clone() }))
        })
    }

    /// The frame brought to a schema: columns by name, cast, in order.
    pub fn to(&self, schema: impl IntoSchema) -> crate::Result<DataFrame> {
        let schema = schema_to_proto(&schema.into_struct()?);
        Ok(self.derive(move |inputs| {
            RelType::ToSchema(Box::new(proto::ToSchema { input: inputs.take(), schema: Some(schema.clone()) }))
        }))
    }

    /// The frame with a column cast.
    pub fn cast_column(&self, name: impl AsRef<str>, to: impl IntoDataType) -> DataFrame {
        self.with_column(name.as_ref(), crate::functions::col(name.as_ref()).cast(to))
    }

    /// The frame under a name, by which its columns can be told: `name.column`.
    pub fn alias(&self, name: impl Into<String>) -> DataFrame {
        let alias = name.into();
        self.derive(move |inputs| {
            let (input, alias) = (inputs.take(), alias.clone());
            RelType::SubqueryAlias(Box::new(proto::SubqueryAlias { input, alias, qualifier: Vec::new() }))
        })
    }
}
