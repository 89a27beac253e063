//! C programs with threads, as programs of the model.
//!
//! The way of a text: [`source`] runs the preprocessor where one is needed and keeps the way back from its lines to those
//! of the user; [`annotations`] makes calls of assertions in comments; `normalise` takes out what the parser does not read;
//! [`sema`] resolves names and types ([`typed`]), of what is stated beside the program as well ([`instrument`]); `arguments` stores arguments before calls that need them twice; [`near`] cuts what is too large to be read as a whole; [`pointers`] finds out where pointers point; [`lower`](mod@lower) gives objects their slots and statements their steps;
//! `races` watches for data races if they are asked for; [`fuse`](mod@fuse) joins the steps that no other thread can see.

pub mod annotations;
mod arguments;
mod bounded;
mod bounds;
mod choices;
mod coarse;
mod compact;
mod concurrent;
mod conversions;
mod counted;
mod domains;
mod few_inputs;
pub mod fuse;
mod indeterminate;
pub mod instrument;
mod irrelevant;
mod late;
mod lexer;
pub mod library;
mod localise;
pub mod lower;
mod marks;
pub mod near;
mod normalise;
mod objects;
mod outline;
mod parse;
pub mod pointers;
pub mod property;
mod protected;
mod races;
mod ranges;
pub mod sema;
mod settled;
mod slice;
pub mod slots;
pub mod source;
mod strict;
mod strides;
pub mod strings;
pub mod typed;
mod unread;
mod unseen;
pub mod values;
pub mod walk;
mod webs;

use allways_model::program::reduction::reduce;
use allways_model::program::{Count, Program};
use allways_model::task::{Model, Task};
use instrument::Instrumentation;
use lower::Lowered;
use property::Property;
use sema::CError;
use source::LineMap;
use std::sync::Arc;
use typed::{DataModel, Unit};

/// With more threads of their own than this, proofs by locks speak of any number.
const MOST_APART: usize = 8;

/// Reads a preprocessed text: a program of the model that goes wrong where a property is violated, its invisible steps
/// joined.
pub fn read(
    text: &[u8],
    map: &LineMap,
    model: DataModel,
    property: Property,
) -> Result<Lowered, Vec<CError>> {
    read_with(text, map, model, property, None)
}

/// [`read`], with what is stated beside the program about places of this source, which is the text that the map leads to. The program goes
/// wrong where an invariant does not hold, too.
pub fn read_with(
    text: &[u8],
    map: &LineMap,
    model: DataModel,
    property: Property,
    stated: Option<(&Instrumentation, &[u8])>,
) -> Result<Lowered, Vec<CError>> {
    let mut unit = analyse(text, map, model, stated)?;
    let is_cut =
        Property::named("unreach-call") == Some(property) && near::cut(&mut unit, near::MOST_EXPRESSIONS);
    let mut lowered = lower::lower(&unit, property).map_err(|error| vec![error])?;
    if !lowered.given.is_empty() {
        lowered.given_here = irrelevant::depends(&lowered.program, &lowered.given);
    }
    let mut few = match lowered.widened.is_empty() {
        true => None,
        false => lower::lower_few(&unit, property).ok(),
    };
    // What may do more may also move where the program cannot, so that it says nothing about deadlocks.
    let safety = !property.deadlocks;
    // Nothing is proved of a part.
    let provable = safety && !is_cut;
    let by_locks = |lowered: &Lowered| if property.races && provable { locks(lowered) } else { None };
    lowered.locks = by_locks(&lowered);
    if property.races {
        races::watch(&mut lowered);
        few.iter_mut().for_each(races::watch);
    }
    lowered.exact = few.map(|few| few.program);
    let any = if provable { lower::lower_any(&unit, property) } else { None };
    let crowd = if provable { lower::lower_crowd(&unit, &lowered, property) } else { None };
    if let Some(mut crowd) = crowd {
        // Joins do not wait there, so that only what has many threads is better off.
        if lowered.program.templates.len() > MOST_APART || lowered.locks.is_none() {
            lowered.locks = by_locks(&crowd).or(lowered.locks);
        }
        if property.races {
            races::watch(&mut crowd);
        }
        let proofs = finish(&mut crowd.program, true, true);
        // How many of them there are is known there, and takes no location for each.
        lowered.bounded = proofs.bounded.clone().filter(counted::counts);
        let easier = proofs.part.or(proofs.coarse).or(proofs.bounded);
        lowered.part = easier.or(Some(crowd.program));
    }
    if let Some(mut any) = any {
        if property.races {
            races::watch(&mut any);
        }
        lowered.assumed = any.assumed;
        let proofs = finish(&mut any.program, true, true);
        lowered.coarse = proofs.coarse.or(Some(any.program));
        lowered.bounded = lowered.bounded.or(proofs.bounded);
    }
    let proofs = finish(&mut lowered.program, provable && lowered.coarse.is_none(), safety);
    lowered.coarse = lowered.coarse.or(proofs.coarse);
    lowered.bounded = lowered.bounded.or(proofs.bounded);
    lowered.part = lowered.part.or(proofs.part);
    if let Some(exact) = &mut lowered.exact {
        finish(exact, false, safety);
    }
    Ok(lowered)
}

