//! Which engine when: a value that can be looked at, and what runs it.
//!
//! [`auto`] is the strategy that is used where no engine is named. It first asks about any number of threads, which is a
//! proof or nothing; then about one thread, two, three, four, by a [`portfolio`] of engines; and at last it counts
//! threads for as long as that may take. Integers, without bounds or those of a machine, are proved beside all this, by views;
//! and bugs are looked for by random runs and at rare points of control, behind wide inputs by executions with symbolic inputs, and among many Booleans by
//! decision diagrams.
//!
//! Claims race unchecked, so that a checker does not compete with the losers for the processor; before anything rests on a
//! claim it is [certified](Strategy::Certified).

use crate::above::thread_modular::both::Both;
use crate::above::thread_modular::flanagan_qadeer::Modular;
use crate::above::thread_modular::quadratic::Quadratic;
use crate::below::diagrams::{Diagrams, has_many_booleans};
use crate::below::free::Free;
use crate::below::growth;
use crate::below::inputs::{SymbolicInputs, has_wide_inputs};
use crate::below::orbits::{self, Orbits};
use crate::below::points::Points;
use crate::below::walks::Walks;
use crate::budget::Budget;
use crate::confirm::confirm;
use crate::engine::{Engine, EvidenceRejected, Info, Outcome, Setting, Takes, Threads};
use crate::forms::Forms;
use crate::journal::Journal;
use crate::meet::ai::Ai;
use crate::meet::coverability::unfold::Unfold;
use crate::meet::coverability::{COVERABILITY, COVERABILITY_PROOF, COVERABILITY_TRACE};
use crate::meet::cuba::CubaSymbolic;
use crate::meet::predicates::Predicates;
use crate::meet::progress::Progress;
use crate::meet::sandwich::Sandwich;
use crate::meet::views::Views;
use crate::race::{Lane, race};
use allways_evidence::{StopReason, Verdict};
use allways_model::program::Program;
use allways_model::task::{Abstraction, Instance, MOST_TRIED, Task};
use std::sync::Arc;
use std::time::Duration;

/// How long the sandwich is alone.
const SANDWICH_HEAD_START: Duration = Duration::from_millis(50);

/// The first turn of each engine beside it.
const FIRST_TURN: Duration = Duration::from_secs(1);

/// How long a program is tried with few threads if it may have more.
const SMALL_INSTANCE_BUDGET: Duration = Duration::from_secs(5);

/// How long thread-modular methods are tried with any number of threads.
const MODULAR_BUDGET: Duration = Duration::from_secs(2);

/// How long threads are counted before few of them are tried, and after.
const COVERABILITY_EARLY_BUDGET: Duration = Duration::from_secs(1);
const COVERABILITY_LATE_BUDGET: Duration = Duration::from_secs(30);

/// How long thread-modular sets are alone before programs are unfolded beside them with any number of threads, how long that is
/// tried at first, and how long it is waited for when nothing else is left to be tried.
const UNFOLD_HEAD_START: Duration = Duration::from_millis(50);
const UNFOLD_EARLY_BUDGET: Duration = Duration::from_secs(3);
const UNFOLD_PATIENCE: Duration = Duration::from_millis(200);

/// How long few threads are tried before threads are counted beside, and a run that was counted is made a trace: with few
/// threads it is shorter.
const TRACE_DELAY: Duration = Duration::from_secs(1);

/// How long a program with integers is searched with each number of threads before anything else is tried: bounds from above
/// that list values may have no end where a bug is near, or where there are few states.
const BUG_HUNT_BUDGET: Duration = Duration::from_millis(500);

/// How long an exact search is given where a bound from above hit a limit of the program.
const EXACT_BUDGET: Duration = Duration::from_secs(5);

/// How long the other engines are alone before views start: what they decide at once needs no solver.
const VIEWS_HEAD_START: Duration = Duration::from_millis(300);

