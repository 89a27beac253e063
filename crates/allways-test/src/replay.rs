//! Schedules as text: `v1:14.3:q128`, what a failure prints and `allways_test::replay` accepts.
//!
//! The second field is the path of the schedule (`-` without delays), see `tree.rs`; the others are what else the
//! deterministic scheduler depends on: the quantum, `:s` if spurious wake-ups are left out, `:r` if orders of independent
//! operations are, `:w` if memory is weak, `:c` if tasks switch at accesses of cells, and `:n` with the number of random
//! values from which is chosen.

use std::borrow::Cow;
use std::fmt;

/// What determines a schedule, given the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recipe<'a> {
    pub path: Cow<'a, [u32]>,
    pub quantum: usize,
    pub spurious: bool,
    pub reduce: bool,
    pub weak: bool,
    pub cells: bool,
    pub random: usize,
}

impl fmt::Display for Recipe<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if self.path.is_empty() { "v1:-" } else { "v1:" })?;
        for (index, delay) in self.path.iter().enumerate() {
            f.write_str(if index > 0 { "." } else { "" })?;
            fmt::Display::fmt(delay, f)?;
        }
        write!(f, ":q{}", self.quantum)?;
        let flags = [(!self.spurious, ":s"), (self.reduce, ":r"), (self.weak, ":w"), (self.cells, ":c")];
        for (flag, text) in flags {
            f.write_str(if flag { text } else { "" })?;
        }
        if self.random > 0 {
            write!(f, ":n{}", self.random)?;
        }
        Ok(())
    }
}

impl Recipe<'static> {
    pub fn parse(text: &str) -> Result<Recipe<'static>, String> {
        let error =
            || format!("not a schedule of allways-test: {text:?}; expected something like \"v1:14.3:q128\"");
        let mut fields = text.trim().split(':');
        if fields.next() != Some("v1") {
            return Err(error());
        }
        let path = match fields.next() {
            Some("-") => Cow::default(),
            Some(path) => path.split('.').map(str::parse).collect::<Result<_, _>>().map_err(|_| error())?,
            None => return Err(error()),
        };
        let quantum = fields
            .next()
            .and_then(|field| field.strip_prefix('q')?.parse().ok())
            .filter(|&quantum| quantum > 0)
            .ok_or_else(error)?;
        let mut flags = fields.peekable();
        let mut flag = |name: &str| flags.next_if_eq(&name).is_some();
        let (spurious, reduce, weak, cells) = (!flag("s"), flag("r"), flag("w"), flag("c"));
        let random = match flags.next_if(|field| field.starts_with('n')) {
            Some(field) => field[1..].parse().map_err(|_| error())?,
            None => 0,
        };
        if flags.next().is_some() {
            return Err(error());
        }
        Ok(Recipe { path, quantum, spurious, reduce, weak, cells, random })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for path in [vec![], vec![0], vec![14, 3], vec![u32::MAX, 0, 7]] {
            for flags in 0..16 {
                let [spurious, reduce, weak, cells] = [1, 2, 4, 8].map(|flag| flags & flag == 0);
                for random in [0, 12] {
                    let path = path.clone().into();
                    let recipe = Recipe { path, quantum: 128, spurious, reduce, weak, cells, random };
                    assert_eq!(Recipe::parse(&recipe.to_string()), Ok(recipe));
                }
            }
        }
        assert_eq!(Recipe::parse(" v1:14.3:q128\n").unwrap().path, [14, 3].as_slice());
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "v1",
            "v2:-:q1",
            "v1::q1",
            "v1:1..2:q1",
            "v1:-1:q1",
            "v1:-:q0",
            "v1:-:1",
            "v1:-:q1:x",
            "v1:-:q1:s:s",
            "v1:-:q1:n",
            "v1:-:q1:n1:n1",
        ] {
            assert!(Recipe::parse(text).is_err(), "{text}");
        }
    }
}
