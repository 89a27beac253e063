//! `allways serve`: a page at localhost with an editor, examples, and the pictures of [`page`].
//!
//! Only this machine can connect, and only pages of this server can ask: a request whose `Host` is not this server's (a name that somebody
//! else let point here) or whose `Origin` is another page is refused. A check runs in a process of its own, with limits on
//! time and memory; so whatever happens to it, the server stays as it was, and to cancel is to end the process. Nothing is written to disk.
//!
//! Read in this order: `http`, requests and answers with limits on all of them; [`jobs`](crate::jobs), the checks; then this file,
//! what is asked and answered.

mod http;

use crate::jobs::{Jobs, Limits, Order, Outcome};
use crate::page;
use http::{Answer, Request};
use serde::Deserialize;
use serde_json::json;
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

/// Programs of the corpus that can be opened.
const EXAMPLES: [(&str, &str); 10] = [
    ("peterson-wrong.aw", include_str!("../../../corpus/aw/peterson-wrong.aw")),
    ("peterson.aw", include_str!("../../../corpus/aw/peterson.aw")),
    ("lock-recursive-wrong.aw", include_str!("../../../corpus/aw/lock-recursive-wrong.aw")),
    ("lock-recursive.aw", include_str!("../../../corpus/aw/lock-recursive.aw")),
    ("philosophers.aw", include_str!("../../../corpus/aw/philosophers.aw")),
    ("stack-aba.aw", include_str!("../../../corpus/aw/stack-aba.aw")),
    ("any-counter-lock-wrong.aw", include_str!("../../../corpus/aw/any-counter-lock-wrong.aw")),
    ("any-counter-lock.aw", include_str!("../../../corpus/aw/any-counter-lock.aw")),
    ("int-ticket-lock.aw", include_str!("../../../corpus/aw/int-ticket-lock.aw")),
    ("two-phase-commit.aw", include_str!("../../../corpus/aw/two-phase-commit.aw")),
];

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
    #[serde(default)]
    threads: String,
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
                let examples = EXAMPLES.map(|(name, text)| json!({ "name": name, "text": text }));
                let limits = self.jobs.limits();
                let json = json!({ "examples": examples, "seconds": limits.time.as_secs_f64() });
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
        let order = Order {
            program: asked.program.into_bytes(),
            threads: Some(asked.threads).filter(|threads| !threads.is_empty()),
            deadlock: asked.deadlock,
            time: asked.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
        };
        match self.jobs.run(&asked.session, &order, &|| http::has_gone(stream)) {
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
