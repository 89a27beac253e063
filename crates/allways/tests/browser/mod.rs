//! Pages in a real browser: Chromium without a window, asked by its own protocol (DevTools) over a WebSocket. Where it is missing, a note says
//! what is left out.

// Each test file is a crate of its own and uses some of this.
#![allow(dead_code)]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tungstenite::{Message, WebSocket};

/// Chromium; it ends with the test.
pub struct Browser {
    child: Child,
    port: u16,
    /// The address of the browser itself.
    address: String,
}

/// Chromium, if it is there. Each test has its own.
pub fn browser(test: &str) -> Option<Browser> {
    let there = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        let version =
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    });
    let Some(name) = there else {
        eprintln!("skipped: no chromium, so pages are not looked at");
        return None;
    };
    let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("chromium-{test}"));
    let _ = fs::remove_dir_all(&profile);
    let mut child = Command::new(name)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"])
        .args(["--no-first-run", "--remote-debugging-port=0", "--window-size=1280,900"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("about:blank")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("chromium starts");
    let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    let address = loop {
        line.clear();
        assert!(said.read_line(&mut line).expect("a line") > 0, "chromium says where it listens");
        if let Some((_, address)) = line.trim().split_once("DevTools listening on ") {
            break address.to_string();
        }
    };
    // What else it says is of no interest, but has to go somewhere.
    std::thread::spawn(move || said.read_to_end(&mut Vec::new()));
    let port =
        address.split(':').nth(2).and_then(|rest| rest.split('/').next()).and_then(|port| port.parse().ok());
    Some(Browser { child, port: port.expect("a port"), address })
}

impl Browser {
    fn connect(&self, address: &str) -> Tab {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        let (socket, _) = tungstenite::client(address, stream).expect("a WebSocket");
        Tab { socket, next: 0, complaints: Vec::new() }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection to a page.
struct Tab {
    socket: WebSocket<TcpStream>,
    next: u64,
    complaints: Vec<String>,
}

impl Tab {
    /// Calls a method of the protocol; what the page complains about meanwhile is noted.
    fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let message = json!({ "id": id, "method": method, "params": params }).to_string();
        self.socket.send(Message::text(message)).expect("it listens");
        loop {
            let Message::Text(text) = self.socket.read().expect("it answers") else { continue };
            let message: Value = serde_json::from_str(&text).expect("JSON");
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            let noted = ["Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"];
            if message["method"].as_str().is_some_and(|method| noted.contains(&method)) {
                self.complaints.push(message.to_string());
            }
        }
    }
}

/// A page, and what went wrong on it.
pub struct Looked(RefCell<Tab>);

impl Looked {
    /// Opens a page.
    pub fn at(browser: &Browser, url: &str) -> Looked {
        let made =
            browser.connect(&browser.address).call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = made["targetId"].as_str().expect("a target");
        let mut tab = browser.connect(&format!("ws://127.0.0.1:{}/devtools/page/{target}", browser.port));
        for domain in ["Page.enable", "Log.enable", "Runtime.enable"] {
            tab.call(domain, json!({}));
        }
        tab.call("Page.navigate", json!({ "url": url }));
        let page = Looked(RefCell::new(tab));
        page.wait("document.readyState === 'complete' && location.href !== 'about:blank'");
        page
    }

    fn call(&self, method: &str, params: Value) -> Value {
        self.0.borrow_mut().call(method, params)
    }

    /// The value of an expression.
    pub fn value(&self, expression: &str) -> Value {
        let asked = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// The text of an element.
    pub fn text(&self, selector: &str) -> String {
        let selected = format!("document.querySelector({selector:?})?.textContent ?? ''");
        self.value(&selected).as_str().expect("a text").to_string()
    }

    /// Waits until an expression is true.
    pub fn wait(&self, expression: &str) {
        for _ in 0..600 {
            if self.value(expression) == Value::Bool(true) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        panic!("never true: {expression}; on the page: {}", self.text("body"));
    }

    /// Presses a key that moves.
    pub fn press(&self, key: &str) {
        let codes = [("ArrowLeft", 37), ("ArrowRight", 39), ("Home", 36), ("End", 35)];
        let code = codes.iter().find(|(name, _)| *name == key).expect("a known key").1;
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Makes the window so large, and light or dark.
    pub fn shape(&self, (width, height): (u32, u32), scheme: &str) {
        let mobile = width < 600;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call("Emulation.setEmulatedMedia", json!({ "features": [feature] }));
    }

    /// Takes a picture, for people to look at.
    pub fn picture(&self, name: &str) -> PathBuf {
        let taken = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = STANDARD.decode(taken["data"].as_str().expect("a picture")).expect("base64");
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.png"));
        fs::write(&path, bytes).expect("a file");
        path
    }

    /// Nothing sticks out of the window to the side.
    pub fn fits(&self) {
        let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
        assert_eq!(self.value(fits), true, "the page is wider than the window");
    }

    /// Every text has a contrast of 4.5 to what is behind it, as WCAG asks for.
    pub fn contrasts(&self) {
        let poor = self.value(include_str!("contrast.js"));
        assert_eq!(poor, json!([]), "texts with too little contrast");
    }

    /// Nothing was complained about.
    pub fn is_quiet(&self) {
        // What was said before this call is there when it is answered.
        self.value("1");
        let complaints = &self.0.borrow().complaints;
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
}
