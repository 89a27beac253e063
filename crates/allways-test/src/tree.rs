//! The search: all placements of 0, then 1, then 2, … delays, each generated once (DBS, sections 3 and 4).
//!
//! An execution under a deterministic scheduler passes a sequence of *opportunities*, places where the task that is next
//! may be delayed. A schedule with K delays is a path (j1, …, jK): the i-th delay is spent at opportunity j_i after the
//! one before it, counted from 0. Its parent is the path without its last delay; the two executions are the same up to
//! that delay. So once a schedule has run, the number of opportunities after its last delay is the number of its children,
//! and the schedules with K + 1 delays are the children of those with K. Paths are not stored: the numbers of children,
//! in the order of generation, are the tree.
//!
//! Invariant: `children[k]` holds one number for each schedule with k delays that has run, in lexicographic order of
//! paths. All schedules with fewer than `delays` delays have run before the first with `delays`.

/// A schedule: for each delay the number of opportunities passed since the delay before.
pub(crate) type Path = Vec<u32>;

/// What to do after a schedule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Run these, of one level; in this order if one after the other.
    Run(Vec<Path>),
    /// No schedule is left, whatever the number of delays.
    Exhausted,
    /// No schedule is left with as few delays as allowed.
    Bound,
    /// What comes next depends on schedules that were given out and have not been recorded.
    Later,
}

#[derive(Clone, Debug)]
pub(crate) struct Tree {
    /// The most delays allowed.
    bound: Option<usize>,
    /// The numbers of children, level by level.
    children: Vec<Vec<u32>>,
    /// Schedules run, and the sum of their children, for each number of delays.
    totals: Vec<(u64, u64)>,
    /// The number of delays of the current schedule.
    delays: usize,
    /// How many schedules of each level have been visited during the enumeration of the current level; the last one
    /// visited is the ancestor of the current schedule.
    visited: Vec<usize>,
    /// How many children of the ancestor at each level have been visited.
    taken: Vec<u32>,
    /// Whether all schedules of the current level have been visited.
    visited_all: bool,
    /// How many schedules of the current level were given out.
    given: u64,
}

impl Tree {
    pub fn new(bound: Option<usize>) -> Tree {
        Tree {
            bound,
            children: vec![Vec::new()],
            totals: vec![(0, 0)],
            delays: 0,
            visited: vec![0],
            taken: Vec::new(),
            visited_all: false,
            given: 0,
        }
    }

    /// How many schedules the current level has.
    pub fn width(&self) -> u64 {
        self.delays.checked_sub(1).map_or(1, |before| self.totals[before].1)
    }

    /// The next schedules, at least one if any is left, and at most so many. Those of a level may be given out before others of it
    /// are recorded.
    pub fn next(&mut self, most: usize) -> Next {
        let mut paths = Vec::new();
        loop {
            while paths.len() < most && !self.visited_all {
                if self.advance(self.delays) {
                    paths.push(self.taken.iter().map(|&taken| taken - 1).collect());
                } else {
                    self.visited_all = true;
                }
            }
            if !paths.is_empty() {
                self.given += paths.len() as u64;
                return Next::Run(paths);
            }
            if self.totals[self.delays].0 < self.given {
                return Next::Later;
            }
            if self.totals[self.delays].1 == 0 {
                return Next::Exhausted;
            }
            if self.bound == Some(self.delays) {
                return Next::Bound;
            }
            self.delays += 1;
            self.visited_all = false;
            self.given = 0;
            self.children.push(Vec::new());
            self.totals.push((0, 0));
            self.visited = vec![0; self.delays + 1];
            self.taken = vec![0; self.delays];
        }
    }

    /// What has to be kept to go on another time: how often each level was visited, and the numbers of children.
    pub fn save(&self) -> String {
        let numbers = |list: &[u32]| list.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let mut text = format!("recorded {}\n", self.totals[self.delays].0);
        for children in &self.children {
            text += &format!("level {}\n", numbers(children));
        }
        text
    }

