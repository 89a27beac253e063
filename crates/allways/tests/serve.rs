//! `allways serve`: what it answers, what it refuses, and that it stays up.

mod common;
mod server;

use serde_json::{Value, json};
use server::{ENDLESS, LOCK, Server, answer};
use std::fs;
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn programs_are_checked() {
    let server = Server::start("serve-checks", "--timeout 20s --memory 1G");
    let asked = |program: &str| json!({ "session": "a", "program": program });
    let (status, answer) = server.check(&asked(LOCK));
    assert_eq!((status, &answer["verdict"]), (200, &json!("unsafe")), "{answer}");
    assert_eq!(answer["run"]["threads"], json!(["p[0]", "p[1]"]));
    assert_eq!(answer["run"]["line"], 3);
    let fixed = LOCK.replace("await !taken; taken = true;", "atomic { await !taken; taken = true; }");
    let (status, answer) = server.check(&asked(&fixed));
    assert_eq!((status, &answer["verdict"]), (200, &json!("safe")), "{answer}");
    assert!(!answer["proof"]["places"].as_array().expect("places").is_empty());

    let (status, answer) = server.check(&asked("shared bool x;\nthread p { y = true; }\n"));
    assert_eq!((status, &answer["verdict"]), (200, &json!("error")), "{answer}");
    assert_eq!((&answer["errors"][0]["line"], &answer["errors"][0]["column"]), (&json!(2), &json!(12)));

    let mut three = asked(&LOCK.replace("p[2]", "p[*]").replace(">= 2", ">= 3"));
    three["threads"] = json!("2");
    assert_eq!(server.check(&three).1["verdict"], "safe", "two threads are not three");
    three["threads"] = json!("3");
    assert_eq!(server.check(&three).1["verdict"], "unsafe");
    let mut stuck = asked(
        "lock a; lock b;\nthread p { acquire(a); acquire(b); }\nthread q { acquire(b); acquire(a); }\n",
    );
    assert_eq!(server.check(&stuck).1["verdict"], "safe");
    stuck["deadlock"] = json!(true);
    assert_eq!(server.check(&stuck).1["verdict"], "unsafe");

    let (status, page) = server.get("/", "");
    assert!(status == 200 && page.contains("<textarea"), "{page}");
    let (_, examples) = server.get("/examples", "");
    let examples: Value = serde_json::from_str(&examples).expect("JSON");
    assert_eq!(examples["seconds"], 20.0);
    let known: Vec<&str> = examples["notations"]
        .as_array()
        .expect("notations")
        .iter()
        .filter_map(|one| one[0].as_str())
        .collect();
    assert_eq!(known, ["aw", "c", "bp", "pds", "spec", "tts"]);
    let compiler = std::process::Command::new("cc").arg("--version").output().is_ok();
    if !compiler {
        eprintln!("skipped: C programs, because there is no C compiler `cc` to preprocess them with");
    }
    for example in examples["examples"].as_array().expect("examples") {
        let (name, text) = (example["name"].as_str().expect("a name"), &example["text"]);
        let notation = name.rsplit('.').next().expect("an ending");
        assert!(known.contains(&notation), "{name}");
        if notation == "c" && !compiler || name.starts_with("int-") && !common::solver("z3") {
            continue;
        }
        let asked = json!({ "session": "x", "program": text, "notation": notation,
            "init": example["init"], "never": example["never"] });
        let (status, answer) = server.check(&asked);
        // Their names, or comments, say what they are.
        let wrong =
            ["wrong", "racy", "then-set", "lock.bp", "stack-aba"].iter().any(|part| name.contains(part));
        let expected = if wrong { "unsafe" } else { "safe" };
        assert_eq!((status, &answer["verdict"]), (200, &json!(expected)), "{name}: {answer:.300}");
    }
    let left: Vec<_> = fs::read_dir(&server.folder).expect("a folder").collect();
    assert!(left.is_empty(), "nothing is written: {left:?}");
}

