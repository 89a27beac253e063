//! Invariants up to renaming of threads: one state of each orbit is enough, and kinds are tested and not trusted.

mod common;

use allways_evidence::rejection::{Missing, Origin};
use allways_evidence::{Certificate, Evidence, Invariant, Rejection, Window};
use allways_model::property::Property;
use allways_model::pushdown::{EMPTY, Explicit, Pushdown, Rule, Shared, State, Symbol, Visible};
use allways_model::symmetry::Kinds;
use common::naive::{reachable, shuffle};
use common::{Chance, Written, add_state, check, close, least, least_up_to, never, parse, recursion, system};
use std::collections::BTreeSet;

fn judged(system: &Explicit, bad: &[&str], invariant: &Invariant) -> String {
    let judged = check(system, &never(system, bad), invariant);
    judged.map_or_else(|rejection| rejection.to_string(), |()| "ok".to_string())
}

/// Threads 0 and 2 take turns to push and pop while thread 1 watches.
fn workers() -> Explicit {
    let worker: &[Written] = &[(0, 1, 1, &[2, 3]), (1, 2, 0, &[]), (0, 3, 0, &[1]), (0, 1, 0, &[1])];
    let watcher: &[Written] = &[(1, 1, 1, &[2]), (0, 2, 0, &[1])];
    system(2, "0|1,1,1", &[worker, watcher, worker])
}

/// Rows of few bits, of more than 64 and of more than 128, which are stored differently.
#[test]
fn nothing_can_be_left_out_of_a_least_invariant() {
    let mut dropped = 0;
    let some_alike: Vec<usize> =
        (0..70).map(|thread: usize| thread.saturating_sub(2)).map(|n| n.min(3)).collect();
    for (system, labels, windows) in [
        (workers(), &[0, 1, 0][..], 1..=3),
        (flags(4), &[0, 0, 0, 0], 1..=3),
        (flags(5), &[0, 0, 1, 1, 0], 1..=3),
        (flags(70), &some_alike, 1..=1),
        (flags(140), &[0; 140], 1..=1),
    ] {
        for window in windows {
            let good = least_up_to(&system, labels, window);
            let width = 1 + labels.len();
            for row in 0..good.states().len() {
                let mut corrupt = good.clone();
                corrupt.rows.drain(row * width..(row + 1) * width);
                let text = check(&system, &Property::default(), &corrupt).unwrap_err().to_string();
                assert!(text.contains(" is missing"), "{text}");
                dropped += 1;
            }
            for (kind, below) in good.below.iter().enumerate() {
                for (&above, unders) in below {
                    for under in unders {
                        let mut corrupt = good.clone();
                        corrupt.below[kind].get_mut(&above).unwrap().remove(under);
                        let text = check(&system, &Property::default(), &corrupt).unwrap_err().to_string();
                        assert!(text.contains(" lacks ") || text.contains(" is missing"), "{text}");
                        dropped += 1;
                    }
                }
            }
        }
    }
    println!("{dropped} left out");
    assert!(dropped > 400, "{dropped}");
}

/// So many flags, which each thread sets and clears.
fn flags(threads: usize) -> Explicit {
    let flag: &[Written] = &[(0, 1, 0, &[2]), (0, 2, 0, &[1])];
    system(1, &format!("0|{}", vec!["1"; threads].join(",")), &vec![flag; threads])
}

#[test]
fn one_state_stands_for_its_orbit() {
    for threads in (1..=16).chain([70]) {
        let system = flags(threads);
        let invariant = least_up_to(&system, &vec![0; threads], 1);
        assert_eq!(invariant.states().len(), threads + 1);
        assert_eq!(invariant.visible().len(), threads + 1);
        assert_eq!(invariant.visible_count(), 1 << threads);
        assert!(invariant.visible().iter().all(|visible| visible.tops.is_sorted()));
    }
    let system = workers();
    let reached: BTreeSet<Visible> = reachable(&system, 6, 10_000).iter().map(State::visible).collect();
    let invariant = least_up_to(&system, &[0, 1, 0], 2);
    assert_eq!(invariant.visible_count(), reached.len() as u128);
    let all = invariant.visible().into_iter().flat_map(|Visible { shared, tops }| {
        let members = invariant.kinds.members_of_orbit(&tops);
        members.into_iter().map(move |tops| Visible { shared, tops }).collect::<Vec<_>>()
    });
    assert_eq!(all.collect::<BTreeSet<_>>(), reached);
}

