//! The pages of `--html`, in a real browser: they step as `replay` does, fit small windows, and complain of nothing.

mod browser;
mod common;
mod server;

use browser::{Browser, Looked, browser};
use common::{Run, command, file, folder};
use std::path::Path;

/// Checks a program, and gives its page, and the rows of its trace as `replay` prints them.
fn report(folder: &Path, path: &str, options: &str) -> (String, Vec<String>) {
    let (html, trace) = (folder.join("report.html"), folder.join("trace"));
    let mut check = command("check");
    check.arg(path).args(options.split_whitespace()).arg("--html").arg(&html).arg("--evidence").arg(&trace);
    let checked = Run::of(check.output().expect("it starts"));
    assert!([0, 10].contains(&checked.code), "{checked:?}");
    let mut rows = Vec::new();
    if checked.code == 10 {
        let mut replay = command("replay");
        replay.arg(path).arg(&trace).args(options.split_whitespace()).env("COLUMNS", "1000");
        let replayed = Run::of(replay.output().expect("it starts"));
        assert_eq!(replayed.code, 0, "{replayed:?}");
        let table = replayed.out.lines().skip(1).filter(|line| !line.trim_start().starts_with("---"));
        rows = table
            .skip_while(|row| !row.starts_with(' ') || first(row).is_none())
            .map(str::to_string)
            .collect();
    }
    (format!("file://{}", html.display()), rows)
}

/// The number at the start of a row.
fn first(row: &str) -> Option<u32> {
    row.split_whitespace().next()?.parse().ok()
}

fn aw(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aw").join(name).display().to_string()
}

/// Steps through a page from the start to the end and compares each step with the row of `replay`.
fn steps_as_replay(page: &Looked, rows: &[String]) {
    assert_eq!(page.text("#what"), "At the start.");
    let last: usize =
        page.value("Number(document.getElementById('slider').max)").as_u64().expect("a number") as usize;
    assert!(last > 0 && rows.len() >= last, "{last} steps, {rows:#?}");
    for (step, row) in rows[..last].iter().enumerate() {
        page.press("ArrowRight");
        let (what, changed) = (page.text("#what"), page.text("#changed"));
        let line = format!("line {}:", first(row).expect("a line"));
        assert!(
            what.starts_with(&format!("Step {} of {last}: ", step + 1)) && what.contains(&line),
            "{what} / {row}"
        );
        let text = what.split_once(&line).expect("a text").1.trim();
        assert!(row.contains(text), "{what} / {row}");
        let values = changed.strip_prefix("Changed: ").unwrap_or("");
        assert!(row.ends_with(values), "{changed} / {row}");
        assert!(!values.is_empty() || row.trim_end().ends_with(text), "{changed} / {row}");
        for value in values.split(", ").filter(|value| !value.is_empty()) {
            let Some((name, value)) = value.split_once(" = ") else { continue };
            let state = page.value("[...document.querySelectorAll('#shared tr')].map(row => [row.cells[0].textContent, row.cells[1].textContent])");
            let panel = page.text("#threads");
            let shared = state.as_array().expect("rows").iter().any(|row| row[0] == name && row[1] == value);
            let local = name.rsplit('.').next().expect("a name");
            assert!(
                shared || panel.contains(&format!("{local} = {value}")),
                "{name} = {value}: {state}, {panel}"
            );
        }
    }
    assert_eq!(page.value("document.querySelector('[aria-label^=\"Step on\"]').disabled"), true);
    page.press("Home");
    assert_eq!(page.text("#what"), "At the start.");
    page.press("End");
    assert_eq!(page.text("#count"), format!("{last} / {last}"));
    page.press("ArrowLeft");
    assert_eq!(page.text("#count"), format!("{} / {last}", last - 1));
}

/// Whether the step that is shown, in the lane of its thread, is within the box of the lanes; a box may scroll smoothly.
const SEEN: &str = "(() => {
    const cell = document.querySelector('tr[aria-current] .moves').getBoundingClientRect();
    const box = document.querySelector('.lanes').parentNode.getBoundingClientRect();
    const number = document.querySelector('tr[aria-current] td').getBoundingClientRect();
    return cell.left >= number.right - 4 && cell.left < box.right && cell.top >= box.top - 1 && cell.bottom <= box.bottom + 1;
})()";

