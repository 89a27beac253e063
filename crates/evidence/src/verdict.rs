//! The three answers. Each owns what makes it believable.

use crate::{Counted, Invariant, Lasso, Products, Ranking, Shards, Trace, Views, counters};
use std::fmt;

/// The answer to "can it go wrong?".
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// No: what the certificate describes contains every reachable state and no bad one.
    Safe(Certificate),
    /// Yes: the counterexample ends in a bad state.
    Unsafe(Counterexample),
    /// Not known, and why.
    Unknown(StopReason),
}

/// A set that contains every reachable state and no bad one, in one of the forms that a checker knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Certificate {
    /// A list of abstract states.
    Invariant(Invariant),
    /// Sets of thread states, and their products.
    Products(Products),
    /// A certificate for the counter system that a pushdown system is.
    Counted(Box<Counted>),
    /// A set of configurations of a counter system that no run enters.
    Basis(Box<counters::Basis>),
    /// What a few threads of a program see together, by formulas.
    Views(Box<Views>),
    /// All reachable states, in files.
    Shards(Box<Shards>),
    /// All reachable states of a program, with ranks: it also makes progress.
    Ranking(Box<Ranking>),
}

impl Certificate {
    /// Whether it is about any number of threads.
    pub fn any_number(&self) -> bool {
        match self {
            Certificate::Invariant(_) | Certificate::Shards(_) | Certificate::Ranking(_) => false,
            Certificate::Products(products) => products.any_number(),
            Certificate::Counted(counted) => counted.products.any_number(),
            Certificate::Basis(_) => true,
            Certificate::Views(views) => views.any_number(),
        }
    }

    /// What it is called.
    pub fn kind(&self) -> &'static str {
        match self {
            Certificate::Invariant(_) => "invariant",
            Certificate::Products(_) => "products",
            Certificate::Counted(_) => "counted",
            Certificate::Basis(_) => "basis",
            Certificate::Views(_) => "views",
            Certificate::Shards(_) => "shards",
            Certificate::Ranking(_) => "ranking",
        }
    }
}

/// A run that ends in a bad state, or makes no progress.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Counterexample {
    /// Of a pushdown system.
    Trace(Trace),
    /// Of a counter system.
    Run(counters::Run),
    /// Of a program, without progress.
    Lasso(Box<Lasso>),
}

impl Counterexample {
    /// What it is called.
    pub fn kind(&self) -> &'static str {
        match self {
            Counterexample::Trace(_) => "trace",
            Counterexample::Run(_) => "run",
            Counterexample::Lasso(_) => "lasso",
        }
    }

    /// The trace, if it is one of a pushdown system.
    pub fn trace(&self) -> Option<&Trace> {
        match self {
            Counterexample::Trace(trace) => Some(trace),
            Counterexample::Run(_) | Counterexample::Lasso(_) => None,
        }
    }

    /// The run, if it is one of a counter system.
    pub fn run(&self) -> Option<&counters::Run> {
        match self {
            Counterexample::Run(run) => Some(run),
            Counterexample::Trace(_) | Counterexample::Lasso(_) => None,
        }
    }
}

/// What makes a verdict believable; [`certify`](crate::certify()) checks it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Evidence {
    /// Of safe.
    Certificate(Certificate),
    /// Of unsafe.
    Counterexample(Counterexample),
}

impl Evidence {
    /// What it is called.
    pub fn kind(&self) -> &'static str {
        EvidenceRef::from(self).kind()
    }
}

/// Evidence that belongs to somebody else.
#[derive(Clone, Copy, Debug)]
pub enum EvidenceRef<'a> {
    /// Of safe.
    Certificate(&'a Certificate),
    /// Of unsafe.
    Counterexample(&'a Counterexample),
}

impl EvidenceRef<'_> {
    /// What it is called.
    pub fn kind(&self) -> &'static str {
        match self {
            EvidenceRef::Certificate(certificate) => certificate.kind(),
            EvidenceRef::Counterexample(counterexample) => counterexample.kind(),
        }
    }
}

impl Verdict {
    /// The evidence, unless nothing is known.
    pub fn evidence(&self) -> Option<EvidenceRef<'_>> {
        match self {
            Verdict::Safe(certificate) => Some(certificate.into()),
            Verdict::Unsafe(counterexample) => Some(counterexample.into()),
            Verdict::Unknown(_) => None,
        }
    }
}

