//! Evidence about counter systems: any number of threads.
//!
//! * [`run`]: a run that ends in a bad configuration, and the checker that walks it;
//! * [`basis`]: a set of configurations that no run enters and that contains all bad ones, and the checker that tests it;
//! * `text`: both as text.

pub mod basis;
pub mod run;
pub(crate) mod text;

pub use basis::{Basis, Limit, Weights, check_basis};
pub use run::{Run, walk};