    /// Goes on where another tree was saved; nothing if the text is not one.
    pub fn load(bound: Option<usize>, text: &str) -> Option<Tree> {
        let mut lines = text.lines();
        let recorded: u64 = lines.next()?.strip_prefix("recorded ")?.parse().ok()?;
        let mut levels = Vec::new();
        for line in lines {
            let numbers = line.strip_prefix("level")?.split_whitespace();
            levels.push(numbers.map(|number| number.parse().ok()).collect::<Option<Vec<u32>>>()?);
        }
        let mut tree = Tree::new(bound);
        let last = levels.len().checked_sub(1)?;
        for (level, children) in levels.into_iter().enumerate() {
            let count = if level == last { recorded } else { children.len() as u64 };
            for index in 0..count {
                let Next::Run(paths) = tree.next(1) else { return None };
                if paths[0].len() != level {
                    return None;
                }
                tree.record(*children.get(index as usize)?);
            }
        }
        Some(tree)
    }

    /// The next of the schedules that were given out has run, and has so many opportunities after its last delay.
    pub fn record(&mut self, opportunities: u32) {
        let (schedules, sum) = &mut self.totals[self.delays];
        *schedules += 1;
        *sum += u64::from(opportunities);
        self.children[self.delays].push(opportunities);
    }

    /// How many schedules with 0, 1, 2, … delays have run.
    pub fn schedules(&self) -> Vec<u64> {
        let mut schedules: Vec<u64> = self.totals.iter().map(|total| total.0).collect();
        while schedules.len() > 1 && schedules.last() == Some(&0) {
            schedules.pop();
        }
        schedules
    }

    /// Visits the next schedule of a level: the next child of its parent, or the first child of the next parent that has
    /// one. Over a whole level this is linear in the number of schedules.
    fn advance(&mut self, level: usize) -> bool {
        if level == 0 {
            self.visited[0] += 1;
            return self.visited[0] == 1;
        }
        loop {
            if let Some(parent) = self.visited[level - 1].checked_sub(1)
                && self.taken[level - 1] < self.children[level - 1][parent]
            {
                self.taken[level - 1] += 1;
                self.visited[level] += 1;
                return true;
            }
            if !self.advance(level - 1) {
                return false;
            }
            self.taken[level - 1] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Children of a made-up tree: whatever, but a function of the path, and sometimes none.
    fn opportunities(path: &[u32]) -> u32 {
        let mix = path.iter().fold(5u32, |mix, j| mix.wrapping_mul(0x9e37_79b9).wrapping_add(j + 1));
        if path.len() >= 5 { 0 } else { (mix ^ (mix >> 13)) % 6 }
    }

    /// All paths of the made-up tree, by recursion.
    fn all(path: &mut Path, into: &mut BTreeSet<(usize, Path)>) {
        into.insert((path.len(), path.clone()));
        for j in 0..opportunities(path) {
            path.push(j);
            all(path, into);
            path.pop();
        }
    }

    #[test]
    fn each_path_once_by_level_and_in_order() {
        let mut expected = BTreeSet::new();
        all(&mut Vec::new(), &mut expected);
        assert!(expected.len() > 30, "{}", expected.len());
        for bound in [None, Some(0), Some(1), Some(2), Some(3), Some(9)] {
            let mut tree = Tree::new(bound);
            let mut seen = Vec::new();
            let end = loop {
                match tree.next(1 + seen.len() % 3) {
                    Next::Run(paths) => {
                        for path in paths {
                            tree.record(opportunities(&path));
                            seen.push((path.len(), path));
                        }
                        if seen.len() % 5 == 0 {
                            tree = Tree::load(bound, &tree.save()).unwrap();
                        }
                    }
                    end => break end,
                }
            };
            let within: Vec<_> =
                expected.iter().filter(|(k, _)| bound.is_none_or(|b| *k <= b)).cloned().collect();
            assert_eq!(seen, within, "{bound:?}");
            assert_eq!(end, if within.len() == expected.len() { Next::Exhausted } else { Next::Bound });
            assert_eq!(tree.schedules().iter().sum::<u64>(), within.len() as u64);
        }
    }

    #[test]
    fn a_single_schedule() {
        let mut tree = Tree::new(None);
        assert_eq!(tree.next(9), Next::Run(vec![vec![]]));
        assert_eq!(tree.next(9), Next::Later);
        tree.record(0);
        assert_eq!(tree.next(9), Next::Exhausted);
        assert_eq!(tree.schedules(), [1]);
    }
}