/// How long the other engines are alone before there are views of the task that may do more, too: most that views prove, they
/// prove of the task itself.
const COARSE_VIEWS_HEAD_START: Duration = Duration::from_secs(2);

/// How long the other engines are alone before a part of the task is looked at: what has few states does not need that.
const PART_HEAD_START: Duration = Duration::from_secs(1);

/// How long it is looked at: what takes longer takes the time of proofs of the whole.
const PART_BUDGET: Duration = Duration::from_secs(20);

/// How long the other engines are alone before it is looked at whether locks prove that there are no data races, and how long that
/// is done.
const LOCKS_HEAD_START: Duration = Duration::from_millis(50);
const LOCKS_BUDGET: Duration = Duration::from_secs(30);

/// How long others are given before predicates are refined beside them: what views prove, they prove sooner.
const PREDICATES_HEAD_START: Duration = Duration::from_secs(3);

/// How long the other engines are alone before executions with symbolic inputs are followed, and how long that is done with
/// few threads, if their number is open.
const SYMBOLIC_HEAD_START: Duration = Duration::from_secs(1);
const SYMBOLIC_BUDGET: Duration = Duration::from_secs(8);

/// How long the other engines are alone before sets of values are diagrams, in programs with many Booleans, and how long that
/// is done with few threads, if their number is open, and with the last number.
const DIAGRAMS_HEAD_START: Duration = Duration::from_secs(1);
const DIAGRAMS_BUDGETS: [Duration; 2] = [Duration::from_secs(8), Duration::from_secs(60)];

/// How long views are waited for after the others have given up.
const VIEWS_PATIENCE: Duration = Duration::from_secs(60);

/// How long the other engines are alone before bugs are hunted: most bugs, and most proofs, take no longer.
const HUNTS_HEAD_START: Duration = Duration::from_secs(2);

/// How long the other engines are alone before all schedules are explored beside them, to the end or to half of the memory.
const FREE_HEAD_START: Duration = Duration::from_secs(1);

/// How long random runs are made, first and then again, with each number of threads if that is open. No longer: they take time
/// and memory from those that prove.
const WALKS_BUDGETS: [Duration; 3] =
    [Duration::from_millis(300), Duration::from_millis(1000), Duration::from_secs(8)];

/// How long rare combinations of points of control are looked for in between, with each number of threads if that is open.
const POINTS_BUDGETS: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(10)];

/// How long engines that list values run at full speed beside those with a solver, where the data is wide: what they can list,
/// they have mostly listed by then.
const STEPS_BACK: Duration = Duration::from_secs(10);

/// How long deadlocks are looked for in programs with integers, with each number of threads if that is open, before it is asked
/// whether there is an end of states; and how long that is asked.
const DEADLOCK_HUNT_BUDGETS: [Duration; 2] = [Duration::from_millis(500), Duration::from_millis(250)];
const GROWTH_BUDGET: Duration = Duration::from_secs(1);

