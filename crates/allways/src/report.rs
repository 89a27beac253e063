//! What is said about a check: one value for every kind of system, serialisable, of which text and JSON are renderings.
//!
//! The keys of the JSON object are those of [`Report`]; `docs/command-line.md` lists them. A key is added freely, and the
//! [version](VERSION) counts changes that a reader would notice: a key that goes away, or means something else.

use crate::advice;
use crate::columns::TraceTable;
use crate::rows::rows;
use crate::source_trace::{SourceStep, SourceTrace};
use crate::stats::Stats;
use crate::words;
use allways_engines::confirm::Shortened;
use allways_engines::engine::{Figures, Schedule, Share};
use allways_engines::journal::EngineRun;
use allways_engines::{Forms, Outcome};
use allways_evidence::counters::Run;
use allways_evidence::listed::text_of;
use allways_evidence::{Certificate, Counterexample, StopReason, Trace, Verdict};
use allways_model::counters::Counters;
use allways_model::notation::show_state;
use allways_model::pushdown::Pushdown;
use allways_model::task::{Instance, Model, Task};
use serde::Serialize;
use std::path::Path;
use std::time::Duration;

/// The version of the JSON object.
pub const VERSION: u32 = 1;

/// What is said about a check.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// The version of this format.
    pub version: u32,
    /// `safe`, `unsafe` or `unknown`.
    pub verdict: &'static str,
    /// What was checked.
    pub file: String,
    /// The engine that gave the answer.
    pub engine: &'static str,
    /// Whether a checker has accepted the evidence: always so if the verdict is safe or unsafe.
    pub certified: bool,
    /// Why nothing is known.
    pub reason: Option<String>,
    /// The kind of evidence: `invariant`, `products`, `counted`, `basis`, `views`, `shards`, `ranking`, `trace`, `run` or `lasso`.
    pub evidence: Option<&'static str>,
    /// Whether the certificate holds for any number of threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub any_number: Option<bool>,
    /// The numbers of threads that were taken where the program leaves them open, as the option that asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<String>,
    /// Of a safe program, what the certificate was checked against: `program`, if the program was also run as it was
    /// written; or `reduced program`, if what does not matter was left out by a reduction that has to be trusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certified_against: Option<&'static str>,
    /// Of views, how many threads are looked at together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// Of a task definition, the property that was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub property: Option<String>,
    /// Of a task definition, the verdict that it expects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<&'static str>,
    /// Where thread-modular sets lose a proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<String>,
    /// Of an answer that is unknown, which engines were tried and ended why, and what to try next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
    /// How long it took.
    pub seconds: f64,
    /// The largest resident set, in bytes.
    pub peak_bytes: usize,
    /// Of a program under a scheduler, the schedules that were looked at.
    #[serde(flatten)]
    pub schedule: Option<ScheduleRow>,
    /// Of a search by many workers, how it was spread.
    #[serde(flatten)]
    pub spread: Option<SpreadRow>,
    /// The counterexample.
    #[serde(flatten)]
    pub counterexample: Option<CounterexampleRows>,
    /// Successors that were computed; told on request, as are the other figures about the search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<u64>,
    /// States that were stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stored_states: Option<usize>,
    /// What else it took.
    #[serde(flatten)]
    pub stats: Option<Stats>,
    /// The verdict as a sentence, without the word itself.
    #[serde(skip)]
    pub sentence: String,
    /// What stands in parentheses after it.
    #[serde(skip)]
    pub details: Vec<String>,
    /// The counterexample as a table.
    #[serde(skip)]
    pub table: Option<TraceTable>,
    /// Why nothing is known, for programs.
    #[serde(skip)]
    pub stopped: Option<StopReason>,
    #[serde(skip)]
    all_stats: Stats,
}

/// How a search was spread over workers.
#[derive(Clone, Debug, Serialize)]
pub struct SpreadRow {
    /// The last level: the most steps that a state needs, as far as is known.
    levels: u64,
    states: usize,
    states_per_second: f64,
    /// How many times the average the most loaded worker has; 0 if that is not known.
    skew: f64,
    workers: Vec<ShareRow>,
}

#[derive(Clone, Debug, Serialize)]
struct ShareRow {
    states: u64,
    bytes: u64,
    disk_bytes: u64,
    images: u64,
}