/// Reads a preprocessed text as [`read`] does, and leaves the program as it is: no steps are joined, and no values left out.
pub fn read_unreduced(
    text: &[u8],
    map: &LineMap,
    model: DataModel,
    property: Property,
) -> Result<Lowered, Vec<CError>> {
    let unit = analyse(text, map, model, None)?;
    let mut lowered = lower::lower(&unit, property).map_err(|error| vec![error])?;
    indeterminate::start_with_zero(&mut lowered.program);
    Ok(lowered)
}

/// Names and types of a preprocessed text.
fn analyse(
    text: &[u8],
    map: &LineMap,
    model: DataModel,
    stated: Option<(&Instrumentation, &[u8])>,
) -> Result<Unit, Vec<CError>> {
    let text = annotations::written_out(text)
        .map_err(|(start, end, message)| vec![CError { span: map.span(start, end), message }])?;
    let mut unit = strings::analyse_with(&text, map, model, stated)?;
    arguments::evaluate_first(&mut unit);
    Ok(unit)
}

/// Programs of which a proof is one of another program, and that are easier to prove.
#[derive(Default)]
struct Proofs {
    coarse: Option<Program>,
    bounded: Option<Program>,
    part: Option<Program>,
}

/// Makes a program smaller; says of which programs a proof is one of this program, if that is wanted. With `safety`, nothing is
/// asked about threads that wait for ever.
fn finish(program: &mut Program, wanted: bool, safety: bool) -> Proofs {
    let apart = narrow(program, safety);
    let proofs = match wanted {
        true => Proofs { coarse: easier(program), bounded: with_bounds(program), part: part(program) },
        false => Proofs::default(),
    };
    webs::join(program, &apart);
    fuse::fuse(program);
    proofs
}

/// Fewer variables, values and choices; says which variables are apart that were one.
fn narrow(program: &mut Program, safety: bool) -> webs::Apart {
    fuse::forget_unreachable(program);
    let apart = webs::split(program);
    settled::replace(program);
    settled::retype(program);
    irrelevant::forget(program);
    choices::narrow(program);
    ranges::narrow(program);
    late::choose(program, safety);
    conversions::forget(program);
    choices::narrow(program);
    apart
}

/// A program without stores that nobody reads, and without wide data: it may do more. If that is of no use, one without such
/// stores.
fn easier(program: &Program) -> Option<Program> {
    let mut strict = program.clone();
    let stops = strict::go_wrong_beyond(&mut strict);
    let mut fewer = strict.clone();
    let unread = unread::forget(&mut fewer);
    let fewer = (unread || stops).then_some(fewer);
    let base = fewer.as_ref().unwrap_or(&strict);
    let coarse = |rough| coarse::coarse(base, rough).and_then(finish_for_proofs);
    let is_open = program.templates.iter().any(|template| template.spawned || template.count == Count::Any);
    coarse(false)
        .or_else(|| is_open.then(|| coarse(true))?)
        .or_else(|| fewer.clone().and_then(finish_for_proofs))
}

/// The program with bounds on what its variables hold, if there are some: it goes wrong where these do not hold, and where the program
/// is not followed.
fn with_bounds(program: &Program) -> Option<Program> {
    let mut strict = without_unread(program);
    compact::compact(&mut strict);
    if !Task::new(Model::Program(Arc::new(strict.clone()))).has_wide_values() {
        return None;
    }
    let counts = counted::count(&mut strict);
    let mut bounded = bounded::bounded(&strict).or_else(|| counts.then_some(strict))?;
    fuse::fuse_for_proofs(&mut bounded);
    Some(bounded)
}

/// The part of the program that decides whether it goes wrong, with bounds, if it has few values.
fn part(program: &Program) -> Option<Program> {
    let part = slice::slice(&without_unread(program))?;
    finish_for_proofs(bounded::bounded(&part).unwrap_or(part))
}

/// A program of objects and of the locks that are held where they are accessed, which goes wrong where threads race.
fn locks(lowered: &Lowered) -> Option<Program> {
    let (mut program, locks) = objects::watch(lowered)?;
    strict::go_wrong_beyond(&mut program);
    fuse::forget_unreachable(&mut program);
    webs::split(&mut program);
    outline::draw(&mut program, &locks)?;
    narrow(&mut program, true);
    program = without_unread(&program);
    program = slice::slice_with(&program, &locks).unwrap_or(program);
    finish_for_proofs(bounded::bounded(&program).unwrap_or(program))
}

/// A program that goes wrong where another one is not followed, without what nobody reads.
fn without_unread(program: &Program) -> Program {
    let mut strict = program.clone();
    strict::go_wrong_beyond(&mut strict);
    unread::forget(&mut strict);
    irrelevant::forget(&mut strict);
    indeterminate::start_with_zero(&mut strict);
    strict = reduce(&strict).program;
    indeterminate::start_with_zero(&mut strict);
    localise::localise(&mut strict);
    strict
}

/// Makes a program smaller of which only proofs are asked; nothing if it has too many values.
fn finish_for_proofs(mut program: Program) -> Option<Program> {
    irrelevant::forget(&mut program);
    indeterminate::start_with_zero(&mut program);
    program = reduce(&program).program;
    indeterminate::start_with_zero(&mut program);
    localise::localise(&mut program);
    few_inputs::spare(&mut program);
    choices::narrow_up_to_renaming(&mut program);
    if !choices::are_few(&program) {
        return None;
    }
    compact::compact(&mut program);
    fuse::fuse_for_proofs(&mut program);
    Some(program)
}
