//! From a file to preprocessed text, and from places in that text back to places in what the user reads.
//!
//! A `.i` file is read as it is, and its places are its own; so is a `.c` file that is the output of a preprocessor. Other `.c`
//! files go through one, whose line markers (`# LINE "FILE" FLAGS`) lead back: text of the user's file to its line there (and to the column, where the preprocessor
//! left the line alone), text of another file to the `#include` of the user's file that led to it.

use crate::typed::{DataModel, Span};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The longest text, in bytes: places are kept as 32-bit numbers.
pub const MAX_TEXT: usize = u32::MAX as usize - 1;

/// The preprocessor that is run if the user names none.
pub const PREPROCESSOR: [&str; 2] = ["cc", "-E"];

/// Whether a file is the output of a preprocessor: by its ending, or since it has line markers and no directives.
pub fn is_preprocessed(path: &Path, text: &[u8]) -> bool {
    path.extension().is_none_or(|ending| ending != "c") || has_been_preprocessed(text)
}

/// Whether a text is the output of a preprocessor, since it has line markers and no directives.
pub fn has_been_preprocessed(text: &[u8]) -> bool {
    let mut has_markers = false;
    for line in text.split(|&byte| byte == b'\n') {
        let Some(rest) = line.trim_ascii_start().strip_prefix(b"#") else { continue };
        let rest = rest.trim_ascii_start();
        let is_marker = rest.first().is_some_and(u8::is_ascii_digit);
        has_markers |= is_marker;
        if !is_marker && !rest.starts_with(b"pragma") {
            return false;
        }
    }
    has_markers
}

/// What is preprocessed.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// A file.
    File(&'a Path),
    /// A text that is in no file.
    Text(&'a [u8]),
}

impl Input<'_> {
    /// What a preprocessor calls it in its line markers.
    pub fn name(self) -> String {
        match self {
            Input::File(path) => path.to_string_lossy().into_owned(),
            Input::Text(_) => "<stdin>".to_string(),
        }
    }
}

/// Runs a preprocessor (a program and its arguments; what it reads is added) and gives its output.
pub fn preprocess(input: Input<'_>, command: &[String]) -> Result<Vec<u8>, String> {
    let [program, arguments @ ..] = command else {
        return Err("no preprocessor is named".to_string());
    };
    let mut run = Command::new(program);
    run.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = match input {
        Input::File(path) => run.arg(path).output(),
        Input::Text(text) => {
            run.args(["-x", "c", "-"]).stdin(Stdio::piped()).spawn().and_then(|mut child| {
                std::thread::scope(|scope| {
                    let mut input = child.stdin.take();
                    // Who stops reading says why.
                    scope.spawn(move || input.as_mut().map(|input| input.write_all(text)));
                    child.wait_with_output()
                })
            })
        }
    };
    let output = run.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            format!("the preprocessor `{program}` is not there; name another one, or give a preprocessed file (.i)")
        }
        _ => format!("the preprocessor `{program}` cannot be run: {error}"),
    })?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the preprocessor `{}` failed: {}", command.join(" "), words.trim_end()));
    }
    Ok(output.stdout)
}

