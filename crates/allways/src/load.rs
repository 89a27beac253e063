//! From files to a task.
//!
//! [`NOTATIONS`] is the table of what can be read, by the ending of a file's name. `FILE.aw` and `FILE.bp` hold programs with
//! their properties. `.spec` and `.tts` hold counter systems; `FILE.init` and `FILE.prop` beside a `.tts` file hold where its
//! threads start and what they must avoid. Any other file holds rules, as in `.pds`, with `FILE.init` and `FILE.spec` beside
//! it. Both can be given as texts instead, which win. All of it comes from outside: whatever is wrong is a [`LoadError`] that
//! says where, and reading stops at the limits of the [`Budget`].

use allways_c::instrument::{Instrumentation, Unplaced};
use allways_c::lower::Lowered;
use allways_c::property::Property as CProperty;
use allways_c::source::{Input, LineMap, has_been_preprocessed, is_preprocessed, preprocess_for};
use allways_c::typed::DataModel;
use allways_engines::{Budget, Forms, Question};
use allways_evidence::StopReason;
use allways_lang::aw::Definitions;
use allways_lang::diagnostic::{Diagnostic, Diagnostics, Severity, line_column};
use allways_lang::{aw, bp, pds, spec, tts};
use allways_model::encoding::NoEncoding;
use allways_model::notation::show_pattern;
use allways_model::program::inline::inline;
use allways_model::program::{Op, Program, Span};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{EMPTY, Explicit, Pushdown};
use allways_model::task::{Abstraction, Model, Source, Task};
use allways_model::threads::{Counts, NoSuchThreads};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much is read between two looks at the limits.
const CHUNK: u64 = 1 << 20;

/// Readers refuse a text of this length, so no more of it is read.
const LONGEST: u64 = 1 << 32;

/// What there is to say about a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceDiagnostics {
    /// The text.
    pub source: Source,
    /// Errors and warnings, with their places in the text.
    pub diagnostics: Diagnostics,
}

/// Why there is no task.
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
    Faulty(Box<SourceDiagnostics>),
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
            LoadError::Faulty(found) => {
                let Source { name, text } = &found.source;
                let errors = found.diagnostics.iter().filter(|one| one.severity == Severity::Error);
                for (index, error) in errors.enumerate() {
                    let (line, column) = line_column(text, error.span.start);
                    let newline = if index == 0 { "" } else { "\n" };
                    write!(f, "{newline}{name}:{line}:{column}: {}", error.message)?;
                }
                Ok(())
            }
            LoadError::NoInitialState { path } => {
                let path = path.display();
                write!(f, "{path} has no initial state: none was given, and no .init file is there")
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

impl LoadError {
    /// An error at a place of a text.
    pub fn at(source: &Source, span: Span, what: String) -> LoadError {
        let mut diagnostics = Diagnostics::default();
        let span = span.start as usize..span.end as usize;
        diagnostics.add(Severity::Error, span, || (what, None));
        LoadError::Faulty(Box::new(SourceDiagnostics { source: source.clone(), diagnostics }))
    }

    /// That a program has no encoding.
    pub fn no_encoding(source: &Source, error: NoEncoding) -> LoadError {
        LoadError::at(source, error.span, format!("cannot be checked: {}", error.what))
    }
}

/// A task that was read.
#[derive(Debug)]
pub struct Loaded {
    /// The task.
    pub task: Task,
    /// Warnings about its text.
    pub diagnostics: SourceDiagnostics,
    /// What else the user should know.
    pub warnings: Vec<String>,
}

/// How to read a file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// The notation, by the ending of its files; if none is given, the name of the file tells.
    pub notation: Option<&'static str>,
    /// The initial state of rules; wins over the file beside.
    pub init: Option<String>,
    /// Of rules, the states to be avoided; win over the file beside.
    pub targets: Vec<String>,
    /// Of a Boolean program, the labels that must not be reached.
    pub labels: Vec<String>,
    /// Of a program, how many threads.
    pub threads: Counts,
    /// Of a program in the `.aw` language, other values for constants.
    pub definitions: Definitions,
    /// Whether deadlocks are to be avoided, too.
    pub deadlock: bool,
    /// Of a program, whether threads that are stuck for ever are to be avoided, too.
    pub stuck: bool,
    /// Nothing is to be avoided, whatever the file beside says.
    pub no_property: bool,
    /// Of a C program, the sizes of its types.
    pub data_model: DataModel,
    /// The command that preprocesses `.c` files; `cc -E` if none is given.
    pub preprocessor: Option<Vec<String>>,
    /// Whether a C program that calls functions without a body is refused.
    pub strict: bool,
    /// Of a C program, what counts as going wrong, if that is said.
    pub property: Option<CProperty>,
    /// Of a C program: whether all atomic operations are taken for sequentially consistent ones.
    pub sequentially_consistent: bool,
}

