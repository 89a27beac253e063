//! R(r,d): the states reachable in `r` rounds of round-robin scheduling with `d` delays (DrUBA, Definition 1).
//!
//! Time is a sequence of slots; slot `p` belongs to thread `p mod n`. In its slot a thread takes a step, or is delayed;
//! if it cannot move, the slot passes at no cost. R(r,d) is what is seen within `r·n` slots and `d` delays.
//!
//! # What is stored
//!
//! A *node* is a state and the thread that is next; it was reached at some *costs* (rounds completed, delays taken). A
//! node reached at (k,e) can do whatever it can do at any (k',e') with k ≤ k' and e ≤ e', so only Pareto-minimal costs are
//! expanded. The paper's Algorithm 1 keeps a single cost per node, the first one, and thereby loses schedules (see
//! `docs/decisions/0002-pareto-costs.md`).
//!
//! The set of minimal costs of a node need not be stored. When the round bound grows, all new costs have the largest k so
//! far, and (k,e) is dominated exactly if e is at least the smallest e of the node. When the delay bound grows, all new
//! costs have the largest e, and (k,e) is dominated exactly if k is at least the node's smallest k. So two small numbers
//! per node are enough.
//!
//! # Frontiers
//!
//! * `last[e]`: nodes in slot `r·n` at `e` delays; a further round starts from these;
//! * `delayed`: nodes at exactly `d` delays, by slot; a further delay starts from these.
//!
//! Every minimal cost of a node is expanded once, in the order of slots (a further delay) or of slots and then delays (a
//! further round), which makes the first cost that arrives at a node in an increment the smallest.

use crate::engine::{Engine, Figures, Progress, Question, Report, Watch};
use crate::store::states::make_room;
use crate::store::{Disabled, Halt, Space, StateId};
use allways_evidence::{StopReason, Verdict};
use allways_model::pushdown::Pushdown;
use allways_model::symmetry::Kinds;

/// The smallest number of rounds and the smallest number of delays at which a node was reached, not necessarily together.
#[derive(Clone, Copy)]
struct Costs {
    rounds: u16,
    delays: u16,
}

const UNREACHED: Costs = Costs { rounds: u16::MAX, delays: u16::MAX };

/// The largest bound that [`Costs`] can hold.
const MAX_BOUND: u32 = u16::MAX as u32 - 1;

/// The set R(r,d), growing in `r` and `d`.
pub struct Explorer<'a> {
    space: Space<'a>,
    rounds: u32,
    delays: u32,
    /// For each state, one entry per next thread.
    costs: Vec<Costs>,
    nodes: usize,
    last: Vec<Vec<StateId>>,
    delayed: Slots,
    /// Empty slots passed.
    idle: u32,
    targets: Vec<StateId>,
}

/// Nodes by slot, in one array.
#[derive(Default)]
struct Slots {
    states: Vec<StateId>,
    /// Slot `p` ends here in `states`.
    ends: Vec<usize>,
}

impl Slots {
    fn slot(&self, slot: usize) -> std::ops::Range<usize> {
        let start = if slot == 0 { 0 } else { self.ends[slot - 1] };
        start..self.ends[slot]
    }

    fn push_slot(&mut self, states: &[StateId]) {
        self.states.extend_from_slice(states);
        self.ends.push(self.states.len());
    }
}

