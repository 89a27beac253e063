//! What each worker does, from the first state to the verdict. All workers of all processes run this same program, and all
//! come to the same finding.

use crate::certify::{self, Letter, Place, Shelf, Spreading};
use crate::checkpoint::{self, Log, Reader, Recorded};
use crate::control::{Control, Stopped};
use crate::exchange::{Exchange, Gather};
use crate::explore::{Explored, Flows, explore};
use crate::levels::Room;
use crate::settings::{Settings, Spill};
use crate::shard::Shard;
use crate::trace;
use allways_engines::engine::Share;
use allways_evidence::shards::{ShardFile, ShardWriter, Shards, read_shard};
use allways_evidence::{Rejection, StopReason};
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, State};
use allways_model::symmetry::Kinds;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use timely::worker::Worker;

/// What is to be done.
pub struct Plan {
    /// The system.
    pub system: Arc<dyn Pushdown + Send + Sync>,
    /// What must not be reached.
    pub property: Property,
    /// Which threads are interchangeable.
    pub kinds: Kinds,
    /// States with a deeper stack are left out.
    pub max_depth: Option<usize>,
    /// The digest of all that.
    pub task: u128,
    /// By whom.
    pub settings: Settings,
    /// Search, or check what was found before.
    pub job: Job,
}

/// What kind of work it is.
pub enum Job {
    /// Whether a bad state can be reached.
    Search,
    /// Whether these shards prove that none can.
    Certify(Shards),
}

/// What came out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Claim {
    /// These are all states, checked, and none is bad.
    Safe(Shards),
    /// A shortest run to a bad state, up to renaming within kinds.
    Unsafe(Vec<State>),
    /// Nothing bad, but states were left out for the sake of the depth bound.
    Cut,
    /// The checker has rejected what was found: why.
    Rejected(String),
    /// The checker does not know: why.
    Unknown(String),
}

/// The same for all workers.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What came out.
    pub claim: Claim,
    /// What each worker did.
    pub shares: Vec<Share>,
    /// How many levels there are.
    pub levels: u64,
    /// How long the checker took.
    pub checking: Duration,
}

/// A worker's share, on its way.
#[derive(Clone, Serialize, Deserialize)]
struct Tally {
    numbers: [u64; 4],
    cut: bool,
}

/// What a worker's part of the checker says.
#[derive(Clone, Serialize, Deserialize)]
enum Judged {
    Accepted { name: String, states: u64, digest: u128 },
    Rejected(String),
    Unknown(String),
}

impl Judged {
    fn new(judged: Result<ShardFile, Rejection>) -> Judged {
        match judged {
            Ok(ShardFile { name, states, digest }) => Judged::Accepted { name, states, digest },
            Err(Rejection::Stopped(reason)) => Judged::Unknown(reason.to_string()),
            Err(rejection) => Judged::Rejected(rejection.to_string()),
        }
    }
}

/// Runs one worker.
pub fn work(worker: &mut Worker, plan: &Plan, control: &Control) -> Result<Finding, Stopped> {
    match &plan.job {
        Job::Search => search(worker, plan, control),
        Job::Certify(shards) => recheck(worker, plan, shards, control),
    }
}

