//! Standard output, whose reader may go away, and standard error.

use super::arguments::Color;
use crate::columns::WIDTH;
use serde::Serialize;
use std::env;
use std::io::{self, BufWriter, IsTerminal, Write};

/// Traces are not made narrower than this, however narrow the terminal is.
const NARROWEST: usize = 40;

/// Standard output. The first failure to write is kept, and nothing is written after it.
pub struct Output {
    out: Box<dyn Write>,
    colored: bool,
    failure: Option<io::Error>,
}

impl Output {
    /// Standard output, with colours or without.
    pub fn new(colored: bool) -> Output {
        Output::to(Box::new(BufWriter::with_capacity(1 << 16, io::stdout())), colored)
    }

    /// Something else.
    pub fn to(out: Box<dyn Write>, colored: bool) -> Output {
        Output { out, colored, failure: None }
    }

    /// Writes.
    pub fn emit(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) {
        if self.failure.is_none() {
            self.failure = write(&mut *self.out).err();
        }
    }

    /// Writes one line, `word: rest`, and hands it over at once.
    pub fn verdict(&mut self, word: &str, rest: &str) {
        let colored = self.colored;
        self.emit(|out| {
            if colored {
                let color = match word {
                    "safe" | "converged" | "accepted" | "bounded" | "as stated" | "passed" | "serving" => 32,
                    "unsafe" | "rejected" | "otherwise" | "failed" => 31,
                    _ => 33,
                };
                writeln!(out, "\x1b[1;{color}m{word}\x1b[0m: {rest}")?;
            } else {
                writeln!(out, "{word}: {rest}")?;
            }
            out.flush()
        });
    }

    /// Writes one JSON object on a line of its own, and hands it over at once.
    pub fn json(&mut self, object: &impl Serialize) {
        self.emit(|out| {
            serde_json::to_writer(&mut *out, object)?;
            writeln!(out)?;
            out.flush()
        });
    }

    /// Hands over what was written. That nobody wants to read on is no failure.
    pub fn finish(&mut self) -> io::Result<()> {
        self.emit(|out| out.flush());
        match self.failure.take() {
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }
}

/// Writes to standard error. There is nowhere to complain if that fails.
pub fn complain(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// How many columns there are: those that `COLUMNS` says, else those of the terminal, else 80.
pub fn width() -> usize {
    let said = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    said.or_else(terminal).filter(|columns| *columns > 0).unwrap_or(WIDTH).max(NARROWEST)
}

/// Whether to colour standard output.
pub fn stdout_colored(color: Color) -> bool {
    colored(color, io::stdout().is_terminal())
}

/// Whether to colour standard error.
pub fn stderr_colored(color: Color) -> bool {
    colored(color, io::stderr().is_terminal())
}

/// See <https://no-color.org>.
fn colored(color: Color, terminal: bool) -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal && !set("NO_COLOR") && env::var_os("TERM").is_none_or(|term| term != "dumb"),
    }
}
