//! Witnesses in YAML, ours and those of other tools, read.

use super::schema::{Genre, Misfit, check};
use super::{About, Content, Ghost, Ghosts, Invariant, Place, Step, Unread, Update, Waypoint, Witness};
use allways_c::typed::DataModel;
use allways_lang::yaml::{self, Node};

/// Reads a witness.
pub fn read(text: &[u8]) -> Result<Witness, Misfit> {
    let node = yaml::parse(text).map_err(|error| Misfit { at: error.span.start, what: error.message })?;
    let genre = check(&node)?;
    let entries = node.list().unwrap_or_default();
    let nothing = Misfit { at: 0, what: "what the witness is about".to_string() };
    let mut about = None;
    for entry in entries {
        let own = entry.get("metadata").and_then(self::about).ok_or(nothing.clone())?;
        let first = about.get_or_insert_with(|| own.clone());
        let what = |about: &About| {
            (about.file.clone(), about.hash.clone(), about.specification.clone(), about.data_model)
        };
        if what(first) != what(&own) {
            let what = "entries about one file and one property".to_string();
            return Err(Misfit { at: entry.span.start, what });
        }
    }
    let about = about.ok_or(nothing)?;
    let content = entries.iter().filter_map(|entry| entry.get("content")?.list()).flatten();
    let content = match genre {
        Genre::Correctness => {
            let (mut all, mut invariants, mut unread) = (Ghosts::default(), Vec::new(), Vec::new());
            let contents = entries.iter().filter_map(|entry| entry.get("content"));
            contents.for_each(|content| ghosts(content, &about.file, &mut all, &mut unread));
            for node in content {
                match invariant(node, &about.file) {
                    Ok(invariant) => invariants.push(invariant),
                    Err(what) => unread.push(Unread { what, of_ghosts: false }),
                }
            }
            Content::Correctness(invariants, all, unread)
        }
        Genre::Violation => {
            let (mut steps, mut targets, mut threads) = (Vec::new(), Vec::new(), 0);
            for one in content.filter_map(|segment| segment.get("segment")?.list()).flatten() {
                let Some(read) = one.get("waypoint").and_then(|node| waypoint(node, &mut threads)) else {
                    continue;
                };
                if read.step == Step::Fails { targets.push(read) } else { steps.push(read) }
            }
            Content::Violation(steps, targets)
        }
    };
    Ok(Witness { about, content })
}

fn about(metadata: &Node) -> Option<About> {
    let task = metadata.get("task")?;
    let file = task.get("input_files")?.list()?.first()?.text()?;
    Some(About {
        file: file.to_string(),
        hash: task.get("input_file_hashes")?.get(file)?.text()?.to_string(),
        specification: task.get("specification")?.text()?.to_string(),
        data_model: match task.get("data_model")?.text()? {
            "ILP32" => DataModel::Ilp32,
            _ => DataModel::Lp64,
        },
        seconds: seconds(metadata.get("creation_time")?.text()?),
    })
}

/// The seconds since 1970 of a time in the form of ISO 8601; zones are left out.
fn seconds(time: &str) -> u64 {
    let number =
        |from: usize, to: usize| time.get(from..to).and_then(|digits| digits.parse().ok()).unwrap_or(0u64);
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    // Years start in March, so that the day that is added every four years is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.saturating_sub(1), month + 9) };
    let days =
        365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day.saturating_sub(1);
    let days = days.saturating_sub(719_468);
    86_400 * days + 3600 * number(11, 13) + 60 * number(14, 16) + number(17, 19)
}

fn place(node: &Node) -> Option<Place> {
    let number = |key: &str| node.get(key)?.number().and_then(|number| u32::try_from(number).ok());
    let function = node.get("function").and_then(Node::text).map(str::to_string);
    Some(Place { line: number("line")?, column: number("column"), call: None, function })
}

/// The place of something that a correctness witness states; or why it is not read.
fn stated_place(node: &Node, file: &str) -> Result<Place, String> {
    let line = node.get("line").and_then(Node::text).unwrap_or_default();
    if node.get("file_name").and_then(Node::text) != Some(file) {
        return Err(format!("what is stated about line {line} of another file is not read"));
    }
    let place = place(node).filter(|place| place.column.is_some() || node.get("column").is_none());
    place.ok_or_else(|| format!("what is stated about line {line} is not read: there is no such place"))
}

/// An invariant; or why it is not read.
fn invariant(node: &Node, file: &str) -> Result<Invariant, String> {
    let Some(invariant) = node.get("invariant") else {
        return Err("contracts of functions are not read".to_string());
    };
    let place =
        invariant.get("location").map_or_else(|| Err(String::new()), |node| stated_place(node, file))?;
    let kind = invariant.get("type").and_then(Node::text).unwrap_or_default();
    let is_loop = match kind {
        "loop_invariant" => true,
        "location_invariant" => false,
        other => return Err(format!("line {}: a `{other}` is not read", place.line)),
    };
    let holds = invariant.get("value").and_then(Node::text).unwrap_or_default().to_string();
    Ok(Invariant { place, is_loop, holds })
}

/// The ghost variables of an entry, if it has some.
fn ghosts(content: &Node, file: &str, all: &mut Ghosts, unread: &mut Vec<Unread>) {
    let list = |node: &Node, key: &str| node.get(key).and_then(Node::list).unwrap_or_default().to_vec();
    let text = |node: &Node, key: &str| Some(node.get(key)?.text()?.to_string());
    let variable = |node: &Node| {
        Some(Ghost {
            name: text(node, "name")?,
            ty: text(node, "type")?,
            scope: text(node, "scope")?,
            initial: text(node.get("initial")?, "value")?,
        })
    };
    let value = |node: &Node| Some((text(node, "variable")?, text(node, "value")?));
    for ghost in list(content, "ghost_variables").iter().filter_map(variable) {
        if ghost.scope == "global" {
            all.variables.push(ghost);
        } else {
            let what = format!("the ghost variable `{}` is not global, and not read", ghost.name);
            unread.push(Unread { what, of_ghosts: true });
        }
    }
    for node in list(content, "ghost_updates") {
        let values = list(&node, "updates").iter().filter_map(value).collect();
        match node.get("location").map(|node| stated_place(node, file)) {
            Some(Ok(place)) => all.updates.push(Update { place, values }),
            Some(Err(what)) => unread.push(Unread { what, of_ghosts: true }),
            None => {}
        }
    }
}

/// A waypoint; none that is to be avoided.
fn waypoint(node: &Node, threads: &mut usize) -> Option<Waypoint> {
    if node.get("action")?.text()? == "avoid" {
        return None;
    }
    let thread = node.get("thread_id").and_then(Node::number).and_then(|thread| usize::try_from(thread).ok());
    let constraint =
        node.get("constraint").and_then(|constraint| constraint.get("value")).and_then(Node::text);
    let step = match node.get("type")?.text()? {
        "target" => Step::Fails,
        "function_enter" => {
            *threads += 1;
            Step::Creates(*threads)
        }
        "function_return" => {
            let value = constraint?.trim().strip_prefix("\\result")?.trim_start().strip_prefix("==")?;
            Step::Returns { value: value.trim().parse().ok()?, function: String::new(), variable: None }
        }
        "branching" => Step::Branches(constraint?.to_string()),
        _ if constraint? == "1" => Step::Passes,
        _ => Step::Holds(constraint?.to_string()),
    };
    Some(Waypoint { thread, place: place(node.get("location")?)?, step, takes_over: false })
}
