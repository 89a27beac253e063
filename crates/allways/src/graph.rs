//! Programs and rules as graphs: their reachable states, the abstract ones of their stack tops, or their control flow.
//!
//! States are explored breadth first, by the semantics of the program as it was written, so the path that is marked to a bad state is one with
//! the fewest steps. Up to [`Wanted::shown`] states are drawn one by one; more are drawn together where they have the same shared state,
//! and if those are too many as well, the ones that are farthest from the start become one box.
//! Beyond [`Wanted::most`] states the rest is not looked at, and the graph says so.
//!
//! Read in this order: this file, what a graph is and how it is made; `tops`, the abstract states; `layout`, where things are drawn; [`dot`] and
//! [`svg`], how they are written.

pub mod dot;
mod layout;
pub mod svg;
mod tops;

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
    /// So many states are drawn one by one, and so many boxes at all.
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
    shared: Vec<String>,
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
    describe: impl Fn(&S) -> (Vec<String>, Vec<String>, bool),
    mut next: impl FnMut(&S) -> Vec<(String, S)>,
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
        let mut groups: BTreeMap<(Vec<String>, bool), usize> = BTreeMap::new();
        let mut sizes: Vec<usize> = Vec::new();
        let mut node_of = Vec::new();
        for (number, state) in self.states.iter().enumerate() {
            let node = match together {
                false => nodes.len(),
                true => *groups.entry((state.shared.clone(), state.bad)).or_insert(nodes.len()),
            };
            if node == nodes.len() {
                let lines = if together { state.shared.clone() } else { state.lines.clone() };
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
        Graph { title, nodes, edges: edges.collect() }.limited(wanted.shown)
    }
}

impl Graph {
    /// The same with so many nodes, and one for the rest. The first ones stay, which are nearest to the start, and the path that is marked.
    fn limited(mut self, most: usize) -> Graph {
        let count = self.nodes.len();
        if count <= most {
            return self;
        }
        let marked = self.nodes.iter().filter(|node| node.marked).count();
        let mut room = most.saturating_sub(marked);
        let mut numbers: Vec<Option<usize>> = Vec::new();
        let mut nodes = Vec::new();
        let mut bad = 0;
        for node in std::mem::take(&mut self.nodes) {
            if node.marked || room > 0 {
                room -= usize::from(!node.marked);
                numbers.push(Some(nodes.len()));
                nodes.push(node);
            } else {
                bad += usize::from(node.bad);
                numbers.push(None);
            }
        }
        let mut rest = vec![format!("… {} more", count - nodes.len())];
        rest.extend((bad > 0).then(|| format!("{bad} of them bad")));
        let end = nodes.len();
        nodes.push(Node { lines: rest, ..Node::default() });
        let mut edges: BTreeMap<(usize, usize), (Vec<String>, bool)> = BTreeMap::new();
        for Edge { from, to, labels, marked } in self.edges {
            match (numbers[from], numbers[to]) {
                (Some(from), Some(to)) => drop(edges.insert((from, to), (labels, marked))),
                // What happens there is not told.
                (None, None) => {}
                (from, to) => {
                    edges.entry((from.unwrap_or(end), to.unwrap_or(end))).or_default();
                }
            }
        }
        let edges = edges.into_iter().map(|((from, to), (labels, marked))| Edge { from, to, labels, marked });
        Graph { title: self.title, nodes, edges: edges.collect() }
    }
}

/// What a state of a program may become.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Reached {
    State(State),
    Wrong(u32, &'static str),
    Beyond(u32),
}

/// What is said of the states of a program.
struct Words<'a> {
    program: &'a Program,
    source: &'a [u8],
    deadlock: bool,
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
    let words = Words { program, source, deadlock };
    let initial = State::initial(program, counts).unwrap_or_default();
    let initial = initial.into_iter().map(Reached::State).collect();
    let next = |reached: &Reached| match reached {
        Reached::State(state) => words.steps(state, 0..state.threads.len()),
        _ => Vec::new(),
    };
    explore(initial, wanted, |reached| words.describe(reached), next).graph(name, wanted)
}