/// Which engine when.
#[derive(Clone)]
pub enum Strategy {
    /// This engine, on the instance that is asked about.
    Run(&'static dyn Engine),
    /// The [portfolio] for the instance that is asked about.
    Portfolio(FreeSearch),
    /// One after the other, until the question is settled. What the last one says counts, of those that are not only tried.
    Then(Vec<Strategy>),
    /// Side by side, each after a head start of the others, until the question is settled.
    Race {
        /// The lanes; the first says why nothing is known if none settles it.
        lanes: Vec<(Duration, Strategy)>,
        /// How long the others go on when the first has ended.
        patience: Option<Duration>,
        /// Whether the reasons of the others are told too.
        all_reasons: bool,
    },
    /// In turns, each longer than the one before; what has given up once is not asked again.
    Turns(Vec<&'static dyn Engine>),
    /// For so long at most.
    Within(Duration, Box<Strategy>),
    /// Leaves half of the memory to the others.
    Sparing(Box<Strategy>),
    /// Has the claim checked.
    Certified(Box<Strategy>),
    /// If it settles nothing, it was as if it had not been tried.
    Try(Box<Strategy>),
    /// In a race, it steps back after a while for those that do not.
    StepsBack(Box<Strategy>),
    /// With any number of threads, if the task leaves the number open.
    AnyNumber(Box<Strategy>),
    /// With one thread, two, three, four if the task leaves the number open, all but the last for so long at most; otherwise
    /// just as the task says.
    Grow(Duration, Box<Strategy>),
    /// What is used for a fixed and for any number of threads, on the coarse task, if there is one: a proof or
    /// nothing. Beside that views, if its data is wide.
    Coarse,
    /// Thread-modular proofs of the part of the task that decides it, if there is one.
    Part,
    /// Proofs of locks and what they protect, if that is asked.
    Locks,
    /// On the task for formulas, if there is one: a proof, or why there is none.
    Formulas(Box<Strategy>),
    /// Not if integers take ever new values: what lists states comes to no end then.
    UnlessGrowing(Box<Strategy>),
    /// If a limit of the program was hit, perhaps in states that no run reaches: forgets that, and looks again.
    IfLimitsHit(Box<Strategy>),
}

/// Whether a free search is one of a [portfolio].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum FreeSearch {
    /// In turns with others.
    InTurns,
    /// It runs elsewhere.
    Elsewhere,
}

impl Strategy {
    /// For so long at most.
    #[must_use]
    pub fn within(self, share: Duration) -> Strategy {
        Strategy::Within(share, Box::new(self))
    }

    /// Checked before it counts.
    #[must_use]
    pub fn certified(self) -> Strategy {
        Strategy::Certified(Box::new(self))
    }

    /// Only tried.
    #[must_use]
    pub fn tried(self) -> Strategy {
        Strategy::Try(Box::new(self))
    }

    /// With any number of threads.
    #[must_use]
    pub fn any_number(self) -> Strategy {
        Strategy::AnyNumber(Box::new(self))
    }

    /// With more and more threads.
    #[must_use]
    pub fn growing(self) -> Strategy {
        Strategy::Grow(SMALL_INSTANCE_BUDGET, Box::new(self))
    }

