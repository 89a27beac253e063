//! The engines: explorers from below, bounds from above, and the methods that make the two meet.
//!
//! Engines know models, never notations; they never print, parse or read arguments. Read in this order:
//!
//! * [`engine`]: the trait, what an engine takes and gives; [`budget`]: time, memory, cancellation;
//! * [`forms`]: a task and the forms that engines work on, each made once;
//! * [`table`]: which engines there are; [`strategy`]: which of them when; [`race`](mod@race): several at once; [`journal`]:
//!   what they did; [`confirm`](mod@confirm): from a claim to an answer;
//! * [`store`]: the sets of states that most of them are built on;
//! * [`automata`]: regular sets of stacks, for what one thread reaches alone where that is infinite;
//! * [`below`]: everything found here is reachable;
//! * [`above`]: everything reachable is found here;
//! * [`meet`]: methods that run the two against each other until they meet.

pub mod above;
pub mod automata;
pub mod below;
pub mod budget;
pub mod confirm;
pub mod engine;
pub mod forms;
pub mod journal;
pub mod meet;
pub mod race;
pub mod store;
pub mod strategy;
pub mod table;

pub use below::shortest::{Effort, Shortest, shortest};
pub use budget::{Budget, Progress};
pub use engine::{Engine, EvidenceRejected, Figures, Info, Outcome, PushdownEngine, Question};
pub use forms::Forms;
pub use strategy::{FreeSearch, Strategy};
pub use table::Engines;
