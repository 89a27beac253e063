//! The search on several cores, and one that goes on another time.
//!
//! The schedules of a level are known when the level before has run, so they can be run in any order. A `Hand` gives them out in
//! batches, in lexicographic order, to workers that each run one after the other; results are recorded in the order of the batches,
//! and what comes after a failure is dropped. So the report is the same as that of one core.
//!
//! Invariant: what is recorded in the tree is what was given out with the batches before `recorded`, no more and no less.

use crate::driver::executions;
use crate::meeting::Meeting;
use crate::quiet::Panic;
use crate::session::Session;
use crate::settings::{End, Settings, Tally};
use crate::tree::{Next, Path, Tree};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// At most so many schedules in a batch.
const BATCH: u64 = 256;
/// So many batches for each worker in a level, so that none waits for long at its end.
const BATCHES: u64 = 8;

/// What the schedules of a batch have come to.
#[derive(Debug, Default)]
struct Batch {
    /// How many opportunities were left in each.
    left: Vec<u32>,
    tally: Tally,
    meeting: Meeting,
}

/// What has been found so far.
#[derive(Debug)]
struct Search {
    tree: Tree,
    tally: Tally,
    meeting: Meeting,
    /// Batches that have run, by their numbers, but for those that were recorded.
    done: BTreeMap<usize, Batch>,
    recorded: usize,
    given: usize,
    /// How many schedules were given out, those before the search was resumed not counted.
    schedules: u64,
    /// Nothing is given out any more.
    over: bool,
}

impl Search {
    fn new(settings: &Settings) -> Search {
        Search {
            tree: Tree::new(settings.delays),
            tally: Tally::default(),
            meeting: Meeting::default(),
            done: BTreeMap::new(),
            recorded: 0,
            given: 0,
            schedules: 0,
            over: false,
        }
    }

    /// Takes over what a batch has come to.
    fn record(&mut self, batch: Batch) {
        for left in batch.left {
            self.tree.record(left);
        }
        self.tally.add(&batch.tally);
        self.meeting.join(&batch.meeting);
        self.recorded += 1;
    }

    /// Records what can be recorded in order.
    fn settle(&mut self) {
        while let Some(batch) = self.done.remove(&self.recorded) {
            self.record(batch);
        }
    }

    /// A session that stands for this search, which has ended.
    fn finish(self, mut session: Session, end: Option<End>) -> Session {
        session.end = end;
        session.execution.meeting = self.meeting;
        session.adopt(self.tree, self.tally);
        session
    }
}

/// Gives schedules out.
#[derive(Debug)]
pub(crate) struct Hand {
    settings: Settings,
    started: Instant,
    search: Mutex<Search>,
    changed: Condvar,
}

impl Hand {
    fn search(&self) -> MutexGuard<'_, Search> {
        self.search.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a limit forbids to begin another schedule.
    fn limited(&self, search: &Search) -> Option<End> {
        let time = self.settings.time.is_some_and(|limit| self.started.elapsed() > limit);
        match self.settings.schedules {
            Some(limit) if search.schedules >= limit => Some(End::Schedules),
            _ => time.then_some(End::Time),
        }
    }

    /// The next batch and its number; waits for those that it depends on.
    fn take(&self) -> Option<(usize, Vec<Path>)> {
        let mut search = self.search();
        loop {
            search.over |= self.limited(&search).is_some();
            if search.over {
                self.changed.notify_all();
                return None;
            }
            let limit = self.settings.schedules.unwrap_or(u64::MAX) - search.schedules;
            let share = search.tree.width() / (BATCHES * self.settings.cores as u64);
            match search.tree.next(share.clamp(1, BATCH).min(limit) as usize) {
                Next::Run(paths) => {
                    search.schedules += paths.len() as u64;
                    search.given += 1;
                    return Some((search.given - 1, paths));
                }
                Next::Later => {
                    search = self.changed.wait(search).unwrap_or_else(PoisonError::into_inner);
                }
                Next::Exhausted | Next::Bound => search.over = true,
            }
        }
    }

