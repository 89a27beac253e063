//! SARIF 2.1.0 (OASIS): what code scanning reads.
//!
//! What is unsafe is a result whose code flow has one thread flow for each thread that moves; the execution order over all of them is the
//! interleaving. What is safe is no result. What is unknown, and a file that cannot be read, is a notification of the
//! invocation: it is about the check and not about the program.

use super::Finding;
use crate::story::RunStory;
use serde_json::{Map, Value, json};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// What each rule is about.
const RULES: [(&str, &str); 17] = [
    ("assert", "An assertion is false under some schedule."),
    ("error", "An error statement is reached under some schedule."),
    ("range", "A value is stored where it does not fit."),
    ("index", "An index is out of bounds, or memory is accessed that is not there."),
    ("division", "Something is divided by zero."),
    ("release", "A lock is released by a thread that does not hold it."),
    ("result", "A procedure with a result ends without one."),
    ("never", "What should never be true is true under some schedule."),
    ("deadlock", "No thread can move, and not all have ended."),
    ("stuck", "A thread can be stuck for ever, whatever the others do."),
    ("eventually", "A thread may never come to where it should, under a fair schedule."),
    ("race", "Two threads access the same variable at the same time, and one writes it."),
    ("partial-deadlock", "Some threads wait for each other for ever."),
    ("held-mutex", "A thread ends, and has a mutex."),
    ("leak", "Memory is not freed when the process ends."),
    ("overflow", "A signed number overflows."),
    ("state", "A state that should be avoided can be reached."),
];

/// The log of some findings.
pub fn log(findings: &[Finding]) -> Value {
    let results: Vec<Value> = findings.iter().filter(|found| found.verdict == "unsafe").map(result).collect();
    let notifications: Vec<Value> = findings.iter().flat_map(notifications).collect();
    let rules: Vec<Value> =
        RULES.iter().map(|(id, text)| json!({ "id": id, "shortDescription": { "text": text } })).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "allways",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": findings.iter().all(|found| found.verdict != "error"),
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    })
}

fn result(found: &Finding) -> Value {
    let index = RULES.iter().position(|(id, _)| *id == found.rule);
    let mut result = json!({
        "ruleId": found.rule,
        "level": "error",
        "message": { "text": found.sentence },
        "locations": [location(&found.file, found.place, None)],
    });
    if let Some(index) = index {
        result["ruleIndex"] = json!(index);
    }
    if let Some(run) = found.run.as_ref().filter(|run| !run.steps.is_empty()) {
        result["codeFlows"] = json!([{
            "message": { "text": run.end },
            "threadFlows": thread_flows(&found.file, run),
        }]);
    }
    result
}

/// One flow for each thread that moves; the order of execution is over all of them.
fn thread_flows(file: &str, run: &RunStory) -> Vec<Value> {
    let mut moving: Vec<Option<usize>> = run.steps.iter().map(|step| step.thread).collect();
    moving.sort_unstable();
    moving.dedup();
    let flow = |thread: Option<usize>| {
        let steps = run.steps.iter().enumerate().filter(|(_, step)| step.thread == thread);
        let locations = steps.map(|(index, step)| {
            let place = (step.line > 0).then_some((step.line, step.column.max(1)));
            let changed = step
                .shared
                .iter()
                .map(|(&slot, value)| (run.start.shared[slot].0.clone(), json!({ "text": value })));
            let state: Map<String, Value> = changed.collect();
            let says = match step.changed.is_empty() {
                true => step.text.clone(),
                false => format!("{} [{}]", step.text, step.changed.join(", ")),
            };
            let mut one = json!({
                "location": location(file, place, Some(&says)),
                "executionOrder": index + 1,
                "importance": if step.switch { "essential" } else { "important" },
            });
            if !state.is_empty() {
                one["state"] = Value::Object(state);
            }
            one
        });
        let name = thread.map_or("the system", |thread| run.threads[thread].as_str());
        json!({ "id": name, "message": { "text": name }, "locations": locations.collect::<Vec<Value>>() })
    };
    moving.into_iter().map(flow).collect()
}

fn notifications(found: &Finding) -> Vec<Value> {
    match found.verdict {
        "unknown" => vec![json!({
            "level": "warning",
            "message": { "text": format!("unknown: {}", found.sentence) },
            "locations": [location(&found.file, None, None)],
        })],
        "error" => {
            let each = found.complaints.iter().map(|complaint| {
                json!({
                    "level": "error",
                    "message": { "text": complaint.message },
                    "locations": [location(&found.file, complaint.place, None)],
                })
            });
            each.collect()
        }
        _ => Vec::new(),
    }
}

fn location(file: &str, place: Option<(u32, u32)>, says: Option<&str>) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(file) } });
    if let Some((line, column)) = place {
        physical["region"] = json!({ "startLine": line, "startColumn": column });
    }
    let mut location = json!({ "physicalLocation": physical });
    if let Some(says) = says {
        location["message"] = json!({ "text": says });
    }
    location
}

/// A path as a reference of RFC 3986: relative ones stay relative.
fn uri(path: &str) -> String {
    let mut uri = if path.starts_with('/') { "file://".to_string() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte.into())
            }
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references() {
        assert_eq!(uri("corpus/aw/lock.aw"), "corpus/aw/lock.aw");
        assert_eq!(uri("/tmp/a b:é.aw"), "file:///tmp/a%20b%3A%C3%A9.aw");
    }
}
