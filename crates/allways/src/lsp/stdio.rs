//! Messages of an editor on standard input and output, with limits on what comes in.
//!
//! The crate that knows the messages also reads them, but it takes every length on trust: a header can make it allocate whatever it says,
//! and end the process. So they are read here: a head of [`HEAD`] bytes at most, then a body of [`LONGEST`] at most, which is
//! never allocated before it has come.

use lsp_server::{Connection, Message};
use std::io::{self, BufRead, Read};
use std::thread::{self, JoinHandle};

/// The longest head of a message, in bytes.
const HEAD: usize = 4 << 10;

/// The longest body, in bytes.
const LONGEST: u64 = 64 << 20;

/// The threads that read and write.
pub struct Threads {
    reading: JoinHandle<io::Result<()>>,
    writing: JoinHandle<()>,
}

/// A connection over standard input and output.
pub fn connect() -> (Connection, Threads) {
    let (Connection { sender, receiver }, server) = Connection::memory();
    let reading = thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(message) = read(&mut input)? {
            let last = matches!(&message, Message::Notification(told) if told.method == "exit");
            if sender.send(message).is_err() || last {
                break;
            }
        }
        Ok(())
    });
    let writing = thread::spawn(move || {
        let mut output = io::stdout().lock();
        // Who does not take it has gone, which shows when nothing comes from there any more.
        let _ = receiver.into_iter().try_for_each(|message| message.write(&mut output));
    });
    (server, Threads { reading, writing })
}

impl Threads {
    /// Waits for the end of both, after nobody holds the connection any more. What was wrong with the input, if anything.
    pub fn join(self) -> io::Result<()> {
        let ended = |_| io::Error::other("a thread ended early");
        self.writing.join().map_err(ended)?;
        self.reading.join().map_err(ended)?
    }
}

fn wrong(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// The next message; none at the end of the input.
fn read(input: &mut impl BufRead) -> io::Result<Option<Message>> {
    let (mut length, mut head) = (None, 0);
    loop {
        let mut line = Vec::new();
        let read = input.by_ref().take((HEAD - head) as u64).read_until(b'\n', &mut line)?;
        if read == 0 && head == 0 {
            return Ok(None);
        }
        head += read;
        match line.pop() {
            Some(b'\n') => {}
            _ if head >= HEAD => return Err(wrong("the head of a message is too long".to_string())),
            _ => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if name.eq_ignore_ascii_case("content-length") {
            let value = value.trim();
            let number = value.parse::<u64>().map_err(|_| wrong(format!("{value:?} is no length")))?;
            if number > LONGEST {
                return Err(wrong(format!("a message of {number} bytes is too long")));
            }
            length = Some(number);
        }
    }
    let length = length.ok_or_else(|| wrong("a message has no Content-Length".to_string()))?;
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    serde_json::from_slice(&body).map(Some).map_err(|error| wrong(format!("a message is none: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Result<Vec<String>, String> {
        let mut input = text.as_bytes();
        let mut methods = Vec::new();
        while let Some(message) = read(&mut input).map_err(|error| error.to_string())? {
            match message {
                Message::Notification(told) => methods.push(told.method),
                other => panic!("{other:?}"),
            }
        }
        Ok(methods)
    }

    #[test]
    fn messages_are_read_one_after_the_other() {
        let message = |method: &str| {
            let body = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"}}");
            format!("Content-Length: {}\r\nContent-Type: x\r\n\r\n{body}", body.len())
        };
        assert_eq!(told(&(message("a") + &message("b"))).unwrap(), ["a", "b"]);
        assert_eq!(told(&message("a").to_lowercase()).unwrap(), ["a"], "names of headers have no case");
        assert_eq!(told("").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn what_is_none_is_refused() {
        let long = format!("X: {}\r\n\r\n", "y".repeat(1 << 20));
        for (text, why) in [
            ("Content-Length: 99999999999999\r\n\r\n{}", "too long"),
            ("Content-Length: 99999999999999999999999999\r\n\r\n{}", "no length"),
            ("Content-Length: -1\r\n\r\n{}", "no length"),
            ("Content-Length: 67108865\r\n\r\n{}", "too long"),
            ("X: 1\r\n\r\n{}", "no Content-Length"),
            ("Content-Length: 9\r\n\r\n{}", "unexpected end of file"),
            ("Content-Length: 2", "unexpected end of file"),
            ("Content-Length: 2\r\n\r\n[]", "none"),
            (long.as_str(), "head of a message is too long"),
        ] {
            let error = told(text).expect_err(why);
            assert!(error.contains(why), "{text:.40}: {error}");
        }
    }
}
