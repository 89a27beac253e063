//! Formulas over integers and bit-vectors, and solvers for them.
//!
//! Depends on nothing. Read in this order: [`term`], our own formulas, and how they are written in SMT-LIB 2; [`function`],
//! operations that are not linear; [`read`], the
//! way back; [`solver`], the small trait that everything else uses; [`process`], a solver in a process of its own; [`bits`],
//! formulas over bit-vectors.

pub mod bits;
pub mod function;
mod known;
pub mod process;
pub mod read;
pub mod solver;
pub mod term;

pub use function::Function;
pub use process::{Process, Settings};
pub use read::{BadTerm, read_term};
pub use solver::{Answer, Failure, Query, Solver};
pub use term::Term;
