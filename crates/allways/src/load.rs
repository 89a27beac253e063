//! From files to a system and a property.
//!
//! `FILE.aw` and `FILE.bp` hold programs with their properties. Any other file holds rules, as in `.pds`; `FILE.init` and
//! `FILE.spec` beside it hold where the threads start and what they must avoid. Both can be given as texts instead, which
//! win. All of it comes from outside: whatever is wrong is a [`LoadError`] that says where, and reading stops at the limits
//! of the [`Watch`].

use crate::system::System;
use crate::threads::{Counts, NoSuchThreads, TRIED};
use allways_engines::engine::Watch;
use allways_evidence::StopReason;
use allways_lang::diagnostic::{Diagnostic, Diagnostics, Severity, line_column};
use allways_lang::{aw, bp, pds};
use allways_model::encoding::{Encoded, NoEncoding};
use allways_model::notation::show_pattern;
use allways_model::program::{Count, Program, Template};
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
    /// An option that does not fit the file: what is wrong, and what to do.
    Unfit(String, String),
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
            LoadError::Unfit(what, help) => write!(f, "{what}: {help}"),
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

impl From<NoSuchThreads> for LoadError {
    fn from(error: NoSuchThreads) -> LoadError {
        LoadError::Unfit(error.what, error.help)
    }
}

/// A system that was read, and the text it was read from.
#[derive(Debug)]
pub struct Loaded {
    /// The system.
    pub system: System,
    /// Its file.
    pub path: PathBuf,
    /// The text of the file, and warnings about it.
    pub remarks: Remarks,
    /// Of a program that leaves open how many threads there are, how many are taken.
    open: Option<usize>,
    /// Of one for which such numbers were found, the option that asks for them.
    taken: Option<String>,
    options: Options,
}

/// How to read a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Of rules, the initial state; wins over the file beside.
    pub init: Option<String>,
    /// Of a program, how many threads.
    pub threads: Counts,
    /// Of a program, whether to keep what does not matter, as a comparison.
    pub unreduced: bool,
}

/// Which notation a file is in, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notation {
    /// Our own language.
    Aw,
    /// Boolean programs.
    Bp,
    /// Rules.
    Pds,
}

impl Notation {
    /// The notation of a file.
    pub fn of(path: &Path) -> Notation {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("aw") => Notation::Aw,
            Some("bp") => Notation::Bp,
            _ => Notation::Pds,
        }
    }
}

/// Reads a system and where it starts.
pub fn load(path: impl AsRef<Path>, options: &Options, watch: &Watch) -> Result<Loaded, LoadError> {
    let path = path.as_ref();
    if Notation::of(path) != Notation::Pds {
        if options.init.is_some() {
            let help = "the program says itself where it starts".to_string();
            return Err(LoadError::Unfit("--init is for .pds files".to_string(), help));
        }
        let (program, remarks) = load_program(path, watch)?;
        return Loaded::of(&program, path, remarks, options);
    }
    if !options.threads.is_empty() {
        let help = "this file lists its threads one by one".to_string();
        return Err(LoadError::Unfit("--threads is for programs".to_string(), help));
    }
    let (mut system, remarks) = load_rules(path, watch)?;
    let text = match &options.init {
        Some(init) => Text { name: "--init".to_string(), bytes: init.clone().into() },
        None => {
            let missing = LoadError::NoInitialState { path: path.to_path_buf() };
            read_if_there(&path.with_extension("init"), watch)?.ok_or(missing)?
        }
    };
    system.initial = pds::parse_init(&system, &text.bytes).map_err(|error| faulty(text, error))?;
    let (system, path, options) = (System::Rules(system), path.to_path_buf(), options.clone());
    Ok(Loaded { system, path, remarks, open: None, taken: None, options })
}

