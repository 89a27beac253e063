//! `allways check --scheduler`: an asynchronous program within a number of delays.

use super::check::One;
use super::evidence::Destination;
use super::exit::Exit;
use super::words;
use super::{Context, Failure};
use allways::load::load_program;
use allways::scheduled::{NotSearched, Scheduler, search};
use allways::{LoadError, Loaded, Watch};
use serde::Serialize;

/// What is said of the schedules that were looked at.
#[derive(Clone, Serialize)]
pub struct Schedule {
    pub scheduler: &'static str,
    /// The delays of the run that goes wrong, or the bound that was reached.
    pub delays: usize,
    /// Configurations within so many delays.
    pub configurations: usize,
    /// Whether more delays add nothing.
    pub exhausted: bool,
}

impl Schedule {
    /// The delays, and the option with which the evidence can be checked again.
    pub fn words(&self, loaded: &Loaded) -> String {
        let delays = words::count(self.delays as u128, "delay");
        match self.exhausted {
            true => format!(
                "every schedule of {} explored with {delays}, --threads {}",
                self.scheduler,
                loaded.threads_asked()
            ),
            false => format!("{delays}, --threads {}", loaded.threads_asked()),
        }
    }
}

impl One<'_> {
    /// Checks the file under a scheduler.
    pub fn scheduled(
        self,
        scheduler: Scheduler,
        destination: &Destination,
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        let file = self.file.to_path_buf();
        let (program, remarks) = match self.session.reading(move || load_program(&file, &Watch::none())) {
            Err(LoadError::Stopped(reason)) => return Ok(self.not_loaded(reason, context)),
            loaded => loaded?,
        };
        context.complaints.remarks(&remarks);
        let options = self.arguments.search.start.options();
        let delays = self.arguments.search.delays.map(|delays| delays as usize);
        let searched = self
            .session
            .watched(|watch| search((&program, self.file, remarks), scheduler, delays, &options, watch));
        let searched = match searched {
            Ok(searched) => searched,
            Err(NotSearched::NoTasks) => {
                let what = format!("{}: --scheduler is for programs with tasks", words::path(self.file));
                let help =
                    "threads have no scheduler: leave it out, or give --rounds and --delays".to_string();
                return Err(Failure::Usage(what, help));
            }
            Err(NotSearched::Load(error)) => return Err(error.into()),
            Err(NotSearched::Refuted(refuted)) => return Err(refuted.into()),
        };
        let schedule = Schedule {
            scheduler: scheduler.name(),
            delays: searched.delays,
            configurations: searched.levels.last().copied().unwrap_or_default(),
            exhausted: searched.exhausted,
        };
        let about = (&searched.loaded, &searched.question, Some(&schedule));
        self.conclude(about, searched.checked, destination, context)
    }
}
