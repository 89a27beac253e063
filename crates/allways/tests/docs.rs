//! The documentation is true: its programs have the verdicts that they state, and its commands print what it shows.
//!
//! In the README and in `docs/`, a block of kind `aw` or `bp` is a whole program. Its first line is a comment that says
//! what `allways check` answers:
//!
//! ```text
//! // safe                             or unsafe, or unknown
//! // unsafe: assert                   what goes wrong, as in `violation` of the JSON
//! // error: found `self`              a part of what is said on standard error
//! // safe --threads p=3 --deadlock    with these options
//! // safe; warning: is never read     a warning, a part of which is this; else there is none
//! // lock.aw: unsafe                  the name of the file, for the commands on the same page
//! ```
//!
//! In blocks of kind `console` each command `$ allways …` is run, in the order of the page, in a folder with the named
//! programs and the corpus; what it prints must be what follows, but for durations, speed and memory. If a command prints
//! something else now and then, since another engine was first, it is run again. After a change of what is printed,
//! `ALLWAYS_BLESS=1 cargo test -p allways --test docs` writes it into the pages.

mod common;

use common::{Run, allways, command, file, folder, solver};
use std::fs;
use std::path::{Path, PathBuf};

/// How often a command is run at most until it prints what is shown.
const AGAIN: usize = 4;

/// The page whose programs need a solver.
const SOLVED: &str = "docs/integers.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README and the pages of the book, by their paths from the root.
fn pages() -> Vec<String> {
    let entries = fs::read_dir(root().join("docs")).expect("the book");
    let names =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"));
    let mut pages: Vec<String> =
        names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}")).collect();
    pages.push("README.md".to_string());
    pages.sort();
    pages
}

/// A block of a page.
struct Block {
    kind: String,
    /// The line of the page with which its text starts, counted from 0.
    start: usize,
    lines: Vec<String>,
}

fn blocks(page: &str) -> Vec<Block> {
    let text = fs::read_to_string(root().join(page)).expect("a page");
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(kind), None) => {
                open = Some(Block { kind: kind.to_string(), start: number + 1, lines: Vec::new() });
            }
            (None, Some(block)) => block.lines.push(line.to_string()),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{page}: a block is not closed");
    blocks
}

/// A program in a page, and what it says of itself.
struct Example {
    place: String,
    text: String,
    kind: String,
    name: Option<String>,
    verdict: String,
    /// What goes wrong, or what the error says.
    detail: Option<String>,
    options: String,
    warnings: Vec<String>,
}

impl Example {
    fn of(page: &str, block: &Block) -> Example {
        let place = format!("{page}:{}", block.start + 1);
        let first = block.lines.first().and_then(|line| line.strip_prefix("// "));
        let mut clauses =
            first.unwrap_or_else(|| panic!("{place}: expected `// safe` or the like")).split("; ");
        let claim = clauses.next().unwrap_or_default();
        let (claim, options) = claim
            .split_once(" --")
            .map_or((claim, String::new()), |(claim, options)| (claim, format!("--{options}")));
        let ending = format!(".{}: ", block.kind);
        let (name, claim) = match claim.split_once(&ending) {
            Some((name, claim)) => (Some(format!("{name}.{}", block.kind)), claim),
            None => (None, claim),
        };
        let (verdict, detail) = match claim.split_once(": ") {
            Some((verdict, detail)) => (verdict, Some(detail.to_string())),
            None => (claim, None),
        };
        assert!(
            ["safe", "unsafe", "unknown", "error"].contains(&verdict),
            "{place}: `{verdict}` is no verdict"
        );
        let warnings = clauses.map(|clause| match clause.strip_prefix("warning: ") {
            Some(warning) => warning.to_string(),
            None => panic!("{place}: expected `warning: …`, found `{clause}`"),
        });
        Example {
            warnings: warnings.collect(),
            text: block.lines.join("\n") + "\n",
            kind: block.kind.clone(),
            verdict: verdict.to_string(),
            place,
            name,
            detail,
            options,
        }
    }

    fn check(&self, folder: &Path) {
        let place = &self.place;
        let path = file(folder, &format!("example.{}", self.kind), &self.text);
        let run = allways(&format!("check --json --color never --timeout 20s {} {path}", self.options));
        if self.verdict == "error" {
            let message = self.detail.as_deref().unwrap_or_default();
            assert!(run.code == 2 && run.err.contains(message), "{place}: {run:?}");
            return;
        }
        let warned = run.err.matches("warning: ").count();
        assert_eq!(warned, self.warnings.len(), "{place}: {run:?}");
        for warning in &self.warnings {
            assert!(run.err.contains(warning), "{place}: {run:?}");
        }
        let answer = run.json();
        assert_eq!(answer["verdict"], self.verdict, "{place}: {run:?}");
        if let Some(kind) = &self.detail {
            assert_eq!(answer["violation"], kind.as_str(), "{place}: {run:?}");
        }
        if self.kind == "aw" {
            let formatted = allways(&format!("fmt --check {path}"));
            assert_eq!(formatted.code, 0, "{place} is not formatted; {formatted:?}");
        }
    }
}

