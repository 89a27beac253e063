//! Many workers: `check --workers` and `--hosts`, `certify --workers`, and `allways cluster`, which starts several processes on
//! this machine as one would start one on each of several.
//!
//! Where the program was built without the feature `cluster`, all of these say so.

use super::arguments::{Check, ClusterRun, Workers};
use super::exit::Exit;
use super::session::Session;
use super::{Context, Failure};
use crate::recheck::Claim;
use allways_engines::{Budget, Engine, Engines, Question};
use allways_evidence::Rejection;
use std::ffi::OsString;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

/// How long processes have to end after an interruption.
const GRACE: Duration = Duration::from_secs(5);

#[cfg(feature = "cluster")]
mod able {
    use super::*;
    use allways_cluster::disk::Disk;
    use allways_cluster::{Cluster, Hosts, Settings, Spill, checkpoint};
    use std::path::Path;

    /// The engine that is asked for, if it is one with workers.
    pub fn engine(
        workers: &Workers,
        check: &Check,
        engines: &Engines,
        question: &Question,
    ) -> Result<Option<&'static dyn Engine>, Failure> {
        let usage = |what: String, help: &str| Failure::Usage(what, help.to_string());
        let Workers { workers: count, hosts, process, checkpoint, resume, spill } = workers;
        if count.is_none() && hosts.is_none() {
            return match (checkpoint, resume, spill) {
                (None, None, None) => Ok(None),
                _ => {
                    let what = "--checkpoint, --resume and --spill are for workers".to_string();
                    Err(usage(what, "give --workers N"))
                }
            };
        }
        if check.files.len() > 1 {
            return Err(usage("workers explore one file".to_string(), "check the files one by one"));
        }
        if let Some(folder) = checkpoint.as_deref().filter(|folder| checkpoint::is_there(folder)) {
            let what = format!("{} holds a checkpoint already", folder.display());
            return Err(usage(what, "go on from it by --resume, and write to another folder"));
        }
        let hosts = match (hosts, process) {
            (Some(path), Some(process)) => {
                let text = fs::read_to_string(path).map_err(|error| {
                    usage(format!("cannot read {}: {error}", path.display()), "give --hosts FILE")
                })?;
                let read = Hosts::read(&text, *process);
                Some(
                    read.map_err(|what| usage(format!("{}: {what}", path.display()), "see docs/cluster.md"))?,
                )
            }
            _ => None,
        };
        let settings = Settings {
            workers: usize::from(count.unwrap_or(1)),
            hosts,
            evidence: check.search.evidence.clone(),
            checkpoint: checkpoint.clone(),
            resume: resume.clone(),
            spill: spill.as_deref().map(place).transpose()?,
        };
        // There is one in a process, for as long as that lives.
        let engine: &'static dyn Engine = Box::leak(Box::new(Cluster::new(settings)));
        Ok(Some(engines.clone().with(engine).choose(Some(engine.info().name), question)?))
    }

    /// The folder for what does not fit into memory, if it can be written to.
    fn place(folder: &Path) -> Result<Spill, Failure> {
        match Disk::try_out(folder) {
            Ok(()) => Ok(Spill { folder: folder.to_path_buf(), states: None }),
            Err(error) => {
                let why = match folder.exists() && !folder.is_dir() {
                    true => "it is no folder".to_string(),
                    false => error.to_string(),
                };
                let what = format!("cannot write to {}: {why}", folder.display());
                Err(Failure::Usage(what, "give --spill a folder that can be written to".to_string()))
            }
        }
    }

    /// Has shards checked by so many workers, on disk if there is no room for them in memory.
    pub fn certify(
        workers: u16,
        spill: Option<&Path>,
        claim: &Claim<'_>,
        budget: &Budget,
    ) -> Result<Result<(), Rejection>, Failure> {
        match claim.shards() {
            Some((forms, shards)) => {
                let spill = spill.map(place).transpose()?;
                let cluster = Cluster::new(Settings { spill, ..Settings::threads(usize::from(workers)) });
                Ok(cluster.certify(forms, shards, budget))
            }
            None => {
                let what = "--workers is for shards, and this is other evidence".to_string();
                Err(Failure::Usage(what, "leave out --workers".to_string()))
            }
        }
    }
}

#[cfg(not(feature = "cluster"))]
mod able {
    use super::*;

    fn unable() -> Failure {
        let what = "this program was built without workers".to_string();
        Failure::Usage(what, "build it with the feature `cluster`, which is a default".to_string())
    }