/// Runs a preprocessor for a data model, [`PREPROCESSOR`] unless the user names one. With `comments`, they are kept.
///
/// If it fails, it may be that headers are missing which verifiers bring along: then ours are searched after all others. For
/// ILP32 it is told `-m32`; if headers for 32 bits are missing, those for 64 bits are tried, which lack one file only (a list of
/// functions that are not there), and at last it is run without `-m32`. What is reported is the first failure.
pub fn preprocess_for(
    input: Input<'_>,
    command: Option<&[String]>,
    model: DataModel,
    comments: bool,
) -> Result<Vec<u8>, String> {
    let mut command = match command {
        Some(command) => command.to_vec(),
        None => PREPROCESSOR.iter().map(|&word| word.to_string()).collect(),
    };
    command.extend(comments.then(|| "-C".to_string()));
    let with = |more: &[&str]| {
        let words = command.iter().cloned().chain(more.iter().map(|&word| word.to_string()));
        preprocess(input, &words.collect::<Vec<_>>())
    };
    let with_ours = |more: &[&str]| with_headers(|folder| with(&[more, &["-idirafter", folder]].concat()));
    if model == DataModel::Ilp32 {
        if let Ok(text) = with(&["-m32"]) {
            return Ok(text);
        }
        if let Some(Ok(text)) = with_ours(&["-m32", "-idirafter", HEADERS]) {
            return Ok(text);
        }
    }
    let error = match with(&[]) {
        Ok(text) => return Ok(text),
        Err(error) => error,
    };
    match with_ours(&[]) {
        Some(Ok(text)) => Ok(text),
        _ => Err(error),
    }
}

/// Where the headers for 64 bits are on Debian and its kin.
const HEADERS: &str = "/usr/include/x86_64-linux-gnu";

/// Headers that verifiers bring along, as far as their functions are known here; and a list of functions that glibc lacks
/// for 32 bits, empty.
const OURS: [(&str, &str); 5] = [
    ("smack.h", include_str!("headers/smack.h")),
    ("dat3m.h", include_str!("headers/dat3m.h")),
    ("genmc.h", include_str!("headers/genmc.h")),
    ("goblint.h", include_str!("headers/goblint.h")),
    ("gnu/stubs-32.h", ""),
];

/// Does something with a folder that has the headers which verifiers bring along; the folder is gone afterwards. None if it
/// cannot be made.
pub fn with_headers<T>(then: impl FnOnce(&str) -> T) -> Option<T> {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("allways-c-{}-{number}", std::process::id()));
    std::fs::create_dir_all(folder.join("gnu")).ok()?;
    let written = OURS.iter().try_for_each(|(name, text)| std::fs::write(folder.join(name), text));
    let done = match written {
        Ok(()) => folder.to_str().map(then),
        Err(_) => None,
    };
    // What is left behind in a temporary folder does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    done
}

/// A text that is ready to be analysed.
#[derive(Clone, Debug)]
pub struct Source {
    /// The file, as the user reads it.
    pub shown: Vec<u8>,
    /// The preprocessed text.
    pub text: Vec<u8>,
    /// The way from places in `text` to places in `shown`.
    pub map: LineMap,
}

/// Reads a file: a `.i` file as it is, any other through a preprocessor (see [`preprocess_for`]). Without a preprocessor, a
/// file in which it would have nothing to do is read as it is.
pub fn load(path: &Path, command: Option<&[String]>, model: DataModel) -> Result<Source, String> {
    let shown = std::fs::read(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let as_it_is = |shown: Vec<u8>| Source { map: LineMap::identity(&shown), text: shown.clone(), shown };
    if is_preprocessed(path, &shown) {
        return Ok(as_it_is(shown));
    }
    match preprocess_for(Input::File(path), command, model, crate::annotations::are_there(&shown)) {
        Ok(text) => {
            let map = LineMap::of_source(&text, &path.to_string_lossy(), &shown);
            Ok(Source { shown, text, map })
        }
        Err(_) if !has_directives(&shown) => Ok(as_it_is(shown)),
        Err(error) => Err(error),
    }
}

/// Whether a line of a text starts with `#`.
fn has_directives(text: &[u8]) -> bool {
    text.split(|&byte| byte == b'\n').any(|line| line.trim_ascii_start().starts_with(b"#"))
}

/// The way from places in a preprocessed text to places in the text that is shown to the user.
#[derive(Clone, Debug)]
pub struct LineMap {
    /// Where the lines of the preprocessed text start.
    starts: Vec<u32>,
    /// What each of these lines is in the shown text; none if it is the same text.
    lines: Option<Vec<Place>>,
    /// The shown text.
    shown: Shown,
}

/// What a line of the preprocessed text is in the shown text.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The number of its line there, from 0.
    line: u32,
    /// Whether it is that line, byte by byte.
    exact: bool,
}