impl SpreadRow {
    fn new(figures: &Figures, searching: Duration) -> Option<SpreadRow> {
        let workers: Vec<ShareRow> = figures
            .shares
            .iter()
            .map(|&Share { states, bytes, disk_bytes, images }| ShareRow {
                states,
                bytes,
                disk_bytes,
                images,
            })
            .collect();
        let states = figures.concrete_states.unwrap_or_default();
        let largest = workers.iter().map(|worker| worker.states).max().unwrap_or_default();
        Some(SpreadRow {
            levels: figures.levels?,
            states,
            states_per_second: states as f64 / searching.as_secs_f64().max(1e-9),
            skew: (largest * workers.len() as u64) as f64 / states.max(1) as f64,
            workers,
        })
    }
}

/// See [`Schedule`].
#[derive(Clone, Debug, Serialize)]
pub struct ScheduleRow {
    scheduler: &'static str,
    delays: usize,
    configurations: usize,
    exhausted: bool,
}

/// A counterexample, for machines.
#[derive(Clone, Debug, Serialize)]
pub struct CounterexampleRows {
    /// Of a program, what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<&'static str>,
    /// Of a program, the same in words, with the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<String>,
    /// How many steps it has.
    pub steps: usize,
    /// How often another thread takes over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub switches: Option<usize>,
    /// Whether there is none with fewer context switches, or as many and fewer steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortest: Option<bool>,
    /// Why the search for a better one ended early, if it did; missing where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortening_stopped: Option<Option<String>>,
    /// Of a run without progress, how many steps come before those that are repeated for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<usize>,
    /// Of a counter system, how many threads it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    trace: Vec<StepRow>,
}

impl CounterexampleRows {
    /// Of a program, what went wrong, in one word.
    pub fn violation(&self) -> Option<&'static str> {
        self.violation
    }

    /// Of a program, how it ends, in words, with the line.
    pub fn end(&self) -> Option<&str> {
        self.end.as_deref()
    }
}

/// A step, for machines.
#[derive(Clone, Debug, Serialize)]
struct StepRow {
    thread: Option<usize>,
    state: String,
    line: Option<u32>,
    #[serde(flatten)]
    source: Option<SourceRow>,
}

/// What a step of a program has besides.
#[derive(Clone, Debug, Serialize)]
struct SourceRow {
    name: String,
    column: u32,
    text: String,
    changed: Vec<String>,
    switch: bool,
    /// What happened inside of an atomic section.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inside: Vec<InnerRow>,
}

/// A step inside of an atomic section.
#[derive(Clone, Debug, Serialize)]
struct InnerRow {
    line: u32,
    column: u32,
    text: String,
    changed: Vec<String>,
}

impl InnerRow {
    fn of(step: &SourceStep) -> InnerRow {
        let SourceStep { line, column, .. } = *step;
        InnerRow { line, column, text: step.text.clone(), changed: step.changed.clone() }
    }
}

/// All that a report is made of.
pub(crate) struct Answer<'a> {
    /// What was asked; the answer may be about a task beside it.
    pub(crate) task: &'a Task,
    pub(crate) forms: &'a Forms<'a>,
    pub(crate) outcome: &'a Outcome,
    /// The run of a program, and the states after its steps.
    pub(crate) source: Option<(SourceTrace, Vec<String>)>,
    pub(crate) shortened: Shortened,
    /// How many states the program has as it was written, if it was run.
    pub(crate) confirmed: Option<usize>,
    pub(crate) explanation: Option<String>,
    pub(crate) searching: Duration,
    /// Whether the user has named the engine.
    pub(crate) named: bool,
}

impl Report {
    /// What is known if not even the file was read.
    pub fn not_read(path: &Path, engine: &'static str, reason: &StopReason) -> Report {
        let because = words::because(reason);
        let sentence = format!("{} was not read to the end, because {because}", words::path(path));
        Report::stopped(path.display().to_string(), engine, reason, sentence)
    }

    /// What is known if a check did not come to an end by itself.
    pub fn not_finished(file: &str, engine: &'static str, reason: &StopReason) -> Report {
        let sentence = format!("whether {file} can go wrong, because {}", words::because(reason));
        Report::stopped(file.to_string(), engine, reason, sentence)
    }

    fn stopped(file: String, engine: &'static str, reason: &StopReason, sentence: String) -> Report {
        Report {
            verdict: "unknown",
            engine,
            reason: Some(reason.to_string()),
            sentence,
            stopped: Some(reason.clone()),
            file,
            version: VERSION,
            ..Report::default()
        }
    }

