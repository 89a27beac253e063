//! What a run has found, kept in files while it goes on, so that another run can go on from there.
//!
//! Each worker appends the states of each level that has ended to a file of its own, as bytes, and then replaces its *record*: a
//! small file that says, level by level, how long the file was, how many states it had, and its digest. A record is replaced
//! by renaming, so it is always whole, and what lies behind the length that it names does not count. A level is complete if
//! it is in the records of all workers: nobody ends a level before all have ended the one before. So the workers need not
//! agree on anything to write, and a run can be killed at any time.
//!
//! To resume, states are read level by level, each file by one of the workers that have it in their folder, and go to whom they
//! belong now. That may be more or fewer workers than before.

use crate::control::{Control, Stopped};
use crate::shard::Shard;
use allways_evidence::StopReason;
use allways_evidence::shards::Digest;
use allways_model::bytes::{read_number, write_number};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often a record is replaced at most: levels can be small and many.
const PACE: Duration = Duration::from_millis(200);

/// What a worker's file held at the end of a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Mark {
    states: u64,
    length: u64,
    digest: u128,
}

/// What one worker writes.
pub struct Log {
    record: PathBuf,
    heading: String,
    out: BufWriter<File>,
    marks: Vec<Mark>,
    now: Mark,
    written: Option<Instant>,
    recorded: usize,
}

fn states_file(folder: &Path, worker: usize) -> PathBuf {
    folder.join(format!("worker-{worker}.states"))
}

fn record_file(folder: &Path, worker: usize) -> PathBuf {
    folder.join(format!("worker-{worker}.record"))
}

/// Whether a folder holds a checkpoint.
pub fn is_there(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("worker-") && name.ends_with(".record")
    })
}

impl Log {
    /// Starts the file of a worker, one of so many, and records that no level has ended; the task is named by its digest.
    pub fn start(folder: &Path, task: u128, (worker, workers): (usize, usize)) -> io::Result<Log> {
        fs::create_dir_all(folder)?;
        let out = BufWriter::with_capacity(1 << 16, File::create(states_file(folder, worker))?);
        let mut log = Log {
            record: record_file(folder, worker),
            heading: format!("allways checkpoint 1\ntask {task:032x}\nworker {worker} {workers}\n"),
            out,
            marks: Vec::new(),
            now: Mark { states: 0, length: 0, digest: Digest::default().0 },
            written: None,
            recorded: 0,
        };
        log.replace_record()?;
        // The first level that ends is recorded at once.
        log.written = None;
        Ok(log)
    }

    /// Writes the levels of a shard that are complete and not written yet; the one that is being filled is.
    pub fn end_level(&mut self, shard: &mut Shard<'_>, control: &Control) -> Result<(), Stopped> {
        let written = self.append(shard, control);
        self.fail(written, control)
    }

    fn fail(&self, written: io::Result<()>, control: &Control) -> Result<(), Stopped> {
        if let Err(error) = written {
            let why = format!("cannot write the checkpoint {}: {error}", self.record.display());
            control.stop(StopReason::GaveUp(why));
        }
        control.check()
    }

    fn append(&mut self, shard: &mut Shard<'_>, control: &Control) -> io::Result<()> {
        let mut bytes = Vec::new();
        for level in self.marks.len()..=shard.levels().depth() {
            let mut written = Ok(());
            let read = shard.each_state(level, &mut |state| {
                bytes.clear();
                write_number(state.len() as u64, &mut bytes);
                bytes.extend_from_slice(&state);
                let mut digest = Digest(self.now.digest);
                digest.add(&bytes);
                let Mark { states, length, .. } = self.now;
                self.now = Mark { states: states + 1, length: length + bytes.len() as u64, digest: digest.0 };
                written = self.out.write_all(&bytes);
                if written.is_err() {
                    return Err(Stopped);
                }
                if states % 1024 == 0 { control.check() } else { Ok(()) }
            });
            written?;
            if read.is_err() {
                // Somebody has said stop: what was written of this level does not count.
                return Ok(());
            }
            self.marks.push(self.now);
        }
        if self.written.is_none_or(|written| written.elapsed() >= PACE) {
            self.replace_record()?;
        }
        Ok(())
    }

