//! Whatever the number of workers, in threads or behind connections: the same counts, verdicts and lengths of traces as `free`.

mod common;

use allways_engines::{Budget, Engine, Forms, Question};
use allways_evidence::Verdict;
use allways_model::property::Property;
use allways_model::pushdown::Explicit;
use allways_model::task::Task;
use allways_testkit::corpus::{self, Count};
use allways_testkit::random::{self, SMALL, Size};
use common::{Said, behind_connections, by_free, in_threads, property, question, task};

#[test]
fn random_systems_in_threads() {
    let mut seen = [0; 3];
    for seed in random::seeds(150) {
        let system = random::system(seed, SMALL);
        let task = task(system.clone(), property(seed, &system));
        let question = question(seed);
        let expected = by_free(&task, &question);
        seen[expected.kind()] += 1;
        for workers in 1..=4 {
            assert_eq!(in_threads(&task, &question, workers), expected, "system {seed}, {workers} workers");
        }
    }
    assert!(seen.iter().all(|&count| count > 0), "verdicts of every kind: {seen:?}");
}

#[test]
fn random_systems_behind_connections() {
    for seed in random::seeds(30) {
        let system = random::system(seed, SMALL);
        let task = task(system.clone(), property(seed, &system));
        let question = question(seed);
        let expected = by_free(&task, &question);
        for processes in 1..=4 {
            for said in behind_connections(&task, &question, processes, 1) {
                assert_eq!(said, expected, "system {seed}, {processes} processes");
            }
        }
    }
}

#[test]
fn processes_with_several_workers_each() {
    let size = Size { threads: 5, shared: 5, symbols: 5, rules: 12 };
    for seed in random::seeds(6) {
        let system = random::system(seed, size);
        let task = task(system.clone(), property(seed, &system));
        let question = question(seed);
        let expected = by_free(&task, &question);
        for said in behind_connections(&task, &question, 2, 2) {
            assert_eq!(said, expected, "system {seed}");
        }
    }
}

/// Every finite system of the corpus, with each of its properties; with `ALLWAYS_LONG`, behind connections as well.
#[test]
fn the_corpus() {
    let long = std::env::var_os("ALLWAYS_LONG").is_some();
    let mut finite = 0;
    for entry in corpus::entries(&corpus::folder()) {
        let Some(Count::Finite(states)) = entry.concrete else { continue };
        if states > 200_000 {
            continue;
        }
        finite += 1;
        let question = Question { no_symmetry: true, ..Question::default() };
        let mut properties = vec![Property::default()];
        properties.extend(entry.properties.iter().map(|(property, _)| property.clone()));
        for property in properties {
            let task = task(entry.system.clone(), property);
            for question in [question.clone(), Question::default()] {
                let expected = by_free(&task, &question);
                for workers in 1..=4 {
                    let name = &entry.name;
                    assert_eq!(in_threads(&task, &question, workers), expected, "{name}, {workers} workers");
                    let behind =
                        if long { behind_connections(&task, &question, workers, 1) } else { Vec::new() };
                    assert!(
                        behind.iter().all(|said| *said == expected),
                        "{name}, {workers} processes: {behind:?}"
                    );
                }
            }
        }
        let unasked = task_of(&entry.system);
        assert_eq!(in_threads(&unasked, &question, 2), Said::Safe { states }, "{}", entry.name);
    }
    assert!(finite > 5, "finite systems of the corpus: {finite}");
}

fn task_of(system: &Explicit) -> Task {
    task(system.clone(), Property::default())
}

/// What was found is accepted by the checker of one process, too, which reads the files.
#[test]
fn shards_are_evidence() {
    use allways_cluster::{Cluster, Settings};
    let folder = common::folder("shards");
    for (index, entry) in corpus::entries(&corpus::folder()).into_iter().enumerate() {
        let Some(Count::Finite(2..=20_000)) = entry.concrete else { continue };
        let task = task_of(&entry.system);
        let question = Question::default();
        let forms = Forms::new(&task, &question);
        let settings = Settings { evidence: Some(folder.join(format!("{index}"))), ..Settings::threads(3) };
        let outcome = Cluster::new(settings).run(&forms, &Budget::unlimited());
        assert!(outcome.certified, "{}", entry.name);
        let Verdict::Safe(allways_evidence::Certificate::Shards(shards)) = &outcome.verdict else {
            panic!("{}: {:?}", entry.name, outcome.verdict)
        };
        assert_eq!(shards.files.len(), 3);
        let judged = |shards: &allways_evidence::Shards| {
            let alone = allways_evidence::shards::check(&entry.system, &task.property, shards, &|| None);
            for workers in [1, 2, 4] {
                let cluster = Cluster::new(Settings::threads(workers));
                let together = cluster.certify(&forms, shards, &Budget::unlimited());
                assert_eq!(together.is_ok(), alone.is_ok(), "{}: {together:?} {alone:?}", entry.name);
            }
            alone
        };
        assert_eq!(judged(shards), Ok(()), "{}", entry.name);
        // Without one of its files, or with a file that was changed, it proves nothing.
        let mut less = shards.clone();
        let left_out = less.files.iter().position(|file| file.states > 0).expect("there are states");
        less.files.remove(left_out);
        assert!(judged(&less).is_err(), "{}: a shard less", entry.name);
        let path = folder.join(&shards.files[left_out].name);
        let mut bytes = std::fs::read(&path).expect("it was written");
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&path, bytes).expect("it can be written");
        assert!(judged(shards).is_err(), "{}: another shard", entry.name);
    }
}

/// Shards from which any one state is missing prove nothing, whatever the number of workers that look at them.
#[test]
fn a_state_that_is_left_out_is_noticed() {
    use allways_cluster::{Cluster, Settings};
    use allways_evidence::shards::{self, StateSet, read_shard};
    use allways_evidence::{Certificate, Shards};
    let folder = common::folder("left-out");
    let mut left_out = 0;
    for seed in random::seeds(60) {
        let system = random::system(seed, SMALL);
        let task = task_of(&system);
        let question = Question { no_symmetry: seed.is_multiple_of(2), ..Question::default() };
        let forms = Forms::new(&task, &question);
        let settings = Settings { evidence: Some(folder.join("proof")), ..Settings::threads(2) };
        let budget = Budget::unlimited().with_memory(Some(1 << 18), &|| 0);
        let outcome = Cluster::new(settings).run(&forms, &budget);
        let Verdict::Safe(Certificate::Shards(listed)) = outcome.verdict else { continue };
        let mut states = Vec::new();
        for file in &listed.files {
            let read = read_shard(&folder, file, &mut |state| {
                states.push(state.to_vec());
                Ok(())
            });
            assert_eq!(read, Ok(()));
        }
        for missing in 0..states.len().min(30) {
            let mut set = StateSet::default();
            for (_, state) in states.iter().enumerate().filter(|&(index, _)| index != missing) {
                set.insert(state);
            }
            let file = set.write(&folder, "less".to_string()).expect("it can be written");
            let less = Shards { files: vec![file], ..(*listed).clone() };
            let judged = shards::check(&system, &task.property, &less, &|| None);
            assert!(judged.is_err(), "system {seed} without state {missing}");
            if missing < 3 {
                let together =
                    Cluster::new(Settings::threads(2)).certify(&forms, &less, &Budget::unlimited());
                assert!(together.is_err(), "system {seed} without state {missing}");
            }
            left_out += 1;
        }
    }
    assert!(left_out > 100, "states left out: {left_out}");
}
