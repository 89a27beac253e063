//! Text to model: one module per notation.
//!
//! Files come from outside and are taken to be hostile: a reader never panics, runs in nearly linear time, and
//! answers with values only. Nothing here prints or opens a file. Read in this order:
//!
//! * [`diagnostic`]: what a reader says about a text, and where;
//! * `cursor`: a place in a text, from which all readers take their tokens;
//! * [`aw`]: the language of programs;
//! * [`pds`]: concurrent pushdown systems in the format of the CUBA tool, with its `.init` and `.spec` files;
//! * [`bp`]: Boolean programs, as SATABS and IJIT write them;
//! * [`spec`]: Petri nets and broadcast protocols in the format of the mist tool;
//! * [`tts`]: thread transition systems, as SATABS writes them, with their `.prop` and `.init` files;
//! * [`yaml`]: the part of YAML that task definitions and witnesses of SV-COMP are written in;
//! * [`write`](mod@write): the other way, from programs to text.

pub mod aw;
pub mod bp;
mod cursor;
pub mod diagnostic;
pub mod pds;
pub mod spec;
pub mod tts;
pub mod write;
pub mod yaml;
