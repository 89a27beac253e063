//! Witnesses in YAML.
//!
//! Of the statements that a run passes, those are written at which a thread takes over or stops, as assumptions that always hold:
//! what lies between is what the thread does by itself. Each is a segment of its own, since segments are passed one after the
//! other. The two accesses of a data race are the two targets of the last segment, which leaves them unordered. Ghost variables are an
//! entry of their own, before that of the invariants which speak of them.

use super::{Content, Ghosts, Place, Step, Waypoint, Witness, model_name, sha256};
use std::fmt::Write;

/// Writes a witness.
pub fn write(witness: &Witness) -> String {
    let mut ghosts = None;
    let (kind, version, content) = match &witness.content {
        Content::Violation(steps, targets) => {
            let several =
                steps.iter().chain(targets).any(|waypoint| waypoint.thread.is_some_and(|thread| thread > 0));
            let form = Form { file: &witness.about.file, several };
            ("violation_sequence", if several { "2.2" } else { "2.0" }, form.violation(steps, targets))
        }
        Content::Correctness(invariants, spoken_of, _) => {
            ghosts = Some(spoken_of).filter(|ghosts| **ghosts != Ghosts::default());
            let mut content = String::new();
            for invariant in invariants {
                let kind = if invariant.is_loop { "loop_invariant" } else { "location_invariant" };
                let _ = write!(content, "  - invariant:\n      type: \"{kind}\"\n");
                content += &location(&witness.about.file, &invariant.place, false, 6);
                let holds = quoted(&invariant.holds);
                let _ = write!(content, "      value: {holds}\n      format: \"c_expression\"\n");
            }
            ("invariant_set", if ghosts.is_some() { "2.1" } else { "2.0" }, content)
        }
    };
    let first = ghosts.map(|ghosts| {
        entry(witness, "ghost_instrumentation", version, &instrumentation(&witness.about.file, ghosts))
    });
    first.unwrap_or_default() + &entry(witness, kind, version, &content)
}

/// The content of an entry with ghost variables.
fn instrumentation(file: &str, ghosts: &Ghosts) -> String {
    let mut text = "    ghost_variables:\n".to_string();
    for ghost in &ghosts.variables {
        let (name, ty) = (quoted(&ghost.name), quoted(&ghost.ty));
        let (scope, initial) = (quoted(&ghost.scope), quoted(&ghost.initial));
        let _ = write!(
            text,
            "    - name: {name}\n      type: {ty}\n      scope: {scope}\n      initial:\n        value: {initial}\n        \
             format: \"c_expression\"\n"
        );
    }
    text += "    ghost_updates:\n";
    for update in &ghosts.updates {
        let at = location(file, &update.place, false, 6);
        text += &at.replacen("      location", "    - location", 1);
        text += "      updates:\n";
        for (name, value) in &update.values {
            let (name, value) = (quoted(name), quoted(value));
            let _ = write!(
                text,
                "      - variable: {name}\n        value: {value}\n        format: \"c_expression\"\n"
            );
        }
    }
    text
}

/// An entry of a witness.
fn entry(witness: &Witness, kind: &str, version: &str, content: &str) -> String {
    let about = &witness.about;
    let (file, hash, specification) = (quoted(&about.file), &about.hash, quoted(&about.specification));
    let (time, producer, model) = (about.time(), about.version(), model_name(about.data_model));
    let uuid = uuid(&format!("{time}{file}{hash}{content}"));
    format!(
        "- entry_type: \"{kind}\"\n  metadata:\n    format_version: \"{version}\"\n    uuid: \"{uuid}\"\n    creation_time: \"{time}\"\n    \
         producer:\n      name: \"Allways\"\n      version: \"{producer}\"\n    task:\n      input_files:\n        - {file}\n      \
         input_file_hashes:\n        {file}: \"{hash}\"\n      specification: {specification}\n      data_model: \"{model}\"\n      \
         language: \"C\"\n  content:\n{content}"
    )
}

struct Form<'a> {
    file: &'a str,
    /// Whether there is more than one thread.
    several: bool,
}

impl Form<'_> {
    fn violation(&self, steps: &[Waypoint], targets: &[Waypoint]) -> String {
        let mut text = String::new();
        let steps: Vec<&Waypoint> = steps.iter().filter(|waypoint| waypoint.step != Step::Stands).collect();
        let differs = |index: usize, other: Option<usize>| {
            let other = other.and_then(|other| steps.get(other));
            other.is_some_and(|other| other.thread != steps[index].thread)
        };
        for (index, waypoint) in steps.iter().enumerate() {
            let takes_over = differs(index, index.checked_sub(1));
            let stops = differs(index, Some(index + 1));
            if self.several && (takes_over || stops) || waypoint.step != Step::Passes {
                text += "  - segment:\n";
                text += &self.waypoint(waypoint);
            }
        }
        text += "  - segment:\n";
        targets.iter().for_each(|target| text += &self.waypoint(target));
        text
    }

    fn waypoint(&self, waypoint: &Waypoint) -> String {
        let (kind, constraint) = match &waypoint.step {
            Step::Passes | Step::Stands => ("assumption", Some(("1".to_string(), "c_expression"))),
            Step::Holds(holds) => ("assumption", Some((holds.clone(), "c_expression"))),
            Step::Branches(branch) => ("branching", Some((branch.clone(), "c_expression"))),
            Step::Creates(_) => ("function_enter", None),
            Step::Returns { value, .. } => {
                let format = if self.several { "ext_c_expression" } else { "acsl_expression" };
                ("function_return", Some((format!("\\result == {value}"), format)))
            }
            Step::Fails => ("target", None),
        };
        let mut text = format!("    - waypoint:\n        type: \"{kind}\"\n        action: \"follow\"\n");
        if let (true, Some(thread)) = (self.several, waypoint.thread) {
            let _ = writeln!(text, "        thread_id: {thread}");
        }
        if let Some((value, format)) = constraint {
            let value = quoted(&value);
            let _ = write!(
                text,
                "        constraint:\n          value: {value}\n          format: \"{format}\"\n"
            );
        }
        text + &location(self.file, &waypoint.place, waypoint.place.call.is_some(), 8)
    }
}

fn location(file: &str, place: &Place, of_call: bool, indent: usize) -> String {
    let blank = " ".repeat(indent);
    let call = place.call.filter(|_| of_call).map(|(line, column)| (line, Some(column)));
    let (line, column) = call.unwrap_or((place.line, place.column));
    let mut text = format!("{blank}location:\n{blank}  file_name: {}\n{blank}  line: {line}\n", quoted(file));
    if let Some(column) = column {
        let _ = writeln!(text, "{blank}  column: {column}");
    }
    if let Some(function) = &place.function {
        let _ = writeln!(text, "{blank}  function: {}", quoted(function));
    }
    text
}

/// A string in double quotes; JSON's are YAML's, too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// An identifier made of a text, in the form of RFC 4122.
fn uuid(text: &str) -> String {
    let mut bytes = sha256::digest(text.as_bytes());
    bytes[6] = bytes[6] & 0x0f | 0x80;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let digits: String = bytes[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}
