//! Many linear programs over one matrix: how many firings does it take at least, and why is there no way at all?
//!
//! For a matrix `C`, whose columns are what rules add and whose rows are states, and numbers `d` of tokens that are missing: the
//! least cost of `x ≥ 0` with `Cx ≥ d`. From one program to the next only `d` changes, so the dual simplex method goes on from
//! where the last one ended, and mostly needs a few pivots. This is the state inequation of [`distance`](super::distance) and
//! [`linear`](super::linear), solved for every configuration of a search instead of for a few.
//!
//! Invariant: with `u = Cx`, each basic variable is the sum of the nonbasic ones times their numbers in the dictionary; the
//! bounds from below are `d` for `u` and 0 for `x`; and all reduced costs are positive, so that what is least is found as soon as
//! no basic variable is below its bound when the nonbasic ones are at theirs. Costs differ a little from one another: then
//! the method cannot go round in circles.
//!
//! Numbers are floating-point numbers: what comes out guides a search, or is tested in integers before it is used.

use super::linear::Row;

/// Larger matrices are not worth it: pivots touch all of them.
const MOST_NUMBERS: usize = 1 << 14;

/// After so many pivots the numbers are made anew.
const MOST_PIVOTS: usize = 2000;

/// What is as good as zero.
const TINY: f64 = 1e-9;

/// What is as good as enough.
const CLOSE: f64 = 1e-7;

/// The answer to one program.
pub enum Least {
    /// It costs so much at least.
    Cost(f64),
    /// There is no way: weights of states, none negative, which no rule makes heavier, and by which more is missing than nothing.
    None(Vec<f64>),
    /// No answer, for numerical reasons.
    Unknown,
}

/// Variables are numbered: first `u`, one for each state, then `x`, one for each rule.
pub struct Simplex {
    /// What the rules add, dense, by state.
    matrix: Vec<f64>,
    costs: Vec<f64>,
    states: usize,
    rules: usize,
    /// By row, the sum that is the basic variable.
    dictionary: Vec<f64>,
    basic: Vec<usize>,
    nonbasic: Vec<usize>,
    reduced: Vec<f64>,
    pivots: usize,
    /// The values of the basic variables.
    values: Vec<f64>,
}

impl Simplex {
    /// A program with so many states, and for each rule what it adds and costs; `None` if it would be too large.
    pub fn new(states: usize, rules: &[(Row, f64)]) -> Option<Simplex> {
        if states.checked_mul(rules.len())? > MOST_NUMBERS {
            return None;
        }
        let mut matrix = vec![0.0; states * rules.len()];
        for (rule, (effect, _)) in rules.iter().enumerate() {
            effect.iter().for_each(|&(at, number)| matrix[at * rules.len() + rule] = number as f64);
        }
        // Multiples of the golden ratio, without what is before the point, are spread evenly.
        let apart = |rule: usize| 1e-4 * ((rule + 1) as f64 * 0.618_033_988_749_895).fract();
        let costs = rules.iter().enumerate().map(|(rule, (_, cost))| cost + apart(rule)).collect();
        let mut simplex = Simplex {
            matrix,
            costs,
            states,
            rules: rules.len(),
            dictionary: Vec::new(),
            basic: Vec::new(),
            nonbasic: Vec::new(),
            reduced: Vec::new(),
            pivots: 0,
            values: vec![0.0; states],
        };
        simplex.restart();
        Some(simplex)
    }

    fn restart(&mut self) {
        self.dictionary = self.matrix.clone();
        self.basic = (0..self.states).collect();
        self.nonbasic = (self.states..self.states + self.rules).collect();
        self.reduced = self.costs.clone();
        self.pivots = 0;
    }