/// A notation that can be read.
#[derive(Debug)]
pub struct Notation {
    /// How the names of its files end.
    pub ending: &'static str,
    read: fn(Reading<'_>) -> Result<Loaded, LoadError>,
}

/// All notations.
pub const NOTATIONS: &[Notation] = &[
    Notation { ending: "aw", read: read_aw },
    Notation { ending: "bp", read: read_bp },
    Notation { ending: "pds", read: read_rules },
    Notation { ending: "spec", read: read_spec },
    Notation { ending: "tts", read: read_tts },
    Notation { ending: "c", read: read_c },
    Notation { ending: "i", read: read_c },
];

impl Notation {
    /// The notation with this ending.
    pub fn named(ending: &str) -> Option<&'static Notation> {
        NOTATIONS.iter().find(|notation| notation.ending == ending)
    }

    /// The notation of a file: the one that is given, else that of its name; `.pds` if that does not tell, and `.aw` on
    /// standard input.
    pub fn of(path: &Path, options: &Options) -> &'static Notation {
        if let Some(given) = options.notation.and_then(Notation::named) {
            return given;
        }
        if is_standard_input(path) {
            return &NOTATIONS[0];
        }
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.and_then(Notation::named).unwrap_or(&NOTATIONS[2])
    }
}

struct Reading<'a> {
    path: &'a Path,
    source: Source,
    options: &'a Options,
    budget: &'a Budget<'a>,
}

/// Reads a task.
pub fn load(path: impl AsRef<Path>, options: &Options, budget: &Budget) -> Result<Loaded, LoadError> {
    let path = path.as_ref();
    let notation = Notation::of(path, options);
    if !options.labels.is_empty() && notation.ending != "bp" {
        let help = "in the .aw language, write `never at(NAME) > 0;` into the program".to_string();
        return Err(LoadError::Unfit("--label is for .bp files".to_string(), help));
    }
    if !options.definitions.is_empty() && notation.ending != "aw" {
        let help = match notation.ending {
            "c" => "give the definitions to the preprocessor: --cpp 'cc -E -DN=5'",
            _ => "leave out -D",
        };
        return Err(LoadError::Unfit("-D is for .aw files".to_string(), help.to_string()));
    }
    let source = read(path, budget)?;
    (notation.read)(Reading { path, source, options, budget })
}

impl Reading<'_> {
    /// Refuses options that say nothing about this file.
    fn refuse(&self, refused: &[(bool, &str, &str)]) -> Result<(), LoadError> {
        match refused.iter().find(|(given, ..)| *given) {
            Some((_, what, help)) => Err(LoadError::Unfit(what.to_string(), help.to_string())),
            None => Ok(()),
        }
    }

    /// The text of an option, or of a file beside, if it is there.
    fn beside(&self, option: &str, given: Option<String>, ending: &str) -> Result<Option<Source>, LoadError> {
        match given {
            Some(text) => Ok(Some(Source { name: option.to_string(), text: Arc::new(text.into_bytes()) })),
            None if is_standard_input(self.path) => Ok(None),
            None => read_if_there(&self.path.with_extension(ending), self.budget),
        }
    }

    fn loaded<T>(
        self,
        parsed: Option<T>,
        diagnostics: Diagnostics,
        model: impl FnOnce(T) -> Model,
    ) -> Result<Loaded, LoadError> {
        let diagnostics = SourceDiagnostics { source: self.source.clone(), diagnostics };
        let Some(parsed) = parsed else { return Err(LoadError::Faulty(Box::new(diagnostics))) };
        let property = Property { deadlock: self.options.deadlock, ..Property::default() };
        let (threads, source) = (self.options.threads.clone(), self.source);
        let task = Task { property, stuck: self.options.stuck, threads, source, ..Task::new(model(parsed)) };
        Ok(Loaded { task, diagnostics, warnings: Vec::new() })
    }
}