/// Reads rules without their initial state, which is arbitrary.
pub fn load_rules(path: &Path, watch: &Watch) -> Result<(Explicit, Remarks), LoadError> {
    let text = read(path, watch)?;
    let pds::Parsed { system, diagnostics } = pds::parse(&text.bytes);
    let remarks = Remarks { text, diagnostics };
    match system {
        Some(system) => Ok((system, remarks)),
        None => Err(LoadError::Faulty(Box::new(remarks))),
    }
}

/// Reads a program.
pub fn load_program(path: &Path, watch: &Watch) -> Result<(Program, Remarks), LoadError> {
    let text = read(path, watch)?;
    let (program, diagnostics) = match Notation::of(path) {
        Notation::Bp => {
            let bp::Parsed { program, diagnostics } = bp::parse(&text.bytes);
            (program, diagnostics)
        }
        Notation::Aw | Notation::Pds => {
            let aw::Parsed { program, diagnostics } = aw::parse(&text.bytes);
            (program, diagnostics)
        }
    };
    let remarks = Remarks { text, diagnostics };
    match program {
        Some(program) => Ok((program, remarks)),
        None => Err(LoadError::Faulty(Box::new(remarks))),
    }
}

impl Loaded {
    /// A program that was read before.
    pub fn of(
        program: &Program,
        path: &Path,
        remarks: Remarks,
        options: &Options,
    ) -> Result<Loaded, LoadError> {
        let (threads, open) = options.threads.threads(program, 1)?;
        let encoded = Encoded::new(program, &threads, !options.unreduced);
        let encoded = encoded.map_err(|error| no_encoding(error, &remarks.text))?;
        Ok(Loaded {
            system: System::Program(Box::new(encoded)),
            path: path.to_path_buf(),
            remarks,
            open: open.then_some(1),
            taken: None,
            options: options.clone(),
        })
    }

    /// The same program as it was when it was read, if it is one.
    pub fn afresh(&self) -> Result<Option<Loaded>, LoadError> {
        let Some(encoded) = self.system.program() else { return Ok(None) };
        Loaded::of(encoded.program(), &self.path, self.remarks.clone(), &self.options).map(Some)
    }

    /// The same program with any number of threads wherever it leaves the number open; `None` if it does not, or uses what
    /// cannot be said of any number.
    pub fn any_number(&self) -> Result<Option<Loaded>, LoadError> {
        let Some(encoded) = self.system.program() else { return Ok(None) };
        let program = encoded.program();
        let Some(threads) = self.options.threads.any_number(program)? else { return Ok(None) };
        let Ok(encoded) = Encoded::new(program, &threads, !self.options.unreduced) else { return Ok(None) };
        Ok(Some(Loaded {
            system: System::Program(Box::new(encoded)),
            path: self.path.clone(),
            remarks: self.remarks.clone(),
            open: None,
            taken: None,
            options: self.options.clone(),
        }))
    }

    /// The same program with so many threads where one stood for any number: for each thread of this system, how many it
    /// stands for.
    pub fn with_numbers(&self, counts: &[u64]) -> Result<Option<Loaded>, LoadError> {
        let Some(encoded) = self.system.program() else { return Ok(None) };
        let mut numbers: Vec<(String, usize)> = Vec::new();
        for (role, &count) in encoded.roles().iter().zip(counts).filter(|(role, _)| role.many) {
            let template = &encoded.program().templates[role.template];
            let from_the_start = match template.count {
                Count::Fixed(count) => count,
                Count::Any => 0,
            };
            let count = usize::try_from(count).unwrap_or(usize::MAX).saturating_add(from_the_start);
            match numbers.iter_mut().find(|(name, _)| *name == template.name) {
                Some((_, known)) => *known = known.saturating_add(count),
                None => numbers.push((template.name.clone(), count)),
            }
        }
        let taken =
            numbers.iter().map(|(name, count)| format!("{name}={count}")).collect::<Vec<_>>().join(",");
        let options = Options { threads: self.options.threads.and(numbers), ..self.options.clone() };
        // What goes wrong without any thread has no encoding.
        let exact = Loaded::of(encoded.program(), &self.path, self.remarks.clone(), &options);
        let Ok(loaded) = exact else { return Ok(None) };
        Ok(Some(Loaded { taken: Some(format!("--threads {taken}")), ..loaded }))
    }