fn examples(page: &str) -> Vec<Example> {
    let blocks = blocks(page);
    let programs = blocks.iter().filter(|block| ["aw", "bp"].contains(&block.kind.as_str()));
    programs.map(|block| Example::of(page, block)).collect()
}

#[test]
fn every_program_in_the_documentation_has_the_verdict_that_it_states() {
    let folder = folder("docs-programs");
    let mut checked = 0;
    for page in pages() {
        if page == SOLVED && !solver("z3") {
            continue;
        }
        for example in examples(&page) {
            example.check(&folder);
            checked += 1;
        }
    }
    assert!(checked > 40, "only {checked} programs");
}

/// What was printed, with `…` for what differs from run to run: durations, speed and memory.
fn stable(text: &str) -> Vec<String> {
    text.lines().map(stable_line).collect()
}

fn stable_line(line: &str) -> String {
    if line.starts_with('{') {
        return stable_object(line);
    }
    // A row of `--stats`: what it is, and after some spaces a figure.
    if let Some((name, figure)) = line.trim_start().rsplit_once("  ")
        && line.starts_with("  ")
        && (is_duration(figure.trim()) || ["images per second", "bytes stored"].contains(&name.trim()))
    {
        return format!("{}  …", name.trim());
    }
    // The time in which a trace was shortened.
    if let Some((before, after)) = line.split_once("shortened as far as ")
        && let Some((time, after)) = after.split_once(" allowed")
        && is_duration(time)
    {
        return stable_line(&format!("{before}shortened as far as … allowed{after}"));
    }
    // The last of the figures in parentheses at the end of a verdict.
    let figures = line.strip_suffix(')').and_then(|rest| Some((rest, rest.rfind([',', '('])? + 1)));
    match figures {
        Some((rest, start)) if is_duration(rest[start..].trim()) => format!("{} …)", &rest[..start]),
        _ => line.to_string(),
    }
}

fn is_duration(text: &str) -> bool {
    let number = text.strip_suffix(" ms").or_else(|| text.strip_suffix(" s"));
    number.is_some_and(|number| number.parse::<f64>().is_ok())
}

/// A JSON object, without the values of `seconds`, the like, and `peak_bytes`.
fn stable_object(line: &str) -> String {
    let mut parts = line.split(',').map(|part| match part.split_once("\":") {
        Some((key, value)) if key.ends_with("seconds") || key.ends_with("_bytes") => {
            format!(
                "{key}\":…{}",
                value.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c))
            )
        }
        _ => part.to_string(),
    });
    let first = parts.next().unwrap_or_default();
    parts.fold(first, |text, part| text + "," + &part)
}

