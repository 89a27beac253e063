//! Documents in other notations than `.aw`: what is wrong with them.
//!
//! Most are parsed as they are typed. A C program goes through the preprocessor and includes other files, so it is read from disk, by the reader
//! of `check`, when it is opened and when it is saved. Rules start somewhere and must avoid something that other files say:
//! those are read with a check.

use super::answers::diagnostic;
use super::text::Text;
use crate::load::{LoadError, Notation, Options, SourceDiagnostics, load};
use allways_engines::Budget;
use allways_lang::diagnostic::Diagnostic as Remark;
use allways_lang::{bp, pds, spec, tts};
use lsp_types::{Diagnostic, DiagnosticSeverity, Uri};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a C program may take to be read.
const PATIENCE: Duration = Duration::from_secs(30);

/// The notation of a document, by the ending of its name; `aw` if that does not tell.
pub fn notation(uri: &Uri) -> &'static str {
    let ending = uri.as_str().rsplit(['/', '\\']).next().and_then(|name| name.rsplit_once('.'));
    ending.and_then(|(_, ending)| Notation::named(ending)).map_or("aw", |notation| notation.ending)
}

/// Whether a document is read from disk.
pub fn is_read_from_disk(notation: &str) -> bool {
    matches!(notation, "c" | "i")
}

/// Whether a document is checked with files beside it, or that it includes.
pub fn has_others(notation: &str) -> bool {
    matches!(notation, "c" | "pds" | "tts")
}

/// The file of a document, if it has one on this machine.
pub fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, more @ ..] = rest {
        let digits = more.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded =
            digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(*first));
        rest = if decoded.is_some() { &more[2..] } else { more };
    }
    Some(PathBuf::from(String::from_utf8(bytes).ok()?))
}

/// What is wrong with a text that is parsed as it is typed.
pub fn remarks(text: &Text, notation: &str, path: Option<&Path>) -> Vec<Diagnostic> {
    let bytes = text.as_str().as_bytes();
    let found: Vec<Remark> = match notation {
        "bp" => bp::parse(bytes).diagnostics.iter().cloned().collect(),
        "pds" => pds::parse(bytes).diagnostics.iter().cloned().collect(),
        "tts" => tts::parse(bytes).diagnostics.iter().cloned().collect(),
        // Beside rules, such a file says what they must avoid.
        "spec" => match path.and_then(|path| fs::read(path.with_extension("pds")).ok()) {
            Some(rules) => {
                let system = pds::parse(&rules).system;
                system.and_then(|system| pds::parse_target(&system, bytes).err()).into_iter().collect()
            }
            None => spec::parse(bytes).diagnostics.iter().cloned().collect(),
        },
        _ => Vec::new(),
    };
    found.iter().map(|remark| diagnostic(text, remark)).collect()
}

/// What is wrong with a file, and what else there is to know of it.
pub fn read(path: &Path) -> Vec<Diagnostic> {
    let budget = Budget::unlimited().lasting(Instant::now(), Some(PATIENCE));
    let placed = |found: &SourceDiagnostics| {
        let text = Text::new(String::from_utf8_lossy(&found.source.text).into_owned());
        found.diagnostics.iter().map(|remark| diagnostic(&text, remark)).collect::<Vec<_>>()
    };
    let told = |severity: DiagnosticSeverity, message: String| Diagnostic {
        severity: Some(severity),
        source: Some("allways".to_string()),
        message,
        ..Diagnostic::default()
    };
    match load(path, &Options::default(), &budget) {
        Ok(loaded) => {
            let warnings = loaded.warnings.iter();
            let warnings = warnings.map(|warning| told(DiagnosticSeverity::INFORMATION, warning.clone()));
            placed(&loaded.diagnostics).into_iter().chain(warnings).collect()
        }
        Err(LoadError::Faulty(found)) => placed(&found),
        Err(error) => vec![told(DiagnosticSeverity::ERROR, error.to_string())],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_notations_and_files() {
        let uri = |text: &str| text.parse::<Uri>().expect("an address");
        assert_eq!(notation(&uri("file:///a.b/lock.c")), "c");
        assert_eq!(notation(&uri("file:///lock.spec")), "spec");
        assert_eq!(notation(&uri("untitled:Untitled-1")), "aw");
        assert_eq!(path(&uri("file:///home/a%20b/%C3%A9.c")), Some(PathBuf::from("/home/a b/é.c")));
        assert_eq!(path(&uri("file://localhost/x.c")), Some(PathBuf::from("/x.c")));
        assert_eq!(path(&uri("untitled:Untitled-1")), None);
    }
}
