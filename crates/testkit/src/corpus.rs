//! The files in `corpus/` and the expectations they carry.
//!
//! An expectation is a comment line that starts with `#!`:
//!
//! ```text
//! #! visible 8             the number of reachable visible states
//! #! concrete infinite     the number of reachable states, or `infinite`
//! #! never 0|1,6: unsafe   the verdict when this visible state is to be avoided
//! #! never deadlock: safe  the verdict when deadlocks are to be avoided
//! ```

use allways_lang::pds;
use allways_model::notation::read_pattern;
use allways_model::property::Property;
use allways_model::pushdown::Explicit;
use std::path::{Path, PathBuf};

/// A file of the corpus.
pub struct Entry {
    /// The file's name, without directory and ending.
    pub name: String,
    /// The system.
    pub system: Explicit,
    /// The number of reachable visible states.
    pub visible: Option<usize>,
    /// The number of reachable states.
    pub concrete: Option<Count>,
    /// Properties, and whether they hold.
    pub properties: Vec<(Property, bool)>,
}

/// A number of states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Count {
    /// So many.
    Finite(usize),
    /// Infinitely many.
    Infinite,
}

/// The folder of the `.pds` corpus.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/pds")
}

/// The `.pds` files of a folder, by name.
pub fn entries(folder: &Path) -> Vec<Entry> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pds"))
        .collect();
    paths.sort();
    paths.iter().map(|path| entry(path)).collect()
}

/// Reads a `.pds` file with the `.init` beside it. Panics if there is anything wrong with them.
pub fn entry(path: &Path) -> Entry {
    let name = path.file_stem().expect("a file").to_string_lossy().into_owned();
    let read =
        |path: &Path| std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let text = read(path);
    let system = system(&text, &read(&path.with_extension("init")));
    let mut entry = Entry { name, system, visible: None, concrete: None, properties: Vec::new() };
    for line in String::from_utf8_lossy(&text).lines().filter_map(|line| line.strip_prefix("#! ")) {
        entry.expect(line).unwrap_or_else(|| panic!("{}: not an expectation: {line}", path.display()));
    }
    entry
}

/// The system of a `.pds` text and an `.init` text. Panics if there is an error in them.
pub fn system(pds: &[u8], init: &[u8]) -> Explicit {
    let parsed = pds::parse(pds);
    let mut system = parsed.system.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
    system.initial = pds::parse_init(&system, init).unwrap_or_else(|error| panic!("{error:?}"));
    system
}

impl Entry {
    fn expect(&mut self, line: &str) -> Option<()> {
        match line.split_once(' ')? {
            ("visible", number) => self.visible = Some(number.parse().ok()?),
            ("concrete", "infinite") => self.concrete = Some(Count::Infinite),
            ("concrete", number) => self.concrete = Some(Count::Finite(number.parse().ok()?)),
            ("never", rest) => {
                let (state, verdict) = rest.split_once(": ")?;
                let holds = match verdict {
                    "safe" => true,
                    "unsafe" => false,
                    _ => return None,
                };
                let property = match state {
                    "deadlock" => Property { deadlock: true, ..Property::default() },
                    state => {
                        Property { bad: vec![read_pattern(&self.system, state).ok()?], ..Property::default() }
                    }
                };
                self.properties.push((property, holds));
            }
            _ => return None,
        }
        Some(())
    }
}
