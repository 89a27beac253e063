//! Names that a notation accepts, each given once.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The names that are taken in a program, or in a part of it.
pub(super) struct Names {
    is_keyword: fn(&str) -> bool,
    /// Of a part, the names of the whole.
    outer: Rc<HashSet<String>>,
    taken: Rc<HashSet<String>>,
    /// For names that are wanted again and again, the number to try next.
    next: HashMap<String, usize>,
}

impl Names {
    pub fn new(is_keyword: fn(&str) -> bool) -> Names {
        Names { is_keyword, outer: Rc::default(), taken: Rc::default(), next: HashMap::new() }
    }

    /// The names of a part of a program, which are taken in this part only.
    pub fn part(&self) -> Names {
        Names { outer: Rc::clone(&self.taken), ..Names::new(self.is_keyword) }
    }

    /// A name as close to this one as can be; with the prefix, if it does not start like a name.
    pub fn claim(&mut self, wanted: &str, prefix: &str) -> String {
        // Variables that had to be told apart have their place in their name.
        let wanted = wanted.split('@').next().unwrap_or_default();
        let letters = wanted.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' });
        let mut name: String = letters.collect();
        if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            name.insert_str(0, prefix);
        }
        if (self.is_keyword)(&name) {
            name.push('_');
        }
        if !self.is_free(&name) {
            let first = self.next.get(&name).copied().unwrap_or(2);
            let numbers = (first..).map(|number| (number, format!("{name}_{number}")));
            if let Some((number, free)) = numbers.into_iter().find(|(_, numbered)| self.is_free(numbered)) {
                self.next.insert(name, number + 1);
                name = free;
            }
        }
        Rc::make_mut(&mut self.taken).insert(name.clone());
        name
    }

    fn is_free(&self, name: &str) -> bool {
        !(self.is_keyword)(name) && !self.outer.contains(name) && !self.taken.contains(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_given_once() {
        let mut names = Names::new(|word| word == "main");
        assert_eq!(names.claim("x", "v"), "x");
        assert_eq!(names.claim("x", "v"), "x_2");
        assert_eq!(names.claim("main", "v"), "main_");
        assert_eq!(names.claim("12", "l"), "l12");
        assert_eq!(names.claim("c$$thr-1#", "v"), "c__thr_1_");
        let mut part = names.part();
        assert_eq!(part.claim("y@3:7", "v"), "y");
        assert_eq!(part.claim("y", "v"), "y_2");
        assert_eq!(part.claim("x", "v"), "x_3");
        assert_eq!(names.part().claim("y", "v"), "y");
    }
}
