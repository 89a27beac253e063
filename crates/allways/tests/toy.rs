//! A new engine on programs takes one file, this one, and one line: `.with(&Toy)`.

use allways::cli::{Exit, run_with};
use allways::{Budget, Engine, Engines, Verdict};
use allways_engines::engine::{Figures, Info, Takes, Threads};
use allways_engines::{Forms, Outcome};
use allways_evidence::{Certificate, Invariant, StopReason};
use allways_model::program::Program;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Gives up on every program but those with a procedure `work`, about which it lies.
struct Toy;

impl Engine for Toy {
    fn info(&self) -> &'static Info {
        const INFO: Info = Info {
            takes: Takes::Programs,
            threads: Threads::AsStated,
            ..Info::new("toy", "an engine that is not of much use")
        };
        &INFO
    }

    fn supports(&self, forms: &Forms) -> Result<(), String> {
        forms.program().map(drop).ok_or_else(|| "engine `toy` supports programs only".to_string())
    }

    fn run(&self, forms: &Forms, _: &Budget) -> Outcome {
        let works = |program: &Program| program.procedures.iter().any(|procedure| procedure.name == "work");
        if !forms.program().is_some_and(|program| works(program)) {
            return Outcome::unknown(StopReason::GaveUp("nothing works here".to_string()));
        }
        let threads = forms.pushdown().map_or(1, |form| form.system.threads());
        let nothing = Invariant::new(allways_model::symmetry::Kinds::distinct(threads), 1);
        Outcome::new(Verdict::Safe(Certificate::Invariant(nothing)), Figures::default())
    }
}

fn engines() -> Engines {
    Engines::default().with(&Toy)
}

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn run(arguments: &[&str]) -> (Exit, String) {
    let buffer = Buffer::default();
    let exit = run_with(arguments, &engines(), Box::new(buffer.clone()));
    let text = buffer.0.lock().expect("no panic").clone();
    (exit, String::from_utf8(text).expect("text"))
}

fn corpus(name: &str) -> String {
    format!("{}/../../corpus/aw/{name}.aw", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn it_is_listed_chosen_and_named_in_the_answer() {
    let (exit, text) = run(&["engines"]);
    assert!(exit == Exit::Success && text.contains("toy "), "{text}");
    let (exit, text) = run(&["check", &corpus("peterson"), "--engine", "toy", "--json"]);
    assert!(exit == Exit::Unknown && text.contains(r#""engine":"toy""#), "{text}");
    assert!(text.contains("nothing works here"), "{text}");
    let (exit, _) = run(&["check", &corpus("../pds/lock-racy").replace(".aw", ".pds"), "--engine", "toy"]);
    assert_eq!(exit, Exit::BadInput, "it supports programs only");
    let (exit, _) = run(&["check", &corpus("peterson"), "--engine", "toy", "--window", "2"]);
    assert_eq!(exit, Exit::BadInput, "it knows no settings");
}

#[test]
fn its_lies_are_no_verdicts() {
    let (exit, text) = run(&["check", &corpus("lock-recursive"), "--engine", "toy", "--json"]);
    assert!(exit == Exit::Bug && text.contains(r#""verdict":"error""#), "{text}");
    let (exit, text) = run(&["check", &corpus("lock-recursive"), "--engine", "toy"]);
    assert!(exit == Exit::Bug && text.is_empty(), "{text}");
}

#[test]
fn it_conforms_as_every_engine_does() {
    use allways_testkit::conformance::conforms_on_programs;
    for engine in engines().iter().filter(|engine| engine.info().needs.is_none()) {
        let decided = conforms_on_programs(engine, 20);
        println!("{}: {decided} decided", engine.info().name);
    }
}
