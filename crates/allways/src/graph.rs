//! Programs and rules as graphs: their reachable states, or their control flow.
//!
//! States are explored breadth first, by the semantics of the program as it was written, so the path that is marked to a bad state is one with
//! the fewest steps. Up to [`Wanted::shown`] states are drawn one by one; more are drawn together where they have the same shared state.
//! Beyond [`Wanted::most`] states the rest is left out, and the graph says so.
//!
//! Read in this order: this file, what a graph is and how it is made; [`dot`] and [`svg`], how it is written.

pub mod dot;
pub mod svg;

use crate::source_trace::{TraceWriter, is_shown, named};
use allways_model::notation::{show_state, show_symbols};
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Edge as Step, LocationId, Op, Program, Span, Type};
use allways_model::property::Property;
use allways_model::pushdown::{self, Pushdown};
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// How much is looked at, and drawn.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Whether to stop here: then the rest is left out.
    pub stop: &'a dyn Fn() -> bool,
    /// So many states are drawn one by one.
    pub shown: usize,
    /// So many states are looked at.
    pub most: usize,
}

/// A graph.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Graph {
    /// What it shows.
    pub title: String,
    /// Its nodes.
    pub nodes: Vec<Node>,
    /// Its edges, no two of which join the same nodes in the same direction.
    pub edges: Vec<Edge>,
}

/// A node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Node {
    /// Its lines of text.
    pub lines: Vec<String>,
    /// Whether a run starts here.
    pub initial: bool,
    /// Whether it is bad.
    pub bad: bool,
    /// Whether it is on the shortest path to a bad one.
    pub marked: bool,
}

/// An edge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// From where.
    pub from: usize,
    /// To where.
    pub to: usize,
    /// Its lines of text.
    pub labels: Vec<String>,
    /// Whether it is on the shortest path to a bad state.
    pub marked: bool,
}

/// What exploration needs to know of a state, besides the state.
struct Seen {
    /// What it is called; what it is called together with others.
    lines: Vec<String>,
    shared: String,
    initial: bool,
    bad: bool,
    /// From where it was found first.
    parent: Option<usize>,
}

/// All states that were found, and the steps between them.
#[derive(Default)]
struct Explored {
    states: Vec<Seen>,
    steps: Vec<(usize, usize, String)>,
    cut: bool,
}

/// Explores breadth first. `next` gives the steps of a state: what is said of each, and the state that it leads to.
fn explore<S: Clone + Eq + Hash>(
    initial: Vec<S>,
    wanted: Wanted<'_>,
    describe: impl Fn(&S) -> (Vec<String>, String, bool),
    next: impl Fn(&S) -> Vec<(String, S)>,
) -> Explored {
    let mut explored = Explored::default();
    let (mut numbers, mut queue): (HashMap<S, usize>, Vec<S>) = (HashMap::new(), Vec::new());
    let mut found = |state: S, parent: Option<usize>, explored: &mut Explored, queue: &mut Vec<S>| {
        if let Some(&number) = numbers.get(&state) {
            return Some(number);
        }
        if queue.len() >= wanted.most {
            explored.cut = true;
            return None;
        }
        let (lines, shared, bad) = describe(&state);
        explored.states.push(Seen { lines, shared, initial: parent.is_none(), bad, parent });
        numbers.insert(state.clone(), queue.len());
        queue.push(state);
        Some(queue.len() - 1)
    };
    for state in initial {
        found(state, None, &mut explored, &mut queue);
    }
    let mut at = 0;
    while at < queue.len() {
        if (wanted.stop)() {
            explored.cut = true;
            break;
        }
        for (label, state) in next(&queue[at].clone()) {
            if let Some(to) = found(state, Some(at), &mut explored, &mut queue) {
                explored.steps.push((at, to, label));
            }
        }
        at += 1;
    }
    explored
}

