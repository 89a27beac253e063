//! What `allways check --json --evidence` answers on each file of the corpus is what is saved in `golden.tsv`.
//!
//! A row is a run: the file, its options, the verdict, the exit code, the engine, the first line of the evidence, and the
//! keys of the JSON object, sorted; `-` for what there is not. Where it is a race which engine answers, columns list the
//! alternatives, separated by `|`, in the same order; a column with one entry is the same in all of them. On a machine with
//! other work, a race may be won by one who never wins else: if the verdict is right and the rest is not, it is run again.
//!
//! After a change that is meant, `ALLWAYS_GOLDEN=write cargo test -p allways --test golden` replaces the rows that differ,
//! and `ALLWAYS_GOLDEN=add` adds what was seen as an alternative. `ALLWAYS_BINARY=PATH` asks another binary.

mod common;

use allways::{Budget, Options, Request, check, load};
use common::{Run, folder, solver};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

/// The first line of the table.
const HEADER: &str = "file\toptions\tverdict\tcode\tengine\tevidence\tkeys";

/// How many columns an answer has.
const COLUMNS: usize = 5;

/// How often a run is made again in which another engine has answered.
const AGAIN: usize = 8;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// One run: the file, from the root, and the options.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Asked {
    file: String,
    options: String,
}

/// What a run gave: verdict, code, engine, evidence, keys.
type Answer = [String; COLUMNS];

/// The table: the answers that a run may give.
type Table = BTreeMap<Asked, Vec<Answer>>;

/// The files of a folder of the corpus with such an ending, from the root.
fn files(folder: &str, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join("corpus").join(folder)).expect("the corpus");
    let names =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"));
    let mut files: Vec<String> = names
        .filter(|name| name.ends_with(&format!(".{ending}")))
        .map(|name| format!("corpus/{folder}/{name}"))
        .collect();
    files.sort();
    files
}

/// The options with which a program is to be run, as its header says.
fn of_program(text: &str) -> Vec<String> {
    let (mut shared, mut runs) = (String::new(), Vec::new());
    for (key, value) in text.lines().filter_map(|line| line.strip_prefix("//! ")?.split_once(": ")) {
        match key {
            "threads" => shared += &format!("--threads {value} "),
            "property" => shared += &format!("--{value} "),
            "verdict" => runs.push(String::new()),
            "run" => runs.push(value.split_once(" => ").expect("OPTIONS => VERDICT").0.to_string()),
            _ => {}
        }
    }
    runs.iter().map(|own| format!("{shared}{own}").trim().to_string()).collect()
}

/// The options with which rules are to be run: one for each property that the file speaks of, and none if there is a
/// `.spec` file beside it, or no property.
fn of_rules(text: &str, has_spec: bool) -> Vec<String> {
    let properties = text.lines().filter_map(|line| line.strip_prefix("#! never ")?.rsplit_once(": "));
    let mut runs: Vec<String> = properties
        .map(|(property, _)| match property {
            "deadlock" => "--deadlock".to_string(),
            state => format!("--target {state}"),
        })
        .collect();
    if has_spec || runs.is_empty() {
        runs.push(String::new());
    }
    runs
}

/// Every run of the corpus, and whether it needs a solver.
fn asked() -> Vec<(Asked, bool)> {
    let mut asked = Vec::new();
    for (folder, ending) in
        [("aw", "aw"), ("aw", "bp"), ("counters", "spec"), ("counters", "tts"), ("pds", "pds")]
    {
        for file in files(folder, ending) {
            let path = root().join(&file);
            let text = fs::read_to_string(&path).expect("text");
            let runs = match folder {
                "aw" => of_program(&text),
                "pds" => of_rules(&text, path.with_extension("spec").exists()),
                _ => vec![String::new()],
            };
            assert!(!runs.is_empty(), "{file} does not say how to run it");
            let solver = text.lines().any(|line| line.starts_with("//! solver: "));
            asked.extend(runs.into_iter().map(|options| (Asked { file: file.clone(), options }, solver)));
        }
    }
    asked
}

