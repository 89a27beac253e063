//! Counter systems: any number of threads that are alike, seen as numbers of threads per local state.
//!
//! A [`Configuration`] is a shared state and a multiset of local states, the *tokens* (UCOB, section II-B; Petri nets with a
//! finite control). A [`Rule`] takes some tokens and gives others; it may also *move* all tokens that it has not taken from
//! one place to another, or to nowhere (a broadcast, a transfer, a reset). One configuration *covers* another if it has the
//! same shared state and at least its tokens. What must be avoided is given by the least bad configurations: a
//! configuration is bad if it covers one of them.
//!
//! Rules are monotone: what a configuration can do, one that covers it can do as well, and reaches one that covers. The only
//! exception is [`Rule::exactly`], a test for an exact number. Whoever needs monotone rules uses the *relaxed* reading, in
//! which the tokens beyond that number vanish instead of being in the way (monotone abstraction: Abdulla, Delzanno and
//! Rezine, *Parameterized verification of infinite-state processes with global conditions*, CAV 2007). The relaxed rules can
//! do whatever the exact ones can, so what they cannot reach cannot be reached.
//!
//! * [`bag`]: multisets of tokens;
//! * [`step`]: one step forward, exactly, and the least configurations one step back, relaxed; both short and slow.

pub mod bag;
pub mod step;

pub use bag::Bag;

use std::collections::HashSet;

crate::index_type! {
    /// A shared state, by its number.
    pub struct Shared(u32);
}

/// A local state, by its number; in a Petri net, a place.
pub type Local = u32;

/// The most tokens of one place that a rule, a target or an initial configuration may name. Sums along any run that fits into
/// a machine then stay in range.
pub const MOST: u64 = u32::MAX as u64;

/// A shared state and how many threads are in each local state.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Configuration {
    /// The shared state.
    pub shared: Shared,
    /// The threads.
    pub tokens: Bag,
}

impl Configuration {
    /// Whether this one covers the other.
    pub fn covers(&self, other: &Configuration) -> bool {
        self.shared == other.shared && self.tokens.covers(&other.tokens)
    }
}

/// What can happen, in one step.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Rule {
    /// The shared state before.
    pub from: Shared,
    /// The shared state after.
    pub to: Shared,
    /// The tokens it takes away; they must be there.
    pub takes: Bag,
    /// The tokens it puts there, after the moves.
    pub gives: Bag,
    /// Where the tokens go that are not taken, by the place where they are, sorted; `None` is nowhere. Tokens in places that
    /// are not listed stay.
    pub moves: Vec<(Local, Option<Local>)>,
    /// Places, sorted, in which there must be no tokens but those taken.
    pub exactly: Vec<Local>,
    /// Where the rule is written, for people.
    pub line: u32,
}

impl Rule {
    /// A rule that only takes and gives.
    pub fn plain(from: Shared, to: Shared, takes: Bag, gives: Bag, line: u32) -> Rule {
        Rule { from, to, takes, gives, moves: Vec::new(), exactly: Vec::new(), line }
    }

    /// Where a token goes that is in this place and is not taken, relaxed.
    pub fn goes(&self, local: Local) -> Option<Local> {
        if self.exactly.binary_search(&local).is_ok() {
            return None;
        }
        match self.moves.binary_search_by_key(&local, |&(from, _)| from) {
            Ok(index) => self.moves[index].1,
            Err(_) => Some(local),
        }
    }

    /// Whether it only takes and gives, as in a Petri net.
    pub fn is_plain(&self) -> bool {
        self.moves.is_empty() && self.exactly.is_empty()
    }
}

/// A set of initial configurations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Initial {
    /// The shared state.
    pub shared: Shared,
    /// At least these tokens…
    pub tokens: Bag,
    /// …and any number more in each of these places, sorted.
    pub any: Vec<Local>,
}

impl Initial {
    /// Whether a configuration is one of these.
    pub fn contains(&self, configuration: &Configuration) -> bool {
        let more = |(local, count): (Local, u64)| {
            count == self.tokens.count(local) || self.any.binary_search(&local).is_ok()
        };
        self.shared == configuration.shared
            && configuration.tokens.covers(&self.tokens)
            && configuration.tokens.iter().all(more)
    }

    /// The least of these that covers a configuration, if there is one.
    pub fn covering(&self, below: &Configuration) -> Option<Configuration> {
        let fits = |(local, count): (Local, u64)| {
            count <= self.tokens.count(local) || self.any.binary_search(&local).is_ok()
        };
        let possible = self.shared == below.shared && below.tokens.iter().all(fits);
        possible.then(|| Configuration { shared: self.shared, tokens: self.tokens.join(&below.tokens) })
    }
}

/// The least of a set of bad configurations: those that cover it are bad.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The shared state; `None` for any.
    pub shared: Option<Shared>,
    /// The tokens.
    pub tokens: Bag,
}

impl Target {
    /// Whether a configuration is bad by this.
    pub fn covered_by(&self, configuration: &Configuration) -> bool {
        self.shared.is_none_or(|shared| shared == configuration.shared)
            && configuration.tokens.covers(&self.tokens)
    }
}

/// A counter system, and what it must avoid.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// The names of the shared states; of a net, which has none to speak of, a single empty one.
    pub shared: Vec<String>,
    /// The names of the local states.
    pub locals: Vec<String>,
    /// The rules.
    pub rules: Vec<Rule>,
    /// Where it starts: any of these.
    pub initial: Vec<Initial>,
    /// What must never be covered.
    pub targets: Vec<Target>,
}

