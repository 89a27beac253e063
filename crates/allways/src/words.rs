//! How things are said: durations, sizes, reasons, names.

use crate::source_trace::SourceTrace;
use allways_engines::confirm::Shortened;
use allways_evidence::{Certificate, StopReason};
use allways_model::counters::{Counters, Shared};
use allways_model::notation::{show_pattern, show_visible};
use allways_model::property::{Property, deadlocked};
use allways_model::pushdown::{Pushdown, Visible};
use allways_model::task::Task;
use std::path::Path;
use std::time::Duration;

/// `0.3 ms`, `1.25 s`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        ..0.1 => format!("{:.1} ms", seconds * 1e3),
        ..10.0 => format!("{seconds:.2} s"),
        _ => format!("{seconds:.1} s"),
    }
}

/// `512 B`, `1.5 MiB`.
pub fn bytes(bytes: usize) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut size, mut unit) = (bytes as f64, 0);
    while size >= 1024.0 && unit + 1 < units.len() {
        (size, unit) = (size / 1024.0, unit + 1);
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{size:.1} {}", units[unit]) }
}

/// `1 step`, `2 steps`, `3 switches`.
pub fn count(number: impl Into<u128>, thing: &str) -> String {
    let number = number.into();
    let plural = if thing.ends_with("ch") { "es" } else { "s" };
    format!("{number} {thing}{}", if number == 1 { "" } else { plural })
}

/// A reason, to stand after "because".
pub fn because(reason: &StopReason) -> String {
    match reason {
        StopReason::Interrupted => "it was interrupted".to_string(),
        StopReason::Bound(bound) => format!("only what lies within {bound} was explored"),
        StopReason::Time | StopReason::Memory | StopReason::GaveUp(_) => reason.to_string(),
    }
}

/// That a trace may not be the shortest, since the search for a better one ended early; what ended it.
pub fn shortened(shortened: &Shortened) -> Option<String> {
    let allowed = match shortened.stopped.as_ref()? {
        StopReason::Time => duration(shortened.time),
        StopReason::Memory => "the memory limit".to_string(),
        StopReason::Interrupted => "the interruption".to_string(),
        StopReason::Bound(bound) => bound.clone(),
        StopReason::GaveUp(why) => return Some(format!("not shortened further, because {why}")),
    };
    Some(format!("shortened as far as {allowed} allowed"))
}

/// Whether a certificate says something about any number of threads of a task. That of a task beside it may have any number where
/// the task has many.
pub fn any_number(certificate: &Certificate, task: &Task) -> bool {
    certificate.any_number() && task.has_crowds()
}

/// The same, as the end of a sentence.
pub fn with_any_number(any: bool) -> &'static str {
    if any { ", with any number of threads" } else { "" }
}

/// What a safe program does: it never goes wrong, and what else was asked.
pub fn claim(task: &Task) -> String {
    let promises = task.program().is_some_and(|program| !program.progress.is_empty());
    match (task.property.deadlock, task.stuck, promises) {
        (false, false, false) => "never goes wrong",
        (true, false, false) => "is safe and deadlock-free",
        (_, true, false) => "never goes wrong, and no thread is ever stuck",
        (false, false, true) => "never goes wrong, and makes the progress that it promises",
        (true, false, true) => "is safe and deadlock-free, and makes the progress that it promises",
        (_, true, true) => {
            "never goes wrong, no thread is ever stuck, and it makes the progress that it promises"
        }
    }
    .to_string()
}

/// How many steps a run without progress has.
pub fn lasso_steps(source: &SourceTrace) -> String {
    let of = |number: usize| count(number as u128, "step");
    match source.cycle {
        None => of(source.steps.len()),
        Some(0) => format!("{} for ever", of(source.steps.len())),
        Some(cycle) => format!("{}, then {} for ever", of(cycle), source.steps.len() - cycle),
    }
}