#[test]
fn checks_have_limits_and_can_be_cancelled() {
    let server = Server::start("serve-limits", "--timeout 60s --memory 2G");
    let mut asked = json!({ "session": "slow", "program": ENDLESS, "timeout": 0.3 });
    let (status, answer) = server.check(&asked);
    assert_eq!((status, &answer["verdict"]), (200, &json!("unknown")), "{answer}");
    asked["timeout"] = Value::Null;
    let quick = |session: &str| server.check(&json!({ "session": session, "program": LOCK })).0;
    thread::scope(|scope| {
        // The quick checks below may come first; then it is refused, and asked for again.
        let check = scope.spawn(|| {
            loop {
                let (status, answer) = server.check(&asked);
                if status != 409 {
                    return (status, answer);
                }
            }
        });
        while quick("slow") != 409 {
            assert!(!check.is_finished(), "it takes longer than anybody waits");
        }
        while !check.is_finished() {
            server.cancel("slow");
            thread::sleep(Duration::from_millis(20));
        }
        let (status, answer) = check.join().expect("an answer");
        assert_eq!((status, &answer["verdict"]), (200, &json!("cancelled")), "{answer}");
    });
}

/// Waits until something holds; not for ever.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(120), "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_client_that_goes_away_does_not_leave_its_check_behind() {
    // So long that the check does not end by itself.
    let server = Server::start("serve-gone", "--timeout 1h --memory 4G");
    let body = json!({ "session": "gone", "program": ENDLESS }).to_string();
    let head = format!(
        "POST /check HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\n",
        server.port
    );
    let quick = || server.check(&json!({ "session": "gone", "program": LOCK })).0;
    // With one byte too many, too: that it has gone shows only behind it.
    for more in ["", "\n"] {
        let sent = || {
            let mut stream = server.connect();
            write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).expect("sent");
            stream.set_nonblocking(true).expect("it can be looked at");
            stream
        };
        let mut stream = sent();
        until("the check starts", || {
            // Answered already: a quick one came first, and it was refused.
            if stream.peek(&mut [0]).is_ok() {
                stream = sent();
            }
            quick() == 409
        });
        stream.write_all(more.as_bytes()).expect("sent");
        drop(stream);
        until(&format!("the check ends, with {more:?} after the request"), || quick() != 409);
    }
}

