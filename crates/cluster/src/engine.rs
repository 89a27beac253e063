//! The engine `cluster`: a search by many workers, as strategies and reports know engines.

use crate::run::{Ended, run};
use crate::settings::Settings;
use crate::work::{Claim, Finding, Job, Plan};
use allways_engines::engine::{Figures, Info, Setting, Threads};
use allways_engines::forms::{PushdownForm, System};
use allways_engines::store::trace;
use allways_engines::{Budget, Engine, EvidenceRejected, Forms, Outcome};
use allways_evidence::shards::{Digest, Shards};
use allways_evidence::{Rejection, StopReason, Verdict, check_passed};
use allways_model::pushdown::Pushdown;
use allways_model::task::Model;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// What users should know about it.
const INFO: Info = Info {
    threads: Threads::AsStated,
    ..Info::new("cluster", "explores every schedule breadth first, by many workers; decides finite systems")
        .knowing(&[Setting::MaxDepth, Setting::NoSymmetry])
};

/// The engine; see the module.
pub struct Cluster {
    settings: Settings,
    /// Why an earlier run with these hosts failed: whoever was lost is not waited for again.
    lost: Mutex<Option<StopReason>>,
}

impl Cluster {
    /// With these workers.
    pub fn new(settings: Settings) -> Cluster {
        Cluster { settings, lost: Mutex::new(None) }
    }

    /// Why there is no plan for a task.
    fn refusal(&self, forms: &Forms) -> Option<String> {
        if forms.counters().is_some() {
            return Some("engine `cluster` does not support counter systems (.spec, .tts)".to_string());
        }
        if forms.is_open() {
            let what = "engine `cluster` needs a fixed number of threads: give --threads";
            return Some(what.to_string());
        }
        if forms.question().scheduler.is_some() {
            return Some("engine `cluster` does not support --scheduler".to_string());
        }
        match forms.pushdown() {
            Ok(form) => {
                shared(&form).is_none().then(|| "engine `cluster` needs a system of its own".to_string())
            }
            Err(reason) => Some(reason.to_string()),
        }
    }

    fn plan(&self, forms: &Forms, job: Job) -> Result<Plan, StopReason> {
        let form = forms.pushdown()?;
        let gave_up = || StopReason::GaveUp("the system is somebody else's".to_string());
        let system = shared(&form).ok_or_else(gave_up)?;
        let question = &form.question;
        let kinds = match &job {
            Job::Search => question.kinds(&*system),
            Job::Certify(shards) => shards.kinds.clone(),
        };
        Ok(Plan {
            task: digest(forms, &form),
            property: question.property.clone(),
            kinds,
            max_depth: question.max_depth,
            system,
            settings: self.settings.clone(),
            job,
        })
    }

    /// Checks shards again, by the workers.
    pub fn certify(&self, forms: &Forms, shards: &Shards, budget: &Budget) -> Result<(), Rejection> {
        if let Some(why) = self.refusal(forms) {
            return Err(Rejection::Malformed(why));
        }
        if let Some(Ok(encoded)) = forms.encoding() {
            check_passed(&encoded)?;
        }
        let plan = self.plan(forms, Job::Certify(shards.clone())).map_err(Rejection::Stopped)?;
        match run(plan, budget).finding.map_err(Rejection::Stopped)?.claim {
            Claim::Safe(_) => Ok(()),
            Claim::Rejected(why) => Err(Rejection::NotClosed(why)),
            Claim::Unknown(why) => Err(Rejection::Stopped(StopReason::GaveUp(why))),
            Claim::Unsafe(_) | Claim::Cut => Err(Rejection::Malformed("a search is no check".to_string())),
        }
    }
}

/// The system, if threads that outlive whoever asks may keep it.
fn shared(form: &PushdownForm<'_>) -> Option<Arc<dyn Pushdown + Send + Sync>> {
    match &form.system {
        System::Borrowed(_) => None,
        System::Rules(rules) => Some(rules.clone()),
        System::Program(encoded) => Some(encoded.clone()),
    }
}

