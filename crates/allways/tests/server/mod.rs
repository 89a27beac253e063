//! `allways serve`, started for a test and ended with it, and a client that speaks HTTP by hand.

// Each test file is a crate of its own and uses some of this.
#![allow(dead_code)]

use crate::common::{command, folder};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

/// A program that takes longer than anybody waits.
pub const ENDLESS: &str = "shared 0..1000000 a; shared 0..1000000 b;\n\
    thread p[5] { 0..1000000 i; loop { i = (i + 1) % 1000000; a = (a + i) % 1000000; b = (b + a) % 1000000; } }\n\
    never a == 999999 && b == 1 && at(nowhere) >= 1;\nthread q { nowhere: skip; }\n";

pub const LOCK: &str = "shared bool taken;\nthread p[2] { loop { await !taken; taken = true; inside: skip; taken = false; } }\n\
    never at(inside) >= 2;\n";

/// The server.
pub struct Server {
    child: Child,
    pub port: u16,
    /// Where it runs.
    pub folder: PathBuf,
}

impl Server {
    pub fn start(test: &str, options: &str) -> Server {
        let folder = folder(test);
        let mut child = command(&format!("serve --port 0 {options}"))
            .current_dir(&folder)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let port = line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next());
        let port = port.and_then(|port| port.parse().ok()).unwrap_or_else(|| panic!("no port: {line}"));
        Server { child, port, folder }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until it has ended.
    pub fn wait(&mut self) {
        let _ = self.child.wait();
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a timeout");
        stream
    }

    /// Sends bytes and gives the status and the body of the answer; 0 if there is none.
    pub fn raw(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes);
        answer(&mut stream)
    }

    pub fn get(&self, path: &str, headers: &str) -> (u16, String) {
        self.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost:{}\r\n{headers}\r\n", self.port).as_bytes())
    }

    pub fn post(&self, path: &str, headers: &str, body: &str) -> (u16, String) {
        let (port, length) = (self.port, body.len());
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}Content-Length: {length}\r\n\r\n"
        );
        self.raw(format!("{head}{body}").as_bytes())
    }

    /// Asks for a check.
    pub fn check(&self, asked: &Value) -> (u16, Value) {
        let (status, body) = self.post("/check", "Content-Type: application/json\r\n", &asked.to_string());
        (status, serde_json::from_str(&body).unwrap_or(Value::Null))
    }

    pub fn cancel(&self, session: &str) -> bool {
        let asked = json!({ "session": session }).to_string();
        let (status, body) = self.post("/cancel", "Content-Type: application/json\r\n", &asked);
        assert_eq!(status, 200, "{body}");
        body.contains("true")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The status and the body of an answer; 0 if there is none.
pub fn answer(stream: &mut TcpStream) -> (u16, String) {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, text.split_once("\r\n\r\n").map(|(_, body)| body.to_string()).unwrap_or_default())
}
