//! Texts that nobody would write: an answer to each, in time and memory in proportion to the text.

use super::examples::ALL;
use super::*;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// A small generator of numbers, so that a failure can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Words of the language, and some that are none.
fn words() -> Vec<&'static str> {
    let words = "shared bool int 0..3 const lock event proc thread task main never predicate if else while loop choose \
        or break ; continue goto skip ; atomic acquire release spawn wait broadcast post yield assume await assert error \
        return self at other true false x y a m e f t l N = == != < <= + - * / % ? : ; , . .. ( ) [ ] { } && || ! 0 1 7 \
        99999999999999999999 /* # é \0 l: f() (*)";
    let phrases = ["// c\n", "/* c */", "\n", "\"s\"", "x =", "{ skip; }", "if (*) {", "x = 1;"];
    words.split(' ').chain(phrases).collect()
}

/// What must hold of every answer.
fn examine(text: &[u8]) -> bool {
    let Parsed { program, diagnostics } = parse(text);
    assert_eq!(program.is_none(), diagnostics.has_errors());
    remarks(text, &diagnostics);
    if let Some(program) = &program {
        sound(program);
    }
    if let Ok(formatted) = format(text) {
        let again = format(formatted.as_bytes()).expect("what was formatted has no errors");
        assert_eq!(formatted, again, "of {}", String::from_utf8_lossy(text));
        let same = parse(formatted.as_bytes()).program;
        let (one, other) = (program.as_ref().map(without_places), same.as_ref().map(without_places));
        assert_eq!(one, other, "of {}", String::from_utf8_lossy(text));
    } else {
        assert!(diagnostics.has_errors() || str::from_utf8(text).is_err());
    }
    program.is_some()
}

/// Checks what everybody relies on, and what people rely on: local variables can be told apart.
fn sound(program: &Program) {
    assert_eq!(program.validate(), Ok(()));
    for procedure in &program.procedures {
        let names: HashSet<_> = procedure.locals.iter().map(|local| &local.name).collect();
        assert_eq!(names.len(), procedure.locals.len());
    }
}

/// A program as text, without places in the source.
fn without_places(program: &Program) -> String {
    let shown = format!("{program:?}");
    let mut short = String::new();
    let mut parts = shown.split("Span { ");
    short += parts.next().unwrap_or("");
    for part in parts {
        short += part.split_once('}').map_or("", |(_, rest)| rest);
    }
    // Of variables with the same name, all but the first have their place in the name.
    let mut parts = short.split('@');
    let first = parts.next().unwrap_or("").to_string();
    parts.fold(first, |all, part| {
        all + part.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ':')
    })
}

#[test]
fn soup_of_words() {
    let words = words();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    for _ in 0..10_000 {
        let text: Vec<&str> = (0..numbers.below(60)).map(|_| numbers.one_of(&words)).collect();
        examine(text.join(" ").as_bytes());
    }
}

#[test]
fn random_statements() {
    let mut numbers = Numbers(0x0123_4567_89ab_cdef);
    let mut good = 0;
    for _ in 0..1_500 {
        let mut text =
            "shared bool x, y; shared 0..7 n, a[3] = *; lock m; event e; proc f(int i) : int {".to_string();
        let labels = ["k", "l", "o"];
        for after in ["}\nthread t[2] {\n", "}\nthread u[0] {", "}\nproc g() {", "}"] {
            for label in labels {
                for _ in 0..numbers.below(3) {
                    statement(&mut numbers, &mut text, 0);
                }
                let _ = write!(text, "{label}: ");
                statement(&mut numbers, &mut text, 0);
            }
            text += after;
        }
        if numbers.below(2) == 0 {
            text += "never at(k) > 1 && x; never at(t.l) == n;";
        }
        good += usize::from(examine(text.as_bytes()));
    }
    assert!(good > 750, "{good} texts made sense");
}

/// A statement that makes sense inside most bodies.
fn statement(numbers: &mut Numbers, text: &mut String, depth: usize) {
    let block = |numbers: &mut Numbers, text: &mut String, before: &str| {
        *text += before;
        *text += "{";
        for _ in 0..numbers.below(3) {
            statement(numbers, text, depth + 1);
        }
        *text += "}";
    };
    match if depth < 4 { numbers.below(12) } else { 5 + numbers.below(7) } {
        0 => {
            let before = numbers.one_of(&["if (*)", "loop", "while (x)", "if (a[n] == 1)"]);
            block(numbers, text, before);
        }
        1 | 2 => {
            block(numbers, text, "choose ");
            block(numbers, text, " or ");
            if numbers.below(2) == 0 {
                block(numbers, text, " or // why\n");
            }
        }
        3 => {
            block(numbers, text, "if (x && !y) ");
            block(numbers, text, "else if (y)\n");
            block(numbers, text, "\nelse /* c */ ");
        }
        4 => block(numbers, text, "loop { if (x) { break; } else { continue; } }"),
        5 => {
            *text += numbers
                .one_of(&["atomic { x = y; while (x) { y = *; } }", "atomic { choose {} or { skip; } }"])
        }
        _ => {
            let simple = "x = *;|n = *;|x, y = y, x;|goto k;|goto k, l;|goto k, o, l;|assert x == y;|wait e;|spawn u;|g();|\
                broadcast e; // go\n|n = f(1);|f(n);|error;|acquire(m);|release(m);|int v = 1;|int v2 = n, v3;|await x;|\
                assume\ny\n;|{ bool x = y; y = x; }|a[n] = a[1];\n\n\n";
            *text += numbers.one_of(&simple.split('|').collect::<Vec<_>>());
        }
    }
}

