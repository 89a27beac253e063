//! Proofs of programs with integers by [views](allways_evidence::views), found by one process and checked with another.

use crate::verify::Refuted;
use allways_engines::engine::Watch;
use allways_engines::meet::views::find;
use allways_evidence::{Certificate, Judge, Rejection, StopReason, Subject, Views, certify as accept};
use allways_model::program::{Program, Type};
use allways_smt::{Query, Settings};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The name by which users choose the method.
pub const NAME: &str = "views";

/// What it does, in one line.
pub const SUMMARY: &str = "programs with integers, any number of threads: what few threads see together, by predicates and a solver";

/// What came of it.
#[derive(Clone, Debug)]
pub struct Viewed {
    /// Views that the checker has accepted, or why there are none.
    pub views: Result<Views, StopReason>,
    /// What was tried.
    pub remarks: Vec<String>,
    /// How long it took to find them.
    pub searching: Duration,
    /// How long it took to check them.
    pub checking: Duration,
}

/// Whether a program has integers without bounds.
pub fn has_integers(program: &Program) -> bool {
    let bodies = program.templates.iter().map(|template| &program.procedures[template.body]);
    let locals = bodies.flat_map(|body| &body.locals);
    program.shared.iter().chain(locals).any(|variable| variable.ty == Type::Int)
}

/// Looks for a proof, and has it checked.
pub fn prove(
    program: &Program,
    counts: &[Option<usize>],
    settings: &Settings,
    dump: Option<&Path>,
    watch: &Watch,
) -> Result<Viewed, Refuted> {
    let started = Instant::now();
    let found = find(program, counts, settings, &|| watch.room_for(0).err());
    let searching = started.elapsed();
    let mut viewed =
        Viewed { views: found.views, remarks: found.remarks, searching, checking: Duration::ZERO };
    if let Ok(views) = &viewed.views {
        let certified = certify(program, counts, views, settings, dump, watch);
        viewed.checking = started.elapsed() - searching;
        match certified {
            Ok(queries) => viewed.remarks.push(format!("{queries} queries of the checker")),
            Err(Rejection::Stopped(reason)) => viewed.views = Err(reason),
            Err(rejection) => {
                return Err(Refuted { engine: NAME, claim: "safe", why: rejection.to_string() });
            }
        }
    }
    Ok(viewed)
}

/// The checker's word on views: how many queries it took, each of which is written to the folder, if one is given.
pub fn certify(
    program: &Program,
    counts: &[Option<usize>],
    views: &Views,
    settings: &Settings,
    dump: Option<&Path>,
    watch: &Watch,
) -> Result<usize, Rejection> {
    let mut dumped = Dump { folder: dump.map(Path::to_path_buf), asked: 0, fault: None };
    let mut witness = |query: &Query| dumped.write(query);
    let stop = || watch.room_for(0).err();
    let mut judge = Judge { stop: &stop, solver: settings.clone(), witness: Some(&mut witness) };
    let certificate = Certificate::from(views.clone());
    let checked = accept(&Subject::Program { program, counts }, &certificate, &mut judge);
    match dumped.fault {
        Some(fault) => Err(Rejection::Stopped(StopReason::GaveUp(fault))),
        None => checked.map(|()| dumped.asked),
    }
}

/// Where queries are written.
struct Dump {
    folder: Option<PathBuf>,
    asked: usize,
    fault: Option<String>,
}

impl Dump {
    fn write(&mut self, query: &Query) {
        self.asked += 1;
        let Some(folder) = &self.folder else { return };
        let path = folder.join(format!("{:05}.smt2", self.asked));
        if let Err(error) = fs::create_dir_all(folder).and_then(|()| fs::write(&path, query.script())) {
            self.fault = Some(format!("cannot write {}: {error}", path.display()));
        }
    }
}
