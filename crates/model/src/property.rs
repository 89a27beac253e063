//! What must never be seen: a set of visible states, given by patterns.

use crate::pushdown::{Shared, Symbol, Visible};

/// A visible state in which some places may be anything.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pattern {
    /// The shared state; `None` is any.
    pub shared: Option<Shared>,
    /// The top of each thread's stack; `None` is any, including none.
    pub tops: Vec<Option<Symbol>>,
}

impl Pattern {
    /// Whether a visible state, given by its parts, is one of those described.
    pub fn matches(&self, shared: Shared, tops: impl IntoIterator<Item = Symbol>) -> bool {
        self.shared.is_none_or(|expected| expected == shared)
            && self
                .tops
                .iter()
                .zip(tops)
                .all(|(expected, top)| expected.is_none_or(|expected| expected == top))
    }
}

/// A safety property: no reachable visible state matches any of the bad patterns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Property {
    /// The visible states to be avoided. With none, every system is safe.
    pub bad: Vec<Pattern>,
}

impl Property {
    /// Whether a visible state violates the property.
    pub fn violated_by(&self, visible: &Visible) -> bool {
        self.violated_at(visible.shared, &visible.tops)
    }

    /// Whether a visible state, given by its parts, violates the property.
    pub fn violated_at(&self, shared: Shared, tops: &[Symbol]) -> bool {
        self.bad.iter().any(|pattern| pattern.matches(shared, tops.iter().copied()))
    }
}
