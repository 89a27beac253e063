//! Systems of the papers for any number of threads, in the `.pds` notation; and programs of any size.

pub mod bluetooth;
pub mod modular;
pub mod variables;

pub use bluetooth::bluetooth;
pub use variables::variables;

/// A system as its files would hold it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Family {
    /// The `.pds` text.
    pub pds: String,
    /// The `.init` text.
    pub init: String,
    /// The `.spec` text, if there is something to be avoided.
    pub spec: Option<String>,
}

/// Stefan-n (DrUBA, Table 2): `n` threads that pass a token around among three shared states and recurse without bound.
pub fn stefan(threads: usize) -> Family {
    let thread = "PDA 0 2\n0 0 -> 1 1 0\n1 1 -> 2 2 0\n2 2 -> 0 1\n0 1 -> 0 -\n0 0 -> 0 -\n";
    Family {
        pds: format!("3\n{}", thread.repeat(threads)),
        init: format!("0|{}\n", vec!["0"; threads].join(",")),
        spec: None,
    }
}

/// wheel(n, k): `n` threads, each a cycle of `k + 1` symbols. Every advance also moves a shared counter modulo 4; the step
/// back to the first symbol does not. If 4 divides `k`, the counter is the sum of all symbols, and the `(k + 1)^n` visible
/// states have `n` successors each.
pub fn wheel(threads: usize, k: u32) -> Family {
    let mut thread = format!("PDA 0 {k}\n");
    for shared in 0..4 {
        for symbol in 0..k {
            thread += &format!("{shared} {symbol} -> {} {}\n", (shared + 1) % 4, symbol + 1);
        }
        thread += &format!("{shared} {k} -> {shared} 0\n");
    }
    Family {
        pds: format!("4\n{}", thread.repeat(threads)),
        init: format!("0|{}\n", vec!["0"; threads].join(",")),
        spec: None,
    }
}
