//! Inline assembly in a program that is replayed: in the model it gives its outputs any value, those of a device, say. Where the
//! trace has such a value, the statement becomes assignments of what the runtime says, on the same lines.

use super::schedule::Chosen;

/// Has assembly on lines with values of the trace take them; whether there is any.
pub(super) fn give_outputs(text: &mut Vec<u8>, chosen: &[Chosen]) -> bool {
    let mut statements = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < text.len() {
        let end = token_end(text, at);
        let word = &text[at..end];
        if matches!(word, b"asm" | b"__asm" | b"__asm__") {
            let is_chosen = |one: &Chosen| (one.lines.0..=one.lines.1).contains(&line);
            let found = bracket(text, end).filter(|_| chosen.iter().any(is_chosen));
            if let Some((open, close)) = found {
                statements.push((at, close + 1, assignments(&text[open + 1..close])));
            }
        }
        line += breaks(word) as u32;
        at = end;
    }
    let mut changed = false;
    for (start, end, assignments) in statements.into_iter().rev() {
        let Some(mut assignments) = assignments else { continue };
        assignments.extend(std::iter::repeat_n(b'\n', breaks(&text[start..end])));
        text.splice(start..end, assignments);
        changed = true;
    }
    changed
}

fn breaks(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\n').count()
}

/// Where a word, a literal, a comment or a character ends.
fn token_end(text: &[u8], start: usize) -> usize {
    let rest = &text[start..];
    let length = match rest[0] {
        quote @ (b'"' | b'\'') => {
            let mut at = 1;
            while at < rest.len() && rest[at] != quote && rest[at] != b'\n' {
                at += if rest[at] == b'\\' { 2 } else { 1 };
            }
            at + 1
        }
        b'/' if rest.starts_with(b"//") => rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()),
        b'/' if rest.starts_with(b"/*") => {
            rest[2..].windows(2).position(|pair| pair == b"*/").map_or(rest.len(), |at| at + 4)
        }
        byte if byte.is_ascii_alphanumeric() || byte == b'_' => {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
            rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len())
        }
        _ => 1,
    };
    (start + length).min(text.len())
}

/// The brackets that come next, after nothing but words.
fn bracket(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let (mut at, mut open, mut depth) = (from, None, 0);
    while at < text.len() {
        let end = token_end(text, at);
        match text[at] {
            b'(' => {
                open = open.or(Some(at));
                depth += 1;
            }
            b')' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    return Some((open?, at));
                }
            }
            b')' | b';' | b'{' | b'}' if open.is_none() => return None,
            _ => {}
        }
        at = end;
    }
    None
}

/// Assignments to the outputs, which are between the first two colons; nothing if there are none.
fn assignments(inside: &[u8]) -> Option<Vec<u8>> {
    let (mut at, mut depth, mut colons) = (0, 0, 0);
    let (mut start, mut outputs) = (0, Vec::new());
    while at < inside.len() && colons < 2 {
        let end = token_end(inside, at);
        match inside[at] {
            b'(' => {
                if depth == 0 {
                    start = end;
                }
                depth += 1;
            }
            b')' => {
                depth -= 1;
                if depth == 0 && colons == 1 {
                    outputs.push(&inside[start..at]);
                }
            }
            b':' if depth == 0 => colons += 1,
            _ => {}
        }
        at = end;
    }
    if outputs.is_empty() {
        return None;
    }
    let mut text = b"({ extern long long allways_output(void);".to_vec();
    for output in outputs {
        let place: Vec<u8> = output.iter().map(|&byte| if byte == b'\n' { b' ' } else { byte }).collect();
        text.extend([b" (", &place[..], b") = (__typeof__(", &place[..], b"))allways_output();"].concat());
    }
    text.extend(b" })");
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str, line: u32) -> Option<String> {
        let mut bytes = text.as_bytes().to_vec();
        let chosen = Chosen { thread: 0, lines: (line, line), after: 0, value: 1 };
        give_outputs(&mut bytes, &[chosen]).then(|| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn outputs_become_assignments_on_the_same_lines() {
        let text = "int f(void) { int r, s; /* asm ( */\n  __asm__ volatile (\"movl %1,%0 :)\" : \"=r\" (r),\n  [s] \"+m\" (s) : \"m\" (s) : \"memory\");\n  return r; }\n";
        let changed = given(text, 2).unwrap();
        assert_eq!(changed.lines().count(), text.lines().count());
        let expected = "({ extern long long allways_output(void); (r) = (__typeof__(r))allways_output(); (s) = (__typeof__(s))allways_output(); })\n;";
        assert!(changed.contains(expected), "{changed}");
        assert!(!changed.contains("movl"));
    }

    #[test]
    fn other_assembly_stays() {
        let text = "void f(void) { int r;\n asm(\"nop\");\n asm (\"\" : \"=r\" (r));\n char *s = \"asm (: (r))\"; }\n";
        assert_eq!(given(text, 1), None);
        assert_eq!(given(text, 2), None, "it has no outputs");
        assert!(given(text, 3).unwrap().contains("asm(\"nop\")"));
        assert_eq!(given(text, 4), None, "a string");
        assert_eq!(given("asm (\"unterminated", 1), None);
    }
}
