//! `allways test`: are programs as they state? Each stated verdict is one run of `allways check`, with its options.

use super::arguments::{Arguments, Check, Command, STATEMENTS, Test, Workers};
use super::exit::Exit;
use super::output::Output;
use super::session::Limits;
use super::{Context, Failure, check, command};
use crate::load::{LoadError, Notation, Options, read};
use crate::words;
use allways_engines::Budget;
use clap::FromArgMatches;
use serde::Serialize;
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Runs the command.
pub fn run(arguments: &Test, context: &mut Context) -> Result<Exit, Failure> {
    let started = Instant::now();
    let (mut worst, mut runs, mut otherwise, mut silent) = (Exit::Success, 0u64, 0u64, 0u64);
    for path in &arguments.paths {
        let found = programs(path).map_err(|error| LoadError::Unreadable { path: path.clone(), error })?;
        for file in &found {
            let statements = match Statements::of(file) {
                Ok(statements) => statements,
                Err(failure) => {
                    worst = worst.max(context.fail(file, arguments.json, &failure));
                    continue;
                }
            };
            silent += u64::from(statements.runs.is_empty());
            for stated in &statements.runs {
                runs += 1;
                let tried = match statements.check(file, stated, arguments.limits, context) {
                    Ok(tried) => tried,
                    Err(failure) => {
                        worst = worst.max(context.fail(file, arguments.json, &failure));
                        continue;
                    }
                };
                otherwise += u64::from(!tried.as_stated);
                worst = worst.max(if tried.as_stated { Exit::Success } else { Exit::Otherwise });
                tell(&tried, arguments.json, context);
                if tried.exit == Exit::Interrupted {
                    return Ok(Exit::Interrupted);
                }
            }
        }
    }
    if !arguments.json {
        let word = if worst == Exit::Success { "passed" } else { "failed" };
        let runs = words::count(runs, "run");
        let silent = match silent {
            0 => String::new(),
            files => format!(", nothing stated in {}", words::count(files, "file")),
        };
        let time = words::duration(started.elapsed());
        context.output.verdict(word, &format!("{runs}, {otherwise} otherwise than stated{silent} ({time})"));
    }
    Ok(worst)
}

/// A program, or all programs of a folder and of the folders in it, by name.
fn programs(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut entries: Vec<PathBuf> =
        fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        // A link may lead back here.
        let is_folder = entry.is_dir() && !entry.is_symlink();
        if is_folder {
            found.extend(programs(&entry)?);
        } else if entry.is_file() && has_statements(&entry) {
            found.push(entry);
        }
    }
    Ok(found)
}

/// Whether a file is one in whose notation comments begin with two slashes.
fn has_statements(path: &Path) -> bool {
    path.extension().is_some()
        && matches!(Notation::of(path, &Options::default()).ending, "aw" | "bp" | "c" | "i")
}

/// What a program states of itself.
#[derive(Default)]
struct Statements {
    options: Vec<String>,
    violation: Option<String>,
    switches: Option<u64>,
    runs: Vec<Stated>,
}

/// A run, and its verdict.
struct Stated {
    options: Vec<String>,
    verdict: String,
}

/// What came of a run.
#[derive(Serialize)]
struct Tried {
    file: String,
    options: String,
    stated: String,
    found: String,
    as_stated: bool,
    seconds: f64,
    #[serde(skip)]
    exit: Exit,
}

impl Statements {
    /// Those of a file.
    fn of(file: &Path) -> Result<Statements, Failure> {
        let source = read(file, &Budget::unlimited())?;
        let text = String::from_utf8_lossy(&source.text);
        let mut statements = Statements::default();
        let lines = text.lines().enumerate().filter_map(|(index, line)| {
            let (key, value) = line.strip_prefix("//! ")?.split_once(": ")?;
            // Other comments are prose.
            let is_key = key.chars().all(|letter| letter.is_ascii_lowercase());
            is_key.then(|| (index + 1, key, value.trim()))
        });
        for (line, key, value) in lines {
            if statements.add(key, value).is_none() {
                let what = format!("{}:{line}: `//! {key}: {value}` states nothing", words::path(file));
                return Err(Failure::Usage(what, STATEMENTS.to_string()));
            }
        }
        Ok(statements)
    }

