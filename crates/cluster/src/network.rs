//! Processes that find each other, and notice when one of them is lost.
//!
//! Between each two processes there are two connections. One is timely's, which takes the records of the dataflows. On the other,
//! the *pulse*, both sides say twice a second that they are there and how far they have come, and, once, that they have
//! finished, or that they stop and why. Timely knows no failures: a process whose neighbour was killed may wait for ever, and
//! one whose neighbour was cut off certainly does. So whoever hears nothing on a pulse for a few seconds, or finds it closed,
//! stops its workers, and says so to the others.
//!
//! A process connects to those before it in the list and waits for those after it. Both sides first show what they are about to
//! check, as a digest, since workers that explore different things would find nonsense.

use crate::control::{Control, NUMBERS};
use crate::settings::Hosts;
use allways_engines::Budget;
use allways_evidence::StopReason;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long processes wait for each other to be started.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// How often a process shows that it is there, and how often it looks whether there is more to say.
const BEAT: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(50);

/// A process that was not heard of for so long is lost.
const SILENCE: Duration = Duration::from_secs(5);

const MAGIC: &[u8; 8] = b"allways2";
const DATA: u8 = 0;
const PULSE: u8 = 1;

const ALIVE: u8 = 0;
const STOPS: u8 = 1;
const FINISHED: u8 = 2;

/// The longest reason that is passed on.
const LONGEST: usize = 2000;

/// Connections to all other processes.
pub struct Peers {
    /// For timely; none for this process.
    pub data: Vec<Option<TcpStream>>,
    pulses: Vec<Option<TcpStream>>,
}

