//! The Bluetooth driver of Qadeer and Wu (KISS, PLDI 2004): a request may begin after the device was found to be going
//! down, and work on a device that has stopped.

use super::rt::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use super::rt::sync::{Arc, Condvar, Mutex};
use super::rt::thread;

struct Device {
    /// Requests under way, and one more for the device itself.
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
        if self.stopping.load(SeqCst) {
            return;
        }
        self.pending.fetch_add(1, SeqCst); // too late: tested in one step, counted in the next
        assert!(!self.stopped.load(SeqCst), "a request to a device that has stopped");
        self.leave();
    }

    fn stop(&self) {
        self.stopping.store(true, SeqCst);
        self.leave();
        let mut idle = self.idle.lock().unwrap();
        while !*idle {
            idle = self.idle_changed.wait(idle).unwrap();
        }
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
    let requests: Vec<_> = (0..2)
        .map(|_| {
            let device = Arc::clone(&device);
            thread::spawn(move || device.request())
        })
        .collect();
    device.stop();
    for request in requests {
        request.join().unwrap();
    }
}
