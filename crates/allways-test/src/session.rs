//! The executions of a search, one after the other: which path is next, and what comes of an execution that has ended.
//!
//! Invariant: a failing execution panics out of shuttle and takes the scheduler value with it, so all state lives in a
//! `Session` that the caller shares. A schedule enters the tree when its execution has ended and followed its path; one
//! that failed, that was cut off, or that diverged ends the search or is counted apart. Before the search says that
//! nothing is left, it runs the schedule without delays again and compares: whatever the program has kept from one
//! execution to the next would show.

use crate::alloc;
use crate::crash;
use crate::execution::Execution;
use crate::parallel::Share;
use crate::recording::Recording;
use crate::replay::Recipe;
use crate::settings::{End, Settings, Tally};
use crate::tree::{Next, Path, Tree};
use std::time::Instant;

/// Where schedules come from.
#[derive(Debug)]
enum Source {
    Tree(Tree),
    Single(Option<Path>),
    /// A search on several cores hands them out.
    Share(Share),
    /// A scheduler of shuttle makes them.
    Guide,
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
    /// Whether an execution has begun that was not closed.
    executing: bool,
    pub execution: Execution,
    /// What the allocator has found.
    pub memory_error: Option<String>,
}

impl Session {
    pub fn search(settings: Settings) -> Session {
        let tree = Tree::new(settings.delays);
        Session::new(settings, Source::Tree(tree))
    }

    /// Runs a single schedule.
    pub fn single(settings: Settings, path: Path) -> Session {
        Session::new(settings, Source::Single(Some(path)))
    }

    /// Runs a single schedule, and takes notes.
    pub fn replay(settings: Settings, path: Path) -> Session {
        let mut session = Session::single(settings, path);
        session.execution.recording = Some(Recording::default());
        session
    }

    /// Runs schedules that are handed out.
    pub fn share(settings: Settings, share: Share) -> Session {
        Session::new(settings, Source::Share(share))
    }

    /// Runs schedules that a scheduler of shuttle makes.
    pub fn guided(settings: Settings) -> Session {
        let mut session = Session::new(settings, Source::Guide);
        session.execution.is_guided();
        session
    }

    fn new(settings: Settings, source: Source) -> Session {
        Session {
            settings,
            source,
            started: Instant::now(),
            first: None,
            confirming: None,
            end: None,
            tally: Tally::default(),
            executing: false,
            execution: Execution::default(),
            memory_error: None,
        }
    }

    /// How many schedules with 0, 1, 2, … delays have run to their end.
    pub fn schedules(&self) -> Vec<u64> {
        match &self.source {
            Source::Tree(tree) => tree.schedules(),
            _ => Vec::new(),
        }
    }

    /// What the first schedule looked like.
    pub fn first(&self) -> Option<(u64, u32)> {
        self.first
    }

    /// What was handed out last, of which a part may have run.
    pub fn shared(&mut self) -> Option<&mut Share> {
        match &mut self.source {
            Source::Share(share) => Some(share),
            _ => None,
        }
    }

    /// The session stands for a search that others have run.
    pub fn adopt(&mut self, tree: Tree, tally: Tally) {
        self.source = Source::Tree(tree);
        self.tally = tally;
    }

    /// Whether there were spurious wake-ups that the settings have left out.
    pub fn spurious_left_out(&self) -> bool {
        self.tally.spurious_wake_ups && !self.settings.spurious
    }

    /// Whether this is a schedule that has been run before, without a failure.
    pub fn confirming(&self) -> bool {
        self.confirming.is_some()
    }

    /// The execution has ended, well or not.
    pub fn close(&mut self) {
        self.executing = false;
        let found = alloc::end();
        self.memory_error = self.memory_error.take().or(found);
        if self.confirming.is_some() {
            return;
        }
        let execution = &self.execution;
        self.tally.add(&Tally {
            executions: 1,
            steps: execution.steps as u64,
            longest: execution.steps,
            tasks: execution.world.known(),
            redundant: u64::from(execution.redundant),
            ..execution.seen
        });
    }

    /// Ends the execution before, if any, and gives the path of the next, if any.
    pub fn advance(&mut self) -> Result<Path, End> {
        if self.executing {
            self.close();
            if let Some(again) = self.settle()? {
                return Ok(again);
            }
        }
        let path = match &mut self.source {
            Source::Guide => Path::new(),
            Source::Single(path) => path.take().ok_or(End::Replayed)?,
            Source::Share(share) => return share.next(&mut self.tally, &mut self.execution.meeting),
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

    /// What comes of an execution that has ended: the end of the search, a path from which it begins again, or nothing special.
    fn settle(&mut self) -> Result<Option<Path>, End> {
        if !self.execution.stuck.is_empty() {
            return Err(End::Deadlock);
        }
        if self.memory_error.is_some() {
            return Err(End::Memory);
        }
        if self.settings.reduce && self.execution.world.foreign {
            match self.source {
                Source::Tree(_) => {
                    self.without_reduction();
                    return Ok(Some(Path::new()));
                }
                Source::Share(_) => return Err(End::Foreign),
                Source::Single(_) | Source::Guide => self.settings.reduce = false,
            }
        }
        let walk = &self.execution.walk;
        let changed = self.confirming.is_some() && self.first != Some(walk.fingerprint());
        if changed || !walk.followed() {
            return Err(End::Diverged);
        }
        if let Some(end) = self.confirming {
            return Err(end);
        }
        self.first.get_or_insert(walk.fingerprint());
        if self.execution.cut {
            self.tally.unfinished += 1;
            if self.settings.must_end {
                return Err(End::Unfinished);
            }
        }
        match &mut self.source {
            Source::Tree(tree) => tree.record(walk.left_over()),
            Source::Share(share) => share.record(walk.left_over()),
            Source::Single(_) | Source::Guide => {}
        }
        Ok(None)
    }

    /// Not every operation says what it touches, so nothing can be left out: the search begins again.
    fn without_reduction(&mut self) {
        self.settings.reduce = false;
        let mut tree = Tree::new(self.settings.delays);
        assert_eq!(
            tree.next(1),
            Next::Run(vec![Path::new()]),
            "the first schedule is the one without delays"
        );
        self.source = Source::Tree(tree);
        self.tally = Tally { tasks: self.tally.tasks, ..Tally::default() };
        self.first = None;
        self.confirming = None;
        self.execution.walk = Default::default();
    }

    /// An execution begins.
    pub fn start(&mut self, path: Path) {
        self.execution.begin(path, &self.settings);
        self.executing = true;
        // A path that is made while it is gone is not known yet.
        if !matches!(self.source, Source::Guide) {
            crash::begins(&self.recipe());
        }
        alloc::begin();
    }

    /// What determines the current schedule.
    pub fn recipe(&self) -> Recipe<'_> {
        Recipe {
            path: self.execution.walk.path().into(),
            quantum: self.settings.quantum,
            spurious: self.settings.spurious,
            reduce: self.settings.reduce && !self.execution.world.foreign,
            weak: self.settings.weak,
            cells: self.settings.cells,
            random: self.settings.random,
        }
    }
}