#[test]
fn rejections_speak_of_the_state_as_it_is_listed() {
    let system = workers();
    let good = least_up_to(&system, &[0, 1, 0], 1);
    assert_eq!(judged(&system, &[], &good), "ok");
    let window = |symbol: u32, more| Window { symbols: vec![Symbol(symbol + 1)], more };
    let reject = |change: &dyn Fn(&mut Invariant), expected: &str| {
        let mut corrupt = good.clone();
        change(&mut corrupt);
        assert_eq!(judged(&system, &[], &corrupt), expected);
    };
    // The rules of thread 2 are on lines 7 to 10.
    reject(
        &|i| {
            i.rows.truncate(4);
            add_state(i, 1, &[window(3, false), window(1, false), window(2, true)]);
            add_state(i, 1, &[window(2, true), window(1, false), window(1, false)]);
        },
        "state 2, 1|3,1,2+: thread 2 can move by line 8: the state 0|3,1,3 is missing",
    );
    reject(
        &|i| {
            i.rows.truncate(4);
            add_state(i, 1, &[window(1, false), window(1, false), window(2, true)]);
            i.windows[0].push(window(9, false));
            i.below[0].get_mut(&Symbol(4)).unwrap().clear();
        },
        "state 1, 0|1,1,1: thread 0 can move by line 1: the stack can end under 3, but `below 0 3:` lacks -",
    );
    let mut corrupt = good.clone();
    corrupt.rows.truncate(4);
    let Err(Rejection::Missing { origin, .. }) = check(&system, &Property::default(), &corrupt) else {
        panic!()
    };
    assert_eq!(origin, Origin::Step { row: 0, thread: 0, line: 1 });
}

/// A bad state that is bad only after a renaming of the one that is listed.
#[test]
fn bad_renamings_are_rejected() {
    let system = flags(4);
    let mut invariant = Invariant::new(Kinds::new([0, 0, 0, 1]), 1);
    add_state(
        &mut invariant,
        0,
        &[2, 3, 3, 2].map(|symbol| Window { symbols: vec![Symbol(symbol)], more: false }),
    );
    let invariant = close(&system, invariant, 100).unwrap();
    let listed: Vec<_> = invariant.visible().iter().map(|visible| visible.tops.clone()).collect();
    assert!(
        listed.contains(&vec![Symbol(2), Symbol(3), Symbol(3), Symbol(2)])
            && !listed.contains(&vec![Symbol(3), Symbol(2), Symbol(3), Symbol(2)])
    );
    let expected = "state 1: 0|2,1,2,1, which is 0|1,2,2,1 with threads renamed, violates the property";
    assert_eq!(judged(&system, &["*|2,1,2,1"], &invariant), expected);
    let expected = "state 1: 0|1,2,2,1 violates the property";
    assert_eq!(judged(&system, &["*|1,2,2,1"], &invariant), expected);
    assert_eq!(judged(&system, &["0|*,2,*,*"], &invariant), expected);
    let expected = "state 1: 0|2,2,1,1, which is 0|1,2,2,1 with threads renamed, violates the property";
    assert_eq!(judged(&system, &["0|*,*,1,*"], &invariant), expected);
    assert_eq!(judged(&system, &["0|*,3,*,*", "0|2,1,3,1"], &invariant), "ok");

    // Never more than one at work: two at work are bad in any order, three likewise.
    let system = workers();
    let invariant = least_up_to(&system, &[0, 1, 0], 1);
    assert_eq!(judged(&system, &["*|2,*,2"], &invariant), "ok");
    assert!(judged(&system, &["*|2,*,*"], &invariant).contains("violates the property"));
    assert!(judged(&system, &["*|*,*,2"], &invariant).contains("violates the property"));
    assert_eq!(judged(&system, &["*|*,3,*"], &invariant), "ok");
}

