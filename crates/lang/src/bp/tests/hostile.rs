//! Texts that nobody would write: no panic, no stack overflow, time in proportion to the text.

use super::*;

#[test]
fn nesting_is_limited() {
    let deep = 100_000;
    let texts = [
        format!("decl x; void main() begin x := {}x{}; end", "(".repeat(deep), ")".repeat(deep)),
        format!("decl x; void main() begin {} skip; {} end", "if x then ".repeat(deep), "fi; ".repeat(deep)),
        format!("decl x; void main() {{ {} skip; }}", "if (x) ".repeat(deep)),
        format!("decl x; void main() begin x := {} x; end", "x ? x : ".repeat(deep)),
        format!("decl x; void main() begin x := {} 1 {}; end", "schoose[x,".repeat(deep), "]".repeat(deep)),
        format!("void main() begin {} skip; end", "start_thread ".repeat(deep)),
        format!("void main() begin {} skip; end", "ASYNC_1: ".repeat(deep)),
        format!("void main() begin {} {}", "while * do ".repeat(deep), "od ".repeat(deep)),
    ];
    for text in texts {
        let Parsed { program, diagnostics } = parse(text.as_bytes());
        assert!(program.is_none());
        let said = said(text.as_bytes(), &diagnostics);
        assert!(said.contains("expected at most 200 levels of nesting"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let text = format!("decl x; void main() begin x := x {}; end", "=> x".repeat(deep));
    assert!(remarks(&text).contains("nested too deeply"));
}

#[test]
fn length_is_not() {
    let long = 20_000;
    let texts = [
        format!("decl x; void main() begin x := x {}; end", "& !x".repeat(long)),
        format!("decl x; void main() begin x := x {}; end", "= x != x".repeat(long)),
        format!("decl x; void main() begin x := {}x; end", "!".repeat(long)),
        format!("decl x; void main() begin if x then skip; {} fi; end", "elsif x then skip;".repeat(long)),
        format!("decl x; void main() {{ if (x) ; {} }}", "else if (x) ;".repeat(long)),
        format!("void main() begin {} skip; end", "l: ".repeat(long)),
        format!("void main() begin l: goto l{}; end", ", l".repeat(long)),
        format!("void main() begin f0(); end {}", {
            let function = |number: usize| format!("void f{number}() begin f{}(); end ", number + 1);
            (0..long).map(function).collect::<String>() + &format!("void f{long}() begin end")
        }),
        format!("void main() begin {} end", "atomic_begin; skip; atomic_end;".repeat(long)),
    ];
    for text in texts {
        good(&text);
    }
}

/// A small generator of numbers, so that a failure can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

#[test]
fn damaged_texts_are_survived() {
    let mut seeds: Vec<Vec<u8>> = benchmarks().into_iter().map(|(_, text)| text).collect();
    seeds.push(
        b"decl x, y := 1; bool<2> f(a) begin x, x$ := *, schoose[a, 'y] constrain 'x; return a, y; end
        void main() begin 1: atomic_begin; if x then wait; elsif y then dead x; else goto 1, 2; fi atomic_end;
        2: start_thread goto 1; ASYNC_3: x, y := f(x); while (y) { broadcast; } create_thread(&f); end"
            .to_vec(),
    );
    let pieces = [
        "begin",
        "end",
        "(",
        ")",
        ";",
        ":",
        ":=",
        "if ",
        " then ",
        "fi",
        "'",
        "$",
        "/*",
        "//",
        "\n",
        "goto 1",
        "{",
        "}",
        "*",
        "\u{fe0f}",
        "\0",
        "decl ",
        "void ",
        "bool<3> ",
        "<",
        "?",
        "main",
        "start_thread ",
        "atomic_begin;",
    ];
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for round in 0..20_000 {
        let mut text = seeds[round % seeds.len()].clone();
        for _ in 0..=numbers.below(4) {
            let at = numbers.below(text.len() + 1);
            let to = (at + numbers.below(30)).min(text.len());
            match numbers.below(4) {
                0 => drop(text.drain(at..to)),
                1 => text.insert(at, numbers.below(256) as u8),
                2 => drop(text.splice(at..at, pieces[numbers.below(pieces.len())].bytes())),
                _ => {
                    let from = numbers.below(text.len() + 1);
                    let copied = text[from..(from + numbers.below(60)).min(text.len())].to_vec();
                    drop(text.splice(at..to, copied));
                }
            }
        }
        let Parsed { program, diagnostics } = parse(&text);
        assert_eq!(program.is_none(), diagnostics.has_errors());
        said(&text, &diagnostics);
    }
}
