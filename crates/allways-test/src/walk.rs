//! One execution along a path: where delays are spent, what is left over, and whether the program is the one that was
//! recorded.
//!
//! A program whose behaviour depends on anything but the schedule (time, addresses, `std` threads, a `HashMap` with its
//! random keys) makes the tree of schedules meaningless. Two tests catch such a program. Each delay of a path must find
//! its opportunity. And up to the place where two successive schedules part, both must have seen the same candidates at
//! every step: each execution keeps a fingerprint of all scheduling points so far, and remembers it at its delays, where
//! the next execution compares. (A third test is the scheduler's: when nothing is left to run, the first schedule is run
//! once more, and must be as it was.)
//!
//! Invariant: `marks[i]` is the fingerprint when delay i was spent, for all delays spent so far.

use crate::round_robin::Line;
use crate::tree::Path;

#[derive(Clone, Debug, Default)]
pub(crate) struct Walk {
    path: Path,
    /// Opportunities since the last delay.
    passed: u32,
    /// A fingerprint of what the scheduler was asked so far.
    fingerprint: u64,
    marks: Vec<u64>,
    /// What the execution before has seen where this one must still be like it: the delay, the opportunity, the mark.
    expected: Vec<(usize, u32, u64)>,
    /// No opportunity before this one is taken or compared.
    due: u32,
    diverged: bool,
}

impl Walk {
    /// Starts along another path.
    pub fn restart(&mut self, path: Path) {
        let common = path.iter().zip(&self.path).take_while(|(a, b)| a == b).count();
        self.expected.clear();
        // Where they part, this one passes the opportunity that the other one took, if it is the later.
        if let (Some(&mine), Some(&theirs), Some(&mark)) =
            (path.get(common), self.path.get(common), self.marks.get(common))
            && theirs < mine
        {
            self.expected.push((common, theirs, mark));
        }
        let shared = (0..common.min(self.marks.len())).rev();
        self.expected.extend(shared.map(|delay| (delay, path[delay], self.marks[delay])));
        self.path = path;
        self.passed = 0;
        self.fingerprint = 0;
        self.marks.clear();
        self.diverged = false;
        self.look_ahead();
    }

    /// A scheduling point. Gives the position in the line of the task to run.
    #[inline]
    pub fn choose(&mut self, line: &Line, to_the_end: bool) -> usize {
        self.see(line, to_the_end);
        // To delay the last of the line as well would lead back to the first: the same schedule at a higher price.
        self.alternative(line.length)
    }

    /// A scheduling point at which somebody else has chosen.
    pub fn chosen(&mut self, line: &Line, to_the_end: bool, position: usize) {
        self.see(line, to_the_end);
        self.go(line.length, position);
    }

    #[inline]
    fn see(&mut self, line: &Line, to_the_end: bool) {
        self.mix(line.first as u64 * 2 + u64::from(to_the_end));
        self.mix(line.sum);
    }

    /// A choice among so many alternatives that are no tasks.
    pub fn decide(&mut self, alternatives: usize) -> usize {
        self.mix(alternatives as u64);
        self.alternative(alternatives)
    }

    /// The same, where somebody else has decided.
    pub fn decided(&mut self, alternatives: usize, position: usize) {
        self.mix(alternatives as u64);
        self.go(alternatives, position);
    }

    /// The path is made while it is gone.
    fn go(&mut self, alternatives: usize, position: usize) {
        for _ in 0..position {
            self.path.push(self.passed);
            self.spend();
        }
        self.passed += u32::from(position + 1 < alternatives);
    }

    #[inline]
    fn alternative(&mut self, alternatives: usize) -> usize {
        if alternatives > 1 && self.passed < self.due {
            self.passed += 1;
            return 0;
        }
        let mut position = 0;
        while position + 1 < alternatives && self.delay() {
            position += 1;
        }
        position
    }

