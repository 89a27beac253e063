//! Can this concurrent program go wrong under any schedule? A counterexample, or a certificate.
//!
//! [`load()`] reads a task from a file, whatever its notation; [`check()`] runs a strategy of engines on it, has the answer
//! certified by an independent checker, and gives a [`Report`]. The program `allways` is a thin layer above: what it decides,
//! this library decides.
//!
//! ```
//! use allways::{Budget, Options, Request, check, load};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # if std::process::Command::new("z3").arg("--version").output().is_err() { eprintln!("skipped: no z3"); return Ok(()); }
//! // A ticket lock whose tickets count for ever, with any number of threads.
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/aw/int-ticket-lock.aw");
//! let loaded = load(path, &Options::default(), &Budget::unlimited())?;
//! let checked = check(&loaded.task, &Request::default(), &Budget::unlimited())?;
//! assert_eq!(checked.report.verdict, "safe");
//! assert!(checked.report.certified, "the checker agrees");
//! assert_eq!(checked.report.any_number, Some(true));
//! # Ok(())
//! # }
//! ```
//!
//! A task can also be made of a model, without a file. Here, a program that was read from text, and goes wrong:
//!
//! ```
//! use allways::{Budget, Model, Request, Task, Verdict, check};
//! use std::sync::Arc;
//!
//! let text = b"shared 0..2 n; thread p[*] { n = (n + 1) % 3; assert n != 2; }";
//! let program = allways_lang::aw::parse(text).program.expect("it is well formed");
//! let task = Task::new(Model::Program(Arc::new(program)));
//! let checked = check(&task, &Request::default(), &Budget::unlimited()).expect("no evidence is rejected");
//! assert!(matches!(checked.verdict(), Verdict::Unsafe(_)));
//! assert_eq!(checked.report.taken.as_deref(), Some("--threads p=2"), "it takes two threads");
//! ```
//!
//! Read in this order: [`load`](mod@load); [`check`](mod@check), [`reach`](mod@reach) and [`recheck`], what can be asked;
//! [`report`], with [`source_trace`], [`columns`] and [`stats`], what is said; [`story`] and [`page`], how it looks, and [`graph`]; [`findings`], what is
//! said in CI; `serve`, a page at localhost, and `lsp`, for
//! editors; [`witness`], what is said to other tools; [`definition`], tasks of
//! SV-COMP; [`flatten`], other notations; then the program, from
//! [`cli`] on.

mod advice;
pub mod check;
pub mod cli;
pub mod columns;
pub mod definition;
mod explain;
pub mod findings;
pub mod flatten;
pub mod graph;
mod held;
#[cfg(any(feature = "lsp", feature = "serve"))]
pub mod jobs;
pub mod load;
#[cfg(feature = "lsp")]
pub mod lsp;
pub mod native;
pub mod page;
pub mod reach;
pub mod recheck;
pub mod report;
mod rows;
#[cfg(feature = "serve")]
pub mod serve;
pub mod source_trace;
pub mod stats;
pub mod story;
pub mod witness;
mod words;

pub use allways_engines::{Budget, Engine, Engines, EvidenceRejected, Progress, Question};
pub use allways_evidence::{Certificate, Counterexample, Evidence, StopReason, Verdict};
pub use allways_model::task::{Instance, Model, Source, Task};
pub use check::{CheckError, Checked, Request, check};
pub use load::{LoadError, Loaded, Options, SourceDiagnostics, load};
pub use reach::{Reached, reach};
pub use report::Report;
