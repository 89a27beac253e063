//! A certificate made readable: at each place of the program, which values variables have there, and where others may be meanwhile.
//!
//! This tells less than the certificate: of a set of states, what each variable may be by itself. So what is said is true in
//! every reachable state of the encoding, which joins steps that no other thread can tell apart, but is no proof; that is the
//! evidence, which `--evidence` writes.

use super::ProofStory;
use crate::source_trace::{TraceWriter, is_shown, named, thread_names};
use crate::words;
use allways_engines::Forms;
use allways_evidence::products::Fact;
use allways_evidence::{Certificate, Invariant, Products, Views};
use allways_model::counters::Counters;
use allways_model::encoding::{Encoded, Mode, Point};
use allways_model::program::{LocationId, Program, Type, Value};
use allways_model::pushdown::{EMPTY, Pushdown, Shared, Symbol};
use allways_model::symmetry::Kinds;
use allways_smt::Term;
use allways_smt::term::Node;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How many states, facts or rows are looked at.
const MOST: usize = 200_000;

/// How many places are told about.
const PLACES: usize = 400;

/// So many values are listed; more are given by the least and the greatest.
const LISTED: usize = 8;

/// What holds at a place.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Place {
    /// The procedure or thread, and what is there.
    pub name: String,
    /// The line; 0 if there is none.
    pub line: u32,
    /// What holds while a thread is there.
    pub holds: Vec<String>,
    /// Where other threads may be meanwhile, if that is known.
    pub others: Option<Vec<String>>,
}

/// What a certificate proves.
pub fn proof(forms: &Forms<'_>, certificate: &Certificate) -> ProofStory {
    let mut proof = ProofStory {
        kind: certificate.kind(),
        size: words::size(certificate),
        meaning: meaning(certificate),
        threads: match certificate.any_number() {
            true => "any number of threads".to_string(),
            false => "the threads that the program starts".to_string(),
        },
        against: None,
        places: Vec::new(),
        cut: false,
    };
    proof.places = match certificate {
        Certificate::Views(views) => {
            forms.program().map(|program| of_views(program, views)).unwrap_or_default()
        }
        Certificate::Basis(_) => forms.counters().map(of_counters).unwrap_or_default(),
        Certificate::Shards(_) | Certificate::Ranking(_) => Vec::new(),
        Certificate::Invariant(_) | Certificate::Products(_) | Certificate::Counted(_) => {
            let encoded = forms.encoding().and_then(Result::ok);
            let mut seen = Seen { encoded: encoded.as_deref(), looked: 0, at: BTreeMap::new() };
            if let Ok(form) = forms.pushdown() {
                match certificate {
                    Certificate::Invariant(invariant) => seen.states(invariant),
                    Certificate::Products(products) => seen.facts(products),
                    Certificate::Counted(counted) => seen.facts(&counted.products),
                    _ => {}
                }
                proof.cut = seen.looked >= MOST;
                // What was not looked at to the end says nothing about the rest.
                if proof.cut { Vec::new() } else { seen.told(&*form.system) }
            } else {
                Vec::new()
            }
        }
    };
    proof.cut |= proof.places.len() > PLACES;
    proof.places.truncate(PLACES);
    proof
}

fn meaning(certificate: &Certificate) -> &'static str {
    match certificate {
        Certificate::Invariant(invariant) if invariant.renumbered => {
            "Every reachable state is one of these, up to renumbering of threads; none of them is bad, and no step leads out."
        }
        Certificate::Invariant(_) => {
            "Every reachable state is one of these; none of them is bad, and no step of any thread leads out."
        }
        Certificate::Products(_) => {
            "Each thread is always in one of these states; no combination of them is bad, and no step leads out."
        }
        Certificate::Counted(_) => {
            "Each thread is always in one of these states; how many are where is bounded by an invariant of their counts."
        }
        Certificate::Basis(_) => "No configuration from which a target can be covered is reachable.",
        Certificate::Views(_) => {
            "Whichever threads are looked at together, these formulas hold; they exclude what is bad, and every step keeps them."
        }
        Certificate::Shards(_) => "All reachable states are listed in files; none of them is bad.",
        Certificate::Ranking(_) => {
            "All reachable states are listed, and none of them is bad; where something is promised to a thread, each state has a rank \
             that no step raises and that some thread, which can always move, lowers."
        }
    }
}

/// Where a thread is: its location, or the symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum At {
    /// The kind of the thread, if it is the only one of it.
    Location(LocationId, Option<usize>),
    Symbol(usize, Symbol),
    Nowhere,
}

