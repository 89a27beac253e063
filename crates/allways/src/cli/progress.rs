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
    told: Told,
    visible: bool,
}

/// What was told last.
#[derive(Clone, Copy, Debug)]
struct Told {
    /// When the engine that is shown was last heard of.
    heard: Instant,
    engine: &'static str,
    images: u64,
    states: usize,
}

impl Told {
    /// After so long an engine that says nothing is taken to have ended.
    const SILENCE: Duration = Duration::from_secs(1);

    /// Whether this is to be shown: several engines may run beside each other, and it is the one with the most states that is, so that
    /// the number does not fall until that engine has ended.
    fn gives_way_to(&self, progress: &Progress, now: Instant) -> bool {
        progress.states >= self.states || now.duration_since(self.heard) >= Told::SILENCE
    }
}

impl ProgressLine {
    const EVERY: Duration = Duration::from_millis(100);

    /// A line, if it is wanted and standard error is a terminal. Nothing is drawn at first: most runs are short.
    pub fn new(wanted: bool) -> Option<ProgressLine> {
        let now = Instant::now();
        let told = Told { heard: now, engine: "", images: 0, states: 0 };
        let drawn = Drawn { at: now, told, visible: false };
        (wanted && io::stderr().is_terminal()).then(|| ProgressLine { drawn: Mutex::new(drawn) })
    }

    /// Called often; draws now and then.
    pub fn show(&self, progress: &Progress, since: Duration, resident: usize) {
        // If another thread is drawing, this one need not.
        let Ok(mut drawn) = self.drawn.try_lock() else { return };
        let now = Instant::now();
        if !drawn.told.gives_way_to(progress, now) {
            return;
        }
        let passed = now.duration_since(drawn.at);
        if passed < ProgressLine::EVERY {
            drawn.told.heard = now;
            return;
        }
        let same = progress.engine == drawn.told.engine && progress.images >= drawn.told.images;
        let before = if same { drawn.told.images } else { progress.images };
        let rate = (progress.images - before) as f64 / passed.as_secs_f64();
        let bounds = match (progress.rounds, progress.delays) {
            (Some(rounds), Some(delays)) => format!(", r {rounds}, d {delays}"),
            _ => String::new(),
        };
        let bounds = match progress.spread {
            Some(Spread { level, bytes_per_worker, disk_bytes, skew }) => {
                let states = progress.states.saturating_sub(drawn.told.states) as f64 / passed.as_secs_f64();
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
        let time = since.as_secs_f64();
        let engine =
            if progress.engine.is_empty() { String::new() } else { format!("{}: ", progress.engine) };
        let line = format!(
            "{time:.1} s, {engine}{} states, {:.2} M images/s{bounds}, {memory}",
            progress.states,
            rate / 1e6
        );
        let _ = write!(io::stderr(), "\r\x1b[2K{line}");
        let told =
            Told { heard: now, engine: progress.engine, images: progress.images, states: progress.states };
        *drawn = Drawn { at: now, told, visible: true };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_states_does_not_fall_while_its_engine_runs() {
        let now = Instant::now();
        let told = Told { heard: now, engine: "sandwich", images: 7, states: 100 };
        let of = |engine, states| Progress { engine, states, ..Progress::default() };
        assert!(told.gives_way_to(&of("sandwich", 120), now));
        assert!(told.gives_way_to(&of("free", 100), now));
        assert!(!told.gives_way_to(&of("free", 99), now));
        assert!(!told.gives_way_to(&of("walks", 0), now + Duration::from_millis(900)));
        assert!(told.gives_way_to(&of("walks", 0), now + Duration::from_millis(1000)), "it has ended");
    }
}
