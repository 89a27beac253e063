//! What can be said on the command line.

use super::Failure;
use super::session::Limits;
#[cfg(feature = "serve")]
use super::session::{read_bytes, read_duration};
use crate::load::{NOTATIONS, Notation, Options};
use allways_c::property::Property;
use allways_c::typed::DataModel;
use allways_engines::below::schedules::engine::Scheduler;
use allways_engines::{Engine, Engines, Question};
use allways_lang::aw::Definition;
use allways_model::threads::Counts;
use allways_smt::Settings;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
#[cfg(feature = "serve")]
use std::time::Duration;

const CODES: &str = "\
Exit codes:
  0    safe; for reach: the visible states are all there are, or all within the bounds asked for
  10   unsafe
  5    unknown: time, memory, a bound, or the method gave up; the output says which
  2    the arguments make no sense, or a file cannot be read, understood or written
  70   a bug
  130  interrupted; the output says what was known";

const STATED: &str = "\
What a program states, in comments at the start of a line:
  //! verdict: safe                            of `allways check FILE`: safe, unsafe or unknown
  //! options: --data-model ilp32              with these options
  //! threads: 3                               with --threads 3
  //! property: deadlock                       with --deadlock; likewise stuck
  //! violation: assert                        if it is unsafe, what is violated (the key `violation` of --json)
  //! switches: 2                              and how many context switches the trace has
  //! solver: needed                           a proof needs an SMT solver
  //! run: --threads 2 -D N=3 => unsafe        another run, with options of its own

Exit codes: 0 if everything is as stated, 1 if something is otherwise, 2 if a file cannot be read.";

/// What to do about a statement that is none.
pub const STATEMENTS: &str = "`allways test --help` shows what a program can state";

const EXAMPLES: &str = "\
Examples:
  allways new lock                             a commented program to start from
  allways check lock.aw                        its assertions and properties
  allways check lock.aw --threads 3            with three threads
  allways check lock.aw --deadlock             and for deadlocks
  allways check lock.aw --stuck                and for threads that are stuck while others run on
  allways check lock.pds                       the state in lock.spec must never be seen
  allways check lock.pds --target '*|2,2'      nor must both threads be at 2, whatever is shared
  allways check lock.pds --deadlock            nor may the threads wait for each other for ever
  allways check *.pds --timeout 60s --json     one object per line
  allways reach lock.pds --states              every visible state, and a proof that there are no others
  allways reach lock.pds --rounds 3 --delays 2 exactly those within these bounds
  allways check - < lock.aw                    a program on standard input
  allways test locks/                          are all programs of a folder as their comments say?
  allways check lock.aw --html lock.html       a page that shows the interleaving, or the proof
  allways check lock.pds --evidence proof      writes down why
  allways certify lock.pds proof               and checks it again, independently";

/// Can this concurrent program go wrong under any schedule? A trace, or a proof.
///
/// Every answer comes with evidence that an independent checker has accepted: a run that ends in a bad state, or an
/// invariant that contains every reachable state and no bad one.
#[derive(Parser, Debug)]
#[command(name = "allways", version, after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{CODES}"))]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,

    /// Verdicts and errors only: no details, warnings or progress.
    #[arg(long, short, global = true, display_order = 100)]
    pub quiet: bool,

    /// Say on standard error which engine runs when, for how long, and why it gives up.
    #[arg(long, short, global = true, display_order = 100, conflicts_with = "quiet")]
    pub verbose: bool,

    /// When to use colours: auto (a terminal, and NO_COLOR is not set), always or never.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = true)]
    #[arg(display_order = 101)]
    pub color: Color,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Can a bad state be reached? Verdict and evidence for each file.
    Check(Check),
    /// Which visible states can be reached? All of them, or those within a bound.
    Reach(Reach),
    /// Check by several processes on this machine, as on several machines.
    Cluster(ClusterRun),
    /// Accept or reject evidence, by the independent checker.
    Certify(Certify),
    /// Check a trace and step through it; on a terminal, Enter goes on and q ends.
    Replay(Replay),
    /// Check programs against the verdicts that they state of themselves.
    Test(Test),
    /// A page on this machine with an editor, examples and pictures; until Ctrl-C.
    #[cfg(feature = "serve")]
    Serve(Serve),
    /// A language server for programs in the .aw language, on standard input and output: what editors start.
    #[cfg(feature = "lsp")]
    Lsp,
    /// Write a system in another notation.
    Convert(Convert),
    /// Format programs in the .aw language, in place.
    Fmt(Fmt),
    /// What each engine does.
    Engines,
    /// Draw the reachable states of a program, abstract ones, or its control flow, as SVG or DOT.
    Graph(Graph),
    /// Write a commented program to start from.
    New(New),
    /// Print the completions of a shell.
    Completions(Completions),
    /// Print the manual page, or write those of all commands to a folder.
    Man(Man),
}