    fn give_back(&self, number: usize, batch: Batch) {
        let mut search = self.search();
        search.done.insert(number, batch);
        search.settle();
        self.changed.notify_all();
    }
}

/// What a worker has of the hand: a batch, and what came of those of its schedules that have run.
#[derive(Debug)]
pub(crate) struct Share {
    hand: Arc<Hand>,
    number: Option<usize>,
    paths: std::vec::IntoIter<Path>,
    left: Vec<u32>,
}

impl Share {
    fn new(hand: Arc<Hand>) -> Share {
        Share { hand, number: None, paths: Vec::new().into_iter(), left: Vec::new() }
    }

    /// A schedule has run, with so many opportunities after its last delay.
    pub fn record(&mut self, left: u32) {
        self.left.push(left);
    }

    /// The next schedule: of this batch, or of another one.
    pub fn next(&mut self, tally: &mut Tally, meeting: &mut Meeting) -> Result<Path, End> {
        if let Some(path) = self.paths.next() {
            return Ok(path);
        }
        if let Some(number) = self.number.take() {
            let batch = self.batch(tally, meeting);
            self.hand.give_back(number, batch);
        }
        let (number, paths) = self.hand.take().ok_or(End::Dealt)?;
        self.number = Some(number);
        self.paths = paths.into_iter();
        self.paths.next().ok_or(End::Dealt)
    }

    fn batch(&mut self, tally: &mut Tally, meeting: &mut Meeting) -> Batch {
        Batch {
            left: std::mem::take(&mut self.left),
            tally: std::mem::take(tally),
            meeting: std::mem::take(meeting),
        }
    }
}

/// A worker's session, and the panic that has ended it, if any.
type Done = (Session, Result<(), Panic>);

