//! Small random programs, as text, and a naive exploration of what a program can do.
//!
//! * [`text`]: the program of a number, always the same one, in the `.aw` language;
//! * [`explore`](fn@explore): all that can be reached by the reference semantics.
//!
//! The text goes through the whole front end, so what is compared with the exploration is what a user would get.

pub mod explore;
mod expressions;
pub mod generate;
mod statements;

pub use explore::{Explored, Limits, explore};
pub use generate::{Mode, text};
