//! Which files the preprocessor may be asked for by a program from a page: headers of the system, by their plain names.
//!
//! A program comes with a link, perhaps from somebody else. `#include "/dev/zero"` would never end, and that of a file of the user would show
//! up in the errors. Only `#include <name.h>` on a line of its own is let through. A directive can be written so that it is hard to see:
//! its `#` as a digraph or trigraph, with comments inside, over several lines. So a line with such a word must be plain if it
//! has anything that could make it a directive: a `#` in one of its spellings, or the end of a comment that may have started after one.
//!
//! Invariant: of an accepted program, no line is a directive that reads a file, save for plain ones.

/// The words of directives that read files.
const WORDS: [&str; 4] = ["include", "include_next", "import", "embed"];

/// Whether all files that a program includes are headers of the system; else the line of one that is not.
pub fn plain(program: &str) -> Result<(), usize> {
    let mut first = 1;
    let mut joined = String::new();
    // Some end lines with a single carriage return.
    let program = program.replace("\r\n", "\n").replace('\r', "\n");
    for (index, line) in program.split('\n').enumerate() {
        // A backslash at the end, which has a trigraph as well, joins lines; blanks after it are ignored by some.
        let line = line.trim_end();
        let cut = line.strip_suffix('\\').or_else(|| line.strip_suffix("??/"));
        joined.push_str(cut.unwrap_or(line));
        if cut.is_none() {
            if !is_harmless(&joined) {
                return Err(first);
            }
            joined.clear();
            first = index + 2;
        }
    }
    if is_harmless(&joined) { Ok(()) } else { Err(first) }
}

fn has_word(line: &str) -> bool {
    let letters = |character: char| character.is_alphanumeric() || character == '_' || character == '$';
    line.split(|character: char| !letters(character)).any(|word| WORDS.contains(&word))
}

fn is_harmless(line: &str) -> bool {
    let may_direct = ["#", "%:", "??=", "*/"].iter().any(|sign| line.contains(sign));
    !may_direct || !has_word(line) || includes_header(line)
}

/// Whether a line is `#include <name.h>` and nothing else of the kind.
fn includes_header(line: &str) -> bool {
    let name = || {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        let (name, rest) = rest.trim_start().strip_prefix('<')?.split_once('>')?;
        (!has_word(rest) && !rest.contains("*/") || is_comment(rest)).then_some(name)
    };
    name().is_some_and(|name| {
        let known = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
        name.bytes().all(known)
            && name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.ends_with(".h")
            && !name.contains("..")
            && !name.contains("//")
    })
}

/// Whether this is one comment that starts and ends here, without a word that matters.
fn is_comment(text: &str) -> bool {
    let inner = text.trim().strip_prefix("/*").and_then(|text| text.strip_suffix("*/"));
    inner.is_some_and(|inner| !inner.contains("*/") && !has_word(inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_system_can_be_included() {
        for text in [
            "#include <pthread.h>\n#include <assert.h> /* for assert */\nint main(void) { return 0; }\n",
            "  #  include   <sys/types.h>\r\n",
            "// we include nothing\n/* nor\n * do we embed it.\n */\nint include = 1;\n",
            "#define N 3\n#if N > 2\nint x;\n#endif\n",
            "int import(int a) { return a % 2; }",
        ] {
            assert_eq!(plain(text), Ok(()), "{text}");
        }
    }

    /// What of this gcc would read is measured by `gcc -E -M`; here it is enough that none is let through.
    #[test]
    fn other_files_cannot() {
        for text in [
            "#include \"/etc/passwd\"",
            "#include \"x.h\"",
            "#include </etc/passwd>",
            "#include <../../../etc/passwd.h>",
            "#include </dev/zero.h>",
            "%:include \"/etc/passwd\"",
            "??=include \"/etc/passwd\"",
            "#inc\\\nlude \"/etc/passwd\"",
            "#\\\ninclude \"/etc/passwd\"",
            "#inc\\  \nlude \"/etc/passwd\"",
            "#inc\\\rlude \"/etc/passwd\"",
            "int x;\r#include \"/etc/passwd\"",
            "#inc??/\nlude \"/etc/passwd\"",
            "# /* \n */ include \"/etc/passwd\"",
            "/* \n */ # include \"/etc/passwd\"",
            "#include_next \"/etc/passwd\"",
            "#import \"/etc/passwd\"",
            "#embed \"/dev/zero\"",
            "#define F \"/etc/passwd\"\n#include F",
            "#include <pthread.h> */ #include \"/etc/passwd\"",
            "int x;\n\n#\tinclude\t\"/etc/passwd\"",
            "#include <stdio.h\n#include \"/etc/passwd\"",
        ] {
            assert!(plain(text).is_err(), "{text}");
        }
        assert_eq!(plain("int x;\n#inc\\\nlude \"x\"\n"), Err(2));
    }
}
