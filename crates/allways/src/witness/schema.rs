//! What a witness in YAML must look like, by the schemas of the formats 2.0, 2.1 and 2.2, and the reading of violation witnesses.
//!
//! A file is a list of entries, all of one version: of `violation_sequence`, or of `invariant_set` and, from 2.1 on,
//! `ghost_instrumentation`. Segments end with the waypoint that is to be followed; the last one ends with the target, or from 2.2 on
//! with the two targets of a data race. Only what the formats ask for is checked, keys that they do not know are refused.

use allways_lang::yaml::{Node, Value};

/// Why a text is no witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit {
    /// Where, in bytes of the text.
    pub at: usize,
    /// What is expected there.
    pub what: String,
}

type Result<T> = std::result::Result<T, Misfit>;

/// Which kind of witness a text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Genre {
    /// It guides to an error.
    Violation,
    /// It lists invariants.
    Correctness,
}

fn misfit<T>(node: &Node, what: impl Into<String>) -> Result<T> {
    Err(Misfit { at: node.span.start, what: what.into() })
}

/// The value of a key that must be there.
fn field<'a>(node: &'a Node, key: &str) -> Result<&'a Node> {
    node.get(key).map_or_else(|| misfit(node, format!("the key `{key}`")), Ok)
}

fn text<'a>(node: &'a Node, key: &str) -> Result<&'a str> {
    let value = field(node, key)?;
    value.text().map_or_else(|| misfit(value, format!("a string as `{key}`")), Ok)
}

fn one_of<'a>(node: &'a Node, key: &str, allowed: &[&str]) -> Result<&'a str> {
    let value = text(node, key)?;
    if allowed.contains(&value) {
        Ok(value)
    } else {
        misfit(field(node, key)?, format!("one of {}", allowed.join(", ")))
    }
}

fn list<'a>(node: &'a Node, key: &str) -> Result<&'a [Node]> {
    let value = field(node, key)?;
    value.list().map_or_else(|| misfit(value, format!("a list as `{key}`")), Ok)
}

/// Refuses keys that are not known.
fn only(node: &Node, known: &[&str]) -> Result<()> {
    let Some(entries) = node.entries() else { return misfit(node, "a mapping") };
    match entries.iter().find(|(key, _)| !known.contains(&key.as_str())) {
        Some((key, value)) => misfit(value, format!("no key `{key}`; known are {}", known.join(", "))),
        None => Ok(()),
    }
}

/// Checks a witness; says which kind it is.
pub fn check(witness: &Node) -> Result<Genre> {
    let Some(entries) = witness.list().filter(|entries| !entries.is_empty()) else {
        return misfit(witness, "a list of entries");
    };
    let mut genre = None;
    let mut first = None;
    for entry in entries {
        only(entry, &["entry_type", "metadata", "content"])?;
        let kind =
            one_of(entry, "entry_type", &["violation_sequence", "invariant_set", "ghost_instrumentation"])?;
        let version = metadata(field(entry, "metadata")?)?;
        if *first.get_or_insert(version) != version {
            return misfit(entry, "entries of one version");
        }
        let own = if kind == "violation_sequence" { Genre::Violation } else { Genre::Correctness };
        if *genre.get_or_insert(own) != own {
            return misfit(entry, "entries of one kind of witness");
        }
        match kind {
            "violation_sequence" => segments(entry, version)?,
            "invariant_set" => list(entry, "content")?.iter().try_for_each(|one| invariant(one, version))?,
            _ if version < (2, 1) => return misfit(entry, "version 2.1 for ghost variables"),
            _ => ghosts(field(entry, "content")?)?,
        }
    }
    genre.map_or_else(|| misfit(witness, "an entry"), Ok)
}

fn metadata(node: &Node) -> Result<(u32, u32)> {
    only(node, &["format_version", "uuid", "creation_time", "producer", "task"])?;
    let version = match one_of(node, "format_version", &["2.0", "2.1", "2.2"])? {
        "2.0" => (2, 0),
        "2.1" => (2, 1),
        _ => (2, 2),
    };
    let uuid = text(node, "uuid")?;
    let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
    if lengths != [8, 4, 4, 4, 12] || !uuid.chars().all(|digit| digit == '-' || digit.is_ascii_hexdigit()) {
        return misfit(node, "a UUID in the form of RFC 4122");
    }
    let time = text(node, "creation_time")?;
    if !is_time(time) {
        return misfit(field(node, "creation_time")?, "a time in the form of ISO 8601");
    }
    let producer = field(node, "producer")?;
    only(producer, &["name", "version", "configuration", "command_line", "description"])?;
    text(producer, "name")?;
    text(producer, "version")?;
    let task = field(node, "task")?;
    only(task, &["input_files", "input_file_hashes", "specification", "data_model", "language"])?;
    let files = list(task, "input_files")?;
    let hashes = field(task, "input_file_hashes")?;
    for file in files {
        let hash = file.text().and_then(|name| hashes.get(name)).and_then(Node::text);
        if !hash.is_some_and(|hash| hash.len() == 64 && hash.bytes().all(|digit| digit.is_ascii_hexdigit())) {
            return misfit(file, "a file with its SHA-256 in `input_file_hashes`");
        }
    }
    text(task, "specification")?;
    one_of(task, "data_model", &["ILP32", "LP64"])?;
    one_of(task, "language", &["C"])?;
    Ok(version)
}