    /// As a lane of a race.
    fn lane<'a, T>(&self, after: Duration, run: &'a (dyn Fn(&Budget) -> T + Sync)) -> Lane<'a, T> {
        let steps_back = matches!(self, Strategy::StepsBack(_)).then_some(STEPS_BACK);
        Lane { after, steps_back, run }
    }

    /// How an engine is used that a user has named.
    pub fn of(engine: &'static dyn Engine, forms: &Forms) -> Strategy {
        let run = || Strategy::Run(engine).certified();
        let info = engine.info();
        let by_formulas = info.takes == Takes::Programs && info.settings.contains(&Setting::Solver);
        match info.threads {
            Threads::AsStated if by_formulas && forms.abstraction(Abstraction::Formulas).is_some() => {
                Strategy::Then(vec![Strategy::Formulas(Box::new(run())).tried(), Strategy::Run(engine)])
            }
            Threads::AsStated => Strategy::Run(engine),
            Threads::FixedOrAny if !forms.question().bounded() => {
                Strategy::Then(vec![run().any_number().tried(), run().growing()])
            }
            Threads::Fixed | Threads::FixedOrAny => run().growing(),
        }
    }

    /// Runs it. `None` if there was nothing to be done.
    pub fn run(&self, forms: &Forms, budget: &Budget) -> Option<Outcome> {
        if let Err(reason) = budget.check() {
            return Some(Outcome::unknown(reason));
        }
        match self {
            Strategy::Run(engine) => Some(run_engine(*engine, forms, budget)),
            Strategy::Portfolio(free) => portfolio(forms, *free).run(forms, budget),
            Strategy::Then(parts) => one_after_the_other(parts, forms, budget),
            Strategy::Race { lanes, patience, all_reasons } => {
                side_by_side(lanes, *patience, *all_reasons, forms, budget)
            }
            Strategy::Turns(engines) => in_turns(engines, forms, budget),
            Strategy::Within(share, strategy) => strategy.run(forms, &budget.within(*share)),
            Strategy::Sparing(strategy) => strategy.run(forms, &budget.sparing()),
            Strategy::Certified(strategy) => {
                let mut outcome = strategy.run(forms, budget)?;
                confirm(forms, &mut outcome, budget);
                Some(outcome)
            }
            Strategy::Try(strategy) => strategy.run(forms, budget).filter(Outcome::settled),
            Strategy::StepsBack(strategy) => strategy.run(forms, budget),
            Strategy::AnyNumber(strategy) => {
                if !forms.is_open() {
                    return None;
                }
                let mut outcome = strategy.run(&forms.at(Instance::Any), budget)?;
                outcome.instance.get_or_insert(Instance::Any);
                Some(outcome)
            }
            Strategy::Grow(small, strategy) => grow(*small, strategy, forms, budget),
            Strategy::Coarse => {
                let coarse = forms.abstraction(Abstraction::Coarse)?;
                let mut lanes = vec![(Duration::ZERO, listing(&coarse, FreeSearch::InTurns))];
                if coarse.task().is_some_and(|task| task.has_wide_values()) {
                    lanes.push((COARSE_VIEWS_HEAD_START, Strategy::Run(&Views).certified()));
                }
                let race = Strategy::Race { lanes, patience: Some(VIEWS_PATIENCE), all_reasons: false };
                prove(Abstraction::Coarse, &coarse, &race, budget)
            }
            Strategy::Part => {
                let part = forms.abstraction(Abstraction::Part)?;
                prove(Abstraction::Part, &part, &thread_by_thread(&part), &budget.within(PART_BUDGET))
            }
            Strategy::Locks => {
                let locks = forms.abstraction(Abstraction::Locks)?;
                prove(Abstraction::Locks, &locks, &by_locks(&locks), &budget.within(LOCKS_BUDGET))
            }
            Strategy::Formulas(strategy) => {
                let outcome = strategy.run(&forms.abstraction(Abstraction::Formulas)?, budget)?;
                let abstraction = Some(Abstraction::Formulas);
                (!matches!(outcome.verdict, Verdict::Unsafe(_))).then_some(Outcome { abstraction, ..outcome })
            }
            Strategy::UnlessGrowing(strategy) => match growing(forms, &budget.within(GROWTH_BUDGET)) {
                Some(why) => Some(Outcome::unknown(StopReason::GaveUp(why))),
                None => strategy.run(forms, budget),
            },
            Strategy::IfLimitsHit(strategy) => {
                if !(forms.limits_hit() && forms.reset_limits()) {
                    return None;
                }
                strategy.run(forms, budget)
            }
        }
    }
}

/// Which integers take ever new values, with as few threads as that takes.
fn growing(forms: &Forms, budget: &Budget) -> Option<String> {
    let (task, program) = (forms.task()?, forms.program()?);
    let reduction = forms.reduction(program);
    let most = if forms.is_open() { MOST_TRIED } else { 1 };
    for number in 1..=most {
        let threads = task.threads_of(program, &Instance::Few(number)).ok()??;
        let names: Vec<String> = growth::growing(&reduction, &threads.running, budget)
            .into_iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let (names, seem) = match &names[..] {
            [] => continue,
            [one] => (one.clone(), "seems"),
            [first, second] => (format!("{first} and {second}"), "seem"),
            [first, second, ..] => (format!("{first}, {second} and others"), "seem"),
        };
        return Some(format!(
            "{names} {seem} to take ever new values, so that listing states would have no end"
        ));
    }
    None
}

