//! A session of an editor with `allways lsp`, over standard input and output: open, error, fix, rename, format, check.

mod common;

use common::{command, folder};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

const URI: &str = "file:///lock.aw";

const WRONG: &str = "shared bool taken;\n\nthread worker[2] {\n  loop {\n    await !takn;\n    taken = true;\n    inside: skip;\n    taken = false;\n  }\n}\n\nnever at(inside) >= 2;\n";

/// The editor.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: i64,
    /// Notifications that came while something else was awaited.
    noted: Vec<Value>,
}

impl Editor {
    fn start() -> Editor {
        let mut child =
            command("lsp").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let (input, output) = (child.stdin.take(), child.stdout.take().expect("a pipe"));
        let mut editor = Editor { child, input, output: BufReader::new(output), next: 0, noted: Vec::new() };
        let told =
            editor.ask("initialize", json!({ "capabilities": {}, "processId": null, "rootUri": null }));
        let able = &told["capabilities"];
        for ability in [
            "hoverProvider",
            "definitionProvider",
            "renameProvider",
            "documentFormattingProvider",
            "codeLensProvider",
        ] {
            assert!(!able[ability].is_null(), "{ability}: {able}");
        }
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let input = self.input.as_mut().expect("it is open");
        write!(input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("it listens");
        input.flush().expect("it listens");
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            self.output.read_line(&mut line).expect("a line");
            match line.trim_end().split_once(": ") {
                Some((_, value)) => length = value.parse().expect("a length"),
                None => break,
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).expect("a message");
        serde_json::from_slice(&body).expect("JSON")
    }

    fn tell(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// The whole answer to a request.
    fn asked(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
            self.noted.push(message);
        }
    }

    /// The result of a request.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.asked(method, params);
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// The next notification of this kind.
    fn notified(&mut self, method: &str) -> Value {
        if let Some(at) = self.noted.iter().position(|message| message["method"] == method) {
            return self.noted.remove(at)["params"].clone();
        }
        loop {
            let message = self.receive();
            if message["method"] == method {
                return message["params"].clone();
            }
            self.noted.push(message);
        }
    }

    fn change(&mut self, version: i32, text: &str) -> Vec<Value> {
        let document = json!({ "uri": URI, "version": version });
        self.tell(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [{ "text": text }] }),
        );
        self.remarks()
    }

    fn remarks(&mut self) -> Vec<Value> {
        let published = self.notified("textDocument/publishDiagnostics");
        assert_eq!(published["uri"], URI);
        published["diagnostics"].as_array().expect("a list").clone()
    }
}

fn place(text: &str, part: &str) -> Value {
    let at = text.find(part).expect("it is there");
    let line = text[..at].matches('\n').count();
    let column = text[..at].rsplit('\n').next().unwrap_or_default().encode_utf16().count();
    json!({ "line": line, "character": column })
}

fn at(text: &str, part: &str) -> Value {
    json!({ "textDocument": { "uri": URI }, "position": place(text, part) })
}

/// A text with edits, which are applied from the last to the first.
fn edited(text: &str, edits: &Value) -> String {
    let offset = |position: &Value| {
        let number = |key: &str| position[key].as_u64().expect("a number") as usize;
        let start: usize = text.split_inclusive('\n').take(number("line")).map(str::len).sum();
        start + number("character")
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .expect("edits")
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            (offset(&range["start"]), offset(&range["end"]), edit["newText"].as_str().expect("a text"))
        })
        .collect();
    edits.sort();
    let mut changed = text.to_string();
    for (start, end, new) in edits.into_iter().rev() {
        changed.replace_range(start..end, new);
    }
    changed
}

