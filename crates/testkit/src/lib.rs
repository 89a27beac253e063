//! What the tests of all crates share: generators, naive reference semantics, the corpus, and the conformance suite.
//!
//! * [`mod@reference`]: the definitions of the papers, read literally; slow, and short enough to be obviously right;
//! * [`random`]: small random systems;
//! * [`counters`]: small random counter systems, and brute force on them;
//! * [`programs`]: small random programs, and brute force on programs;
//! * [`families`]: systems of the papers for any number of threads;
//! * [`corpus`]: the files in `corpus/` and the expectations they carry;
//! * [`conformance`]: what every engine must satisfy;
//! * [`terms`]: the values of formulas.

pub mod conformance;
pub mod corpus;
pub mod counters;
pub mod families;
pub mod modular;
pub mod programs;
pub mod random;
pub mod reference;
pub mod terms;
