//! The delay-bounding scheduler as shuttle sees it: round robin (`round_robin.rs`), along a path (`walk.rs`), the paths
//! from the tree (`tree.rs`).
//!
//! Invariant: a failing execution panics out of shuttle and takes the scheduler value with it, so all state lives in a
//! `Session` that the caller shares. A schedule enters the tree when its execution has ended and followed its path; one
//! that failed, that was cut off, or that diverged ends the search or is counted apart. Before the search says that
//! nothing is left, it runs the schedule without delays again and compares: whatever the program has kept from one
//! execution to the next would show.

use crate::alloc;
use crate::crash;
use crate::fairness::Alone;
use crate::meeting::Meeting;
use crate::operation::Touches;
use crate::recording::Recording;
use crate::replay::Recipe;
use crate::round_robin::{Candidate, line_up};
use crate::tree::{Next, Path, Tree};
use crate::walk::Walk;
use crate::world::{Step, World};
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Random values that a program draws are the same in every execution.
const SEED: u64 = 0x616c_6c77_6179_7321;

/// What the search is told.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub delays: Option<usize>,
    pub schedules: Option<u64>,
    pub time: Option<Duration>,
    pub steps: usize,
    pub quantum: usize,
    pub spurious: bool,
    pub must_end: bool,
    pub stack: usize,
    /// Whether orders of independent operations are left out.
    pub reduce: bool,
    /// Whether memory is weak.
    pub weak: bool,
    /// How many schedules run at the same time.
    pub cores: usize,
    /// Where a search that was stopped goes on another time.
    pub resume: Option<std::path::PathBuf>,
}

/// Why no further execution was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exhausted,
    Delays,
    Schedules,
    Time,
    /// An execution did not end within the limit of steps.
    Unfinished,
    /// Tasks are left that wait for each other.
    Deadlock,
    /// The allocator has found an error when the execution had ended.
    Memory,
    /// An execution did not follow the recorded tree.
    Diverged,
    /// The one schedule that was asked for has run.
    Replayed,
    /// The schedules that were asked for have run.
    Listed,
    /// Not every operation says what it touches, although orders were left out.
    Foreign,
}

/// Where schedules come from.
#[derive(Debug)]
enum Source {
    Tree(Tree),
    Single(Option<Path>),
    /// Schedules that somebody else has asked for, and how many opportunities were left in those that have run.
    List(std::vec::IntoIter<Path>, Vec<u32>),
}

/// What the executions share, and the caller looks at afterwards.
#[derive(Debug)]
pub(crate) struct Session {
    pub settings: Settings,
    source: Source,
    started: Instant,
    /// What the schedule without delays looked like.
    first: Option<(u64, u32)>,
    /// The end that will be announced once the schedule without delays has been the same again.
    confirming: Option<End>,
    pub end: Option<End>,
    pub tally: Tally,
    pub recording: Option<Recording>,
    // The current execution.
    pub walk: Walk,
    executing: bool,
    steps: usize,
    cut: bool,
    current: Option<usize>,
    in_a_row: usize,
    alone: Alone,
    random: u64,
    line: Vec<Candidate>,
    /// Those who were delayed for the current step.
    skipped: Vec<usize>,
    pub meeting: Meeting,
    pub world: World,
    /// Whether orders are left out in this execution.
    reducing: bool,
    /// The rest of this execution is the same as one before, up to the order of independent operations.
    redundant: bool,
    /// Whose turn it is, apart from steps that touch nothing.
    turn: Option<usize>,
    /// Those who wait for each other, if nobody can go on.
    pub stuck: Vec<usize>,
    /// What the allocator has found.
    pub memory_error: Option<String>,
}

impl Tally {
    /// Adds what others have counted.
    pub fn add(&mut self, other: &Tally) {
        self.executions += other.executions;
        self.steps += other.steps;
        self.longest = self.longest.max(other.longest);
        self.tasks = self.tasks.max(other.tasks);
        self.unfinished += other.unfinished;
        self.random_values |= other.random_values;
        self.spurious_wake_ups |= other.spurious_wake_ups;
        self.redundant += other.redundant;
        self.reduced |= other.reduced;
        self.timeouts |= other.timeouts;
    }
}

/// Counts over all executions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub executions: u64,
    pub steps: u64,
    pub longest: usize,
    pub tasks: usize,
    pub unfinished: u64,
    pub random_values: bool,
    pub spurious_wake_ups: bool,
    /// Executions that turned out to be the same as others.
    pub redundant: u64,
    /// Whether an order was left out.
    pub reduced: bool,
    /// Whether something could time out.
    pub timeouts: bool,
}

