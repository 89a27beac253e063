//! Two senders, and a receiver that stops when both have hung up.

use shuttle::sync::mpsc;
use shuttle::thread;

pub fn test() {
    let (sender, receiver) = mpsc::channel();
    let senders: Vec<_> = (0..2)
        .map(|number| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(number).unwrap())
        })
        .collect();
    drop(sender);
    let mut received: Vec<usize> = receiver.iter().collect();
    received.sort_unstable();
    assert_eq!(received, [0, 1]);
    for sender in senders {
        sender.join().unwrap();
    }
}
