//! Views: what a few threads see together, described by formulas, for programs with integers and any number of threads.
//!
//! A *view* of k threads is the values of the shared variables together with the locations and local variables of k different
//! threads. [`Views`] has a formula for each combination of k locations; V is the set of views that satisfy theirs.
//!
//! # Why closed views are a proof
//!
//! DrUBA, section 5, looks at one thread and asks whether a set of abstract states is closed under the actions of all threads.
//! An action of a thread that is not looked at is no function of such a state, so that argument is not sound as it stands. Here
//! the thread that moves is always looked at. V is *closed* if
//!
//! 1. it contains every view of every initial state;
//! 2. for each view in V, every step of one of its threads leads to a view in V, and none goes wrong;
//! 3. for k+1 threads all of whose views of k are in V, every step of one of them leads to a view in V of the k others;
//! 4. it contains no view in which a property is violated.
//!
//! Let a program have n ≥ k threads. Then all views of all reachable states are in V, by induction: after a step of thread j, a
//! view of threads with j among them is in V by 2, and one of k other threads by 3, since with j these are k+1 threads. So
//! nothing goes wrong. With fewer than k threads of a kind that may have any number, add threads that never move: what goes
//! wrong without them does so with them, since properties that threads could save by their presence are
//! strengthened ([`property`]) to ones that they cannot. The order of threads in a view is of no importance: V contains a view if it
//! contains it in every order in which the locations are sorted.
//!
//! # Threads that are started later
//!
//! Take a run, and the threads that it starts. Let them be there from the start, at their entries, with the arguments that they
//! will get, and let them begin when they are started: this is a run of a program in which any number of such threads, with any
//! arguments, wait until one thread of their template has been started. So it is enough to look at that program. It has a hidden
//! shared variable for each template of which no thread runs from the start, which every start of one sets.
//!
//! # Anchors
//!
//! Threads of which there is a known number, such as the one writer of a lock, may be *anchored*: V is then about views that
//! contain all of them, and some of the others. The argument is the same: the thread j of 3 is one of the others, since the
//! known ones are in the view, and the views of the k+1 threads that are asked to be in V are those that leave out one of the
//! others.
//!
//! # Weights
//!
//! A proof may also weigh threads: each location has a weight, 0 where threads start, and a hidden shared variable `#0` is the
//! sum of the weights of all threads. So a formula can say that a counter is the number of threads inside. What is known of such
//! a sum besides its changes: if no weight is negative, it is at least the sum over the threads that are looked at, and if none
//! is positive, at most; if all threads are looked at, it is that sum.
//!
//! Read in this order: [`names`] and [`translate`], programs as formulas; [`property`], what must not be seen; `obligations`,
//! what closed means, as queries; `check`, which asks a solver; `text`. None of it is what those who find views use.

mod check;
pub mod names;
mod obligations;
pub mod property;
pub(crate) mod text;
pub mod translate;

pub(crate) use check::check;

use allways_model::program::{LocationId, TemplateId};
use allways_smt::Term;
use std::collections::BTreeMap;

/// The most threads that are looked at together.
pub const MOST: usize = 4;

/// A set of views.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Views {
    /// How many threads of each template there are; any number if none is given.
    pub counts: Vec<Option<usize>>,
    /// How many threads a view has.
    pub size: usize,
    /// Whether the threads of templates with a known number are in every view.
    pub anchored: bool,
    /// Weights of locations, other than 0: one map for each sum.
    pub weights: Vec<BTreeMap<LocationId, i64>>,
    /// For each sorted combination of locations, which values are allowed; none if it is not there.
    pub rows: BTreeMap<Vec<LocationId>, Term>,
}

impl Views {
    /// How many threads there are, if that is known.
    pub fn total(&self) -> Option<usize> {
        self.counts.iter().try_fold(0_usize, |sum, count| sum.checked_add((*count)?))
    }

    /// Whether threads of this template are in every view.
    pub fn anchors(&self, template: TemplateId) -> bool {
        self.anchored && self.counts.get(template.index()).is_some_and(Option::is_some)
    }

    /// How many threads are in every view.
    pub fn anchors_in_all(&self) -> usize {
        if self.anchored {
            self.counts.iter().flatten().fold(0, |sum, &count| sum.saturating_add(count))
        } else {
            0
        }
    }

    /// Whether it is about any number of threads.
    pub fn any_number(&self) -> bool {
        self.total().is_none()
    }
}

/// The name of a sum of weights.
pub fn weighed(index: usize) -> String {
    format!("#{index}")
}
