//! Where the parts of a graph are drawn, in layers (Sugiyama, Tagawa and Toda 1981).
//!
//! Nodes are in every other layer, one below the nearest node from which they are reached. Labels of edges are in the layers between, and
//! an edge that passes a layer has a place there. So every text has room of its own: texts overlap neither each other nor a
//! node, and no edge runs through a text or a node, unless edges are so long together that they get no places ([`PASSES`]).
//!
//! Within a layer, parts are ordered by the middle of their neighbours, in a few sweeps down and up; then each is moved as near to its neighbours
//! as the order and the room between them allow, by the method of pooled adjacent violators, which finds the least squares.

use super::Graph;
use super::dot::few;
use std::collections::VecDeque;

/// The width of a character in a node, and of one of a label.
const CHARACTER: f64 = 7.3;
const SMALL: f64 = 6.1;

/// The height of a line in a node, and of one of a label.
pub const LINE: f64 = 16.0;
pub const SMALL_LINE: f64 = 12.0;

/// The room between layers, and between the parts of one.
const BETWEEN: f64 = 30.0;
const BESIDE: f64 = 14.0;

const MARGIN: f64 = 20.0;

/// Where the first layer starts: the title is above it.
const TOP: f64 = 50.0;

/// How many places edges may have in layers that they pass.
const PASSES: usize = 20_000;

/// With more edges than this, long labels are cut.
const MANY: usize = 80;

/// With more than this, none is drawn: they would take more room than all else.
pub const TOO_MANY: usize = 240;

/// How long a label is then.
const CUT: usize = 20;

/// How often the layers are gone through, down and up.
const SWEEPS: usize = 8;

/// What is drawn, where. The `x` of a node is its middle, that of a label the line of its edge, to the left of its text.
#[derive(Default)]
pub struct Layout {
    /// The nodes, with their sizes.
    pub nodes: Vec<Spot>,
    /// For each edge, the points that it goes through, from its start to its end; none for one that leads back to its own node.
    pub paths: Vec<Vec<(f64, f64)>>,
    /// For each edge, its label: where its first line starts, and its lines.
    pub labels: Vec<Label>,
    /// The size of the picture.
    pub size: (f64, f64),
}

/// A rectangle: the middle of its top, and its size.
#[derive(Clone, Copy, Default, Debug)]
pub struct Spot {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// The label of an edge.
#[derive(Clone, Default, Debug)]
pub struct Label {
    pub x: f64,
    pub y: f64,
    pub lines: Vec<String>,
}

/// What stands in a layer: a node, the label of an edge, or an edge that passes.
#[derive(Clone, Copy)]
enum What {
    Node,
    Label(usize),
    Pass,
}

struct Part {
    what: What,
    layer: usize,
    /// The room that it needs to the left and to the right of `x`, and its height.
    left: f64,
    right: f64,
    height: f64,
    x: f64,
    above: Vec<usize>,
    below: Vec<usize>,
}

/// The parts of a graph in their layers. Invariant: `chains[e]` leads from the start of edge e to its end, without both.
struct Parts {
    parts: Vec<Part>,
    layers: Vec<Vec<usize>>,
    chains: Vec<Vec<usize>>,
}

/// The texts of an edge that are drawn.
fn shown(labels: &[String], cut: bool) -> Vec<String> {
    let shorten = |label: String| match label.char_indices().nth(CUT) {
        Some((at, _)) if cut => format!("{}…", &label[..at]),
        _ => label,
    };
    let mut lines: Vec<String> = few(labels).into_iter().map(shorten).collect();
    lines.dedup();
    lines
}

fn longest(lines: &[String]) -> f64 {
    lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) as f64
}

