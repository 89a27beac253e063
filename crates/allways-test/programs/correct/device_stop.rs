//! The device of `portable/device_stop.rs`, repaired: a request is counted before it looks whether it may go on.

use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use shuttle::sync::{Arc, Condvar, Mutex};
use shuttle::thread;

struct Device {
    pending: AtomicUsize,
    stopping: AtomicBool,
    stopped: AtomicBool,
    idle: Mutex<bool>,
    idle_changed: Condvar,
}

impl Device {
    fn leave(&self) {
        if self.pending.fetch_sub(1, SeqCst) == 1 {
            *self.idle.lock().unwrap() = true;
            self.idle_changed.notify_all();
        }
    }

    fn request(&self) {
        self.pending.fetch_add(1, SeqCst);
        if !self.stopping.load(SeqCst) {
            assert!(!self.stopped.load(SeqCst), "a request to a device that has stopped");
        }
        self.leave();
    }

    fn stop(&self) {
        self.stopping.store(true, SeqCst);
        self.leave();
        drop(self.idle_changed.wait_while(self.idle.lock().unwrap(), |idle| !*idle).unwrap());
        self.stopped.store(true, SeqCst);
    }
}

pub fn test() {
    let device = Arc::new(Device {
        pending: AtomicUsize::new(1),
        stopping: AtomicBool::new(false),
        stopped: AtomicBool::new(false),
        idle: Mutex::new(false),
        idle_changed: Condvar::new(),
    });
    let there = Arc::clone(&device);
    let request = thread::spawn(move || there.request());
    device.stop();
    request.join().unwrap();
}
