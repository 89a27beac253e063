//! A worker that is told to stop leaves; who still has something to send finds the channel closed.

use super::rt::sync::atomic::{AtomicBool, Ordering::SeqCst};
use super::rt::sync::{Arc, mpsc};
use super::rt::thread;

enum Message {
    Job(usize),
    Stop,
}

pub fn test() {
    let (sender, receiver) = mpsc::channel();
    let open = Arc::new(AtomicBool::new(true));
    let worker = thread::spawn(move || {
        let mut done = 0;
        while let Ok(Message::Job(job)) = receiver.recv() {
            done += job;
        }
        done
    });
    let client = {
        let (sender, open) = (sender.clone(), Arc::clone(&open));
        thread::spawn(move || {
            if open.load(SeqCst) {
                sender.send(Message::Job(1)).expect("open, but nobody listens");
            }
        })
    };
    open.store(false, SeqCst);
    sender.send(Message::Stop).unwrap();
    worker.join().unwrap();
    client.join().unwrap();
}
