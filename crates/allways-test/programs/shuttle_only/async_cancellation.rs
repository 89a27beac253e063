//! A task that moves an item in two steps is cancelled between them.

use shuttle::future;
use shuttle::sync::{Arc, Mutex};

pub fn test() {
    let places = Arc::new((Mutex::new(Some("item")), Mutex::new(None)));
    let there = Arc::clone(&places);
    future::block_on(async move {
        let mover = {
            let places = Arc::clone(&there);
            future::spawn(async move {
                let item = places.0.lock().unwrap().take();
                future::yield_now().await;
                *places.1.lock().unwrap() = item;
            })
        };
        mover.abort();
        let _ = mover.await;
        let left = there.0.lock().unwrap().is_some();
        let arrived = there.1.lock().unwrap().is_some();
        assert!(left || arrived, "the item is gone");
    });
}
