//! Writes a system of a family for a number of threads: `cargo run --example family -- stefan 5 DIR` writes
//! `stefan-5.pds` and `stefan-5.init` to DIR.

use allways_testkit::families::{Family, stefan};
use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [family, threads, folder] = arguments.as_slice() else {
        return Err("usage: family stefan THREADS DIR".into());
    };
    let number: usize =
        threads.parse().ok().filter(|&number| number > 0).ok_or("THREADS is a positive number")?;
    let Family { pds, init } = match family.as_str() {
        "stefan" => stefan(number),
        _ => return Err(format!("there is no family `{family}`; there is `stefan`").into()),
    };
    fs::create_dir_all(folder)?;
    for (extension, text) in [("pds", pds), ("init", init)] {
        let path = Path::new(folder).join(format!("{family}-{number}.{extension}"));
        fs::write(&path, text)?;
        println!("{}", path.display());
    }
    Ok(())
}