    pub(crate) fn new(answer: Answer<'_>) -> Report {
        let Answer { forms, outcome, shortened, confirmed, .. } = &answer;
        let file = forms.task().map_or_else(String::new, |task| task.source.name.clone());
        let engine = outcome.engine.map_or("", |info| info.name);
        let figures = &outcome.figures;
        let mut report = Report {
            engine,
            certified: outcome.certified,
            taken: outcome.instance.as_ref().and_then(|instance| forms.task()?.numbers_taken(instance)),
            schedule: figures.schedule.as_ref().map(ScheduleRow::new),
            spread: SpreadRow::new(figures, answer.searching),
            all_stats: answer.stats(),
            file,
            version: VERSION,
            verdict: "unknown",
            ..Report::default()
        };
        match &outcome.verdict {
            Verdict::Safe(certificate) => {
                report.verdict = "safe";
                report.evidence = Some(certificate.kind());
                report.any_number = words::any_number(certificate, answer.task).then_some(true);
                if let Certificate::Views(views) = certificate {
                    report.size = Some(views.size);
                }
                report.certified_against = match (outcome.abstraction, certificate, confirmed) {
                    (Some(_), ..) => Some("abstract program"),
                    (None, Certificate::Views(_), _) => None,
                    (None, Certificate::Ranking(_), _) => Some("program"),
                    (None, _, Some(_)) => Some("program"),
                    (None, ..) => forms.program().is_some().then_some("reduced program"),
                };
                answer.safe(certificate, &mut report);
            }
            Verdict::Unsafe(counterexample) => {
                report.verdict = "unsafe";
                report.evidence = Some(counterexample.kind());
                answer.unsafe_by(counterexample, shortened, &mut report);
            }
            Verdict::Unknown(reason) => {
                report.reason = Some(reason.to_string());
                report.stopped = Some(reason.clone());
                answer.unknown(reason, &mut report);
                report.next = advice::lines(forms, reason, report.runs(), answer.named);
            }
        }
        report.explanation = answer.explanation;
        report
    }

    /// The same with figures about the search.
    #[must_use]
    pub fn with_stats(self) -> Report {
        let stats = self.all_stats.clone();
        Report { images: Some(stats.images), stored_states: stats.stored_states, stats: Some(stats), ..self }
    }

    /// Figures about the search.
    pub fn stats(&self) -> &Stats {
        &self.all_stats
    }

    /// Which engines ran.
    pub fn runs(&self) -> &[EngineRun] {
        &self.all_stats.journal
    }

    /// The verdict in one line, without the word itself.
    pub fn headline(&self, time: Duration) -> String {
        let details: Vec<&str> = self.details.iter().map(String::as_str).collect();
        let time = words::duration(time);
        match details[..] {
            [] => format!("{} ({time})", self.sentence),
            _ => format!("{} ({}, {time})", self.sentence, details.join(", ")),
        }
    }
}

impl ScheduleRow {
    fn new(schedule: &Schedule) -> ScheduleRow {
        let &Schedule { scheduler, delays, configurations, exhausted } = schedule;
        ScheduleRow { scheduler, delays, configurations, exhausted }
    }

    /// The delays, and whether they are all that matter.
    fn words(&self) -> String {
        let delays = words::count(self.delays as u128, "delay");
        match self.exhausted {
            true => format!("every schedule of {} explored with {delays}", self.scheduler),
            false => delays,
        }
    }
}