#[derive(Args, Debug)]
#[command(after_help = CODES)]
pub struct Check {
    /// Programs (.aw or .bp, or C in .c or .i; - is standard input, in the .aw language unless --notation says otherwise), or task definitions of SV-COMP (.yml), or rules (.pds, with FILE.init and FILE.spec beside for where they start and what they must
    /// avoid), or counter systems (.spec of mist; .tts, with FILE.prop and FILE.init).
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub targets: Targets,
    /// Where thread-modular sets do not prove it, show the first spurious state.
    #[arg(long)]
    pub explain: bool,
    /// Of a C program: write a witness for other validators here, in GraphML if the name ends in .graphml, else in YAML.
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,
    /// Write a page here that shows the answer: the interleaving step by step, or what was proved; it needs no other file.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write what was found in all files here, as SARIF 2.1.0: for code scanning.
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Write a test report here, in the XML of JUnit: each file is a test case.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// How much of a trace is shown: `short` leaves out variables that do not matter and steps inside of atomic sections
    /// without effects, `full` nothing; `json` prints it as JSON, alone on standard output.
    #[arg(long, value_name = "HOW", default_value = "short", conflicts_with_all = ["story", "json"])]
    #[arg(hide_default_value = true)]
    pub trace: TraceForm,
    /// Check again whenever a file changes, until Ctrl-C.
    #[arg(long)]
    pub watch: bool,
    /// Print all that a page shows, as JSON: what `serve` asks for.
    #[arg(long, hide = true, conflicts_with = "json")]
    pub story: bool,
    /// The process that asks for the story: when it has ended, nobody waits for it.
    #[arg(long, hide = true, requires = "story", value_name = "PROCESS")]
    pub asked_by: Option<i32>,
    /// Of a program with tasks: run them in the order of this scheduler, with at most --delays deviations from it: bag,
    /// bounded-bag=K, round-robin, depth-first or reverse-depth-first.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["engine", "rounds", "contexts", "max_states", "max_depth"])]
    #[arg(conflicts_with_all = ["window", "no_symmetry", "published_bound", "no_frontier", "threads", "states", "deadlock", "stuck"])]
    pub scheduler: Option<Scheduler>,
    #[command(flatten)]
    pub smt: Smt,
    #[command(flatten)]
    pub search: Search,
    #[command(flatten)]
    pub workers: Workers,
}

/// Many workers, for finite systems that are too large for one.
#[derive(Args, Debug)]
#[command(next_help_heading = "Many workers")]
pub struct Workers {
    /// Explore by N workers, each a thread that holds its share of the states; of a program, with --threads.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), conflicts_with = "engine")]
    pub workers: Option<u16>,
    /// Explore by several processes, each of which is started with the same command on its machine: a file with a line
    /// HOST:PORT for each.
    #[arg(long, value_name = "FILE", requires = "process", conflicts_with = "engine")]
    pub hosts: Option<PathBuf>,
    /// Which of the hosts this process is, counted from 0.
    #[arg(long, value_name = "I", requires = "hosts")]
    pub process: Option<usize>,
    /// After each level of the search, write down here what was found.
    #[arg(long, value_name = "DIR", conflicts_with = "engine")]
    pub checkpoint: Option<PathBuf>,
    /// Go on from what an earlier run wrote down here; the number of workers may be another.
    #[arg(long, value_name = "DIR", conflicts_with = "engine")]
    pub resume: Option<PathBuf>,
    /// Put states for which --memory leaves no room on disk, in this folder, while the search and its check run.
    #[arg(long, value_name = "DIR", conflicts_with = "engine")]
    pub spill: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(after_help = CODES)]
