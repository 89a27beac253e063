//! C programs with threads, as programs of the model.
//!
//! The way of a text: `source` runs the preprocessor where one is needed and keeps the way back from its lines to those
//! of the user; `normalise` takes out what the parser does not read; `sema` resolves names and types ([`typed`]);
//! [`pointers`] finds out where pointers point; [`lower`](mod@lower) gives objects their slots and statements their steps;
//! [`fuse`](mod@fuse) joins the steps that no other thread can see.

pub mod fuse;
pub mod library;
pub mod lower;
pub mod pointers;
pub mod slots;
pub mod typed;
pub mod walk;

/// Why a text is not read, or a program not followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CError {
    /// Where.
    pub span: typed::Span,
    /// Why.
    pub message: String,
}