fn ask(asked: &Asked, evidence: &Path) -> Answer {
    let _ = fs::remove_file(evidence);
    let binary =
        std::env::var("ALLWAYS_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_allways").to_string());
    let mut command = Command::new(binary);
    command.current_dir(root()).stdin(Stdio::null()).arg("check").arg(&asked.file);
    command.args(asked.options.split_whitespace()).args(["--json", "--evidence"]).arg(evidence);
    let run = Run::of(command.output().expect("it starts"));
    let object = if run.out.is_empty() { serde_json::json!({}) } else { run.json() };
    let text = |key: &str| object[key].as_str().unwrap_or("-").to_string();
    let mut keys: Vec<&str> = object.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    let keys = if keys.is_empty() { "-".to_string() } else { keys.join(" ") };
    let evidence = fs::read_to_string(evidence).unwrap_or_default();
    let evidence = evidence.lines().next().unwrap_or("-").to_string();
    [text("verdict"), run.code.to_string(), text("engine"), evidence, keys]
}

/// The answers to all of these, on as many cores as there are.
fn ask_all(all: &[Asked]) -> Vec<(Asked, Answer)> {
    let folder = folder("golden");
    // What takes long is begun first, so that no core waits for it at the end.
    let mut left: Vec<Asked> = all.to_vec();
    left.sort_by_key(|asked| asked.file.contains("/int-"));
    let (left, answers) = (Mutex::new(left), Mutex::new(Vec::new()));
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for worker in 0..workers {
            let (left, answers, evidence) = (&left, &answers, folder.join(worker.to_string()));
            scope.spawn(move || {
                loop {
                    let Some(asked) = left.lock().expect("no panic").pop() else { break };
                    let answer = ask(&asked, &evidence);
                    answers.lock().expect("no panic").push((asked, answer));
                }
            });
        }
    });
    let mut answers = answers.into_inner().expect("no panic");
    answers.sort();
    answers
}

fn table_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden.tsv")
}

fn read(text: &str) -> Table {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(HEADER), "the header of the table");
    let mut table = Table::new();
    for line in lines {
        let mut columns = line.split('\t').map(str::to_string);
        let (Some(file), Some(options)) = (columns.next(), columns.next()) else { panic!("{line}") };
        let columns: Vec<Vec<String>> =
            columns.map(|column| column.split('|').map(str::to_string).collect()).collect();
        assert_eq!(columns.len(), COLUMNS, "columns of {line}");
        let count = columns.iter().map(Vec::len).max().unwrap_or(1);
        let answers = (0..count).map(|index| {
            let entry = |column: usize| {
                let entries = &columns[column];
                assert!([1, count].contains(&entries.len()), "alternatives of {line}");
                entries[index % entries.len()].clone()
            };
            std::array::from_fn(entry)
        });
        let answers = answers.collect();
        assert!(table.insert(Asked { file, options }, answers).is_none(), "twice: {line}");
    }
    table
}

fn written(table: &Table) -> String {
    let mut text = format!("{HEADER}\n");
    for (Asked { file, options }, answers) in table {
        write!(text, "{file}\t{options}").expect("a string");
        for column in 0..COLUMNS {
            let mut entries: Vec<&str> = answers.iter().map(|answer| answer[column].as_str()).collect();
            if entries.iter().all(|&entry| entry == entries[0]) {
                entries.truncate(1);
            }
            write!(text, "\t{}", entries.join("|")).expect("a string");
        }
        text.push('\n');
    }
    text
}

/// In each column that differs, what there is and what the table says.
fn difference(saved: &[Answer], answer: &Answer) -> String {
    let mut text = String::new();
    for (column, name) in HEADER.split('\t').skip(2).enumerate() {
        let entries: Vec<&str> = saved.iter().map(|answer| answer[column].as_str()).collect();
        if !entries.contains(&answer[column].as_str()) {
            write!(text, "\n    {name}: {} and not {}", answer[column], entries.join("|")).expect("a string");
        }
    }
    if text.is_empty() { format!("\n    not together: {answer:?}") } else { text }
}