pub struct ClusterRun {
    /// How many processes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub processes: u16,
    #[command(flatten)]
    pub check: Check,
}

#[derive(Args, Debug)]
#[command(after_help = CODES)]
pub struct Reach {
    /// A program (.aw or .bp, or C in .c or .i), or rules (.pds, with FILE.init beside for where they start).
    pub file: PathBuf,
    /// List the visible states.
    #[arg(long)]
    pub states: bool,
    /// Taken in order to say where it belongs.
    #[arg(long, hide = true, value_name = "STATE")]
    pub target: Vec<String>,
    #[command(flatten)]
    pub search: Search,
}

#[derive(Args, Debug)]
pub struct Certify {
    /// The system.
    pub file: PathBuf,
    /// The evidence, as --evidence writes it; or, of a C program, a witness of any tool (.yml), of a violation or of correctness.
    pub evidence: PathBuf,
    #[command(flatten)]
    pub start: Start,
    #[command(flatten)]
    pub targets: Targets,
    /// Nothing is to be avoided, whatever FILE.spec says: for evidence that reach wrote.
    #[arg(long, conflicts_with_all = ["states", "deadlock", "stuck"])]
    pub no_target: bool,
    #[command(flatten)]
    pub smt: Smt,
    /// Check shards, which --workers wrote, by N workers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: Option<u16>,
    /// Of --workers: put states for which --memory leaves no room on disk, in this folder, while they are checked.
    #[arg(long, value_name = "DIR", requires = "workers")]
    pub spill: Option<PathBuf>,
    #[command(flatten)]
    pub limits: Limits,
    /// Print one JSON object instead.
    #[arg(long)]
    pub json: bool,
}

/// How much of a trace is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum TraceForm {
    /// What matters.
    #[default]
    Short,
    /// All variables at the start, and all steps inside of atomic sections.
    Full,
    /// All of it, as JSON.
    Json,
}

#[derive(Args, Debug)]
pub struct Replay {
    /// The system.
    pub file: PathBuf,
    /// The trace, as --evidence writes it.
    pub trace: PathBuf,
    /// Of a C program: compile it with gcc and run it, in the order and with the values of the trace, to see the error
    /// outside of allways.
    #[arg(long)]
    pub native: bool,
    /// With --native: leave the compiled program and its schedule in this folder, to run it again (or under gdb).
    #[arg(long, value_name = "FOLDER", requires = "native")]
    pub keep: Option<PathBuf>,
    /// How much of the trace is shown: `short`, `full`, or `json`, alone on standard output.
    #[arg(long = "trace", value_name = "HOW", default_value = "short", conflicts_with = "native")]
    #[arg(hide_default_value = true)]
    pub form: TraceForm,
    #[command(flatten)]
    pub start: Start,
    #[command(flatten)]
    pub targets: Targets,
}

#[derive(Args, Debug)]
#[command(after_help = STATED)]
pub struct Test {
    /// Programs (.aw, .bp, .c or .i), or folders, in which all programs are taken that state something.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    #[command(flatten)]
    pub limits: Limits,
    /// Print one JSON object for each run instead.
    #[arg(long)]
    pub json: bool,
}

#[cfg(feature = "serve")]
#[derive(Args, Debug)]
pub struct Serve {
    /// The port of localhost; 0 takes one that is free.
    #[arg(long, value_name = "PORT", default_value_t = 8017)]
    pub port: u16,
    /// Stop a check after this long, such as 60s, 500ms, 2m or 1h.
    #[arg(long, value_name = "TIME", value_parser = read_duration, default_value = "30s")]
    pub timeout: Duration,
    /// Stop a check when this much memory is resident, such as 4G or 500M.
    #[arg(long, value_name = "SIZE", value_parser = read_bytes, default_value = "1G")]
    pub memory: usize,
}