#[test]
fn damaged_texts() {
    let words = words();
    let mut numbers = Numbers(0xdead_beef_1234_5678);
    for round in 0..10_000 {
        let mut text = ALL[round % ALL.len()].as_bytes().to_vec();
        for _ in 0..=numbers.below(4) {
            let at = numbers.below(text.len() + 1);
            let to = (at + numbers.below(30)).min(text.len());
            match numbers.below(5) {
                0 => drop(text.drain(at..to)),
                1 => text.insert(at, numbers.below(256) as u8),
                2 | 3 => drop(text.splice(at..at, format!(" {} ", numbers.one_of(&words)).bytes())),
                _ => {
                    let from = numbers.below(text.len() + 1);
                    let copied = text[from..(from + numbers.below(60)).min(text.len())].to_vec();
                    drop(text.splice(at..to, copied));
                }
            }
        }
        examine(&text);
    }
}

#[test]
fn long_texts_take_time_in_proportion() {
    let many = 10_000;
    let each = |make: &dyn Fn(usize) -> String| (0..many).map(make).collect::<String>();
    let long = "y".repeat(100_000);
    let texts = [
        format!("shared int x; thread t {{ {} }}", "x = x + 1; ".repeat(many)),
        format!("shared bool x; thread t {{ if (x) {{}} {} }}", "else if (x) {} ".repeat(many)),
        format!("thread t {{ choose {{}} {} }}", "or { skip; } ".repeat(many)),
        format!("thread t {{ {} }}", "choose {} or { skip; } ".repeat(many)),
        format!(
            "thread t {{ {} }}",
            each(&|n| format!("l{n}: choose {{ skip; }} or {{ goto l{}; }}", (n + 1) % many))
        ),
        format!("thread t {{ {} }}", each(&|n| format!("l{n}: goto l{}, l{};", n / 2, (n * 7) % many))),
        format!("thread t {{ {} }}", each(&|n| format!("int v{n} = {n};"))),
        format!(
            "thread t {{ {} }}",
            "{ int v; ".repeat(190) + &each(&|n| format!("int w{n};")) + &"}".repeat(190)
        ),
        format!("thread t {{ {} }}", "x = unknown + unknwon; ".repeat(many)),
        format!(
            "{} thread t {{ {} }}",
            each(&|n| format!("shared int v{n}; ")),
            each(&|n| format!("w{n} = 1;"))
        ),
        format!("{} thread t {{}}", each(&|n| format!("proc f{n}() {{ f{}(); l: skip; }}", (n + 1) % many))),
        format!(
            "{} thread t {{ atomic {{ f0(); }} }}",
            each(&|n| format!("proc f{n}() {{ f{}(); }}", (n + 1) % many))
        ),
        format!("{} {}", each(&|n| format!("thread f{n} {{ l: skip; }}")), "never at(l) > 1;".repeat(many)),
        format!("{} {}", each(&|n| format!("thread f{n} {{ int l; }}")), "predicate l > 1;".repeat(many)),
        format!("shared int x; {} thread t {{}}", each(&|n| format!("never p{n}: x > {n}; "))),
        format!("thread t {{ {} }}", "l: ".repeat(many)),
        format!("thread t {{ {}", "if (x { ".repeat(many)),
        format!("thread t {{ {}", "for (;for(".repeat(many)),
        format!("thread t {{ {}", "((((x = ;".repeat(many)),
        "{ } ; thread".repeat(many),
        "}".repeat(many),
        "/* */".repeat(many),
        "// é\n".repeat(many),
        "/*".repeat(many),
        format!("shared int {long}; thread t {{ {long} = {long} + 1; y{long} = 1; }}"),
        format!(
            "shared int a[65536]; thread t {{ {} }}",
            "int b[1000]; l: choose {} or { int b[1000]; }".repeat(400)
        ),
    ];
    for text in texts {
        let start = Instant::now();
        examine(text.as_bytes());
        // Generous: what is to be found out are quadratic times, which would be minutes.
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{:?} for {}",
            start.elapsed(),
            &text[..text.len().min(200)]
        );
    }
}