impl<'a> Explorer<'a> {
    /// R(0,d): the initial states. `delays` are allowed from the start.
    pub fn new(
        system: &'a dyn Pushdown,
        question: &'a Question,
        delays: u32,
        watch: &'a Watch<'a>,
    ) -> Explorer<'a> {
        let space = Space::new(system, Kinds::distinct(system.threads()), question, watch);
        let initial: Vec<StateId> = (0..space.len() as StateId).collect();
        let mut explorer = Explorer {
            costs: vec![UNREACHED; initial.len() * space.threads.count()],
            nodes: initial.len(),
            space,
            rounds: 0,
            delays,
            last: vec![Vec::new(); delays as usize + 1],
            delayed: Slots::default(),
            idle: 0,
            targets: Vec::new(),
        };
        for &state in &initial {
            *explorer.cost(state, 0) = Costs { rounds: 0, delays: 0 };
        }
        explorer.delayed.push_slot(if delays == 0 { &initial } else { &[] });
        explorer.last[0] = initial;
        explorer
    }

    /// The states reached, R(r,d).
    pub fn space(&self) -> &Space<'a> {
        &self.space
    }

    /// The bound on rounds.
    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The bound on delays.
    pub fn delays(&self) -> u32 {
        self.delays
    }

    /// How many nodes (state, next thread) were reached.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Whether no bounds, however large, would show a further state: nothing waits for a round or for a delay.
    pub fn exhausted(&self) -> bool {
        self.delayed.states.is_empty() && self.last.iter().all(Vec::is_empty)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let last: usize = self.last.iter().map(Vec::capacity).sum();
        let ids = last + self.delayed.states.capacity() + self.targets.capacity();
        self.space.bytes() + self.costs.capacity() * size_of::<Costs>() + ids * size_of::<StateId>()
    }

    fn cost(&mut self, state: StateId, next: usize) -> &mut Costs {
        &mut self.costs[state as usize * self.space.threads.count() + next]
    }

    /// From R(r,d) to R(rounds,d).
    pub fn add_rounds(&mut self, rounds: u32) -> Result<(), Halt> {
        self.space.alarm()?;
        while self.rounds < rounds {
            self.add_round()?;
        }
        Ok(())
    }

    /// From R(r,d) to R(r+1,d).
    pub fn add_round(&mut self) -> Result<(), Halt> {
        if self.rounds == MAX_BOUND {
            return Err(StopReason::Bound(format!("{MAX_BOUND} rounds")).into());
        }
        self.rounds += 1;
        let threads = self.space.threads.count();
        let levels = self.last.len();
        let mut nodes = std::mem::replace(&mut self.last, vec![Vec::new(); levels]);
        for thread in 0..threads {
            let next = (thread + 1) % threads;
            let rounds = if next == 0 { self.rounds } else { self.rounds - 1 };
            let mut after = vec![Vec::new(); levels];
            for delays in 0..levels {
                self.step(thread, &nodes[delays])?;
                if delays > 0 {
                    self.targets.extend_from_slice(&nodes[delays - 1]);
                }
                let cost = Costs { rounds: rounds as u16, delays: delays as u16 };
                self.arrive(next, cost, &mut after[delays], |old, new| new.delays < old.delays);
            }
            nodes = after;
            self.delayed.push_slot(&nodes[levels - 1]);
        }
        self.last = nodes;
        Ok(())
    }

    /// From R(r,d) to R(r,d+1).
    pub fn add_delay(&mut self) -> Result<(), Halt> {
        if self.delays == MAX_BOUND {
            return Err(StopReason::Bound(format!("{MAX_BOUND} delays")).into());
        }
        self.delays += 1;
        let threads = self.space.threads.count();
        let before = std::mem::take(&mut self.delayed);
        self.delayed.push_slot(&[]);
        let mut nodes = Vec::new();
        for slot in 0..self.rounds as usize * threads {
            let next = (slot + 1) % threads;
            let rounds = (slot + 1) / threads;
            self.step(slot % threads, &nodes)?;
            self.targets.extend_from_slice(&before.states[before.slot(slot)]);
            nodes.clear();
            let cost = Costs { rounds: rounds as u16, delays: self.delays as u16 };
            self.arrive(next, cost, &mut nodes, |old, new| new.rounds < old.rounds);
            self.delayed.push_slot(&nodes);
        }
        self.last.push(nodes);
        Ok(())
    }

    /// Collects in `targets` where `thread` leads from these nodes.
    fn step(&mut self, thread: usize, nodes: &[StateId]) -> Result<(), Halt> {
        self.targets.clear();
        let progress =
            Progress { rounds: Some(self.rounds), delays: Some(self.delays), ..Progress::default() };
        if nodes.is_empty() {
            // Many slots and delays may be empty: time passes all the same.
            self.idle += 1;
            return if self.idle.is_multiple_of(1024) { self.space.poll(progress) } else { Ok(()) };
        }
        self.space.image(thread, nodes, Disabled::Stutters, progress, &mut self.targets)
    }

    /// Admits the targets as nodes whose next thread is `next`, unless their cost is dominated.
    fn arrive(
        &mut self,
        next: usize,
        cost: Costs,
        admitted: &mut Vec<StateId>,
        undominated: impl Fn(Costs, Costs) -> bool,
    ) {
        let threads = self.space.threads.count();
        let new = self.space.len() * threads - self.costs.len();
        make_room(&mut self.costs, new);
        self.costs.resize(self.space.len() * threads, UNREACHED);
        for &state in &self.targets {
            let old = &mut self.costs[state as usize * threads + next];
            if undominated(*old, cost) {
                self.nodes += usize::from(old.rounds == u16::MAX);
                *old = Costs { rounds: old.rounds.min(cost.rounds), delays: old.delays.min(cost.delays) };
                admitted.push(state);
            }
        }
    }

    /// What the run took, up to now.
    pub fn figures(&self) -> Figures {
        Figures {
            concrete_states: Some(self.space.len()),
            found_pairs: Some(self.nodes),
            rounds: Some(self.rounds),
            delays: Some(self.delays),
            images: self.space.images(),
            store_bytes: self.bytes(),
            ..Figures::default()
        }
    }

    /// The verdict on a run that stopped here.
    pub fn halted(&self, halt: Halt) -> Verdict {
        match halt {
            Halt::Bad(state) => Verdict::from(self.space.trace(state)),
            Halt::Stop(reason) => Verdict::Unknown(reason),
        }
    }
}

/// Explores exactly R(r,d) for given bounds.
pub struct RoundsDelays;

impl Engine for RoundsDelays {
    fn name(&self) -> &'static str {
        "rounds-delays"
    }

    fn summary(&self) -> &'static str {
        "explores exactly the states within --rounds and --delays (DrUBA, Definition 1)"
    }

    fn run(&self, system: &dyn Pushdown, question: &Question, watch: &Watch) -> Report {
        let (rounds, delays) = (question.rounds.unwrap_or(0), question.delays.unwrap_or(0));
        let mut explorer = Explorer::new(system, question, delays.min(MAX_BOUND), watch);
        let halt = match explorer.add_rounds(rounds) {
            Ok(()) => {
                let some = |number: u32, thing: &str| {
                    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
                };
                StopReason::Bound(format!("{} and {}", some(rounds, "round"), some(delays, "delay"))).into()
            }
            Err(halt) => halt,
        };
        Report {
            verdict: explorer.halted(halt),
            visible: explorer.space().observed().visible(),
            exact: false,
            figures: explorer.figures(),
            engine: None,
        }
    }
}
