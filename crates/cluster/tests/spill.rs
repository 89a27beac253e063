//! States on disk: the same counts, verdicts and lengths of traces as in memory, however little memory there is.

mod common;

use allways_cluster::{Cluster, Hosts, Settings, Spill};
use allways_engines::{Budget, Engine, Forms, Question};
use allways_evidence::{Certificate, StopReason, Verdict};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{Shared, Symbol};
use allways_model::task::Task;
use allways_testkit::corpus::{self, Count};
use allways_testkit::random::{self, SMALL, Size};
use allways_testkit::{families, random::system};
use common::{Said, addresses, by_free, folder, property, question, task, with};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// Workers that hold at most so many states each, and put the others here.
fn holding(folder: &Path, states: usize, workers: usize) -> Settings {
    let spill = Some(Spill { folder: folder.to_path_buf(), states: Some(states) });
    Settings { spill, ..Settings::threads(workers) }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).expect("a folder").next().is_none()
}

fn wheel(threads: usize, k: u32, property: Property) -> Task {
    let family = families::wheel(threads, k);
    task(corpus::system(family.pds.as_bytes(), family.init.as_bytes()), property)
}

#[test]
fn random_systems_on_disk() {
    let folder = folder("spill-random");
    let mut seen = [0; 3];
    for seed in random::seeds(150) {
        let system = system(seed, SMALL);
        let task = task(system.clone(), property(seed, &system));
        let question = question(seed);
        let expected = by_free(&task, &question);
        seen[expected.kind()] += 1;
        for workers in 1..=4 {
            let states = [0, 3, 10, 40][(seed as usize / 4 + workers) % 4];
            let said = with(&task, &question, holding(&folder, states, workers));
            assert_eq!(said, expected, "system {seed}, {workers} workers with {states} states in memory");
        }
    }
    assert!(seen.iter().all(|&count| count > 0), "verdicts of every kind: {seen:?}");
    assert!(is_empty(&folder));
}

/// Larger ones, so that there are many runs, with rows of several words.
#[test]
fn large_random_systems_on_disk() {
    let folder = folder("spill-large");
    for (threads, seeds) in [(5, 12), (9, 4)] {
        let size = Size { threads, shared: 5, symbols: 5, rules: 12 };
        for seed in random::seeds(seeds) {
            let system = system(seed, size);
            let task = task(system.clone(), property(seed, &system));
            let question = Question { max_depth: Some(2), ..question(seed) };
            let budget = Budget::of_time(Duration::from_secs(2));
            let forms = Forms::new(&task, &question);
            let expected = allways_engines::below::free::Free.run(&forms, &budget);
            if matches!(expected.verdict, Verdict::Unknown(StopReason::Time)) {
                continue;
            }
            let expected = Said::of(&forms, expected);
            for (workers, states) in [(1, 100), (2, 1000), (3, 17)] {
                let said = with(&task, &question, holding(&folder, states, workers));
                assert_eq!(said, expected, "system {seed} of {threads} threads, {workers} workers, {states}");
            }
        }
    }
}

#[test]
fn the_corpus_on_disk() {
    let folder = folder("spill-corpus");
    let mut finite = 0;
    for entry in corpus::entries(&corpus::folder()) {
        let Some(Count::Finite(count @ ..=20_000)) = entry.concrete else { continue };
        finite += 1;
        let mut properties = vec![Property::default()];
        properties.extend(entry.properties.iter().map(|(property, _)| property.clone()));
        for property in properties {
            let task = task(entry.system.clone(), property);
            let question = Question { no_symmetry: finite % 2 == 0, ..Question::default() };
            let expected = by_free(&task, &question);
            for workers in 1..=4 {
                let said = with(&task, &question, holding(&folder, count / 20, workers));
                assert_eq!(said, expected, "{}, {workers} workers", entry.name);
            }
        }
    }
    assert!(finite > 5, "finite systems of the corpus: {finite}");
}

/// Many levels and large ones: the way back from a state that is far away is found on disk.
#[test]
fn a_trace_is_found_on_disk() {
    let folder = folder("spill-trace");
    for k in [3, 7] {
        let bad = Pattern { shared: None, tops: vec![Some(Symbol(k - 1)); 4] };
        let task = wheel(4, k, Property { bad: vec![bad], deadlock: false });
        let question = Question { no_symmetry: true, ..Question::default() };
        let expected = by_free(&task, &question);
        assert!(matches!(expected, Said::Unsafe { .. }), "{expected:?}");
        for (workers, states) in [(1, 50), (2, 100), (3, 5)] {
            assert_eq!(with(&task, &question, holding(&folder, states, workers)), expected);
        }
    }
}

#[test]
fn processes_may_have_a_disk_or_not() {
    let folder = folder("spill-processes");
    let task = wheel(4, 6, Property::default());
    let question = Question { no_symmetry: true, ..Question::default() };
    let expected = by_free(&task, &question);
    let addresses = addresses(3);
    thread::scope(|scope| {
        let start = |process: usize| {
            let hosts = Some(Hosts { addresses: addresses.clone(), process });
            let settings =
                if process == 1 { Settings::threads(2) } else { holding(&folder, 20 + process, 2) };
            let (task, question) = (&task, &question);
            scope.spawn(move || with(task, question, Settings { hosts, ..settings }))
        };
        let started: Vec<_> = (0..3).map(start).collect();
        for process in started {
            assert_eq!(process.join().expect("no panic"), expected);
        }
    });
}

