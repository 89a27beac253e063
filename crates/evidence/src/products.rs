//! Sets of thread states whose products contain every reachable state (TM: Theorem 6, Proposition 19, Theorem 21).
//!
//! A *thread state* is a shared state and one stack. A *fact* `(g, a, c)` stands for the thread states `(g, a.w)` where the
//! word `w` is in the language of the *context* `c`; `(g, EMPTY, END)` stands for `(g, ε)`. A context is a state of an
//! automaton that reads stacks: its *tails* are pairs `(b, d)`, and its language holds `b.w` for each tail and each `w` in
//! the language of `d`. The language of [`END`] is the empty word alone. Each kind of threads has contexts of its own.
//!
//! # Meaning
//!
//! A product has a set of facts for each kind of threads, the *rest*, and perhaps one for its *mover*. It contains a state
//! of the system if, with the same shared state for all, each thread is in the set of its kind; if there is a mover, one
//! thread of the mover's kind is in the mover's set instead. After a step of a thread of kind `k`, the product *next* `k`
//! takes over. A certificate is a list of such products:
//!
//! * Flanagan and Qadeer: one product, next to itself;
//! * the quadratic method: for each kind one with a mover of that kind, which follows each step of that kind;
//! * frontier searches: a sequence, of which each is next to the one before and the last to itself.
//!
//! # Any number of threads
//!
//! Where threads are [many](allways_model::pushdown::Pushdown::many), one thread of the system stands for any number of
//! them. A product then contains the states with any number of such threads, none included, each in the set of its kind.
//!
//! The checker ([`close`](mod@close)) accepts products that contain the initial states, in which each step leads from what a
//! product contains to what the next one contains, and that contain no bad state.

pub mod admitted;
pub mod close;

pub use admitted::Admitted;

use allways_model::pushdown::{EMPTY, Shared, Symbol};
use allways_model::symmetry::Kinds;

/// A context: a state of the automaton that reads what lies below the top of a stack.
pub type Context = u32;

/// The context of what lies on the bottom of its stack.
pub const END: Context = 0;

/// Some states of a thread; see the module.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Fact {
    /// The shared state.
    pub shared: Shared,
    /// The top of the stack, [`EMPTY`] if the stack is empty; then the context is [`END`].
    pub top: Symbol,
    /// What lies below.
    pub context: Context,
}

impl Fact {
    /// Whether it stands for an empty stack.
    pub fn is_empty(&self) -> bool {
        self.top == EMPTY
    }
}

/// A set of states of the whole system; see the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Product {
    /// The kind of the mover and its set, if there is one.
    pub mover: Option<(usize, Vec<Fact>)>,
    /// For each kind of threads its set.
    pub rest: Vec<Vec<Fact>>,
    /// For each kind, the index of the product after a step of such a thread.
    pub next: Vec<usize>,
}

/// The tails of a context: a symbol, and the context of what lies below that.
pub type Tails = Vec<(Symbol, Context)>;

/// Products that contain every reachable state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Products {
    /// Which threads share their sets.
    pub kinds: Kinds,
    /// For each kind, whether its thread stands for any number of them.
    pub many: Vec<bool>,
    /// For each kind, the tails of each context. [`END`] has none.
    pub contexts: Vec<Vec<Tails>>,
    /// The products.
    pub products: Vec<Product>,
}

impl Products {
    /// How many facts there are.
    pub fn facts(&self) -> usize {
        let of = |product: &Product| {
            product.rest.iter().map(Vec::len).sum::<usize>()
                + product.mover.as_ref().map_or(0, |(_, facts)| facts.len())
        };
        self.products.iter().map(of).sum()
    }

    /// Whether this speaks about any number of threads.
    pub fn any_number(&self) -> bool {
        self.many.contains(&true)
    }
}
