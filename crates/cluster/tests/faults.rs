//! Workers that panic, processes that are lost, limits, and runs that go on from a checkpoint.

mod common;

use allways_cluster::{Cluster, Hosts, Settings};
use allways_engines::{Budget, Engine, Forms, Question};
use allways_evidence::{StopReason, Verdict};
use allways_model::property::Property;
use allways_testkit::{corpus, families};
use common::{Said, addresses, by_free, folder, task, with};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

fn wheel(threads: usize, k: u32) -> allways_model::task::Task {
    let family = families::wheel(threads, k);
    task(corpus::system(family.pds.as_bytes(), family.init.as_bytes()), Property::default())
}

fn asked() -> Question {
    Question { no_symmetry: true, ..Question::default() }
}

#[test]
fn a_time_limit_stops_all_workers_and_says_how_far_they_came() {
    let task = wheel(6, 12);
    let question = asked();
    let forms = Forms::new(&task, &question);
    let started = Instant::now();
    let outcome =
        Cluster::new(Settings::threads(2)).run(&forms, &Budget::of_time(Duration::from_millis(300)));
    assert!(matches!(outcome.verdict, Verdict::Unknown(StopReason::Time)), "{:?}", outcome.verdict);
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(outcome.figures.concrete_states.is_some_and(|states| states > 0));
}

#[test]
fn a_memory_limit_stops_all_workers() {
    let task = wheel(5, 8);
    let question = asked();
    let forms = Forms::new(&task, &question);
    let budget = Budget::unlimited().with_memory(Some(1 << 16), &|| 0);
    let outcome = Cluster::new(Settings::threads(2)).run(&forms, &budget);
    assert!(matches!(outcome.verdict, Verdict::Unknown(StopReason::Memory)), "{:?}", outcome.verdict);
}

#[test]
fn a_run_goes_on_from_a_checkpoint_with_another_number_of_workers() {
    let task = wheel(4, 8);
    let question = asked();
    let expected = by_free(&task, &question);
    let forms = Forms::new(&task, &question);
    for (before, after) in [(1, 3), (3, 2), (2, 2)] {
        // Stopped somewhere on the way, wherever that is.
        let kept = folder(&format!("checkpoint-{before}-{after}"));
        let settings = Settings { checkpoint: Some(kept.clone()), ..Settings::threads(before) };
        let stopped = Cluster::new(settings).run(&forms, &Budget::of_time(Duration::from_millis(40)));
        assert!(allways_cluster::checkpoint::is_there(&kept), "{:?}", stopped.verdict);
        let again = folder(&format!("checkpoint-{before}-{after}-again"));
        let settings =
            Settings { resume: Some(kept), checkpoint: Some(again.clone()), ..Settings::threads(after) };
        assert_eq!(with(&task, &question, settings), expected);
        // What was written meanwhile is a whole checkpoint, from which nothing is left to be done.
        let settings = Settings { resume: Some(again.clone()), ..Settings::threads(1) };
        assert_eq!(with(&task, &question, settings), expected);
        // One worker has recorded no level, so that all is to be done.
        let record = again.join("worker-0.record");
        let text = std::fs::read_to_string(&record).expect("it was written");
        let heading: String = text.split_inclusive('\n').take(3).collect();
        std::fs::write(&record, heading + "end 0\n").expect("it can be written");
        let settings = Settings { resume: Some(again), ..Settings::threads(2) };
        assert_eq!(with(&task, &question, settings), expected);
    }
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let question = asked();
    let kept = folder("checkpoint-other");
    let settings = Settings { checkpoint: Some(kept.clone()), ..Settings::threads(2) };
    with(&wheel(3, 4), &question, settings);
    let settings = Settings { resume: Some(kept.clone()), ..Settings::threads(2) };
    let Said::Unknown(StopReason::GaveUp(why)) = with(&wheel(3, 5), &question, settings.clone()) else {
        panic!("another task")
    };
    assert!(why.contains("of another task"), "{why}");
    // A file that was changed, and one that is missing.
    let path = kept.join("worker-1.states");
    let mut bytes = std::fs::read(&path).expect("it was written");
    bytes[1] ^= 1;
    std::fs::write(&path, bytes).expect("it can be written");
    let Said::Unknown(StopReason::GaveUp(why)) = with(&wheel(3, 4), &question, settings.clone()) else {
        panic!("a changed file")
    };
    assert!(why.contains("cannot read"), "{why}");
    std::fs::remove_file(kept.join("worker-1.record")).expect("it was written");
    let Said::Unknown(StopReason::GaveUp(why)) = with(&wheel(3, 4), &question, settings) else {
        panic!("a missing file")
    };
    assert!(why.contains("the file of worker 1"), "{why}");
}

#[test]
fn processes_that_check_different_things_refuse_each_other() {
    let addresses = addresses(2);
    let run = |process: usize, k: u32| {
        let hosts = Some(Hosts { addresses: addresses.clone(), process });
        with(&wheel(3, k), &asked(), Settings { hosts, ..Settings::threads(1) })
    };
    let (one, other) = thread::scope(|scope| {
        let one = scope.spawn(|| run(0, 4));
        let other = scope.spawn(|| run(1, 5));
        (one.join().expect("no panic"), other.join().expect("no panic"))
    });
    for said in [one, other] {
        let Said::Unknown(StopReason::GaveUp(why)) = said else { panic!("{said:?}") };
        assert!(why.contains("checks something else") || why.contains("was lost"), "{why}");
    }
}