impl Answer<'_> {
    fn file(&self) -> String {
        self.forms.task().map_or_else(String::new, |task| words::path(Path::new(&task.source.name)))
    }

    fn stats(&self) -> Stats {
        let (outcome, shortening) = (self.outcome, self.shortened.time);
        let mut stats = Stats::new(&outcome.figures, self.searching, Some(shortening), outcome.checking);
        stats.journal = self.forms.journal().runs();
        stats.program_states = self.confirmed;
        stats
    }

    /// What must never happen, in words.
    fn targets(&self) -> String {
        if let Some(counters) = self.forms.counters() {
            return words::counter_targets(counters);
        }
        match self.forms.pushdown() {
            Ok(form) => words::targets(&*form.system, &form.question.property),
            Err(_) => String::new(),
        }
    }

    /// The numbers of threads that were taken, as an option; under a scheduler with the delays.
    fn taken(&self, report: &Report) -> Option<String> {
        let Some(schedule) = &report.schedule else { return report.taken.clone() };
        let threads = match self.forms.instance() {
            Instance::Exactly(counts) => format!(", --threads {counts}"),
            Instance::Few(_) | Instance::Any => String::new(),
        };
        Some(format!("{}{threads}", schedule.words()))
    }

    fn safe(&self, certificate: &Certificate, report: &mut Report) {
        let (file, any) = (self.file(), words::with_any_number(report.any_number.is_some()));
        let claim = match self.forms.task().map(|task| (task, &task.model)) {
            Some((task, Model::Program(_))) => words::claim(task),
            Some((_, Model::Counters(_))) => format!("never covers {}", self.targets()),
            Some((_, Model::Rules(_))) | None => format!("never reaches {}", self.targets()),
        };
        report.sentence = format!("{file} {claim}{any}");
        let engine = match certificate {
            Certificate::Views(views) => {
                format!("{} of {}", report.engine, words::count(views.size as u128, "thread"))
            }
            _ => report.engine.to_string(),
        };
        report.details = vec![engine];
        report.details.extend(self.taken(report));
        report.details.extend([words::size(certificate), "certified".to_string()]);
    }

    fn unsafe_by(&self, counterexample: &Counterexample, shortened: &Shortened, report: &mut Report) {
        match (counterexample, &self.source) {
            (Counterexample::Run(run), _) => {
                let Some(counters) = self.forms.counters() else { return };
                let rows = CounterexampleRows::of_run(counters, run);
                let end = run.configurations(counters).last().unwrap_or_else(|| run.initial.clone());
                let end = words::cut(&counters.show(&end));
                let steps = words::count(run.rules.len() as u128, "step");
                report.sentence = format!("{} covers a target in {steps}, in {end}", self.file());
                let threads = words::count(run.threads(counters).1, "thread");
                report.details = vec![report.engine.to_string(), threads, "certified".to_string()];
                report.table = Some(run_table(counters, run));
                report.counterexample = Some(rows);
            }
            (Counterexample::Trace(trace), Some((source, states))) => {
                let Ok(form) = self.forms.pushdown() else { return };
                let initial = show_state(&*form.system, &trace.initial);
                let rows = CounterexampleRows::of_source(initial, (source, states), shortened);
                report.sentence = format!("{}: {}", self.file(), source.end);
                report.details = vec![
                    words::count(source.steps.len() as u128, "step"),
                    words::count(source.switches() as u128, "context switch"),
                    report.engine.to_string(),
                ];
                report.details.extend(self.taken(report));
                report.details.extend(words::shortened(shortened));
                report.details.push("certified".to_string());
                report.table = Some(TraceTable::of_source(source));
                report.counterexample = Some(rows);
            }
            (Counterexample::Lasso(lasso), Some((source, states))) => {
                let initial = text_of(&lasso.initial);
                let rows = CounterexampleRows::of_source(initial, (source, states), shortened);
                let cycle = source.cycle;
                report.counterexample =
                    Some(CounterexampleRows { cycle, shortest: None, shortening_stopped: None, ..rows });
                report.sentence = format!("{}: {}", self.file(), source.end);
                report.details = vec![words::lasso_steps(source), report.engine.to_string()];
                report.details.push("certified".to_string());
                report.table = Some(TraceTable::of_source(source));
            }
            (Counterexample::Lasso(_), None) => {}
            (Counterexample::Trace(trace), None) => {
                let Ok(form) = self.forms.pushdown() else { return };
                let system = &*form.system;
                let bad = words::reached(system, &form.question.property, &trace.last().visible());
                let steps = words::count(trace.steps.len() as u128, "step");
                report.sentence = format!("{} reaches {bad} in {steps}", self.file());
                let switches = words::count(trace.switches() as u128, "context switch");
                report.details = vec![report.engine.to_string(), switches];
                report.details.extend(shortened.minimal.then(|| "shortest".to_string()));
                report.details.extend(words::shortened(shortened));
                report.details.push("certified".to_string());
                let text = self.forms.task().map(|task| task.source.text.clone()).unwrap_or_default();
                report.table = Some(trace_table(system, trace, &text));
                report.counterexample = Some(CounterexampleRows::of_trace(system, trace, shortened));
            }
        }
    }

    fn unknown(&self, reason: &StopReason, report: &mut Report) {
        let (file, because) = (self.file(), words::because(reason));
        let whether = match self.forms.task().map(|task| &task.model) {
            Some(Model::Program(_)) => "can go wrong".to_string(),
            Some(Model::Counters(_)) => format!("covers {}", self.targets()),
            Some(Model::Rules(_)) | None => format!("reaches {}", self.targets()),
        };
        report.sentence = format!("whether {file} {whether}, because {because}");
        report.details = vec![report.engine.to_string()];
        let Figures { schedule, .. } = &self.outcome.figures;
        let seen = match schedule {
            Some(schedule) => words::count(schedule.configurations as u128, "configuration"),
            // Some methods see no states of the whole system.
            None if self.outcome.visible.count() == 0 => return,
            None => words::count(self.outcome.visible.count(), "visible state"),
        };
        report.details.push(format!("{seen} so far"));
    }
}

