//! The engines: explorers from below, bounds from above, and the methods that make the two meet.
//!
//! Engines know models, never notations; they never print, parse or read arguments. Read in this order:
//!
//! * [`engine`]: the trait, what an engine takes and gives, limits, progress;
//! * [`store`]: the sets of states that all of them are built on;
//! * [`automata`]: regular sets of stacks, for what one thread reaches alone where that is infinite;
//! * [`below`]: everything found here is reachable;
//! * [`above`]: everything reachable is found here;
//! * [`meet`]: methods that run the two against each other until they meet.

pub mod above;
pub mod automata;
pub mod below;
pub mod engine;
pub mod meet;
pub mod store;

pub use below::shortest::{Shortest, shortest};
pub use engine::{Engine, Figures, Question, Report, auto, engines};
