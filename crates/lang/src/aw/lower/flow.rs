//! The control flow of one body: points, and the locations that they become.
//!
//! While a body is read, control is at a *point*. A point has steps to other points, or it passes control on to one of
//! several other points without a step: `goto`, `choose`, the end of a loop. In a program there are only steps, so a
//! point that passes control on becomes
//!
//! * the point it leads to, if that is only one;
//! * else a location with the steps of all those that it leads to. A point where threads are counted (a label in an
//!   `at`), where they wait, or where they end is not merged so; a step that does nothing leads there;
//! * if it can come back without a step, as in `loop {}`, a location that has in addition a step that does nothing and
//!   comes back: the thread is not stuck.

use super::super::components::components;
use allways_model::program::{Edge, Label, Location, LocationId, Op, ProcedureId, Program, Span};
use std::collections::{HashMap, HashSet};

/// The number of a point.
pub(in super::super) type Point = usize;

/// The points of a body.
#[derive(Default)]
pub(in super::super) struct Flow {
    points: Vec<Out>,
    spans: Vec<Span>,
}

/// What is possible at a point.
enum Out {
    /// One of these steps.
    Steps(Vec<Edge>),
    /// Passing control on to one of these points.
    Pass(Vec<Point>),
}

/// A label of a body.
pub(in super::super) struct Labelled<'a> {
    pub name: &'a str,
    pub point: Point,
    /// Whether threads are counted there.
    pub counted: bool,
}

/// How much may be copied of a small body. It would take hundreds of alternatives that lead to one another to exceed it.
const BUDGET: usize = 100_000;

impl Flow {
    /// A new point, which leads nowhere until it is told otherwise.
    pub fn point(&mut self) -> Point {
        self.points.push(Out::Pass(Vec::new()));
        self.spans.push(Span::default());
        self.points.len() - 1
    }

    /// Lets a point have steps. Their `to` is a point.
    pub fn steps(&mut self, point: Point, steps: Vec<Edge>, span: Span) {
        self.points[point] = Out::Steps(steps);
        self.spans[point] = span;
    }

    /// Lets a point have one step to a new point, which is the result.
    pub fn step(&mut self, point: Point, op: Op, span: Span) -> Point {
        let next = self.point();
        self.steps(point, vec![Edge { op, to: LocationId(next), span }], span);
        next
    }

    /// Lets a point pass control on to one of others.
    pub fn pass(&mut self, point: Point, to: Vec<Point>, span: Span) {
        self.points[point] = Out::Pass(to);
        self.spans[point] = span;
    }

    /// Which points can be reached from one.
    pub fn reachable(&self, from: Point) -> Vec<bool> {
        let mut seen = vec![false; self.points.len()];
        let mut todo = vec![from];
        while let Some(point) = todo.pop() {
            if !std::mem::replace(&mut seen[point], true) {
                match &self.points[point] {
                    Out::Steps(steps) => todo.extend(steps.iter().map(|step| step.to.index())),
                    Out::Pass(to) => todo.extend(to),
                }
            }
        }
        seen
    }