fn read_aw(reading: Reading<'_>) -> Result<Loaded, LoadError> {
    let definitions = &reading.options.definitions;
    read_program(reading, |text| {
        let aw::Parsed { program, diagnostics } = aw::parse_with(text, definitions);
        (program, diagnostics)
    })
}

/// Reads a Boolean program. One thread runs `main`; a number of threads bounds those that it starts.
fn read_bp(reading: Reading<'_>) -> Result<Loaded, LoadError> {
    let bp::Parsed { program, diagnostics } =
        bp::parse_watching(&reading.source.text, &reading.options.labels);
    let mut options = reading.options.clone();
    if let Some(program) = &program {
        let is_there = |name: &&String| program.labels.iter().any(|label| label.name == **name);
        if let Some(name) = options.labels.iter().find(|name| !is_there(name)) {
            let what = format!("the program has no label `{}`", name.escape_debug());
            return Err(LoadError::Unfit(what, "give one of its labels".to_string()));
        }
        options.threads = options.threads.of_started(program)?;
    }
    let reading = Reading { options: &options, ..reading };
    let mut loaded = read_program(reading, |_| (program, diagnostics))?;
    if let Model::Program(program) = &loaded.task.model
        && !options.deadlock
        && !options.no_property
        && !asks(program)
    {
        let nothing = "nothing was asked: the program has no assertion; --label NAME asks whether a label can be reached, \
                       and --deadlock for deadlocks";
        loaded.warnings.push(nothing.to_string());
    }
    Ok(loaded)
}

/// Whether a Boolean program can go wrong anywhere.
fn asks(program: &Program) -> bool {
    let mut edges = program.locations.iter().flat_map(|location| &location.edges);
    edges.any(|edge| matches!(edge.op, Op::Assert(_) | Op::Error | Op::NoResult))
}

fn read_program(
    reading: Reading<'_>,
    parse: impl FnOnce(&[u8]) -> (Option<Program>, Diagnostics),
) -> Result<Loaded, LoadError> {
    let Options { init, targets, threads, .. } = reading.options;
    reading.refuse(&[
        (init.is_some(), "--init is for .pds files", "the program says itself where it starts"),
        (!targets.is_empty(), "--target is for .pds files", "write `never EXPR;` into the program"),
        (reading.options.property.is_some(), "--property is for C programs", "leave out --property"),
    ])?;
    let (program, diagnostics) = parse(&reading.source.text);
    if let Some(program) = &program {
        threads.threads(program, 1)?;
    }
    let mut loaded = reading.loaded(program, diagnostics, |program| Model::Program(Arc::new(program)))?;
    if loaded.task.has_wide_values()
        && let Some(program) = loaded.task.program().and_then(|program| inline(program))
    {
        loaded.task.abstract_by(Abstraction::Formulas, program);
    }
    Ok(loaded)
}

/// How many places of a C program that are not followed are named.
const LEFT_OUT_SHOWN: usize = 3;

/// The text of a C program after the preprocessor, unless that has been there before, and where its parts come from.
fn preprocessed<'a>(
    path: &Path,
    own: &'a [u8],
    options: &Options,
) -> Result<(Cow<'a, [u8]>, LineMap), LoadError> {
    let as_it_is = match options.notation {
        Some("c") => has_been_preprocessed(own),
        Some(_) => true,
        None => is_preprocessed(path, own),
    };
    if as_it_is {
        return Ok((Cow::Borrowed(own), LineMap::identity(own)));
    }
    let comments = allways_c::annotations::are_there(own);
    let named = path.extension().is_some_and(|ending| ending == "c");
    let input = if named { Input::File(path) } else { Input::Text(own) };
    let text = preprocess_for(input, options.preprocessor.as_deref(), options.data_model, comments)
        .map_err(|error| LoadError::Unfit("the preprocessor fails".to_string(), error))?;
    let map = LineMap::of_source(&text, &input.name(), own);
    Ok((Cow::Owned(text), map))
}

/// A C program as it is lowered, before anything is joined or left out; nothing if it cannot be read.
pub(crate) fn unreduced_c(path: &Path, own: &[u8], options: &Options) -> Option<Lowered> {
    let (text, map) = preprocessed(path, own, options).ok()?;
    let property = options.property.unwrap_or_default();
    allways_c::read_unreduced(&text, &map, options.data_model, property).ok()
}

