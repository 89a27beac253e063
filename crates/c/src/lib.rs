//! C programs with threads, as programs of the model.
//!
//! The way of a text: [`source`] runs the preprocessor where one is needed and keeps the way back from its lines to those
//! of the user; `normalise` takes out what the parser does not read; [`sema`] resolves names and types ([`typed`]);
//! `lower` gives objects their slots and statements their steps.

mod lexer;
mod normalise;
mod parse;
pub mod sema;
pub mod source;
pub mod typed;
