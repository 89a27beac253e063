//! Violation witnesses in GraphML, version 1.0: an automaton that is a path, with one edge for each statement that the run passes.
//!
//! Edges name the thread that takes over where `handover` says; until then, those of another thread than the last one
//! name none, which stands for any thread.

use super::{Content, NoWitness, Step, Waypoint, Witness};
use allways_c::typed::DataModel;
use std::collections::HashSet;
use std::fmt::Write;

/// The keys that are used: of what, and by which name.
const KEYS: [(&str, &str); 18] = [
    ("graph", "witness-type"),
    ("graph", "sourcecodelang"),
    ("graph", "producer"),
    ("graph", "specification"),
    ("graph", "programfile"),
    ("graph", "programhash"),
    ("graph", "architecture"),
    ("graph", "creationtime"),
    ("node", "entry"),
    ("node", "violation"),
    ("edge", "startline"),
    ("edge", "endline"),
    ("edge", "threadId"),
    ("edge", "createThread"),
    ("edge", "enterFunction"),
    ("edge", "assumption"),
    ("edge", "assumption.scope"),
    ("edge", "assumption.resultfunction"),
];

/// Writes a violation witness.
pub fn write(witness: &Witness) -> Result<String, NoWitness> {
    let Content::Violation(steps, targets) = &witness.content else {
        return Err(NoWitness("correctness witnesses are written in YAML: give another ending".to_string()));
    };
    let about = &witness.about;
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" \
         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">\n",
    );
    for (of, name) in KEYS {
        let _ = write!(text, " <key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"string\"");
        let is_flag = of == "node";
        text += if is_flag { "><default>false</default></key>\n" } else { "/>\n" };
    }
    text += " <graph edgedefault=\"directed\">\n";
    let specification = format!("CHECK( init(main()), LTL({}) )", about.specification);
    let architecture = if about.data_model == DataModel::Ilp32 { "32bit" } else { "64bit" };
    let facts = [
        ("witness-type", "violation_witness"),
        ("sourcecodelang", "C"),
        ("producer", &format!("Allways {}", about.version())),
        ("specification", &specification),
        ("programfile", &about.file),
        ("programhash", &about.hash),
        ("architecture", architecture),
        ("creationtime", &about.time()),
    ];
    facts.iter().for_each(|(key, value)| data(&mut text, 2, key, value));
    let is_input =
        |one: &Waypoint| matches!(one.step, Step::Returns { value, variable: Some(_), .. } if value != 0);
    // Whether an input comes before all threads that take over: see [`handover`](super::handover).
    let unordered = steps.iter().take_while(|waypoint| !waypoint.takes_over).any(is_input);
    let starts = steps.iter().find(|waypoint| waypoint.takes_over);
    let starts = starts.is_some_and(|waypoint| waypoint.thread == steps[0].thread) && !unordered;
    // That a thread stands somewhere is said only if that keeps it from going on.
    let is_said = |one: &&Waypoint| one.step != Step::Stands || one.takes_over && !unordered;
    let edges: Vec<&Waypoint> = steps.iter().filter(is_said).chain(targets).collect();
    let before = usize::from(starts);
    let count = before + edges.len();
    for node in 0..=count {
        let flag = match node {
            0 => Some("entry"),
            node if node == count => Some("violation"),
            _ => None,
        };
        match flag {
            Some(flag) => {
                let _ = writeln!(text, "  <node id=\"N{node}\">");
                data(&mut text, 3, flag, "true");
                text += "  </node>\n";
            }
            None => _ = writeln!(text, "  <node id=\"N{node}\"/>"),
        }
    }
    let mut entered = HashSet::new();
    let first = edges.first().and_then(|first| first.thread);
    let (mut last, mut switches) = (first.filter(|_| !starts), 0);
    if starts {
        text += "  <edge source=\"N0\" target=\"N1\">\n";
        data(&mut text, 3, "enterFunction", "main");
        text += "  </edge>\n";
        entered.insert(first);
    }
    for (index, waypoint) in edges.iter().enumerate() {
        if waypoint.takes_over && !unordered {
            (last, switches) = (waypoint.thread, switches + 1);
        }
        let named = waypoint.thread.filter(|_| waypoint.thread == last);
        let source = before + index;
        let _ = writeln!(text, "  <edge source=\"N{source}\" target=\"N{}\">", source + 1);
        edge(&mut text, waypoint, named, switches, entered.insert(waypoint.thread));
        text += "  </edge>\n";
    }
    Ok(text + " </graph>\n</graphml>\n")
}

fn edge(text: &mut String, waypoint: &Waypoint, thread: Option<usize>, switches: usize, enters: bool) {
    let line = waypoint.place.line.to_string();
    data(text, 3, "startline", &line);
    data(text, 3, "endline", &line);
    thread.into_iter().for_each(|thread| data(text, 3, "threadId", &thread.to_string()));
    let function = waypoint.place.function.as_deref();
    if let (true, Some(function)) = (enters, function) {
        data(text, 3, "enterFunction", function);
    }
    match &waypoint.step {
        Step::Creates(thread) => data(text, 3, "createThread", &thread.to_string()),
        Step::Returns { value, function: called, variable } => {
            let holds = match variable {
                Some(variable) if *value == 0 => format!("!{variable};"),
                // ConcurrentWitness2Test (of 2025) takes the number of equations for that of the switches so far.
                Some(variable) => format!("{variable} == {value};").repeat(switches.max(1)),
                None => format!("\\result == {value};"),
            };
            data(text, 3, "assumption", &holds);
            function.into_iter().for_each(|scope| data(text, 3, "assumption.scope", scope));
            if variable.is_none() {
                data(text, 3, "assumption.resultfunction", called);
            }
        }
        Step::Holds(holds) => data(text, 3, "assumption", &format!("{holds};")),
        Step::Passes | Step::Stands | Step::Branches(_) | Step::Fails => {}
    }
}

fn data(text: &mut String, indent: usize, key: &str, value: &str) {
    let value = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let value: String = value.chars().filter(|character| !character.is_control()).collect();
    let _ = writeln!(text, "{}<data key=\"{key}\">{value}</data>", " ".repeat(indent));
}
