//! Graphs in the language of Graphviz.

use super::{Edge, Graph, Node};
use std::fmt::Write;

/// How many labels of an edge are shown.
const LABELS: usize = 4;

/// A graph in DOT.
pub fn dot(graph: &Graph) -> String {
    let mut text = String::from("digraph states {\n");
    // To write to a string does not fail.
    let _ = writeln!(
        text,
        "  label={};\n  labelloc=t;\n  node [shape=box, style=rounded, fontname=monospace];",
        quoted(std::slice::from_ref(&graph.title))
    );
    for (number, Node { lines, initial, bad, marked }) in graph.nodes.iter().enumerate() {
        let color = if *bad { ", color=red, peripheries=2" } else { "" };
        let width = if *initial || *marked { ", penwidth=3" } else { "" };
        let _ = writeln!(text, "  n{number} [label={}{color}{width}];", quoted(lines));
        if *initial {
            let _ = writeln!(text, "  start{number} [shape=point];\n  start{number} -> n{number};");
        }
    }
    for Edge { from, to, labels, marked } in &graph.edges {
        let style = if *marked { ", color=red, penwidth=3" } else { "" };
        let _ = writeln!(text, "  n{from} -> n{to} [label={}{style}];", quoted(&few(labels)));
    }
    text + "}\n"
}

/// The first of many labels.
pub(super) fn few(labels: &[String]) -> Vec<String> {
    let mut few: Vec<String> = labels.iter().take(LABELS).cloned().collect();
    if labels.len() > LABELS {
        few.push(format!("… {} more", labels.len() - LABELS));
    }
    few
}

/// Lines as one string, each aligned to the left.
fn quoted(lines: &[String]) -> String {
    let mut text = String::from("\"");
    for line in lines {
        for character in line.chars() {
            match character {
                '"' | '\\' => text.extend(['\\', character]),
                _ if character.is_control() => text.push(' '),
                _ => text.push(character),
            }
        }
        text += "\\l";
    }
    text + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_cannot_leave_their_place() {
        assert_eq!(quoted(&["a \"b\" \\ \n".to_string()]), "\"a \\\"b\\\" \\\\  \\l\"");
    }
}