#[test]
fn the_corpus_is_answered_as_it_was() {
    let has_solver = solver("z3");
    let (asked, skipped): (Vec<_>, Vec<_>) =
        asked().into_iter().partition(|&(_, needs_solver)| has_solver || !needs_solver);
    let runs = |list: Vec<(Asked, bool)>| list.into_iter().map(|(asked, _)| asked).collect::<Vec<_>>();
    let (asked, skipped) = (runs(asked), runs(skipped));
    skipped.iter().for_each(|asked| println!("skipped, without a solver: {}", asked.file));
    let mut table = read(&fs::read_to_string(table_path()).unwrap_or_else(|_| format!("{HEADER}\n")));
    let mut differences = Vec::new();
    for row in table.keys().filter(|row| !asked.contains(row) && !skipped.contains(row)) {
        differences.push((row.clone(), None, "\n    is no run of the corpus".to_string()));
    }
    let mode = std::env::var("ALLWAYS_GOLDEN").unwrap_or_default();
    let again = if mode.is_empty() { AGAIN } else { 0 };
    for (asked, mut answer) in ask_all(&asked) {
        let saved = table.get(&asked).map_or(&[][..], Vec::as_slice);
        for _ in 0..again {
            let same_verdict = saved.iter().any(|saved| saved[..2] == answer[..2]);
            if saved.contains(&answer) || !same_verdict {
                break;
            }
            answer = ask(&asked, &folder("golden-again").join("evidence"));
        }
        if !saved.contains(&answer) {
            let text = difference(saved, &answer);
            differences.push((asked, Some(answer), text));
        }
    }
    let texts =
        differences.iter().map(|(Asked { file, options }, _, text)| format!("{file} {options}{text}\n"));
    let text = format!("{} of {} runs differ\n{}", differences.len(), asked.len(), texts.collect::<String>());
    if !["write", "add"].contains(&mode.as_str()) {
        assert!(differences.is_empty(), "{text}");
        return;
    }
    println!("{text}");
    for (asked, answer, _) in differences {
        let mut answers = table.remove(&asked).filter(|_| mode == "add").unwrap_or_default();
        answers.extend(answer.clone());
        answers.sort();
        if answer.is_some() {
            table.insert(asked, answers);
        }
    }
    fs::write(table_path(), written(&table)).expect("the table");
}

/// The answer of the library, in the columns that it has.
fn ask_library(asked: &Asked) -> [String; 3] {
    let mut options = Options::default();
    let mut words = asked.options.split_whitespace();
    while let Some(word) = words.next() {
        let mut value = || words.next().expect("a value").to_string();
        match word {
            "--deadlock" => options.deadlock = true,
            "--target" => options.targets.push(value()),
            "--threads" => options.threads = value().parse().expect("numbers of threads"),
            other => panic!("the library test does not know {other}"),
        }
    }
    let budget = Budget::unlimited();
    let loaded = load(root().join(&asked.file), &options, &budget).expect("a task");
    let checked = check(&loaded.task, &Request::default(), &budget).expect("no evidence is rejected");
    let mut evidence = Vec::new();
    checked.write_evidence(&mut evidence).expect("evidence can be written");
    let evidence = String::from_utf8(evidence).expect("text");
    let first = evidence.lines().next().unwrap_or("-").to_string();
    [checked.report.verdict.to_string(), checked.report.engine.to_string(), first]
}

#[test]
fn the_library_answers_as_the_command_does() {
    let has_solver = solver("z3");
    let table = read(&fs::read_to_string(table_path()).expect("the table"));
    let mut wrong = Vec::new();
    for (asked, _) in asked().into_iter().filter(|&(_, needs_solver)| has_solver || !needs_solver) {
        let saved: Vec<[String; 3]> = table[&asked]
            .iter()
            .map(|[verdict, _, engine, evidence, _]| [verdict.clone(), engine.clone(), evidence.clone()])
            .collect();
        if saved[0][0] == "error" {
            continue;
        }
        let answers = (0..AGAIN).map(|_| ask_library(&asked));
        let mut last = None;
        if !answers.inspect(|answer| last = Some(answer.clone())).any(|answer| saved.contains(&answer)) {
            wrong.push(format!("{} {}: {last:?} and not {saved:?}", asked.file, asked.options));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
