//! SHA-256 (FIPS 180-4), by which witnesses name the files that they are about.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// The digest of a text.
pub fn digest(text: &[u8]) -> [u8; 32] {
    Sha256::digest(text).into()
}

/// The digest in hexadecimal digits.
pub fn hexadecimal(text: &[u8]) -> String {
    digest(text).iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}