impl Explored {
    fn graph(self, name: &str, wanted: Wanted<'_>) -> Graph {
        let mut path = Vec::new();
        let mut at = self.states.iter().position(|state| state.bad);
        while let Some(number) = at {
            path.push(number);
            at = self.states[number].parent;
        }
        path.reverse();
        let on_path = |from: usize, to: usize| path.windows(2).any(|pair| pair == [from, to]);
        let together = self.states.len() > wanted.shown;
        let mut nodes: Vec<Node> = Vec::new();
        let mut groups: BTreeMap<(String, bool), usize> = BTreeMap::new();
        let mut sizes: Vec<usize> = Vec::new();
        let mut node_of = Vec::new();
        for (number, state) in self.states.iter().enumerate() {
            let node = match together {
                false => nodes.len(),
                true => *groups.entry((state.shared.clone(), state.bad)).or_insert(nodes.len()),
            };
            if node == nodes.len() {
                let lines = if together { vec![state.shared.clone()] } else { state.lines.clone() };
                nodes.push(Node { lines, bad: state.bad, ..Node::default() });
                sizes.push(0);
            }
            sizes[node] += 1;
            nodes[node].initial |= state.initial;
            nodes[node].marked |= path.contains(&number);
            node_of.push(node);
        }
        if together {
            for (node, size) in nodes.iter_mut().zip(&sizes) {
                node.lines.push(crate::words::count(*size as u128, "state"));
            }
        }
        let mut edges: BTreeMap<(usize, usize), (Vec<String>, bool)> = BTreeMap::new();
        for (from, to, label) in self.steps {
            let (labels, marked) = edges.entry((node_of[from], node_of[to])).or_default();
            if !labels.contains(&label) {
                labels.push(label);
            }
            *marked |= on_path(from, to);
        }
        let edges = edges.into_iter().map(|((from, to), (labels, marked))| Edge { from, to, labels, marked });
        let how = if together { ", those with the same shared state together" } else { "" };
        let more = if self.cut { "; there are more" } else { "" };
        let title = format!("{name}: {}{how}{more}", crate::words::count(self.states.len() as u128, "state"));
        Graph { title, nodes, edges: edges.collect() }
    }
}

/// What a state of a program may become.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Reached {
    State(State),
    Wrong(u32, &'static str),
    Beyond(u32),
}

/// The states of a program with so many threads of each template.
pub fn of_program(
    name: &str,
    program: &Program,
    source: &[u8],
    counts: &[usize],
    deadlock: bool,
    wanted: Wanted<'_>,
) -> Graph {
    let writer = TraceWriter { program, source, threads: Vec::new() };
    let thread_name = |state: &State, thread: usize| {
        let template = state.threads[thread].template;
        let of_kind = state.threads.iter().filter(|other| other.template == template).count();
        let name = &program.templates[template].name;
        if of_kind == 1 { name.clone() } else { format!("{name}[{}]", state.threads[thread].this) }
    };
    let shared_lines = |state: &State| {
        let variables = program.shared.iter().filter(|variable| is_shown(variable));
        let elements =
            variables.flat_map(|variable| (0..variable.slots()).map(move |index| (variable, index)));
        let values = elements.map(|(variable, index)| {
            let value = state.shared[variable.slot + index];
            let value = match (variable.ty, value) {
                (Type::Lock, 0) => "free".to_string(),
                (Type::Lock, holder) => match usize::try_from(holder - 1) {
                    Ok(holder) if holder < state.threads.len() => {
                        format!("held by {}", thread_name(state, holder))
                    }
                    _ => "held".to_string(),
                },
                _ => writer.plain(variable, value),
            };
            format!("{} = {value}", named(variable, index))
        });
        values.collect::<Vec<String>>()
    };
    let describe = |reached: &Reached| match reached {
        Reached::State(state) => {
            let shared = shared_lines(state);
            let threads = (0..state.threads.len()).map(|thread| {
                let lines = state.threads[thread].stack.iter().rev().map(|frame| {
                    let line = program.locations[frame.location].span.line;
                    let locals =
                        program.procedure_of(frame.location).locals.iter().filter(|local| is_shown(local));
                    let locals = locals.flat_map(|local| {
                        let value = |index| writer.plain(local, frame.locals[local.slot + index]);
                        (0..local.slots())
                            .map(move |index| format!("{} = {}", named(local, index), value(index)))
                    });
                    let locals: Vec<String> = locals.collect();
                    if locals.is_empty() {
                        format!("line {line}")
                    } else {
                        format!("line {line} ({})", locals.join(", "))
                    }
                });
                let lines: Vec<String> = lines.take(8).collect();
                let ended = if state.threads[thread].ended(program) {
                    "ended".to_string()
                } else {
                    lines.join(" < ")
                };
                format!("{}: {ended}", thread_name(state, thread))
            });
            let together =
                if shared.is_empty() { "no shared variables".to_string() } else { shared.join(", ") };
            let lines = shared.iter().cloned().chain(threads).collect();
            (lines, together, state.violated(program).is_some() || deadlock && state.deadlocked(program))
        }
        Reached::Wrong(line, kind) => {
            let text = format!("wrong: {kind}, line {line}");
            (vec![text.clone()], text, true)
        }
        Reached::Beyond(line) => {
            let text = format!("not followed, line {line}");
            (vec![text.clone()], text, false)
        }
    };
    let next = |reached: &Reached| {
        let Reached::State(state) = reached else { return Vec::new() };
        // What is bad is not left.
        if state.violated(program).is_some() {
            return Vec::new();
        }
        let mut all = Vec::new();
        for thread in 0..state.threads.len() {
            for step in steps(program, state, thread) {
                let Some(top) = state.threads[thread].top() else { continue };
                let edge = &program.locations[top.location].edges[step.edge];
                let label = format!("{}: {}", thread_name(state, thread), label_of(edge, source));
                let to = match step.outcome {
                    Outcome::To(next) => Reached::State(next),
                    Outcome::Wrong(violation) => Reached::Wrong(violation.line, violation.kind.word()),
                    Outcome::Beyond(span) => Reached::Beyond(span.line),
                };
                all.push((label, to));
            }
        }
        all
    };
    let initial = State::initial(program, counts).unwrap_or_default();
    let initial = initial.into_iter().map(Reached::State).collect();
    explore(initial, wanted, describe, next).graph(name, wanted)
}

