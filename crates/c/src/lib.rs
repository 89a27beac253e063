//! C programs with threads, as programs of the model.
//!
//! The way of a text: [`source`] runs the preprocessor where one is needed and keeps the way back from its lines to those
//! of the user; [`annotations`] makes calls of assertions in comments; `normalise` takes out what the parser does not read;
//! [`sema`] resolves names and types ([`typed`]); [`pointers`] finds out where pointers point; [`lower`](mod@lower) gives objects their slots and statements their steps;
//! `races` watches for data races if they are asked for; [`fuse`](mod@fuse) joins the steps that no other thread can see.

pub mod annotations;
mod bounds;
mod choices;
mod coarse;
mod compact;
mod domains;
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
mod settled;
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
    // What may do more may also move where the program cannot, so that it says nothing about deadlocks.
    lowered.coarse = finish(&mut lowered.program, !property.deadlocks);
    if let Some(exact) = &mut lowered.exact {
        finish(exact, false);
    }
    Ok(lowered)
}

/// Makes a program smaller; says which program may do more, and has no wide data, if one is wanted and there is one.
fn finish(program: &mut Program, wanted: bool) -> Option<Program> {
    fuse::forget_unreachable(program);
    let apart = webs::split(program);
    settled::replace(program);
    irrelevant::forget(program);
    choices::narrow(program);
    ranges::narrow(program);
    let mut coarse = if wanted { coarse::coarse(program) } else { None };
    if let Some(coarse) = &mut coarse {
        irrelevant::forget(coarse);
        choices::narrow(coarse);
    }
    let coarse = coarse.filter(choices::are_few);
    let end = |mut program: Program| {
        webs::join(&mut program, &apart);
        fuse::fuse(&mut program);
        program
    };
    *program = end(std::mem::take(program));
    coarse.map(|mut coarse| {
        compact::compact(&mut coarse);
        end(coarse)
    })
}
