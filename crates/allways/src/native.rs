//! `allways replay --native`: the failure of a C program, seen outside of Allways.
//!
//! The program is compiled by gcc as it is, with a controlled scheduler (`native/runtime.c`) in the place of the thread
//! library's, and run: real threads, one at a time, in the order of the trace, with the values of the trace. So that the error
//! is reached says nothing of the model and all of the program: what remains to be believed is the compiler. Where the
//! program does not do what the trace says (a divergence), schedules near the trace are searched for a few seconds; which of
//! the two reached the error is said.

mod assembly;
mod build;
pub mod schedule;

use schedule::{Failing, MutexKind, Schedule, Undefined};
use std::fmt;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// One run ends after so many seconds.
const RUN_SECONDS: u32 = 5;

/// How exactly values are given where the trace has them: a run may pass some events unseen, such as accesses by assembly.
const IN_PLACE: [i32; 4] = [1, 2, 3, 5];

/// An error so many lines below the one of the trace is still the same.
const LONGEST: u32 = 3;

/// Why there is nothing to run.
#[derive(Debug)]
pub enum NativeError {
    /// The compiler or another tool is not there.
    NoTool(String),
    /// The program does not compile or link.
    Build {
        /// The command that failed.
        command: String,
        /// What it said.
        words: String,
    },
    /// Files cannot be written or read.
    Files(String),
}

impl fmt::Display for NativeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NativeError::NoTool(what) | NativeError::Files(what) => what.fmt(f),
            NativeError::Build { command, words } => write!(f, "`{command}` failed: {}", words.trim_end()),
        }
    }
}

impl std::error::Error for NativeError {}

/// How a run of the program ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// With the error that the trace is about.
    Reached {
        /// On which line, if that is known.
        line: Option<u32>,
        /// Which thread: 0 is `main`, others in the order of their creation.
        thread: usize,
        /// Of a data race, the other thread and its line, if that is known.
        other: Option<(usize, Option<u32>)>,
    },
    /// The schedule was used up, and there was no error.
    Diverged,
    /// The program came to its end.
    Normally,
    /// With something else that goes wrong.
    Otherwise(&'static str),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ended::Reached { .. } => f.write_str("it reached the error"),
            Ended::Diverged => f.write_str("the schedule was used up without the error"),
            Ended::Normally => f.write_str("the program came to its end without the error"),
            Ended::Otherwise(what) => f.write_str(what),
        }
    }
}

/// A run of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NativeRun {
    /// How it ended.
    pub ended: Ended,
    /// How many events of the schedule took place.
    pub matched: usize,
    /// How many did not, before the end.
    pub missed: usize,
}

/// What was seen.
#[derive(Clone, Debug)]
pub struct Native {
    /// The commands that built the program.
    pub commands: Vec<String>,
    /// The run that follows the trace.
    pub followed: NativeRun,
    /// If that did not reach the error: how many other schedules were tried, and the run that reached it.
    pub searched: Option<(usize, Option<NativeRun>)>,
}

impl Native {
    /// Whether the error was reached.
    pub fn reached(&self) -> bool {
        self.by_trace() || matches!(&self.searched, Some((_, Some(_))))
    }

    /// Whether the error was reached by the schedule of the trace.
    pub fn by_trace(&self) -> bool {
        matches!(self.followed.ended, Ended::Reached { .. })
    }
}

/// A folder that is gone afterwards, unless the user wants to keep it.
struct Folder {
    path: PathBuf,
    kept: bool,
}

