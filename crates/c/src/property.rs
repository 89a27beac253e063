//! What counts as going wrong in a C program.
//!
//! A property is a set of kinds of violations. What is not among them still happens, and then the run is not a violation: a
//! failed assertion ends the process; after an access outside of every object, anything may happen, so such a run is not
//! followed any further, and "safe" needs that there is none.

/// Kinds of violations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Property {
    /// Assertions fail, or `reach_error` is called.
    pub assertions: bool,
    /// Memory is accessed that is not there or not there any more, freed twice, or something is called that is no function.
    pub memory: bool,
    /// Something is divided by zero.
    pub divisions: bool,
    /// Two threads access one memory location at a time, one of them writing and not both atomically.
    pub races: bool,
    /// All threads that have not ended wait for each other.
    pub deadlocks: bool,
}

impl Default for Property {
    /// What is checked if nothing is said.
    fn default() -> Property {
        Property { assertions: true, memory: true, divisions: true, ..Property::NOTHING }
    }
}

impl Property {
    const NOTHING: Property =
        Property { assertions: false, memory: false, divisions: false, races: false, deadlocks: false };

    /// The names of properties, as they are given.
    pub const NAMES: [&'static str; 4] = ["unreach-call", "valid-memsafety", "no-data-race", "no-deadlock"];

    /// The property of a name.
    pub fn named(name: &str) -> Option<Property> {
        Some(match name {
            "unreach-call" => Property { assertions: true, ..Property::NOTHING },
            "valid-memsafety" => Property { memory: true, ..Property::NOTHING },
            "no-data-race" => Property { races: true, ..Property::NOTHING },
            "no-deadlock" => Property { deadlocks: true, ..Property::NOTHING },
            _ => return None,
        })
    }

    /// The property that a file in the format of SV-COMP states, one `CHECK(init(main()), LTL(…))` a line. None if it
    /// states anything that is not checked.
    pub fn of_file(text: &str) -> Option<Property> {
        let mut stated = None;
        for line in text.lines() {
            let line: String = line.chars().filter(|character| !character.is_whitespace()).collect();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let formula = line.strip_prefix("CHECK(init(main()),LTL(")?.strip_suffix("))")?;
            let one = match formula {
                // Either is a part of what `memory` stands for; memory that is never freed is not looked for.
                "Gvalid-deref" | "Gvalid-free" => Property::named("valid-memsafety")?,
                "G!data-race" => Property::named("no-data-race")?,
                "G!deadlock" => Property::named("no-deadlock")?,
                "G!call(reach_error())" | "G!call(__VERIFIER_error())" => Property::named("unreach-call")?,
                _ => return None,
            };
            stated = Some(stated.map_or(one, |before: Property| before.and(one)));
        }
        stated
    }

    /// Both.
    pub fn and(self, other: Property) -> Property {
        Property {
            assertions: self.assertions || other.assertions,
            memory: self.memory || other.memory,
            divisions: self.divisions || other.divisions,
            races: self.races || other.races,
            deadlocks: self.deadlocks || other.deadlocks,
        }
    }
}
