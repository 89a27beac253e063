//! `allways serve`: a page at localhost with an editor, examples, and the pictures of [`page`].
//!
//! Only this machine can connect, and only pages of this server can ask: a request whose `Host` is not this server's (a name that somebody
//! else let point here) or whose `Origin` is another page is refused. A check runs in a process of its own, with limits on
//! time and memory; so whatever happens to it, the server stays as it was, and to cancel is to end the process. Nothing is written to disk.
//!
//! Read in this order: `http`, requests and answers with limits on all of them; `includes`, which files a C program may ask for;
//! [`jobs`](crate::jobs), the checks; then this file, what is asked and answered.

mod http;
mod includes;

use crate::jobs::{Jobs, Limits, Order, Outcome};
use crate::page;
use http::{Answer, Request, Waiting};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How many connections are served at a time.
const CONNECTIONS: usize = 128;

const PAGE: &str = include_str!("serve/page.html");
const STYLE: &str = include_str!("serve/page.css");
const SCRIPT: &str = include_str!("serve/page.js");

/// What can be opened: a program of the corpus, where its rules start, and what they must avoid.
struct Example {
    name: &'static str,
    text: &'static str,
    init: &'static str,
    never: &'static str,
}

macro_rules! examples {
    ($($name:literal: $path:literal $(, $init:literal, $never:literal)?;)*) => {
        &[$(Example {
            name: $name,
            text: include_str!($path),
            init: concat!($(include_str!($init))?),
            never: concat!($(include_str!($never))?),
        }),*]
    };
}

const EXAMPLES: &[Example] = examples! {
    "peterson-wrong.aw": "../../../corpus/aw/peterson-wrong.aw";
    "peterson.aw": "../../../corpus/aw/peterson.aw";
    "lock-recursive-wrong.aw": "../../../corpus/aw/lock-recursive-wrong.aw";
    "lock-recursive.aw": "../../../corpus/aw/lock-recursive.aw";
    "philosophers.aw": "../../../corpus/aw/philosophers.aw";
    "stack-aba.aw": "../../../corpus/aw/stack-aba.aw";
    "any-counter-lock-wrong.aw": "../../../corpus/aw/any-counter-lock-wrong.aw";
    "any-counter-lock.aw": "../../../corpus/aw/any-counter-lock.aw";
    "int-ticket-lock.aw": "../../../corpus/aw/int-ticket-lock.aw";
    "two-phase-commit.aw": "../../../corpus/aw/two-phase-commit.aw";
    "counter-racy.c": "../../../corpus/c/counter-racy.c";
    "counter-locked.c": "../../../corpus/c/counter-locked.c";
    "bounded-buffer-wrong.c": "../../../corpus/c/bounded-buffer-wrong.c";
    "lock.bp": "serve/lock.bp";
    "lock-racy.pds": "../../../corpus/pds/lock-racy.pds", "../../../corpus/pds/lock-racy.init", "../../../corpus/pds/lock-racy.spec";
    "lock-recursive.pds": "../../../corpus/pds/lock-recursive.pds", "../../../corpus/pds/lock-recursive.init", "../../../corpus/pds/lock-recursive.spec";
    "readers-writers-wrong.spec": "../../../corpus/counters/readers-writers-wrong.spec";
    "msi.spec": "../../../corpus/counters/msi.spec";
    "test-then-set.tts": "../../../corpus/counters/test-then-set.tts", "../../../corpus/counters/test-then-set.init", "../../../corpus/counters/test-then-set.prop";
};

/// The notations, and what they are called. Preprocessed C is C.
const NAMES: &[(&str, &str)] = &[
    ("aw", "Allways (.aw)"),
    ("c", "C"),
    ("bp", "Boolean program (.bp)"),
    ("pds", "pushdown system (.pds)"),
    ("spec", "Petri net (.spec)"),
    ("tts", "thread transitions (.tts)"),
];

/// The longest initial state, and the longest text of what must be avoided, in bytes.
const LONGEST_STATE: usize = 10_000;

/// The server.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    jobs: Jobs,
    open: AtomicUsize,
}

/// What is asked to be checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// Who asks: one check at a time.
    session: String,
    program: String,
    /// By the ending of its files.
    #[serde(default)]
    notation: Option<String>,
    #[serde(default)]
    threads: String,
    /// Of rules: where they start.
    #[serde(default)]
    init: String,
    /// Of rules: what they must avoid, separated by blanks.
    #[serde(default)]
    never: String,
    #[serde(default)]
    deadlock: bool,
    /// Seconds; not more than the server allows.
    #[serde(default)]
    timeout: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cancelled {
    session: String,
}

