//! Where a node of the plan comes from.

use firesteel_error::QueryContext;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A text of SQL that nodes point into.
#[derive(Debug, PartialEq, Eq)]
pub struct SqlSource {
    pub text: Arc<str>,
    /// `VIEW` when the text is a view's, else empty.
    pub object_type: String,
    pub object_name: String,
}

/// Where a node comes from: a place in SQL text, an API call, or nowhere known.
///
/// Origins say nothing of meaning: all are equal and hash alike.
#[derive(Clone, Default)]
pub enum Origin {
    #[default]
    Unknown,
    /// Characters `start..=stop` of a text.
    Sql { source: Arc<SqlSource>, start: u32, stop: u32 },
    /// A call of the DataFrame API.
    Call(Arc<CallSite>),
}

/// An API call: its function's name and the user's file and line.
#[derive(Debug, PartialEq, Eq)]
pub struct CallSite {
    pub fragment: String,
    pub call_site: String,
}

impl Origin {
    /// The error context of this place.
    pub fn context(&self) -> Option<QueryContext> {
        match self {
            Origin::Unknown => None,
            Origin::Sql { source, start, stop } => {
                let mut context = QueryContext::sql(source.text.clone(), *start as usize, *stop as usize);
                context.object_type.clone_from(&source.object_type);
                context.object_name.clone_from(&source.object_name);
                Some(context)
            }
            Origin::Call(call) => Some(QueryContext::data_frame(&call.fragment, &call.call_site)),
        }
    }

    /// The smallest origin that covers both, for nodes made of two.
    pub fn to(&self, end: &Origin) -> Origin {
        match (self, end) {
            (Origin::Sql { source, start, .. }, Origin::Sql { stop, .. }) => {
                Origin::Sql { source: source.clone(), start: *start, stop: *stop }
            }
            _ => self.clone(),
        }
    }
}

// Plans are shown without the texts that they are from: every node has one.
impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Unknown => f.write_str("-"),
            Origin::Sql { start, stop, .. } => write!(f, "{start}..={stop}"),
            Origin::Call(call) => f.write_str(&call.fragment),
        }
    }
}

impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Origin {}

impl Hash for Origin {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}