    /// Refuses, if workers are asked for.
    pub fn engine(
        workers: &Workers,
        _: &Check,
        _: &Engines,
        _: &Question,
    ) -> Result<Option<&'static dyn Engine>, Failure> {
        let Workers { workers, hosts, process, checkpoint, resume, spill } = workers;
        let asked = workers.is_some() || process.is_some();
        let asked = asked || [hosts, checkpoint, resume, spill].into_iter().any(Option::is_some);
        if asked { Err(unable()) } else { Ok(None) }
    }

    /// Refuses.
    pub fn certify(
        _: u16,
        _: Option<&std::path::Path>,
        _: &Claim<'_>,
        _: &Budget,
    ) -> Result<Result<(), Rejection>, Failure> {
        Err(unable())
    }
}

pub use able::{certify, engine};

/// A folder that goes away.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs `allways cluster`: the same command as `check` in each process, and what the first one says.
pub fn run(arguments: &ClusterRun, given: &[OsString], context: &mut Context) -> Result<Exit, Failure> {
    if arguments.check.workers.hosts.is_some() {
        let what = "`allways cluster` starts all processes itself".to_string();
        return Err(Failure::Usage(what, "use `allways check` with --hosts".to_string()));
    }
    Session::heed_interruptions();
    let failed = |error: io::Error| Failure::Unwritable("the list of processes".into(), error);
    let folder = Folder(std::env::temp_dir().join(format!("allways-cluster-{}", std::process::id())));
    fs::create_dir_all(&folder.0).map_err(failed)?;
    let hosts = folder.0.join("hosts");
    fs::write(&hosts, free_addresses(usize::from(arguments.processes)).map_err(failed)?).map_err(failed)?;
    let command = check_command(given, arguments.processes);
    let program = std::env::current_exe().map_err(failed)?;
    let mut children = Vec::new();
    for process in 0..arguments.processes {
        let started = Command::new(&program)
            .args(&command)
            .arg("--hosts")
            .arg(&hosts)
            .args(["--process", &process.to_string()])
            .stdin(Stdio::null())
            // All say the same, so that one is enough.
            .stdout(if process == 0 { Stdio::inherit() } else { Stdio::null() })
            .stderr(if process == 0 { Stdio::inherit() } else { Stdio::null() })
            .spawn();
        match started {
            Ok(child) => children.push(child),
            Err(error) => {
                children.iter_mut().for_each(|child| drop(child.kill()));
                return Err(failed(error));
            }
        }
    }
    let codes = wait(&mut children).map_err(failed)?;
    match codes[0] {
        Some(code) => Ok(Exit::of_code(code)),
        None => {
            context.output.verdict("unknown", "process 0 was lost, and what it found");
            Ok(Exit::Unknown)
        }
    }
}

/// Addresses on this machine at which nobody listens, one on a line.
fn free_addresses(count: usize) -> io::Result<String> {
    // All are taken before any is given back, so that they differ.
    let taken: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<io::Result<_>>()?;
    let addresses: Vec<String> =
        taken.iter().map(|taken| Ok(format!("{}\n", taken.local_addr()?))).collect::<io::Result<_>>()?;
    Ok(addresses.concat())
}

/// The arguments of `check` that those of `cluster` stand for.
fn check_command(given: &[OsString], processes: u16) -> Vec<OsString> {
    let mut command = Vec::new();
    let mut rest = given.iter().skip(1);
    let mut named = false;
    while let Some(argument) = rest.next() {
        if argument == "cluster" && !named {
            named = true;
            command.push("check".into());
        } else if argument == "--processes" {
            rest.next();
        } else if *argument != *format!("--processes={processes}") {
            command.push(argument.clone());
        }
    }
    command
}

/// Waits for all processes; after an interruption, not for long.
fn wait(children: &mut [Child]) -> io::Result<Vec<Option<i32>>> {
    let mut interrupted: Option<Instant> = None;
    loop {
        let mut ended = Vec::new();
        for child in &mut *children {
            ended.push(child.try_wait()?);
        }
        if ended.iter().all(Option::is_some) {
            return Ok(ended.into_iter().map(|status| status?.code()).collect());
        }
        if Session::is_interrupted() && interrupted.get_or_insert_with(Instant::now).elapsed() > GRACE {
            children.iter_mut().for_each(|child| drop(child.kill()));
        }
        thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_each_process_is_that_of_check() {
        let given = ["allways", "-q", "cluster", "--processes", "3", "x.aw", "--json", "--processes=3"];
        let given: Vec<OsString> = given.into_iter().map(OsString::from).collect();
        assert_eq!(check_command(&given, 3), ["-q", "check", "x.aw", "--json"]);
    }

    #[test]
    fn addresses_differ() {
        let addresses = free_addresses(4).expect("four ports");
        let mut lines: Vec<&str> = addresses.lines().collect();
        lines.sort_unstable();
        lines.dedup();
        assert_eq!(lines.len(), 4);
    }
}