/// How much there is of a certificate.
pub fn size(certificate: &Certificate) -> String {
    let of = |number: usize, thing: &str| count(number as u128, thing);
    match certificate {
        Certificate::Invariant(invariant) if invariant.renumbered => {
            format!("{} up to renumbering", of(invariant.states().len(), "state"))
        }
        Certificate::Invariant(invariant) => count(invariant.visible_count(), "visible state"),
        Certificate::Products(products) => of(products.facts(), "thread state"),
        Certificate::Counted(counted) => of(counted.products.facts(), "thread state"),
        Certificate::Basis(basis) => {
            let limits = of(basis.bound.as_ref().map_or(0, Vec::len), "limit");
            let weights = of(basis.weights.len(), "invariant");
            format!("{limits}, {weights}, basis of {}", of(basis.members.len(), "configuration"))
        }
        Certificate::Views(views) => of(views.rows.len(), "formula"),
        Certificate::Ranking(ranking) => of(ranking.states.len(), "state"),
        Certificate::Shards(shards) => {
            format!("{} in {}", count(shards.states(), "state"), of(shards.files.len(), "shard"))
        }
    }
}

/// What a property forbids: `*|2,2`, `0|1,* or 1|1,*`, `any of 12 states or a deadlock`.
pub fn targets(system: &dyn Pushdown, property: &Property) -> String {
    let mut shown: Vec<String> = match property.bad.len() {
        0..=3 => property.bad.iter().map(|pattern| cut(&show_pattern(system, pattern))).collect(),
        many => vec![format!("any of {many} states")],
    };
    if property.deadlock {
        shown.push("a deadlock".to_string());
    }
    shown.join(" or ")
}

/// What a counter system must not cover.
pub fn counter_targets(system: &Counters) -> String {
    match &system.targets[..] {
        [target] => {
            let tokens = || target.tokens.iter().map(|(local, count)| (local, Some(count)));
            let shown = match target.shared {
                Some(shared) => system.show_tokens(shared, tokens()),
                // Written with any shared state, and without its name.
                None => {
                    let shown = system.show_tokens(Shared(0), tokens());
                    shown.split_once('|').map_or(shown.clone(), |(_, tokens)| format!("*|{tokens}"))
                }
            };
            cut(&shown)
        }
        many => format!("any of {} targets", many.len()),
    }
}

/// A state that was reached and must not be: `1|2,2`, `the deadlock 3|1,1`.
pub fn reached(system: &dyn Pushdown, property: &Property, visible: &Visible) -> String {
    let stuck = property.deadlock && deadlocked(system, visible.shared, &visible.tops);
    format!("{}{}", if stuck { "the deadlock " } else { "" }, cut(&show_visible(system, visible)))
}

/// A path on one line, whatever is in its name.
pub fn path(path: &Path) -> String {
    let raw = path.display().to_string();
    let safe = |character: char| {
        if character.is_control() { character.escape_default().to_string() } else { character.to_string() }
    };
    raw.chars().map(safe).collect()
}

/// The beginning of a long text: stacks may be deep.
pub fn cut(text: &str) -> String {
    const LONG: usize = 120;
    match text.char_indices().nth(LONG) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_the_search_for_a_shorter_trace_is_said() {
        let time = Duration::from_millis(5010);
        let said = |stopped| shortened(&Shortened { minimal: false, stopped, time });
        assert_eq!(said(None), None);
        let bound = StopReason::Bound("the first 8 states".to_string());
        for (reason, allowed) in [
            (StopReason::Time, "5.01 s"),
            (StopReason::Memory, "the memory limit"),
            (bound, "the first 8 states"),
        ] {
            assert_eq!(said(Some(reason)), Some(format!("shortened as far as {allowed} allowed")));
        }
    }

    #[test]
    fn figures_are_short() {
        assert_eq!(duration(Duration::from_micros(320)), "0.3 ms");
        assert_eq!(duration(Duration::from_millis(99)), "99.0 ms");
        assert_eq!(duration(Duration::from_millis(1250)), "1.25 s");
        assert_eq!(duration(Duration::from_secs(4000)), "4000.0 s");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(3 << 19), "1.5 MiB");
        assert_eq!(bytes(usize::MAX), "16777216.0 TiB");
        assert_eq!(count(1_u32, "step"), "1 step");
        assert_eq!(count(2_u32, "context switch"), "2 context switches");
        assert_eq!(path(Path::new("a\nb")), "a\\nb");
        assert_eq!(cut(&"é".repeat(200)).chars().count(), 121);
    }
}