/// Reads a C program, with what is stated beside it, as [`load`] does; says what was not put into the program.
pub fn load_stated(
    path: &Path,
    options: &Options,
    stated: &Instrumentation,
    budget: &Budget,
) -> Result<(Loaded, Vec<Unplaced>), LoadError> {
    if !matches!(Notation::of(path, options).ending, "c" | "i") {
        return Err(LoadError::Unfit("witnesses are about C programs".to_string(), "give one".to_string()));
    }
    let source = read(path, budget)?;
    read_c_with(Reading { path, source, options, budget }, Some(stated))
}

/// Reads a C program; `.c` files through the preprocessor.
fn read_c(reading: Reading<'_>) -> Result<Loaded, LoadError> {
    Ok(read_c_with(reading, None)?.0)
}

fn read_c_with(
    reading: Reading<'_>,
    stated: Option<&Instrumentation>,
) -> Result<(Loaded, Vec<Unplaced>), LoadError> {
    let Options { init, targets, threads, data_model, strict, property, deadlock, .. } = reading.options;
    let mut property = property.unwrap_or_default();
    property.deadlocks |= deadlock;
    let sequentially_consistent = reading.options.sequentially_consistent;
    reading.refuse(&[
        (init.is_some(), "--init is for .pds files", "the program says itself where it starts"),
        (!targets.is_empty(), "--target is for .pds files", "write `assert` into the program"),
        (reading.options.stuck, "--stuck is for .aw and .bp files, not for C", "--deadlock is for C, too"),
    ])?;
    let (text, map) = preprocessed(reading.path, &reading.source.text, reading.options)?;
    let stated = stated.map(|stated| (stated, &reading.source.text[..]));
    let parsed = allways_c::read_with(&text, &map, *data_model, property, stated);
    drop((text, map));
    let mut diagnostics = Diagnostics::default();
    let (mut left_out, mut assumed) = (Vec::new(), Vec::new());
    let mut may_not_create = false;
    let mut allocates = None;
    let (mut weak, mut given, mut exact) = (None, None, None);
    let mut abstractions = Vec::new();
    let mut unplaced = Vec::new();
    let (program, externals, widened) = match parsed {
        Ok(lowered) => {
            left_out = lowered.left_out;
            may_not_create = lowered.may_not_create && lowered.main_may_exit;
            allocates = lowered.allocates;
            weak = lowered.weak;
            given = lowered.given_here;
            assumed = lowered.assumed;
            exact = lowered.exact;
            unplaced = lowered.unplaced;
            let of_kinds = [
                (Abstraction::Coarse, lowered.coarse),
                (Abstraction::Formulas, lowered.bounded),
                (Abstraction::Part, lowered.part),
                (Abstraction::Locks, lowered.locks),
            ];
            abstractions.extend(of_kinds.into_iter().filter_map(|(kind, program)| Some((kind, program?))));
            (Some(lowered.program), lowered.externals, lowered.widened)
        }
        Err(errors) => {
            for error in errors {
                let span = error.span.start as usize..error.span.end as usize;
                diagnostics.add(Severity::Error, span, || (error.message, None));
            }
            (None, BTreeSet::new(), Vec::new())
        }
    };
    if let Some(program) = &program {
        threads.threads(program, 1)?;
    }
    let mut loaded = reading.loaded(program, diagnostics, |program| Model::Program(Arc::new(program)))?;
    loaded.task.property.deadlock = property.deadlocks;
    if !externals.is_empty() {
        let names: Vec<String> = externals.iter().map(|name| format!("`{name}`")).collect();
        if *strict {
            let what = format!("no body is known of {}", names.join(", "));
            return Err(LoadError::Unfit(what, "give their bodies, or leave out --strict".to_string()));
        }
        loaded.warnings.push(format!(
            "assumed to have no effect and any result, since no body is known: {}",
            names.join(", ")
        ));
    }
    for (span, what) in assumed {
        loaded.warnings.push(format!("assumed in line {}: {what}", span.line));
    }
    left_out.sort_by_key(|(span, _)| span.start);
    left_out.dedup();
    for (span, why) in left_out.iter().take(LEFT_OUT_SHOWN) {
        loaded.warnings.push(format!("not followed beyond line {}: {why}", span.line));
    }
    if left_out.len() > LEFT_OUT_SHOWN {
        let more = left_out.len() - LEFT_OUT_SHOWN;
        loaded.warnings.push(format!("not followed beyond {more} more places"));
    }
    // Only what the program contains can widen it.
    loaded.task.widened = widened.first().map(|(span, why)| format!("line {}: {why}", span.line));
    if let Some(program) = exact {
        let model = Model::Program(Arc::new(program));
        loaded.task.exact = Some(Box::new(Task { model, widened: None, ..loaded.task.clone() }));
    }
    for (kind, program) in abstractions {
        loaded.task.abstract_by(kind, program);
    }
    if let Some((span, order)) = weak.filter(|_| !sequentially_consistent) {
        loaded.task.narrowed = Some(format!(
            "it is safe under sequential consistency, but line {} uses {order}, and weak memory is not modelled \
             (--memory-model sc takes it for the strong order)",
            span.line
        ));
    }
    if let Some(span) = given {
        loaded.task.narrowed = Some(format!(
            "of the pointers that the environment may give in line {}, only the null pointer and one to an object of its own are \
             followed",
            span.line
        ));
    }
    if let Some(span) = allocates.filter(|_| property.leaks) {
        loaded.task.narrowed = Some(format!(
            "line {} allocates memory, and memory that nothing points to any more (valid-memtrack) is only looked for when main returns",
            span.line
        ));
    }
    if property.cleanup && (allocates.is_some() || !externals.is_empty()) {
        loaded.task.narrowed =
            Some("memory that is not freed is not looked for at every end of the process".to_string());
    }
    if property.overflows {
        loaded.task.narrowed =
            Some("overflow of 64 bits, of constants and of quotients is not looked for".to_string());
    }
    if loaded.task.property.deadlock && may_not_create {
        let why = "a thread that is never created counts as one that waits".to_string();
        loaded.task.exact = None;
        loaded.task.widened.get_or_insert(why);
    }
    Ok((loaded, unplaced))
}

