//! Sets of numbers at equal distances: `low`, `low + step`, …, `high` (strided intervals: Reps, Balakrishnan and Lim, *Intermediate-
//! representation recovery from low-level code*, 2006). Every operation gives a set that contains all results.

/// Numbers from one to another at equal distances. If there is more than one, `high - low` is a multiple of the step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stride {
    /// The least.
    pub low: i128,
    /// The greatest.
    pub high: i128,
    /// The distance; 0 if there is only one.
    pub step: i128,
}

impl Stride {
    /// From a number up to another at most.
    fn new(low: i128, high: i128, step: i128) -> Stride {
        let step = if step == 0 && low < high { 1 } else { step };
        let high = if step == 0 { low } else { low + (high - low) / step * step };
        Stride { low, high, step: if low == high { 0 } else { step } }
    }

    /// One number.
    pub fn constant(value: i128) -> Stride {
        Stride { low: value, high: value, step: 0 }
    }

    /// All numbers from one to another.
    pub fn range((low, high): (i128, i128)) -> Stride {
        Stride::new(low, high, 1)
    }

    /// Whether a number is one of them.
    pub fn contains(self, value: i128) -> bool {
        self.low <= value && value <= self.high && (value - self.low) % self.step.max(1) == 0
    }

    /// Whether all are between bounds.
    pub fn is_within(self, (low, high): (i128, i128)) -> bool {
        low <= self.low && self.high <= high
    }

    /// What contains both.
    pub fn join(self, other: Stride) -> Stride {
        let step = gcd(gcd(self.step, other.step), (self.low - other.low).abs());
        Stride::new(self.low.min(other.low), self.high.max(other.high), step)
    }

    /// Those that are no larger.
    pub fn at_most(self, most: i128) -> Option<Stride> {
        (self.low <= most).then(|| Stride::new(self.low, self.high.min(most), self.step))
    }

    /// Those that are no smaller.
    pub fn at_least(self, least: i128) -> Option<Stride> {
        let skipped = match self.step {
            0 => i128::from(least > self.low),
            step => ((least - self.low).max(0) + step - 1) / step,
        };
        let low = self.low + skipped * self.step.max(1);
        (low <= self.high).then(|| Stride::new(low, self.high, self.step))
    }

    /// Those between bounds.
    pub fn between(self, (low, high): (i128, i128)) -> Option<Stride> {
        self.at_least(low)?.at_most(high)
    }

    /// All but one, if that lies at an end.
    pub fn except(self, value: i128) -> Option<Stride> {
        match value {
            _ if value == self.low => self.at_least(value + 1),
            _ if value == self.high => self.at_most(value - 1),
            _ => Some(self),
        }
    }

    /// Contains this and what is larger, up to one of these bounds: fewer sets than there are numbers. The bounds are sorted.
    pub fn widened(self, before: Stride, bounds: &[i128], (least, most): (i128, i128)) -> Stride {
        let mut low = self.low;
        if self.low < before.low {
            let below = bounds.partition_point(|&bound| bound <= self.low);
            let bound = below.checked_sub(1).map_or(least, |index| bounds[index]).max(least);
            // What it contains must stay where it is.
            low -= (self.low - bound).max(0) / self.step.max(1) * self.step.max(1);
        }
        let mut high = self.high;
        if self.high > before.high {
            let above = bounds.partition_point(|&bound| bound < self.high);
            high = bounds.get(above).map_or(most, |&bound| bound.min(most)).max(self.high);
        }
        Stride::new(low, high, self.step)
    }

    /// Sums.
    pub fn plus(self, other: Stride) -> Stride {
        Stride::new(self.low + other.low, self.high + other.high, gcd(self.step, other.step))
    }

    /// Differences.
    pub fn minus(self, other: Stride) -> Stride {
        self.plus(Stride::new(-other.high, -other.low, other.step))
    }

    /// Products, if one side is a single number.
    pub fn times(self, other: Stride) -> Option<Stride> {
        let (many, factor) = match (self.step, other.step) {
            (_, 0) => (self, other.low),
            (0, _) => (other, self.low),
            _ => return None,
        };
        let ends = (many.low.checked_mul(factor)?, many.high.checked_mul(factor)?);
        Some(Stride::new(ends.0.min(ends.1), ends.0.max(ends.1), many.step.checked_mul(factor.abs())?))
    }
}

fn gcd(left: i128, right: i128) -> i128 {
    if right == 0 { left } else { gcd(right, left % right) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Stride> {
        let mut all = Vec::new();
        for low in -4..4 {
            for count in 0..4 {
                for step in 1..4 {
                    all.push(Stride::new(low, low + count * step, step));
                }
            }
        }
        all
    }

    fn members(stride: Stride) -> Vec<i128> {
        (stride.low..=stride.high).step_by(stride.step.max(1) as usize).collect()
    }

    fn contains(stride: Stride, value: i128) -> bool {
        assert_eq!(stride.contains(value), members(stride).contains(&value));
        stride.contains(value)
    }

    #[test]
    fn operations_contain_all_results() {
        for left in all() {
            for right in all() {
                for &x in &members(left) {
                    assert!(contains(left.join(right), x) && contains(right.join(left), x));
                    for &y in &members(right) {
                        assert!(contains(left.plus(right), x + y));
                        assert!(contains(left.minus(right), x - y));
                        assert!(left.times(right).is_none_or(|product| contains(product, x * y)));
                    }
                }
            }
        }
    }

    #[test]
    fn restrictions_keep_what_they_must_and_nothing_beyond() {
        for stride in all() {
            for bound in -6..16 {
                let kept = |what: Option<Stride>| what.map_or(Vec::new(), members);
                let expected: Vec<i128> = members(stride).into_iter().filter(|&x| x <= bound).collect();
                assert_eq!(kept(stride.at_most(bound)), expected);
                let expected: Vec<i128> = members(stride).into_iter().filter(|&x| x >= bound).collect();
                assert_eq!(kept(stride.at_least(bound)), expected);
                let without = kept(stride.except(bound));
                assert!(members(stride).iter().all(|x| *x == bound || without.contains(x)));
            }
        }
    }

    #[test]
    fn widening_contains_what_is_widened() {
        for before in all() {
            for stride in all() {
                let joined = before.join(stride);
                let widened = joined.widened(before, &[-5, 0, 3, 7], (-20, 20));
                assert!(members(joined).iter().all(|&x| contains(widened, x)), "{joined:?} {widened:?}");
            }
        }
    }
}