/// A run with states on disk can be kept, and gone on from: with or without a disk, by more or fewer workers.
#[test]
fn checkpoints_of_states_on_disk() {
    let place = folder("spill-checkpoint");
    let task = wheel(4, 8, Property::default());
    let question = Question { no_symmetry: true, ..Question::default() };
    let expected = by_free(&task, &question);
    let forms = Forms::new(&task, &question);
    for (before, after, disk) in [(1, 3, true), (3, 2, false), (2, 2, true)] {
        let kept = folder(&format!("spill-checkpoint-{before}-{after}"));
        let settings = Settings { checkpoint: Some(kept.clone()), ..holding(&place, 100, before) };
        let stopped = Cluster::new(settings).run(&forms, &Budget::of_time(Duration::from_millis(150)));
        assert!(allways_cluster::checkpoint::is_there(&kept), "{:?}", stopped.verdict);
        let settings = if disk { holding(&place, 40, after) } else { Settings::threads(after) };
        let again = folder(&format!("spill-checkpoint-{before}-{after}-again"));
        let settings = Settings { resume: Some(kept), checkpoint: Some(again.clone()), ..settings };
        assert_eq!(with(&task, &question, settings), expected);
        let settings = Settings { resume: Some(again), ..holding(&place, 300, 1) };
        assert_eq!(with(&task, &question, settings), expected);
    }
    assert!(is_empty(&place));
}

/// Shards that were written from disk are evidence like others; they are checked on disk, too, and with a state less rejected.
#[test]
fn shards_are_written_from_disk_and_checked_on_disk() {
    let place = folder("spill-shards-place");
    let folder = folder("spill-shards");
    let task = wheel(4, 4, Property::default());
    let question = Question { no_symmetry: true, ..Question::default() };
    let forms = Forms::new(&task, &question);
    let settings = Settings { evidence: Some(folder.join("proof")), ..holding(&place, 30, 2) };
    let outcome = Cluster::new(settings).run(&forms, &Budget::unlimited());
    assert!(outcome.certified);
    assert!(outcome.figures.shares.iter().all(|share| share.disk_bytes > 0), "{:?}", outcome.figures);
    let Verdict::Safe(Certificate::Shards(shards)) = outcome.verdict else { panic!("{:?}", outcome.verdict) };
    assert_eq!(shards.states(), 5_u64.pow(4));
    let check = |shards: &allways_evidence::Shards| {
        let system = match &task.model {
            allways_model::task::Model::Rules(rules) => rules.clone(),
            _ => panic!("rules"),
        };
        let alone = allways_evidence::shards::check(&*system, &task.property, shards, &|| None);
        for workers in 1..=3 {
            let together =
                Cluster::new(holding(&place, 9, workers)).certify(&forms, shards, &Budget::unlimited());
            assert_eq!(together.is_ok(), alone.is_ok(), "{together:?} {alone:?}");
        }
        alone
    };
    assert_eq!(check(&shards), Ok(()));
    for missing in [0, 7, 400, 600] {
        let mut set = allways_evidence::shards::StateSet::default();
        let mut index = 0;
        for file in &shards.files {
            let read = allways_evidence::shards::read_shard(&folder, file, &mut |state| {
                if index != missing {
                    set.insert(state);
                }
                index += 1;
                Ok(())
            });
            assert_eq!(read, Ok(()));
        }
        let file = set.write(&folder, "less".to_string()).expect("it can be written");
        assert!(check(&allways_evidence::Shards { files: vec![file], ..(*shards).clone() }).is_err());
    }
    assert!(is_empty(&place));
}

#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    let file = folder("spill-unwritable").join("file");
    std::fs::write(&file, "").expect("it can be written");
    let task = wheel(3, 4, Property::default());
    let said = with(&task, &Question::default(), holding(&file, 5, 2));
    let Said::Unknown(StopReason::GaveUp(why)) = said else { panic!("{said:?}") };
    assert!(why.contains("cannot keep states in") && why.contains("spill-unwritable"), "{why}");
}

/// What `--memory` allows decides what goes to disk; with too little for anything else, there is an end, not a wrong answer.
#[test]
fn memory_decides() {
    let folder = folder("spill-memory");
    let task = wheel(5, 12, Property { bad: vec![never()], deadlock: false });
    let question = Question { no_symmetry: true, ..Question::default() };
    let forms = Forms::new(&task, &question);
    let spill = Some(Spill { folder: folder.clone(), states: None });
    let run = |bytes: usize| {
        let budget = Budget::unlimited().with_memory(Some(bytes), &|| 0);
        Cluster::new(Settings { spill: spill.clone(), ..Settings::threads(2) }).run(&forms, &budget)
    };
    let outcome = run(600_000);
    assert!(outcome.certified, "{:?}", outcome.verdict);
    assert_eq!(outcome.figures.concrete_states, Some(13_usize.pow(5)));
    assert!(outcome.figures.shares.iter().all(|share| share.disk_bytes > 0), "{:?}", outcome.figures);
    let outcome = run(3_000);
    assert!(matches!(outcome.verdict, Verdict::Unknown(StopReason::Memory)), "{:?}", outcome.verdict);
    assert!(is_empty(&folder));
}

/// A state that is never reached, so that every state is looked at.
fn never() -> Pattern {
    Pattern { shared: Some(Shared(0)), tops: vec![Some(Symbol(u32::MAX)); 5] }
}