/// Lays out a graph.
pub fn layout(graph: &Graph) -> Layout {
    let cut = graph.edges.len() > MANY;
    let all = graph.edges.len() <= TOO_MANY;
    let texts = |edge: &super::Edge| if all { shown(&edge.labels, cut) } else { Vec::new() };
    let labels: Vec<Vec<String>> = graph.edges.iter().map(texts).collect();
    let mut parts = Parts::new(graph, &labels);
    parts.order();
    parts.place();
    parts.layout(graph, labels)
}

/// How far each node is from a start.
fn ranks(graph: &Graph) -> Vec<usize> {
    let count = graph.nodes.len();
    let mut next = vec![Vec::new(); count];
    graph.edges.iter().for_each(|edge| next[edge.from].push(edge.to));
    let mut ranks = vec![usize::MAX; count];
    // What is reached from nowhere starts at the top, too.
    let starts = (0..count).filter(|&node| graph.nodes[node].initial).map(|node| vec![node]);
    let starts = std::iter::once(starts.flatten().collect()).chain((0..count).map(|node| vec![node]));
    for start in starts {
        let mut queue: VecDeque<usize> =
            start.into_iter().filter(|&node: &usize| ranks[node] == usize::MAX).collect();
        queue.iter().for_each(|&node| ranks[node] = 0);
        while let Some(node) = queue.pop_front() {
            for &to in &next[node] {
                if ranks[to] == usize::MAX {
                    ranks[to] = ranks[node] + 1;
                    queue.push_back(to);
                }
            }
        }
    }
    ranks
}

impl Parts {
    fn new(graph: &Graph, labels: &[Vec<String>]) -> Parts {
        let ranks = ranks(graph);
        let depth = ranks.iter().map(|rank| 2 * rank + 2).max().unwrap_or(0);
        let mut all = Parts {
            parts: Vec::new(),
            layers: vec![Vec::new(); depth],
            chains: vec![Vec::new(); graph.edges.len()],
        };
        for (number, node) in graph.nodes.iter().enumerate() {
            let half = (longest(&node.lines) * CHARACTER + 16.0) / 2.0;
            let height = node.lines.len() as f64 * LINE + 8.0;
            all.add(What::Node, 2 * ranks[number], (half, half), height);
        }
        for (edge, lines) in graph.edges.iter().zip(labels).filter(|(edge, _)| edge.from == edge.to) {
            // A loop is to the right of its node, with its label.
            let part = &mut all.parts[edge.from];
            part.right += 40.0 + longest(lines) * SMALL;
            part.height = part.height.max(lines.len() as f64 * SMALL_LINE);
        }
        let length = |edge: &super::Edge| 2 * ranks[edge.from].abs_diff(ranks[edge.to]);
        let routed = graph.edges.iter().map(length).sum::<usize>() <= PASSES;
        for (number, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| edge.from != edge.to) {
            let (from, to) = (ranks[edge.from], ranks[edge.to]);
            // The label is near the start of the edge: of one that leads to the same layer, below both.
            let labelled = if to < from { 2 * from - 1 } else { 2 * from + 1 };
            let mut chain = Vec::new();
            let passed = if to < from { 2 * to + 1..2 * from } else { labelled..labelled + 1 };
            for layer in passed {
                let lines = &labels[number];
                let part = if layer == labelled && !lines.is_empty() {
                    let size = (longest(lines) * SMALL + 10.0, lines.len() as f64 * SMALL_LINE);
                    all.add(What::Label(number), layer, (4.0, size.0), size.1)
                } else if routed || layer == labelled {
                    all.add(What::Pass, layer, (5.0, 5.0), 0.0)
                } else {
                    continue;
                };
                chain.push(part);
            }
            let upper = if to < from { edge.to } else { edge.from };
            let lower = if to < from { edge.from } else { edge.to };
            let mut last = upper;
            for &part in &chain {
                all.join(last, part);
                last = part;
            }
            if to == from {
                all.join(lower, last);
            } else {
                all.join(last, lower);
            }
            if to < from {
                chain.reverse();
            }
            all.chains[number] = chain;
        }
        all
    }