impl Session {
    pub fn search(settings: Settings) -> Session {
        let tree = Tree::new(settings.delays);
        Session::new(settings, Source::Tree(tree), None)
    }

    /// Runs a single schedule, and takes notes.
    pub fn replay(settings: Settings, path: Path) -> Session {
        Session::new(settings, Source::Single(Some(path)), Some(Recording::default()))
    }

    fn new(settings: Settings, source: Source, recording: Option<Recording>) -> Session {
        Session {
            settings,
            source,
            started: Instant::now(),
            first: None,
            confirming: None,
            end: None,
            tally: Tally::default(),
            recording,
            walk: Walk::default(),
            executing: false,
            steps: 0,
            cut: false,
            current: None,
            in_a_row: 0,
            alone: Alone::default(),
            random: SEED,
            line: Vec::new(),
            skipped: Vec::new(),
            meeting: Meeting::default(),
            world: World::default(),
            reducing: false,
            redundant: false,
            turn: None,
            stuck: Vec::new(),
            memory_error: None,
        }
    }

    /// How many schedules with 0, 1, 2, … delays have run to their end.
    pub fn schedules(&self) -> Vec<u64> {
        match &self.source {
            Source::Tree(tree) => tree.schedules(),
            Source::Single(_) | Source::List(..) => Vec::new(),
        }
    }

    /// What the first schedule looked like.
    pub fn first(&self) -> Option<(u64, u32)> {
        self.first
    }

    /// Runs schedules that somebody else has asked for.
    pub fn list(settings: Settings, paths: Vec<Path>) -> Session {
        Session::new(settings, Source::List(paths.into_iter(), Vec::new()), None)
    }

    /// How many opportunities were left in each schedule of the list that has run.
    pub fn listed(&mut self) -> Vec<u32> {
        match &mut self.source {
            Source::List(_, left) => std::mem::take(left),
            _ => Vec::new(),
        }
    }

    /// The session stands for a search that others have run.
    pub fn adopt(&mut self, tree: Tree, tally: Tally) {
        self.source = Source::Tree(tree);
        self.tally = tally;
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether there were spurious wake-ups that the settings have left out.
    pub fn spurious_left_out(&self) -> bool {
        self.tally.spurious_wake_ups && !self.settings.spurious
    }

    /// Whether this is a schedule that has been run before, without a failure.
    pub fn confirming(&self) -> bool {
        self.confirming.is_some()
    }

    /// The task that ran last.
    pub fn current(&self) -> Option<usize> {
        self.current
    }

    /// The execution has ended, well or not.
    pub fn close(&mut self) {
        self.executing = false;
        let found = alloc::end();
        self.memory_error = self.memory_error.take().or(found);
        if self.confirming.is_some() {
            return;
        }
        self.tally.executions += 1;
        self.tally.steps += self.steps as u64;
        self.tally.longest = self.tally.longest.max(self.steps);
        self.tally.redundant += u64::from(self.redundant);
    }

    /// Ends the execution before, if any, and gives the path of the next, if any.
    fn advance(&mut self) -> Result<Path, End> {
        if self.executing {
            self.close();
            if !self.stuck.is_empty() {
                return Err(End::Deadlock);
            }
            if self.memory_error.is_some() {
                return Err(End::Memory);
            }
            if self.settings.reduce && self.world.foreign {
                self.without_reduction();
                match self.source {
                    Source::Tree(_) => return Ok(Path::new()),
                    Source::List(..) => return Err(End::Foreign),
                    Source::Single(_) => {}
                }
            }
            let changed = self.confirming.is_some() && self.first != Some(self.walk.fingerprint());
            if changed || !self.walk.followed() {
                return Err(End::Diverged);
            }
            if let Some(end) = self.confirming {
                return Err(end);
            }
            self.first.get_or_insert(self.walk.fingerprint());
            if self.cut {
                self.tally.unfinished += 1;
                if self.settings.must_end {
                    return Err(End::Unfinished);
                }
            }
            match &mut self.source {
                Source::Tree(tree) => tree.record(self.walk.left_over()),
                Source::List(_, left) => left.push(self.walk.left_over()),
                Source::Single(_) => {}
            }
        }
        let path = match &mut self.source {
            Source::Single(path) => path.take().ok_or(End::Replayed)?,
            Source::List(paths, _) => return paths.next().ok_or(End::Listed),
            Source::Tree(tree) => match tree.next(1) {
                Next::Run(mut paths) => paths.remove(0),
                end => {
                    self.confirming = Some(if end == Next::Exhausted { End::Exhausted } else { End::Delays });
                    return Ok(Path::new());
                }
            },
        };
        if self.settings.schedules.is_some_and(|limit| self.tally.executions >= limit) {
            return Err(End::Schedules);
        }
        // The first execution always takes place, so that there is something to report.
        if self.tally.executions > 0 && self.settings.time.is_some_and(|limit| self.started.elapsed() > limit)
        {
            return Err(End::Time);
        }
        Ok(path)
    }

    /// Not every operation says what it touches, so nothing can be left out: the search begins again.
    fn without_reduction(&mut self) {
        self.settings.reduce = false;
        if let Source::Tree(tree) = &mut self.source {
            *tree = Tree::new(self.settings.delays);
            assert_eq!(
                tree.next(1),
                Next::Run(vec![Path::new()]),
                "the first schedule is the one without delays"
            );
            self.tally = Tally { tasks: self.tally.tasks, ..Tally::default() };
            self.first = None;
            self.confirming = None;
            self.walk = Walk::default();
        }
    }

    fn start(&mut self, path: Path) {
        self.walk = Walk::new(path, &self.walk);
        self.executing = true;
        self.steps = 0;
        self.cut = false;
        self.current = None;
        self.in_a_row = 0;
        self.alone = Alone::default();
        self.random = SEED;
        self.meeting.new_execution();
        self.world.begin(self.settings.weak);
        self.reducing = self.settings.reduce;
        self.redundant = false;
        self.turn = None;
        crash::begins(&self.recipe());
        alloc::begin();
    }

    /// What determines the current schedule.
    pub fn recipe(&self) -> Recipe {
        Recipe {
            path: self.walk.path().to_vec(),
            quantum: self.settings.quantum,
            spurious: self.settings.spurious,
            reduce: self.settings.reduce && !self.world.foreign,
            weak: self.settings.weak,
        }
    }

    /// One of so many alternatives, none of which is another task: each but the first costs a delay.
    pub fn decide(&mut self, alternatives: usize) -> usize {
        if alternatives < 2 || self.redundant {
            return 0;
        }
        let chosen = self.walk.decide(alternatives);
        if let (Some(recording), true) = (&mut self.recording, chosen > 0) {
            recording.decided(chosen);
        }
        chosen
    }

    /// The state of the execution, and the choice among what its memory allows.
    pub fn memory(&mut self) -> (&mut World, impl FnMut(usize) -> usize) {
        let Session { walk, world, recording, redundant, .. } = self;
        let redundant = *redundant;
        (world, move |alternatives| {
            if alternatives < 2 || redundant {
                return 0;
            }
            let chosen = walk.decide(alternatives);
            if let (Some(recording), true) = (recording.as_mut(), chosen > 0) {
                recording.decided(chosen);
            }
            chosen
        })
    }

    /// What the operation of the current step saw.
    pub fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(recording) = &mut self.recording {
            recording.note(text());
        }
    }

