//! Writes a system of a family to files: `cargo run --example family -- stefan 5 DIR` writes `stefan-5.pds` and
//! `stefan-5.init` to DIR; `… -- bluetooth 3 2 1 DIR` also `bluetooth-3-2-1.spec`.

use allways_testkit::families::{Family, bluetooth, stefan, wheel};
use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;

const USAGE: &str = "\
usage: family stefan THREADS DIR
       family wheel THREADS K DIR
       family bluetooth VERSION ADDERS STOPPERS DIR";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [family, numbers @ .., folder] = arguments.as_slice() else {
        return Err(USAGE.into());
    };
    let parsed: Vec<usize> = numbers.iter().map(|number| number.parse()).collect::<Result<_, _>>()?;
    let Family { pds, init, spec } = match (family.as_str(), parsed.as_slice()) {
        ("stefan", &[threads]) if threads > 0 => stefan(threads),
        ("wheel", &[threads, k]) if threads > 0 => wheel(threads, u32::try_from(k)?),
        ("bluetooth", &[version @ 1..=3, adders, stoppers]) => bluetooth(version as u32, adders, stoppers),
        _ => return Err(USAGE.into()),
    };
    fs::create_dir_all(folder)?;
    let spec = spec.map(|text| ("spec", text));
    for (extension, text) in [("pds", pds), ("init", init)].into_iter().chain(spec) {
        let path = Path::new(folder).join(format!("{family}-{}.{extension}", numbers.join("-")));
        fs::write(&path, text)?;
        println!("{}", path.display());
    }
    Ok(())
}