/// The text of a statement, with the way that a condition goes.
fn label_of(edge: &Step, source: &[u8]) -> String {
    let text = text(source, edge.span);
    match edge.op {
        Op::Guard(_, false) => format!("{text} (false)"),
        _ => text,
    }
}

/// A piece of the source on one line, cut where it is long.
fn text(source: &[u8], span: Span) -> String {
    let bytes = source.get(span.start as usize..span.end as usize).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]);
    let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// The states of rules.
pub fn of_rules(name: &str, system: &dyn Pushdown, property: &Property, wanted: Wanted<'_>) -> Graph {
    let describe = |state: &pushdown::State| {
        let stacks = state.stacks.iter().enumerate();
        let stacks = stacks.map(|(thread, stack)| {
            format!("thread {thread}: {}", show_symbols(system, thread, stack.symbols().take(8)))
        });
        let shared = format!("shared {}", system.shared_name(state.shared));
        let lines = std::iter::once(shared.clone()).chain(stacks).collect();
        (lines, shared, property.violated_by(system, &state.visible()))
    };
    let next = |state: &pushdown::State| {
        let mut all = Vec::new();
        for thread in 0..system.threads() {
            for rule in state.enabled(system, thread) {
                all.push((format!("thread {thread}, line {}", rule.line), state.step(thread, &rule)));
            }
        }
        all
    };
    let mut graph = explore(system.initial(), wanted, describe, next).graph(name, wanted);
    graph.title += &system
        .initial()
        .first()
        .map(|state| format!(", from {}", show_state(system, state)))
        .unwrap_or_default();
    graph
}

/// The control flow of a program: its locations, procedure by procedure.
pub fn of_control(name: &str, program: &Program, source: &[u8]) -> Graph {
    let mut graph = Graph { title: format!("{name}: control flow"), ..Graph::default() };
    for (number, location) in program.locations.iter().enumerate() {
        let procedure = &program.procedures[location.procedure];
        let here = LocationId(number);
        let labels =
            program.labels.iter().filter(|label| label.location == here).map(|label| label.name.as_str());
        let labels: Vec<&str> = labels.collect();
        let line = location.span.line;
        let at = match location.edges.is_empty() {
            true => format!("{}: end", procedure.name),
            false => format!("{}: line {line}", procedure.name),
        };
        let wrong = location.edges.iter().any(|edge| matches!(edge.op, Op::Error | Op::NoResult));
        let lines = std::iter::once(at).chain((!labels.is_empty()).then(|| labels.join(", "))).collect();
        graph.nodes.push(Node { lines, initial: procedure.entry == here, bad: wrong, marked: false });
    }
    let mut edges: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (number, location) in program.locations.iter().enumerate() {
        for edge in &location.edges {
            edges.entry((number, edge.to.index())).or_default().push(label_of(edge, source));
        }
    }
    let edges = edges.into_iter().map(|((from, to), labels)| Edge { from, to, labels, marked: false });
    graph.edges = edges.collect();
    graph
}
