//! The engines that there are, and which one a question asks for.

use crate::engine::{Engine, Info, Question, Setting};
use std::fmt;

/// All engines, in the order in which they are listed; the first is used where none is named.
const ENGINES: &[&dyn Engine] = &[
    &crate::strategy::Auto,
    &crate::meet::sandwich::Sandwich,
    &crate::meet::druba::Druba,
    &crate::meet::ai::Ai,
    &crate::meet::cuba::CubaRace,
    &crate::meet::cuba::Cuba,
    &crate::meet::cuba::CubaSymbolic,
    &crate::meet::cuba::Scheme1,
    &crate::above::tops::TopsEngine,
    &crate::above::thread_modular::flanagan_qadeer::Modular,
    &crate::above::thread_modular::quadratic::Quadratic,
    &crate::above::thread_modular::relaxed::Relaxed,
    &crate::above::thread_modular::both::Both,
    &crate::above::thread_modular::frontier::Frontier,
    &crate::below::free::Free,
    &crate::below::orbits::Orbits,
    &crate::below::rounds_delays::RoundsDelays,
    &crate::below::contexts::ContextsEngine,
    &crate::below::walks::Walks,
    &crate::below::points::Points,
    &crate::below::schedules::engine::Schedules,
    &crate::below::inputs::SymbolicInputs,
    &crate::below::diagrams::Diagrams,
    &crate::meet::views::Views,
    &crate::meet::predicates::Predicates,
    &crate::meet::progress::Progress,
    &crate::meet::coverability::COVERABILITY,
    &crate::meet::coverability::unfold::Unfold,
    &crate::meet::coverability::BACKWARD,
    &crate::meet::coverability::KARP_MILLER,
    &crate::meet::coverability::FORWARD,
    &crate::meet::coverability::DIRECTED,
];

/// A table of engines.
#[derive(Clone)]
pub struct Engines(Vec<&'static dyn Engine>);

impl Default for Engines {
    fn default() -> Engines {
        Engines(ENGINES.to_vec())
    }
}

/// Why no engine fits a question: what is wrong, and what to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoEngine {
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub help: String,
}

impl fmt::Display for NoEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.what, self.help)
    }
}

impl std::error::Error for NoEngine {}

impl Engines {
    /// These, and one more.
    #[must_use]
    pub fn with(mut self, engine: &'static dyn Engine) -> Engines {
        self.0.push(engine);
        self
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &'static dyn Engine> + '_ {
        self.0.iter().copied()
    }

    /// The one that is used where none is named.
    pub fn auto(&self) -> &'static dyn Engine {
        self.0[0]
    }

    /// The engine of this name.
    pub fn named(&self, name: &str) -> Option<&'static dyn Engine> {
        self.iter().find(|engine| engine.info().name == name)
    }

    /// The engine that a question asks for: the one that is named, which must know all settings that are given; or else one
    /// that knows them.
    pub fn choose(&self, name: Option<&str>, question: &Question) -> Result<&'static dyn Engine, NoEngine> {
        let mut engine = match name {
            Some(name) => self.named(name).ok_or_else(|| NoEngine {
                what: format!("there is no engine {name}"),
                help: "see allways engines".to_string(),
            })?,
            None => self.auto(),
        };
        for setting in Setting::ALL.into_iter().filter(|setting| setting.is_given(question)) {
            if engine.info().settings.contains(&setting) {
                continue;
            }
            let mut able = self.iter().filter(|able| able.info().settings.contains(&setting));
            if is(engine.info(), self.auto().info()) {
                engine = able.next().unwrap_or(engine);
            } else {
                let able: Vec<&str> = able.map(|able| able.info().name).collect();
                return Err(NoEngine {
                    what: format!("engine `{}` does not support {setting}", engine.info().name),
                    help: format!("leave out {setting}, or use --engine {}", able.join(" or ")),
                });
            }
        }
        match engine.info().needs.filter(|setting| !setting.is_given(question)) {
            Some(setting) => Err(NoEngine {
                what: format!("engine `{}` requires {setting}", engine.info().name),
                help: format!("give {setting}, or leave out --engine"),
            }),
            None => Ok(engine),
        }
    }
}

fn is(one: &'static Info, other: &'static Info) -> bool {
    std::ptr::eq(one, other) || one == other
}
