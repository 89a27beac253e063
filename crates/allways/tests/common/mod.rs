//! Runs the program as users do.

// Each test file is a crate of its own and uses some of this.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a run of the program gave.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn of(output: Output) -> Run {
        Run {
            code: output.status.code().expect("it ends by itself"),
            out: String::from_utf8(output.stdout).expect("text"),
            err: String::from_utf8(output.stderr).expect("text"),
        }
    }

    /// The only line of the output, as JSON.
    pub fn json(&self) -> serde_json::Value {
        assert_eq!(self.out.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.out).expect("JSON")
    }

    /// The first line of the output, without its figures.
    pub fn verdict(&self) -> &str {
        let line = self.out.lines().next().unwrap_or_default();
        line.rsplit_once(" (").map_or(line, |(verdict, _)| verdict)
    }
}

/// The program, with arguments separated by spaces, and with the corpus as its working directory.
pub fn command(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allways"));
    command.current_dir(corpus()).args(arguments.split_whitespace()).stdin(Stdio::null());
    command
}

/// Runs the program with arguments separated by spaces.
pub fn allways(arguments: &str) -> Run {
    Run::of(command(arguments).output().expect("it starts"))
}

pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/pds")
}

/// An empty folder for the files of a test.
pub fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Writes a file and gives its path as an argument.
pub fn file(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = folder.join(name);
    fs::write(&path, text).expect("a file");
    path.to_str().expect("a plain path").to_string()
}

/// A system on which `druba` takes longer than anybody waits.
pub fn endless(folder: &Path) -> String {
    let family = allways_testkit::families::stefan(10);
    file(folder, "endless.init", family.init);
    file(folder, "endless.pds", family.pds)
}

/// Whether a solver can be started; without one, a note says what is left out.
pub fn solver(command: &str) -> bool {
    let there = Command::new(command).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let there = there.is_ok_and(|status| status.success());
    if !there {
        println!("skipped, because there is no {command}");
    }
    there
}