/// What was seen at a place.
#[derive(Default)]
struct Noted {
    shared: BTreeMap<usize, BTreeSet<Value>>,
    names: BTreeSet<Shared>,
    locals: BTreeMap<usize, BTreeSet<Value>>,
    others: Option<BTreeSet<At>>,
}

struct Seen<'a> {
    encoded: Option<&'a Encoded>,
    looked: usize,
    at: BTreeMap<At, Noted>,
}

impl Seen<'_> {
    fn states(&mut self, invariant: &Invariant) {
        for (shared, row) in invariant.states() {
            self.looked += row.len().max(1);
            if self.looked >= MOST {
                return;
            }
            let tops = row.iter().enumerate().map(|(thread, &window)| {
                (invariant.kinds.kind(thread), invariant.window_of(thread, window).top())
            });
            let tops: Vec<(usize, Symbol)> = tops.collect();
            let places = tops.iter().map(|&(kind, top)| self.place(&invariant.kinds, kind, top));
            let places: Vec<At> = places.collect();
            for (thread, &(_, top)) in tops.iter().enumerate() {
                let noted = self.note(places[thread], shared, top);
                let others = noted.others.get_or_insert_default();
                let elsewhere = places.iter().enumerate().filter(|(other, _)| *other != thread);
                others.extend(elsewhere.map(|(_, place)| *place));
            }
        }
    }

    fn facts(&mut self, products: &Products) {
        for product in &products.products {
            let movers = product.mover.iter().map(|(kind, facts)| (*kind, facts));
            for (kind, facts) in movers.chain(product.rest.iter().enumerate()) {
                for &Fact { shared, top, .. } in facts {
                    self.looked += 1;
                    if self.looked >= MOST {
                        return;
                    }
                    let place = match products.many.get(kind) {
                        Some(true) => self.place(&Kinds::distinct(0), kind, top),
                        _ => self.place(&products.kinds, kind, top),
                    };
                    self.note(place, shared, top);
                }
            }
        }
    }

    fn place(&self, kinds: &Kinds, kind: usize, top: Symbol) -> At {
        if top == EMPTY {
            return At::Nowhere;
        }
        let Some(encoded) = self.encoded else { return At::Symbol(kind, top) };
        match encoded.cell(top).point {
            Point::At(location)
            | Point::Inside(location)
            | Point::Given(location)
            | Point::Returning(location, _) => {
                let members = if kind < kinds.count() { kinds.members(kind) } else { &[] };
                At::Location(location, if let [only] = members { Some(*only) } else { None })
            }
            Point::Idle | Point::Bottom => At::Nowhere,
        }
    }

    fn note(&mut self, place: At, shared: Shared, top: Symbol) -> &mut Noted {
        let noted = self.at.entry(place).or_default();
        let Some(encoded) = self.encoded else {
            noted.names.insert(shared);
            return noted;
        };
        let key = encoded.key(shared);
        if !matches!(key.mode, Mode::Violated | Mode::Exhausted) {
            for (slot, &value) in key.values.iter().take(encoded.program().shared_slots()).enumerate() {
                noted.shared.entry(slot).or_default().insert(value);
            }
        }
        if let At::Location(..) = place {
            for (slot, &value) in encoded.cell(top).locals.iter().enumerate() {
                noted.locals.entry(slot).or_default().insert(value);
            }
        }
        noted
    }

    fn told(self, system: &dyn Pushdown) -> Vec<Place> {
        let Some(encoded) = self.encoded else {
            let name = |at: &At| match *at {
                At::Symbol(thread, symbol) => {
                    format!("{} of thread {thread}", system.symbol_name(thread, symbol))
                }
                _ => "the empty stack".to_string(),
            };
            return self
                .at
                .iter()
                .map(|(at, noted)| {
                    let states: Vec<String> =
                        noted.names.iter().take(LISTED).map(|&it| system.shared_name(it)).collect();
                    let more = if noted.names.len() > LISTED { ", …" } else { "" };
                    let holds = vec![format!("shared state is {}{more}", states.join(" or "))];
                    let others = noted.others.as_ref().map(|others| others.iter().map(name).collect());
                    Place { name: name(at), line: 0, holds, others }
                })
                .collect();
        };
        let (program, reduced) = (encoded.program(), encoded.reduction());
        let writer = TraceWriter { program, source: &[], threads: thread_names(encoded) };
        let mut places = Vec::new();
        for (at, noted) in &self.at {
            let mut holds = Vec::new();
            let shared = program.shared.iter().filter(|variable| is_shown(variable));
            for (variable, index) in shared.flat_map(|one| (0..one.slots()).map(move |index| (one, index))) {
                let slot = variable.slot + index;
                let kept = reduced.shared.get(slot).copied().unwrap_or(false);
                if let Some(values) = noted.shared.get(&slot).filter(|_| kept) {
                    let say = |value: Value| match (variable.ty, value) {
                        (Type::Lock, 0) => "free".to_string(),
                        (Type::Lock, _) => "held".to_string(),
                        _ => writer.plain(variable, value),
                    };
                    let values = match variable.ty {
                        Type::Lock => values.iter().map(|&value| value.min(1)).collect(),
                        _ => values.clone(),
                    };
                    holds.extend(hold(&named(variable, index), &values, variable.ty, say));
                }
            }
            if let At::Location(location, _) = *at {
                let procedure = program.procedure_of(location);
                let live = reduced.live.get(location.index());
                let locals = procedure.locals.iter().filter(|variable| is_shown(variable));
                for (variable, index) in
                    locals.flat_map(|one| (0..one.slots()).map(move |index| (one, index)))
                {
                    let slot = variable.slot + index;
                    let kept = live.and_then(|live| live.get(slot).copied()).unwrap_or(false);
                    if let Some(values) = noted.locals.get(&slot).filter(|_| kept) {
                        let say = |value| writer.plain(variable, value);
                        let name = format!("its {}", named(variable, index));
                        holds.extend(hold(&name, values, variable.ty, say));
                    }
                }
            }
            let others = noted.others.as_ref().map(|others| {
                let names: BTreeSet<(u32, String)> =
                    others.iter().map(|at| spot(program, &writer.threads, *at)).collect();
                names.into_iter().map(|(_, name)| name).collect()
            });
            let (line, name) = spot(program, &writer.threads, *at);
            places.push(Place { name, line, holds, others });
        }
        places.sort_by(|one, other| (one.line, &one.name).cmp(&(other.line, &other.name)));
        places
    }
}