impl Counters {
    /// Whether there is a single shared state without a name, which then is not written.
    pub fn is_net(&self) -> bool {
        matches!(&self.shared[..], [name] if name.is_empty())
    }

    /// Whether all rules only take and give, as in a Petri net.
    pub fn is_plain(&self) -> bool {
        self.rules.iter().all(Rule::is_plain)
    }

    /// Whether no rule tests for an exact number. Then the relaxed reading is the exact one.
    pub fn is_monotone(&self) -> bool {
        self.rules.iter().all(|rule| rule.exactly.is_empty())
    }

    /// Whether a configuration is initial.
    pub fn is_initial(&self, configuration: &Configuration) -> bool {
        self.initial.iter().any(|initial| initial.contains(configuration))
    }

    /// Whether a configuration is to be avoided.
    pub fn is_bad(&self, configuration: &Configuration) -> bool {
        self.targets.iter().any(|target| target.covered_by(configuration))
    }

    /// The least bad configurations.
    pub fn bad(&self) -> impl Iterator<Item = Configuration> + '_ {
        self.targets.iter().flat_map(|target| {
            let all = (0..self.shared.len() as u32).map(Shared);
            all.filter(move |&shared| target.shared.is_none_or(|only| only == shared))
                .map(move |shared| Configuration { shared, tokens: target.tokens.clone() })
        })
    }

    /// Says what is wrong with a system that was not made by one of our readers. Engines and checkers rely on it.
    ///
    /// Every number must have a name; names are different, not empty (but see [`Counters::shared`]), and have none of `|`, `,`,
    /// `^`, `*`, `#` and white space; lists are sorted; no number of tokens is larger than [`MOST`].
    pub fn validate(&self) -> Result<(), String> {
        if !self.is_net() {
            check_names(&self.shared).map_err(|why| format!("a shared state {why}"))?;
        }
        check_names(&self.locals).map_err(|why| format!("a local state {why}"))?;
        let shared = |shared: Shared| in_range(shared.0, &self.shared, "shared");
        let bag = |bag: &Bag| {
            bag.iter().try_for_each(|(local, count)| match count {
                0..=MOST => in_range(local, &self.locals, "local"),
                _ => Err(format!("{count} tokens at once are too many")),
            })
        };
        for (number, rule) in self.rules.iter().enumerate() {
            let check = || {
                shared(rule.from)?;
                shared(rule.to)?;
                bag(&rule.takes)?;
                bag(&rule.gives)?;
                let moved: Vec<Local> = rule.moves.iter().map(|&(from, _)| from).collect();
                let goals = rule.moves.iter().filter_map(|&(_, to)| to);
                let places = moved.iter().copied().chain(goals).chain(rule.exactly.iter().copied());
                places.clone().try_for_each(|local| in_range(local, &self.locals, "local"))?;
                match strictly_sorted(&moved) && strictly_sorted(&rule.exactly) {
                    true => Ok(()),
                    false => Err("its lists are not sorted".to_string()),
                }
            };
            check().map_err(|why| format!("rule {number}: {why}"))?;
        }
        for initial in &self.initial {
            shared(initial.shared)?;
            bag(&initial.tokens)?;
            initial.any.iter().try_for_each(|&local| in_range(local, &self.locals, "local"))?;
            if !strictly_sorted(&initial.any) {
                return Err("the places of an initial configuration are not sorted".to_string());
            }
        }
        self.targets.iter().try_for_each(|target| {
            target.shared.map_or(Ok(()), shared)?;
            bag(&target.tokens)
        })
    }

    /// Writes a configuration: `shared|local,local^3`, `-` for no tokens; of a net, without the shared state.
    pub fn show(&self, configuration: &Configuration) -> String {
        self.show_tokens(configuration.shared, configuration.tokens.iter().map(|(at, n)| (at, Some(n))))
    }

    /// Writes a shared state and tokens; `None` of them is any number, written `^*`.
    pub fn show_tokens(
        &self,
        shared: Shared,
        tokens: impl IntoIterator<Item = (Local, Option<u64>)>,
    ) -> String {
        let mut text = String::new();
        if !self.is_net() {
            text = format!("{}|", self.shared[shared.index()]);
        }
        let tokens = tokens.into_iter().map(|(local, count)| {
            let name = &self.locals[local as usize];
            match count {
                Some(1) => name.clone(),
                Some(count) => format!("{name}^{count}"),
                None => format!("{name}^*"),
            }
        });
        let tokens = tokens.collect::<Vec<_>>().join(",");
        text + if tokens.is_empty() { "-" } else { &tokens }
    }
}

/// Whether a character can be part of a name.
pub fn in_names(character: char) -> bool {
    !character.is_whitespace() && !character.is_control() && !"|,^*#".contains(character)
}

fn check_names(names: &[String]) -> Result<(), String> {
    if u32::try_from(names.len()).is_err() {
        return Err("has a number beyond 32 bits".to_string());
    }
    let mut seen = HashSet::new();
    for name in names {
        if name.is_empty() || name == "-" || !name.chars().all(in_names) {
            return Err(format!("is called {name:?}, which cannot be written down"));
        }
        if !seen.insert(name) {
            return Err(format!("is called {name:?}, and so is another"));
        }
    }
    Ok(())
}

fn in_range(number: u32, names: &[String], what: &str) -> Result<(), String> {
    match (number as usize) < names.len() {
        true => Ok(()),
        false => Err(format!("there is no {what} state {number}")),
    }
}

fn strictly_sorted(numbers: &[u32]) -> bool {
    numbers.windows(2).all(|pair| pair[0] < pair[1])
}
