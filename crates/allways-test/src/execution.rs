//! One execution: at each scheduling point, who takes the next step. Round robin (`round_robin.rs`) along a path (`walk.rs`), only
//! fair schedules (`fairness.rs`), and of orders of independent operations one (sleep sets, see `world.rs`).
//!
//! Invariant: what an execution does is a function of the settings, the path, and the program. Nothing but allocations is kept
//! from one execution to the next, except what the next one is compared with (`walk.rs`) and whether tasks have met
//! (`meeting.rs`). A scheduling point without reduction, notes and types of this crate allocates nothing.

use crate::fairness::Alone;
use crate::meeting::Meeting;
use crate::operation::Touches;
use crate::recording::Recording;
use crate::round_robin::{Candidate, Line, first_in_line, runnable_first};
use crate::settings::{Settings, Tally};
use crate::tree::Path;
use crate::walk::Walk;
use crate::world::{Step, World};
use shuttle::scheduler::{Scheduler, Task, TaskId};

/// Random values that a program draws are the same in every execution.
pub(crate) const SEED: u64 = 0x616c_6c77_6179_7321;

/// A scheduler of shuttle that chooses instead of a path.
pub(crate) type Guide<'a> = Option<&'a mut (dyn Scheduler + 'static)>;

/// SplitMix64 (Steele, Lea, Flood, 2014).
#[derive(Clone, Debug, Default)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// A random value that stands for one of several. Numbers below n are made of random values in two ways: by the remainder, and by the
/// upper half of the product with n; both of the whole value, or of its lower half.
fn spread(chosen: u64, values: u64) -> u64 {
    let from = (chosen << 32).div_ceil(values);
    let high = from.next_multiple_of(values);
    high << 32 | (high + chosen)
}

#[derive(Debug, Default)]
pub(crate) struct Execution {
    pub walk: Walk,
    pub world: World,
    pub meeting: Meeting,
    pub recording: Option<Recording>,
    pub steps: usize,
    /// Whether it was cut off at the limit of steps.
    pub cut: bool,
    /// The task that ran last.
    pub current: Option<usize>,
    /// Those who wait for each other, if nobody can go on.
    pub stuck: Vec<usize>,
    /// What it has met with that the report mentions.
    pub seen: Tally,
    /// The rest of this execution is the same as one before, up to the order of independent operations.
    pub redundant: bool,
    in_a_row: usize,
    alone: Alone,
    random: Random,
    /// What is not for a scheduler of shuttle to choose is chosen at random, if one of them chooses at all.
    guided: Option<Random>,
    line: Vec<Candidate>,
    /// The part of the line that is not left out.
    awake: Vec<Candidate>,
    /// Those who were delayed for the current step.
    skipped: Vec<usize>,
    /// Whether orders are left out in this execution.
    reducing: bool,
    /// Nothing but the path decides who goes on, and nobody takes notes.
    plain: bool,
    /// Whose turn it is, apart from steps that touch nothing.
    turn: Option<usize>,
}

impl Execution {
    /// An execution along another path begins.
    pub fn begin(&mut self, path: Path, settings: &Settings) {
        self.walk.restart(path);
        self.world.begin(settings.weak, settings.cells);
        self.meeting.new_execution();
        self.steps = 0;
        self.cut = false;
        self.current = None;
        self.seen = Tally::default();
        self.redundant = false;
        self.in_a_row = 0;
        self.alone = Alone::default();
        self.random = Random(SEED);
        self.reducing = settings.reduce;
        self.plain =
            !settings.reduce && self.recording.is_none() && self.guided.is_none() && self.meeting.met();
        self.turn = None;
    }

    /// A scheduler of shuttle chooses.
    pub fn is_guided(&mut self) {
        self.guided = Some(Random(SEED));
    }

    /// One of so many alternatives, none of which is another task: each but the first costs a delay.
    pub fn decide(&mut self, alternatives: usize) -> usize {
        self.memory().1(alternatives)
    }

    /// The state of the execution, and the choice among what its memory allows.
    pub fn memory(&mut self) -> (&mut World, impl FnMut(usize) -> usize) {
        let Execution { walk, world, recording, redundant, guided, .. } = self;
        let redundant = *redundant;
        (world, move |alternatives| {
            if alternatives < 2 || redundant {
                return 0;
            }
            let chosen = match guided {
                None => walk.decide(alternatives),
                Some(random) => {
                    let chosen = (random.next() % alternatives as u64) as usize;
                    walk.decided(alternatives, chosen);
                    chosen
                }
            };
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

    /// A random value, the same in every execution, or one of so many.
    pub fn random(&mut self, values: usize) -> u64 {
        self.seen.random_values = true;
        if values > 0 {
            return spread(self.decide(values) as u64, values as u64);
        }
        self.walk.mix(0);
        self.random.next()
    }

    /// A scheduling point: who goes on. Nobody if the execution is cut off, or if nobody can.
    pub fn choose(
        &mut self,
        settings: &Settings,
        tasks: &[&Task],
        current: Option<TaskId>,
        mut yielding: bool,
        guide: Guide,
    ) -> Option<TaskId> {
        if self.steps >= settings.steps {
            self.cut = true;
            return None;
        }
        self.steps += 1;
        let known = tasks.last().map_or(0, |task| usize::from(task.id()) + 1);
        self.world.know(known);
        let current = current.map(usize::from);
        if let Some(current) = current {
            let plan = self.world.arrive(current);
            yielding |= plan.operation.yields && !plan.ended;
        }
        if self.plain
            && !yielding
            && let Some(chosen) = self.choose_plainly(tasks, current, settings.quantum)
        {
            return Some(chosen);
        }
        self.choose_in_line(settings, tasks, current, yielding, guide)
    }

    /// The same, with a line of all who could go on. Apart from the rest, which is short and has to be quick.
    #[inline(never)]
    fn choose_in_line(
        &mut self,
        settings: &Settings,
        tasks: &[&Task],
        current: Option<usize>,
        yielding: bool,
        guide: Guide,
    ) -> Option<TaskId> {
        if self.world.foreign && self.reducing {
            self.reducing = false;
            self.redundant = true;
        }
        let turn = if self.reducing { self.turn } else { current };
        if let (Some(current), true) = (current, yielding && !self.reducing) {
            self.alone.steps(current);
            self.alone.has_yielded();
        }
        let to_the_end = (yielding && turn == current) || self.in_a_row >= settings.quantum;
        if !self.line_up(tasks, first_in_line(turn, to_the_end), settings.spurious) {
            self.stuck = tasks.iter().map(|task| usize::from(task.id())).collect();
            return None;
        }
        self.skipped.clear();
        let chosen = if let Some(free) = self.free_step() {
            free
        } else {
            let position = match guide {
                None if self.reducing => self.awake(to_the_end),
                None => self.any(to_the_end),
                Some(guide) => {
                    let position = self.guided_by(guide, tasks, current, yielding)?;
                    self.walk.chosen(&self.line.iter().copied().collect(), to_the_end, position);
                    self.skipped.extend(self.line[..position].iter().map(|candidate| candidate.task));
                    position
                }
            };
            self.steps_at(position, turn, to_the_end);
            position
        };
        let chosen = self.line[chosen];
        if let Some(recording) = &mut self.recording {
            recording.point(tasks, current, chosen, self.skipped.clone());
        }
        if !self.meeting.met() {
            let several = self.line.iter().filter(|candidate| candidate.runnable).count() > 1;
            // Who starts a thread or waits for its end meets nobody.
            let touches = current.is_some_and(|task| self.world.touches(task) != Touches::Nothing);
            self.meeting.point(self.world.known(), current, several && touches, chosen.task);
        }
        Some(self.goes_on(chosen.task))
    }

    /// The same where everybody can step, or cannot and waits for a type of this crate, so that there is no need to line them up
    /// one by one. Nothing if it is not that simple.
    #[inline]
    fn choose_plainly(&mut self, tasks: &[&Task], current: Option<usize>, quantum: usize) -> Option<TaskId> {
        if self.in_a_row >= quantum || self.alone.has_to_wait().is_some() {
            return None;
        }
        let first = first_in_line(current, false);
        let mut line = Line::default();
        let mut next = usize::MAX;
        for task in tasks {
            let id = usize::from(task.id());
            match self.world.can_step(id) {
                Step::Now if task.runnable() => {}
                Step::Never if task.runnable() => continue,
                _ => return None,
            }
            next = next.min(if id >= first { id } else { usize::MAX });
            line.add(Candidate { task: id, runnable: true });
        }
        if line.length == 0 {
            return None;
        }
        // From the first on the line goes round, if anybody is there.
        line.first = if next == usize::MAX { line.first } else { next };
        let chosen = match self.walk.choose(&line, false) {
            0 => line.first,
            position => {
                let split = tasks.partition_point(|task| usize::from(task.id()) < first);
                let line = tasks[split..].iter().chain(&tasks[..split]).map(|task| usize::from(task.id()));
                line.filter(|&id| self.world.can_step(id) == Step::Now).nth(position)?
            }
        };
        self.count_step(chosen, line.length, current == Some(chosen));
        Some(self.goes_on(chosen))
    }

    #[inline]
    fn goes_on(&mut self, chosen: usize) -> TaskId {
        self.current = Some(chosen);
        self.world.current = chosen;
        TaskId::from(chosen)
    }

    /// Lines up who could take the next step, beginning with a task. False if nobody can.
    fn line_up(&mut self, tasks: &[&Task], first: usize, spurious: bool) -> bool {
        self.line.clear();
        let (mut timed, mut waking) = (false, false);
        let split = tasks.partition_point(|task| usize::from(task.id()) < first);
        for task in tasks[split..].iter().chain(&tasks[..split]) {
            let id = usize::from(task.id());
            let step = if task.runnable() { self.world.can_step(id) } else { Step::WakesUp };
            match step {
                Step::Now => {
                    self.line.push(Candidate { task: id, runnable: true });
                    continue;
                }
                Step::Never => continue,
                Step::TimesOut => timed = true,
                Step::WakesUp => {
                    self.seen.spurious_wake_ups = true;
                    waking = true;
                    if !spurious {
                        continue;
                    }
                }
            }
            self.line.push(Candidate { task: id, runnable: false });
        }
        let waits = self.alone.has_to_wait();
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
        if timed || waking {
            runnable_first(&mut self.line);
        }
        self.line.first().is_some_and(|first| first.runnable)
    }

    /// A step that touches nothing that others could touch: there is no need to try anything else first.
    fn free_step(&mut self) -> Option<usize> {
        if !self.reducing {
            return None;
        }
        let world = &self.world;
        let free = self
            .line
            .iter()
            .position(|candidate| candidate.runnable && world.touches(candidate.task) == Touches::Nothing)?;
        self.walk.mix(self.line[free].task as u64);
        self.seen.reduced |= self.line.len() > 1;
        Some(free)
    }

    /// The position in the line of the one who goes on; all before are delayed.
    fn any(&mut self, to_the_end: bool) -> usize {
        if self.redundant {
            return 0;
        }
        let position = self.walk.choose(&self.line.iter().copied().collect(), to_the_end);
        self.skipped.extend(self.line[..position].iter().map(|candidate| candidate.task));
        position
    }

    /// The same among those who are not left out here. If all are, the rest of the execution is one that was run before.
    fn awake(&mut self, to_the_end: bool) -> usize {
        let Execution { world, line, awake, .. } = self;
        awake.clear();
        awake.extend(line.iter().copied().filter(|candidate| !world.is_asleep(candidate.task)));
        self.seen.reduced |= awake.len() < line.len();
        if self.redundant || awake.is_empty() {
            self.redundant = true;
            return 0;
        }
        let chosen = self.walk.choose(&awake.iter().copied().collect(), to_the_end);
        self.skipped.extend(awake[..chosen].iter().map(|candidate| candidate.task));
        line.iter().position(|candidate| *candidate == awake[chosen]).unwrap_or(0)
    }

    /// The position in the line of the one whom a scheduler of shuttle chooses, among all in it.
    fn guided_by(
        &self,
        guide: &mut dyn Scheduler,
        tasks: &[&Task],
        current: Option<usize>,
        yielding: bool,
    ) -> Option<usize> {
        let position = |task: usize| self.line.iter().position(|candidate| candidate.task == task);
        let open: Vec<&Task> =
            tasks.iter().copied().filter(|task| position(task.id().into()).is_some()).collect();
        position(guide.next_task(&open, current.map(TaskId::from), yielding)?.into())
    }

    /// The task at a position in the line takes the next step.
    fn steps_at(&mut self, position: usize, turn: Option<usize>, to_the_end: bool) {
        let chosen = self.line[position].task;
        if self.reducing {
            self.world.put_to_sleep(&self.skipped);
            self.world.wake_dependent(chosen);
        }
        if !self.meeting.met() && self.world.meets(chosen) {
            self.meeting.shared();
        }
        self.count_step(chosen, self.line.len(), Some(chosen) == turn && !to_the_end);
        if self.reducing && self.world.yields(chosen) {
            self.alone.has_yielded();
        }
    }

    /// A task takes the next step, one of so many who could; whether it goes on, or another did before.
    #[inline]
    fn count_step(&mut self, chosen: usize, candidates: usize, goes_on: bool) {
        self.in_a_row = match candidates {
            1 => 0, // Alone, a task uses up nothing: there is nobody to wait for.
            _ if goes_on => self.in_a_row + 1,
            _ => 1,
        };
        // To start, and to wait for who has ended, changes nothing for those who wait.
        if self.world.foreign || self.world.touches(chosen) != Touches::Nothing {
            self.alone.steps(chosen);
        }
        self.turn = Some(chosen);
    }
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn a_number_below_any_divisor_takes_all_values() {
        for (values, n) in [(12, 2), (12, 3), (12, 4), (12, 6), (12, 12), (1, 1), (30, 5), (60, 15)] {
            let numbers = |make: &dyn Fn(u64) -> u64| {
                let mut numbers: Vec<u64> = (0..values).map(|chosen| make(spread(chosen, values))).collect();
                numbers.sort_unstable();
                numbers.dedup();
                numbers
            };
            let all: Vec<u64> = (0..n).collect();
            assert_eq!(numbers(&|value| value % n), all);
            assert_eq!(numbers(&|value| value as u32 as u64 % n), all);
            assert_eq!(numbers(&|value| ((u128::from(value) * u128::from(n)) >> 64) as u64), all);
            assert_eq!(numbers(&|value| (value as u32 as u64 * n) >> 32), all);
        }
    }
}