    /// The least cost if so many tokens are missing, by state; negative where there are some to spare.
    pub fn solve(&mut self, missing: &[f64]) -> Least {
        if self.pivots > MOST_PIVOTS {
            self.restart();
        }
        let most = self.pivots + 8 * (self.states + self.rules);
        self.evaluate(missing);
        loop {
            let below = |row: usize| self.bound(self.basic[row], missing) - self.values[row];
            let Some(row) = (0..self.states).max_by(|&one, &other| below(one).total_cmp(&below(other)))
            else {
                return Least::Cost(0.0);
            };
            if below(row) <= CLOSE {
                let at_bounds = self.nonbasic.iter().zip(&self.reduced);
                return Least::Cost(
                    at_bounds.map(|(&variable, reduced)| self.bound(variable, missing) * reduced).sum(),
                );
            }
            let numbers = &self.dictionary[row * self.rules..(row + 1) * self.rules];
            let mut entering: Option<(usize, f64)> = None;
            for (column, &number) in numbers.iter().enumerate() {
                if number > TINY {
                    let ratio = self.reduced[column] / number;
                    if entering.is_none_or(|(_, least)| ratio < least) {
                        entering = Some((column, ratio));
                    }
                }
            }
            let Some((column, _)) = entering else { return Least::None(self.weights(row)) };
            if self.pivots >= most {
                self.restart();
                return Least::Unknown;
            }
            let more = below(row) / numbers[column];
            let bound = self.bound(self.nonbasic[column], missing);
            for (value, numbers) in self.values.iter_mut().zip(self.dictionary.chunks_exact(self.rules)) {
                *value += more * numbers[column];
            }
            self.values[row] = bound + more;
            self.pivot(row, column);
        }
    }

    fn bound(&self, variable: usize, missing: &[f64]) -> f64 {
        missing.get(variable).copied().unwrap_or(0.0)
    }

    fn evaluate(&mut self, missing: &[f64]) {
        let bounds: Vec<f64> = self.nonbasic.iter().map(|&variable| self.bound(variable, missing)).collect();
        for (value, numbers) in self.values.iter_mut().zip(self.dictionary.chunks_exact(self.rules.max(1))) {
            *value = numbers.iter().zip(&bounds).map(|(number, bound)| number * bound).sum();
        }
    }

    /// The basic variable of a row and the nonbasic one of a column change places.
    fn pivot(&mut self, row: usize, column: usize) {
        self.pivots += 1;
        let rules = self.rules;
        let inverse = 1.0 / self.dictionary[row * rules + column];
        let mut pivot_row: Vec<f64> =
            self.dictionary[row * rules..(row + 1) * rules].iter().map(|number| -number * inverse).collect();
        pivot_row[column] = inverse;
        for (other, numbers) in self.dictionary.chunks_exact_mut(rules).enumerate() {
            if other != row {
                substitute(numbers, &pivot_row, column);
            }
        }
        substitute(&mut self.reduced, &pivot_row, column);
        self.dictionary[row * rules..(row + 1) * rules].copy_from_slice(&pivot_row);
        std::mem::swap(&mut self.basic[row], &mut self.nonbasic[column]);
    }

    /// Why the basic variable of a row can never be as large as it has to be: no nonbasic variable makes it larger.
    fn weights(&self, row: usize) -> Vec<f64> {
        let mut weights = vec![0.0; self.states];
        if self.basic[row] < self.states {
            weights[self.basic[row]] = 1.0;
        }
        let numbers = &self.dictionary[row * self.rules..(row + 1) * self.rules];
        for (&variable, &number) in self.nonbasic.iter().zip(numbers) {
            if variable < self.states && number < -TINY {
                weights[variable] = -number;
            }
        }
        weights
    }
}

/// Puts a sum in the place of a variable of another sum.
fn substitute(numbers: &mut [f64], pivot_row: &[f64], column: usize) {
    let factor = numbers[column];
    if factor.abs() <= f64::MIN_POSITIVE {
        return;
    }
    numbers[column] = 0.0;
    for (number, pivot) in numbers.iter_mut().zip(pivot_row) {
        *number += factor * pivot;
    }
}
