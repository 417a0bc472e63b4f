//! WITH.

use crate::keyword::Keyword as K;
use crate::parser::{Mark, Parser};
use firesteel_error::Result;
use firesteel_plan::{Cte, Relation, RelationKind};

/// The definitions of a WITH clause.
#[derive(Debug, Clone)]
pub(crate) struct With {
    pub ctes: Vec<Cte>,
    pub is_recursive: bool,
}

impl Parser<'_> {
    /// `WITH [RECURSIVE] name [(columns)] [MAX RECURSION LEVEL n] [AS] (query), …`.
    pub fn with_clause(&mut self) -> Result<Option<With>> {
        let start = self.mark();
        if !self.take(K::WITH) {
            return Ok(None);
        }
        let is_recursive = self.is(K::RECURSIVE) && self.ahead_is_name(1) && !self.ahead_is(1, K::AS);
        if is_recursive {
            self.advance();
        }
        let ctes = self.comma_separated(Self::cte)?;
        if !is_recursive && ctes.iter().any(|cte| cte.max_recursion.is_some()) {
            let message = "Cannot specify MAX RECURSION LEVEL when the CTE is not marked as RECURSIVE";
            return Err(self.not_allowed(start, message));
        }
        self.deepen()?;
        let mut duplicates: Vec<String> = Vec::new();
        for (index, cte) in ctes.iter().enumerate() {
            let is_repeated = ctes.iter().take(index).any(|other| other.name.eq_ignore_ascii_case(&cte.name));
            let quoted = format!("`{}`", cte.name.to_lowercase());
            if is_repeated && !duplicates.contains(&quoted) {
                duplicates.push(quoted);
            }
        }
        if !duplicates.is_empty() {
            return Err(self.error(start, "DUPLICATED_CTE_NAMES").with("duplicateNames", duplicates.join(", ")));
        }
        Ok(Some(With { ctes, is_recursive }))
    }

    fn cte(&mut self) -> Result<Cte> {
        let name = self.object_identifier()?;
        let columns =
            if self.is_mark("(") && !self.ahead_begins_query(1) { self.identifier_list()? } else { Vec::new() };
        let mut max_recursion = None;
        if self.is(K::MAX) && self.ahead_is(1, K::RECURSION) {
            self.expect_all(&[K::MAX, K::RECURSION, K::LEVEL])?;
            max_recursion = Some(self.signed_integer()?);
        }
        self.take(K::AS);
        self.expect_mark("(")?;
        let query = self.query()?;
        self.expect_mark(")")?;
        Ok(Cte { name, columns, query, max_recursion })
    }

    /// Puts a query under the definitions that it may use.
    pub fn within(&mut self, start: Mark, with: With, input: Relation) -> Result<Relation> {
        self.deepen()?;
        let kind = RelationKind::With { input, ctes: with.ctes, is_recursive: with.is_recursive };
        Ok(self.relation_from(start, kind))
    }
}
