//! Tables by name, with their options and versions.

use crate::keyword::Keyword as K;
use crate::parser::Parser;
use firesteel_error::Result;
use firesteel_plan::{ExprKind, RelationKind, TableReference, TimeTravel};

impl Parser<'_> {
    /// `name` after TABLE.
    pub(super) fn plain_table(&mut self) -> Result<RelationKind> {
        let name = self.table_name()?;
        Ok(RelationKind::Table(TableReference { name, options: Vec::new(), is_streaming: false, time_travel: None }))
    }

    /// `name [WITH (options)] [version]`.
    pub(super) fn table_reference(&mut self) -> Result<RelationKind> {
        let name = self.table_name()?;
        let mut options = self.table_options()?;
        let time_travel = self.time_travel()?;
        if options.is_empty() {
            options = self.table_options()?;
        }
        Ok(RelationKind::Table(TableReference { name, options, is_streaming: false, time_travel }))
    }

    fn table_options(&mut self) -> Result<firesteel_plan::Options> {
        if self.is(K::WITH) && self.ahead_is_mark(1, "(") {
            self.advance();
            return self.properties();
        }
        Ok(Vec::new())
    }

    /// `STREAM name` or `STREAM (name)`.
    pub(super) fn stream(&mut self) -> Result<RelationKind> {
        self.expect(K::STREAM)?;
        let has_parenthesis = self.take_mark("(");
        let name = self.table_name()?;
        let mut options = self.table_options()?;
        if has_parenthesis {
            self.expect_mark(")")?;
        }
        if options.is_empty() {
            options = self.table_options()?;
        }
        Ok(RelationKind::Table(TableReference { name, options, is_streaming: true, time_travel: None }))
    }

    /// `[FOR] VERSION | TIMESTAMP AS OF …`.
    fn time_travel(&mut self) -> Result<Option<TimeTravel>> {
        let start = self.mark();
        let count = usize::from(self.is(K::FOR));
        let is_version = self.ahead_is(count, K::VERSION) || self.ahead_is(count, K::SYSTEM_VERSION);
        let is_time = self.ahead_is(count, K::TIMESTAMP) || self.ahead_is(count, K::SYSTEM_TIME);
        if !(is_version || is_time) || !self.ahead_is(count + 1, K::AS) || !self.ahead_is(count + 2, K::OF) {
            return Ok(None);
        }
        for _ in 0..count + 3 {
            self.advance();
        }
        if is_time {
            let moment = self.value()?;
            let reason = if moment.any(|part| matches!(part.kind, ExprKind::Attribute { .. })) {
                "timestamp expression cannot refer to any columns"
            } else if moment.any(|part| matches!(part.kind, ExprKind::Subquery { .. })) {
                "timestamp expression cannot contain subqueries"
            } else {
                ""
            };
            if !reason.is_empty() {
                return Err(self.error(start, "_LEGACY_ERROR_TEMP_0056").with("reason", reason));
            }
            return Ok(Some(TimeTravel::Timestamp(Box::new(moment))));
        }
        if self.ahead_is_text(0) {
            return self.string().map(TimeTravel::Version).map(Some);
        }
        let token = self.integer_token().ok_or_else(|| self.unexpected())?;
        self.advance();
        Ok(Some(TimeTravel::Version(self.text_of(token))))
    }
}
