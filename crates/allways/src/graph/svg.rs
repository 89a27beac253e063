//! Graphs as pictures, in layers: a node is one layer below the nearest from which it is reached.
//!
//! Within a layer, nodes are ordered by the middle of their neighbours in the layer above (Sugiyama, Tagawa and Toda 1981, with one sweep
//! down and one up). Edges are curves; those that lead back go around. It is for graphs of some hundred nodes.

use super::Graph;
use super::dot::few;
use crate::page::escaped;
use std::collections::VecDeque;
use std::fmt::Write;

const CHARACTER: f64 = 7.3;
const LABEL: f64 = 6.1;
const LINE: f64 = 16.0;
const GAP: f64 = 40.0;
const LAYER: f64 = 90.0;
const MARGIN: f64 = 20.0;

const STYLE: &str = "text{font:12px ui-monospace,'DejaVu Sans Mono',monospace;fill:#1b1f24}rect.page{fill:#fff}\
.node rect{fill:#f5f6f8;stroke:#57606a}.initial rect{stroke-width:3}.bad rect{fill:#ffe3e3;stroke:#a40e26;stroke-width:2}\
.marked rect{stroke:#a40e26;stroke-width:3}.edge{fill:none;stroke:#57606a}.edge.marked{stroke:#a40e26;stroke-width:3}\
.label{font-size:10px;fill:#57606a}.label.marked{fill:#a40e26}\
@media (prefers-color-scheme:dark){text{fill:#e6edf3}rect.page{fill:#101418}.node rect{fill:#1a2027;stroke:#a2adb9}\
.bad rect{fill:#4a1d24;stroke:#ff9aa8}.marked rect{stroke:#ff9aa8}.edge{stroke:#a2adb9}.edge.marked{stroke:#ff9aa8}\
.label{fill:#a2adb9}.label.marked{fill:#ff9aa8}}";

/// Where a node is drawn: its middle at the top, and its size.
#[derive(Clone, Copy, Default)]
struct Spot {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// A graph in SVG.
pub fn svg(graph: &Graph) -> String {
    let layers = layers(graph);
    let (spots, width, height) = placed(graph, &layers);
    let mut text = String::new();
    // To write to a string does not fail.
    let _ = write!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#57606a\"/></marker></defs>\n\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n<text x=\"{MARGIN}\" y=\"24\">{title}</text>\n",
        title = escaped(&graph.title)
    );
    for edge in &graph.edges {
        let (from, to) = (spots[edge.from], spots[edge.to]);
        let marked = if edge.marked { " marked" } else { "" };
        let (path, (x, y)) = curve(from, to, edge.from == edge.to);
        let _ = writeln!(text, "<path class=\"edge{marked}\" d=\"{path}\" marker-end=\"url(#tip)\"/>");
        for (line, label) in few(&edge.labels).iter().enumerate() {
            let y = y + 11.0 * line as f64;
            let _ = writeln!(
                text,
                "<text class=\"label{marked}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
                escaped(label)
            );
        }
    }
    for (node, spot) in graph.nodes.iter().zip(&spots) {
        let classes = [("initial", node.initial), ("marked", node.marked), ("bad", node.bad)];
        let classes =
            classes.iter().filter(|(_, is)| *is).map(|(class, _)| format!(" {class}")).collect::<String>();
        let left = spot.x - spot.width / 2.0;
        let _ = writeln!(
            text,
            "<g class=\"node{classes}\"><rect x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"6\"/>",
            spot.y, spot.width, spot.height
        );
        for (line, words) in node.lines.iter().enumerate() {
            let y = spot.y + LINE * (line as f64 + 1.0);
            let _ = writeln!(text, "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>", left + 8.0, escaped(words));
        }
        text += "</g>\n";
    }
    text + "</svg>\n"
}