fn search(worker: &mut Worker, plan: &Plan, control: &Control) -> Result<Finding, Stopped> {
    let (me, peers) = (worker.index(), worker.peers());
    let here = me % plan.settings.workers;
    let mut flows = Flows::new(worker);
    let mut tallies: Gather<Tally> = Gather::new(worker, "tallies");
    let mut shard = Shard::new(&*plan.system, plan.kinds.clone(), &plan.property, control, (me, peers));
    if let Some(depth) = plan.max_depth {
        shard.threads.limit_depth(depth);
    }
    let room = room(control, plan.settings.spill.as_ref());
    if let Some(spill) = &plan.settings.spill {
        shard.spill_to(&spill.folder, room)?;
    }
    match &plan.settings.resume {
        Some(folder) => resume(&mut shard, &mut flows, worker, plan, folder, control)?,
        None => shard.start(),
    }
    let mut log = match &plan.settings.checkpoint {
        Some(folder) => match Log::start(folder, plan.task, (me, peers)) {
            Ok(log) => Some(log),
            Err(error) => {
                let why = format!("cannot write a checkpoint to {}: {error}", folder.display());
                return give_up(control, why);
            }
        },
        None => None,
    };
    let explored = explore(&mut shard, &mut flows, worker, (control, here), log.as_mut());
    if let Some(log) = log {
        log.finish(control);
    }
    let explored = explored?;
    let levels = shard.levels();
    let numbers = [levels.count(), shard.bytes() as u64, shard.images(), levels.disk_bytes()];
    let tallies = tallies.ask(worker, control, Tally { numbers, cut: shard.threads.cut() })?;
    let share = |tally: &Tally| {
        let [states, bytes, images, disk_bytes] = tally.numbers;
        Share { states, bytes, images, disk_bytes }
    };
    let shares: Vec<Share> = tallies.iter().map(share).collect();
    let all: u64 = shares.iter().map(|share| share.states).sum();
    let levels = shard.levels().depth() as u64;
    let finding = |claim: Claim, checking: Duration| Finding { claim, shares, levels, checking };
    match explored {
        Explored::Bad(bad) => {
            let mut answers = Gather::new(worker, "parents");
            let path = trace::path(&mut shard, &mut answers, worker, control, bad)?;
            let path: Option<Vec<State>> =
                path.iter().map(|state| plan.system.state_from_bytes(state)).collect();
            match path {
                Some(path) => Ok(finding(Claim::Unsafe(path), Duration::ZERO)),
                None => give_up(control, "a state cannot be read: a bug, please report it".to_string()),
            }
        }
        Explored::All if tallies.iter().any(|tally| tally.cut) => Ok(finding(Claim::Cut, Duration::ZERO)),
        Explored::All => {
            let started = Instant::now();
            let mut letters = Exchange::new(worker, "letters");
            shard.make_room()?;
            let place = place(plan, room, shard.bytes(), all / worker.peers() as u64);
            let mut spreading = Spreading::new(&mut letters, worker, control, place);
            for level in 0..=shard.levels().depth() {
                shard.each_state(level, &mut |state| spreading.add(worker, &state))?;
            }
            // The checker needs the memory, and nothing that the search knows.
            drop(shard);
            let shelf = spreading.finish(worker)?;
            let claim = judge(worker, plan, control, &mut letters, (shelf, None))?;
            Ok(finding(claim, started.elapsed()))
        }
    }
}