#[test]
fn hostile_requests_are_refused() {
    let server = Server::start("serve-hostile", "--timeout 20s");
    let port = server.port;
    let json = "Content-Type: application/json\r\n";
    let lock = json!({ "session": "a", "program": LOCK }).to_string();
    let with = |headers: &str| server.post("/check", &format!("{json}{headers}"), &lock).0;
    assert_eq!(with(""), 200);
    assert_eq!(with(&format!("Origin: http://localhost:{port}\r\n")), 200);
    // Requests of other pages, and for names that others let point here.
    for origin in [
        "http://evil.example",
        "null",
        "http://localhost:1",
        "https://localhost",
        "http://localhost.evil.example",
    ] {
        assert_eq!(with(&format!("Origin: {origin}\r\n")), 403, "{origin}");
    }
    assert_eq!(with(&format!("Origin: http://localhost:{port}\r\nOrigin: http://evil.example\r\n")), 403);
    for host in [
        "evil.example",
        "localhost",
        &format!("evil.example:{port}"),
        &format!("localhost:{port}.evil.example"),
        "",
    ] {
        let (status, _) = server.raw(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
        assert_eq!(status, 403, "{host}");
    }
    assert_eq!(server.raw(b"GET / HTTP/1.1\r\n\r\n").0, 403, "no host");
    let forms = ["", "Content-Type: text/plain\r\n", "Content-Type: application/x-www-form-urlencoded\r\n"];
    for kind in forms {
        assert_eq!(server.post("/check", kind, &lock).0, 415, "{kind}");
    }
    // Bodies that are too long, are none, or nest deeply.
    let huge = format!(
        "POST /check HTTP/1.1\r\nHost: localhost:{port}\r\n{json}Content-Length: 99999999999\r\n\r\n"
    );
    assert_eq!(server.raw(huge.as_bytes()).0, 413);
    let long = json!({ "session": "a", "program": "x".repeat(300 << 10) }).to_string();
    assert_eq!(server.post("/check", json, &long).0, 413);
    for body in [
        "",
        "{",
        "[]",
        "{\"session\":\"a\"}",
        &"[".repeat(100_000),
        "{\"session\":\"a\",\"program\":\"\",\"more\":1}",
    ] {
        assert_eq!(server.post("/check", json, body).0, 400, "{body:.40}");
    }
    for (key, value) in
        [("session", "a/../b"), ("session", ""), ("threads", "2 --evidence=/tmp/x"), ("threads", "$(x)")]
    {
        let mut asked = json!({ "session": "a", "program": LOCK });
        asked[key] = json!(value);
        assert_eq!(server.check(&asked).0, 400, "{value}");
    }
    let head = |rest: &str| format!("POST /check HTTP/1.1\r\nHost: localhost:{port}\r\n{json}{rest}\r\n\r\n");
    assert_eq!(server.raw(head("Transfer-Encoding: chunked").as_bytes()).0, 411);
    assert_eq!(server.raw(head("Content-Length: -1").as_bytes()).0, 400);
    assert_eq!(server.raw(head("Content-Length: 1\r\nContent-Length: 2").as_bytes()).0, 400);
    assert_eq!(server.raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n").0, 400, "TLS");
    assert_eq!(server.raw(&[b"GET /".as_slice(), &[b'a'; 40_000]].concat()).0, 431);
    assert_eq!(server.get("/", &"X: y\r\n".repeat(100)).0, 431);
    // Paths that lead elsewhere.
    for path in [
        "/../../etc/passwd",
        "/..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/page.css/",
        "/%00",
        "/example/x",
        "/index.html",
    ] {
        let (status, body) = server.get(path, "");
        assert_eq!(status, 404, "{path}: {body}");
    }
    assert_eq!(server.get("/check", "").0, 405);
    assert_eq!(server.post("/", json, "{}").0, 405);
    assert_eq!(server.get("/", "").0, 200, "it is still there");
}

#[test]
fn slow_and_many_clients_do_not_stop_it() {
    let server = Server::start("serve-crowd", "--timeout 30s");
    // Clients that say nothing, or not enough.
    let mut slow = Vec::new();
    for number in 0..40 {
        let mut stream = server.connect();
        let _ = stream.write_all(if number % 2 == 0 { b"" } else { b"POST /check HTTP/1.1\r\nHo" });
        slow.push(stream);
    }
    let good = AtomicUsize::new(0);
    thread::scope(|scope| {
        for number in 0..50 {
            let (server, good) = (&server, &good);
            scope.spawn(move || {
                let asked = json!({ "session": format!("s{number}"), "program": LOCK });
                let (status, answer) = server.check(&asked);
                assert_eq!((status, &answer["verdict"]), (200, &json!("unsafe")), "{answer}");
                good.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(good.into_inner(), 50);
    // More than it serves: some are told so, and then it goes on.
    for _ in 0..200 {
        slow.push(server.connect());
    }
    let refused = slow.iter_mut().map(|stream| {
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
        answer(stream).0
    });
    let refused: Vec<u16> = refused.collect();
    assert!(refused.contains(&503), "{refused:?}");
    assert!(refused.iter().all(|status| [408, 503].contains(status)), "{refused:?}");
    drop(slow);
    while server.get("/", "").0 != 200 {
        thread::sleep(Duration::from_millis(20));
    }
}

/// A program may come with a link from somebody else: it cannot make the preprocessor read files of the user, or read for ever.
#[test]
fn c_programs_include_headers_of_the_system_only() {
    let server = Server::start("serve-includes", "--timeout 20s");
    let asked = |program: &str| json!({ "session": "a", "notation": "c", "program": program });
    for include in ["#include \"/etc/passwd\"", "#inc\\\nlude </dev/zero>", "%:include \"/etc/passwd\""] {
        let (status, answer) =
            server.check(&asked(&format!("int x;\n{include}\nint main(void) {{ return 0; }}\n")));
        assert_eq!(
            (status, &answer["verdict"], &answer["errors"][0]["line"]),
            (200, &json!("error"), &json!(2)),
            "{answer}"
        );
        assert!(!answer.to_string().contains("root:"), "{answer}");
    }
    let (status, answer) = server.check(&json!({ "session": "a", "notation": "cobol", "program": "" }));
    assert_eq!(status, 400, "{answer}");
    let (status, _) = server
        .check(&json!({ "session": "a", "notation": "pds", "program": "1\nPDA 0 0\n", "init": "0|0\n--x" }));
    assert_eq!(status, 400);
    if std::process::Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler `cc` to preprocess programs with");
        return;
    }
    // Macros that double for ever end with the limits.
    let mut bomb = "#define A0 0,0,0,0,0,0,0,0\n".to_string();
    for level in 1..12 {
        bomb += &format!("#define A{level} {}\n", vec![format!("A{}", level - 1); 8].join(","));
    }
    bomb += "int x[] = { A11 };\nint main(void) { return 0; }\n";
    let mut bombs = asked(&bomb);
    bombs["timeout"] = json!(3);
    let (status, answer) = server.check(&bombs);
    assert!(status == 500 || answer["verdict"] != "safe", "{answer:.300}");
    let (_, answer) = server.check(&asked("#include <assert.h>\nint main(void) { assert(1); return 0; }\n"));
    assert_eq!(answer["verdict"], "safe", "{answer}");
}

/// The processes that a process has started, and that have not ended.
fn started_by(process: u32) -> Vec<u32> {
    let parent = |id: u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        stat.rsplit(") ").next()?.split(' ').nth(1)?.parse::<u32>().ok()
    };
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|&id| parent(id) == Some(process)).collect()
}

/// However the server ends, even if it cannot do anything about it, its checks end with it.
#[test]
fn a_server_that_ends_takes_its_checks_along() {
    if started_by(std::process::id()).is_empty() && !std::path::Path::new("/proc/self/stat").exists() {
        eprintln!("skipped: this system does not say which processes there are");
        return;
    }
    for signal in ["HUP", "KILL", "TERM"] {
        if signal == "HUP" && ignores_hangups() {
            eprintln!("skipped: what nohup starts goes on after HUP");
            continue;
        }
        let mut server = Server::start("serve-ends", "--timeout 1h --memory 4G");
        let body = json!({ "session": "a", "program": ENDLESS }).to_string();
        let mut stream = server.connect();
        let head = format!(
            "POST /check HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\n",
            server.port
        );
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).expect("sent");
        until("the check starts", || !started_by(server.id()).is_empty());
        let checks = started_by(server.id());
        let sent = std::process::Command::new("kill").args(["-s", signal, &server.id().to_string()]).status();
        assert!(sent.expect("kill is there").success());
        server.wait();
        let runs = |id: &u32| {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
        };
        until(&format!("the check ends after {signal}"), || !checks.iter().any(runs));
    }
}

/// Whether this process, and so those that it starts, ignore HUP.
fn ignores_hangups() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).is_some_and(|bits| bits & 1 == 1)
}

#[test]
fn a_port_that_is_taken_is_said_to_be() {
    let server = Server::start("serve-taken", "");
    let run = common::allways(&format!("serve --port {}", server.port));
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains(&format!("port {} of localhost", server.port)), "{run:?}");
    assert!(run.err.contains("another program listens there") && run.err.contains("--port 0"), "{run:?}");
    assert_eq!(common::allways("serve --port 70000").code, 2);
    let help = common::allways("serve --help").out;
    assert!(help.contains("[default: 30s]") && help.contains("[default: 1G]"), "{help}");
    assert!(!help.contains("four fifths"), "{help}");
}

/// The resident set of a process, in kilobytes.
fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse().ok())
}

#[test]
fn memory_stays_bounded_over_a_thousand_checks() {
    let server = Server::start("serve-thousand", "--timeout 30s");
    let check = |number: usize| {
        let asked = json!({ "session": format!("s{number}"), "program": format!("{LOCK}// {number}\n") });
        assert_eq!(server.check(&asked).1["verdict"], "unsafe");
    };
    (0..100).for_each(check);
    let Some(before) = resident(server.id()) else {
        eprintln!("skipped: this system does not say how much memory a process has");
        return;
    };
    thread::scope(|scope| {
        for worker in 0..4 {
            let check = &check;
            scope.spawn(move || (100..1000).filter(|number| number % 4 == worker).for_each(check));
        }
    });
    let after = resident(server.id()).expect("as before");
    assert!(after < before + (16 << 10), "{before} kB after 100 checks, {after} kB after 1000");
}
