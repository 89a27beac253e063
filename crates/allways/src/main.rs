//! The program `allways`; see `cli.rs`.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main().into()
}