/// The line and the words for where a thread is.
fn spot(program: &Program, threads: &[String], at: At) -> (u32, String) {
    match at {
        At::Location(location, thread) => {
            let line = program.locations[location].span.line;
            let label = program.labels.iter().find(|label| label.location == location);
            let label = label.map(|label| format!(" ({})", label.name)).unwrap_or_default();
            let end = if program.locations[location].edges.is_empty() { ", ended" } else { "" };
            let procedure = &program.procedure_of(location).name;
            let is_body =
                program.templates.iter().any(|template| program.procedures[template.body].name == *procedure);
            let name = match thread.and_then(|thread| threads.get(thread)) {
                Some(thread) if is_body => thread.clone(),
                Some(thread) => format!("{thread} in {procedure}"),
                None => procedure.clone(),
            };
            (line, format!("{name}, line {line}{label}{end}"))
        }
        At::Symbol(..) | At::Nowhere => (0, "not started".to_string()),
    }
}

/// That a variable has one of these values; nothing if it may have any of its type.
fn hold(name: &str, values: &BTreeSet<Value>, ty: Type, say: impl Fn(Value) -> String) -> Option<String> {
    let (least, greatest) = (*values.first()?, *values.last()?);
    let all = match ty {
        Type::Lock => Some(2),
        _ => ty.bounds().and_then(|(low, high)| high.checked_sub(low)?.checked_add(1)),
    };
    match values.len() {
        count if all.is_some_and(|all| count as u64 == all as u64) && count > 1 => None,
        1 => Some(format!("{name} = {}", say(least))),
        count if count <= LISTED => {
            let listed: Vec<String> = values.iter().map(|&value| say(value)).collect();
            Some(format!("{name} is {}", listed.join(" or ")))
        }
        _ => Some(format!("{} ≤ {name} ≤ {}", say(least), say(greatest))),
    }
}

fn of_counters(counters: &Counters) -> Vec<Place> {
    vec![Place { name: format!("never covers {}", words::counter_targets(counters)), ..Place::default() }]
}

/// The rows of views: for threads at these places, these formulas.
fn of_views(program: &Program, views: &Views) -> Vec<Place> {
    let place = |(locations, term): (&Vec<LocationId>, &Term)| {
        let spots: Vec<(u32, String)> =
            locations.iter().map(|&location| spot(program, &[], At::Location(location, None))).collect();
        let names: Vec<&str> = spots.iter().map(|(_, name)| name.as_str()).collect();
        let holds = match term.node() {
            Node::And(parts) => parts.iter().map(infix).collect(),
            _ => vec![infix(term)],
        };
        let line = spots.iter().map(|(line, _)| *line).min().unwrap_or(0);
        Place { name: names.join(" and "), line, holds, others: None }
    };
    let mut places: Vec<Place> = views.rows.iter().map(place).collect();
    let sums = views.weights.iter().enumerate().map(|(index, weights)| {
        let parts = weights.iter().map(|(&location, weight)| {
            format!("{weight} · threads at {}", spot(program, &[], At::Location(location, None)).1)
        });
        let parts: Vec<String> = parts.collect();
        Place { name: format!("sum {index}"), line: 0, holds: vec![parts.join(" + ")], others: None }
    });
    places.extend(sums);
    places
}