#[test]
fn an_editor_opens_fixes_renames_formats_and_checks() {
    let mut editor = Editor::start();
    let document = json!({ "uri": URI, "languageId": "aw", "version": 1, "text": WRONG });
    editor.tell("textDocument/didOpen", json!({ "textDocument": document }));
    let remarks = editor.remarks();
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    assert_eq!(remarks[0]["range"]["start"], place(WRONG, "takn"));
    assert_eq!(remarks[0]["severity"], 1);

    // The fix.
    let range = &remarks[0]["range"];
    let asked =
        json!({ "textDocument": { "uri": URI }, "range": range, "context": { "diagnostics": remarks } });
    let fixes = editor.ask("textDocument/codeAction", asked);
    assert_eq!(fixes[0]["title"], "Change to `taken`", "{fixes}");
    let lock = edited(WRONG, &fixes[0]["edit"]["changes"][URI]);
    assert_eq!(lock, WRONG.replace("takn", "taken"));
    assert_eq!(editor.change(2, &lock), Vec::<Value>::new());

    // What names are, and where.
    let hover = editor.ask("textDocument/hover", at(&lock, "taken = true"));
    assert_eq!(hover["contents"]["value"], "```aw\nshared bool taken; // initially false\n```");
    let definition = editor.ask("textDocument/definition", at(&lock, "taken = true"));
    assert_eq!(definition[0]["range"]["start"], json!({ "line": 0, "character": 12 }));
    let definition = editor.ask("textDocument/definition", at(&lock, "inside) >="));
    assert_eq!(definition[0]["range"]["start"], place(&lock, "inside: skip"));
    let mut every = at(&lock, "taken;");
    every["context"] = json!({ "includeDeclaration": true });
    assert_eq!(editor.ask("textDocument/references", every).as_array().map(Vec::len), Some(4));
    let symbols = editor.ask("textDocument/documentSymbol", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(symbols[0]["name"], "taken");
    assert_eq!(symbols[1]["name"], "worker");
    assert_eq!(symbols[1]["children"][0]["name"], "inside");

    // Rename, also where it cannot be.
    let mut renamed = at(&lock, "taken = false");
    assert!(!editor.ask("textDocument/prepareRename", renamed.clone()).is_null());
    for name in ["worker", "while", "a b", ""] {
        renamed["newName"] = json!(name);
        let answer = editor.asked("textDocument/rename", renamed.clone());
        assert!(answer["error"]["message"].is_string(), "{name}: {answer}");
    }
    renamed["newName"] = json!("held");
    let edit = editor.ask("textDocument/rename", renamed);
    let held = edited(&lock, &edit["changes"][URI]);
    assert_eq!(held, lock.replace("taken", "held"));

    // Format.
    let messy = held.replace("  loop {\n", " loop   {\n").replace("held = true", "held=true");
    assert_eq!(editor.change(3, &messy), Vec::<Value>::new());
    let asked = json!({ "textDocument": { "uri": URI }, "options": { "tabSize": 2, "insertSpaces": true } });
    let edits = editor.ask("textDocument/formatting", asked.clone());
    assert_eq!(edited(&messy, &edits), held);
    editor.change(4, &held);
    assert_eq!(editor.ask("textDocument/formatting", asked), json!([]));

    // Check, by the lens above the property.
    let lenses = editor.ask("textDocument/codeLens", json!({ "textDocument": { "uri": URI } }));
    assert_eq!(lenses.as_array().map(Vec::len), Some(2), "{lenses}");
    assert_eq!(lenses[1]["command"]["title"], "check");
    let run =
        json!({ "command": lenses[1]["command"]["command"], "arguments": lenses[1]["command"]["arguments"] });
    let answer = editor.ask("workspace/executeCommand", run.clone());
    assert_eq!(answer["verdict"], "unsafe", "{answer}");
    let found = editor.remarks();
    assert_eq!(found[0]["range"]["start"], place(&held, "never"), "{found:?}");
    assert_eq!(found[0]["relatedInformation"].as_array().map(Vec::len), Some(4));
    let shown = editor.notified("window/showMessage");
    assert!(shown["message"].as_str().is_some_and(|text| text.starts_with("unsafe: ")), "{shown}");
    let fixed = held.replace("await !held;\n    held = true;", "atomic { await !held; held = true; }");
    assert_eq!(editor.change(5, &fixed), Vec::<Value>::new(), "what was found of another text is forgotten");
    assert_eq!(editor.ask("workspace/executeCommand", run)["verdict"], "safe");

    // What makes no sense is answered, and does no harm.
    assert_eq!(editor.asked("no/such", json!({}))["error"]["code"], -32601);
    assert!(editor.asked("textDocument/hover", json!({ "x": 1 }))["error"].is_object());
    let elsewhere =
        json!({ "textDocument": { "uri": "file:///other.aw" }, "position": { "line": 0, "character": 0 } });
    assert!(editor.asked("textDocument/hover", elsewhere)["error"].is_object());
    let far = json!({ "textDocument": { "uri": URI }, "position": { "line": 4_000_000_000_u32, "character": 4_000_000_000_u32 } });
    assert!(editor.ask("textDocument/hover", far).is_null());
    editor.change(6, "shared bool x\n/* é😀 \u{0} ");
    editor.change(7, "shared bool unread;\nthread p { unread = true; int x\n}");
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9, "character": 0 } });
    let asked = json!({ "textDocument": { "uri": URI }, "range": whole, "context": { "diagnostics": [] } });
    assert_eq!(editor.ask("textDocument/codeAction", asked)[0]["title"], "Insert `;`");

    // A name that is written but never read is renamed wherever it stands.
    let unread = "shared bool unread;\nthread p {\n  unread = true;\n  unread = false;\n}\n";
    editor.noted.clear();
    let remarks = editor.change(8, unread);
    assert!(remarks[0]["message"].as_str().is_some_and(|text| text.contains("never read")), "{remarks:?}");
    let asked = json!({ "textDocument": { "uri": URI }, "range": remarks[0]["range"], "context": { "diagnostics": [] } });
    let fixes = editor.ask("textDocument/codeAction", asked.clone());
    assert_eq!(fixes[0]["title"], "Rename to `_unread`");
    let meant = edited(unread, &fixes[0]["edit"]["changes"][URI]);
    assert_eq!(meant, unread.replace("unread", "_unread"));
    assert_eq!(editor.change(9, &meant), Vec::<Value>::new(), "nothing is wrong any more");
    // Not where the new name is taken.
    editor.change(10, &unread.replace("thread p", "shared bool _unread;\nthread p"));
    assert_eq!(editor.ask("textDocument/codeAction", asked), json!([]));

    editor.ask("shutdown", Value::Null);
    editor.tell("exit", Value::Null);
    drop(editor.input.take());
    assert!(editor.child.wait().expect("it ends").success());
}

