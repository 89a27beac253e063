//! A solver in a process of its own, which speaks SMT-LIB 2.
//!
//! One process answers thousands of queries. Its answers are read by a thread, so that whoever waits can stop waiting: after
//! a time for each query, or when there is no use for the answer any more. A process that was stopped is not used again; it
//! ends when the [`Process`] does. Variables are declared once: with `:global-declarations` they outlive the group of
//! assertions in which they first come up.

use crate::function::{Function, LOGIC};
use crate::known::Known;
use crate::solver::{Answer, Failure, Solver};
use crate::term::{Term, symbol};
use std::collections::HashSet;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Which solver, and how much it may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The program and its arguments, separated by spaces.
    pub command: String,
    /// The longest time for one query.
    pub limit: Duration,
    /// The most bytes of memory, if a limit is known. Only z3 can be told; a command with arguments stays as it is.
    pub memory: Option<usize>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { command: "z3".to_string(), limit: Duration::from_secs(20), memory: None }
    }
}

/// The most memory of a solver for which no limit is known, in MB.
const USUAL_MEMORY: usize = 4096;

impl Settings {
    /// The command that the environment names by `ALLWAYS_SOLVER`, else z3.
    pub fn usual() -> Settings {
        let named = std::env::var("ALLWAYS_SOLVER").ok().filter(|command| !command.trim().is_empty());
        named.map_or_else(Settings::default, |command| Settings { command, ..Settings::default() })
    }

    /// The words of the command; solvers that we know are told to read queries one after another.
    fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.command.split_whitespace().map(str::to_string).collect();
        if let [program] = &words[..] {
            let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
            // To z3, 0 is no limit.
            let megabytes = self.memory.map_or(USUAL_MEMORY, |bytes| (bytes >> 20).max(1));
            let memory = format!("-memory:{megabytes}");
            let more: &[&str] = match name.trim_end_matches(".exe") {
                "z3" => &["-in", "-smt2", &memory],
                "cvc5" => &["--incremental", "--lang=smt2"],
                "yices-smt2" => &["--incremental"],
                _ => &[],
            };
            words.extend(more.iter().map(ToString::to_string));
        }
        words
    }

    /// Whether it is z3, as it comes.
    pub(crate) fn is_z3(&self) -> bool {
        let name = self.command.rsplit(['/', '\\']).next().unwrap_or_default();
        name.trim_end_matches(".exe") == "z3"
    }

    /// Whether there is such a program, as far as can be said without starting it.
    pub fn available(&self) -> Result<(), Failure> {
        let missing = |why: &str| Err(Failure::Missing(self.command.clone(), why.to_string()));
        let Some(program) = self.command.split_whitespace().next() else { return missing("no command") };
        let there = match program.contains(['/', '\\']) {
            true => executable(Path::new(program)),
            false => env::split_paths(&env::var_os("PATH").unwrap_or_default())
                .any(|folder| executable(&folder.join(program))),
        };
        if there { Ok(()) } else { missing("there is no such program") }
    }
}

/// Whether this is a file that can be started.
fn executable(path: &Path) -> bool {
    let named = |path: &Path| fs::metadata(path).is_ok_and(|file| file.is_file() && may_run(&file));
    named(path) || named(&path.with_added_extension(env::consts::EXE_EXTENSION))
}

#[cfg(unix)]
fn may_run(file: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn may_run(_: &fs::Metadata) -> bool {
    true
}

/// How long to wait between two looks whether the answer is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// A running solver.
pub struct Process<'s> {
    child: Child,
    input: BufWriter<ChildStdin>,
    output: Receiver<String>,
    declared: HashSet<String>,
    known: Known,
    limit: Duration,
    stop: &'s dyn Fn() -> bool,
}

/// The longest answer that is read.
const MOST_TEXT: usize = 1 << 20;

impl<'s> Process<'s> {
    /// Starts a solver. `stop` is asked now and then whether to stop waiting for it.
    pub fn start(settings: &Settings, stop: &'s dyn Fn() -> bool) -> Result<Process<'s>, Failure> {
        let mut process = Process::start_for(settings, LOGIC, stop)?;
        Function::ALL.iter().try_for_each(|function| process.tell(&function.declaration()))?;
        process.greet()?;
        Ok(process)
    }

    /// Starts a solver for a logic, and believes that it is one.
    pub(crate) fn start_for(
        settings: &Settings,
        logic: &str,
        stop: &'s dyn Fn() -> bool,
    ) -> Result<Process<'s>, Failure> {
        let missing = |why: &str| Failure::Missing(settings.command.clone(), why.to_string());
        let words = settings.words();
        let (program, arguments) = words.split_first().ok_or_else(|| missing("no command"))?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.map_err(|error| missing(&error.to_string()))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(missing("no pipe"));
        };
        let (sender, receiver) = channel();
        // Ends with the process: either there is no more output, or nobody to take it.
        thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            for line in lines {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let (input, declared) = (BufWriter::new(input), HashSet::new());
        let (limit, known) = (settings.limit, Known::default());
        let mut process = Process { child, input, output: receiver, declared, known, limit, stop };
        process.tell("(set-option :print-success false)")?;
        process.tell("(set-option :global-declarations true)")?;
        process.tell("(set-option :produce-models true)")?;
        process.tell(&format!("(set-logic {logic})"))?;
        Ok(process)
    }

