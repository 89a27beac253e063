//! crossbeam-deque. 0.8.0: RUSTSEC-2021-0093, who steals a batch goes on reading a buffer that the owner has replaced meanwhile: a
//! task is taken twice, another one never.
//! crate: crossbeam-deque
//! versions: 0.8.0 0.8.1
//! replace: `(std|core)::sync::atomic` by `allways_test::sync::atomic`

mod harness;
use crossbeam_deque::Worker;
use harness::{Expected, Options, run, thread, version};

#[test]
fn every_task_is_taken_once() {
    let fixed = version() == "0.8.1";
    let expected = if fixed { Expected::NoFailure(20_000) } else { Expected::Failure(125) };
    // The buffer is in an atomic of crossbeam-epoch, of which nobody is told.
    let options = Options { no_reduction: true, ..Options::default() };
    run("a batch is stolen while the buffer shrinks", expected, options, || {
        let worker = Worker::new_lifo();
        let stealer = worker.stealer();
        // A buffer with room for 128; with a quarter of that it becomes smaller.
        (0..65).for_each(|task| worker.push(task));
        let mut taken: Vec<u32> = (0..32).filter_map(|_| worker.pop()).collect();
        let owner = thread::spawn(move || {
            let taken: Vec<u32> = (0..20).filter_map(|_| worker.pop()).collect();
            (65..68).for_each(|task| worker.push(task));
            (worker, taken)
        });
        let mine = Worker::new_lifo();
        let _ = stealer.steal_batch(&mine);
        let (worker, others) = owner.join().unwrap();
        taken.extend(others);
        taken.extend(std::iter::from_fn(|| mine.pop()));
        taken.extend(std::iter::from_fn(|| worker.pop()));
        taken.sort_unstable();
        assert!(taken.into_iter().eq(0..68), "a task was taken twice, or never");
    });
}