/// Connects to all other processes, each of which must be about to do the same task.
pub fn connect(hosts: &Hosts, task: u128, budget: &Budget) -> Result<Peers, StopReason> {
    let until = Instant::now() + PATIENCE;
    let own = &hosts.addresses[hosts.process];
    let fault = |what: &str, address: &str, error: io::Error| {
        StopReason::GaveUp(format!("cannot {what} {address}: {error}"))
    };
    let listener = TcpListener::bind(own).map_err(|error| fault("listen on", own, error))?;
    let processes = hosts.addresses.len();
    let mut peers = Peers { data: none(processes), pulses: none(processes) };
    for (process, address) in hosts.addresses.iter().enumerate().take(hosts.process) {
        for channel in [DATA, PULSE] {
            let mut stream = reach(process, address, until, budget)?;
            let greeted = greet(&mut stream, hosts.process, channel, task, (until, budget));
            budget.check()?;
            let other = greeted.map_err(|error| fault("talk to", address, error))?;
            same(task, other, process)?;
            peers.keep(process, channel, stream);
        }
    }
    listener.set_nonblocking(true).map_err(|error| fault("listen on", own, error))?;
    while let Some(missing) = peers.missing(hosts.process) {
        budget.check()?;
        if Instant::now() >= until {
            let address = &hosts.addresses[missing];
            let why = format!("process {missing} ({address}) did not connect within {PATIENCE:?}");
            return Err(StopReason::GaveUp(why));
        }
        match listener.accept() {
            Ok((stream, _)) => {
                // A stranger who says something else is none of us.
                if let Ok((process, channel, other, stream)) = welcome(stream, task)
                    && process < processes
                    && channel <= PULSE
                {
                    same(task, other, process)?;
                    peers.keep(process, channel, stream);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(LOOK),
            Err(error) => return Err(fault("listen on", own, error)),
        }
    }
    Ok(peers)
}

fn none(processes: usize) -> Vec<Option<TcpStream>> {
    (0..processes).map(|_| None).collect()
}

/// Connects to a process that may not have started yet.
fn reach(process: usize, address: &str, until: Instant, budget: &Budget) -> Result<TcpStream, StopReason> {
    loop {
        budget.check()?;
        let tried = address.to_socket_addrs().and_then(|addresses| {
            let mut last = io::Error::new(io::ErrorKind::NotFound, "there is no such host");
            for address in addresses {
                match TcpStream::connect_timeout(&address, Duration::from_secs(2)) {
                    Ok(stream) => return Ok(stream),
                    Err(error) => last = error,
                }
            }
            Err(last)
        });
        match tried {
            Ok(stream) => return Ok(stream),
            Err(error) if Instant::now() >= until => {
                let why =
                    format!("process {process} ({address}) did not answer within {PATIENCE:?}: {error}");
                return Err(StopReason::GaveUp(why));
            }
            Err(_) => thread::sleep(LOOK),
        }
    }
}

/// Says who connects, for what, and waits for the answer: what the other process is about to check.
fn greet(
    stream: &mut TcpStream,
    process: usize,
    channel: u8,
    task: u128,
    (until, budget): (Instant, &Budget),
) -> io::Result<u128> {
    stream.set_nodelay(true)?;
    let mut hello = MAGIC.to_vec();
    hello.extend_from_slice(&(process as u32).to_be_bytes());
    hello.push(channel);
    hello.extend_from_slice(&task.to_be_bytes());
    stream.write_all(&hello)?;
    // It may be waiting for others first, and whoever waits here may be told to stop.
    stream.set_read_timeout(Some(BEAT))?;
    let (mut answer, mut read) = ([0; 16], 0);
    while read < answer.len() {
        match stream.read(&mut answer[read..]) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(more) => read += more,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                if Instant::now() >= until || budget.check().is_err() {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    stream.set_read_timeout(None)?;
    Ok(u128::from_be_bytes(answer))
}

/// The other side of [`greet`].
fn welcome(mut stream: TcpStream, task: u128) -> io::Result<(usize, u8, u128, TcpStream)> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    let mut hello = [0; 29];
    stream.read_exact(&mut hello)?;
    if hello[..8] != *MAGIC {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "not one of us"));
    }
    stream.write_all(&task.to_be_bytes())?;
    stream.set_read_timeout(None)?;
    let number =
        |from: usize| u32::from_be_bytes([hello[from], hello[from + 1], hello[from + 2], hello[from + 3]]);
    let mut other = [0; 16];
    other.copy_from_slice(&hello[13..]);
    Ok((number(8) as usize, hello[12], u128::from_be_bytes(other), stream))
}

fn same(task: u128, other: u128, process: usize) -> Result<(), StopReason> {
    if task == other {
        return Ok(());
    }
    Err(StopReason::GaveUp(format!(
        "process {process} checks something else: another file, other options, or another number of workers"
    )))
}

impl Peers {
    fn keep(&mut self, process: usize, channel: u8, stream: TcpStream) {
        let streams = if channel == DATA { &mut self.data } else { &mut self.pulses };
        streams[process] = Some(stream);
    }

    fn missing(&self, own: usize) -> Option<usize> {
        let complete = |process: usize| self.data[process].is_some() && self.pulses[process].is_some();
        (0..self.data.len()).find(|&process| process != own && !complete(process))
    }
}

/// The threads that watch the other processes.
pub struct Watchdog {
    finished: Arc<AtomicBool>,
    speaker: Option<JoinHandle<()>>,
    pulses: Vec<TcpStream>,
}

impl Watchdog {
    /// Starts to listen to the pulses of the others, and to send this process's own.
    pub fn start(hosts: &Hosts, peers: &mut Peers, control: &Arc<Control>) -> io::Result<Watchdog> {
        let finished = Arc::new(AtomicBool::new(false));
        let mut pulses = Vec::new();
        for (process, pulse) in peers.pulses.iter_mut().enumerate() {
            let Some(pulse) = pulse.take() else { continue };
            pulse.set_read_timeout(Some(SILENCE))?;
            pulse.set_write_timeout(Some(BEAT))?;
            pulses.push(pulse.try_clone()?);
            let (control, address) = (Arc::clone(control), hosts.addresses[process].clone());
            thread::Builder::new()
                .name(format!("pulse-{process}"))
                .spawn(move || listen(process, &address, pulse, &control))?;
        }
        let (control, done) = (Arc::clone(control), Arc::clone(&finished));
        let speaking: Vec<TcpStream> = pulses.iter().map(TcpStream::try_clone).collect::<io::Result<_>>()?;
        let speaker = thread::Builder::new()
            .name("pulse".to_string())
            .spawn(move || speak(speaking, &control, &done))?;
        Ok(Watchdog { finished, speaker: Some(speaker), pulses })
    }

    /// Tells the others that this process is done, or why it stops, and leaves them.
    pub fn leave(mut self) {
        self.finished.store(true, Ordering::Release);
        if let Some(speaker) = self.speaker.take() {
            // It says one last word, for which each other process has half a second.
            let _ = speaker.join();
        }
        for pulse in &self.pulses {
            let _ = pulse.shutdown(Shutdown::Write);
        }
    }
}

/// Says that this process is there, until it has finished or stops.
fn speak(mut pulses: Vec<TcpStream>, control: &Control, finished: &AtomicBool) {
    let mut last: Option<Instant> = None;
    loop {
        if finished.load(Ordering::Acquire) || control.check().is_err() {
            let mut message = Vec::new();
            match control.reason() {
                Some(reason) => {
                    let text = reason.to_string();
                    let end = text.floor_char_boundary(LONGEST);
                    message.push(STOPS);
                    message.extend_from_slice(&(end as u32).to_be_bytes());
                    message.extend_from_slice(&text.as_bytes()[..end]);
                }
                None => message.push(FINISHED),
            }
            pulses.iter_mut().for_each(|pulse| drop(pulse.write_all(&message)));
            return;
        }
        if last.is_none_or(|last| last.elapsed() >= BEAT) {
            let mut message = vec![ALIVE];
            control.here().iter().for_each(|number| message.extend_from_slice(&number.to_be_bytes()));
            // That nobody hears it is noticed by the one who listens.
            pulses.iter_mut().for_each(|pulse| drop(pulse.write_all(&message)));
            last = Some(Instant::now());
        }
        thread::sleep(LOOK);
    }
}

/// Listens to a process until it has finished, stops, or is lost.
fn listen(process: usize, address: &str, mut pulse: TcpStream, control: &Control) {
    let why = loop {
        match hear(&mut pulse) {
            Ok(Heard::Alive(progress)) => control.processes[process].set(progress),
            Ok(Heard::Finished) => return,
            Ok(Heard::Stops(why)) => break format!("process {process} ({address}) stopped: {why}"),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    let silence = SILENCE.as_secs();
                    break format!("process {process} ({address}) was not heard of for {silence} seconds");
                }
                _ => break format!("process {process} ({address}) was lost: its connection is closed"),
            },
        }
    };
    control.stop(StopReason::GaveUp(why));
}

enum Heard {
    Alive([u64; NUMBERS]),
    Stops(String),
    Finished,
}

fn hear(pulse: &mut TcpStream) -> io::Result<Heard> {
    let mut tag = [0];
    pulse.read_exact(&mut tag)?;
    match tag[0] {
        ALIVE => {
            let mut numbers = [0; NUMBERS];
            for number in &mut numbers {
                let mut bytes = [0; 8];
                pulse.read_exact(&mut bytes)?;
                *number = u64::from_be_bytes(bytes);
            }
            Ok(Heard::Alive(numbers))
        }
        STOPS => {
            let mut length = [0; 4];
            pulse.read_exact(&mut length)?;
            let mut text = vec![0; (u32::from_be_bytes(length) as usize).min(LONGEST)];
            pulse.read_exact(&mut text)?;
            Ok(Heard::Stops(String::from_utf8_lossy(&text).into_owned()))
        }
        FINISHED => Ok(Heard::Finished),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "not a pulse")),
    }
}