/// What is explored, as far as it makes a difference to workers elsewhere and later.
fn digest(forms: &Forms, form: &PushdownForm<'_>) -> u128 {
    struct Sink(Digest);
    impl fmt::Write for Sink {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0.add(text.as_bytes());
            Ok(())
        }
    }
    let mut sink = Sink(Digest::default());
    let question = &form.question;
    let options = (question.no_symmetry, question.max_depth, question.unreduced, question.property.deadlock);
    let _ = write!(sink, "{} {options:?} {:?}", env!("CARGO_PKG_VERSION"), forms.instance());
    if let Some(task) = forms.task() {
        let _ = match &task.model {
            Model::Program(program) => write!(sink, "{program:?} {:?}", task.threads),
            Model::Rules(rules) => write!(sink, "{rules:?} {:?}", question.property),
            Model::Counters(_) => Ok(()),
        };
    }
    sink.0.0
}

impl Engine for Cluster {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn supports(&self, forms: &Forms) -> Result<(), String> {
        self.refusal(forms).map_or(Ok(()), Err)
    }

    fn run(&self, forms: &Forms, budget: &Budget) -> Outcome {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reason) = &*lost {
            return Outcome::unknown(reason.clone());
        }
        let plan = match self.plan(forms, Job::Search) {
            Ok(plan) => plan,
            Err(reason) => return Outcome::unknown(reason),
        };
        let (system, property, kinds) = (plan.system.clone(), plan.property.clone(), plan.kinds.clone());
        let depth = plan.max_depth.unwrap_or_default();
        let Ended { finding, progress: [levels, states, images, bytes, _] } = run(plan, budget);
        let figures = Figures {
            concrete_states: Some(states as usize),
            images,
            store_bytes: bytes as usize,
            levels: Some(levels),
            ..Figures::default()
        };
        let Finding { claim, shares, levels, checking } = match finding {
            Ok(finding) => finding,
            Err(reason) => {
                if self.settings.hosts.is_some() {
                    *lost = Some(reason.clone());
                }
                return Outcome::new(Verdict::Unknown(reason), figures).by(&INFO);
            }
        };
        let figures = Figures {
            concrete_states: Some(shares.iter().map(|share| share.states as usize).sum()),
            images: shares.iter().map(|share| share.images).sum(),
            store_bytes: shares.iter().map(|share| share.bytes as usize).sum(),
            levels: Some(levels),
            shares,
            ..figures
        };
        let unknown = |why: String| Verdict::Unknown(StopReason::GaveUp(why));
        let mut outcome = Outcome::new(unknown(String::new()), figures).by(&INFO);
        outcome.checking = checking;
        outcome.verdict = match claim {
            Claim::Unsafe(path) => trace::along(&*system, &kinds, &property, &path).into(),
            Claim::Cut => Verdict::Unknown(StopReason::Bound(format!("stacks of at most {depth} symbols"))),
            Claim::Unknown(why) => unknown(why),
            Claim::Rejected(why) => return reject(outcome, why),
            Claim::Safe(shards) => {
                if let Some(Ok(encoded)) = forms.encoding()
                    && let Err(rejection) = check_passed(&encoded)
                {
                    return match rejection {
                        Rejection::Stopped(reason) => {
                            Outcome { verdict: Verdict::Unknown(reason), ..outcome }
                        }
                        other => reject(outcome, other.to_string()),
                    };
                }
                // All workers have said so, by the checker of `allways-evidence`.
                outcome.certified = true;
                shards.into()
            }
        };
        outcome
    }
}

fn reject(outcome: Outcome, why: String) -> Outcome {
    let rejected = Some(EvidenceRejected { engine: INFO.name, claim: "safe", why });
    Outcome { rejected, ..outcome }
}