    /// Who could take the next step, in order of creation. None if nobody can.
    fn candidates(&mut self, tasks: &[&Task]) -> bool {
        self.line.clear();
        let mut timed = false;
        let waits = self.alone.has_to_wait();
        for task in tasks {
            let id = usize::from(task.id());
            let step = if task.runnable() { self.world.can_step(id) } else { Step::WakesUp };
            self.tally.spurious_wake_ups |= step == Step::WakesUp;
            timed |= step == Step::TimesOut;
            if step != Step::Never && (step != Step::WakesUp || self.settings.spurious) {
                self.line.push(Candidate { task: id, runnable: step == Step::Now });
            }
        }
        self.tally.timeouts |= timed;
        let others = |line: &[Candidate]| line.iter().any(|one| one.runnable && Some(one.task) != waits);
        if timed && !others(&self.line) {
            // Nobody else gets anywhere: time passes.
            for one in &mut self.line {
                one.runnable |= self.world.can_step(one.task) == Step::TimesOut;
            }
        }
        if waits.is_some() && others(&self.line) {
            self.line.retain(|one| Some(one.task) != waits);
        }
        self.line.iter().any(|one| one.runnable)
    }

    fn choose(&mut self, tasks: &[&Task], current: Option<TaskId>, yielding: bool) -> Option<TaskId> {
        if self.steps >= self.settings.steps {
            self.cut = true;
            return None;
        }
        self.steps += 1;
        let current = current.map(usize::from);
        let mut yielding = yielding;
        if let Some(current) = current {
            self.world.arrive(current);
            yielding |= self.world.task(current).operation.yields && !self.world.task(current).ended;
        }
        if self.world.foreign && self.reducing {
            self.reducing = false;
            self.redundant = true;
        }
        let turn = if self.reducing { self.turn } else { current };
        if let (Some(current), true) = (current, yielding && !self.reducing) {
            self.alone.steps(current);
            self.alone.has_yielded();
        }
        let to_the_end = (yielding && turn == current) || self.in_a_row >= self.settings.quantum;
        if !self.candidates(tasks) {
            self.stuck = tasks.iter().map(|task| usize::from(task.id())).collect();
            return None;
        }
        line_up(&mut self.line, turn, to_the_end);
        self.skipped.clear();
        let chosen = match self.free_step() {
            Some(free) => free,
            None => self.decide_step(turn, to_the_end),
        };
        let chosen = self.line[chosen];
        if let Some(recording) = &mut self.recording {
            recording.point(tasks, current, chosen, self.skipped.clone());
        }
        let known = tasks.last().map_or(0, |task| usize::from(task.id()) + 1);
        let several = self.line.iter().filter(|candidate| candidate.runnable).count() > 1;
        // Who starts a thread or waits for its end meets nobody.
        let touches = current.is_some_and(|task| self.world.task(task).operation.touches != Touches::Nothing);
        self.meeting.point(known, current, several && touches, chosen.task);
        self.current = Some(chosen.task);
        self.world.current = chosen.task;
        self.world.task(chosen.task);
        self.tally.tasks = self.tally.tasks.max(chosen.task + 1);
        Some(TaskId::from(chosen.task))
    }

