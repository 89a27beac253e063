//! One line on the terminal that says how far the engine has come, rewritten about ten times a second.

use crate::words;
use allways_engines::Progress;
use allways_engines::budget::Spread;
use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The line on standard error.
pub struct ProgressLine {
    drawn: Mutex<Drawn>,
}

struct Drawn {
    at: Instant,
    images: u64,
    states: usize,
    visible: bool,
}

impl ProgressLine {
    const EVERY: Duration = Duration::from_millis(100);

    /// A line, if it is wanted and standard error is a terminal. Nothing is drawn at first: most runs are short.
    pub fn new(wanted: bool) -> Option<ProgressLine> {
        let drawn = Drawn { at: Instant::now(), images: 0, states: 0, visible: false };
        (wanted && io::stderr().is_terminal()).then(|| ProgressLine { drawn: Mutex::new(drawn) })
    }

    /// Called often; draws now and then.
    pub fn show(&self, progress: &Progress, resident: usize) {
        // If another thread is drawing, this one need not.
        let Ok(mut drawn) = self.drawn.try_lock() else { return };
        let passed = drawn.at.elapsed();
        if passed < ProgressLine::EVERY {
            return;
        }
        let rate = progress.images.saturating_sub(drawn.images) as f64 / passed.as_secs_f64();
        let bounds = match (progress.rounds, progress.delays) {
            (Some(rounds), Some(delays)) => format!(", r {rounds}, d {delays}"),
            _ => String::new(),
        };
        let bounds = match progress.spread {
            Some(Spread { level, bytes_per_worker, disk_bytes, skew }) => {
                let states = progress.states.saturating_sub(drawn.states) as f64 / passed.as_secs_f64();
                let bytes = words::bytes(bytes_per_worker as usize);
                let disk = match disk_bytes {
                    0 => String::new(),
                    bytes => format!(", {} on disk", words::bytes(bytes as usize)),
                };
                let rate = states / 1e6;
                format!(", level {level}, {rate:.2} M states/s, {bytes} per worker{disk}, skew {skew:.2}")
            }
            None => bounds,
        };
        let memory = words::bytes(resident);
        let line = format!("{} states, {:.2} M images/s{bounds}, {memory}", progress.states, rate / 1e6);
        let _ = write!(io::stderr(), "\r\x1b[2K{line}");
        *drawn =
            Drawn { at: Instant::now(), images: progress.images, states: progress.states, visible: true };
    }

    /// Makes room for other output.
    pub fn erase(&self) {
        if let Ok(mut drawn) = self.drawn.lock()
            && std::mem::take(&mut drawn.visible)
        {
            let _ = write!(io::stderr(), "\r\x1b[2K");
        }
    }
}