/// Looks at a page on a large and a small screen, in light and dark.
fn looks_well(page: &Looked, name: &str) {
    for (size, scheme) in
        [((1280, 900), "light"), ((1280, 900), "dark"), ((390, 844), "light"), ((390, 844), "dark")]
    {
        page.shape(size, scheme);
        page.fits();
        page.contrasts();
        page.picture(&format!("{name}-{}-{scheme}", size.0));
    }
    page.is_quiet();
}

fn unsafe_page(browser: &Browser, name: &str, path: &str, options: &str) -> Looked {
    let (url, rows) = report(&folder(&format!("pages-{name}")), path, options);
    let page = Looked::at(browser, &url);
    assert_eq!(page.text(".verdict"), "unsafe");
    steps_as_replay(&page, &rows);
    looks_well(&page, name);
    page
}

#[test]
fn reports_are_pages() {
    let Some(browser) = browser("reports") else { return };
    let page = unsafe_page(&browser, "unsafe", &aw("peterson-wrong.aw"), "");
    assert!(page.text(".lanes").contains("p[0]"));
    let page = unsafe_page(&browser, "recursive", &aw("lock-recursive-wrong.aw"), "");
    page.press("End");
    assert!(page.text("#threads").contains("returns to line"), "call stacks are shown");
    // Twelve threads that all move: more lanes than a small window shows at once.
    let text =
        "shared 0..12 arrived;\n\nthread worker[12] {\n  arrived = arrived + 1;\n}\n\nnever arrived == 12;\n";
    let path = file(&folder("pages-twelve-program"), "twelve.aw", text);
    let page = unsafe_page(&browser, "twelve", &path, "");
    assert_eq!(page.value("document.querySelectorAll('#threads .thread').length"), 12);
    assert_eq!(page.value("document.querySelectorAll('thead th.lane').length"), 12);
    page.shape((390, 844), "light");
    page.press("Home");
    for _ in 0..12 {
        page.press("ArrowRight");
        page.wait(SEEN);
    }

    let (url, _) = report(&folder("pages-safe"), &aw("peterson.aw"), "");
    let page = Looked::at(&browser, &url);
    assert_eq!(page.text(".verdict"), "safe");
    assert!(page.text("#places").contains("want[0] = true"), "{}", page.text("#places"));
    looks_well(&page, "safe");
    let (url, _) = report(&folder("pages-any"), &aw("any-counter-lock.aw"), "");
    let page = Looked::at(&browser, &url);
    assert!(page.text("main").contains("any number of threads"));
    looks_well(&page, "any");
    let (url, _) = report(&folder("pages-rules"), "lock-recursive.pds", "");
    looks_well(&Looked::at(&browser, &url), "rules");

    hostile_texts_stay_texts(&browser);
}

/// A file name, a label and a source that try to become markup.
fn hostile_texts_stay_texts(browser: &Browser) {
    let folder = folder("pages-hostile");
    let text = "// </script><script>console.error('hostile')</script><img src=x onerror=console.error(1)>\n\
                shared bool taken;\nthread p[2] { loop { await !taken; taken = true; inside: skip; taken = false; } }\n\
                never at(inside) >= 2; // <b>bold</b> \u{2028} {{story}} ]]>\n";
    let path = file(&folder, "<img src=x onerror=console.error(2)>&{{title}}.aw", text);
    let (html, mut check) = (folder.join("report.html"), command("check"));
    let checked = Run::of(check.arg(&path).arg("--html").arg(&html).output().expect("it starts"));
    assert_eq!(checked.code, 10, "{checked:?}");
    let page = Looked::at(browser, &format!("file://{}", html.display()));
    assert_eq!(page.value("document.querySelectorAll('img, b').length"), 0);
    assert!(page.text("h1").contains("<img src=x onerror=console.error(2)>&{{title}}.aw"));
    assert!(page.text(".source").contains("</script><script>"));
    page.is_quiet();
}

