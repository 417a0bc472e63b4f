//! How a worker is to call functions, and in which form it takes and gives rows.

/// An evaluation type of PySpark, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EvalType(pub i32);

/// The form of a task's input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Pickled rows.
    Rows,
    /// One Arrow stream of columns.
    Columns,
    /// One Arrow stream of one struct column.
    Struct,
    /// Arrow streams, one for each group.
    Groups,
    /// Pairs of Arrow streams, one pair for each group.
    CoGroups,
}

impl EvalType {
    /// A function of the rows of a partition, with its own serialisers.
    pub const BARE: Self = Self(0);
    pub const BATCHED: Self = Self(100);
    pub const ARROW_BATCHED: Self = Self(101);
    pub const SCALAR_PANDAS: Self = Self(200);
    pub const GROUPED_MAP_PANDAS: Self = Self(201);
    pub const GROUPED_AGG_PANDAS: Self = Self(202);
    pub const WINDOW_AGG_PANDAS: Self = Self(203);
    pub const SCALAR_PANDAS_ITER: Self = Self(204);
    pub const MAP_PANDAS_ITER: Self = Self(205);
    pub const COGROUPED_MAP_PANDAS: Self = Self(206);
    pub const MAP_ARROW_ITER: Self = Self(207);
    pub const GROUPED_MAP_ARROW: Self = Self(209);
    pub const COGROUPED_MAP_ARROW: Self = Self(210);
    pub const GROUPED_MAP_ARROW_ITER: Self = Self(215);
    pub const GROUPED_MAP_PANDAS_ITER: Self = Self(216);
    pub const GROUPED_AGG_PANDAS_ITER: Self = Self(217);
    pub const SCALAR_ARROW: Self = Self(250);
    pub const SCALAR_ARROW_ITER: Self = Self(251);
    pub const GROUPED_AGG_ARROW: Self = Self(252);
    pub const WINDOW_AGG_ARROW: Self = Self(253);
    pub const GROUPED_AGG_ARROW_ITER: Self = Self(254);
    pub const TABLE: Self = Self(300);
    pub const ARROW_TABLE: Self = Self(301);
    pub const ARROW_UDTF: Self = Self(302);

    /// A value for each row.
    pub fn is_scalar(self) -> bool {
        matches!(
            self,
            Self::BATCHED
                | Self::ARROW_BATCHED
                | Self::SCALAR_PANDAS
                | Self::SCALAR_PANDAS_ITER
                | Self::SCALAR_ARROW
                | Self::SCALAR_ARROW_ITER
        )
    }

    /// A value for each group, or for each row of a window.
    pub fn is_aggregate(self) -> bool {
        matches!(
            self,
            Self::GROUPED_AGG_PANDAS
                | Self::GROUPED_AGG_PANDAS_ITER
                | Self::GROUPED_AGG_ARROW
                | Self::GROUPED_AGG_ARROW_ITER
        )
    }

    /// Rows for each group of a frame, or of two.
    pub fn is_group_map(self) -> bool {
        matches!(
            self,
            Self::GROUPED_MAP_PANDAS
                | Self::GROUPED_MAP_PANDAS_ITER
                | Self::GROUPED_MAP_ARROW
                | Self::GROUPED_MAP_ARROW_ITER
        )
    }

    /// Only one function of this kind fits into a task.
    pub fn is_alone(self) -> bool {
        matches!(
            self,
            Self::SCALAR_PANDAS_ITER
                | Self::SCALAR_ARROW_ITER
                | Self::GROUPED_AGG_PANDAS_ITER
                | Self::GROUPED_AGG_ARROW_ITER
        )
    }

    /// A table function.
    pub fn is_table(self) -> bool {
        matches!(self, Self::TABLE | Self::ARROW_TABLE | Self::ARROW_UDTF)
    }

    /// Functions of pickled rows.
    pub fn is_pickled(self) -> bool {
        matches!(self, Self::BARE | Self::BATCHED | Self::TABLE)
    }

    /// A scalar function that one of the same kind may call with its result alone.
    pub fn can_chain(self) -> bool {
        matches!(self, Self::BATCHED | Self::ARROW_BATCHED | Self::SCALAR_PANDAS | Self::SCALAR_ARROW)
    }

    /// The window's function that an aggregate becomes.
    pub fn windowed(self) -> Option<Self> {
        match self {
            Self::GROUPED_AGG_PANDAS => Some(Self::WINDOW_AGG_PANDAS),
            Self::GROUPED_AGG_ARROW => Some(Self::WINDOW_AGG_ARROW),
            _ => None,
        }
    }

    /// The form of the input.
    pub fn shape(self) -> Shape {
        match self {
            Self::BARE | Self::BATCHED | Self::TABLE => Shape::Rows,
            Self::MAP_PANDAS_ITER | Self::MAP_ARROW_ITER => Shape::Struct,
            Self::GROUPED_MAP_PANDAS
            | Self::GROUPED_MAP_PANDAS_ITER
            | Self::GROUPED_MAP_ARROW
            | Self::GROUPED_MAP_ARROW_ITER
            | Self::GROUPED_AGG_PANDAS
            | Self::GROUPED_AGG_PANDAS_ITER
            | Self::GROUPED_AGG_ARROW
            | Self::GROUPED_AGG_ARROW_ITER
            | Self::WINDOW_AGG_PANDAS
            | Self::WINDOW_AGG_ARROW => Shape::Groups,
            Self::COGROUPED_MAP_PANDAS | Self::COGROUPED_MAP_ARROW => Shape::CoGroups,
            _ => Shape::Columns,
        }
    }
}
