//! Sets of states, the heart of every explorer.
//!
//! * [`stacks`]: the stacks of one thread, each distinct stack stored once and named by a number;
//! * [`threads`]: how each thread moves, as a graph over (shared state, stack number), built when asked for;
//! * [`states`]: a set of rows of small numbers, packed into machine words: no allocation per state;
//! * [`space`]: the three together: a growing set of reachable states, and what is visible of them.

pub mod space;
pub mod stacks;
pub mod states;
pub mod threads;

pub use space::{Halt, Space};
pub use stacks::{StackId, Stacks};
pub use states::{StateId, States};
pub use threads::Threads;