/// Proves a task beside a task; nothing if that fails.
fn prove(kind: Abstraction, other: &Forms, strategy: &Strategy, budget: &Budget) -> Option<Outcome> {
    let outcome = strategy.run(other, budget)?;
    let safe = matches!(outcome.verdict, Verdict::Safe(_));
    safe.then_some(Outcome { abstraction: Some(kind), ..outcome })
}

/// Thread-modular proofs. Where what threads use to wait for each other is left out, there is little that others prove.
fn thread_by_thread(forms: &Forms) -> Strategy {
    let modular = Strategy::Then(MODULAR.map(Strategy::Run).to_vec()).certified();
    if forms.is_open() { modular.any_number() } else { modular }
}

/// Proofs of what there is beside data: thread-modular ones first, and where threads wait for each other in other ways than for
/// locks, those of all threads together.
fn by_locks(forms: &Forms) -> Strategy {
    let together: &dyn Engine = if forms.is_open() { &COVERABILITY_PROOF } else { &Sandwich };
    let modular = Strategy::Then(MODULAR.map(Strategy::Run).to_vec()).certified().within(MODULAR_BUDGET);
    let both = Strategy::Then(vec![modular, Strategy::Run(together).certified()]);
    if forms.is_open() { both.any_number() } else { both }
}

/// Runs one engine, and says that it was this one.
pub fn run_engine(engine: &dyn Engine, forms: &Forms, budget: &Budget) -> Outcome {
    if engine.info().takes == Takes::All {
        // Those that it asks are noted.
        return engine.run(forms, budget).by(engine.info());
    }
    let budget = budget.of_engine(engine.info().name);
    Journal::noting(engine.info(), forms, || engine.run(forms, &budget).by(engine.info()))
}

fn one_after_the_other(parts: &[Strategy], forms: &Forms, budget: &Budget) -> Option<Outcome> {
    let mut last: Option<Outcome> = None;
    for part in parts {
        let Some(outcome) = part.run(forms, budget) else { continue };
        let go_on = matches!(outcome.verdict, Verdict::Unknown(StopReason::GaveUp(_) | StopReason::Time));
        if outcome.settled() || !go_on || budget.check().is_err() {
            return Some(outcome);
        }
        last = Some(outcome);
    }
    last
}

fn side_by_side(
    lanes: &[(Duration, Strategy)],
    patience: Option<Duration>,
    all_reasons: bool,
    forms: &Forms,
    budget: &Budget,
) -> Option<Outcome> {
    let runs: Vec<_> =
        lanes.iter().map(|(_, strategy)| move |budget: &Budget| strategy.run(forms, budget)).collect();
    let lanes: Vec<Lane<'_, Option<Outcome>>> =
        lanes.iter().zip(&runs).map(|((after, strategy), run)| strategy.lane(*after, run)).collect();
    let settled = |outcome: &Option<Outcome>| outcome.as_ref().is_some_and(Outcome::settled);
    let raced = race(&lanes, settled, patience, budget);
    let safe = |outcome: &Outcome| matches!(outcome.verdict, Verdict::Safe(_));
    let outcomes = || raced.results.iter().flatten().flatten().filter(|outcome| outcome.settled());
    if let (Some(proof), Some(_)) =
        (outcomes().find(|outcome| safe(outcome)), outcomes().find(|outcome| !safe(outcome)))
    {
        // Both cannot be right.
        let engine = proof.engine.map_or("", |info| info.name);
        let why = "there is a run that goes wrong".to_string();
        let rejected = EvidenceRejected { engine, claim: "safe", why };
        return Some(Outcome { rejected: Some(rejected), ..proof.clone() });
    }
    let mut reasons = raced.results.iter().flatten().flatten().map(|outcome| &outcome.verdict);
    let reason = match (reasons.next(), reasons.next()) {
        (
            Some(Verdict::Unknown(first @ (StopReason::GaveUp(_) | StopReason::Time))),
            Some(Verdict::Unknown(StopReason::GaveUp(second))),
        ) if all_reasons => Some(StopReason::GaveUp(format!("{first}; {second}"))),
        _ => None,
    };
    let undecided = raced.winner.is_none();
    let mut best = raced.best()?;
    if let (true, Some(reason)) = (undecided, reason) {
        best.verdict = Verdict::Unknown(reason);
    }
    Some(best)
}