    /// Asks what everybody knows: a program that is no solver shall not be believed.
    fn greet(&mut self) -> Result<(), Failure> {
        let (number, name) = (|value: i128| Term::number(value), "#greeting");
        let known = Term::variable(name);
        self.declare(name)?;
        self.push()?;
        self.assert(&Term::and([number(6).less(&known), known.less(&number(8))]))?;
        let possible = self.check()? == Answer::Sat && self.numbers(std::slice::from_ref(&known))? == [7];
        self.assert(&known.equal(&number(7)).negation())?;
        let impossible = self.check()? == Answer::Unsat;
        self.pop()?;
        match possible && impossible {
            true => Ok(()),
            false => Err(Failure::Broken("it is no solver for integers".to_string())),
        }
    }

    pub(crate) fn tell(&mut self, text: &str) -> Result<(), Failure> {
        let told = writeln!(self.input, "{text}");
        told.map_err(|error| Failure::Broken(format!("it takes no more input ({error})")))
    }

    /// The next line, within the limit.
    fn line(&mut self, started: Instant) -> Result<String, Failure> {
        loop {
            let received = self.output.recv_timeout(LOOK);
            if received.is_ok() && started.elapsed() > self.limit {
                // It talks without end.
                return Err(Failure::Time(self.limit));
            }
            match received {
                Ok(line) if line.trim().is_empty() => {}
                Ok(line) if line.trim_start().starts_with("(error") => return Err(Failure::Broken(line)),
                Ok(line) => return Ok(line),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::Broken("it has ended without an answer".to_string()));
                }
                Err(RecvTimeoutError::Timeout) if (self.stop)() => return Err(Failure::Stopped),
                Err(RecvTimeoutError::Timeout) if started.elapsed() > self.limit => {
                    return Err(Failure::Time(self.limit));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        if (self.stop)() {
            return Err(Failure::Stopped);
        }
        let flushed = self.input.flush();
        flushed.map_err(|error| Failure::Broken(format!("it takes no more input ({error})")))
    }

    /// Whether all that is asserted can be true.
    pub(crate) fn satisfiable(&mut self) -> Result<Answer, Failure> {
        self.tell("(check-sat)")?;
        self.flush()?;
        let line = self.line(Instant::now())?;
        match line.trim() {
            "sat" => Ok(Answer::Sat),
            "unsat" => Ok(Answer::Unsat),
            "unknown" | "timeout" => Ok(Answer::Unknown),
            other => {
                Err(Failure::Broken(format!("it says `{}`", other.chars().take(200).collect::<String>())))
            }
        }
    }

    /// The values of terms, as they are written.
    fn values(&mut self, terms: &[Term]) -> Result<Vec<String>, Failure> {
        self.values_of(&terms.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    /// The values of terms that are written down, as they are written.
    pub(crate) fn values_of(&mut self, terms: &[String]) -> Result<Vec<String>, Failure> {
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let list = terms.join(" ");
        self.tell(&format!("(get-value ({list}))"))?;
        self.flush()?;
        let started = Instant::now();
        let mut text = String::new();
        while text.is_empty() || !is_complete(&text) {
            text += &self.line(started)?;
            text.push('\n');
            if (self.stop)() {
                return Err(Failure::Stopped);
            }
            if text.len() > MOST_TEXT {
                return Err(Failure::Broken("values without end".to_string()));
            }
        }
        let values =
            pairs(&text).ok_or_else(|| Failure::Broken(format!("values that cannot be read: {text}")))?;
        if values.len() != terms.len() {
            return Err(Failure::Broken("it gave fewer values than asked for".to_string()));
        }
        Ok(values)
    }
}

impl Drop for Process<'_> {
    fn drop(&mut self) {
        // It may be thinking; whatever it would say is not needed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether all that a text opens is closed in it.
fn is_complete(text: &str) -> bool {
    let (mut depth, mut quoted) = (0, false);
    for character in text.chars() {
        match character {
            '|' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
    }
    depth <= 0 && !quoted
}

/// The second parts of the pairs in a list `((term value) …)`, as they are written.
fn pairs(text: &str) -> Option<Vec<String>> {
    let inside = text.trim().strip_prefix('(')?.strip_suffix(')')?;
    let mut values = Vec::new();
    let mut rest = inside.trim_start();
    while !rest.is_empty() {
        let (pair, after) = expression(rest)?;
        let inner = pair.strip_prefix('(')?.strip_suffix(')')?.trim();
        let (_, value) = expression(inner)?;
        values.push(value.trim().to_string());
        rest = after.trim_start();
    }
    Some(values)
}

/// The first expression of a text, and what follows. Names between bars may have spaces and parentheses.
fn expression(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    let mut quoted = false;
    for (at, character) in text.char_indices() {
        match character {
            '|' => quoted = !quoted,
            _ if quoted => {}
            '(' => depth += 1,
            ')' => depth -= 1,
            c if c.is_whitespace() && depth == 0 => return Some((&text[..at], &text[at..])),
            _ => {}
        }
        if depth < 0 {
            return None;
        }
        if depth == 0 && character == ')' && !quoted {
            return Some(text.split_at(at + 1));
        }
    }
    (depth == 0).then_some((text, ""))
}

impl Solver for Process<'_> {
    fn declare(&mut self, name: &str) -> Result<(), Failure> {
        if self.declared.insert(name.to_string()) {
            self.tell(&format!("(declare-const {} Int)", symbol(name)))?;
        }
        Ok(())
    }

    fn push(&mut self) -> Result<(), Failure> {
        self.tell("(push 1)")
    }

    fn pop(&mut self) -> Result<(), Failure> {
        self.tell("(pop 1)")
    }

    fn assert(&mut self, formula: &Term) -> Result<(), Failure> {
        let facts = self.known.facts(formula);
        facts.iter().try_for_each(|fact| self.tell(&format!("(assert {fact})")))?;
        self.tell(&format!("(assert {formula})"))
    }

    fn check(&mut self) -> Result<Answer, Failure> {
        self.satisfiable()
    }

    fn truths(&mut self, formulas: &[Term]) -> Result<Vec<bool>, Failure> {
        let values = self.values(formulas)?;
        let truth = |value: &String| match value.as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(Failure::Broken(format!("`{other}` is no truth value"))),
        };
        values.iter().map(truth).collect()
    }

    fn numbers(&mut self, terms: &[Term]) -> Result<Vec<i128>, Failure> {
        let values = self.values(terms)?;
        let number = |value: &String| {
            let digits = value.trim_start_matches("(-").trim_end_matches(')').trim();
            let sign = if value.starts_with("(-") { -1 } else { 1 };
            match digits.parse::<i128>() {
                Ok(number) => Ok(sign * number),
                Err(_) if !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()) => {
                    Ok(sign * i128::MAX)
                }
                Err(_) => Err(Failure::Broken(format!("`{value}` is no number"))),
            }
        };
        values.iter().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &str, memory: Option<usize>) -> String {
        Settings { command: command.to_string(), memory, ..Settings::default() }.words().join(" ")
    }

    #[test]
    fn the_limit_on_memory_is_told_to_z3_in_megabytes() {
        assert_eq!(words("z3", None), "z3 -in -smt2 -memory:4096");
        assert_eq!(words("/usr/bin/z3", Some(512 << 20)), "/usr/bin/z3 -in -smt2 -memory:512");
        assert_eq!(words("z3", Some(16 << 30)), "z3 -in -smt2 -memory:16384");
        assert_eq!(words("z3", Some(0)), "z3 -in -smt2 -memory:1");
        assert_eq!(words("cvc5", Some(512 << 20)), "cvc5 --incremental --lang=smt2");
        assert_eq!(words("z3 -in -memory:7", Some(512 << 20)), "z3 -in -memory:7");
    }

    #[test]
    fn values_are_read_whatever_names_are_made_of() {
        let text = "((|i (push)@1| 0)\n ((- |x| |a(| ) (- 7)) (|p :) q| true))";
        assert_eq!(pairs(text), Some(vec!["0".to_string(), "(- 7)".to_string(), "true".to_string()]));
        assert!(is_complete(text));
        assert!(!is_complete("((|i (push)@1| 0)"));
        assert!(!is_complete("((|i )@1"));
    }

    /// The words are those of the process that runs, as the system tells.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_started_solver_has_the_limit_among_its_arguments() {
        let settings = Settings { memory: Some(300 << 20), ..Settings::default() };
        let Ok(process) = Process::start(&settings, &|| false) else {
            println!("skipped, because there is no z3");
            return;
        };
        let line = fs::read_to_string(format!("/proc/{}/cmdline", process.child.id())).expect("it runs");
        // While z3 reads its arguments, it puts a zero in the place of the colon.
        assert!(line.replace('\0', ":").contains(":-memory:300:"), "{line:?}");
    }

    #[test]
    fn a_program_that_is_not_there_is_not_available() {
        let available = |command: &str| {
            Settings { command: command.to_string(), ..Settings::default() }.available().is_ok()
        };
        let test = env::current_exe().expect("a test");
        let test = test.to_str().expect("a plain path");
        assert!(available(test) && available(&format!("{test} --some --arguments")));
        #[cfg(unix)]
        assert!(available("sh"));
        for command in ["", " ", "no-such-solver", "no-such-solver z3", "/no/such/z3"] {
            assert!(!available(command), "{command}");
        }
        // Neither a folder nor a text can be started.
        assert!(!available(env!("CARGO_MANIFEST_DIR")));
        #[cfg(unix)]
        assert!(!available(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")));
    }
}