/// The nodes of each layer, ordered.
fn layers(graph: &Graph) -> Vec<Vec<usize>> {
    let count = graph.nodes.len();
    let (mut below, mut above) = (vec![Vec::new(); count], vec![Vec::new(); count]);
    for edge in &graph.edges {
        below[edge.from].push(edge.to);
        above[edge.to].push(edge.from);
    }
    let mut layer = vec![usize::MAX; count];
    let mut queue: VecDeque<usize> = (0..count).filter(|&node| graph.nodes[node].initial).collect();
    queue.iter().for_each(|&node| layer[node] = 0);
    for start in 0..count {
        while let Some(node) = queue.pop_front() {
            for &next in &below[node] {
                if layer[next] == usize::MAX {
                    layer[next] = layer[node] + 1;
                    queue.push_back(next);
                }
            }
        }
        // What is reached from nowhere starts at the top.
        if layer[start] == usize::MAX {
            layer[start] = 0;
            queue.push_back(start);
        }
    }
    while let Some(node) = queue.pop_front() {
        for &next in &below[node] {
            if layer[next] == usize::MAX {
                layer[next] = layer[node] + 1;
                queue.push_back(next);
            }
        }
    }
    let mut layers = vec![Vec::new(); layer.iter().map(|layer| layer + 1).max().unwrap_or(0)];
    (0..count).for_each(|node| layers[layer[node]].push(node));
    let mut order = vec![0.0; count];
    let number = |layers: &[Vec<usize>], order: &mut Vec<f64>| {
        for layer in layers {
            let middle = layer.len() as f64 / 2.0;
            layer.iter().enumerate().for_each(|(index, &node)| order[node] = index as f64 - middle);
        }
    };
    number(&layers, &mut order);
    for neighbours in [&above, &below] {
        for layer in &mut layers {
            let middle = |node: usize| {
                let near = &neighbours[node];
                if near.is_empty() {
                    order[node]
                } else {
                    near.iter().map(|&one| order[one]).sum::<f64>() / near.len() as f64
                }
            };
            layer.sort_by(|&one, &other| middle(one).total_cmp(&middle(other)));
        }
        number(&layers, &mut order);
    }
    layers
}

/// Where each node goes, and how large the picture is.
fn placed(graph: &Graph, layers: &[Vec<usize>]) -> (Vec<Spot>, f64, f64) {
    let size = |node: usize| {
        let lines = &graph.nodes[node].lines;
        let longest = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
        (longest as f64 * CHARACTER + 16.0, lines.len() as f64 * LINE + 8.0)
    };
    // The labels of edges stand beside the end of their edges, so they need room there.
    let mut room: Vec<f64> = (0..graph.nodes.len()).map(|node| size(node).0).collect();
    for edge in &graph.edges {
        let longest = few(&edge.labels).iter().map(|label| label.chars().count()).max().unwrap_or(0);
        room[edge.to] = room[edge.to].max(longest as f64 * LABEL);
    }
    let row = |layer: &[usize]| layer.iter().map(|&node| room[node] + GAP).sum::<f64>();
    let title = graph.title.chars().count() as f64 * CHARACTER;
    let widest = layers.iter().map(|layer| row(layer)).fold(title, f64::max);
    let mut spots = vec![Spot::default(); graph.nodes.len()];
    let mut y = 50.0;
    for layer in layers {
        let mut x = MARGIN + (widest - row(layer)) / 2.0 + GAP / 2.0;
        let mut tallest = 0.0_f64;
        for &node in layer {
            let (width, height) = size(node);
            spots[node] = Spot { x: x + room[node] / 2.0, y, width, height };
            x += room[node] + GAP;
            tallest = tallest.max(height);
        }
        y += tallest + LAYER;
    }
    // Room for what goes around, and for its labels.
    (spots, widest + 2.0 * MARGIN + 220.0, y)
}

/// A curve from one node to another, and where its label goes.
fn curve(from: Spot, to: Spot, alone: bool) -> (String, (f64, f64)) {
    if alone {
        let (x, y) = (from.x + from.width / 2.0, from.y + from.height / 2.0);
        let path = format!(
            "M{x:.1} {:.1}C{:.1} {:.1} {:.1} {:.1} {x:.1} {:.1}",
            y - 8.0,
            x + 40.0,
            y - 16.0,
            x + 40.0,
            y + 16.0,
            y + 8.0
        );
        return (path, (x + 32.0, y));
    }
    if to.y > from.y {
        let (x1, y1, x2, y2) = (from.x, from.y + from.height, to.x, to.y);
        let half = (y2 - y1) / 2.0;
        let path =
            format!("M{x1:.1} {y1:.1}C{x1:.1} {:.1} {x2:.1} {:.1} {x2:.1} {y2:.1}", y1 + half, y2 - half);
        return (path, (0.2 * x1 + 0.8 * x2 + 4.0, 0.35 * y1 + 0.65 * y2));
    }
    // Back or to the side: out to the right of both.
    let (x1, y1) = (from.x + from.width / 2.0, from.y + from.height / 2.0);
    let (x2, y2) = (to.x + to.width / 2.0, to.y + to.height / 2.0);
    let out = x1.max(x2) + 60.0 + (y1 - y2).abs() / 12.0;
    let path = format!("M{x1:.1} {y1:.1}C{out:.1} {y1:.1} {out:.1} {y2:.1} {x2:.1} {y2:.1}");
    (path, (0.25 * (x1 + x2) / 2.0 + 0.75 * out + 4.0, (y1 + y2) / 2.0))
}
