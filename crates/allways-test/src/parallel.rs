//! The search on several cores, and one that goes on another time.
//!
//! The schedules of a level are known when the level before has run, so they can be run in any order. They are handed out in
//! batches, in lexicographic order, and their results are recorded in that order; what comes after a failure is dropped. So
//! the report is the same as that of one core.
//!
//! Invariant: between two rounds everything that was handed out is recorded in the tree.

use crate::driver::executions;
use crate::meeting::Meeting;
use crate::quiet::Panic;
use crate::scheduler::{End, Session, Settings, Tally};
use crate::tree::{Next, Path, Tree};
use std::sync::Arc;
use std::time::Instant;

/// Schedules in a batch.
const BATCH: usize = 512;

/// What has been found so far.
struct Search {
    settings: Settings,
    tree: Tree,
    tally: Tally,
    meeting: Meeting,
}

/// A batch that has run: its session, and the panic that has ended it, if any.
type Done = (Session, Result<(), Panic>);

/// Runs batches at the same time. Each begins with the schedule without delays, if that is asked for.
fn run<F>(settings: &Settings, batches: Vec<Vec<Path>>, test: &Arc<F>) -> Vec<Done>
where
    F: Fn() + Send + Sync + 'static,
{
    let one = |paths: Vec<Path>| executions(Session::list(settings.clone(), paths), test, settings.stack);
    std::thread::scope(|scope| {
        let mut batches = batches.into_iter();
        let first = batches.next();
        let others: Vec<_> = batches.map(|paths| scope.spawn(|| one(paths))).collect();
        let mut done: Vec<Done> = first.map(one).into_iter().collect();
        for other in others {
            match other.join() {
                Ok(batch) => done.push(batch),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    })
}

impl Search {
    fn new(settings: Settings) -> Search {
        let tree = Tree::new(settings.delays);
        Search { settings, tree, tally: Tally::default(), meeting: Meeting::default() }
    }

    /// Takes a batch over. Gives its session if the search ends with it.
    fn record(&mut self, (mut session, result): Done) -> Option<Done> {
        for left in session.listed() {
            self.tree.record(left);
        }
        self.tally.add(&session.tally);
        self.meeting.join(&session.meeting);
        if result.is_ok() && session.end == Some(End::Listed) {
            return None;
        }
        Some((session, result))
    }

    /// A session that stands for this search, which has ended.
    fn finish(self, mut session: Session, end: Option<End>) -> Session {
        session.end = end;
        session.meeting = self.meeting;
        session.settings.cores = self.settings.cores;
        session.adopt(self.tree, self.tally);
        session
    }
}

/// Searches until the end.
pub(crate) fn search<F>(settings: &Settings, test: &Arc<F>) -> Done
where
    F: Fn() + Send + Sync + 'static,
{
    let started = Instant::now();
    let mut search = Search::new(settings.clone());
    // Whether all operations say what they touch shows in the first schedule, or else as soon as one does not.
    let again = |search: &Search| Search::new(Settings { reduce: false, ..search.settings.clone() });
    let mut first = None;
    loop {
        let cores = search.settings.cores;
        let left = match search.settings.schedules {
            Some(limit) => limit.saturating_sub(search.tally.executions) as usize,
            None => usize::MAX,
        };
        let out_of_time = search.tally.executions > 0
            && search.settings.time.is_some_and(|limit| started.elapsed() > limit);
        if left == 0 || out_of_time {
            // If nothing is left, the limit does not matter.
            if matches!(search.tree.clone().next(1), Next::Run(_)) {
                save(&search, first);
                let session = Session::list(search.settings.clone(), Vec::new());
                let end = if left == 0 { End::Schedules } else { End::Time };
                return (search.finish(session, Some(end)), Ok(()));
            }
        }
        let paths = match search.tree.next(left.clamp(1, BATCH * cores)) {
            Next::Run(paths) => paths,
            end => return confirm(search, first, end, test),
        };
        let share = paths.len().div_ceil(cores).max(1);
        let batches: Vec<Vec<Path>> = paths.chunks(share).map(<[Path]>::to_vec).collect();
        let mut ended = None;
        for batch in run(&search.settings, batches, test) {
            if first.is_none() {
                first = batch.0.first();
            }
            ended = search.record(batch);
            if ended.is_some() {
                break;
            }
        }
        match ended {
            None => {}
            Some((session, Ok(()))) if session.end == Some(End::Foreign) => {
                (search, first) = (again(&search), None);
            }
            Some((session, result)) => {
                let end = session.end;
                return (search.finish(session, end), result);
            }
        }
        if search.tally.executions == 1
            && let Some(tree) = load(&search, first)
        {
            search.tree = tree;
        }
    }
}

/// Nothing is left: is the schedule without delays still what it was?
fn confirm<F>(search: Search, first: Option<(u64, u32)>, end: Next, test: &Arc<F>) -> Done
where
    F: Fn() + Send + Sync + 'static,
{
    let (session, result) =
        executions(Session::list(search.settings.clone(), vec![Path::new()]), test, search.settings.stack);
    let same = result.is_ok() && session.end == Some(End::Listed) && session.first() == first;
    let end = match end {
        _ if !same => session.end.filter(|&end| end != End::Listed).unwrap_or(End::Diverged),
        Next::Bound => End::Delays,
        _ => End::Exhausted,
    };
    if let Some(file) = &search.settings.resume {
        // There is nothing to go on with; that the file is missing is as good.
        let _ = std::fs::remove_file(file);
    }
    (search.finish(session, Some(end)), result)
}

/// What a file must begin with to be of the same search.
fn head(search: &Search, first: Option<(u64, u32)>) -> String {
    let Settings { quantum, spurious, reduce, weak, .. } = search.settings;
    format!("allways-test 1 {quantum} {spurious} {reduce} {weak} {first:?}\n")
}

fn save(search: &Search, first: Option<(u64, u32)>) {
    if let Some(file) = &search.settings.resume {
        let text = head(search, first) + &search.tree.save();
        if let Err(error) = std::fs::write(file, text) {
            eprintln!("allways-test: {}: {error}", file.display());
        }
    }
}

fn load(search: &Search, first: Option<(u64, u32)>) -> Option<Tree> {
    let file = search.settings.resume.as_ref()?;
    let text = std::fs::read_to_string(file).ok()?;
    let tree =
        text.strip_prefix(&head(search, first)).and_then(|text| Tree::load(search.settings.delays, text));
    if tree.is_none() {
        eprintln!("allways-test: {} is of another program or test, and is not used", file.display());
    }
    tree
}