fn in_turns(engines: &[&'static dyn Engine], forms: &Forms, budget: &Budget) -> Option<Outcome> {
    let mut engines = engines.to_vec();
    let mut share = FIRST_TURN;
    loop {
        let mut unfinished = Vec::new();
        let mut last = None;
        for &engine in &engines {
            let outcome = run_engine(engine, forms, &budget.within(share));
            if outcome.settled() || budget.check().is_err() {
                return Some(outcome);
            }
            if outcome.verdict == Verdict::Unknown(StopReason::Time) {
                unfinished.push(engine);
            }
            last = Some(outcome);
        }
        if unfinished.is_empty() {
            return last;
        }
        // What has given up once will do so again.
        engines = unfinished;
        share *= 4;
    }
}

fn grow(small: Duration, strategy: &Strategy, forms: &Forms, budget: &Budget) -> Option<Outcome> {
    if !forms.is_open() {
        return strategy.run(forms, budget);
    }
    for number in 1..=MOST_TRIED {
        let instance = Instance::Few(number);
        let child = if number < MOST_TRIED { budget.within(small) } else { budget.child() };
        let mut outcome = strategy.run(&forms.at(instance.clone()), &child)?;
        outcome.instance.get_or_insert(instance);
        let more = matches!(outcome.verdict, Verdict::Unknown(StopReason::GaveUp(_) | StopReason::Time));
        if number == MOST_TRIED || !more || outcome.settled() || budget.check().is_err() {
            return Some(outcome);
        }
    }
    None
}

/// Thread-modular methods, the cheap ones first. They prove what they prove whatever the number of threads.
const MODULAR: [&dyn Engine; 3] = [&Modular, &Quadratic, &Both];

/// What is used for a fixed number of threads: the sandwich, which decides most systems in milliseconds, and after a moment
/// others beside it on the second core: thread-modular methods; a free search, which decides finite systems and finds
/// shallow bugs; AI, whose schedules differ from those of the search; and CUBA with automata, for contexts that reach
/// infinitely many states. Of any number of threads only thread-modular methods know something, so there they are alone.
pub fn portfolio(forms: &Forms, free: FreeSearch) -> Strategy {
    let crowd = forms.pushdown().is_ok_and(|form| {
        let system = &*form.system;
        (0..system.threads()).any(|thread| system.many(thread))
    });
    if crowd {
        return Strategy::Then(MODULAR.map(Strategy::Run).to_vec());
    }
    let question = forms.question();
    let mut others: Vec<&'static dyn Engine> = vec![&Free, &Ai, &CubaSymbolic];
    if free == FreeSearch::Elsewhere {
        others.remove(0);
    }
    if forms.has_property() && !question.bounded() {
        others.splice(0..0, MODULAR);
    }
    let mut lanes =
        vec![(Duration::ZERO, Strategy::Run(&Sandwich)), (SANDWICH_HEAD_START, Strategy::Turns(others))];
    if orbits::supports(forms) {
        // One state of many is looked at, so that who looks at all of them has little to add.
        (lanes[0].0, lanes[1].0) = (SANDWICH_HEAD_START, FIRST_TURN);
        lanes.insert(0, (Duration::ZERO, Strategy::Run(&Orbits)));
    }
    Strategy::Race { lanes, patience: None, all_reasons: false }
}

fn ended(outcome: Option<Outcome>) -> Outcome {
    outcome.unwrap_or_else(|| Outcome::unknown(StopReason::GaveUp("there is nothing to do".to_string())))
}

/// Engines that list states, with few threads and with any number.
fn listing(forms: &Forms, free: FreeSearch) -> Strategy {
    let question = forms.question();
    let few = Strategy::Then(vec![
        Strategy::Portfolio(free).certified(),
        Strategy::IfLimitsHit(Box::new(Strategy::Run(&Free).certified().within(EXACT_BUDGET))).tried(),
    ]);
    let mut parts = vec![few.growing()];
    if !question.bounded() {
        let modular = Strategy::Then(MODULAR.map(Strategy::Run).to_vec());
        parts.insert(0, modular.certified().within(MODULAR_BUDGET).any_number().tried());
        if forms.is_open() && !question.property.deadlock {
            let count = |engine: &'static dyn Engine, share| {
                Strategy::Run(engine).certified().within(share).any_number().tried()
            };
            let race = |lanes, patience| Strategy::Race { lanes, patience, all_reasons: false };
            let (few, modular) = (parts.remove(1), parts.remove(0));
            let bounded =
                Strategy::Then(vec![modular, count(&COVERABILITY_PROOF, COVERABILITY_EARLY_BUDGET)]);
            let mut lanes = vec![(Duration::ZERO, bounded)];
            // With integers there is mostly no end of what can be unfolded, and views need the second core.
            if !forms.task().is_some_and(|task| task.has_integers()) {
                lanes.push((UNFOLD_HEAD_START, count(&Unfold, UNFOLD_EARLY_BUDGET)));
            }
            parts.push(race(lanes, Some(UNFOLD_PATIENCE)));
            let lanes = vec![
                (Duration::ZERO, few),
                (TRACE_DELAY, count(&COVERABILITY_TRACE, COVERABILITY_LATE_BUDGET)),
            ];
            parts.push(race(lanes, None));
            let lanes = vec![
                (Duration::ZERO, count(&COVERABILITY, COVERABILITY_LATE_BUDGET)),
                (Duration::ZERO, count(&Unfold, COVERABILITY_LATE_BUDGET)),
            ];
            parts.push(race(lanes, None));
        }
    }
    Strategy::Then(parts)
}

