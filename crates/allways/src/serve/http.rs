//! One request and one answer per connection, with limits on all that a client can make large or slow.
//!
//! The head of a request is parsed by httparse. No more is understood than this server needs: no connection is kept, no body comes in
//! chunks. A client has [`PATIENCE`] for its whole request, however it drips.

use serde::de::DeserializeOwned;
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest head, in bytes.
const HEAD: usize = 16 << 10;

/// The most headers.
const HEADERS: usize = 64;

/// The longest body, in bytes.
const BODY: usize = 256 << 10;

/// How long a whole request may take to arrive, and a whole answer to be taken.
const PATIENCE: Duration = Duration::from_secs(10);

/// How much may come after a request before the client counts as gone, in bytes.
const REST: usize = 64 << 10;

/// What a client asks.
#[derive(Debug)]
pub struct Request {
    pub method: String,
    /// What comes after the host, without a query.
    pub path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// Reads a request; or says what to answer to what is none, nothing if nobody is there to be answered.
    pub fn read(mut stream: &TcpStream) -> Result<Request, Option<Answer>> {
        let deadline = Instant::now() + PATIENCE;
        let mut bytes = Vec::new();
        let mut more = |bytes: &mut Vec<u8>, room: usize| -> Result<usize, Option<Answer>> {
            let left = deadline.saturating_duration_since(Instant::now());
            let slow = || Some(Answer::refused(408, "the request took too long"));
            if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
                return Err(slow());
            }
            let mut part = [0; 4096];
            let room = room.min(part.len());
            match stream.read(&mut part[..room]) {
                Ok(0) => Err(None),
                Ok(length) => {
                    bytes.extend(&part[..length]);
                    Ok(length)
                }
                Err(_) => Err(slow()),
            }
        };
        let (mut request, head) = loop {
            if let Some(parsed) = Request::parsed(&bytes)? {
                break parsed;
            }
            if bytes.len() >= HEAD {
                return Err(Some(Answer::refused(431, "the head of the request is too long")));
            }
            let room = HEAD - bytes.len();
            more(&mut bytes, room)?;
        };
        if request.header("transfer-encoding").is_some() {
            return Err(Some(Answer::refused(411, "a body needs a Content-Length")));
        }
        let lengths: Vec<&str> = request
            .headers
            .iter()
            .filter(|(name, _)| name == "content-length")
            .map(|(_, value)| value.as_str())
            .collect();
        let length = match lengths[..] {
            [] => 0,
            [length] => match length.parse::<usize>() {
                Ok(length) if length <= BODY => length,
                Ok(_) => return Err(Some(Answer::refused(413, "the program is too long"))),
                Err(_) => return Err(Some(Answer::refused(400, "the Content-Length is none"))),
            },
            _ => return Err(Some(Answer::refused(400, "there is more than one Content-Length"))),
        };
        let mut body = bytes.split_off(head);
        while body.len() < length {
            let room = length - body.len();
            more(&mut body, room)?;
        }
        body.truncate(length);
        request.body = body;
        Ok(request)
    }

    /// The request whose head is here, and the length of the head; none if there is more to come.
    fn parsed(bytes: &[u8]) -> Result<Option<(Request, usize)>, Option<Answer>> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(bytes) {
            Ok(httparse::Status::Partial) => Ok(None),
            Ok(httparse::Status::Complete(head)) => {
                let named = |header: &httparse::Header| {
                    (
                        header.name.to_ascii_lowercase(),
                        String::from_utf8_lossy(header.value).trim().to_string(),
                    )
                };
                let path = parsed.path.unwrap_or_default();
                let request = Request {
                    method: parsed.method.unwrap_or_default().to_string(),
                    path: path.split(['?', '#']).next().unwrap_or_default().to_string(),
                    headers: parsed.headers.iter().map(named).collect(),
                    body: Vec::new(),
                };
                Ok(Some((request, head)))
            }
            Err(httparse::Error::TooManyHeaders) => {
                Err(Some(Answer::refused(431, "there are too many headers")))
            }
            Err(_) => Err(Some(Answer::refused(400, "this is no request"))),
        }
    }

    /// The value of a header, unless there is none, or more than one.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values =
            self.headers.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str());
        let value = values.next();
        match values.next() {
            None => value,
            Some(_) => Some(""),
        }
    }

    /// The body, if it is JSON of this shape and says so: a form of another page cannot.
    pub fn json<T: DeserializeOwned>(&self) -> Result<T, Answer> {
        let kind = self.header("content-type").and_then(|kind| kind.split(';').next()).unwrap_or_default();
        if !kind.trim().eq_ignore_ascii_case("application/json") {
            return Err(Answer::refused(415, "the body has to be application/json"));
        }
        serde_json::from_slice(&self.body)
            .map_err(|error| Answer::refused(400, &format!("the body: {error}")))
    }
}

/// What a client gets.
#[derive(Debug)]
pub struct Answer {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
}

