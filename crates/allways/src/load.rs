//! From files to a system and a property.
//!
//! `FILE.pds` holds the threads; `FILE.init` and `FILE.spec` beside it hold where they start and what they must avoid.
//! Both can be given as texts instead, which win. All of it comes from outside: whatever is wrong is a [`LoadError`] that
//! says where, and reading stops at the limits of the [`Watch`].

use allways_engines::engine::Watch;
use allways_evidence::StopReason;
use allways_lang::diagnostic::{Diagnostic, Diagnostics, Severity, line_column};
use allways_lang::pds;
use allways_model::notation::show_pattern;
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{EMPTY, Explicit, Pushdown};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How much is read between two looks at the limits.
const CHUNK: u64 = 1 << 20;

/// Readers refuse a text of this length, so no more of it is read.
const LONGEST: u64 = 1 << 32;

/// A text from outside, and what to call it in messages: a path, or the option that it was given with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// A path, or an option such as `--init`.
    pub name: String,
    /// The text; perhaps not even text.
    pub bytes: Vec<u8>,
}

/// What there is to say about a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remarks {
    /// The text.
    pub text: Text,
    /// Errors and warnings, with their places in the text.
    pub diagnostics: Diagnostics,
}

/// Why there is no system, or no property.
#[derive(Debug)]
pub enum LoadError {
    /// A file cannot be read.
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A text has errors.
    Faulty(Box<Remarks>),
    /// There is no initial state: neither was one given, nor is there a file for it.
    NoInitialState {
        /// The file without one.
        path: PathBuf,
    },
    /// A limit was reached, or the user interrupted.
    Stopped(StopReason),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Unreadable { path, error } => write!(f, "cannot read {}: {error}", path.display()),
            LoadError::Faulty(remarks) => {
                let Text { name, bytes } = &remarks.text;
                let errors = remarks.diagnostics.iter().filter(|remark| remark.severity == Severity::Error);
                for (index, error) in errors.enumerate() {
                    let (line, column) = line_column(bytes, error.span.start);
                    let newline = if index == 0 { "" } else { "\n" };
                    write!(f, "{newline}{name}:{line}:{column}: {}", error.message)?;
                }
                Ok(())
            }
            LoadError::NoInitialState { path } => {
                write!(
                    f,
                    "{} has no initial state: none was given, and no .init file is there",
                    path.display()
                )
            }
            LoadError::Stopped(reason) => write!(f, "not read to the end: {reason}"),
        }
    }
}

impl std::error::Error for LoadError {}

impl From<StopReason> for LoadError {
    fn from(reason: StopReason) -> LoadError {
        LoadError::Stopped(reason)
    }
}

/// A system that was read, and the text it was read from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// The system.
    pub system: Explicit,
    /// Its file.
    pub path: PathBuf,
    /// The text of the file, and warnings about it.
    pub remarks: Remarks,
}

/// Reads a system and where it starts: `init`, or else the contents of the `.init` file beside it.
pub fn load(path: impl AsRef<Path>, init: Option<&str>, watch: &Watch) -> Result<Loaded, LoadError> {
    let mut loaded = load_rules(path, watch)?;
    let text = match init {
        Some(init) => Text { name: "--init".to_string(), bytes: init.into() },
        None => {
            let path = loaded.path.clone();
            read_if_there(&path.with_extension("init"), watch)?.ok_or(LoadError::NoInitialState { path })?
        }
    };
    loaded.system.initial =
        pds::parse_init(&loaded.system, &text.bytes).map_err(|error| faulty(text, error))?;
    Ok(loaded)
}

/// Reads a system without its initial state, which is arbitrary.
pub fn load_rules(path: impl AsRef<Path>, watch: &Watch) -> Result<Loaded, LoadError> {
    let path = path.as_ref().to_path_buf();
    let text = read(&path, watch)?;
    let pds::Parsed { system, diagnostics } = pds::parse(&text.bytes);
    let remarks = Remarks { text, diagnostics };
    match system {
        Some(system) => Ok(Loaded { system, path, remarks }),
        None => Err(LoadError::Faulty(Box::new(remarks))),
    }
}

impl Loaded {
    /// What must never be seen: the targets, or else the contents of the `.spec` file beside the system. With neither,
    /// the property is empty.
    pub fn property(&self, targets: &[String], watch: &Watch) -> Result<Property, LoadError> {
        if targets.is_empty() {
            let spec = read_if_there(&self.path.with_extension("spec"), watch)?;
            let bad = spec.map(|text| self.pattern(text)).transpose()?;
            return Ok(Property { bad: bad.into_iter().collect(), ..Property::default() });
        }
        let text = |target: &String| Text { name: "--target".to_string(), bytes: target.as_bytes().into() };
        let bad = targets.iter().map(|target| self.pattern(text(target)));
        Ok(Property { bad: bad.collect::<Result<_, _>>()?, ..Property::default() })
    }

    /// What of a property can never be seen, whatever the schedule, because a symbol that it names does not occur: most
    /// likely a slip. In words.
    pub fn vacuous(&self, property: &Property) -> Vec<String> {
        let mut slips = Vec::new();
        for pattern in &property.bad {
            for (thread, &top) in pattern.tops.iter().enumerate() {
                let Some(symbol) = top.filter(|&symbol| symbol != EMPTY) else { continue };
                if !self.system.occurs(thread, symbol) {
                    slips.push(format!(
                        "{} can never be seen: symbol {} occurs in no rule of thread {thread} and not on its initial stack",
                        show_pattern(&self.system, pattern),
                        self.system.symbol_name(thread, symbol),
                    ));
                }
            }
        }
        slips
    }

    fn pattern(&self, text: Text) -> Result<Pattern, LoadError> {
        pds::parse_target(&self.system, &text.bytes).map_err(|error| faulty(text, error))
    }
}

fn faulty(text: Text, error: Diagnostic) -> LoadError {
    let mut diagnostics = Diagnostics::default();
    diagnostics.add(error.severity, error.span, || (error.message, error.help));
    LoadError::Faulty(Box::new(Remarks { text, diagnostics }))
}

fn read_if_there(path: &Path, watch: &Watch) -> Result<Option<Text>, LoadError> {
    match read(path, watch) {
        Err(LoadError::Unreadable { error, .. }) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        text => text.map(Some),
    }
}

/// Reads a file, within the limits.
pub fn read(path: &Path, watch: &Watch) -> Result<Text, LoadError> {
    let unreadable = |error| LoadError::Unreadable { path: path.to_path_buf(), error };
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(unreadable(io::Error::from(io::ErrorKind::IsADirectory)));
    }
    // The size is a hint: of a pipe or a device it is 0, and a file may grow while it is read.
    let size = metadata.len().min(LONGEST) as usize;
    watch.room_for(size)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size + 1).map_err(|error| unreadable(error.into()))?;
    let mut rest = file.take(LONGEST);
    loop {
        let part = rest.by_ref().take(CHUNK).read_to_end(&mut bytes).map_err(unreadable)?;
        if part == 0 {
            return Ok(Text { name: path.display().to_string(), bytes });
        }
        watch.room_for(0)?;
    }
}
