//! Input from outside: a clear message with its place, exit code 2, never a panic.

mod common;

use common::{allways, command, file, folder};
use std::fs;

#[test]
fn mistakes_are_placed_and_explained() {
    let folder = folder("hostile");
    let cases: [(&str, &[u8], &str); 12] = [
        ("orphan", b"3\n0 0 -> 1 1\n", "orphan.pds:2:1"),
        ("shared", b"2\nPDA 0 1\n5 0 -> 1 1\n", "shared.pds:3:1"),
        ("three", b"2\nPDA 0 1\n0 0 -> 0 1 1 1\n", "three.pds:3:14"),
        ("empty-stack", b"2\nPDA 0 1\n0 - -> 0 1 1\n", "empty-stack.pds:3:12"),
        ("huge", b"2\nPDA 0 1\n0 0 -> 99999999999999999999999 1\n", "huge.pds:3:8"),
        ("huge-count", b"18446744073709551616\nPDA 0 1\n", "huge-count.pds:1:1"),
        ("range", b"2\nPDA 3 1\n", "range.pds:2:7"),
        ("nul", &[0; 1000], "nul.pds:1:1"),
        ("empty", b"", "empty.pds:1:1"),
        ("binary", b"2\nPDA 0 1\n0 0 -> \xff\xfe\x1b[31m 1\n", "binary.pds:3:8"),
        ("arrow", b"2\nPDA 0 1\n0 0 1 1\n", "arrow.pds:3:5"),
        ("no-thread", b"2\n# nothing\n", "no-thread.pds:3:1"),
    ];
    for (name, text, place) in cases {
        let path = file(&folder, &format!("{name}.pds"), text);
        for command in ["check --target 0|0 --init 0|0", "reach --init 0|0", "convert --to pds"] {
            let run = allways(&format!("{command} {path}"));
            assert_eq!(run.code, 2, "{name}: {run:?}");
            assert!(run.err.contains(place) && run.err.contains("expected "), "{name}: {}", run.err);
            assert!(
                run.out.is_empty() && !run.err.contains('\x1b') && !run.err.contains('\0'),
                "{name}: {run:?}"
            );
        }
    }
}

#[test]
fn several_mistakes_in_one_run() {
    let folder = folder("several");
    let path = file(&folder, "x.pds", "2\nPDA 0 1\n5 0 -> 1 1\n0 0 -> 0 1 1 1\n0 9 -> 0 9\n");
    let run = allways(&format!("reach {path}"));
    for place in ["x.pds:3:1", "x.pds:4:14", "x.pds:5:3"] {
        assert!(run.err.contains(place), "{place}: {}", run.err);
    }
    assert_eq!(run.err.matches("warning").count(), 1);
    assert!(!allways(&format!("reach {path} --quiet")).err.contains("warning"));
    let many = file(&folder, "many.pds", format!("2\nPDA 0 1\n{}", "5 0 -> 1 1\n".repeat(1000)));
    let run = allways(&format!("reach {many}"));
    assert!(run.err.contains("980 errors more not shown"), "{}", run.err);
}

#[test]
fn initial_states() {
    let folder = folder("initial");
    let path = file(&folder, "x.pds", "2\nPDA 0 1\n0 0 -> 1 1\nPDA 0 1\n");
    let run = allways(&format!("reach {path}"));
    assert!(run.code == 2 && run.err.contains("--init") && run.err.contains("x.init"), "{run:?}");
    for text in [
        "",
        "0",
        "0|0",
        "0|0,0,0",
        "7|0,0",
        "0|0,x",
        "0|0,0\n0|0,0",
        "0|0,99999999999999999999",
        "\u{0}",
        "|",
        "|,",
    ] {
        file(&folder, "x.init", text);
        let run = allways(&format!("reach {path}"));
        assert!(run.code == 2 && run.err.contains("x.init:"), "{text:?}: {run:?}");
    }
    file(&folder, "x.init", [0xff, 0xfe]);
    assert_eq!(allways(&format!("reach {path}")).code, 2, "not even text");
    assert_eq!(allways(&format!("reach {path} --init 0|0,0")).code, 0, "the argument wins");
    let run = allways(&format!("reach {path} --init 0|0,x"));
    assert!(run.code == 2 && run.err.contains("--init:1:5"), "{run:?}");
    file(&folder, "x.init", "0|0,0");
    let run = allways(&format!("check {path} --target *|0,0 --target 0|*"));
    assert!(run.code == 2 && run.err.contains("--target:1:3"), "{run:?}");
    file(&folder, "x.spec", "nonsense");
    let run = allways(&format!("check {path}"));
    assert!(run.code == 2 && run.err.contains("x.spec:1:1"), "{run:?}");
    assert_eq!(allways(&format!("reach {path}")).code, 0, "reach has no use for it");
    fs::remove_file(folder.join("x.init")).expect("gone");
    fs::create_dir(folder.join("x.init")).expect("a folder");
    let run = allways(&format!("reach {path}"));
    assert!(run.code == 2 && run.err.contains("it is a directory"), "{run:?}");
}

#[test]
fn files_that_are_none() {
    for (arguments, words) in [
        ("reach nowhere.pds", "there is no such file"),
        ("reach .", "it is a directory"),
        ("check nowhere.pds", "there is no such file"),
        ("convert . --to pds", "it is a directory"),
        ("certify . .", "it is a directory"),
    ] {
        let run = allways(arguments);
        assert!(run.code == 2 && run.err.contains(words), "{arguments}: {run:?}");
    }
}

#[test]
fn a_long_line_is_neither_printed_nor_slow() {
    let folder = folder("long");
    let length = 200 << 20;
    let mut text = b"2\nPDA 0 1\n0 0 -> ".to_vec();
    text.resize(length, b'7');
    let path = file(&folder, "x.pds", &text);
    let run = allways(&format!("reach {path} --init 0|0"));
    assert!(run.code == 2 && run.err.contains("x.pds:3:8") && run.err.len() < 1000, "{run:?}");

    text[17] = b'x';
    text.fill(b' ');
    text[..24].copy_from_slice(b"2\nPDA 0 1\n0 0 -> 1 1 #  ");
    fs::write(&path, &text).expect("a file");
    let run = allways(&format!("reach {path} --init 0|0 --json"));
    assert_eq!(run.code, 0, "a long comment is fine: {}", run.err);
    let peak = run.json()["peak_bytes"].as_u64().expect("a number");
    assert!(peak < 2 * length as u64, "{peak} bytes for a file of {length}");
    fs::remove_file(path).expect("gone");
}

#[cfg(unix)]
#[test]
fn names_of_files_cannot_drive_a_terminal() {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::OsStr::from_bytes(b"no\x1b[31m\xffwhere.pds");
    let output = command("reach").arg(name).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(!output.stderr.contains(&0x1b), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn too_many_threads_are_told_the_limit() {
    for number in ["1000000", "65537", "99999999999999999999999999"] {
        let run = allways(&format!("check ../aw/any-spin-lock.aw --threads {number}"));
        assert!(run.code == 2 && run.err.contains("65536"), "{run:?}");
        assert!(!run.err.contains("expected a number"), "{run:?}");
    }
}