#[test]
fn only_durations_may_differ_from_what_is_shown() {
    for (one, other, same) in [
        (
            "safe: a (sandwich, 3 visible states, 1.2 ms)",
            "safe: a (sandwich, 3 visible states, 0.35 s)",
            true,
        ),
        (
            "safe: a (sandwich, 3 visible states, 1.2 ms)",
            "safe: a (sandwich, 4 visible states, 1.2 ms)",
            false,
        ),
        ("safe: a (sandwich, 3 visible states, 1.2 ms)", "safe: a (free, 3 visible states, 1.2 ms)", false),
        (
            "unsafe: a (free, shortened as far as 0.18 s allowed, 1.2 ms)",
            "unsafe: a (free, shortened as far as 0.2 s allowed, 1.3 ms)",
            true,
        ),
        ("unsafe: a (free, shortened as far as 0.18 s allowed, 1.2 ms)", "unsafe: a (free, 1.2 ms)", false),
        ("accepted: a (1.2 ms)", "accepted: a (10.2 s)", true),
        ("accepted: a (1.2 ms)", "accepted: b (1.2 ms)", false),
        ("  12 f(1, 3 s)", "  12 f(1, 4 s)", true),
        ("  12 f(1, 3)", "  12 f(1, 4)", false),
        ("  search      0.1 ms", "  search    2.03 s", true),
        ("  search      0.1 ms", "  checking    0.1 ms", false),
        ("  images      6", "  images      7", false),
        (r#"{"seconds":0.1,"steps":4}"#, r#"{"seconds":2e-5,"steps":4}"#, true),
        (r#"{"steps":4,"peak_bytes":4}"#, r#"{"steps":4,"peak_bytes":5}"#, true),
        (r#"{"seconds":0.1,"steps":4}"#, r#"{"seconds":0.1,"steps":5}"#, false),
    ] {
        assert_eq!(stable(one) == stable(other), same, "{one} and {other}");
    }
}

fn copy_corpus(to: &Path) {
    for part in ["aw", "c", "counters", "pds", "progress", "tasks"] {
        let folder = to.join("corpus").join(part);
        fs::create_dir_all(&folder).expect("a folder");
        for entry in fs::read_dir(root().join("corpus").join(part)).expect("the corpus") {
            let entry = entry.expect("an entry");
            fs::copy(entry.path(), folder.join(entry.file_name())).expect("a copy");
        }
    }
}

/// Writes the files that the commands of a page are about, where the page only describes them.
fn describe(page: &str, folder: &Path) {
    let run = |arguments: &str| {
        let run = command(arguments).current_dir(folder).output();
        assert!(run.is_ok_and(|run| [Some(0), Some(10)].contains(&run.status.code())), "{page}: {arguments}");
    };
    // A file as it is, but for one part of its text.
    let change = |from: &str, to: &str, part: &str, by: &str| {
        let text = fs::read_to_string(folder.join(from)).expect("a file");
        assert!(text.contains(part), "{page}: {from}: {part} in {text}");
        file(folder, to, text.replacen(part, by, 1));
    };
    let proof = "check --quiet corpus/pds/lock-recursive.pds --evidence lock.proof";
    match page {
        "docs/command-line.md" => run(proof),
        "docs/evidence.md" => {
            run(proof);
            run("check --quiet corpus/pds/lock-racy.pds --evidence race.trace");
            change("lock.proof", "broken.proof", "state 1|0,4\nend 4", "end 3");
            change("lock.proof", "broken2.proof", "below 0 3: 3 4", "below 0 3: 3");
            change("race.trace", "broken.trace", "step 1 14", "step 0 14");
            let text = fs::read_to_string(folder.join("lock.proof")).expect("a proof");
            file(
                folder,
                "cut.proof",
                text.lines().take(4).map(|line| format!("{line}\n")).collect::<String>(),
            );
        }
        "docs/pds.md" => {
            let text = &blocks(page)[0].lines.join("\n");
            for (name, text) in [
                ("turns.pds", text.as_str()),
                ("turns.init", "0|0,0"),
                ("turns.spec", "1|1,*"),
                ("bad.pds", "3\nPDA 0 5\n0 0 -> 0 1\n\n0 1 -> 3 2\n1 2 -> 2 3 4 5\n"),
                ("warn.pds", "2\nPDA 1 2\n0 1 -> 1 7\n\n0 1 -> 1 7\n"),
                ("warn.init", "0|1"),
            ] {
                file(folder, name, text);
            }
        }
        _ => {}
    }
}

/// The words of a command: `'…'` is one word.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('\'').enumerate();
    parts
        .flat_map(|(number, part)| match number % 2 {
            0 => part.split_whitespace().map(str::to_string).collect(),
            _ => vec![part.to_string()],
        })
        .collect()
}

#[test]
fn every_command_in_the_documentation_prints_what_it_shows() {
    let bless = std::env::var_os("ALLWAYS_BLESS").is_some();
    let mut ran = 0;
    for page in &pages() {
        if [SOLVED, "README.md"].contains(&page.as_str()) && !solver("z3") {
            continue;
        }
        let folder = folder(&format!("docs-{}", page.replace('/', "-")));
        copy_corpus(&folder);
        for Example { name, text, .. } in examples(page) {
            name.map(|name| file(&folder, &name, text));
        }
        describe(page, &folder);
        // Where to put what in the page, in the order of the page.
        let mut blessed = Vec::new();
        for block in blocks(page).iter().filter(|block| block.kind == "console") {
            // Without `$`, they are for people to type.
            let commands: Vec<usize> =
                (0..block.lines.len()).filter(|&line| block.lines[line].starts_with("$ ")).collect();
            for (index, &line) in commands.iter().enumerate() {
                let place = format!("{page}:{}", block.start + line + 1);
                let next = commands.get(index + 1).copied().unwrap_or(block.lines.len());
                let arguments = block.lines[line].strip_prefix("$ allways ");
                let arguments = words(arguments.unwrap_or_else(|| panic!("{place}: expected `$ allways …`")));
                let print = || {
                    let run = command("").current_dir(&folder).args(&arguments).output();
                    let run = Run::of(run.expect("it starts"));
                    format!("{}{}", run.err, run.out).trim_end().to_string()
                };
                let shown = block.lines[line + 1..next].join("\n").trim_end().to_string();
                ran += 1;
                let mut printed = print();
                for _ in 1..AGAIN {
                    if stable(&printed) == stable(&shown) {
                        break;
                    }
                    println!("{place} is run again");
                    printed = print();
                }
                if stable(&printed) == stable(&shown) {
                    continue;
                }
                assert!(bless, "{place} prints\n{printed}\nand not\n{shown}");
                blessed.push((block.start + line + 1..block.start + next, printed));
            }
        }
        if !blessed.is_empty() {
            let text = fs::read_to_string(root().join(page)).expect("a page");
            let mut lines: Vec<&str> = text.lines().collect();
            for (range, printed) in blessed.iter().rev() {
                lines.splice(range.clone(), printed.lines());
            }
            fs::write(root().join(page), lines.join("\n") + "\n").expect("a page");
        }
    }
    assert!(ran > 80, "only {ran} commands");
}

#[test]
fn the_programs_of_the_corpus_are_formatted() {
    let folders = ["corpus/aw", "corpus/progress"].map(|folder| root().join(folder));
    let programs = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("the corpus"));
    let mut command = command("fmt --check");
    for entry in programs {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "aw") {
            command.arg(path);
        }
    }
    let run = Run::of(command.output().expect("it starts"));
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", ""));
}