impl Server {
    /// Listens on this port of this machine; 0 is any that is free. `program` is run for each check.
    pub fn new(port: u16, program: PathBuf, limits: Limits) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        Ok(Server { listener, address, jobs: Jobs::new(program, limits), open: AtomicUsize::new(0) })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves for ever.
    pub fn run(self: &Arc<Server>) {
        loop {
            let Ok((stream, _)) = self.listener.accept() else {
                // Too many files are open, or a client has gone: neither is a reason to stop.
                thread::sleep(Duration::from_millis(50));
                continue;
            };
            if self.open.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS {
                // Nobody waits here for a client that takes its time.
                self.open.fetch_sub(1, Ordering::AcqRel);
                let _ = stream.set_nonblocking(true);
                Answer::refused(503, "too many connections").send(&stream);
                continue;
            }
            let server = Arc::clone(self);
            let work = move || {
                let open = Open(&server.open);
                server.serve(&stream);
                drop(open);
            };
            if thread::Builder::new().stack_size(1 << 20).spawn(work).is_err() {
                self.open.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }

    /// Ends all checks.
    pub fn stop(&self) {
        self.jobs.stop();
    }

    fn serve(&self, stream: &TcpStream) {
        let answer = match Request::read(stream) {
            Ok(request) => self.answer(&request, stream),
            Err(Some(refused)) => refused,
            // The client has gone.
            Err(None) => return,
        };
        answer.send(stream);
    }

    fn answer(&self, request: &Request, stream: &TcpStream) -> Answer {
        if let Err(why) = self.belongs(request) {
            return Answer::refused(403, why);
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/") => Answer::of("text/html; charset=utf-8", PAGE),
            ("GET", "/page.css") => Answer::of("text/css; charset=utf-8", STYLE),
            ("GET", "/page.js") => Answer::of("text/javascript; charset=utf-8", SCRIPT),
            ("GET", "/report.css") => Answer::of("text/css; charset=utf-8", page::STYLE),
            ("GET", "/report.js") => Answer::of("text/javascript; charset=utf-8", page::SCRIPT),
            ("GET", "/examples") => {
                let shown = |Example { name, text, init, never }: &Example| json!({ "name": name, "text": text, "init": init.trim(), "never": never.trim() });
                let examples: Vec<Value> = EXAMPLES.iter().map(shown).collect();
                let limits = self.jobs.limits();
                let json =
                    json!({ "examples": examples, "notations": NAMES, "seconds": limits.time.as_secs_f64() });
                Answer::of("application/json", &json.to_string())
            }
            ("POST", "/check") => self.check(request, stream),
            ("POST", "/cancel") => match request.json::<Cancelled>() {
                Ok(Cancelled { session }) => {
                    let json = json!({ "cancelled": self.jobs.cancel(&session) });
                    Answer::of("application/json", &json.to_string())
                }
                Err(refused) => refused,
            },
            (
                _,
                "/" | "/page.css" | "/page.js" | "/report.css" | "/report.js" | "/examples" | "/check"
                | "/cancel",
            ) => Answer::refused(405, "this cannot be done here"),
            _ => Answer::refused(404, "there is nothing here"),
        }
    }

    /// Whether a request is for this server, and from a page of it.
    fn belongs(&self, request: &Request) -> Result<(), &'static str> {
        let port = self.address.port();
        let ours = ["localhost", "127.0.0.1"].map(|name| format!("{name}:{port}"));
        let is_ours = |host: &str| ours.iter().any(|our| our.eq_ignore_ascii_case(host));
        match request.header("host") {
            Some(host) if is_ours(host) => {}
            _ => return Err("this server is for localhost"),
        }
        match request.header("origin") {
            None => Ok(()),
            Some(origin) if origin.strip_prefix("http://").is_some_and(is_ours) => Ok(()),
            Some(_) => Err("this server is for its own page"),
        }
    }

    fn check(&self, request: &Request, stream: &TcpStream) -> Answer {
        let asked = match request.json::<Asked>() {
            Ok(asked) => asked,
            Err(refused) => return refused,
        };
        let plain = |text: &str, more: &str, longest: usize| {
            let known = |byte: u8| byte.is_ascii_alphanumeric() || more.as_bytes().contains(&byte);
            text.len() <= longest && text.bytes().all(known)
        };
        if asked.session.is_empty() || !plain(&asked.session, "-", 64) {
            return Answer::refused(400, "a session has a name of letters and digits");
        }
        if !plain(&asked.threads, "_=,*", 200) {
            return Answer::refused(400, "threads are numbers such as 3, or worker=2,boss=1");
        }
        let notation = asked.notation.as_deref().unwrap_or("aw");
        let Some(&(notation, _)) = NAMES.iter().find(|(name, _)| *name == notation) else {
            return Answer::refused(400, "this notation is not known");
        };
        let printed = |text: &str| {
            text.len() <= LONGEST_STATE && text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
        };
        if !printed(&asked.init) || !printed(&asked.never) {
            return Answer::refused(400, "a state is too long, or has characters that no state has");
        }
        if notation == "c"
            && let Err(line) = includes::plain(&asked.program)
        {
            let error = json!({ "message": "on this page, only headers of the system can be included, such as <pthread.h>",
                "line": line, "column": 1 });
            let answer = json!({ "verdict": "error", "errors": [error] });
            return Answer::of("application/json", &answer.to_string());
        }
        let order = Order {
            program: asked.program.into_bytes(),
            notation: Some(notation),
            file: None,
            init: Some(asked.init.trim().to_string()).filter(|init| !init.is_empty()),
            targets: asked.never.split_whitespace().map(str::to_string).collect(),
            threads: Some(asked.threads).filter(|threads| !threads.is_empty()),
            deadlock: asked.deadlock,
            time: asked.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        };
        let waiting = Waiting::new(stream);
        match self.jobs.run(&asked.session, &order, &|| waiting.has_gone()) {
            Outcome::Done(json) => Answer::json(json),
            Outcome::Busy => Answer::refused(409, "a check of this session is running"),
            Outcome::Cancelled => {
                Answer::of("application/json", &json!({ "verdict": "cancelled" }).to_string())
            }
            Outcome::Failed(why) => Answer::refused(500, &why),
        }
    }
}

/// A connection that is counted until it ends, however it ends.
struct Open<'a>(&'a AtomicUsize);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