#[derive(Args, Debug)]
pub struct Convert {
    /// The system.
    pub file: PathBuf,
    /// The notation to write.
    #[arg(long, value_name = "FORMAT")]
    pub to: Format,
    /// Of a program with tasks: the sequential program that does what its tasks do in depth-first order with at most K
    /// delays.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(..=64))]
    pub sequentialize: Option<u32>,
    /// Where to write it; standard output if not given. Beside a .pds file, .init and .spec are written as well.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Of a program, how many threads; see check.
    #[arg(long, value_name = "COUNTS")]
    pub threads: Option<Counts>,
    /// Of a program in the .aw language: give a constant another value; see check.
    #[arg(long = "define", short = 'D', value_name = "NAME=VALUE", value_parser = definition)]
    pub definitions: Vec<(String, Definition)>,
    #[command(flatten)]
    pub limits: Limits,
}

#[derive(Args, Debug)]
pub struct Graph {
    /// A program (.aw or .bp, or C in .c or .i), or rules (.pds).
    pub file: PathBuf,
    /// What is drawn: states, abstract states, or the control flow.
    #[arg(long, value_name = "WHAT", default_value = "states")]
    pub of: Shown,
    /// How; if not given, SVG if the name of the output ends in .svg, else DOT.
    #[arg(long, value_name = "FORMAT")]
    pub to: Option<Picture>,
    /// Where to write it; standard output if not given.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// So many boxes at most: more states than this are drawn together where they have the same shared state, and what is still too
    /// much becomes one box.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=5000))]
    pub max_states: usize,
    /// Also mark deadlocks.
    #[arg(long)]
    pub deadlock: bool,
    /// Of a program, how many threads; see check.
    #[arg(long, value_name = "COUNTS")]
    pub threads: Option<Counts>,
    /// Of a program in the .aw language: give a constant another value; see check.
    #[arg(long = "define", short = 'D', value_name = "NAME=VALUE", value_parser = definition)]
    pub definitions: Vec<(String, Definition)>,
    #[command(flatten)]
    pub limits: Limits,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// The reachable states.
    States,
    /// The shared state with the top of each stack: finite even if stacks grow without bound, and with states, perhaps, that
    /// cannot be reached.
    Abstract,
    /// The control flow of each procedure.
    Control,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Picture {
    /// The language of Graphviz.
    Dot,
    /// A picture.
    Svg,
}

#[derive(Args, Debug)]
pub struct New {
    /// Where: NAME.aw, which must not be there yet.
    pub name: PathBuf,
}

#[derive(Args, Debug)]
pub struct Completions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

#[derive(Args, Debug)]
pub struct Man {
    /// The folder, such as ~/.local/share/man/man1.
    pub folder: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub struct Fmt {
    /// Programs in the .aw language; - is standard input, written to standard output.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Change nothing; exit with 1 if a file is not formatted.
    #[arg(long)]
    pub check: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// The language of this tool.
    Aw,
    /// Boolean programs.
    Bp,
    /// C with `__CPROVER_assume` and `__CPROVER_assert`, of a program with one thread.
    C,
    /// Boogie, of a program with one thread.
    Boogie,
    /// Concurrent pushdown systems, the format of the CUBA tool.
    Pds,
    /// Petri nets and broadcast protocols, the format of the mist tool.
    Spec,
    /// Thread transition systems.
    Tts,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Args, Debug)]
pub struct Start {
    /// The notation: aw, bp, pds, spec, tts, c or i; if not given, the name of the file tells, and standard input is in the .aw
    /// language.
    #[arg(long, value_name = "NAME", value_parser = notation)]
    pub notation: Option<&'static str>,
    /// The initial state, such as '0|1.4,2'; wins over FILE.init.
    #[arg(long, value_name = "STATE")]
    pub init: Option<String>,
    /// How many threads of a program: 3, or adder=2,stopper=1. Of threads that the program starts itself, at most so many; *
    /// is any number.
    #[arg(long, value_name = "COUNTS")]
    pub threads: Option<Counts>,
    /// Of a program in the .aw language: give a constant another value, such as -D N=5; may be repeated.
    #[arg(long = "define", short = 'D', value_name = "NAME=VALUE", value_parser = definition)]
    pub definitions: Vec<(String, Definition)>,
    /// Keep variables of a program where they cannot matter, as a comparison.
    #[arg(long)]
    pub unreduced: bool,
    /// Of a C program: the sizes of its types [default: lp64].
    #[arg(long, value_name = "MODEL")]
    pub data_model: Option<Sizes>,
    /// The command that preprocesses .c files [default: cc -E].
    #[arg(long, value_name = "COMMAND")]
    pub cpp: Option<String>,
    /// Of a C program: where a function has no body, refuse it instead of assuming that it does nothing and returns anything.
    #[arg(long)]
    pub strict: bool,
    /// Of a C program: take atomic operations with weaker memory orders for sequentially consistent ones. Without it, such a
    /// program is never called safe.
    #[arg(long, value_name = "MODEL")]
    pub memory_model: Option<MemoryModel>,
    /// Of a C program: what must not happen, instead of assertions that fail and accesses to memory that is not there. The
    /// name of a property, or a property file of SV-COMP; may be repeated.
    #[arg(long = "property", value_name = "PROPERTY", value_parser = property)]
    pub properties: Vec<Property>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryModel {
    /// Sequential consistency.
    Sc,
}

/// A notation, by the ending of its files.
fn notation(text: &str) -> Result<&'static str, String> {
    let endings = || NOTATIONS.iter().map(|notation| notation.ending).collect::<Vec<&str>>().join(", ");
    Notation::named(text).map(|notation| notation.ending).ok_or_else(|| format!("known are {}", endings()))
}

/// A constant and its value.
fn definition(text: &str) -> Result<(String, Definition), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, such as N=5")?;
    let value = value.parse().map_err(|()| format!("expected a number, true or false, found {value:?}"))?;
    Ok((name.to_string(), value))
}

