//! Small random programs, as text, and brute force on programs.
//!
//! * [`text`]: the program of a number, always the same one, in the `.aw` language;
//! * [`boolean`](fn@boolean): the Boolean program of a number, in `.bp`;
//! * [`crowd`](fn@crowd): a tiny one with broadcasts;
//! * [`posting`](fn@posting) and [`terse`](fn@terse): a tiny asynchronous one;
//! * [`Circuit`]: a circuit as an asynchronous program;
//! * [`held`](fn@held): one with variables that hold threads, and the same with numbers;
//! * [`integers`](fn@integers): one with integers, for any number of threads;
//! * [`labels`](fn@labels): one thread with labels on everything, and a naive reading of it;
//! * [`looping`](fn@looping): one whose threads mostly run for ever, with promises of progress;
//! * [`numbered`](fn@numbered): one whose threads use their numbers;
//! * [`spelled`](fn@spelled): one without what can be written otherwise;
//! * [`starts`](fn@starts): one whose variables start with any values;
//! * [`explore`](fn@explore): all that can be reached by the reference semantics;
//! * [`mod@kept`]: whether promises of progress are kept, by fixpoints;
//! * [`summarize`]: the same for one thread, whatever the depth of its stack;
//! * [`cheapest`]: the least that it takes to go wrong;
//! * [`encodings_agree`]: the encoding of a program, and its reduction, compared with that.
//!
//! The text goes through the whole front end, so what is compared with the exploration is what a user would get.

pub mod boolean;
pub mod circuit;
pub mod crowd;
pub mod encodings;
pub mod explore;
mod expressions;
pub mod generate;
pub mod held;
pub mod integers;
pub mod kept;
pub mod labels;
pub mod looping;
pub mod numbered;
pub mod posting;
pub mod spelled;
pub mod starts;
mod statements;
pub mod summaries;
pub mod terse;

pub use boolean::boolean;
pub use circuit::Circuit;
pub use crowd::crowd;
pub use encodings::encodings_agree;
pub use explore::{Explored, Limits, cheapest, explore};
pub use generate::{Mode, text};
pub use held::held;
pub use integers::integers;
pub use kept::{Kept, kept};
pub use labels::labels;
pub use looping::looping;
pub use numbered::numbered;
pub use posting::posting;
pub use spelled::spelled;
pub use starts::starts;
pub use summaries::summarize;
pub use terse::terse;