/// Writes the shard of this worker, if that is wanted, has it checked, and hears what the others say.
fn judge(
    worker: &mut Worker,
    plan: &Plan,
    control: &Control,
    letters: &mut Exchange<Letter>,
    (shelf, fault): (Shelf<'_>, Option<Rejection>),
) -> Result<Claim, Stopped> {
    let mut judgements: Gather<Judged> = Gather::new(worker, "judgements");
    let me = worker.index();
    let system: &dyn Pushdown = &*plan.system;
    let about = (system, &plan.property, &plan.kinds);
    let shard = match (&plan.settings.evidence, &plan.job) {
        (Some(manifest), Job::Search) => {
            let started = ShardWriter::to(folder_of(manifest), Settings::shard_name(manifest, me));
            started.or_else(|error| {
                control.fail(&format!("cannot write a shard beside {}", manifest.display()), &error)
            })?
        }
        _ => ShardWriter::nowhere(),
    };
    let accepted = certify::check(letters, worker, control, shelf, about, shard)?;
    let judged = Judged::new(fault.map_or(accepted, Err));
    let mut files = Vec::new();
    let mut unknown = None;
    for judged in judgements.ask(worker, control, judged)? {
        match judged {
            Judged::Accepted { name, states, digest } => files.push(ShardFile { name, states, digest }),
            Judged::Rejected(why) => return Ok(Claim::Rejected(why)),
            Judged::Unknown(why) => unknown = unknown.or(Some(why)),
        }
    }
    if let Some(why) = unknown {
        return Ok(Claim::Unknown(why));
    }
    let folder =
        plan.settings.evidence.as_deref().map_or_else(PathBuf::new, |it| folder_of(it).to_path_buf());
    Ok(Claim::Safe(Shards { kinds: plan.kinds.clone(), files, folder }))
}

/// How much a worker may hold in memory before it puts states on disk: a part of what it has, since that is not all it holds.
fn room(control: &Control, spill: Option<&Spill>) -> Room {
    let bytes = control.memory_left() / 10 * 6;
    Room { bytes, states: spill.and_then(|spill| spill.states).unwrap_or(usize::MAX) }
}

/// Where the checker may put its shard.
fn place(plan: &Plan, room: Room, taken: usize, states: u64) -> Option<Place> {
    let spill = plan.settings.spill.as_ref()?;
    Some(Place { folder: spill.folder.clone(), room, taken, states })
}

fn folder_of(manifest: &Path) -> &Path {
    manifest.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Checks shards that were written before: each file is read by one worker, and its states go where they belong now.
fn recheck(worker: &mut Worker, plan: &Plan, shards: &Shards, control: &Control) -> Result<Finding, Stopped> {
    let (me, peers) = (worker.index(), worker.peers());
    let started = Instant::now();
    let mut letters = Exchange::new(worker, "letters");
    let room = room(control, plan.settings.spill.as_ref());
    let place = place(plan, room, 0, shards.states() / peers as u64);
    let mut spreading = Spreading::new(&mut letters, worker, control, place);
    let mut fault = None;
    for file in shards.files.iter().skip(me).step_by(peers) {
        let read = read_shard(&shards.folder, file, &mut |state| {
            let added = spreading.add(worker, state);
            added.map_err(|Stopped| Rejection::Stopped(StopReason::Interrupted))
        });
        control.check()?;
        fault = fault.or(read.err());
    }
    let shelf = spreading.finish(worker)?;
    let claim = judge(worker, plan, control, &mut letters, (shelf, fault))?;
    Ok(Finding { claim, shares: Vec::new(), levels: 0, checking: started.elapsed() })
}

fn give_up<T>(control: &Control, why: String) -> Result<T, Stopped> {
    control.stop(StopReason::GaveUp(why));
    Err(Stopped)
}

/// Fills the shards from a checkpoint.
fn resume(
    shard: &mut Shard<'_>,
    flows: &mut Flows,
    worker: &mut Worker,
    plan: &Plan,
    folder: &Path,
    control: &Control,
) -> Result<(), Stopped> {
    let (me, shown) = (worker.index(), folder.display());
    let mut found: Gather<Vec<(usize, Recorded)>> = Gather::new(worker, "records");
    let records = found.ask(worker, control, checkpoint::records(folder))?;
    let all = || records.iter().flatten();
    let Some((_, first)) = all().next() else {
        return give_up(control, format!("{shown} holds no checkpoint"));
    };
    if all().any(|(_, record)| record.task != plan.task) {
        return give_up(control, format!("the checkpoint in {shown} is of another task"));
    }
    if all().any(|(_, record)| record.workers != first.workers) {
        return give_up(control, format!("the files in {shown} are of several checkpoints"));
    }
    let mut readers = Vec::new();
    for number in 0..first.workers {
        // Whoever has the file may read it; the work is divided evenly.
        let has = |worker: &usize| records[*worker].iter().any(|&(other, _)| other == number);
        let having: Vec<usize> = (0..records.len()).filter(has).collect();
        match having.get(number % having.len().max(1)) {
            None => return give_up(control, format!("the file of worker {number} is in no folder {shown}")),
            Some(&reader) if reader == me => readers.push(number),
            Some(_) => {}
        }
    }
    let open = |number: usize| Reader::open(folder, number);
    let mut readers = match readers.into_iter().map(open).collect::<Result<Vec<Reader>, _>>() {
        Ok(readers) => readers,
        Err(error) => return give_up(control, format!("cannot read {shown}: {error}")),
    };
    let levels = all().map(|(_, record)| record.levels).min().unwrap_or_default();
    if levels == 0 {
        shard.start();
    }
    for level in 0..levels {
        if level > 0 {
            shard.close_level()?;
            shard.start_next();
        }
        for reader in &mut readers {
            let mut readable = true;
            let (mut read, mut went) = (0, Ok(()));
            let whole = reader.next_level(&mut |bytes| {
                match plan.system.state_from_bytes(bytes) {
                    Some(state) => shard.route(&state),
                    None => readable = false,
                }
                read += 1;
                if read % 4096 == 0 && went.is_ok() {
                    went = flows.exchange(shard, worker, control, false);
                }
            });
            went?;
            if let Some(error) = whole.err().map(|error| error.to_string()).or_else(|| {
                (!readable).then(|| "it lists something that is no state of this system".to_string())
            }) {
                return give_up(control, format!("cannot read {shown}: {error}"));
            }
            control.check()?;
        }
        flows.exchange(shard, worker, control, true)?;
        flows.barrier(shard, worker, control)?;
        // Nobody starts the next level before all have taken in this one.
        found.ask(worker, control, Vec::new())?;
    }
    Ok(())
}