/// A formula as people write it; `x@1` is the `x` of the second of the threads that are looked at.
fn infix(term: &Term) -> String {
    let list = |parts: &[Term], between: &str| {
        let parts: Vec<String> = parts.iter().map(within).collect();
        parts.join(between)
    };
    match term.node() {
        Node::Number(value) => value.to_string(),
        Node::Variable(name) => match name.split_once('@').map(|(name, at)| (name, at.parse::<usize>())) {
            Some((name, Ok(at))) => format!("{name} of thread {}", at + 1),
            _ => name.strip_prefix('#').map_or(name.to_string(), |sum| format!("sum {sum}")),
        },
        Node::Sum(parts) => {
            let mut text = String::new();
            for part in parts {
                match part.node() {
                    Node::Times(-1, part) if !text.is_empty() => text += &format!(" - {}", within(part)),
                    Node::Number(value) if *value < 0 && !text.is_empty() => {
                        text += &format!(" - {}", value.unsigned_abs());
                    }
                    _ if text.is_empty() => text += &within(part),
                    _ => text += &format!(" + {}", within(part)),
                }
            }
            text
        }
        Node::Times(factor, part) => format!("{factor} · {}", within(part)),
        Node::Quotient(part, divisor) => format!("{} div {divisor}", within(part)),
        Node::Remainder(part, divisor) => format!("{} mod {divisor}", within(part)),
        Node::Applied(function, left, right) => {
            format!("{} {} {}", within(left), function.sign(), within(right))
        }
        Node::Choice(condition, then, other) => {
            format!("if {} then {} else {}", infix(condition), infix(then), infix(other))
        }
        Node::Truth(value) => value.to_string(),
        Node::Not(part) => match part.node() {
            Node::Equal(left, right) => format!("{} ≠ {}", infix(left), infix(right)),
            Node::AtMost(left, right) => format!("{} > {}", infix(left), infix(right)),
            _ => format!("not {}", within(part)),
        },
        Node::And(parts) => list(parts, " and "),
        Node::Or(parts) => list(parts, " or "),
        Node::Equal(left, right) => format!("{} = {}", infix(left), infix(right)),
        Node::AtMost(left, right) => format!("{} ≤ {}", infix(left), infix(right)),
    }
}

/// A part of a formula, in parentheses where it has parts itself.
fn within(term: &Term) -> String {
    match term.node() {
        Node::Number(value) if *value >= 0 => infix(term),
        Node::Variable(_) | Node::Truth(_) | Node::Equal(..) | Node::AtMost(..) | Node::Not(_) => infix(term),
        _ => format!("({})", infix(term)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_written_as_people_write_them() {
        let (t, s) = (Term::variable("t"), Term::variable("s@1"));
        let below = s.plus(&Term::number(1)).at_most(&t);
        assert_eq!(infix(&below), "s of thread 2 + 1 ≤ t");
        assert_eq!(infix(&t.equal(&s).negation()), "t ≠ s of thread 2");
        assert_eq!(
            infix(&Term::or([below.clone(), Term::and([below, t.at_most(&s)])])),
            "s of thread 2 + 1 ≤ t or (s of thread 2 + 1 ≤ t and t ≤ s of thread 2)"
        );
        assert_eq!(infix(&t.minus(&s)), "t - s of thread 2");
    }

    #[test]
    fn what_may_be_anything_is_not_told() {
        let say = |value: Value| value.to_string();
        let values = |values: &[Value]| values.iter().copied().collect::<BTreeSet<Value>>();
        assert_eq!(hold("x", &values(&[0, 1]), Type::Bool, say), None);
        assert_eq!(hold("x", &values(&[1]), Type::Bool, say), Some("x = 1".to_string()));
        assert_eq!(hold("x", &values(&[1, 3]), Type::Range(0, 9), say), Some("x is 1 or 3".to_string()));
        let many: BTreeSet<Value> = (0..20).collect();
        assert_eq!(hold("x", &many, Type::Int, say), Some("0 ≤ x ≤ 19".to_string()));
    }
}
