//! Can this concurrent program go wrong under any schedule? A trace, or a proof.
//!
//! This crate puts the others together: it [loads](mod@load) a system from files, asks an engine, and [passes its
//! answer](verify) through the checkers of evidence before it counts as one. The program `allways` is a thin layer above.
//!
//! ```
//! use allways::{Counterexample, Options, Question, Verdict, Watch, auto, check, load};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Two threads that take a lock and call themselves inside the critical section, to any depth. Beside the file are
//! // `lock-recursive.init`, where they start, and `lock-recursive.spec`, `*|2,2`: both in the critical section.
//! let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/pds/lock-recursive.pds");
//! let watch = Watch::none();
//! let loaded = load(path, &Options::default(), &watch)?;
//! let question = Question { property: loaded.property(&[], &watch)?, ..Question::default() };
//!
//! let checked = check(&loaded.system, &question, auto(), &watch)?;
//! assert!(matches!(checked.report.verdict, Verdict::Safe(_)));
//! assert!(checked.certified, "and the checker of invariants agrees");
//!
//! // Something else to avoid, and a run that does not: `1|4,0`, the first thread about to release the lock.
//! let property = loaded.property(&["1|4,0".to_string()], &watch)?;
//! let checked = check(&loaded.system, &Question { property, ..question }, auto(), &watch)?;
//! let Verdict::Unsafe(Counterexample::Trace(trace)) = checked.report.verdict else { panic!("it can get there") };
//! let lines: Vec<u32> = trace.steps.iter().map(|step| step.line).collect();
//! assert_eq!(lines.len(), 2, "it takes the lock, and its work returns");
//! # Ok(())
//! # }
//! ```
//!
//! Read in this order: [`load`](mod@load) with [`system`] and [`threads`], [`verify`], [`views`], [`scheduled`], [`story`], [`counters`]; then the program, from `src/cli.rs` on.

pub mod counters;
pub mod flatten;
pub mod load;
pub mod scheduled;
pub mod story;
pub mod system;
pub mod threads;
pub mod verify;
pub mod views;

pub use allways_engines::engine::{
    Engine, Figures, Progress, Question, Report, VisibleStates, Watch, auto, engines,
};
pub use allways_evidence::{Certificate, Counterexample, Evidence, StopReason, Verdict};
pub use load::{LoadError, Loaded, Options, Remarks, Text, load};
pub use story::Story;
pub use system::System;
pub use verify::{Bound, Checked, Reached, Refuted, check, reach};