    fn replace_record(&mut self) -> io::Result<()> {
        if self.written.is_some() && self.recorded == self.marks.len() {
            return Ok(());
        }
        self.out.flush()?;
        self.out.get_ref().sync_data()?;
        let mut text = self.heading.clone();
        for Mark { states, length, digest } in &self.marks {
            let _ = writeln!(text, "level {states} {length} {digest:032x}");
        }
        let _ = writeln!(text, "end {}", self.marks.len());
        let partial = self.record.with_extension("partial");
        let mut file = File::create(&partial)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&partial, &self.record)?;
        self.written = Some(Instant::now());
        self.recorded = self.marks.len();
        Ok(())
    }

    /// Records what has ended; to be called when the search has, however it did.
    pub fn finish(mut self, control: &Control) {
        let written = self.replace_record();
        let _ = self.fail(written, control);
    }
}

/// What a record says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Recorded {
    /// The digest of the task.
    pub task: u128,
    /// How many workers there were.
    pub workers: usize,
    /// How many levels were complete.
    pub levels: usize,
}

struct Record {
    said: Recorded,
    marks: Vec<Mark>,
}

fn read_record(path: &Path) -> Option<Record> {
    let text = fs::read_to_string(path).ok()?;
    let mut lines = text.lines();
    if lines.next()? != "allways checkpoint 1" {
        return None;
    }
    let task = u128::from_str_radix(lines.next()?.strip_prefix("task ")?, 16).ok()?;
    let workers = lines.next()?.strip_prefix("worker ")?.split_once(' ')?.1.parse().ok()?;
    let mut marks = Vec::new();
    loop {
        let mut words = lines.next()?.split(' ');
        match words.next()? {
            "level" => marks.push(Mark {
                states: words.next()?.parse().ok()?,
                length: words.next()?.parse().ok()?,
                digest: u128::from_str_radix(words.next()?, 16).ok()?,
            }),
            "end" if words.next()?.parse() == Ok(marks.len()) => break,
            _ => return None,
        }
    }
    Some(Record { said: Recorded { task, workers, levels: marks.len() }, marks })
}

/// The records of a folder, by the number of their worker.
pub fn records(folder: &Path) -> Vec<(usize, Recorded)> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let number = |name: &str| name.strip_prefix("worker-")?.strip_suffix(".record")?.parse::<usize>().ok();
    let mut found: Vec<(usize, Recorded)> = entries
        .flatten()
        .filter_map(|entry| {
            let worker = number(&entry.file_name().to_string_lossy())?;
            Some((worker, read_record(&entry.path())?.said))
        })
        .collect();
    found.sort_by_key(|&(worker, _)| worker);
    found
}

/// The file of one worker, read level by level.
pub struct Reader {
    path: PathBuf,
    input: BufReader<File>,
    marks: Vec<Mark>,
    level: usize,
    now: Mark,
}

impl Reader {
    /// Opens the file of a worker.
    pub fn open(folder: &Path, worker: usize) -> io::Result<Reader> {
        let wrong = || io::Error::new(io::ErrorKind::InvalidData, "the record cannot be read");
        let record = read_record(&record_file(folder, worker)).ok_or_else(wrong)?;
        let path = states_file(folder, worker);
        let input = BufReader::with_capacity(1 << 16, File::open(&path)?);
        let now = Mark { states: 0, length: 0, digest: Digest::default().0 };
        Ok(Reader { path, input, marks: record.marks, level: 0, now })
    }

    /// Reads the next level, state by state.
    pub fn next_level(&mut self, each: &mut dyn FnMut(&[u8])) -> io::Result<()> {
        let wrong = |path: &Path| {
            let what = format!("{} is not what was written", path.display());
            io::Error::new(io::ErrorKind::InvalidData, what)
        };
        let mark = *self.marks.get(self.level).ok_or_else(|| wrong(&self.path))?;
        self.level += 1;
        let mut state = Vec::new();
        while self.now.length < mark.length {
            let mut prefix = Vec::new();
            loop {
                let mut byte = [0];
                self.input.read_exact(&mut byte)?;
                prefix.push(byte[0]);
                if byte[0] < 0x80 || prefix.len() > 9 {
                    break;
                }
            }
            let length = read_number(&mut &prefix[..]).ok_or_else(|| wrong(&self.path))?;
            if length > mark.length - self.now.length {
                return Err(wrong(&self.path));
            }
            state.resize(length as usize, 0);
            self.input.read_exact(&mut state)?;
            let mut digest = Digest(self.now.digest);
            digest.add(&prefix);
            digest.add(&state);
            let read = prefix.len() as u64 + length;
            self.now = Mark { states: self.now.states + 1, length: self.now.length + read, digest: digest.0 };
            each(&state);
        }
        if self.now == mark { Ok(()) } else { Err(wrong(&self.path)) }
    }
}