    /// A step that touches nothing that others could touch: there is no need to try anything else first.
    fn free_step(&mut self) -> Option<usize> {
        if !self.reducing {
            return None;
        }
        let world = &mut self.world;
        let free = self.line.iter().position(|candidate| {
            candidate.runnable && world.task(candidate.task).operation.touches == Touches::Nothing
        })?;
        self.walk.mix(self.line[free].task as u64);
        self.tally.reduced |= self.line.len() > 1;
        Some(free)
    }

    /// The position in the line of the one who goes on; all before are delayed.
    fn any(&mut self, to_the_end: bool) -> usize {
        if self.redundant {
            return 0;
        }
        let position = self.walk.choose(&self.line, to_the_end);
        self.skipped.extend(self.line[..position].iter().map(|candidate| candidate.task));
        position
    }

    /// The same among those who are not left out here. If all are, the rest of the execution is one that was run before.
    fn awake(&mut self, to_the_end: bool) -> usize {
        let world = &mut self.world;
        let awake: Vec<Candidate> =
            self.line.iter().copied().filter(|candidate| !world.task(candidate.task).asleep).collect();
        self.tally.reduced |= awake.len() < self.line.len();
        if self.redundant || awake.is_empty() {
            self.redundant = true;
            return 0;
        }
        let chosen = self.walk.choose(&awake, to_the_end);
        self.skipped.extend(awake[..chosen].iter().map(|candidate| candidate.task));
        self.line.iter().position(|candidate| *candidate == awake[chosen]).unwrap_or(0)
    }

    /// The position in the line of the task that takes the next step.
    fn decide_step(&mut self, turn: Option<usize>, to_the_end: bool) -> usize {
        let position = if self.reducing { self.awake(to_the_end) } else { self.any(to_the_end) };
        let chosen = self.line[position].task;
        if self.reducing {
            for &skipped in &self.skipped {
                self.world.task(skipped).asleep = true;
            }
            self.world.wake_dependent(chosen);
        }
        if self.world.meets(chosen) {
            self.meeting.shared();
        }
        self.in_a_row = match self.line.len() {
            1 => 0, // Alone, a task uses up nothing: there is nobody to wait for.
            _ if Some(chosen) == turn && !to_the_end => self.in_a_row + 1,
            _ => 1,
        };
        // To start, and to wait for who has ended, changes nothing for those who wait.
        if self.world.task(chosen).operation.touches != Touches::Nothing || self.world.foreign {
            self.alone.steps(chosen);
        }
        if self.reducing && self.world.task(chosen).operation.yields {
            self.alone.has_yielded();
        }
        self.turn = Some(chosen);
        position
    }
}

/// Shuttle's scheduler: a handle to the session.
#[derive(Debug)]
pub(crate) struct DelayScheduler(pub Rc<RefCell<Session>>);

impl Scheduler for DelayScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        let mut session = self.0.borrow_mut();
        match alloc::aside(|| session.advance()) {
            Ok(path) => {
                session.start(path);
                Some(Schedule::new(SEED))
            }
            Err(end) => {
                session.end = Some(end);
                None
            }
        }
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yielding: bool) -> Option<TaskId> {
        alloc::aside(|| self.0.borrow_mut().choose(tasks, current, yielding))
    }

    fn next_u64(&mut self) -> u64 {
        let mut session = self.0.borrow_mut();
        session.tally.random_values = true;
        session.walk.mix(0);
        // SplitMix64 (Steele, Lea, Flood, 2014).
        session.random = session.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = session.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests;