/// A connection that can be cut: it takes what comes at one address to another, until it is told not to.
fn relay(from: &str, to: String, cut: &'static std::sync::atomic::AtomicBool) {
    let listener = TcpListener::bind(from).expect("a port");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            let end = loop {
                match TcpStream::connect(&to) {
                    Ok(end) => break end,
                    Err(_) => thread::sleep(Duration::from_millis(20)),
                }
            };
            for (mut source, mut sink) in
                [(stream.try_clone().expect("a socket"), end.try_clone().expect("a socket")), (end, stream)]
            {
                thread::spawn(move || {
                    use std::io::{Read, Write};
                    let mut buffer = [0; 1 << 14];
                    while let Ok(read @ 1..) = source.read(&mut buffer) {
                        while cut.load(std::sync::atomic::Ordering::Relaxed) {
                            thread::sleep(Duration::from_millis(100));
                        }
                        if sink.write_all(&buffer[..read]).is_err() {
                            return;
                        }
                    }
                });
            }
        }
    });
}

#[test]
fn a_process_that_is_cut_off_is_noticed_by_both_sides() {
    use std::sync::atomic::{AtomicBool, Ordering};
    static CUT: AtomicBool = AtomicBool::new(false);
    let own = addresses(3);
    // Process 1 reaches process 0 by way of a relay.
    relay(&own[2], own[0].clone(), &CUT);
    let task = wheel(6, 16);
    let run = |process: usize| {
        let first = if process == 0 { own[0].clone() } else { own[2].clone() };
        let hosts = Some(Hosts { addresses: vec![first, own[1].clone()], process });
        let settings = Settings { hosts, ..Settings::threads(1) };
        let said = with(&task, &asked(), settings);
        (said, Instant::now())
    };
    thread::scope(|scope| {
        let processes = [scope.spawn(|| run(0)), scope.spawn(|| run(1))];
        thread::sleep(Duration::from_millis(1500));
        CUT.store(true, Ordering::Relaxed);
        let cut = Instant::now();
        for process in processes {
            let (said, ended) = process.join().expect("no panic");
            let Said::Unknown(StopReason::GaveUp(why)) = said else { panic!("{said:?}") };
            assert!(why.contains("was not heard of") || why.contains("was lost"), "{why}");
            let took = ended.saturating_duration_since(cut);
            assert!(took < Duration::from_secs(10), "{took:?}");
        }
    });
}

/// A system that panics when a worker asks for certain rules.
struct Panics(allways_model::pushdown::Explicit);

impl allways_model::pushdown::Pushdown for Panics {
    fn threads(&self) -> usize {
        self.0.threads()
    }

    fn initial(&self) -> Vec<allways_model::pushdown::State> {
        self.0.initial()
    }

    fn rules(
        &self,
        thread: usize,
        shared: allways_model::pushdown::Shared,
        top: allways_model::pushdown::Symbol,
        out: &mut Vec<allways_model::pushdown::Rule>,
    ) {
        assert!(top.0 < 6, "on purpose");
        self.0.rules(thread, shared, top, out);
    }

    fn shared_name(&self, shared: allways_model::pushdown::Shared) -> String {
        self.0.shared_name(shared)
    }

    fn shared_named(&self, name: &str) -> Option<allways_model::pushdown::Shared> {
        self.0.shared_named(name)
    }

    fn symbol_name(&self, thread: usize, symbol: allways_model::pushdown::Symbol) -> String {
        self.0.symbol_name(thread, symbol)
    }

    fn symbol_named(&self, thread: usize, name: &str) -> Option<allways_model::pushdown::Symbol> {
        self.0.symbol_named(thread, name)
    }
}

#[test]
fn a_worker_that_panics_stops_all_others() {
    use allways_cluster::run::run;
    use allways_cluster::work::{Job, Plan};
    use allways_model::symmetry::Kinds;
    use std::sync::Arc;
    let family = families::wheel(3, 8);
    let system = corpus::system(family.pds.as_bytes(), family.init.as_bytes());
    let addresses = addresses(2);
    let plan = |hosts: Option<Hosts>| Plan {
        system: Arc::new(Panics(system.clone())),
        property: Property::default(),
        kinds: Kinds::distinct(3),
        max_depth: None,
        task: 0,
        settings: Settings { hosts, ..Settings::threads(2) },
        job: Job::Search,
    };
    let started = Instant::now();
    let reason = |hosts: Option<Hosts>| match run(plan(hosts), &Budget::unlimited()).finding {
        Err(StopReason::GaveUp(why)) => why,
        other => panic!("{other:?}"),
    };
    let why = reason(None);
    assert!(why.contains("panicked: on purpose"), "{why}");
    let at = |process: usize| Some(Hosts { addresses: addresses.clone(), process });
    thread::scope(|scope| {
        let processes = [scope.spawn(|| reason(at(0))), scope.spawn(|| reason(at(1)))];
        for process in processes {
            let why = process.join().expect("the supervisor does not panic");
            assert!(why.contains("panicked: on purpose"), "{why}");
        }
    });
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
