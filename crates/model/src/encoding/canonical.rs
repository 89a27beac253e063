//! Shared states and symbols as bytes: a function of the program and the state alone.
//!
//! Their numbers depend on the order in which they came up in a process. The bytes do not: they are what a [`Key`] and a
//! [`Cell`] hold, as far as it can differ between states of this program. Values that are left out are those that are always
//! 0. Invariant: different states have different bytes, and what is read and written again has the bytes it had.

use super::table::{Cell, Key, Mode, Point};
use super::{Encoded, OPEN};
use crate::bytes::{folded, read_number, read_signed, unfolded, write_number, write_signed};
use crate::program::{EventId, LocationId, TemplateId, Value};

impl Encoded {
    pub(super) fn write_key(&self, key: &Key, out: &mut Vec<u8>) {
        match &key.mode {
            Mode::Normal => out.push(0),
            Mode::Results(results) => {
                out.push(1);
                write_values(results, out);
            }
            Mode::Starting(template, cell, mixed) => {
                out.push(2);
                write_number(template.0 as u64, out);
                self.write_cell(cell, out);
                write_values(mixed, out);
            }
            Mode::Waking(event, left, aside) => {
                out.push(3);
                write_number(event.0 as u64, out);
                write_signed(*left, out);
                write_signed(*aside, out);
            }
            Mode::Settling(aside) => {
                out.push(4);
                write_signed(*aside, out);
            }
            Mode::Within => out.push(8),
            Mode::Giving(location, edge, values) => {
                out.push(7);
                write_number(location.0 as u64, out);
                write_number(*edge as u64, out);
                write_values(values, out);
            }
            Mode::Violated => return out.push(5),
            Mode::Exhausted => return out.push(6),
        }
        for (slot, &value) in key.values.iter().enumerate().filter(|(slot, _)| self.kept[*slot]) {
            match self.open.get(slot) {
                Some(true) if value == OPEN => write_number(0, out),
                Some(true) => write_number(folded(value) + 1, out),
                _ => write_signed(value, out),
            }
        }
    }

    pub(super) fn take_key(&self, bytes: &mut &[u8]) -> Option<Key> {
        let mode = match take(bytes)? {
            0 => Mode::Normal,
            1 => Mode::Results(read_values(bytes)?),
            2 => {
                let template = TemplateId(index(bytes, self.program.templates.len())?);
                let cell = self.take_cell(bytes)?;
                Mode::Starting(template, cell, read_values(bytes)?)
            }
            3 => {
                let event = EventId(index(bytes, self.program.events.len())?);
                Mode::Waking(event, read_signed(bytes)?, read_signed(bytes)?)
            }
            4 => Mode::Settling(read_signed(bytes)?),
            5 => return Some(Key::violated()),
            6 => return Some(Key::exhausted()),
            7 => {
                let location = LocationId(index(bytes, self.program.locations.len())?);
                let edge = index(bytes, self.program.locations[location].edges.len())?;
                let values = read_values(bytes)?;
                if !self.is_giving(location, edge, &values) {
                    return None;
                }
                Mode::Giving(location, edge, values)
            }
            8 => Mode::Within,
            _ => return None,
        };
        let mut values = vec![0; self.kept.len()];
        for (slot, value) in values.iter_mut().enumerate().filter(|(slot, _)| self.kept[*slot]) {
            *value = match self.open.get(slot) {
                Some(true) => match read_number(bytes)? {
                    0 => OPEN,
                    number => unfolded(number - 1),
                },
                _ => read_signed(bytes)?,
            };
        }
        Some(Key { mode, values: values.into() })
    }

    pub(super) fn write_cell(&self, cell: &Cell, out: &mut Vec<u8>) {
        match cell.point {
            Point::Idle => return out.push(0),
            Point::Bottom => return out.push(1),
            Point::At(location) => {
                out.push(2);
                write_number(location.0 as u64, out);
            }
            Point::Inside(location) => {
                out.push(5);
                write_number(location.0 as u64, out);
            }
            Point::Given(location) => {
                out.push(4);
                write_number(location.0 as u64, out);
            }
            Point::Returning(location, edge) => {
                out.push(3);
                write_number(location.0 as u64, out);
                write_number(edge as u64, out);
            }
        }
        let live = self.live_at(cell.point);
        cell.locals
            .iter()
            .zip(&*live)
            .filter(|(_, live)| **live)
            .for_each(|(&value, _)| write_signed(value, out));
    }

    pub(super) fn take_cell(&self, bytes: &mut &[u8]) -> Option<Cell> {
        let kind = take(bytes)?;
        let point = match kind {
            0 => return Some(Cell::idle()),
            1 => return Some(Cell::bottom()),
            2 => Point::At(LocationId(index(bytes, self.program.locations.len())?)),
            3 => {
                let location = LocationId(index(bytes, self.program.locations.len())?);
                Point::Returning(location, index(bytes, self.program.locations[location].edges.len())?)
            }
            4 => Point::Given(LocationId(index(bytes, self.program.locations.len())?)),
            5 => Point::Inside(LocationId(index(bytes, self.program.locations.len())?)),
            _ => return None,
        };
        let live = self.live_at(point);
        let locals = live.iter().map(|&live| if live { read_signed(bytes) } else { Some(0) });
        Some(Cell { point, locals: locals.collect::<Option<_>>()? })
    }
}

fn take(bytes: &mut &[u8]) -> Option<u8> {
    let (&byte, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(byte)
}

/// A number that must be less than a length.
fn index(bytes: &mut &[u8], length: usize) -> Option<usize> {
    usize::try_from(read_number(bytes)?).ok().filter(|&index| index < length)
}

fn write_values(values: &[Value], out: &mut Vec<u8>) {
    write_number(values.len() as u64, out);
    values.iter().for_each(|&value| write_signed(value, out));
}

fn read_values(bytes: &mut &[u8]) -> Option<Box<[Value]>> {
    // Each takes a byte at least, so a length that lies comes to the end soon.
    (0..read_number(bytes)?).map(|_| read_signed(bytes)).collect()
}
