//! Graphs as pictures, laid out by `layout`: for some hundred nodes.

use super::Graph;
use super::layout::{LINE, Label, Layout, SMALL_LINE, Spot, TOO_MANY, layout};
use crate::page::escaped;
use std::fmt::Write;

const STYLE: &str = "text{font:12px ui-monospace,'DejaVu Sans Mono',monospace;fill:#1b1f24}rect.page{fill:#fff}\
.node rect{fill:#f5f6f8;stroke:#57606a}.initial rect{stroke-width:3}.bad rect{fill:#ffe3e3;stroke:#a40e26;stroke-width:2}\
.marked rect{stroke:#a40e26;stroke-width:3}.edge{fill:none;stroke:#57606a}.edge.marked{stroke:#a40e26;stroke-width:3}\
.tip{fill:#57606a}.tip.marked{fill:#a40e26}.label{font-size:10px;fill:#57606a}.label.marked{fill:#a40e26}\
@media (prefers-color-scheme:dark){text{fill:#e6edf3}rect.page{fill:#101418}.node rect{fill:#1a2027;stroke:#a2adb9}\
.bad rect{fill:#4a1d24;stroke:#ff9aa8}.marked rect{stroke:#ff9aa8}.edge{stroke:#a2adb9}.edge.marked{stroke:#ff9aa8}\
.tip{fill:#a2adb9}.tip.marked{fill:#ff9aa8}.label{fill:#a2adb9}.label.marked{fill:#ff9aa8}}";

/// A graph in SVG.
pub fn svg(graph: &Graph) -> String {
    let more = if graph.edges.len() > TOO_MANY { " (point at an edge to see its label)" } else { "" };
    let titled = Graph { title: format!("{}{more}", graph.title), ..graph.clone() };
    let graph = &titled;
    let Layout { nodes, paths, labels, size: (width, height) } = layout(graph);
    let mut text = String::new();
    // To write to a string does not fail.
    let _ = write!(
        text,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n<defs>{}{}</defs>\n\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n<text x=\"20\" y=\"24\">{title}</text>\n",
        tip(""),
        tip(" marked"),
        title = escaped(&graph.title)
    );
    for ((edge, path), label) in graph.edges.iter().zip(&paths).zip(&labels) {
        let marked = if edge.marked { " marked" } else { "" };
        let path = if edge.from == edge.to { circle(nodes[edge.from]) } else { curve(path) };
        let _ = writeln!(
            text,
            "<g><title>{}</title><path class=\"edge{marked}\" d=\"{path}\" marker-end=\"url(#tip{})\"/>",
            escaped(&edge.labels.join("\n")),
            marked.trim()
        );
        let Label { x, y, lines } = label;
        for (line, label) in lines.iter().enumerate() {
            let y = y + SMALL_LINE * (line as f64 + 0.8);
            let _ = writeln!(
                text,
                "<text class=\"label{marked}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
                escaped(label)
            );
        }
        text += "</g>\n";
    }
    for (node, spot) in graph.nodes.iter().zip(&nodes) {
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

/// The tip of an arrow.
fn tip(class: &str) -> String {
    format!(
        "<marker id=\"tip{}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip{class}\" d=\"M0 0L8 4L0 8z\"/></marker>",
        class.trim()
    )
}

/// A line through points: curves between layers, straight within them.
fn curve(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    let mut last: Option<(f64, f64)> = None;
    for &(x, y) in points {
        let _ = match last {
            None => write!(path, "M{x:.1} {y:.1}"),
            Some((from, _)) if from == x => write!(path, "L{x:.1} {y:.1}"),
            Some((from, above)) => {
                let middle = (above + y) / 2.0;
                write!(path, "C{from:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}")
            }
        };
        last = Some((x, y));
    }
    path
}

/// A line from a node back to it, at its right side.
fn circle(spot: Spot) -> String {
    let (x, y) = (spot.x + spot.width / 2.0, spot.y + spot.height / 2.0);
    let out = x + 38.0;
    format!("M{x:.1} {:.1}C{out:.1} {:.1} {out:.1} {:.1} {x:.1} {:.1}", y - 8.0, y - 16.0, y + 16.0, y + 8.0)
}
