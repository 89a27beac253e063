//! Which engine answers which question. An option that the engine would ignore is refused.

use super::Failure;
use super::arguments::Search;
use allways::{Engine, Question, auto, engines, views};
use allways_engines::meet::coverability::Method;

/// The engine, and the question without its property.
pub fn choose(search: &Search) -> Result<(&'static dyn Engine, Question), Failure> {
    if search.delays.is_some() && search.rounds.is_none() {
        let help =
            "give --rounds R; or, for a program with tasks, check it with --scheduler NAME".to_string();
        return Err(Failure::Usage("--delays says nothing alone".to_string(), help));
    }
    let question = Question {
        rounds: search.rounds,
        delays: search.delays,
        contexts: search.contexts,
        max_states: search.max_states,
        max_depth: search.max_depth,
        no_frontier: search.no_frontier,
        // Who asks for a number or a set of states means states, not orbits of them.
        no_symmetry: search.no_symmetry || search.max_states.is_some() || search.max_depth.is_some(),
        window: search.window.map(|window| window as usize),
        published_bound: search.published_bound,
        ..Question::default()
    };
    // Options that only some engines know, and those engines, the preferred one first.
    let special: [(bool, &str, &[&str]); 8] = [
        (search.rounds.is_some(), "--rounds and --delays", &["rounds-delays"]),
        (search.contexts.is_some(), "--contexts", &["contexts"]),
        (search.max_states.is_some(), "--max-states", &["free"]),
        (search.max_depth.is_some(), "--max-depth", &["free"]),
        (search.no_frontier, "--no-frontier", &["druba", "ai"]),
        (search.published_bound, "--published-bound", &["cuba-race", "cuba", "cuba-symbolic"]),
        (
            search.no_symmetry,
            "--no-symmetry",
            &[
                "auto",
                "sandwich",
                "tops",
                "free",
                "modular",
                "modular-quadratic",
                "modular-relaxed",
                "modular-both",
                "modular-frontier",
            ],
        ),
        (
            search.window.is_some(),
            "--window",
            &["auto", "sandwich", "tops", "cuba", "cuba-symbolic", "cuba-race"],
        ),
    ];
    let mut wanted = search.engine.as_str();
    for (_, option, able) in special.into_iter().filter(|(given, ..)| *given) {
        if wanted == "auto" {
            wanted = able[0];
        } else if !able.contains(&wanted) {
            let help = format!("leave out {option}, or use --engine {}", able.join(" or "));
            return Err(Failure::Usage(format!("the engine {wanted} does not know {option}"), help));
        }
    }
    let missing = match wanted {
        "rounds-delays" if search.rounds.is_none() => Some("--rounds and --delays"),
        "contexts" if search.contexts.is_none() => Some("--contexts"),
        _ => None,
    };
    if let Some(bounds) = missing {
        let help = format!("give {bounds}, or leave out --engine");
        return Err(Failure::Usage(format!("the engine {wanted} needs bounds"), help));
    }
    if Method::ALL.iter().any(|method| method.name() == wanted) {
        let help = "leave out --engine, or see allways engines".to_string();
        return Err(Failure::Usage(format!("the engine {wanted} is for .spec and .tts files"), help));
    }
    if wanted == views::NAME {
        // No engine of pushdown systems; the command looks at the name again.
        return Ok((auto(), question));
    }
    let named = engines().iter().find(|engine| engine.name() == wanted);
    let unknown =
        || Failure::Usage(format!("there is no engine {wanted}"), "see allways engines".to_string());
    Ok((*named.ok_or_else(unknown)?, question))
}
