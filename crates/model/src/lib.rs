//! The systems that engines see, their exact step semantics, and properties of their states.
//!
//! This crate is the common ground of everything else and reads, prints and searches nothing. Read in this order:
//!
//! * [`program`]: programs as control-flow graphs, what every notation of programs lowers to;
//! * [`pushdown`]: concurrent pushdown systems, a fixed number of threads, each with a stack;
//! * [`encoding`]: programs as pushdown systems, on the fly;
//! * [`counters`]: counter systems, any number of threads that are alike;
//! * [`symmetry`]: threads that are interchangeable;
//! * [`property`]: what must never be seen;
//! * [`task`] with [`threads`]: the question of a whole check, and for how many threads;
//! * [`bytes`]: how states travel between processes;
//! * [`index`](mod@index): types for numbers that name something;
//! * [`notation`]: how states are written (`0|1.4.4,2`), shared by files, evidence and reports.

pub mod bytes;
pub mod counters;
pub mod encoding;
mod hash;
pub mod index;
pub mod notation;
pub mod program;
pub mod property;
pub mod pushdown;
pub mod symmetry;
pub mod task;
pub mod threads;
