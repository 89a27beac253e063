//! C programs with threads, as programs of the model.
//!
//! The way of a text: [`source`] runs the preprocessor where one is needed and keeps the way back from its lines to those
//! of the user; [`annotations`] makes calls of assertions in comments; `normalise` takes out what the parser does not read;
//! [`sema`] resolves names and types ([`typed`]); [`pointers`] finds out where pointers point; [`lower`](mod@lower) gives objects their slots and statements their steps;
//! `races` watches for data races if they are asked for; [`fuse`](mod@fuse) joins the steps that no other thread can see.

pub mod annotations;
mod choices;
pub mod fuse;
mod indeterminate;
mod irrelevant;
mod lexer;
pub mod library;
pub mod lower;
mod normalise;
mod parse;
pub mod pointers;
pub mod property;
mod races;
mod ranges;
pub mod sema;
pub mod slots;
pub mod source;
pub mod typed;
pub mod walk;
mod webs;

use allways_model::program::Program;
use lower::Lowered;
use property::Property;
use sema::CError;
use source::LineMap;
use typed::DataModel;

/// Reads a preprocessed text: a program of the model that goes wrong where a property is violated, its invisible steps
/// joined.
pub fn read(
    text: &[u8],
    map: &LineMap,
    model: DataModel,
    property: Property,
) -> Result<Lowered, Vec<CError>> {
    let text = annotations::written_out(text)
        .map_err(|(start, end, message)| vec![CError { span: map.span(start, end), message }])?;
    let unit = sema::analyse(&text, map, model)?;
    let mut lowered = lower::lower(&unit, property).map_err(|error| vec![error])?;
    if property.races {
        if let Some(program) = lowered.exact.take() {
            let mut exact = Lowered { program, ..lowered.clone() };
            races::watch(&mut exact);
            lowered.exact = Some(exact.program);
        }
        races::watch(&mut lowered);
    }
    finish(&mut lowered.program);
    lowered.exact.iter_mut().for_each(finish);
    Ok(lowered)
}

/// Makes a program smaller.
fn finish(program: &mut Program) {
    fuse::forget_unreachable(program);
    let apart = webs::split(program);
    irrelevant::forget(program);
    choices::narrow(program);
    ranges::narrow(program);
    webs::join(program, &apart);
    fuse::fuse(program);
}