    /// Something else that the program did and that must be the same each time.
    #[inline]
    pub fn mix(&mut self, value: u64) {
        self.fingerprint = (self.fingerprint ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
    }

    /// Whether all delays were spent, where the recorded tree has them.
    pub fn followed(&self) -> bool {
        !self.diverged && self.marks.len() == self.path.len()
    }

    pub fn path(&self) -> &[u32] {
        &self.path
    }

    /// What the whole execution looked like.
    pub fn fingerprint(&self) -> (u64, u32) {
        (self.fingerprint, self.passed)
    }

    /// How many opportunities there were after the last delay.
    pub fn left_over(&self) -> u32 {
        self.passed
    }

    /// An opportunity: is it taken?
    fn delay(&mut self) -> bool {
        let spent = self.marks.len();
        if let Some(&(delay, opportunity, mark)) = self.expected.last()
            && (delay, opportunity) == (spent, self.passed)
        {
            self.diverged |= mark != self.fingerprint;
            self.expected.pop();
            self.look_ahead();
        }
        if self.path.get(spent) == Some(&self.passed) {
            self.spend();
            true
        } else {
            self.passed += 1;
            false
        }
    }

    fn spend(&mut self) {
        self.marks.push(self.fingerprint);
        // Two delays at one scheduling point see the same candidates, but are different places.
        self.mix(u64::MAX);
        self.passed = 0;
        self.look_ahead();
    }

    /// Finds the next opportunity that is taken or compared.
    fn look_ahead(&mut self) {
        let spent = self.marks.len();
        let taken = self.path.get(spent).copied().unwrap_or(u32::MAX);
        let compared = self.expected.last().filter(|next| next.0 == spent).map_or(u32::MAX, |next| next.1);
        self.due = taken.min(compared);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round_robin::Candidate;

    fn line(candidates: usize) -> Line {
        (0..candidates).map(|task| Candidate { task, runnable: true }).collect()
    }

    /// Runs a walk over points with so many candidates each.
    fn run(path: &[u32], before: &Walk, points: &[usize]) -> (Vec<usize>, Walk) {
        let mut walk = before.clone();
        walk.restart(path.to_vec());
        let chosen = points.iter().map(|&n| walk.choose(&line(n), false)).collect();
        (chosen, walk)
    }

    #[test]
    fn delays_are_spent_at_their_opportunities() {
        let points = [1, 3, 2, 1, 2];
        let (chosen, walk) = run(&[], &Walk::default(), &points);
        assert_eq!((chosen, walk.left_over()), (vec![0, 0, 0, 0, 0], 3));
        let (chosen, walk) = run(&[1], &Walk::default(), &points);
        assert_eq!((chosen, walk.left_over()), (vec![0, 0, 1, 0, 0], 1));
        let (chosen, walk) = run(&[0, 0, 1], &Walk::default(), &points);
        assert_eq!((chosen, walk.left_over()), (vec![0, 2, 0, 0, 1], 0));
        assert!(walk.followed());
    }

    #[test]
    fn a_delay_without_its_opportunity_is_noticed() {
        let (_, walk) = run(&[3], &Walk::default(), &[1, 3, 2, 1, 2]);
        assert!(!walk.followed());
    }

    #[test]
    fn a_program_that_changed_before_the_parting_is_noticed() {
        let (_, first) = run(&[1, 0], &Walk::default(), &[2, 2, 2, 2]);
        assert!(first.followed());
        let (_, same) = run(&[1, 1], &first, &[2, 2, 2, 2]);
        assert!(same.followed());
        let (_, other) = run(&[1, 1], &first, &[2, 3, 2, 2]);
        assert!(!other.followed());
        // After the parting anything may be different.
        let (_, after) = run(&[1, 1], &first, &[2, 2, 2, 3]);
        assert!(after.followed());
    }

    #[test]
    fn a_path_that_is_made_while_it_is_gone_leads_there_again() {
        let points = [2, 3, 1, 2, 4, 2];
        for number in 0..96 {
            let mut rest = number;
            let positions: Vec<usize> = points.map(|n| (rest % n, rest /= n).0).to_vec();
            let mut walk = Walk::default();
            for (&n, &position) in points.iter().zip(&positions) {
                walk.chosen(&line(n), false, position);
            }
            let (again, other) = run(walk.path(), &Walk::default(), &points);
            assert_eq!((again, other.fingerprint()), (positions, walk.fingerprint()));
            assert!(walk.followed() && other.followed());
        }
    }
}