    fn add(&mut self, key: &str, value: &str) -> Option<()> {
        let split = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        let verdict = |text: &str| matches!(text, "safe" | "unsafe" | "unknown").then(|| text.to_string());
        match key {
            "verdict" => self.runs.push(Stated { options: Vec::new(), verdict: verdict(value)? }),
            "run" => {
                let (options, value) = value.split_once("=>")?;
                self.runs.push(Stated { options: split(options), verdict: verdict(value.trim())? });
            }
            "options" => self.options.extend(split(value)),
            "threads" => self.options.extend(["--threads".to_string(), value.to_string()]),
            "property" => self.options.push(format!("--{value}")),
            "violation" => self.violation = Some(value.to_string()),
            "switches" => self.switches = Some(value.parse().ok()?),
            "solver" => {}
            _ => return None,
        }
        Some(())
    }

    /// Checks a file, and compares.
    fn check(
        &self,
        file: &Path,
        stated: &Stated,
        limits: Limits,
        context: &mut Context,
    ) -> Result<Tried, Failure> {
        let started = Instant::now();
        let options: Vec<String> = self.options.iter().chain(&stated.options).cloned().collect();
        let fixed = ["allways", "check", "--json"].map(OsString::from);
        let words = fixed.into_iter().chain(options.iter().map(OsString::from));
        let words = words.chain([OsString::from("--"), file.into()]);
        let parsed = command(context.engines).try_get_matches_from(words);
        let parsed = parsed.and_then(|matches| Arguments::from_arg_matches(&matches)).map_err(|error| {
            let first = error.to_string().lines().next().unwrap_or_default().to_string();
            Failure::Usage(format!("{}: {first}", words::path(file)), STATEMENTS.to_string())
        })?;
        let Command::Check(mut arguments) = parsed.command else { unreachable!("`check` is the command") };
        let Check { files, smt, search, witness, html, sarif, junit, watch, workers, .. } = &arguments;
        let acts = *watch || smt.solver.is_some() || smt.smt_dump.is_some() || search.start.cpp.is_some();
        let Workers { hosts, checkpoint, resume, spill, .. } = workers;
        let places = [&search.evidence, witness, html, sarif, junit, hosts, checkpoint, resume, spill];
        if acts || places.into_iter().any(Option::is_some) || files.len() > 1 {
            let what = "a comment cannot name commands, files to be written, or other files to be checked";
            let help = "leave out --solver, --smt-dump, --cpp, --evidence, --witness, --html, --sarif, --junit, --watch, --hosts, \
                        --checkpoint, --resume and --spill; \
                        give them to `allways check`";
            return Err(Failure::Usage(format!("{}: {what}", words::path(file)), help.to_string()));
        }
        arguments.search.limits = arguments.search.limits.or(limits);
        let answer = Buffer::default();
        let mut output = Output::to(Box::new(answer.clone()), false);
        let mut inner = Context { output: &mut output, started, annotates: false, ..*context };
        let exit = check::run(&arguments, &mut inner)?;
        let answer: Value = serde_json::from_slice(&answer.take()).unwrap_or_default();
        let verdict = answer["verdict"].as_str().unwrap_or("error").to_string();
        let (mut wanted, mut found) = (stated.verdict.clone(), verdict.clone());
        if stated.verdict == "unsafe" && verdict == "unsafe" {
            if let Some(violation) = &self.violation {
                wanted += &format!(", {violation}");
                found += &format!(", {}", answer["violation"].as_str().unwrap_or("otherwise"));
            }
            if let Some(switches) = self.switches {
                wanted += &format!(", {}", words::count(switches, "switch"));
                let switches = answer["switches"].as_u64().unwrap_or_default();
                found += &format!(", {}", words::count(switches, "switch"));
            }
        }
        Ok(Tried {
            file: words::path(file),
            options: options.join(" "),
            as_stated: wanted == found,
            stated: wanted,
            found,
            seconds: started.elapsed().as_secs_f64(),
            exit,
        })
    }
}

fn tell(tried: &Tried, json: bool, context: &mut Context) {
    if json {
        context.output.json(tried);
        return;
    }
    let Tried { file, options, stated, found, as_stated, .. } = tried;
    let space = if options.is_empty() { "" } else { " " };
    if !as_stated {
        let rest = format!("{file}{space}{options} is {found}, and states that it is {stated}");
        context.output.verdict("otherwise", &rest);
    } else if !context.quiet {
        context.output.verdict("as stated", &format!("{file}{space}{options} is {found}"));
    }
}

/// What a run writes.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