#[test]
fn a_page_tells_what_is_unknown() {
    let folder = folder("pages-unknown");
    let html = folder.join("report.html");
    let mut check = command("check lock-recursive.pds --engine free --timeout 200ms --html");
    let checked = Run::of(check.arg(&html).output().expect("it starts"));
    assert_eq!(checked.code, 5, "{checked:?}");
    let page = std::fs::read_to_string(&html).expect("a page");
    assert!(page.contains("the time limit was reached"), "{page}");
}

#[test]
fn the_served_page_checks_what_is_typed() {
    let Some(browser) = browser("served") else { return };
    let server = server::Server::start("pages-serve", "--timeout 30s");
    let url = format!("http://127.0.0.1:{}/", server.port);
    let page = Looked::at(&browser, &url);
    page.wait("document.body.dataset.ready === 'yes'");
    assert!(
        page.value("document.getElementById('program').value")
            .as_str()
            .is_some_and(|text| text.contains("never"))
    );
    page.value("document.getElementById('check').click()");
    page.wait("document.querySelector('.verdict')?.textContent === 'unsafe'");
    page.press("ArrowRight");
    assert!(page.text("#what").starts_with("Step 1 of"), "{}", page.text("#what"));
    looks_well(&page, "serve");

    let write = |text: &str| {
        let text = serde_json::to_string(text).expect("JSON");
        page.value(&format!("(document.getElementById('program').value = {text}, 1)"));
        page.value("document.getElementById('check').click()");
    };
    write("thread p { x = 1; }");
    page.wait("document.querySelectorAll('#errors li').length > 0");
    assert!(page.text("#errors").contains("line 1, column 12"), "{}", page.text("#errors"));
    page.value("document.querySelector('#errors button').click()");
    assert_eq!(page.value("document.getElementById('program').selectionStart"), 11);

    write(server::ENDLESS);
    page.wait("!document.getElementById('cancel').disabled");
    std::thread::sleep(std::time::Duration::from_millis(300));
    page.value("document.getElementById('cancel').click()");
    page.wait("document.getElementById('status').textContent === 'Cancelled.'");

    // Other notations, from the examples: rules have fields of their own, and a link has them, too.
    let choose = |name: &str| {
        page.value(&format!(
            "(document.getElementById('examples').value = {name:?}, document.getElementById('examples').dispatchEvent(new Event('change')))"
        ));
    };
    let hidden = "document.getElementById('rules').hidden";
    assert_eq!(page.value(hidden), true);
    choose("lock-racy.pds");
    assert_eq!(page.value(hidden), false);
    assert_eq!(page.value("document.getElementById('notation').value"), "pds");
    page.value("document.getElementById('check').click()");
    page.wait("document.getElementById('status').textContent.startsWith('unsafe')");
    looks_well(&page, "serve-rules");
    page.value("document.getElementById('share').click()");
    let link = page.value("location.href").as_str().expect("an address").to_string();
    let other = Looked::at(&browser, &link);
    other.wait("document.body.dataset.ready === 'yes'");
    let fields = "['notation', 'init', 'never'].map((id) => document.getElementById(id).value)";
    assert_eq!(other.value(fields), serde_json::json!(["pds", "0|0,0", "*|2,2"]));
    other.is_quiet();
    choose("readers-writers-wrong.spec");
    assert_eq!(page.value(hidden), true);
    page.value("document.getElementById('check').click()");
    page.wait("document.querySelector('h1 .verdict')?.textContent === 'unsafe' && document.getElementById('report').textContent.includes('Interleaving')");
    choose("peterson.aw");

    // A link opens the program that it was made of, whatever is in it.
    let text = "// é→😀 </script>\nthread p { skip; }\n";
    page.value(&format!(
        "(document.getElementById('program').value = {}, 1)",
        serde_json::to_string(text).expect("JSON")
    ));
    page.value("document.getElementById('share').click()");
    let link = page.value("location.href").as_str().expect("an address").to_string();
    let other = Looked::at(&browser, &link);
    other.wait("document.body.dataset.ready === 'yes'");
    assert_eq!(other.value("document.getElementById('program').value"), text);
    other.is_quiet();
    page.is_quiet();
}