#[test]
fn a_lie_about_kinds_is_rejected() {
    let system = workers();
    let good = least(&system, 1);
    assert_eq!(good.kinds, Kinds::distinct(3));
    let lie = Invariant::new(Kinds::new([0, 0, 0]), 1);
    let close_by = |mut lie: Invariant| loop {
        match check(&system, &Property::default(), &lie) {
            Err(Rejection::Missing { missing, .. }) => match missing {
                Missing::State { shared, windows } => {
                    add_state(&mut lie, shared.0, &windows);
                }
                Missing::Below { thread, above, under } => {
                    assert_eq!(thread, 0, "the first of its kind");
                    lie.below[0].entry(above).or_default().insert(under);
                }
            },
            other => return other,
        }
    };
    let Err(rejection) = close_by(lie) else { panic!("accepted") };
    let expected =
        "threads 0 and 1 are not of one kind: by line 1 thread 0 can go from 0|1 to 1|2.3, thread 1 cannot";
    assert_eq!(rejection.to_string(), expected);
    let Rejection::NotAlike { threads, shared, top, .. } = rejection else { panic!("{rejection}") };
    assert_eq!((threads, shared, top), ((0, 1), Shared(0), Symbol(2)));

    // It is the others' turn to be asked, and a rule that the first thread lacks is as bad as one that it has.
    let less: &[Written] = &[(0, 1, 0, &[2])];
    let more: &[Written] = &[(0, 1, 0, &[2]), (0, 2, 0, &[])];
    let system = common::system(1, "0|1,1", &[less, more]);
    let mut lie = Invariant::new(Kinds::new([7, 7]), 1);
    lie.below[0] = [2, 3].map(|symbol| (Symbol(symbol), [EMPTY].into())).into();
    for symbols in [[2, 2], [2, 3], [3, 3]] {
        add_state(&mut lie, 0, &symbols.map(|symbol| Window { symbols: vec![Symbol(symbol)], more: false }));
    }
    let expected =
        "threads 0 and 1 are not of one kind: by line 3 thread 1 can go from 0|2 to 0|-, thread 0 cannot";
    assert_eq!(judged(&system, &[], &lie), expected);
}

fn written(system: &dyn Pushdown, invariant: &Invariant) -> String {
    common::written(system, &Evidence::from(invariant.clone()))
}

const FLAGS: &str = "\
allways invariant 1
window 1
kinds 0 1 0
below 0 1: -
below 0 2: -
below 1 1: -
below 1 2: -
state 0|1,1,1
state 0|1,1,2
state 0|1,2,1
state 0|1,2,2
state 0|2,1,2
state 0|2,2,2
end 6
";

#[test]
fn kinds_as_text() {
    let system = flags(3);
    let read = |text: &str| parse(&system, text.as_bytes());
    let Ok(Evidence::Certificate(Certificate::Invariant(invariant))) = read(FLAGS) else {
        panic!("an invariant")
    };
    assert_eq!(invariant.kinds, Kinds::new([0, 1, 0]));
    assert_eq!(judged(&system, &[], &invariant), "ok");
    assert_eq!(invariant.visible_count(), 8);
    assert_eq!(written(&system, &invariant), FLAGS);
    // Any numbers do; only which are equal matters.
    assert_eq!(read(&FLAGS.replace("kinds 0 1 0", "kinds 7 0 7")), read(FLAGS));
    // No line, no symmetry.
    let Ok(Evidence::Certificate(Certificate::Invariant(plain))) = read(&FLAGS.replace("kinds 0 1 0\n", ""))
    else {
        panic!("an invariant")
    };
    assert_eq!(plain.kinds, Kinds::distinct(3));
    assert!(judged(&system, &[], &plain).contains("lacks"));

    let change = |from: &str, to: &str| read(&FLAGS.replacen(from, to, 1)).unwrap_err().to_string();
    let each = "expected a number for each of the 3 threads, found";
    assert_eq!(change("kinds 0 1 0", "kinds 0 1"), format!("3:10: {each} the end of the line"));
    assert_eq!(change("kinds 0 1 0", "kinds 0 -1 0"), format!("3:9: {each} `-1`"));
    assert_eq!(change("kinds 0 1 0", "kinds 0 1 0 1"), "3:13: expected the end of the line, found `1`");
    let first = "expected `kinds` only once, before all `below` and states, found `kinds`";
    assert_eq!(change("kinds 0 1 0", "kinds 0 1 0\nkinds 0 1 0"), format!("4:1: {first}"));
    assert_eq!(change("kinds 0 1 0\nbelow 0 1: -", "below 0 1: -\nkinds 0 1 0"), format!("4:1: {first}"));
    assert_eq!(change("end 6", "kinds 0 1 0"), format!("14:1: {first}"));
    assert_eq!(change("below 0 2", "below 2 2"), "5:7: expected thread 0, the first of this kind, found `2`");
}

/// A system in which thread 1 has names of its own.
struct Renamed(Explicit);

impl Pushdown for Renamed {
    fn threads(&self) -> usize {
        self.0.threads()
    }

    fn initial(&self) -> Vec<State> {
        self.0.initial()
    }

    fn rules(&self, thread: usize, shared: Shared, top: Symbol, out: &mut Vec<Rule>) {
        self.0.rules(thread, shared, top, out);
    }

