//! Verdicts, the evidence they carry, and the checkers that accept or reject it.
//!
//! This crate depends on `allways-model`, `allways-smt` and a hash table alone. That the checkers share no code with the engines is a
//! fact of the build, not a promise. Read in this order:
//!
//! * [`verdict`]: safe with a certificate, unsafe with a counterexample, or unknown with the reason;
//! * [`certify`](mod@certify): the one entry to the checkers;
//! * [`trace`] and [`replay`](mod@replay): a run that goes wrong, and the checker that walks it;
//! * [`interpret`](mod@interpret): the run of a program behind a trace of its encoding;
//! * [`invariant`] and [`induct`](mod@induct): a set that contains every reachable state, and the checker that tests it;
//! * [`shards`]: all reachable states of a finite system, listed in files that many machines can check;
//! * [`products`] and [`close`](mod@products::close): sets of thread states whose products contain every reachable state,
//!   perhaps for any number of threads, and the checker that tests them;
//! * [`counters`]: runs and certificates of counter systems, with any number of threads;
//! * [`counted`]: programs as counter systems, whose certificates hold for the programs;
//! * [`views`]: formulas about what a few threads see together, for programs with integers;
//! * [`lasso`] and [`ranking`]: a run without progress, and why there is none; [`listed`]: the states of programs in them;
//! * [`exhaust`](mod@exhaust): all states of a program by its own semantics, where there are few;
//! * [`rejection`]: why a checker does not accept, naming the failing step;
//! * [`text`]: all kinds of evidence as text files.

pub mod certify;
pub mod counted;
pub mod counters;
pub mod exhaust;
pub mod induct;
pub mod interpret;
pub mod invariant;
pub mod lasso;
pub mod listed;
mod numbered;
mod passed;
pub mod products;
pub mod ranking;
pub mod rejection;
pub mod replay;
mod shape;
pub mod shards;
pub mod text;
pub mod trace;
pub mod verdict;
pub mod views;
mod words;

pub use certify::{Judge, Stop, Subject, certify};
pub use counted::Counted;
pub use exhaust::{Exhausted, exhaust};
pub use induct::induct;
pub use interpret::{End, Run, RunStep, interpret};
pub use invariant::{Invariant, Window};
pub use lasso::{Halt, Lasso, LassoStep};
pub use listed::Listed;
pub use numbered::check_numbers;
pub use passed::check_passed;
pub use products::Products;
pub use products::close::close;
pub use ranking::{Ranking, Ranks};
pub use rejection::Rejection;
pub use replay::replay;
pub use shards::Shards;
pub use text::{BadEvidence, Header, VERSION, read_evidence, read_inputs, write_evidence};
pub use trace::{Step, Trace};
pub use verdict::{Certificate, Counterexample, Evidence, EvidenceRef, StopReason, Verdict};
pub use views::Views;
