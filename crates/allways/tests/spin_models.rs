//! The models in `corpus/spin`, which are written for SPIN as well and compared with it by `scripts/spin`, are answered as they
//! say. Those in `large` are left out, since they take minutes.

use allways::{Budget, Options, Request, check, load};
use std::fs;
use std::path::Path;

#[test]
fn models_that_are_compared_with_spin_are_answered_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/spin");
    let mut checked = 0;
    for entry in fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|ending| ending != "aw") {
            continue;
        }
        assert!(path.with_extension("pml").exists(), "{} is not there for SPIN", path.display());
        let text = fs::read_to_string(&path).expect("text");
        let expected = text.lines().find_map(|line| line.strip_prefix("//! verdict: ")).expect("a verdict");
        let loaded = load(&path, &Options::default(), &Budget::unlimited()).expect("it can be read");
        let checked_model =
            check(&loaded.task, &Request::default(), &Budget::unlimited()).expect("an answer");
        assert_eq!(checked_model.report.verdict, expected, "{}", path.display());
        assert!(checked_model.report.certified);
        checked += 1;
    }
    assert!(checked >= 10, "{checked} models");
}
