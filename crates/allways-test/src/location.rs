//! Places in the source, from backtraces.
//!
//! The innermost frame that belongs to the code under test is the first one outside this crate, the standard library, and
//! everything that came from a registry (shuttle and its wrappers among it). If the frames of our own driver come before
//! any such frame, shuttle asked from its own loop, because a task has ended: then there is no place.

use std::backtrace::Backtrace;
use std::fmt;

/// A line in a file, with its text if the file could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Location {
    pub file: String,
    pub line: u32,
    pub text: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

impl Location {
    /// The place in the code under test from which a scheduling point was reached.
    pub fn of_user_code(backtrace: &Backtrace) -> Option<Location> {
        let (file, line) = user_frame(&backtrace.to_string())?;
        let text = std::fs::read_to_string(&file)
            .ok()
            .and_then(|source| Some(source.lines().nth(line as usize - 1)?.trim().to_string()))
            .unwrap_or_default();
        Some(Location { file: plain(&file), line, text })
    }
}

/// A path without `./` at the beginning and without detours: `tests/../src` is `src`.
pub(crate) fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| !["", ".."].contains(last)) => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Reads the text of a backtrace: lines `N: symbol`, each followed by `at file:line:column` if that is known.
fn user_frame(backtrace: &str) -> Option<(String, u32)> {
    let mut symbol = "";
    let mut inside_shuttle = false;
    for line in backtrace.lines().map(str::trim) {
        if let Some(place) = line.strip_prefix("at ") {
            let mut parts = place.rsplitn(3, ':');
            let (_column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
            inside_shuttle |= file.contains("/shuttle-engine-");
            let foreign = file.starts_with("/rustc/")
                || ["/registry/src/", "/git/checkouts/", "/lib/rustlib/", "\\registry\\src\\"]
                    .iter()
                    .any(|part| file.contains(part));
            if inside_shuttle && !foreign && !is_ours(symbol) && !is_our_file(file) {
                return Some((file.to_string(), line.parse().ok().filter(|&line| line > 0)?));
            }
        } else if let Some((_, name)) = line.split_once(": ") {
            symbol = name;
            if symbol.starts_with("shuttle_engine::") || symbol.starts_with("<shuttle_engine::") {
                inside_shuttle = true;
            } else if inside_shuttle && symbol.contains("allways_test::driver::") {
                return None;
            }
        }
    }
    None
}

/// Functions that were inlined have no path in front of their names, so the file tells as well.
fn is_our_file(file: &str) -> bool {
    let whole = match file.strip_prefix("./") {
        Some(rest) => std::env::current_dir().unwrap_or_default().join(rest),
        None => file.into(),
    };
    let ours = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    whole.starts_with(ours) || whole.starts_with(concat!(env!("CARGO_MANIFEST_DIR"), "/loom/src"))
}

fn is_ours(symbol: &str) -> bool {
    symbol.starts_with("allways_test::") || symbol.starts_with("<allways_test::")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "   0: std::backtrace::Backtrace::force_capture
             at /rustc/0123/library/std/src/backtrace.rs:313:9
   1: allways_test::recording::Recording::point
             at ./src/recording.rs:60:20
   2: <shuttle_engine::scheduler::metrics::MetricsScheduler<S> as Scheduler>::next_task
   3: shuttle_engine::runtime::execution::ExecutionState::schedule
             at /home/u/.cargo/registry/src/index/shuttle-engine-0.1.7/src/runtime/execution.rs:9:9
";

    #[test]
    fn the_first_frame_outside() {
        let tail = "   4: core::ops::function::FnOnce::call_once
             at /rustc/0123/library/core/src/ops/function.rs:250:5
   5: bank::transfer::{{closure}}
             at ./tests/bank.rs:17:30
   6: allways_test::driver::executions
             at ./src/driver.rs:1:1
";
        assert_eq!(user_frame(&format!("{HEAD}{tail}")), Some(("./tests/bank.rs".to_string(), 17)));
    }

    #[test]
    fn paths_without_detours() {
        assert_eq!(plain("./tests/a.rs"), "tests/a.rs");
        assert_eq!(plain("x/tests/../programs/a.rs:1:2"), "x/programs/a.rs:1:2");
        assert_eq!(plain("../a.rs"), "../a.rs");
        assert_eq!(plain("/home/a.rs"), "/home/a.rs");
    }

    #[test]
    fn no_place_in_shuttles_own_loop() {
        let tail = "   4: allways_test::driver::executions
             at ./src/driver.rs:1:1
   5: bank::transfer
             at ./tests/bank.rs:10:5
";
        assert_eq!(user_frame(&format!("{HEAD}{tail}")), None);
        assert_eq!(user_frame("disabled backtrace"), None);
    }
}
