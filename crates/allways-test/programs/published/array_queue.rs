//! `ArrayQueue` of crossbeam-queue 0.3.14 (`src/array_queue.rs`), `push` and `pop`.

use shuttle::hint::spin_loop;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::{Arc, Mutex};
use shuttle::thread;

#[derive(Clone, Copy, PartialEq)]
pub enum Flaw {
    None,
    /// `pop` gives the slot back before it has read it.
    ReleaseFirst,
}

struct Slot {
    stamp: AtomicUsize,
    value: Mutex<Option<usize>>,
}

impl Slot {
    /// Access to what is an unsafe cell in the original.
    fn cell<T>(&self, access: impl FnOnce(&mut Option<usize>) -> T) -> T {
        access(&mut self.value.try_lock().expect("two threads at one slot"))
    }
}

pub struct ArrayQueue {
    head: AtomicUsize,
    tail: AtomicUsize,
    buffer: Vec<Slot>,
    one_lap: usize,
    flaw: Flaw,
}

impl ArrayQueue {
    pub fn new(capacity: usize, flaw: Flaw) -> ArrayQueue {
        ArrayQueue {
            head: AtomicUsize::new(0),
            tail: AtomicUsize::new(0),
            buffer: (0..capacity)
                .map(|i| Slot { stamp: AtomicUsize::new(i), value: Mutex::new(None) })
                .collect(),
            one_lap: (capacity + 1).next_power_of_two(),
            flaw,
        }
    }

    /// The place after this one, maybe in the next lap.
    fn after(&self, place: usize) -> usize {
        let (index, lap) = (place & (self.one_lap - 1), place & !(self.one_lap - 1));
        if index + 1 < self.buffer.len() { place + 1 } else { lap + self.one_lap }
    }

    pub fn push(&self, value: usize) -> Result<(), usize> {
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            let slot = &self.buffer[tail & (self.one_lap - 1)];
            let stamp = slot.stamp.load(Ordering::Acquire);
            if tail == stamp {
                let new_tail = self.after(tail);
                match self.tail.compare_exchange_weak(tail, new_tail, Ordering::SeqCst, Ordering::Relaxed) {
                    Ok(_) => {
                        slot.cell(|cell| *cell = Some(value));
                        slot.stamp.store(tail + 1, Ordering::Release);
                        return Ok(());
                    }
                    Err(actual) => tail = actual,
                }
            } else {
                if stamp + self.one_lap == tail + 1 {
                    let head = self.head.load(Ordering::Relaxed);
                    if head + self.one_lap == tail {
                        return Err(value);
                    }
                }
                spin_loop();
                tail = self.tail.load(Ordering::Relaxed);
            }
        }
    }

    pub fn pop(&self) -> Option<usize> {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            let slot = &self.buffer[head & (self.one_lap - 1)];
            let stamp = slot.stamp.load(Ordering::Acquire);
            if head + 1 == stamp {
                let new = self.after(head);
                match self.head.compare_exchange_weak(head, new, Ordering::SeqCst, Ordering::Relaxed) {
                    Ok(_) => {
                        if self.flaw == Flaw::ReleaseFirst {
                            slot.stamp.store(head + self.one_lap, Ordering::Release);
                            return Some(slot.cell(Option::take).expect("an empty slot"));
                        }
                        let value = slot.cell(Option::take).expect("an empty slot");
                        slot.stamp.store(head + self.one_lap, Ordering::Release);
                        return Some(value);
                    }
                    Err(actual) => head = actual,
                }
            } else {
                if stamp == head && self.tail.load(Ordering::Relaxed) == head {
                    return None;
                }
                spin_loop();
                head = self.head.load(Ordering::Relaxed);
            }
        }
    }
}

/// Two producers and two consumers on one place: whatever was taken in comes out, once.
pub fn one_place(flaw: Flaw) {
    let queue = Arc::new(ArrayQueue::new(1, flaw));
    let producers: Vec<_> = (1..3)
        .map(|value| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push(value).map_or(0, |()| value))
        })
        .collect();
    let there = Arc::clone(&queue);
    let consumer = thread::spawn(move || there.pop());
    let mut out: usize = queue.pop().into_iter().sum();
    out += consumer.join().unwrap().unwrap_or(0);
    let taken_in: usize = producers.into_iter().map(|producer| producer.join().unwrap()).sum();
    out += std::iter::from_fn(|| queue.pop()).sum::<usize>();
    assert_eq!(out, taken_in);
    assert!(taken_in > 0, "a queue with a place must take one");
}

/// One producer, one consumer, a lap and a half: in order, nothing refused without a reason.
pub fn in_order(flaw: Flaw) {
    let queue = Arc::new(ArrayQueue::new(2, flaw));
    let there = Arc::clone(&queue);
    let producer =
        thread::spawn(move || (1..4).filter(|&value| there.push(value).is_ok()).collect::<Vec<_>>());
    let mut out: Vec<usize> = (0..2).filter_map(|_| queue.pop()).collect();
    let taken_in = producer.join().unwrap();
    out.extend(std::iter::from_fn(|| queue.pop()));
    assert_eq!(out, taken_in);
    assert!(taken_in.starts_with(&[1, 2]), "refused although there was room: {taken_in:?}");
}