/// Runs schedules until none is left. Gives the session of the first batch that ended otherwise, and what came of its schedules.
fn run<F>(hand: &Arc<Hand>, test: &Arc<F>) -> Option<(Done, Batch)>
where
    F: Fn() + Send + Sync + 'static,
{
    let one = || {
        let session = Session::share(hand.settings.clone(), Share::new(Arc::clone(hand)));
        let (mut session, result) = executions(session, test, hand.settings.stack);
        let Session { tally, execution, .. } = &mut session;
        let (mut tally, mut meeting) = (std::mem::take(tally), std::mem::take(&mut execution.meeting));
        let share = session.shared()?;
        let number = share.number?;
        let batch = share.batch(&mut tally, &mut meeting);
        // Others need not begin anything that comes after.
        hand.search().over = true;
        hand.changed.notify_all();
        Some((number, (session, result), batch))
    };
    let mut failed = std::thread::scope(|scope| {
        let others: Vec<_> = (1..hand.settings.cores).map(|_| scope.spawn(one)).collect();
        let mut failed: Vec<_> = one().into_iter().collect();
        for other in others {
            match other.join() {
                Ok(result) => failed.extend(result),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        failed
    });
    failed.sort_by_key(|(number, ..)| *number);
    failed.into_iter().next().map(|(_, done, batch)| (done, batch))
}

/// Searches until the end.
pub(crate) fn search<F>(settings: &Settings, test: &Arc<F>) -> Done
where
    F: Fn() + Send + Sync + 'static,
{
    // Whether all operations say what they touch shows in the first schedule, or else as soon as one does not.
    let mut settings = settings.clone();
    loop {
        match attempt(&settings, test) {
            Some(done) => return done,
            None => settings.reduce = false,
        }
    }
}

/// The whole search. Nothing if orders were left out although not every operation says what it touches.
fn attempt<F>(settings: &Settings, test: &Arc<F>) -> Option<Done>
where
    F: Fn() + Send + Sync + 'static,
{
    let started = Instant::now();
    let mut search = Search::new(settings);
    let session = Session::single(settings.clone(), Path::new());
    if settings.schedules == Some(0) {
        return Some((search.finish(session, Some(End::Schedules)), Ok(())));
    }
    // The schedule without delays comes first, on its own: all others depend on it.
    search.tree.next(1);
    let (mut session, result) = executions(session, test, settings.stack);
    let failed = result.is_err() || matches!(session.end, Some(End::Deadlock | End::Memory));
    if !failed && settings.reduce && session.execution.world.foreign {
        return None;
    }
    let first = session.first();
    search.schedules = 1;
    search.tally = std::mem::take(&mut session.tally);
    search.meeting = std::mem::take(&mut session.execution.meeting);
    if result.is_err() || session.end != Some(End::Replayed) {
        let end = session.end;
        return Some((search.finish(session, end), result));
    }
    search.tree.record(session.execution.walk.left_over());
    if let Some(tree) = load(settings, first) {
        search.tree = tree;
    }
    let hand = Arc::new(Hand {
        settings: settings.clone(),
        started,
        search: Mutex::new(search),
        changed: Condvar::new(),
    });
    let failed = run(&hand, test);
    let mut search = std::mem::replace(&mut *hand.search(), Search::new(settings));
    if let Some(((session, result), batch)) = failed {
        if session.end == Some(End::Foreign) {
            return None;
        }
        search.record(batch);
        let end = session.end;
        return Some((search.finish(session, end), result));
    }
    match search.tree.clone().next(1) {
        Next::Run(_) => {
            save(settings, first, &search.tree);
            let limit = settings.schedules.is_some_and(|limit| search.schedules >= limit);
            let session = Session::single(settings.clone(), Path::new());
            Some((search.finish(session, Some(if limit { End::Schedules } else { End::Time })), Ok(())))
        }
        end => Some(confirm(settings, search, first, end, test)),
    }
}

/// Nothing is left: is the schedule without delays still what it was?
fn confirm<F>(
    settings: &Settings,
    search: Search,
    first: Option<(u64, u32)>,
    end: Next,
    test: &Arc<F>,
) -> Done
where
    F: Fn() + Send + Sync + 'static,
{
    let (session, result) = executions(Session::single(settings.clone(), Path::new()), test, settings.stack);
    let same = result.is_ok() && session.end == Some(End::Replayed) && session.first() == first;
    let end = match end {
        _ if !same => session.end.filter(|&end| end != End::Replayed).unwrap_or(End::Diverged),
        Next::Bound => End::Delays,
        _ => End::Exhausted,
    };
    if let Some(file) = &settings.resume {
        // There is nothing to go on with; that the file is missing is as good.
        let _ = std::fs::remove_file(file);
    }
    (search.finish(session, Some(end)), result)
}

/// What a file must begin with to be of the same search.
fn head(settings: &Settings, first: Option<(u64, u32)>) -> String {
    let Settings { quantum, spurious, reduce, weak, cells, random, .. } = settings;
    format!("allways-test 1 {quantum} {spurious} {reduce} {weak} {cells} {random} {first:?}\n")
}

fn save(settings: &Settings, first: Option<(u64, u32)>, tree: &Tree) {
    if let Some(file) = &settings.resume {
        let text = head(settings, first) + &tree.save();
        if let Err(error) = std::fs::write(file, text) {
            eprintln!("allways-test: {}: {error}", file.display());
        }
    }
}

fn load(settings: &Settings, first: Option<(u64, u32)>) -> Option<Tree> {
    let file = settings.resume.as_ref()?;
    let text = std::fs::read_to_string(file).ok()?;
    let tree = text.strip_prefix(&head(settings, first)).and_then(|text| Tree::load(settings.delays, text));
    if tree.is_none() {
        eprintln!("allways-test: {} is of another program or test, and is not used", file.display());
    }
    tree
}
