//! `allways serve`: a page on this machine, until it is interrupted.

use super::arguments::Serve;
use super::exit::Exit;
use super::session::Session;
use super::{Context, Failure};
use crate::jobs::Limits;
use crate::serve::Server;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Runs the command.
pub fn run(arguments: &Serve, context: &mut Context) -> Result<Exit, Failure> {
    let program = std::env::current_exe().map_err(|error| Failure::Unwritable("the page".into(), error))?;
    let limits = Limits { time: arguments.timeout, memory: arguments.memory };
    let server = Server::new(arguments.port, program, limits).map_err(|error| {
        let what = format!("port {} of localhost cannot be used: {}", arguments.port, explained(&error));
        Failure::Usage(
            what,
            "give another one with --port, such as --port 0 for any that is free".to_string(),
        )
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

/// Why a port cannot be had.
fn explained(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another program listens there, perhaps another `allways serve`".to_string()
        }
        io::ErrorKind::PermissionDenied => "this user may not; ports below 1024 are for root".to_string(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_refused_is_explained() {
        // EACCES, as Linux answers to users who ask for port 80.
        let refused = io::Error::from_raw_os_error(13);
        assert!(explained(&refused).contains("ports below 1024 are for root"), "{}", explained(&refused));
    }
}
