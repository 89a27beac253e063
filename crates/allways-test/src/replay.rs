//! Schedules as text: `v1:14.3:q128`, what a failure prints and `allways_test::replay` accepts.
//!
//! The second field is the path of the schedule (`-` without delays), see `tree.rs`; the others are what else the
//! deterministic scheduler depends on: the quantum, and `:s` if spurious wake-ups are left out.

use crate::tree::Path;
use std::fmt;

/// What determines a schedule, given the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recipe {
    pub path: Path,
    pub quantum: usize,
    pub spurious: bool,
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let path: Vec<String> = self.path.iter().map(u32::to_string).collect();
        let path = if path.is_empty() { "-".to_string() } else { path.join(".") };
        write!(f, "v1:{path}:q{}{}", self.quantum, if self.spurious { "" } else { ":s" })
    }
}

impl Recipe {
    pub fn parse(text: &str) -> Result<Recipe, String> {
        let error =
            || format!("not a schedule of allways-test: {text:?}; expected something like \"v1:14.3:q128\"");
        let mut fields = text.trim().split(':');
        if fields.next() != Some("v1") {
            return Err(error());
        }
        let path = match fields.next() {
            Some("-") => Vec::new(),
            Some(path) => path.split('.').map(str::parse).collect::<Result<_, _>>().map_err(|_| error())?,
            None => return Err(error()),
        };
        let quantum = fields
            .next()
            .and_then(|field| field.strip_prefix('q')?.parse().ok())
            .filter(|&quantum| quantum > 0)
            .ok_or_else(error)?;
        let spurious = match fields.next() {
            None => true,
            Some("s") => false,
            Some(_) => return Err(error()),
        };
        if fields.next().is_some() {
            return Err(error());
        }
        Ok(Recipe { path, quantum, spurious })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for path in [vec![], vec![0], vec![14, 3], vec![u32::MAX, 0, 7]] {
            for spurious in [true, false] {
                let recipe = Recipe { path: path.clone(), quantum: 128, spurious };
                assert_eq!(Recipe::parse(&recipe.to_string()), Ok(recipe));
            }
        }
        assert_eq!(Recipe::parse(" v1:14.3:q128\n").unwrap().path, [14, 3]);
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
        ] {
            assert!(Recipe::parse(text).is_err(), "{text}");
        }
    }
}