/// What is used where no engine is named. Promises of progress are checked by one engine, with all the rest.
pub fn auto(forms: &Forms) -> Strategy {
    if forms.task().is_some_and(Task::asks_progress) { Strategy::Run(&Progress) } else { safety(forms) }
}

/// What is used to find out whether something goes wrong.
pub fn safety(forms: &Forms) -> Strategy {
    let question = forms.question();
    if forms.counters().is_some() {
        return Strategy::Run(&COVERABILITY);
    }
    let Some(task) = forms.task().filter(|task| task.program().is_some()) else {
        return portfolio(forms, FreeSearch::InTurns);
    };
    let deadlock = question.property.deadlock;
    let integers = task.has_integers();
    let wide = !question.bounded() && task.has_wide_values() && (!deadlock || integers);
    // With integers there is mostly no end of it.
    let free_lane = !question.bounded() && !integers;
    let mut first = listing(forms, if free_lane { FreeSearch::Elsewhere } else { FreeSearch::InTurns });
    if wide && integers {
        let [fixed, open] = DEADLOCK_HUNT_BUDGETS;
        let share = match (deadlock, forms.is_open()) {
            (false, _) => BUG_HUNT_BUDGET,
            (true, false) => fixed,
            (true, true) => open,
        };
        let hunt = Strategy::Run(&Free).certified().within(share).growing().tried();
        // Deadlocks are excluded by listing states alone.
        let rest = if deadlock { Strategy::UnlessGrowing(Box::new(first)) } else { first };
        first = Strategy::Then(vec![hunt, rest]);
    }
    let by_solver = wide && !deadlock;
    let behind = |strategy: Strategy| match by_solver {
        true => Strategy::StepsBack(Box::new(strategy)),
        false => strategy,
    };
    let mut lanes = vec![(Duration::ZERO, behind(first))];
    if by_solver {
        let views = Strategy::Run(&Views).certified();
        let predicates = Strategy::Run(&Predicates).certified();
        let (views, predicates) = match task.abstraction(Abstraction::Formulas).is_some() {
            true => {
                let of_formulas = Strategy::Formulas(Box::new(predicates.clone())).tried();
                (Strategy::Formulas(Box::new(views)), Strategy::Then(vec![of_formulas, predicates]))
            }
            false => (views, predicates),
        };
        lanes.push((VIEWS_HEAD_START, views));
        lanes.push((VIEWS_HEAD_START, behind(Strategy::Coarse)));
        lanes.push((PREDICATES_HEAD_START, predicates.tried()));
    }
    if !question.bounded() && !deadlock && task.abstraction(Abstraction::Part).is_some() {
        lanes.push((PART_HEAD_START, behind(Strategy::Part)));
    }
    if !question.bounded() && !deadlock && task.abstraction(Abstraction::Locks).is_some() {
        lanes.push((LOCKS_HEAD_START, Strategy::Locks));
    }
    if !question.bounded() && task.program().is_some_and(|program| has_wide_inputs(program)) {
        let run = Box::new(Strategy::Run(&SymbolicInputs).certified());
        lanes.push((SYMBOLIC_HEAD_START, behind(Strategy::Grow(SYMBOLIC_BUDGET, run).tried())));
    }
    if free_lane {
        let run = Strategy::Sparing(Box::new(Strategy::Run(&Free).certified().growing()));
        lanes.push((FREE_HEAD_START, run.tried()));
    }
    let many = |program: &Arc<Program>| has_many_booleans(program) && Diagrams.supports(forms).is_ok();
    if !question.bounded() && forms.has_property() && task.program().is_some_and(many) {
        let [few, last] = DIAGRAMS_BUDGETS;
        let run = Box::new(Strategy::Run(&Diagrams).certified().within(last));
        lanes.push((DIAGRAMS_HEAD_START, behind(Strategy::Grow(few, run).tried())));
    }
    if !question.bounded() && forms.has_property() && !integers {
        let hunt = |engine: &'static dyn Engine, budget| {
            Strategy::Grow(budget, Box::new(Strategy::Run(engine).certified().within(budget)))
        };
        let [first, second, last] = WALKS_BUDGETS;
        let [early, late] = POINTS_BUDGETS;
        let hunts = vec![
            hunt(&Walks, first),
            hunt(&Points, early),
            hunt(&Walks, second),
            hunt(&Points, late),
            hunt(&Walks, last),
        ];
        lanes.push((HUNTS_HEAD_START, Strategy::Then(hunts).tried()));
    }
    Strategy::Race { lanes, patience: Some(VIEWS_PATIENCE), all_reasons: true }
}

/// The strategy [`auto`], as an engine that can be named.
pub struct Auto;

const AUTO: Info = Info {
    takes: Takes::All,
    threads: Threads::AsStated,
    ..Info::new(
        "auto",
        "the sandwich; if that takes long, others beside it; the answer names the one that gave it",
    )
    .knowing(&[Setting::NoSymmetry, Setting::Window, Setting::Solver])
};

impl Engine for Auto {
    fn info(&self) -> &'static Info {
        &AUTO
    }

    fn supports(&self, _: &Forms) -> Result<(), String> {
        Ok(())
    }

    fn run(&self, forms: &Forms, budget: &Budget) -> Outcome {
        let mut outcome = ended(auto(forms).run(forms, budget));
        if outcome.verdict == Verdict::Unknown(StopReason::Time) && budget.check().is_ok() {
            // Not the caller's limit, but what is given to questions that nothing here may be able to answer.
            let why = "no engine has settled it, and none may be able to: give --engine to wait for one"
                .to_string();
            outcome.verdict = Verdict::Unknown(StopReason::GaveUp(why));
        }
        outcome
    }
}
