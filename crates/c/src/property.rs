//! What counts as going wrong in a C program.
//!
//! A property is a set of kinds of violations. What is not among them still happens, and then the run is not a violation: a
//! failed assertion ends the process; after an access outside of every object, anything may happen, so such a run is not
//! followed any further, and "safe" needs that there is none.

use allways_model::program::Claims;

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
    /// Nothing points any more to memory that was not freed. It is looked for when `main` returns: only a program that never
    /// allocates any is safe.
    pub leaks: bool,
    /// Memory is not freed when the process ends.
    pub cleanup: bool,
    /// A signed number leaves the range of its type.
    pub overflows: bool,
    /// Threads wait for mutexes of each other in a circle, whatever others do.
    pub cycles: bool,
    /// A thread ends that has a mutex.
    pub held: bool,
}

impl Default for Property {
    /// What is checked if nothing is said.
    fn default() -> Property {
        Property { assertions: true, memory: true, divisions: true, ..Property::NOTHING }
    }
}

impl Property {
    /// Nothing goes wrong, unless something is stated beside the program.
    pub const NOTHING: Property = Property {
        assertions: false,
        memory: false,
        divisions: false,
        races: false,
        deadlocks: false,
        leaks: false,
        cleanup: false,
        overflows: false,
        cycles: false,
        held: false,
    };

    /// The names of properties, as they are given.
    pub const NAMES: [&'static str; 8] = [
        "unreach-call",
        "valid-memsafety",
        "valid-memcleanup",
        "no-data-race",
        "no-deadlock",
        "no-partial-deadlock",
        "no-held-mutex",
        "no-overflow",
    ];

    /// What the assertions of a program are about of which this is asked.
    pub fn claims(&self) -> Claims {
        match self {
            Property { assertions: true, .. } => Claims::Stated,
            Property { overflows: true, .. } => Claims::NoOverflow,
            Property { held: true, .. } => Claims::NoHeldMutex,
            Property { cleanup, leaks, .. } if *cleanup || *leaks => Claims::AllFreed,
            _ => Claims::Stated,
        }
    }

    /// The property of a name.
    pub fn named(name: &str) -> Option<Property> {
        Some(match name {
            "unreach-call" => Property { assertions: true, ..Property::NOTHING },
            "valid-memsafety" => Property { memory: true, ..Property::NOTHING },
            "no-data-race" => Property { races: true, ..Property::NOTHING },
            "valid-memcleanup" => Property { cleanup: true, ..Property::NOTHING },
            "no-deadlock" => Property { deadlocks: true, ..Property::NOTHING },
            "no-partial-deadlock" => Property { cycles: true, ..Property::NOTHING },
            "no-held-mutex" => Property { held: true, ..Property::NOTHING },
            "no-overflow" => Property { overflows: true, ..Property::NOTHING },
            _ => return None,
        })
    }

    /// Why a property of SV-COMP is not checked.
    pub fn unchecked(name: &str) -> Option<&'static str> {
        Some(match name {
            "termination" => "whether a program ends is not checked, only what it does before",
            "valid-memtrack" => {
                "memory that nothing points to is looked for as a part of valid-memsafety only"
            }
            _ => return None,
        })
    }

    /// The property that a file in the format of SV-COMP states, one `CHECK(init(main()), LTL(…))` a line; or why it is not
    /// checked.
    pub fn of_file(text: &str) -> Result<Property, String> {
        let mut stated: Option<Property> = None;
        for line in text.lines() {
            let line: String = line.chars().filter(|character| !character.is_whitespace()).collect();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let formula =
                line.strip_prefix("CHECK(init(main()),LTL(").and_then(|rest| rest.strip_suffix("))"));
            let one = match formula {
                // Either is a part of what `memory` stands for.
                Some("Gvalid-deref" | "Gvalid-free") => Ok(Property { memory: true, ..Property::NOTHING }),
                // A leak is none of the violations that are looked for.
                Some("Gvalid-memtrack") => Ok(Property { leaks: true, ..Property::NOTHING }),
                Some("G!data-race") => Ok(Property { races: true, ..Property::NOTHING }),
                Some("G!deadlock") => Ok(Property { deadlocks: true, ..Property::NOTHING }),
                Some("G!call(reach_error())" | "G!call(__VERIFIER_error())") => {
                    Ok(Property { assertions: true, ..Property::NOTHING })
                }
                Some("G!overflow") => Ok(Property { overflows: true, ..Property::NOTHING }),
                Some("Fend") => Err("termination"),
                Some("Gvalid-memcleanup") => Ok(Property { cleanup: true, ..Property::NOTHING }),
                _ => Err(""),
            };
            let one = one.map_err(|name| match Property::unchecked(name) {
                Some(why) => format!("it states {name}: {why}"),
                None => format!("it states something else than {}", Property::NAMES.join(", ")),
            })?;
            stated = Some(stated.map_or(one, |before| before.and(one)));
        }
        match stated {
            Some(Property { leaks: true, memory: false, .. }) => {
                Err(Property::unchecked("valid-memtrack").unwrap_or_default().to_string())
            }
            Some(property) => Ok(property),
            None => Err("it states nothing".to_string()),
        }
    }

    /// Both.
    pub fn and(self, other: Property) -> Property {
        Property {
            assertions: self.assertions || other.assertions,
            memory: self.memory || other.memory,
            divisions: self.divisions || other.divisions,
            races: self.races || other.races,
            deadlocks: self.deadlocks || other.deadlocks,
            leaks: self.leaks || other.leaks,
            cleanup: self.cleanup || other.cleanup,
            overflows: self.overflows || other.overflows,
            cycles: self.cycles || other.cycles,
            held: self.held || other.held,
        }
    }

    /// Whether it matters who has a mutex.
    pub fn owners(self) -> bool {
        self.cycles || self.held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_state_properties_or_say_why_not() {
        let file = |formulas: &[&str]| {
            let lines = formulas.iter().map(|formula| format!("CHECK( init(main()), LTL({formula}) )\n"));
            Property::of_file(&lines.collect::<String>())
        };
        assert_eq!(file(&["G ! call(reach_error())"]), Ok(Property::named("unreach-call").unwrap()));
        assert_eq!(file(&["G ! data-race"]), Ok(Property::named("no-data-race").unwrap()));
        let memory = file(&["G valid-free", "G valid-deref", "G valid-memtrack"]).unwrap();
        assert_eq!(memory, Property { leaks: true, ..Property::named("valid-memsafety").unwrap() });
        assert_eq!(file(&["G ! overflow"]), Ok(Property::named("no-overflow").unwrap()));
        assert_eq!(file(&["G valid-memcleanup"]), Ok(Property::named("valid-memcleanup").unwrap()));
        assert!(file(&["F end"]).unwrap_err().contains("termination"));
        assert!(file(&["G valid-memtrack"]).is_err());
        assert!(file(&["G x"]).is_err() && file(&[]).is_err());
    }
}