/// Reads rules without their initial state, which is arbitrary.
pub fn load_rules(path: &Path, budget: &Budget) -> Result<(Explicit, SourceDiagnostics), LoadError> {
    let source = read(path, budget)?;
    let pds::Parsed { system, diagnostics } = pds::parse(&source.text);
    let diagnostics = SourceDiagnostics { source, diagnostics };
    match system {
        Some(system) => Ok((system, diagnostics)),
        None => Err(LoadError::Faulty(Box::new(diagnostics))),
    }
}

fn read_rules(reading: Reading<'_>) -> Result<Loaded, LoadError> {
    let options = reading.options;
    let counts = !options.threads.is_empty();
    reading.refuse(&[
        (counts, "--threads is for programs", "this file lists its threads one by one"),
        (options.stuck, "--stuck is for programs", "--deadlock is for rules, too"),
    ])?;
    let pds::Parsed { system, diagnostics } = pds::parse(&reading.source.text);
    let Some(mut system) = system else { return reading.loaded(None, diagnostics, Model::Rules) };
    let missing = LoadError::NoInitialState { path: reading.path.to_path_buf() };
    let init = reading.beside("--init", options.init.clone(), "init")?.ok_or(missing)?;
    system.initial = pds::parse_init(&system, &init.text).map_err(|error| faulty(init, error))?;
    let mut bad = Vec::new();
    if !options.no_property {
        let given = options.targets.iter().map(|target| reading.beside("--target", Some(target.clone()), ""));
        let beside = options.targets.is_empty().then(|| reading.beside("", None, "spec"));
        for text in given.chain(beside) {
            let Some(text) = text? else { continue };
            bad.push(pds::parse_target(&system, &text.text).map_err(|error| faulty(text, error))?);
        }
    }
    let warnings = vacuous(&system, &bad);
    let mut loaded = reading.loaded(Some(system), diagnostics, |system| Model::Rules(Arc::new(system)))?;
    loaded.task.property.bad = bad;
    Ok(Loaded { warnings, ..loaded })
}

