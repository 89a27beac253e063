//! States of a program, listed in little room, and each as text.
//!
//! A state is a row of numbers: that of the values of its shared variables, and for each thread that of its stack; each distinct
//! list of values and each distinct stack is kept once. All states of a list have the same threads.
//!
//! Invariant: no two rows are equal, and neither are two entries of a table.

use crate::rejection::shorten;
use allways_model::program::Value;
use allways_model::program::semantics::{Frame, State, Thread};
use hashbrown::{DefaultHashBuilder, HashMap, HashTable};
use std::fmt::Write;
use std::hash::{BuildHasher, Hash};

/// States, numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Listed {
    shared: Table<Value>,
    stacks: Table<Frame>,
    /// How many numbers a row has; 0 if there is none yet.
    width: usize,
    rows: Vec<u32>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl PartialEq for Listed {
    fn eq(&self, other: &Listed) -> bool {
        self.shared.all == other.shared.all && self.stacks.all == other.stacks.all && self.rows == other.rows
    }
}

impl Eq for Listed {}

/// Lists of values or frames, numbered from 0.
#[derive(Clone, Debug)]
struct Table<T> {
    all: Vec<Box<[T]>>,
    numbers: HashMap<Box<[T]>, u32>,
}

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table { all: Vec::new(), numbers: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn number(&mut self, list: &[T]) -> u32 {
        if let Some(&number) = self.numbers.get(list) {
            return number;
        }
        let number = self.all.len() as u32;
        self.all.push(list.into());
        self.numbers.insert(list.into(), number);
        number
    }
}

impl Listed {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len().checked_div(self.width).unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The number of a list of values of the shared variables.
    pub fn shared(&mut self, values: &[Value]) -> u32 {
        self.shared.number(values)
    }

    /// The number of a stack.
    pub fn stack(&mut self, frames: &[Frame]) -> u32 {
        self.stacks.number(frames)
    }

    /// Adds a state; its number, and whether it is new.
    pub fn insert(&mut self, state: &State) -> (usize, bool) {
        let mut row = vec![self.shared.number(&state.shared)];
        row.extend(state.threads.iter().map(|thread| self.stacks.number(&thread.stack)));
        self.insert_row(&row)
    }

    /// Adds a state by its row; its number, and whether it is new.
    pub fn insert_row(&mut self, row: &[u32]) -> (usize, bool) {
        let Listed { width, rows, index, hasher, .. } = self;
        *width = row.len();
        let hash = hasher.hash_one(row);
        let known = |number: u32| &rows[number as usize * row.len()..][..row.len()];
        if let Some(&number) = index.find(hash, |&number| known(number) == row) {
            return (number as usize, false);
        }
        let number = rows.len() / row.len();
        index.insert_unique(hash, number as u32, |&other| hasher.hash_one(known(other)));
        rows.extend_from_slice(row);
        (number, true)
    }

    /// The number of a state, if it is listed.
    pub fn find(&self, state: &State) -> Option<usize> {
        let shared = self.shared.numbers.get(&state.shared[..]).copied();
        let stacks = state.threads.iter().map(|thread| self.stacks.numbers.get(&thread.stack[..]).copied());
        let row: Vec<u32> = std::iter::once(shared).chain(stacks).collect::<Option<_>>()?;
        let hash = self.hasher.hash_one(&row[..]);
        let found = self.index.find(hash, |&number| self.row(number as usize) == row);
        found.map(|&number| number as usize)
    }

    /// The row of a state: its shared values, then the stack of each thread, each by its number.
    pub fn row(&self, number: usize) -> &[u32] {
        &self.rows[number * self.width..][..self.width]
    }

    /// The frames of a stack, the topmost last.
    pub fn frames(&self, stack: u32) -> &[Frame] {
        &self.stacks.all[stack as usize]
    }

    /// A state; its threads are those of another state but for their stacks.
    pub fn get(&self, number: usize, like: &State) -> State {
        let row = self.row(number);
        let threads = like.threads.iter().zip(&row[1..]).map(|(thread, &stack)| Thread {
            template: thread.template,
            id: thread.id,
            this: thread.this,
            stack: self.frames(stack).to_vec(),
        });
        State { shared: self.shared.all[row[0] as usize].to_vec(), threads: threads.collect() }
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let tables = self.shared.all.len() + self.stacks.all.len();
        self.rows.capacity() * 4 + self.index.capacity() * 5 + tables * 128
    }
}

/// A state as text: the values of the shared variables; then for each thread a bar and its frames, the topmost first, with a
/// slash between them: the location, after `@` the edge by which it has called another procedure, and the values of the local variables.
/// `0 1 | 5 2 | 9 / 3@0 7` has two threads, the second of which has called a procedure from location 3.
pub fn text_of(state: &State) -> String {
    let mut text = String::new();
    for value in &state.shared {
        let _ = write!(text, "{value} ");
    }
    for thread in &state.threads {
        text.push('|');
        for (index, frame) in thread.stack.iter().rev().enumerate() {
            let _ = write!(text, "{} {}", if index > 0 { " /" } else { "" }, frame.location);
            if let Some(edge) = frame.calling {
                let _ = write!(text, "@{edge}");
            }
            for value in &frame.locals {
                let _ = write!(text, " {value}");
            }
        }
        text.push(' ');
    }
    text.trim_end().to_string()
}

/// The same for a message, not too long.
pub(crate) fn show(state: &State) -> String {
    shorten(&text_of(state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use allways_model::program::{LocationId, TemplateId};

    /// A location, the edge of a call, and local values.
    type Told<'a> = (usize, Option<usize>, &'a [Value]);

    fn state(shared: &[Value], stacks: &[&[Told<'_>]]) -> State {
        let threads = stacks.iter().enumerate().map(|(id, frames)| Thread {
            template: TemplateId(0),
            id,
            this: id as Value,
            stack: frames
                .iter()
                .map(|&(location, calling, locals)| Frame {
                    location: LocationId(location),
                    calling,
                    locals: locals.to_vec(),
                })
                .collect(),
        });
        State { shared: shared.to_vec(), threads: threads.collect() }
    }

    #[test]
    fn states_are_found_again_and_no_others() {
        let one = state(&[0, 1], &[&[(5, None, &[2])], &[(3, Some(0), &[7]), (9, None, &[])]]);
        let two = state(&[0, 1], &[&[(5, None, &[2])], &[(3, Some(0), &[7])]]);
        let three = state(&[1, 1], &[&[(5, None, &[2])], &[(3, Some(0), &[7])]]);
        assert_eq!(text_of(&one), "0 1 | 5 2 | 9 / 3@0 7");
        assert_eq!(text_of(&state(&[], &[&[], &[(1, None, &[])]])), "| | 1");
        let mut listed = Listed::default();
        assert_eq!(listed.insert(&one), (0, true));
        assert_eq!(listed.insert(&two), (1, true));
        assert_eq!(listed.insert(&one), (0, false));
        assert_eq!((listed.find(&two), listed.find(&three), listed.len()), (Some(1), None, 2));
        assert_eq!((listed.get(0, &two), listed.get(1, &one)), (one, two));
    }
}