    fn add(&mut self, what: What, layer: usize, (left, right): (f64, f64), height: f64) -> usize {
        let (above, below) = (Vec::new(), Vec::new());
        self.parts.push(Part { what, layer, left, right, height, x: 0.0, above, below });
        self.layers[layer].push(self.parts.len() - 1);
        self.parts.len() - 1
    }

    fn join(&mut self, upper: usize, lower: usize) {
        self.parts[upper].below.push(lower);
        self.parts[lower].above.push(upper);
    }

    /// The mean of the neighbours above, below, or both; where there are none, where it is.
    fn middle(&self, part: usize, up: bool, down: bool) -> f64 {
        let Part { above, below, x, .. } = &self.parts[part];
        let near = above.iter().filter(|_| up).chain(below.iter().filter(|_| down));
        let (sum, count) = near.fold((0.0, 0), |(sum, count), &one| (sum + self.parts[one].x, count + 1));
        if count == 0 { *x } else { sum / f64::from(count) }
    }

    /// Orders each layer. Meanwhile `x` is a place in the order, counted from the middle of the layer.
    fn order(&mut self) {
        let mut layers = std::mem::take(&mut self.layers);
        let number = |parts: &mut [Part], layer: &[usize]| {
            let middle = layer.len() as f64 / 2.0;
            layer.iter().enumerate().for_each(|(index, &part)| parts[part].x = index as f64 - middle);
        };
        layers.iter().for_each(|layer| number(&mut self.parts, layer));
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            let count = layers.len();
            for index in 0..count {
                let layer = &mut layers[if down { index } else { count - 1 - index }];
                layer.sort_by(|&one, &other| {
                    self.middle(one, down, !down).total_cmp(&self.middle(other, down, !down))
                });
                number(&mut self.parts, layer);
            }
        }
        self.layers = layers;
    }

    /// Gives each part its `x`.
    fn place(&mut self) {
        let layers = std::mem::take(&mut self.layers);
        for layer in &layers {
            let desired = vec![0.0; layer.len()];
            self.spread(layer, &desired);
        }
        for sweep in 0..SWEEPS {
            let (up, down) = [(true, false), (false, true), (true, true)][sweep % 3];
            let count = layers.len();
            for index in 0..count {
                let layer = &layers[if up { index } else { count - 1 - index }];
                let desired: Vec<f64> = layer.iter().map(|&part| self.middle(part, up, down)).collect();
                self.spread(layer, &desired);
            }
        }
        self.layers = layers;
    }

    /// Puts the parts of a layer as near as possible to where they should be, in their order and with room between them.
    fn spread(&mut self, layer: &[usize], desired: &[f64]) {
        // Without the room that those before it take, the places only have to ascend.
        let mut offsets = Vec::new();
        let mut offset = 0.0;
        for (index, &part) in layer.iter().enumerate() {
            if index > 0 {
                offset += self.parts[layer[index - 1]].right + BESIDE + self.parts[part].left;
            }
            offsets.push(offset);
        }
        // Groups at one place: their sum, and how many they are.
        let mut groups: Vec<(f64, usize)> = Vec::new();
        for (desired, offset) in desired.iter().zip(&offsets) {
            let mut group = (desired - offset, 1);
            while let Some(&(sum, count)) = groups.last()
                && sum / count as f64 >= group.0 / group.1 as f64
            {
                groups.pop();
                group = (group.0 + sum, group.1 + count);
            }
            groups.push(group);
        }
        let places = groups.iter().flat_map(|&(sum, count)| std::iter::repeat_n(sum / count as f64, count));
        for ((&part, place), offset) in layer.iter().zip(places).zip(offsets) {
            self.parts[part].x = place + offset;
        }
    }

    /// The layers as they are drawn.
    fn layout(&mut self, graph: &Graph, labels: Vec<Vec<String>>) -> Layout {
        let least = self.parts.iter().map(|part| part.x - part.left).fold(f64::INFINITY, f64::min);
        let most = self.parts.iter().map(|part| part.x + part.right).fold(0.0, f64::max);
        let shift = if self.parts.is_empty() { 0.0 } else { MARGIN - least };
        let title = graph.title.chars().count() as f64 * CHARACTER;
        let width = (most + shift).max(title + MARGIN) + MARGIN;
        let mut y = TOP;
        let mut bands = Vec::new();
        for layer in &self.layers {
            let height = layer.iter().map(|&part| self.parts[part].height).fold(0.0, f64::max);
            bands.push((y, y + height));
            y += if layer.is_empty() { 0.0 } else { height + BETWEEN };
        }
        self.parts.iter_mut().for_each(|part| part.x += shift);
        let mut layout = Layout {
            size: (width, y + MARGIN),
            paths: vec![Vec::new(); graph.edges.len()],
            ..Layout::default()
        };
        for (number, node) in graph.nodes.iter().enumerate() {
            let part = &self.parts[number];
            let (top, _) = bands[part.layer];
            let height = node.lines.len() as f64 * LINE + 8.0;
            layout.nodes.push(Spot { x: part.x, y: top, width: 2.0 * part.left, height });
        }
        layout.labels = labels.into_iter().map(|lines| Label { lines, ..Label::default() }).collect();
        for part in &self.parts {
            if let What::Label(edge) = part.what {
                let (top, _) = bands[part.layer];
                layout.labels[edge] =
                    Label { x: part.x + 6.0, y: top, lines: std::mem::take(&mut layout.labels[edge].lines) };
            }
        }
        for edge in graph.edges.iter().enumerate().filter(|(_, edge)| edge.from == edge.to) {
            let spot = layout.nodes[edge.1.from];
            let label = &mut layout.labels[edge.0];
            (label.x, label.y) = (spot.x + spot.width / 2.0 + 34.0, spot.y);
        }
        self.paths(graph, &bands, &mut layout);
        layout
    }

    /// The points of each edge. Edges start and end at places of their own along the sides of nodes.
    fn paths(&self, graph: &Graph, bands: &[(f64, f64)], layout: &mut Layout) {
        // For each node, above and below: which edges start or end there, and where they come from.
        let mut ends: Vec<[Vec<(f64, usize, bool)>; 2]> = vec![<[Vec<_>; 2]>::default(); graph.nodes.len()];
        for (number, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| edge.from != edge.to) {
            let chain = &self.chains[number];
            let (Some(&first), Some(&last)) = (chain.first(), chain.last()) else { continue };
            for (node, near, is_start) in [(edge.from, first, true), (edge.to, last, false)] {
                let side = usize::from(self.parts[near].layer > self.parts[node].layer);
                ends[node][side].push((self.parts[near].x, number, is_start));
            }
        }
        let mut ports = vec![[(0.0, 0.0); 2]; graph.edges.len()];
        for (sides, spot) in ends.iter_mut().zip(&layout.nodes) {
            for (side, ends) in sides.iter_mut().enumerate() {
                ends.sort_by(|one, other| one.0.total_cmp(&other.0));
                let apart = spot.width / (ends.len() + 1) as f64;
                for (index, &(_, edge, is_start)) in ends.iter().enumerate() {
                    let x = spot.x - spot.width / 2.0 + apart * (index + 1) as f64;
                    let y = if side == 0 { spot.y } else { spot.y + spot.height };
                    ports[edge][usize::from(!is_start)] = (x, y);
                }
            }
        }
        for (number, chain) in self.chains.iter().enumerate().filter(|(_, chain)| !chain.is_empty()) {
            let edge = &graph.edges[number];
            let [start, end] = ports[number];
            // Down to the end of the layer of nodes: beside a node there may be the label of a loop, which is taller.
            let side = |node: usize, (x, y): (f64, f64)| {
                let (_, bottom) = bands[self.parts[node].layer];
                let below = y > layout.nodes[node].y;
                below.then_some((x, bottom))
            };
            let mut points: Vec<(f64, f64)> = std::iter::once(start).chain(side(edge.from, start)).collect();
            let (from, to) = (self.parts[edge.from].layer, self.parts[edge.to].layer);
            for &part in chain {
                let (top, bottom) = bands[self.parts[part].layer];
                let x = self.parts[part].x;
                match from.cmp(&to) {
                    std::cmp::Ordering::Less => points.extend([(x, top), (x, bottom)]),
                    std::cmp::Ordering::Greater => points.extend([(x, bottom), (x, top)]),
                    std::cmp::Ordering::Equal => points.push((x, top)),
                }
            }
            points.extend(side(edge.to, end).into_iter().chain([end]));
            layout.paths[number] = points;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Edge, Node};
    use super::*;

    fn graph(nodes: usize, edges: &[(usize, usize)]) -> Graph {
        let node = |number: usize| Node {
            lines: vec![format!("state {number}"), "a line".to_string()],
            initial: number == 0,
            ..Node::default()
        };
        let edge = |&(from, to): &(usize, usize)| Edge {
            from,
            to,
            labels: vec![format!("worker[{from}]: counter = {to}")],
            marked: false,
        };
        Graph {
            title: "x".to_string(),
            nodes: (0..nodes).map(node).collect(),
            edges: edges.iter().map(edge).collect(),
        }
    }

    /// What is drawn of nodes and labels, as left, top, right and bottom.
    fn boxes(layout: &Layout) -> Vec<[f64; 4]> {
        let node = |spot: &Spot| {
            [spot.x - spot.width / 2.0, spot.y, spot.x + spot.width / 2.0, spot.y + spot.height]
        };
        let label = |label: &Label| {
            let width = label.lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) as f64 * SMALL;
            [label.x, label.y, label.x + width, label.y + SMALL_LINE * label.lines.len() as f64]
        };
        layout.nodes.iter().map(node).chain(layout.labels.iter().map(label)).collect()
    }

    #[test]
    fn nothing_overlaps() {
        let mut seed = 7_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        for count in [1, 2, 5, 20, 60] {
            for _ in 0..20 {
                let mut edges: Vec<(usize, usize)> =
                    (0..2 * count).map(|_| (random(count), random(count))).collect();
                edges.sort_unstable();
                edges.dedup();
                let graph = graph(count, &edges);
                let layout = layout(&graph);
                let boxes = boxes(&layout);
                for (index, one) in boxes.iter().enumerate() {
                    assert!(one[0] >= 0.0 && one[2] <= layout.size.0, "{one:?} is within {:?}", layout.size);
                    assert!(one[1] >= 0.0 && one[3] <= layout.size.1, "{one:?} is within {:?}", layout.size);
                    for other in &boxes[..index] {
                        let apart = one[2] <= other[0]
                            || other[2] <= one[0]
                            || one[3] <= other[1]
                            || other[3] <= one[1];
                        assert!(apart, "{one:?} and {other:?} overlap, {edges:?}");
                    }
                }
                for (edge, path) in graph.edges.iter().zip(&layout.paths) {
                    assert_eq!(path.is_empty(), edge.from == edge.to, "every other edge is drawn");
                }
            }
        }
        assert!(layout(&Graph::default()).nodes.is_empty());
    }

    #[test]
    fn parts_are_as_near_to_their_places_as_the_room_allows() {
        let all = graph(3, &[]);
        let mut parts = Parts::new(&all, &[]);
        let layer = parts.layers[0].clone();
        let room = parts.parts[0].right + BESIDE + parts.parts[1].left;
        parts.spread(&layer, &[0.0, 0.0, 1000.0]);
        let x: Vec<f64> = layer.iter().map(|&part| parts.parts[part].x).collect();
        assert_eq!(x, [-room / 2.0, room / 2.0, 1000.0]);
    }
}