/// What of a property can never be seen, whatever the schedule, because a symbol that it names does not occur: most likely a
/// slip. In words.
fn vacuous(system: &Explicit, bad: &[Pattern]) -> Vec<String> {
    let mut slips = Vec::new();
    for pattern in bad {
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

/// Options that say nothing about counter systems.
fn refuse_for_counters(reading: &Reading<'_>) -> Result<(), LoadError> {
    let Options { threads, deadlock, stuck, .. } = reading.options;
    reading.refuse(&[
        (!threads.is_empty(), "--threads is not for .spec and .tts files", "leave out --threads"),
        (*deadlock, "--deadlock is not for .spec and .tts files", "leave out --deadlock"),
        (*stuck, "--stuck is not for .spec and .tts files", "leave out --stuck"),
    ])
}

fn read_spec(reading: Reading<'_>) -> Result<Loaded, LoadError> {
    let given = reading.options.init.is_some();
    reading.refuse(&[(given, "--init is not for .spec files", "the file has its own `init`")])?;
    refuse_for_counters(&reading)?;
    let spec::Parsed { mut system, diagnostics } = spec::parse(&reading.source.text);
    if let (Some(system), false) = (&mut system, reading.options.targets.is_empty()) {
        let text = reading.options.targets.join("\n").into_bytes();
        spec::read_targets(system, &text).map_err(|error| {
            faulty(Source { name: "--target".to_string(), text: Arc::new(text.clone()) }, error)
        })?;
    }
    reading.loaded(system, diagnostics, |system| Model::Counters(Arc::new(system)))
}

fn read_tts(reading: Reading<'_>) -> Result<Loaded, LoadError> {
    refuse_for_counters(&reading)?;
    let tts::Parsed { system, diagnostics } = tts::parse(&reading.source.text);
    let Some(mut tts) = system else { return reading.loaded(None, diagnostics, Model::Counters) };
    let mut warnings = Vec::new();
    match reading.beside("--init", reading.options.init.clone(), "init")? {
        Some(text) => tts.read_init(&text.text).map_err(|error| faulty(text, error))?,
        None => {
            let missing = match is_standard_input(reading.path) {
                true => "no --init is given".to_string(),
                false => format!("there is no {}", reading.path.with_extension("init").display()),
            };
            warnings.push(format!(
                "{missing}: any number of threads start in 0|0; for a single one, use --init '0|0'"
            ));
        }
    }
    let targets = &reading.options.targets;
    let given = (!targets.is_empty()).then(|| targets.join("\n"));
    if let Some(text) = reading.beside("--target", given, "prop")? {
        tts.read_targets(&text.text).map_err(|error| faulty(text, error))?;
    }
    let loaded = reading.loaded(Some(tts.system), diagnostics, |system| Model::Counters(Arc::new(system)))?;
    Ok(Loaded { warnings, ..loaded })
}

fn faulty(source: Source, error: Diagnostic) -> LoadError {
    let mut diagnostics = Diagnostics::default();
    diagnostics.add(error.severity, error.span, || (error.message, error.help));
    LoadError::Faulty(Box::new(SourceDiagnostics { source, diagnostics }))
}

/// The forms of a task; or why a program has none with the threads that it states.
pub(crate) fn forms<'a>(task: &'a Task, question: &Question, reach: bool) -> Result<Forms<'a>, LoadError> {
    let forms = if reach { Forms::reaching(task, question) } else { Forms::new(task, question) };
    if let Some(program) = task.program() {
        task.threads.threads(program, 1)?;
    }
    match forms.encoding() {
        Some(Err(error)) => Err(LoadError::no_encoding(&task.source, error)),
        Some(Ok(_)) | None => Ok(forms),
    }
}

/// Reads a file that need not be there.
fn read_if_there(path: &Path, budget: &Budget) -> Result<Option<Source>, LoadError> {
    match read(path, budget) {
        Err(LoadError::Unreadable { error, .. }) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        source => source.map(Some),
    }
}

/// Whether this stands for standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Reads a file, or standard input where the path is `-`, within the limits.
pub fn read(path: &Path, budget: &Budget) -> Result<Source, LoadError> {
    let unreadable = |error| LoadError::Unreadable { path: path.to_path_buf(), error };
    // The size is a hint: of a pipe or a device it is 0, and a file may grow while it is read.
    let (name, text, size): (_, Box<dyn Read>, u64) = if is_standard_input(path) {
        ("standard input".to_string(), Box::new(io::stdin().lock()), 0)
    } else {
        let file = File::open(path).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.is_dir() {
            return Err(unreadable(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        (path.display().to_string(), Box::new(file), metadata.len())
    };
    let size = size.min(LONGEST) as usize;
    budget.room_for(size)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size + 1).map_err(|error| unreadable(error.into()))?;
    let mut rest = text.take(LONGEST);
    loop {
        let part = rest.by_ref().take(CHUNK).read_to_end(&mut bytes).map_err(unreadable)?;
        if part == 0 {
            return Ok(Source { name, text: Arc::new(bytes) });
        }
        budget.check()?;
    }
}