impl Words<'_> {
    fn thread(&self, state: &State, thread: usize) -> String {
        let template = state.threads[thread].template;
        let of_kind = state.threads.iter().filter(|other| other.template == template).count();
        let name = &self.program.templates[template].name;
        if of_kind == 1 { name.clone() } else { format!("{name}[{}]", state.threads[thread].this) }
    }

    fn shared(&self, state: &State) -> Vec<String> {
        let writer = TraceWriter { program: self.program, source: self.source, threads: Vec::new() };
        let variables = self.program.shared.iter().filter(|variable| is_shown(variable));
        let elements =
            variables.flat_map(|variable| (0..variable.slots()).map(move |index| (variable, index)));
        let values = elements.map(|(variable, index)| {
            let value = state.shared[variable.slot + index];
            let value = match (variable.ty, value) {
                (Type::Lock, 0) => "free".to_string(),
                (Type::Lock, holder) => match usize::try_from(holder - 1) {
                    Ok(holder) if holder < state.threads.len() => {
                        format!("held by {}", self.thread(state, holder))
                    }
                    _ => "held".to_string(),
                },
                _ => writer.plain(variable, value),
            };
            format!("{} = {value}", named(variable, index))
        });
        values.collect()
    }

    /// Where a thread is, from the top of its stack down.
    fn place(&self, state: &State, thread: usize) -> String {
        let Words { program, source, .. } = *self;
        let writer = TraceWriter { program, source, threads: Vec::new() };
        let lines = state.threads[thread].stack.iter().rev().map(|frame| {
            let line = program.locations[frame.location].span.line;
            let locals = program.procedure_of(frame.location).locals.iter().filter(|local| is_shown(local));
            let locals = locals.flat_map(|local| {
                let value = |index| writer.plain(local, frame.locals[local.slot + index]);
                (0..local.slots()).map(move |index| format!("{} = {}", named(local, index), value(index)))
            });
            let locals: Vec<String> = locals.collect();
            let locals = if locals.is_empty() { String::new() } else { format!(" ({})", locals.join(", ")) };
            format!("line {line}{locals}")
        });
        let lines: Vec<String> = lines.take(8).collect();
        match state.threads[thread].ended(program) {
            true => "ended".to_string(),
            false => lines.join(" < "),
        }
    }

    /// The lines of a state, what it is called together with others, and whether it is bad.
    fn describe(&self, reached: &Reached) -> (Vec<String>, Vec<String>, bool) {
        match reached {
            Reached::State(state) => {
                let shared = self.shared(state);
                let threads = (0..state.threads.len())
                    .map(|thread| format!("{}: {}", self.thread(state, thread), self.place(state, thread)));
                let lines = shared.iter().cloned().chain(threads).collect();
                let none = || vec!["no shared variables".to_string()];
                let together = if shared.is_empty() { none() } else { shared };
                let stuck = self.deadlock && state.deadlocked(self.program);
                (lines, together, state.violated(self.program).is_some() || stuck)
            }
            Reached::Wrong(line, kind) => {
                let text = format!("wrong: {kind}, line {line}");
                (vec![text.clone()], vec![text], true)
            }
            Reached::Beyond(line) => {
                let text = format!("not followed, line {line}");
                (vec![text.clone()], vec![text], false)
            }
        }
    }

    /// The steps of some threads; none of a state that is bad, which is not left.
    fn steps(&self, state: &State, threads: std::ops::Range<usize>) -> Vec<(String, Reached)> {
        let Words { program, source, .. } = *self;
        if state.violated(program).is_some() {
            return Vec::new();
        }
        let mut all = Vec::new();
        for thread in threads {
            for step in steps(program, state, thread) {
                let Some(top) = state.threads[thread].top() else { continue };
                let edge = &program.locations[top.location].edges[step.edge];
                let label = format!("{}: {}", self.thread(state, thread), label_of(edge, source));
                let to = match step.outcome {
                    Outcome::To(next) => Reached::State(next),
                    Outcome::Wrong(violation) => Reached::Wrong(violation.line, violation.kind.word()),
                    Outcome::Beyond(span) => Reached::Beyond(span.line),
                };
                all.push((label, to));
            }
        }
        all
    }
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
    let next = |state: &pushdown::State| rule_steps(system, state, 0..system.threads());
    let describe = |state: &pushdown::State| described(system, property, state);
    let mut graph = explore(system.initial(), wanted, describe, next).graph(name, wanted);
    graph.title += &from(system);
    graph
}

/// Where rules start.
fn from(system: &dyn Pushdown) -> String {
    let first = system.initial().into_iter().next();
    first.map(|state| format!(", from {}", show_state(system, &state))).unwrap_or_default()
}

/// The lines of a state, what it is called together with others, and whether it is bad.
fn described(
    system: &dyn Pushdown,
    property: &Property,
    state: &pushdown::State,
) -> (Vec<String>, Vec<String>, bool) {
    let stacks = state.stacks.iter().enumerate();
    let stacks = stacks.map(|(thread, stack)| {
        format!("thread {thread}: {}", show_symbols(system, thread, stack.symbols().take(8)))
    });
    let shared = format!("shared {}", system.shared_name(state.shared));
    let lines = std::iter::once(shared.clone()).chain(stacks).collect();
    (lines, vec![shared], property.violated_by(system, &state.visible()))
}

/// The steps of some threads.
fn rule_steps(
    system: &dyn Pushdown,
    state: &pushdown::State,
    threads: std::ops::Range<usize>,
) -> Vec<(String, pushdown::State)> {
    let mut all = Vec::new();
    for thread in threads {
        for rule in state.enabled(system, thread) {
            all.push((format!("thread {thread}, line {}", rule.line), state.step(thread, &rule)));
        }
    }
    all
}

pub use tops::{program_tops, rule_tops};

/// The control flow of a program: its locations, procedure by procedure.
pub fn of_control(name: &str, program: &Program, source: &[u8], most: usize) -> Graph {
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
    graph.limited(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_becomes_one_box_and_the_path_stays() {
        let node = |number: usize| Node {
            lines: vec![number.to_string()],
            initial: number == 0,
            bad: number == 99,
            marked: number % 50 == 49 || number == 0,
        };
        let edge = |from: usize, to: usize, marked| Edge { from, to, labels: vec!["x".to_string()], marked };
        let graph = Graph {
            title: "t".to_string(),
            nodes: (0..100).map(node).collect(),
            edges: (1..100)
                .map(|to| edge(to - 1, to, false))
                .chain([edge(0, 49, true), edge(49, 99, true)])
                .collect(),
        };
        let limited = graph.clone().limited(10);
        // Three that are marked, seven more from the start, and the rest.
        let names: Vec<&str> = limited.nodes.iter().map(|node| node.lines[0].as_str()).collect();
        assert_eq!(names, ["0", "1", "2", "3", "4", "5", "6", "7", "49", "99", "… 90 more"]);
        assert_eq!(limited.edges.iter().filter(|edge| edge.marked).count(), 2);
        assert!(limited.edges.iter().any(|edge| (edge.from, edge.to) == (7, 10)), "{:?}", limited.edges);
        assert_eq!(graph.clone().limited(100), graph);
    }
}
