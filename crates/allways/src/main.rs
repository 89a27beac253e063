//! The program `allways`; see `cli.rs` of the library.

use allways::cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(&allways::Engines::default()).into()
}
