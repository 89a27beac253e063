//! How many workers there are, and where.

use std::path::{Path, PathBuf};

/// What a user can say about a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Workers in each process, each a thread.
    pub workers: usize,
    /// The processes, if there is more than this one.
    pub hosts: Option<Hosts>,
    /// Where the manifest of a certificate will be written: its shards are written beside it, before anything is announced.
    pub evidence: Option<PathBuf>,
    /// Where what was found is kept after each level.
    pub checkpoint: Option<PathBuf>,
    /// Where an earlier run has kept what it found.
    pub resume: Option<PathBuf>,
    /// Where states are put for which there is no room in memory.
    pub spill: Option<Spill>,
}

/// A place on disk for states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spill {
    /// The folder.
    pub folder: PathBuf,
    /// How many states a worker may hold in memory, if not as many as there is room for.
    pub states: Option<usize>,
}

/// Processes that work together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hosts {
    /// Where each process listens, `HOST:PORT`.
    pub addresses: Vec<String>,
    /// Which of them this one is.
    pub process: usize,
}

impl Hosts {
    /// The processes of a text with an address on each line; blank lines and those that start with `#` are skipped.
    pub fn read(text: &str, process: usize) -> Result<Hosts, String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let addresses: Vec<String> = lines.map(str::to_string).collect();
        if let Some(wrong) = addresses.iter().find(|address| !is_address(address)) {
            return Err(format!("expected HOST:PORT on each line, found {wrong:?}"));
        }
        if process >= addresses.len() {
            let count = addresses.len();
            return Err(format!("there is no process {process}: the hosts are {count}, counted from 0"));
        }
        Ok(Hosts { addresses, process })
    }
}

fn is_address(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok())
}

impl Settings {
    /// So many workers in this process.
    pub fn threads(workers: usize) -> Settings {
        Settings { workers, hosts: None, evidence: None, checkpoint: None, resume: None, spill: None }
    }

    /// How many processes there are.
    pub fn processes(&self) -> usize {
        self.hosts.as_ref().map_or(1, |hosts| hosts.addresses.len())
    }

    /// Which of them this one is.
    pub fn process(&self) -> usize {
        self.hosts.as_ref().map_or(0, |hosts| hosts.process)
    }

    /// The name of the shard of a worker, beside the manifest.
    pub fn shard_name(manifest: &Path, worker: usize) -> String {
        let name = manifest.file_name().unwrap_or_default().to_string_lossy();
        format!("{name}.{worker}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_addresses_one_on_a_line() {
        let hosts = Hosts::read("# two\n10.0.0.1:7000\n\n[::1]:7001\n", 1).expect("two hosts");
        assert_eq!(hosts.addresses, ["10.0.0.1:7000", "[::1]:7001"]);
        assert_eq!(hosts.process, 1);
        assert!(Hosts::read("a:1\nb:2\n", 2).expect_err("two").contains("there is no process 2"));
        for wrong in ["a", "a:", ":1", "a:70000", "a:b"] {
            assert!(Hosts::read(wrong, 0).is_err(), "{wrong}");
        }
    }
}
