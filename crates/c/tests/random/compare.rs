//! Programs that are given as texts, compared with what they do natively.

use super::{native, ours};
use ours::End;

/// Compares programs with what they do natively. Some may be refused, for a reason that contains the given words.
pub fn compare(programs: &[(&str, &str)]) {
    if !native::compiler() {
        return;
    }
    let mut wrong = Vec::new();
    for (refused, text) in programs {
        let text = format!("unsigned result;\n{text}\n");
        let expected = native::result(&text);
        let ends = match ours::programs(&text) {
            Ok(both) if refused.is_empty() => both.map(|program| ours::run(&program)).to_vec(),
            Ok(_) => vec![End::Wrong(format!("it is read, although refused before: {refused}"))],
            Err(message) if !refused.is_empty() && message.contains(refused) => continue,
            Err(message) => vec![End::Wrong(format!("refused: {message}"))],
        };
        if ends.iter().any(|end| *end != End::Result(expected)) {
            wrong.push(format!("{ends:?} instead of {expected}:\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{} programs differ:\n{}", wrong.len(), wrong.join("\n"));
}
