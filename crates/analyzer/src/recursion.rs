//! How far recursive queries may go.

/// The limits of a recursive query. They travel in its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecursionLimits {
    /// Steps; None: any number.
    pub levels: Option<u64>,
    /// Rows; None: any number.
    pub rows: Option<u64>,
}

impl RecursionLimits {
    /// The limits that settings say: numbers below zero stand for none.
    pub fn new(levels: i64, rows: i64) -> Self {
        Self { levels: u64::try_from(levels).ok(), rows: u64::try_from(rows).ok() }
    }

    /// The name of the recursive query with an id.
    pub fn name(&self, id: u64) -> String {
        let text = |limit: Option<u64>| limit.map_or_else(|| "any".to_string(), |n| n.to_string());
        format!("cte#{id}#{}#{}", text(self.levels), text(self.rows))
    }

    /// The limits in a recursive query's name.
    ///
    /// ```
    /// use firesteel_analyzer::recursion::RecursionLimits;
    ///
    /// let limits = RecursionLimits::new(100, -1);
    /// assert_eq!(RecursionLimits::of_name(&limits.name(7)), limits);
    /// ```
    pub fn of_name(name: &str) -> Self {
        let mut parts = name.rsplit('#').map(|part| part.parse().ok());
        let rows = parts.next().flatten();
        let levels = parts.next().flatten();
        Self { levels, rows }
    }
}
