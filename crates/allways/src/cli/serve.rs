//! `allways serve`: a page on this machine, until it is interrupted.

use super::arguments::Serve;
use super::exit::Exit;
use super::session::Session;
use super::{Context, Failure};
use crate::jobs::Limits;
use crate::serve::Server;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// What a check may take if nothing else is said.
const TIME: Duration = Duration::from_secs(30);
const MEMORY: usize = 1 << 30;

/// Runs the command.
pub fn run(arguments: &Serve, context: &mut Context) -> Result<Exit, Failure> {
    let program = std::env::current_exe().map_err(|error| Failure::Unwritable("the page".into(), error))?;
    let limits = Limits {
        time: arguments.limits.timeout.unwrap_or(TIME),
        memory: arguments.limits.memory.unwrap_or(MEMORY),
    };
    let server = Server::new(arguments.port, program, limits).map_err(|error| {
        let what = format!("port {} of localhost cannot be used: {error}", arguments.port);
        Failure::Usage(what, "give another one with --port, such as --port 0 for any".to_string())
    })?;
    let server = Arc::new(server);
    Session::heed_interruptions();
    context.output.verdict("serving", &format!("http://{}/ (Ctrl-C ends it)", server.address()));
    let serving = Arc::clone(&server);
    thread::spawn(move || serving.run());
    while !Session::is_interrupted() {
        thread::sleep(Duration::from_millis(100));
    }
    server.stop();
    Ok(Exit::Success)
}
