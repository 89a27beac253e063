//! A program is reduced once in a check, and encoded once for each number of threads that is asked about.
//!
//! Encodings are counted for the whole process, so this file has one test.

use allways::{Budget, Options, Request, check, load};
use allways_model::encoding::Encoded;
use allways_model::program::reduction::Reduction;
use std::collections::BTreeSet;

#[test]
fn each_form_of_a_program_is_made_once() {
    for name in
        ["peterson", "any-spin-lock", "any-spin-lock-wrong", "any-counter-cas-wrong", "lock-recursive"]
    {
        let path = format!("{}/../../corpus/aw/{name}.aw", env!("CARGO_MANIFEST_DIR"));
        let loaded = load(path, &Options::default(), &Budget::unlimited()).expect("a program");
        let (encodings, reductions) = (Encoded::made(), Reduction::made());
        let checked = check(&loaded.task, &Request::default(), &Budget::unlimited()).expect("an answer");
        // One thread stands for those of the task before anything is asked.
        let threads: BTreeSet<&str> = checked.report.runs().iter().map(|run| run.threads.as_str()).collect();
        let first = BTreeSet::from([if loaded.task.is_open() { "1 thread" } else { "" }]);
        let forms = threads.union(&first).count();
        assert_eq!(Encoded::made() - encodings, forms, "{name}: {threads:?}");
        assert_eq!(Reduction::made() - reductions, 1, "{name}");
    }
}
