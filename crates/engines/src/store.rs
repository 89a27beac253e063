//! Sets of states, the heart of every explorer.
//!
//! * [`packing`]: rows of small numbers in machine words;
//! * [`states`]: a set of such rows: no allocation per state;
//! * [`expand`]: successors of rows, many at a time, in any system whose threads move by themselves;
//! * [`stacks`]: the stacks of one thread, each distinct stack stored once and named by a number;
//! * [`threads`]: how each thread moves, as a graph over (shared state, stack number), built when asked for;
//! * [`trace`]: runs, rebuilt from the states they pass through;
//! * [`space`]: all of these together: a growing set of reachable states with their origins;
//! * [`observed`]: what is seen of the states of a space.

pub mod expand;
pub mod observed;
pub mod packing;
pub mod space;
pub mod stacks;
pub mod states;
pub mod threads;
pub mod trace;

pub use expand::{Disabled, Expander, Graph, Move};
pub use observed::Observed;
pub use space::{Halt, Space};
pub use stacks::{StackId, Stacks};
pub use states::{StateId, States};
pub use threads::Threads;