/// The lines, from 0, of what is said next about a document.
fn told(editor: &mut Editor, uri: &str) -> Vec<(u64, String)> {
    loop {
        let published = editor.notified("textDocument/publishDiagnostics");
        if published["uri"] == uri {
            let all = published["diagnostics"].as_array().expect("a list");
            let line = |remark: &Value| remark["range"]["start"]["line"].as_u64().expect("a line");
            let text = |remark: &Value| remark["message"].as_str().expect("a text").to_string();
            return all.iter().map(|remark| (line(remark), text(remark))).collect();
        }
    }
}

#[test]
fn other_notations_have_errors_too() {
    let folder = folder("lsp-notations");
    let mut editor = Editor::start();
    let open = |editor: &mut Editor, name: &str, text: &str| {
        let uri = format!("file://{}", folder.join(name).display());
        let document = json!({ "uri": uri, "languageId": "x", "version": 1, "text": text });
        editor.tell("textDocument/didOpen", json!({ "textDocument": document }));
        uri
    };
    // Each with its first error in the third line, and then without.
    for (name, wrong, right) in [
        (
            "a.bp",
            "decl x := 0;\nvoid main() begin\n  y := 1;\nend\n",
            "decl x := 0;\nvoid main() begin\n  x := 1;\nend\n",
        ),
        ("a.pds", "1\nPDA 0 1\n0 0 -> 7 1\n", "1\nPDA 0 1\n0 0 -> 0 1\n"),
        (
            "a.spec",
            "vars\n  x y\n  x\nrules\n  x >= 1 -> x' = x - 1;\ninit\n  x = 1\ntarget\n  y >= 1\n",
            "vars\n  x y\nrules\n  x >= 1 -> x' = x - 1, y' = y + 1;\ninit\n  x = 1, y = 0\ntarget\n  y >= 1\n",
        ),
        ("a.tts", "2 2\n0 0 -> 1 1\n0 0 -> 9 9\n", "2 2\n0 0 -> 1 1\n0 0 -> 1 0\n"),
    ] {
        let uri = open(&mut editor, name, wrong);
        let remarks = told(&mut editor, &uri);
        assert_eq!(remarks.first().map(|(line, _)| *line), Some(2), "{name}: {remarks:?}");
        let document = json!({ "uri": uri, "version": 2 });
        editor.tell(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [{ "text": right }] }),
        );
        assert_eq!(told(&mut editor, &uri), [], "{name}");
        // What is not known of these is not made up.
        assert!(
            editor
                .ask(
                    "textDocument/hover",
                    json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 0 } })
                )
                .is_null()
        );
    }
    // Beside rules, a specification says what they must avoid.
    fs::write(folder.join("b.pds"), "1\nPDA 0 1\n0 0 -> 0 1\n").expect("a file");
    let uri = open(&mut editor, "b.spec", "*|1\n");
    assert_eq!(told(&mut editor, &uri), []);
    let uri = open(&mut editor, "b.spec", "*|1,1\n");
    assert_eq!(told(&mut editor, &uri).len(), 1, "there is one thread");

    if std::process::Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler `cc` to preprocess programs with");
        return;
    }
    // A C program is read from disk, with what it includes.
    fs::write(folder.join("own.h"), "#define LIMIT 2\n").expect("a file");
    let text = |end: &str| {
        format!("#include <assert.h>\n#include \"own.h\"\nint x = LIMIT;\nint main(void) {{ {end} }}\n")
    };
    let (wrong, right) = (text("return y;"), text("assert(x == 1); return 0;"));
    fs::write(folder.join("a.c"), &wrong).expect("a file");
    let uri = open(&mut editor, "a.c", &wrong);
    assert_eq!(told(&mut editor, &uri), [], "it is not read yet");
    let remarks = told(&mut editor, &uri);
    assert_eq!(remarks.first().map(|(line, _)| *line), Some(3), "{remarks:?}");
    let document = json!({ "uri": uri, "version": 2 });
    editor.tell(
        "textDocument/didChange",
        json!({ "textDocument": document, "contentChanges": [{ "text": right }] }),
    );
    assert_eq!(told(&mut editor, &uri), remarks, "until it is saved");
    let run = json!({ "command": "allways.check", "arguments": [uri] });
    let refused = editor.asked("workspace/executeCommand", run.clone());
    assert!(
        refused["error"]["message"].as_str().is_some_and(|text| text.contains("save it first")),
        "{refused}"
    );
    fs::write(folder.join("a.c"), &right).expect("a file");
    editor.tell("textDocument/didSave", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(told(&mut editor, &uri), []);
    assert_eq!(editor.ask("workspace/executeCommand", run)["verdict"], "unsafe");
    let found = told(&mut editor, &uri);
    assert_eq!(found.first().map(|(line, _)| *line), Some(3), "{found:?}");
}

#[test]
fn a_message_that_is_too_long_is_an_error_and_no_crash() {
    for (sent, why) in [
        ("Content-Length: 99999999999999\r\n\r\n{}", "too long"),
        ("Content-Length: 2\r\n\r\n{]", "a message is none"),
        ("X\r\n\r\n", "no Content-Length"),
    ] {
        let mut child = command("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        child.stdin.take().expect("a pipe").write_all(sent.as_bytes()).expect("it listens");
        let output = child.wait_with_output().expect("it ends");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{sent:?}: {error}");
        assert!(error.contains("cannot read standard input") && error.contains(why), "{sent:?}: {error}");
    }
}
