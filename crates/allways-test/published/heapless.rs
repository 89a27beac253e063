//! heapless 0.9.3, `mpmc::Queue`: issue 583, a queue that is not empty says that it is. There is no newer version.
//! crate: heapless
//! versions: 0.9.3
//! replace: `core::sync::atomic|portable_atomic` by `allways_test::sync::atomic`
//! replace: `#!\[no_std\]` by ``
//! loom replace: `const fn new(?=\(\) -> Self \{\s+const \{\s+assert!\(N > 1)` by `fn new`
//! loom replace: `const fn new(?=\(\) -> Self \{\s+Self \{\s+map: IndexMap)` by `fn new`
//! loom replace: `const fn new(?=\(seq)` by `fn new`
//! loom replace: `\[const \{ Cell::new\(0\) \}; N\]` by `core::array::from_fn(|_| Cell::new(0))`

mod harness;
use harness::{Expected, Options, run, thread};
use std::sync::Arc;

#[test]
fn who_has_put_something_in_gets_something_out() {
    run("two put in and take out", Expected::Failure(11), Options::default(), || {
        let queue = Arc::new(heapless::mpmc::Queue::<u8, 4>::new());
        let there = queue.clone();
        let other = thread::spawn(move || there.enqueue(1).is_ok() && there.dequeue().is_some());
        let here = queue.enqueue(2).is_ok() && queue.dequeue().is_some();
        assert!(other.join().unwrap() && here, "the queue says that it is empty");
    });
}
