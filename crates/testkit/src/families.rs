//! Systems of the papers for any number of threads, in the `.pds` notation.

/// A system as its two files would hold it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Family {
    /// The `.pds` text.
    pub pds: String,
    /// The `.init` text.
    pub init: String,
}

/// Stefan-n (DrUBA, Table 2): `n` threads that pass a token around among three shared states and recurse without bound.
pub fn stefan(threads: usize) -> Family {
    let thread = "PDA 0 2\n0 0 -> 1 1 0\n1 1 -> 2 2 0\n2 2 -> 0 1\n0 1 -> 0 -\n0 0 -> 0 -\n";
    Family {
        pds: format!("3\n{}", thread.repeat(threads)),
        init: format!("0|{}\n", vec!["0"; threads].join(",")),
    }
}