impl TryFrom<Verdict> for Evidence {
    type Error = StopReason;

    fn try_from(verdict: Verdict) -> Result<Evidence, StopReason> {
        match verdict {
            Verdict::Safe(certificate) => Ok(Evidence::Certificate(certificate)),
            Verdict::Unsafe(counterexample) => Ok(Evidence::Counterexample(counterexample)),
            Verdict::Unknown(reason) => Err(reason),
        }
    }
}

impl<'a> From<&'a Evidence> for EvidenceRef<'a> {
    fn from(evidence: &'a Evidence) -> EvidenceRef<'a> {
        match evidence {
            Evidence::Certificate(certificate) => EvidenceRef::Certificate(certificate),
            Evidence::Counterexample(counterexample) => EvidenceRef::Counterexample(counterexample),
        }
    }
}

impl<'a> From<&'a Certificate> for EvidenceRef<'a> {
    fn from(certificate: &'a Certificate) -> EvidenceRef<'a> {
        EvidenceRef::Certificate(certificate)
    }
}

impl<'a> From<&'a Counterexample> for EvidenceRef<'a> {
    fn from(counterexample: &'a Counterexample) -> EvidenceRef<'a> {
        EvidenceRef::Counterexample(counterexample)
    }
}

impl From<Invariant> for Certificate {
    fn from(invariant: Invariant) -> Certificate {
        Certificate::Invariant(invariant)
    }
}

impl From<Products> for Certificate {
    fn from(products: Products) -> Certificate {
        Certificate::Products(products)
    }
}

impl From<Counted> for Certificate {
    fn from(counted: Counted) -> Certificate {
        Certificate::Counted(Box::new(counted))
    }
}

impl From<counters::Basis> for Certificate {
    fn from(basis: counters::Basis) -> Certificate {
        Certificate::Basis(Box::new(basis))
    }
}

impl From<Views> for Certificate {
    fn from(views: Views) -> Certificate {
        Certificate::Views(Box::new(views))
    }
}

impl From<Shards> for Certificate {
    fn from(shards: Shards) -> Certificate {
        Certificate::Shards(Box::new(shards))
    }
}

impl From<Ranking> for Certificate {
    fn from(ranking: Ranking) -> Certificate {
        Certificate::Ranking(Box::new(ranking))
    }
}

impl From<Lasso> for Counterexample {
    fn from(lasso: Lasso) -> Counterexample {
        Counterexample::Lasso(Box::new(lasso))
    }
}

impl From<Trace> for Counterexample {
    fn from(trace: Trace) -> Counterexample {
        Counterexample::Trace(trace)
    }
}

impl From<counters::Run> for Counterexample {
    fn from(run: counters::Run) -> Counterexample {
        Counterexample::Run(run)
    }
}

/// Evidence decides: anything that is a certificate is a verdict and evidence, and so is a counterexample.
macro_rules! decides {
    ($($from:ty => $verdict:ident, $evidence:ident;)*) => {$(
        impl From<$from> for Verdict {
            fn from(value: $from) -> Verdict {
                Verdict::$verdict(value.into())
            }
        }

        impl From<$from> for Evidence {
            fn from(value: $from) -> Evidence {
                Evidence::$evidence(value.into())
            }
        }
    )*};
}

decides! {
    Invariant => Safe, Certificate;
    Products => Safe, Certificate;
    Counted => Safe, Certificate;
    counters::Basis => Safe, Certificate;
    Views => Safe, Certificate;
    Shards => Safe, Certificate;
    Ranking => Safe, Certificate;
    Trace => Unsafe, Counterexample;
    counters::Run => Unsafe, Counterexample;
    Lasso => Unsafe, Counterexample;
}

/// Why an engine stopped without an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// The time limit was reached.
    Time,
    /// The memory limit was reached.
    Memory,
    /// The user interrupted the run.
    Interrupted,
    /// Everything within the bound named here was explored.
    Bound(String),
    /// The method cannot decide this system; the text says what stops it.
    GaveUp(String),
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Time => write!(f, "the time limit was reached"),
            StopReason::Memory => write!(f, "the memory limit was reached"),
            StopReason::Interrupted => write!(f, "interrupted"),
            StopReason::Bound(bound) => write!(f, "explored everything within {bound}"),
            StopReason::GaveUp(why) => write!(f, "{why}"),
        }
    }
}
