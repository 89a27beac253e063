//! The list of shards as text; the shards themselves are files beside it.

use super::lines::{BadEvidence, Line, Lines};
use super::read::read_kinds;
use super::write::write_kinds;
use crate::shards::{ShardFile, Shards};
use allways_model::pushdown::Pushdown;
use allways_model::symmetry::Kinds;
use std::io::{self, Write};
use std::path::PathBuf;

/// Writes what follows the first line.
pub(super) fn write_shards(shards: &Shards, out: &mut dyn Write) -> io::Result<()> {
    write_kinds(&shards.kinds, out)?;
    for ShardFile { name, states, digest } in &shards.files {
        writeln!(out, "shard {states} {digest:032x} {name}")?;
    }
    writeln!(out, "end {}", shards.files.len())
}

/// Reads what follows the first line. Whoever knows where the text comes from sets the folder.
pub(super) fn read_shards(system: &dyn Pushdown, lines: &mut Lines<'_>) -> Result<Shards, BadEvidence> {
    const EXPECTED: &str = "`kinds`, `shard` or `end`";
    let kinds = Kinds::distinct(system.threads());
    let mut shards = Shards { kinds, files: Vec::new(), folder: PathBuf::new() };
    loop {
        let mut line = lines.next(EXPECTED)?;
        match line.word(EXPECTED)? {
            "kinds" if shards.files.is_empty() => shards.kinds = read_kinds(system.threads(), &mut line)?,
            "shard" => shards.files.push(read_file(&mut line)?),
            "end" => {
                line.count("shards", shards.files.len())?;
                return Ok(shards);
            }
            _ => return Err(line.expected(EXPECTED)),
        }
    }
}

/// `shard STATES DIGEST NAME`; a name may have spaces, and names no other folder.
fn read_file(line: &mut Line<'_>) -> Result<ShardFile, BadEvidence> {
    let states = line.number("the number of states")?;
    let digest = line.word("a digest of 32 hexadecimal digits")?;
    let digits = digest.len() == 32 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digest = u128::from_str_radix(digest, 16).ok().filter(|_| digits);
    let digest = digest.ok_or_else(|| line.expected("a digest of 32 hexadecimal digits"))?;
    let name = line.rest().to_string();
    if name.is_empty() || name.contains(['/', '\\']) || name == ".." {
        line.word("the name of a file in the same folder")?;
        return Err(line.expected("the name of a file in the same folder"));
    }
    Ok(ShardFile { name, states, digest })
}
