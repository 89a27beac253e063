//! Random Boolean programs, small enough that all their states can be visited.

use super::*;
use allways_model::program::{Binary, Expr, Never};

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    fn expression(&mut self, variables: &[&str], depth: usize) -> String {
        match self.below(if depth == 0 { 5 } else { 9 }) {
            0 => self.pick(&["0", "1", "*"]).to_string(),
            1..5 => self.pick(variables).to_string(),
            5 => format!("!{}", self.expression(variables, depth - 1)),
            6 => {
                let parts = [(); 3].map(|()| self.expression(variables, depth - 1));
                format!("({} ? {} : {})", parts[0], parts[1], parts[2])
            }
            _ => {
                let operator = self.pick(&["&", "|", "=", "!=", "=>", "^"]);
                let (left, right) =
                    (self.expression(variables, depth - 1), self.expression(variables, depth - 1));
                format!("({left} {operator} {right})")
            }
        }
    }

    fn statement(&mut self, variables: &[&str], labels: usize, main: bool) -> String {
        let label = |numbers: &mut Numbers| format!("L{}", numbers.below(labels));
        match self.below(if main { 24 } else { 17 }) {
            0..5 => {
                let (place, value) = (self.pick(variables), self.expression(variables, 2));
                format!("{place} := {value};")
            }
            5 => {
                let primed: Vec<String> =
                    variables.iter().flat_map(|name| [name.to_string(), format!("'{name}")]).collect();
                let primed: Vec<&str> = primed.iter().map(String::as_str).collect();
                let constraint = self.expression(&primed, 2);
                format!("{}, {} := *, *  constrain {constraint};", variables[0], variables[1])
            }
            6 => format!("assume({});", self.expression(variables, 1)),
            7 => format!("assert({});", self.expression(variables, 2)),
            8 | 9 => format!("goto {}, {};", label(self), label(self)),
            10 | 11 => format!("if {} then goto {}; fi;", self.expression(variables, 1), label(self)),
            12 => {
                let (condition, inner) = (self.expression(variables, 1), self.pick(variables));
                format!("if {condition} then {inner} := *; else {inner} := 0; skip; fi;")
            }
            13 => "atomic_begin;".to_string(),
            14 => "atomic_end;".to_string(),
            15 => format!("goto {};", label(self)),
            16 => "skip;".to_string(),
            17 => format!("start_thread goto {};", label(self)),
            18 => "end_thread;".to_string(),
            19 => "wait;".to_string(),
            20 => "broadcast;".to_string(),
            21 | 22 => format!("{} := f({});", self.pick(variables), self.expression(variables, 1)),
            _ => "f(*);".to_string(),
        }
    }

    fn program(&mut self) -> String {
        let initial = |numbers: &mut Numbers| numbers.pick(&["", " := 0", " := 1", " := *"]);
        let mut text = format!("decl g{}, h{};\nvoid main() begin\n", initial(self), initial(self));
        text += &format!("  decl x{}, y{};\n", initial(self), initial(self));
        let length = 3 + self.below(8);
        for number in 0..length {
            text += &format!("  L{number}: {}\n", self.statement(&["g", "h", "x", "y"], length, true));
        }
        text += "end\nbool f(a) begin\n  decl b := 0;\n";
        let length = 1 + self.below(4);
        for number in 0..length {
            text += &format!("  L{number}: {}\n", self.statement(&["g", "a", "b"], length, false));
        }
        text + &format!("  return {};\nend\n", self.expression(&["g", "a", "b"], 1))
    }
}

#[test]
fn random_programs_keep_their_verdicts() {
    let rounds = std::env::var("ALLWAYS_RANDOM").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(200);
    let (mut refused, mut compared, mut wrong, mut stuck) = (0, [0; 3], 0, 0);
    for round in 0..rounds {
        let text = Numbers(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(round + 1)).program();
        let Some(program) = crate::bp::parse(text.as_bytes()).program else { continue };
        let source = format!("round {round}\n{text}");
        let written = bp(&program).unwrap_or_else(|refusal| panic!("{refusal:?} in {source}"));
        let Some(verdict) = same(&program, &read_bp(&written), &source, &written) else { continue };
        compared[0] += 1;
        wrong += usize::from(verdict.wrong);
        stuck += usize::from(verdict.stuck == Some(true));
        let Ok(written) = aw(&program) else {
            refused += 1;
            continue;
        };
        let again = read_aw(&written);
        compared[1] += usize::from(same(&program, &again, &source, &written).is_some());
        if let Ok(third) = bp(&again) {
            compared[2] += usize::from(same(&program, &read_bp(&third), &written, &third).is_some());
        }
    }
    eprintln!("{wrong} wrong, {stuck} stuck, {refused} refused, compared {compared:?}");
    // Most can be compared, and there is something to compare.
    let most = rounds as usize / 2;
    assert!(compared.iter().all(|&compared| compared > most) && wrong > most / 10 && stuck > most / 10);
}

#[test]
fn several_threads_from_the_start_keep_their_verdicts() {
    let rounds = std::env::var("ALLWAYS_RANDOM").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(200);
    let (mut compared, mut wrong, mut stuck) = (0, 0, 0);
    for round in 0..rounds {
        let text = Numbers(0x2545_f491_4f6c_dd1d_u64.wrapping_mul(round + 1)).program();
        let Some(mut program) = crate::bp::parse(text.as_bytes()).program else { continue };
        // Two threads, and something that must not be, instead of threads that are started.
        if program.templates[0].spawned {
            continue;
        }
        program.templates[0].count = Count::Fixed(2);
        let both =
            Expr::Binary(Binary::And, Box::new(Expr::Shared(0)), Box::new(Expr::Shared(1)), Span::default());
        program.never.extend((round % 3 == 0).then(|| Never {
            name: None,
            expr: both,
            span: Span::default(),
        }));
        let source = format!("round {round}, twice\n{text}");
        let Ok(written) = bp(&program) else { continue };
        let verdict = same(&program, &read_bp(&written), &source, &written);
        compared += usize::from(verdict.is_some());
        wrong += usize::from(verdict.is_some_and(|verdict| verdict.wrong));
        stuck += usize::from(verdict.is_some_and(|verdict| verdict.stuck == Some(true)));
        if let Ok(written) = aw(&program) {
            same(&program, &read_aw(&written), &source, &written);
        }
    }
    eprintln!("{compared} compared, {wrong} wrong, {stuck} stuck");
    let most = rounds as usize / 5;
    assert!(compared > most && wrong > most / 10 && stuck > most / 10);
}