/// What must be known of a text to count columns.
#[derive(Clone, Debug, Default)]
struct Shown {
    /// Where its lines start.
    starts: Vec<u32>,
    /// Of each line, where its first character that is not blank stands and where the last one ends.
    inner: Vec<(u32, u32)>,
    /// Where a byte stands that continues a character.
    continuations: Vec<u32>,
}

impl Shown {
    fn new(text: &[u8]) -> Shown {
        let mut shown = Shown { starts: vec![0], ..Shown::default() };
        for line in text.split(|&byte| byte == b'\n') {
            let start = shown.starts.last().copied().unwrap_or(0);
            let first = start + (line.len() - line.trim_ascii_start().len()) as u32;
            let last = start + line.trim_ascii_end().len() as u32;
            shown.inner.push((first.min(last), last));
            shown.starts.push(start + line.len() as u32 + 1);
        }
        shown.starts.pop();
        let continues = |&(_, byte): &(usize, &u8)| *byte & 0xc0 == 0x80;
        shown.continuations = text.iter().enumerate().filter(continues).map(|(at, _)| at as u32).collect();
        shown
    }

    /// The span from one place to another one, of a line that is known.
    fn span(&self, line: usize, start: u32, end: u32) -> Span {
        let first = self.starts.get(line).copied().unwrap_or(0);
        let before = |at: u32| self.continuations.partition_point(|&place| place < at) as u32;
        let column = (start - first) - (before(start) - before(first)) + 1;
        Span { start, end, line: line as u32 + 1, column }
    }
}

impl LineMap {
    /// A text that is shown as it is. Text beyond [`MAX_TEXT`] has no places.
    pub fn identity(text: &[u8]) -> LineMap {
        let text = text.get(..MAX_TEXT).unwrap_or(text);
        let shown = Shown::new(text);
        LineMap { starts: shown.starts.clone(), lines: None, shown }
    }

    /// A text that a preprocessor made from the file `path` (as the preprocessor was told it), whose text is `original`.
    pub fn of_source(preprocessed: &[u8], path: &str, original: &[u8]) -> LineMap {
        let preprocessed = preprocessed.get(..MAX_TEXT).unwrap_or(preprocessed);
        let original = original.get(..MAX_TEXT).unwrap_or(original);
        let originals: Vec<&[u8]> = original.split(|&byte| byte == b'\n').collect();
        let mut map = LineMap { starts: Vec::new(), lines: None, shown: Shown::new(original) };
        let mut places = Vec::new();
        let (mut start, mut next, mut own) = (0, 0_u32, true);
        for line in preprocessed.split(|&byte| byte == b'\n') {
            map.starts.push(start);
            start += line.len() as u32 + 1;
            if let Some((number, file)) = marker(line) {
                own = file == path.as_bytes();
                if own {
                    next = number.saturating_sub(1);
                }
                places.push(Place { line: next, exact: false });
                continue;
            }
            // The line of an `#include` is the last one that was counted before the text of the other file.
            let current = if own { next } else { next.saturating_sub(1) };
            let exact = own && originals.get(current as usize).is_some_and(|other| *other == line);
            places.push(Place { line: current, exact });
            if own {
                next += 1;
            }
        }
        map.lines = Some(places);
        map
    }

    /// The place of the bytes from `start` to `end` of the preprocessed text.
    pub fn span(&self, start: usize, end: usize) -> Span {
        let start = start.min(MAX_TEXT) as u32;
        let end = (end.min(MAX_TEXT) as u32).max(start);
        let line = self.line(start);
        let Some(places) = &self.lines else {
            return self.shown.span(line, start, end);
        };
        let place = |line: usize| places.get(line).copied().unwrap_or(Place { line: 0, exact: false });
        let (first, last) = (place(line), place(self.line(end.saturating_sub(1).max(start))));
        let start = self.shift(first, line, start).0;
        let end = self.shift(last, self.line(end.saturating_sub(1)), end).1;
        self.shown.span(first.line as usize, start, end.max(start))
    }