/// The property of a name, or the one that a file states.
fn property(text: &str) -> Result<Property, String> {
    if let Some(property) = Property::named(text) {
        return Ok(property);
    }
    let names = Property::NAMES.join(", ");
    if let Some(why) = Property::unchecked(text) {
        return Err(format!("{why}; known are {names}"));
    }
    let stated = std::fs::read_to_string(text)
        .map_err(|error| format!("neither one of {names} nor a file that can be read ({error})"))?;
    Property::of_file(&stated)
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sizes {
    /// `int`, `long` and pointers of 32 bits.
    Ilp32,
    /// `long` and pointers of 64 bits.
    Lp64,
}

impl Start {
    /// How to read the file.
    pub fn options(&self) -> Options {
        Options {
            notation: self.notation,
            init: self.init.clone(),
            threads: self.threads.clone().unwrap_or_default(),
            definitions: self.definitions.iter().cloned().collect(),
            data_model: match self.data_model {
                Some(Sizes::Ilp32) => DataModel::Ilp32,
                Some(Sizes::Lp64) | None => DataModel::Lp64,
            },
            preprocessor: self
                .cpp
                .as_ref()
                .map(|command| command.split_whitespace().map(str::to_string).collect()),
            strict: self.strict,
            property: self.properties.iter().copied().reduce(Property::and),
            sequentially_consistent: self.memory_model == Some(MemoryModel::Sc),
            ..Options::default()
        }
    }
}

#[derive(Args, Debug)]
pub struct Targets {
    /// A visible state to avoid, such as '*|2,2' (* is anything); may be repeated; wins over FILE.spec.
    #[arg(long = "target", value_name = "STATE")]
    pub states: Vec<String>,
    /// Of a Boolean program (.bp): a label that no thread must reach; may be repeated.
    #[arg(long = "label", value_name = "NAME")]
    pub labels: Vec<String>,
    /// Also check for deadlocks: all threads stuck before all have ended; with stacks, before all stacks are empty.
    #[arg(long)]
    pub deadlock: bool,
    /// Also look for threads that are stuck for ever although others run on; of a program with a fixed number of threads and
    /// finitely many states.
    #[arg(long)]
    pub stuck: bool,
}

/// How to search, and what to say about it.
#[derive(Args, Debug)]
pub struct Search {
    /// Which engine answers; `allways engines` says what each does [default: auto].
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
    #[command(flatten)]
    pub start: Start,
    /// Explore at most R rounds of round-robin scheduling (engine rounds-delays).
    #[arg(long, value_name = "R", requires = "delays", conflicts_with_all = ["max_states", "max_depth", "no_frontier"])]
    pub rounds: Option<u32>,
    /// Explore at most D delays of a thread (engine rounds-delays), or of a task (--scheduler).
    #[arg(long, value_name = "D")]
    pub delays: Option<u32>,
    /// Explore at most K contexts (engine contexts).
    #[arg(long, value_name = "K", conflicts_with_all = ["rounds", "max_states", "max_depth", "no_frontier"])]
    pub contexts: Option<u32>,
    /// Store at most N states (engine free).
    #[arg(long, value_name = "N", conflicts_with = "no_frontier")]
    pub max_states: Option<usize>,
    /// Leave out states with a stack of more than N symbols (engine free).
    #[arg(long, value_name = "N", conflicts_with = "no_frontier")]
    pub max_depth: Option<usize>,
    /// Keep at least N symbols of each stack when bounding from above (engines auto, sandwich, tops and cuba's).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub window: Option<u32>,
    /// Treat threads with the same rules and the same start as different ones.
    #[arg(long)]
    pub no_symmetry: bool,
    /// Use the coarser bound of the CUBA paper, as a comparison (cuba's engines).
    #[arg(long)]
    pub published_bound: bool,
    /// Compute each set from scratch, as a comparison (engines druba and ai).
    #[arg(long)]
    pub no_frontier: bool,
    #[command(flatten)]
    pub limits: Limits,
    /// Write the evidence here, once the checker has accepted it.
    #[arg(long, value_name = "FILE")]
    pub evidence: Option<PathBuf>,
    /// Print one JSON object instead; of several files, one per line.
    #[arg(long)]
    pub json: bool,
    /// Print the walk through the grid of bounds, and what the search took.
    #[arg(long)]
    pub stats: bool,
}

impl Search {
    /// The engine that is asked for, or that fits the bounds that are.
    pub fn engine(&self, engines: &Engines, question: &Question) -> Result<&'static dyn Engine, Failure> {
        if self.delays.is_some() && self.rounds.is_none() && question.scheduler.is_none() {
            let help =
                "give --rounds R; or, for a program with tasks, check it with --scheduler NAME".to_string();
            return Err(Failure::Usage("--delays requires --rounds".to_string(), help));
        }
        Ok(engines.choose(self.engine.as_deref(), question)?)
    }

    /// Bounds, and how to go about it.
    pub fn question(&self, smt: &Smt, scheduler: Option<Scheduler>) -> Question {
        Question {
            rounds: self.rounds,
            delays: self.delays,
            contexts: self.contexts,
            max_states: self.max_states,
            max_depth: self.max_depth,
            no_frontier: self.no_frontier,
            // Who asks for a number or a set of states means states, not orbits of them.
            no_symmetry: self.no_symmetry || self.max_states.is_some() || self.max_depth.is_some(),
            window: self.window.map(|window| window as usize),
            published_bound: self.published_bound,
            unreduced: self.start.unreduced,
            scheduler,
            observe: self.stats && self.engine.is_some(),
            solver: smt.settings(),
            smt_dump: smt.smt_dump.clone(),
            ..Question::default()
        }
    }
}

/// The solver, for programs with integers.
#[derive(Args, Debug, Default)]
pub struct Smt {
    /// The command of the SMT solver, for programs with integers; if not given, ALLWAYS_SOLVER, else z3.
    #[arg(long, value_name = "COMMAND")]
    pub solver: Option<String>,
    /// Write every query on which a proof by views rests to this folder, as SMT-LIB 2.
    #[arg(long, value_name = "DIR")]
    pub smt_dump: Option<PathBuf>,
}

impl Smt {
    /// The solver, if one is named.
    pub fn settings(&self) -> Option<Settings> {
        let named = self.solver.clone().filter(|command| !command.trim().is_empty());
        named.map(|command| Settings { command, ..Settings::usual() })
    }
}