/// Whether a text is a date and a time of day, with Z or the distance to it.
fn is_time(text: &str) -> bool {
    let shape: String =
        text.chars().map(|character| if character.is_ascii_digit() { '0' } else { character }).collect();
    let Some(zone) = shape.strip_prefix("0000-00-00T00:00:00") else { return false };
    let zone = zone.strip_prefix('.').map_or(zone, |fraction| fraction.trim_start_matches('0'));
    matches!(zone, "Z" | "+00:00" | "-00:00")
}

fn location(node: &Node) -> Result<()> {
    only(node, &["file_name", "file_hash", "line", "column", "function"])?;
    text(node, "file_name")?;
    let positive = |node: &Node| node.number().is_some_and(|number| number > 0);
    let line = field(node, "line")?;
    if !positive(line) {
        return misfit(line, "a line, counted from 1");
    }
    match node.get("column").filter(|column| !positive(column)) {
        Some(column) => misfit(column, "a column, counted from 1"),
        None => node.get("function").map_or(Ok(()), |_| text(node, "function").map(drop)),
    }
}

fn segments(entry: &Node, version: (u32, u32)) -> Result<()> {
    let segments = list(entry, "content")?;
    let Some(last) = segments.len().checked_sub(1) else { return misfit(entry, "a segment") };
    for (index, segment) in segments.iter().enumerate() {
        only(segment, &["segment"])?;
        let waypoints = list(segment, "segment")?;
        let mut followed = 0;
        for (place, one) in waypoints.iter().enumerate() {
            only(one, &["waypoint"])?;
            let (kind, action) = waypoint(field(one, "waypoint")?, version)?;
            followed += usize::from(action != "avoid");
            if (kind == "target") != (index == last && action == "follow") && version < (2, 1) {
                return misfit(one, "the target in the last segment, and there alone");
            }
            if place + 1 == waypoints.len() && action == "avoid" {
                return misfit(one, "a waypoint at the end of the segment that is not to be avoided");
            }
        }
        // Of a data race, both accesses are targets.
        let most = if version >= (2, 2) && index == last { 2 } else { 1 };
        if !(1..=most).contains(&followed) {
            return misfit(segment, "one waypoint that is to be followed");
        }
    }
    Ok(())
}

fn waypoint(node: &Node, version: (u32, u32)) -> Result<(&str, &str)> {
    let mut known = vec!["type", "action", "constraint", "location"];
    if version >= (2, 2) {
        known.push("thread_id");
    }
    only(node, &known)?;
    let kinds = ["assumption", "target", "function_enter", "function_return", "branching"];
    let kind = one_of(node, "type", &kinds)?;
    let actions: &[&str] =
        if version >= (2, 1) { &["follow", "avoid", "cycle"] } else { &["follow", "avoid"] };
    let action = one_of(node, "action", actions)?;
    location(field(node, "location")?)?;
    if let Some(thread) =
        node.get("thread_id").filter(|thread| thread.number().is_none_or(|number| number < 0))
    {
        return misfit(thread, "the number of a thread");
    }
    match (kind, node.get("constraint")) {
        ("target" | "function_enter", Some(constraint)) => return misfit(constraint, "no constraint"),
        ("assumption" | "function_return" | "branching", None) => return misfit(node, "a constraint"),
        (_, Some(constraint)) => {
            only(constraint, &["value", "format"])?;
            let value = field(constraint, "value")?;
            let formats: &[&str] = match kind {
                "assumption" => &["c_expression", "ext_c_expression"],
                "function_return" if version >= (2, 1) => &["ext_c_expression"],
                "function_return" => &["acsl_expression", "c_expression"],
                _ => &["c_expression"],
            };
            // Branches are named by true and false, or by the value of a case.
            if kind != "branching" || constraint.get("format").is_some() {
                one_of(constraint, "format", formats)?;
            }
            if matches!(value.value, Value::List(_) | Value::Map(_) | Value::Null) {
                return misfit(value, "an expression");
            }
        }
        (_, None) => {}
    }
    Ok((kind, action))
}

fn invariant(node: &Node, version: (u32, u32)) -> Result<()> {
    only(node, if version >= (2, 1) { &["invariant", "contract"] } else { &["invariant"] })?;
    let Some(invariant) = node.get("invariant") else { return Ok(()) };
    only(invariant, &["type", "location", "value", "format", "labels"])?;
    let mut kinds = vec!["loop_invariant", "location_invariant"];
    if version >= (2, 1) {
        kinds.extend(["loop_transition_invariant", "location_transition_invariant"]);
    }
    one_of(invariant, "type", &kinds)?;
    text(invariant, "value")?;
    one_of(invariant, "format", &["c_expression", "ext_c_expression"])?;
    location(field(invariant, "location")?)
}

fn ghosts(node: &Node) -> Result<()> {
    only(node, &["ghost_variables", "ghost_updates"])?;
    let expression = |node: &Node| -> Result<()> {
        text(node, "value")?;
        one_of(node, "format", &["c_expression"]).map(drop)
    };
    for variable in list(node, "ghost_variables")? {
        only(variable, &["name", "type", "scope", "initial"])?;
        text(variable, "name")?;
        text(variable, "type")?;
        text(variable, "scope")?;
        expression(field(variable, "initial")?)?;
    }
    for update in list(node, "ghost_updates")? {
        only(update, &["location", "updates"])?;
        location(field(update, "location")?)?;
        for one in list(update, "updates")? {
            only(one, &["variable", "value", "format"])?;
            text(one, "variable")?;
            expression(one)?;
        }
    }
    Ok(())
}