impl CounterexampleRows {
    /// The run of a program: a step of the pushdown system may be several of the program.
    fn of_source(
        initial: String,
        (source, states): (&SourceTrace, &[String]),
        shortened: &Shortened,
    ) -> CounterexampleRows {
        let steps = source.steps.iter().zip(states).map(|(step, state)| StepRow {
            thread: Some(step.thread),
            state: state.clone(),
            line: Some(step.line),
            source: Some(SourceRow {
                name: source.threads[step.thread].clone(),
                column: step.column,
                text: step.text.clone(),
                changed: step.changed.clone(),
                switch: step.switch,
                inside: step.inside.iter().map(InnerRow::of).collect(),
            }),
        });
        CounterexampleRows {
            violation: Some(source.kind),
            end: Some(source.end.clone()),
            switches: Some(source.switches()),
            shortest: Some(shortened.minimal),
            shortening_stopped: Some(words::shortened(shortened)),
            ..CounterexampleRows::of(initial, steps)
        }
    }

    fn of_trace(system: &dyn Pushdown, trace: &Trace, shortened: &Shortened) -> CounterexampleRows {
        let steps = trace.steps.iter().map(|step| StepRow {
            thread: Some(step.thread),
            state: show_state(system, &step.state),
            line: Some(step.line),
            source: None,
        });
        CounterexampleRows {
            switches: Some(trace.switches()),
            shortest: Some(shortened.minimal),
            shortening_stopped: Some(words::shortened(shortened)),
            ..CounterexampleRows::of(show_state(system, &trace.initial), steps)
        }
    }

    fn of_run(system: &Counters, run: &Run) -> CounterexampleRows {
        let steps = run.rules.iter().zip(run.configurations(system)).map(|(&rule, after)| StepRow {
            thread: None,
            state: system.show(&after),
            line: Some(system.rules[rule as usize].line),
            source: None,
        });
        CounterexampleRows {
            threads: Some(run.threads(system).1),
            ..CounterexampleRows::of(system.show(&run.initial), steps)
        }
    }

    fn of(initial: String, steps: impl Iterator<Item = StepRow>) -> CounterexampleRows {
        let initial = StepRow { thread: None, state: initial, line: None, source: None };
        let trace: Vec<StepRow> = std::iter::once(initial).chain(steps).collect();
        let steps = trace.len() - 1;
        let (violation, end, switches) = (None, None, None);
        CounterexampleRows {
            violation,
            end,
            steps,
            switches,
            shortest: None,
            shortening_stopped: None,
            cycle: None,
            threads: None,
            trace,
        }
    }
}

/// A trace of a pushdown system, one row per step.
pub(crate) fn trace_table(system: &dyn Pushdown, trace: &Trace, source: &[u8]) -> TraceTable {
    let titles = [("step", 4), ("thread", 6), ("line", 4), ("rule", 4), ("state", 5)];
    TraceTable::of_rows(&titles, 3, rows(system, trace, source))
}

/// A run of a counter system, one row per step.
pub(crate) fn run_table(system: &Counters, run: &Run) -> TraceTable {
    let row = |step: usize, line: String, state: String| vec![step.to_string(), line, words::cut(&state)];
    let initial = row(0, String::new(), system.show(&run.initial));
    let steps =
        run.rules.iter().zip(run.configurations(system)).enumerate().map(|(index, (&rule, after))| {
            row(index + 1, system.rules[rule as usize].line.to_string(), system.show(&after))
        });
    let rows = std::iter::once(initial).chain(steps).collect();
    TraceTable::of_rows(&[("step", 4), ("line", 5), ("state", 5)], 2, rows)
}