    fn shared_name(&self, shared: Shared) -> String {
        self.0.shared_name(shared)
    }

    fn shared_named(&self, name: &str) -> Option<Shared> {
        self.0.shared_named(name)
    }

    fn symbol_name(&self, thread: usize, symbol: Symbol) -> String {
        self.0.symbol_name(thread, Symbol(symbol.0 + u32::from(thread == 1)))
    }

    fn symbol_named(&self, thread: usize, name: &str) -> Option<Symbol> {
        let symbol = self.0.symbol_named(thread, name)?;
        Some(Symbol(symbol.0 - u32::from(thread == 1))).filter(|&symbol| symbol != EMPTY)
    }
}

/// Threads that call their symbols differently cannot be renamed in a text.
#[test]
fn names_must_be_the_same_within_a_kind() {
    let fault = |text: &str| parse(&Renamed(flags(3)), text.as_bytes()).unwrap_err().to_string();
    let text = FLAGS.replace("0 1 0", "0 0 1");
    let expected = "threads 0 and 1 are of one kind, but do not agree on this name";
    assert_eq!(fault(&text), format!("4:9: {expected}"));
    let text = text.replace("below", "# below");
    assert_eq!(fault(&text), format!("8:9: {expected}"));
    assert!(parse(&Renamed(flags(3)), FLAGS.as_bytes()).is_ok());
}

#[test]
fn what_is_written_reads_back() {
    let mut round = 0;
    for seed in 0..500 {
        let mut chance = Chance::new(9_000_000 + seed);
        let (system, kinds, _) = chance.symmetric_system();
        let start = Invariant::new(kinds, 1 + seed as usize % 3);
        let Some(mut invariant) = close(&system, start, 100) else { continue };
        shuffle(&mut chance, &mut invariant);
        let text = written(&system, &invariant);
        let Ok(Evidence::Certificate(Certificate::Invariant(read))) = parse(&system, text.as_bytes()) else {
            panic!("{text}")
        };
        assert_eq!((&read.kinds, &read.below), (&invariant.kinds, &invariant.below));
        assert_eq!(written(&system, &read), text);
        assert_eq!(read.visible(), invariant.visible());
        assert_eq!(check(&system, &Property::default(), &read), Ok(()));
        round += 1;
    }
    assert!(round > 400, "{round}");
    assert!(!written(&recursion(), &least(&recursion(), 1)).contains("kinds"));
}

/// Eight threads that each go round in fifteen places: every multiset of places, 319,770 states for 15^8 of them.
#[test]
fn many_states_of_alike_threads() {
    let (threads, places) = (8, 15_u32);
    let words: Vec<[u32; 1]> = (0..places).map(|place| [place]).collect();
    let step = |place: u32, by: u32| -> Written {
        let to: &'static [u32; 1] = Box::leak(Box::new(words[((place + by) % places) as usize]));
        (0, i64::from(place), 0, to)
    };
    let rules: Vec<Written> =
        (0..places).flat_map(|place| [step(place, 1), step(place, places - 1)]).collect();
    let system = system(1, &format!("0|{}", vec!["0"; threads].join(",")), &vec![&rules[..]; threads]);
    let mut invariant = Invariant::new(Kinds::new(vec![0; threads]), 1);
    for symbol in (1..=places).map(Symbol) {
        invariant.windows[0].push(Window { symbols: vec![symbol], more: false });
        invariant.below[0].insert(symbol, [EMPTY].into());
    }
    let mut row = vec![0; threads];
    loop {
        invariant.rows.push(0);
        invariant.rows.extend(row.iter().rev());
        let Some(at) = row.iter().rposition(|&place| place + 1 < places) else { break };
        let next = row[at] + 1;
        row[at..].fill(next);
    }
    assert_eq!(invariant.states().len(), 319_770);
    for sorted in [false, true] {
        if sorted {
            invariant.rows.chunks_exact_mut(1 + threads).for_each(|row| row[1..].reverse());
        }
        let started = std::time::Instant::now();
        assert_eq!(check(&system, &never(&system, &["0|0,*,*,*,*,*,3,15"]), &invariant), Ok(()));
        println!("319770 states of 8 threads, sorted: {sorted}: {:?}", started.elapsed());
    }
    assert_eq!(invariant.visible_count(), 15_u128.pow(8));
    let last = invariant.rows.len() - 9 * 1000;
    invariant.rows.drain(last..last + 9);
    assert!(judged(&system, &[], &invariant).contains(" is missing"));
}