impl Answer {
    /// A text.
    pub fn of(kind: &'static str, text: &str) -> Answer {
        Answer { status: 200, kind, body: text.as_bytes().to_vec() }
    }

    /// JSON that was made elsewhere.
    pub fn json(body: Vec<u8>) -> Answer {
        Answer { status: 200, kind: "application/json", body }
    }

    /// That it is refused, and why.
    pub fn refused(status: u16, why: &str) -> Answer {
        let body = serde_json::json!({ "verdict": "refused", "reason": why }).to_string().into_bytes();
        Answer { status, kind: "application/json", body }
    }

    /// Sends it. A client that does not take it has had its chance.
    pub fn send(&self, mut stream: &TcpStream) {
        let words = match self.status {
            200 => "OK",
            400 => "Bad Request",
            403 => "Forbidden",
            404 => "Not Found",
            405 => "Method Not Allowed",
            408 => "Request Timeout",
            409 => "Conflict",
            411 => "Length Required",
            413 => "Content Too Large",
            415 => "Unsupported Media Type",
            431 => "Request Header Fields Too Large",
            503 => "Service Unavailable",
            _ => "Internal Server Error",
        };
        let head = format!(
            "HTTP/1.1 {} {words}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
             X-Frame-Options: DENY\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; \
             connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n\r\n",
            self.status,
            self.kind,
            self.body.len()
        );
        let deadline = Instant::now() + PATIENCE;
        let sent = write_until(stream, head.as_bytes(), deadline)
            .and_then(|()| write_until(stream, &self.body, deadline));
        if sent.is_ok() && self.status != 200 {
            // What is left unread would make the system take back the answer.
            let _ = stream.shutdown(std::net::Shutdown::Write);
            let _ = stream.set_read_timeout(Some(Duration::from_millis(200)));
            let mut rest = [0; 4096];
            let started = Instant::now();
            while started.elapsed() < Duration::from_millis(500) {
                if !stream.read(&mut rest).is_ok_and(|length| length > 0) {
                    break;
                }
            }
        }
    }
}

/// Writes all of it before the deadline, however slowly it is taken: the timeout of a stream is about each call alone.
fn write_until(mut stream: &TcpStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => bytes = &bytes[length..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A connection whose request was read.
pub struct Waiting<'a> {
    stream: &'a TcpStream,
    /// How much has come after the request, in bytes; it means nothing.
    rest: Cell<usize>,
}

impl Waiting<'_> {
    pub fn new(stream: &TcpStream) -> Waiting<'_> {
        Waiting { stream, rest: Cell::new(0) }
    }

    /// Whether the client has closed the connection, or sends more than anybody needs to.
    pub fn has_gone(&self) -> bool {
        let _ = self.stream.set_read_timeout(Some(Duration::from_millis(1)));
        let mut part = [0; 4096];
        // That it is closed shows only behind what came before.
        while self.rest.get() < REST {
            match (&mut &*self.stream).read(&mut part) {
                Ok(0) => return true,
                Ok(length) => self.rest.set(self.rest.get() + length),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn parsed(text: &str) -> Result<Option<(Request, usize)>, u16> {
        Request::parsed(text.as_bytes()).map_err(|refused| refused.map_or(0, |refused| refused.status))
    }

    #[test]
    fn heads_are_read() {
        let (request, head) =
            parsed("POST /check?x HTTP/1.1\r\nHost: a\r\nX: 1\r\nx: 2\r\n\r\nbody").unwrap().unwrap();
        assert_eq!((request.method.as_str(), request.path.as_str(), head), ("POST", "/check", 47));
        assert_eq!(request.header("host"), Some("a"));
        assert_eq!(request.header("x"), Some(""), "said twice is not said");
        assert!(parsed("GET / HTTP/1.1\r\nHost").unwrap().is_none());
        assert_eq!(parsed("\u{0}\u{1}\r\n\r\n").unwrap_err(), 400);
        let many = "A: b\r\n".repeat(HEADERS + 1);
        assert_eq!(parsed(&format!("GET / HTTP/1.1\r\n{many}\r\n")).unwrap_err(), 431);
    }

    #[test]
    fn who_takes_an_answer_too_slowly_does_not_get_it() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut client = TcpStream::connect(listener.local_addr().expect("an address")).expect("connected");
        let (server, _) = listener.accept().expect("a connection");
        let taking = std::thread::spawn(move || {
            let mut part = [0; 4096];
            let mut taken = 0;
            while let Ok(length @ 1..) = client.read(&mut part) {
                taken += length;
                std::thread::sleep(Duration::from_millis(5));
            }
            taken
        });
        // More than the system keeps for a client. At this pace it would take a minute.
        let body = vec![b'x'; 64 << 20];
        let sent = write_until(&server, &body, Instant::now() + Duration::from_millis(300));
        assert!(sent.is_err());
        let _ = server.shutdown(std::net::Shutdown::Both);
        drop(server);
        // What the system still keeps is taken, or lost; the thread ends with the test if that takes long.
        drop(taking);
    }
}