    /// The numbers of threads that were taken, as the option that asks for them, if the program leaves them open.
    pub fn threads_taken(&self) -> Option<String> {
        if self.taken.is_some() {
            return self.taken.clone();
        }
        let (encoded, any) = (self.system.program()?, self.open?);
        let open = |template: &&Template| template.spawned || template.count == Count::Any;
        let taken = encoded.program().templates.iter().filter(open).map(|template| match template.count {
            Count::Any => format!("{}={any}", template.name),
            Count::Fixed(count) => format!("{}={}", template.name, count + any),
        });
        Some(format!("--threads {}", taken.collect::<Vec<_>>().join(",")))
    }

    /// The numbers of threads that were asked for.
    pub fn threads_asked(&self) -> &Counts {
        &self.options.threads
    }

    /// Whether more threads can be taken.
    pub fn can_grow(&self) -> bool {
        self.open.is_some_and(|any| any < TRIED)
    }

    /// Takes one thread more of each template whose number is open, if that is so and there are few.
    pub fn grow(&mut self) -> Result<bool, LoadError> {
        let Some(any) = self.open else { return Ok(false) };
        if !self.can_grow() {
            return Ok(false);
        }
        self.open = Some(any + 1);
        self.again()?;
        Ok(true)
    }

    /// Forgets which limits of a program were hit.
    pub fn again(&mut self) -> Result<(), LoadError> {
        let Some(encoded) = self.system.program() else { return Ok(()) };
        let program = encoded.program();
        let (threads, _) = self.options.threads.threads(program, self.open.unwrap_or(1))?;
        let encoded = Encoded::new(program, &threads, !self.options.unreduced);
        let encoded = encoded.map_err(|error| no_encoding(error, &self.remarks.text))?;
        self.system = System::Program(Box::new(encoded));
        Ok(())
    }

    /// What must never be seen: of a program, a violation; else the targets, or else the contents of the `.spec` file beside the system. With neither,
    /// the property is empty.
    pub fn property(&self, targets: &[String], watch: &Watch) -> Result<Property, LoadError> {
        if let Some(encoded) = self.system.program() {
            if targets.is_empty() {
                return Ok(encoded.property(false));
            }
            let help = "write `never EXPR;` into the program".to_string();
            return Err(LoadError::Unfit("--target is for .pds files".to_string(), help));
        }
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
        let System::Rules(system) = &self.system else { return slips };
        for pattern in &property.bad {
            for (thread, &top) in pattern.tops.iter().enumerate() {
                let Some(symbol) = top.filter(|&symbol| symbol != EMPTY) else { continue };
                if !system.occurs(thread, symbol) {
                    slips.push(format!(
                        "{} can never be seen: symbol {} occurs in no rule of thread {thread} and not on its initial stack",
                        show_pattern(system, pattern),
                        system.symbol_name(thread, symbol),
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

fn no_encoding(error: NoEncoding, text: &Text) -> LoadError {
    let mut diagnostics = Diagnostics::default();
    let span = error.span.start as usize..error.span.end as usize;
    diagnostics.add(Severity::Error, span, || (format!("cannot be checked: {}", error.what), None));
    LoadError::Faulty(Box::new(Remarks { text: text.clone(), diagnostics }))
}

fn faulty(text: Text, error: Diagnostic) -> LoadError {
    let mut diagnostics = Diagnostics::default();
    diagnostics.add(error.severity, error.span, || (error.message, error.help));
    LoadError::Faulty(Box::new(Remarks { text, diagnostics }))
}

/// Reads a file that need not be there.
pub(crate) fn read_if_there(path: &Path, watch: &Watch) -> Result<Option<Text>, LoadError> {
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