    /// Adds the locations of a procedure, as far as they can be reached, and its labels. Gives the location of its entry.
    pub fn finish(
        self,
        program: &mut Program,
        procedure: ProcedureId,
        entry: Point,
        labels: &[Labelled<'_>],
    ) -> LocationId {
        let mut resolver = Resolver::new(self, labels);
        resolver.resolve();
        let entry = resolver.becomes[entry];
        let flow = resolver.flow;
        let seen = flow.reachable(entry);
        let mut order: Vec<Point> = (0..flow.points.len()).filter(|&point| seen[point]).collect();
        order.sort_by_key(|&point| flow.spans[point].start);
        let mut numbers = vec![usize::MAX; flow.points.len()];
        for (index, &point) in order.iter().enumerate() {
            numbers[point] = program.locations.len() + index;
        }
        let mut locations: Vec<Option<Location>> = Vec::new();
        locations.resize_with(order.len(), || None);
        let first = program.locations.len();
        for (point, (out, span)) in flow.points.into_iter().zip(flow.spans).enumerate() {
            if let (Out::Steps(mut edges), true) = (out, seen[point]) {
                edges.iter_mut().for_each(|edge| edge.to = LocationId(numbers[edge.to.index()]));
                locations[numbers[point] - first] = Some(Location { procedure, edges, span });
            }
        }
        program.locations.extend(locations.into_iter().flatten());
        for label in labels {
            let location = LocationId(numbers[resolver.becomes[label.point]]);
            if location.index() != usize::MAX {
                program.labels.push(Label { name: label.name.to_string(), location });
            }
        }
        LocationId(numbers[entry])
    }
}

/// Does away with the points that pass control on.
struct Resolver {
    flow: Flow,
    /// Of each point, the point with steps that stands for it.
    becomes: Vec<Point>,
    /// Of each point with steps, whether it must not be merged with others.
    apart: Vec<bool>,
    /// How much may still be copied: keeps the size of the result within a multiple of the size of the text.
    budget: usize,
}

impl Resolver {
    fn new(flow: Flow, labels: &[Labelled<'_>]) -> Resolver {
        let alone = |out: &Out| match out {
            Out::Steps(steps) => steps.is_empty() || steps.iter().any(|step| matches!(step.op, Op::Wait(_))),
            Out::Pass(_) => false,
        };
        let mut apart: Vec<bool> = flow.points.iter().map(alone).collect();
        for label in labels {
            apart[label.point] |= label.counted;
        }
        let cost = |out: &Out| if let Out::Steps(steps) = out { size(steps) } else { 1 };
        let all: usize = flow.points.iter().map(cost).sum();
        Resolver { becomes: (0..flow.points.len()).collect(), apart, budget: 8 * all + BUDGET, flow }
    }

    fn resolve(&mut self) {
        let passes = |out: &Out| if let Out::Pass(to) = out { to.clone() } else { Vec::new() };
        let graph: Vec<Vec<Point>> = self.flow.points.iter().map(passes).collect();
        let component = components(&graph);
        let mut members: Vec<Vec<Point>> =
            vec![Vec::new(); component.iter().max().map_or(0, |last| last + 1)];
        for (point, &number) in component.iter().enumerate() {
            members[number].push(point);
        }
        // What each merged point was merged from.
        let mut merged: HashMap<Point, Vec<Point>> = HashMap::new();
        // A component comes after all those that it leads to.
        for (number, points) in members.iter().enumerate() {
            if matches!(self.flow.points[points[0]], Out::Steps(_)) {
                continue;
            }
            let apart = points.iter().any(|&point| self.apart[point]);
            let span = self.flow.spans[points[0]];
            let leads = || points.iter().flat_map(|&point| &graph[point]);
            let mut to: Vec<Point> =
                leads().filter(|&&to| component[to] != number).map(|&to| self.becomes[to]).collect();
            dedup(&mut to);
            let circles = to.is_empty() || leads().any(|&to| component[to] == number);
            let point = match to[..] {
                [only] if !circles => only,
                _ => self.merge(&to, &mut merged, span),
            };
            if circles {
                self.circle(point, span);
                merged.remove(&point);
            }
            self.apart[point] |= apart;
            for &member in points {
                self.becomes[member] = point;
            }
        }
        for out in &mut self.flow.points {
            if let Out::Steps(steps) = out {
                steps.iter_mut().for_each(|step| step.to = LocationId(self.becomes[step.to.index()]));
            }
        }
    }

    /// Adds a step to a point that does nothing and comes back.
    fn circle(&mut self, point: Point, span: Span) {
        if let Out::Steps(steps) = &mut self.flow.points[point] {
            steps.push(Edge { op: Op::Skip, to: LocationId(point), span });
        }
    }

    /// A point with the steps of several others. When nothing more may be copied, with steps that lead to them.
    fn merge(&mut self, to: &[Point], merged: &mut HashMap<Point, Vec<Point>>, span: Span) -> Point {
        let point = self.fresh();
        let Some((parts, cost)) = self.parts(to, merged) else {
            self.budget /= 2;
            let lead = |&to: &Point| Edge { op: Op::Skip, to: LocationId(to), span };
            self.flow.steps(point, to.iter().map(lead).collect(), span);
            return point;
        };
        self.budget -= cost;
        let mut steps = Vec::new();
        for &part in &parts {
            match &self.flow.points[part] {
                Out::Steps(own) if !self.apart[part] => {
                    steps.extend(own.iter().cloned().map(|step| match step.op {
                        Op::Return(_) | Op::NoResult => Edge { to: LocationId(point), ..step },
                        _ => step,
                    }))
                }
                _ => steps.push(Edge { op: Op::Skip, to: LocationId(part), span }),
            }
        }
        self.flow.steps(point, steps, span);
        merged.insert(point, parts);
        point
    }

    /// The points whose steps are merged, each once, and what it costs to copy them; `None` if that is too much.
    fn parts(&self, to: &[Point], merged: &HashMap<Point, Vec<Point>>) -> Option<(Vec<Point>, usize)> {
        let mut seen = HashSet::new();
        let mut parts = Vec::new();
        let mut cost = 0;
        for point in to {
            let own = std::slice::from_ref(point);
            let of_point = merged.get(point).filter(|_| !self.apart[*point]).map_or(own, Vec::as_slice);
            for &part in of_point {
                cost += match &self.flow.points[part] {
                    Out::Steps(steps) if !self.apart[part] => 1 + size(steps),
                    _ => 1,
                };
                if cost > self.budget {
                    return None;
                }
                if seen.insert(part) {
                    parts.push(part);
                }
            }
        }
        Some((parts, cost))
    }

    fn fresh(&mut self) -> Point {
        let point = self.flow.point();
        self.becomes.push(point);
        self.apart.push(false);
        point
    }
}

/// Leaves the first of each.
fn dedup(points: &mut Vec<Point>) {
    let mut seen = HashSet::new();
    points.retain(|&point| seen.insert(point));
}

/// About how much memory steps take.
fn size(steps: &[Edge]) -> usize {
    let size = |step: &Edge| {
        let places = if let Op::Assign(places, ..) = &step.op { places.len() } else { 0 };
        1 + places + (step.span.end - step.span.start) as usize
    };
    steps.iter().map(size).sum()
}