impl Folder {
    fn new(keep: Option<&Path>) -> Result<Folder, NativeError> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let usual = || std::env::temp_dir().join(format!("allways-native-{}-{number}", std::process::id()));
        let path = keep.map_or_else(usual, Path::to_path_buf);
        std::fs::create_dir_all(&path)
            .map_err(|error| NativeError::Files(format!("{}: {error}", path.display())))?;
        Ok(Folder { path, kept: keep.is_some() })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.kept {
            // What is left behind in a temporary folder does no harm.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Builds a program and runs it as a schedule says; if that does not reach the error, searches for so long. In the folder to
/// keep, if there is one, the files `program` and `schedule` remain, which repeat the last run.
pub fn replay_native(
    path: &Path,
    schedule: &Schedule,
    search: Duration,
    keep: Option<&Path>,
) -> Result<Native, NativeError> {
    let folder = Folder::new(keep)?;
    let built = build::build(path, &folder.path, schedule)?;
    let runner = Runner { folder: &folder.path, built: &built, schedule, steps: steps(schedule, &built) };
    let following = |in_place| runner.run(Search { seed: 0, one_in: 4, from: -1, in_place });
    let (mut followed, mut best) = (following(0)?, 0);
    for in_place in IN_PLACE {
        if matches!(followed.ended, Ended::Reached { .. }) {
            break;
        }
        let other = following(in_place)?;
        if matches!(other.ended, Ended::Reached { .. }) || other.matched > followed.matched {
            (followed, best) = (other, in_place);
        }
    }
    let mut native = Native { commands: built.commands.clone(), followed, searched: None };
    if native.by_trace() {
        return Ok(native);
    }
    let started = Instant::now();
    let turns = schedule.switches() as i64 + 1;
    let (mut tried, mut found) = (0, None);
    while found.is_none() && started.elapsed() < search {
        // Every other run follows the trace at first.
        let number = tried as i64;
        let from = if number % 2 == 0 { turns - (number / 2) % (turns + 1) } else { 0 };
        let one_in = [4, 2, 16, 64][(tried / 2) % 4];
        let run = runner.run(Search { seed: number + 1, one_in, from, in_place: best })?;
        tried += 1;
        found = Some(run).filter(|run| matches!(run.ended, Ended::Reached { .. }));
    }
    native.searched = Some((tried, found));
    Ok(native)
}

/// The part of the schedule file that is about what to do.
fn steps(schedule: &Schedule, built: &build::Built) -> String {
    let mut text = String::new();
    for event in &schedule.events {
        if event.kind == schedule::Kind::Turn {
            let _ = writeln!(text, "T {} 0 0 0 0 0", event.thread);
            continue;
        }
        let name = event.variable.as_ref().and_then(|name| built.names.get(name));
        let name = name.map_or(-1, |&name| name as i64);
        let (from, to) = event.lines;
        let slot = event.slot.map_or(-1, |slot| slot as i64);
        let _ = writeln!(text, "E {} {} {from} {to} {name} {slot}", event.thread, event.kind as i32);
    }
    // Of a race, the last event is the access of the thread that waits for the other one.
    if schedule.failing != Failing::Race {
        let _ = writeln!(text, "T {} 0 0 0 0 0", schedule.last);
    }
    for MutexKind { name, index, count, recursive } in &schedule.kinds {
        if let Some(name) = built.names.get(name) {
            let _ = writeln!(text, "K {name} {} {index} {count} 0 0", i32::from(*recursive));
        }
    }
    for undefined in &schedule.undefined {
        let Undefined { thread, span, value, .. } = undefined;
        let _ = writeln!(text, "V {thread} {} {value} 0 0 0", span.start);
    }
    for chosen in &schedule.chosen {
        let (from, to) = chosen.lines;
        let before = schedule.events.iter().take(chosen.after);
        let after = before.filter(|event| event.kind != schedule::Kind::Turn).count();
        let _ = writeln!(text, "N {} {from} {to} {} {after} 0", chosen.thread, chosen.value);
    }
    text
}

/// How a run searches.
struct Search {
    seed: i64,
    /// Another thread may take over at one in so many points.
    one_in: i32,
    /// The turn of the schedule from which on it is not followed; -1 if it is followed to its end.
    from: i64,
    /// If it is not 0, values are given only where fewer than so many events of the thread are missing that come before them in the
    /// trace: calls whose values do not matter are not in it, and would take those of others on the same line.
    in_place: i32,
}

struct Runner<'a> {
    folder: &'a Path,
    built: &'a build::Built,
    schedule: &'a Schedule,
    steps: String,
}

impl Runner<'_> {
    fn run(&self, search: Search) -> Result<NativeRun, NativeError> {
        let files = |error: std::io::Error| NativeError::Files(format!("{}: {error}", self.folder.display()));
        let (told, result) = (self.folder.join("schedule"), self.folder.join("result"));
        let fences = i32::from(self.schedule.failing == Failing::Memory);
        let expected = match self.schedule.failing {
            Failing::Deadlock => 1,
            Failing::Race => 2,
            Failing::Error | Failing::Memory | Failing::Division => 0,
        };
        let Search { seed, one_in, from, in_place } = search;
        let expected = expected + 4 * in_place;
        let options = format!("O {fences} {seed} {one_in} {from} {RUN_SECONDS} {expected}\n");
        std::fs::write(&told, format!("{options}{}{}", self.built.tables, self.steps)).map_err(files)?;
        let _ = std::fs::remove_file(&result);
        let mut command = Command::new(&self.built.program);
        command.env("ALLWAYS_SCHEDULE", &told).env("ALLWAYS_RESULT", &result);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().map_err(files)?;
        let said = std::fs::read_to_string(&result).unwrap_or_default();
        Ok(self.judged(&said))
    }

    /// Whether a line is the one of the error; of a statement on several lines, the compiler may name another one.
    fn is_there(&self, line: Option<u32>) -> bool {
        match (line, self.schedule.line) {
            (Some(line), Some(said)) => (said..=said + LONGEST).contains(&line),
            _ => true,
        }
    }

    /// What the line of the runtime says.
    fn judged(&self, said: &str) -> NativeRun {
        let mut parts = said.split_whitespace();
        let word = parts.next().unwrap_or_default();
        let mut next = || parts.next().and_then(|part| part.parse::<usize>().ok()).unwrap_or_default();
        let (line, thread, matched, missed) = (next(), next(), next(), next());
        let (other, other_line) = (next(), next());
        let failing = match word {
            "error" => Some(Failing::Error),
            "memory" => Some(Failing::Memory),
            "division" => Some(Failing::Division),
            "deadlock" => Some(Failing::Deadlock),
            "race" => Some(Failing::Race),
            _ => None,
        };
        let known = |line: usize| u32::try_from(line).ok().filter(|&line| line > 0);
        let (line, other_line) = (known(line), known(other_line));
        let other = (failing == Some(Failing::Race)).then_some((other, other_line));
        let is_there = self.is_there(line) || other.is_some() && self.is_there(other_line);
        let ended = match (word, failing) {
            (_, Some(failing)) if failing == self.schedule.failing && is_there => {
                Ended::Reached { line, thread, other }
            }
            ("race", _) => Ended::Otherwise("another data race was seen"),
            ("error", _) => Ended::Otherwise("another error was reached"),
            ("memory", _) => Ended::Otherwise("it accessed memory that is none"),
            ("division", _) => Ended::Otherwise("it divided by zero"),
            ("deadlock", _) => Ended::Otherwise("no thread could move"),
            ("timeout", _) => Ended::Otherwise("it took too long"),
            ("diverged", _) => Ended::Diverged,
            ("ended", _) => Ended::Normally,
            _ => Ended::Otherwise("it ended without saying how"),
        };
        NativeRun { ended, matched, missed }
    }
}