    /// The line of the preprocessed text in which a byte stands, from 0.
    fn line(&self, at: u32) -> usize {
        self.starts.partition_point(|&start| start <= at).saturating_sub(1)
    }

    /// Where a byte stands in the shown text if a span starts, or ends, there.
    fn shift(&self, place: Place, line: usize, at: u32) -> (u32, u32) {
        let number = place.line as usize;
        if !place.exact {
            return self.shown.inner.get(number).copied().unwrap_or_default();
        }
        let offset = at - self.starts.get(line).copied().unwrap_or(0).min(at);
        let there = self.shown.starts.get(number).copied().unwrap_or(0) + offset;
        (there, there)
    }
}

/// The number and the file of a line marker.
fn marker(line: &[u8]) -> Option<(u32, &[u8])> {
    let rest = line.strip_prefix(b"#")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"line").unwrap_or(rest).trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(rest.get(..digits)?).ok()?.parse().ok()?;
    let file = rest.get(digits..)?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = file.iter().position(|&byte| byte == b'"')?;
    Some((number, file.get(..end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_a_preprocessed_file_are_its_own() {
        let map = LineMap::identity("int é;\n  int b;\n".as_bytes());
        assert_eq!(map.span(4, 6), Span { start: 4, end: 6, line: 1, column: 5 });
        assert_eq!(map.span(6, 7), Span { start: 6, end: 7, line: 1, column: 6 });
        assert_eq!(map.span(14, 15), Span { start: 14, end: 15, line: 2, column: 7 });
        assert_eq!(map.span(100, 200).line, 3);
    }

    #[test]
    fn places_follow_the_line_markers() {
        let original = b"#include <x.h>\n#define N 5\n  int a = N;\nint b;\n";
        let text = b"# 1 \"t.c\"\n# 1 \"x.h\" 1 3\nint x;\n# 2 \"t.c\" 2\n\n  int a = 5;\nint b;\n";
        let at = |word: &[u8]| text.windows(word.len()).position(|part| part == word).unwrap();
        let map = LineMap::of_source(text, "t.c", original);
        let span = |word: &[u8]| map.span(at(word), at(word) + word.len());
        assert_eq!(span(b"int x"), Span { start: 0, end: 14, line: 1, column: 1 });
        assert_eq!(span(b"5;"), Span { start: 29, end: 39, line: 3, column: 3 });
        assert_eq!(span(b"b;"), Span { start: 44, end: 46, line: 4, column: 5 });
    }

    #[test]
    fn sizes_in_headers_follow_the_data_model() {
        let folder = std::env::temp_dir().join(format!("allways-c-model-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("model.c");
        std::fs::write(&path, "#include <stdint.h>\nint64_t wide;\n").unwrap();
        for model in [DataModel::Ilp32, DataModel::Lp64] {
            match load(&path, None, model) {
                Err(error) => println!("nothing is compared: {error}"),
                Ok(source) => {
                    let unit = crate::sema::analyse(&source.text, &source.map, model).unwrap();
                    let wide = unit.variables.iter().find(|variable| variable.name == "wide").unwrap();
                    assert_eq!(
                        wide.ty,
                        crate::typed::Type::Int(crate::typed::Int { bits: 64, signed: true })
                    );
                    assert_eq!((wide.span.line, wide.span.column), (2, 9));
                }
            }
        }
        let _ = std::fs::remove_dir_all(folder);
    }

    #[test]
    fn a_missing_preprocessor_is_named() {
        let error =
            preprocess(Input::File(Path::new("x.c")), &["no-such-preprocessor".to_string()]).unwrap_err();
        assert!(error.contains("`no-such-preprocessor` is not there"), "{error}");
    }
}
