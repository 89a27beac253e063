//! Many workers, as users ask for them: threads, processes, hosts; and what happens when one is lost.
#![cfg(feature = "cluster")]

mod common;

use common::{Run, allways, command, file, folder};
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

/// A wheel in a folder: finite, and as large as its number says.
fn wheel(folder: &Path, threads: usize, k: u32) -> String {
    let family = allways_testkit::families::wheel(threads, k);
    file(folder, "wheel.init", family.init);
    file(folder, "wheel.spec", format!("0|{}\n", vec![(k + 7).to_string(); threads].join(",")));
    file(folder, "wheel.pds", family.pds)
}

#[test]
fn workers_and_processes_say_what_free_says() {
    let folder = folder("cluster-agrees");
    let wheel = wheel(&folder, 4, 4);
    let files = [wheel.as_str(), "lock-racy.pds", "../aw/peterson.aw", "../aw/peterson-wrong.aw"];
    for path in files {
        let free = allways(&format!("check {path} --engine free --json --stats"));
        for options in [
            "check --workers 1",
            "check --workers 3",
            "cluster --processes 2",
            "cluster --processes 3 --workers 2",
        ] {
            let run = allways(&format!("{options} {path} --json --stats"));
            assert_eq!(run.code, free.code, "{path} {options}: {run:?}");
            let (run, free) = (run.json(), free.json());
            for key in ["verdict", "certified", "steps", "violation", "end"] {
                assert_eq!(run[key], free[key], "{path} {options}: {key}");
            }
            assert_eq!(run["engine"], "cluster");
            if run["verdict"] == "safe" {
                assert_eq!(run["stored_states"], free["stored_states"], "{path} {options}");
                assert_eq!(run["evidence"], "shards");
                let workers = run["workers"].as_array().expect("one for each");
                let states: u64 = workers.iter().filter_map(|worker| worker["states"].as_u64()).sum();
                assert_eq!(Some(states), run["states"].as_u64());
                assert!(run["levels"].as_u64().is_some_and(|levels| levels > 0));
                assert!(run["skew"].as_f64().is_some_and(|skew| skew >= 1.0));
            }
        }
    }
}

#[test]
fn shards_are_written_and_checked_again() {
    let folder = folder("cluster-evidence");
    let wheel = wheel(&folder, 4, 4);
    let proof = folder.join("proof");
    let proof = proof.to_str().expect("a plain path");
    let run = allways(&format!("cluster --processes 2 --workers 2 {wheel} --no-symmetry --evidence {proof}"));
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.contains("625 states in 4 shards, certified"), "{run:?}");
    assert!((0..4).all(|worker| Path::new(&format!("{proof}.{worker}")).exists()));
    for workers in ["", "--workers 1", "--workers 3"] {
        let again = allways(&format!("certify {wheel} {proof} {workers}"));
        assert_eq!(again.code, 0, "{again:?}");
    }
    fs::remove_file(format!("{proof}.2")).expect("it was written");
    for workers in ["", "--workers 2"] {
        let again = allways(&format!("certify {wheel} {proof} {workers}"));
        assert_eq!(again.code, 20, "{again:?}");
    }
}

#[test]
fn what_workers_cannot_do_is_refused_with_the_reason() {
    let folder = folder("cluster-refused");
    let counted = file(&folder, "net.spec", "vars x\nrules x >= 1 -> x' = x;\ninit x = 1\ntarget x >= 2\n");
    for (arguments, why) in [
        (format!("check {counted} --workers 2"), "does not support counter systems"),
        ("check ../aw/any-spin-lock.aw --workers 2".to_string(), "give --threads"),
        ("check lock-racy.pds --workers 2 --contexts 3".to_string(), "does not support --contexts"),
        ("check lock-racy.pds --workers 2 --engine free".to_string(), "cannot be used with"),
        ("check lock-racy.pds lock-racy.pds --workers 2".to_string(), "one file"),
        ("check lock-racy.pds --checkpoint x".to_string(), "give --workers N"),
        ("check lock-racy.pds --hosts nowhere --process 0".to_string(), "cannot read nowhere"),
        ("check lock-racy.pds --workers 0".to_string(), "0 is not in 1"),
    ] {
        let run = allways(&arguments);
        assert_eq!(run.code, 2, "{arguments}: {run:?}");
        assert!(run.err.contains(why), "{arguments}: {run:?}");
    }
}

/// What a small check takes, and so many megabytes more: a limit on memory.
fn little_memory(more: u64) -> u64 {
    let small = allways("check lock-racy.pds --workers 1 --json").json();
    small["peak_bytes"].as_u64().expect("a number") + (more << 20)
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("a folder").next().is_none()
}

/// What does not fit into memory goes to disk, also of a run that goes on from one that ran out of memory. With `ALLWAYS_LONG`, the same
/// of a proof, its check, and the check of its shards.
#[test]
fn states_are_put_on_disk_where_memory_runs_out() {
    let folder = folder("cluster-spill");
    let wheel = wheel(&folder, 5, 16);
    let [proof, place, kept] = ["proof", "place", "kept"].map(|name| folder.join(name).display().to_string());
    fs::create_dir(&place).expect("a folder");
    // Its 17^5 states take 21 MB or more. This one is the farthest but for those where threads have gone around: 16 steps of each thread.
    let check = format!("check {wheel} --no-symmetry --workers 1 --json --target 0|16,16,16,16,16");
    let short = allways(&format!("{check} --memory {} --checkpoint {kept}", little_memory(8)));
    assert_eq!(short.code, 5, "{short:?}");
    assert_eq!(short.json()["reason"], "the memory limit was reached");
    let spilling = format!("--memory {} --spill {place}", little_memory(14));
    for more in ["", &format!("--resume {kept}")] {
        let run = allways(&format!("{check} {spilling} {more}"));
        let said = run.json();
        assert_eq!((run.code, &said["steps"]), (10, &80.into()), "{run:?}");
        assert!(said["workers"][0]["disk_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{said}");
        assert!(is_empty(Path::new(&place)), "nothing is left");
    }
    if std::env::var_os("ALLWAYS_LONG").is_none() {
        return;
    }
    let check = format!("check {wheel} --no-symmetry --workers 1 --json --evidence {proof}");
    let run = allways(&format!("{check} {spilling}"));
    let said = run.json();
    assert_eq!(
        (run.code, &said["certified"], &said["states"]),
        (0, &true.into(), &1_419_857.into()),
        "{run:?}"
    );
    assert!(said["workers"][0]["disk_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{said}");
    let certify = format!("certify {wheel} {proof} --workers 1 --no-target");
    let again = allways(&format!("{certify} {spilling}"));
    assert_eq!(again.code, 0, "{again:?}");
    assert!(is_empty(Path::new(&place)));
}

/// Shards are checked with a place on disk, with the same result.
#[test]
fn shards_are_checked_with_a_place_on_disk() {
    let folder = folder("cluster-certify-spill");
    let wheel = wheel(&folder, 4, 8);
    let [proof, place] = ["proof", "place"].map(|name| folder.join(name).display().to_string());
    let run = allways(&format!(
        "check {wheel} --no-symmetry --workers 2 --spill {place} --evidence {proof} --json"
    ));
    assert_eq!((run.code, &run.json()["states"]), (0, &9_u64.pow(4).into()), "{run:?}");
    for workers in 1..=3 {
        let again = allways(&format!("certify {wheel} {proof} --workers {workers} --spill {place}"));
        assert_eq!(again.code, 0, "{again:?}");
    }
    assert!(is_empty(Path::new(&place)));
    let nowhere = allways(&format!("certify {wheel} {proof} --workers 1 --spill {wheel}"));
    assert_eq!(nowhere.code, 2, "{nowhere:?}");
    assert!(nowhere.err.contains("it is no folder"), "{nowhere:?}");
    // A shard that is not what it was is rejected.
    let shard = format!("{proof}.0");
    let bytes = fs::read(&shard).expect("it was written");
    fs::write(&shard, &bytes[..bytes.len() - 40]).expect("it can be written");
    let less = allways(&format!("certify {wheel} {proof} --workers 2 --spill {place}"));
    assert_eq!(less.code, 20, "{less:?}");
}

#[test]
fn a_place_for_states_that_cannot_be_used_is_named() {
    let folder = folder("cluster-no-place");
    let file = file(&folder, "file", "");
    let run = allways(&format!("check lock-racy.pds --workers 1 --spill {file}"));
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains(&file) && run.err.contains("it is no folder"), "{run:?}");
    // A disk that is full: a small one, in a namespace where it can be mounted.
    let (wheel, memory) = (wheel(&folder, 5, 16), little_memory(14));
    let place = folder.join("place");
    fs::create_dir(&place).expect("a folder");
    let check = format!(
        "{} check {wheel} --no-symmetry --workers 1 --memory {memory} --spill {} --json",
        env!("CARGO_BIN_EXE_allways"),
        place.display()
    );
    let mount = format!("mount -t tmpfs -o size=256k none {} || exit 77; exec {check}", place.display());
    let run = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &mount])
        .output();
    match run {
        Ok(output) if output.status.code() == Some(5) => {
            let said = Run::of(output).json();
            let why = said["reason"].as_str().unwrap_or_default();
            assert!(why.contains("cannot keep states in") && why.contains("No space left"), "{said}");
        }
        Ok(output) if matches!(output.status.code(), Some(1 | 77)) => {
            eprintln!("skipped: a full disk: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(output) => panic!("{output:?}"),
        Err(error) => eprintln!("skipped: a full disk: unshare does not run here: {error}"),
    }
}

/// Starts processes for a file, each with a file of its own for what it prints.
fn start(folder: &Path, processes: usize, check: &str) -> Vec<Child> {
    let taken: Vec<std::net::TcpListener> =
        (0..processes).map(|_| std::net::TcpListener::bind("127.0.0.1:0").expect("a port")).collect();
    let lines = taken.iter().map(|taken| format!("{}\n", taken.local_addr().expect("an address")));
    let hosts = file(folder, "hosts", lines.collect::<String>());
    drop(taken);
    (0..processes)
        .map(|process| {
            command(&format!("check {check} --hosts {hosts} --process {process} --json"))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("it starts")
        })
        .collect()
}

#[test]
fn a_process_that_is_killed_ends_the_others_with_the_reason() {
    let folder = folder("cluster-killed");
    let wheel = wheel(&folder, 6, 16);
    let kept = folder.join("kept");
    let check = format!("{wheel} --no-symmetry --memory 4G --checkpoint {}", kept.display());
    let mut processes = start(&folder, 3, &check);
    thread::sleep(Duration::from_millis(2500));
    let mut killed = processes.remove(1);
    killed.kill().expect("it runs");
    killed.wait().expect("it ends");
    let fault = Instant::now();
    for process in processes {
        let run = Run::of(process.wait_with_output().expect("it ends"));
        assert!(fault.elapsed() < Duration::from_secs(10), "{:?}", fault.elapsed());
        assert_eq!(run.code, 5, "{run:?}");
        let said = run.json();
        assert!(said["reason"].as_str().is_some_and(|why| why.contains("process 1")), "{said}");
        assert!(said["states"].as_u64().is_some_and(|states| states > 0), "{said}");
        assert!(!run.err.contains("internal error"), "{run:?}");
    }
    assert!(kept.join("worker-0.record").exists());
}

/// Runs the script of namespaces; nothing where they are not permitted.
fn namespaces(scenario: &str, file: &str, options: &str) -> Option<Vec<(i32, f64, Value)>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/namespaces");
    let output = std::process::Command::new(script)
        .args([env!("CARGO_BIN_EXE_allways"), "4", scenario, file, "--json"])
        .args(options.split_whitespace())
        .output();
    let output = match output {
        Ok(output) if output.status.code() != Some(77) => output,
        Ok(output) => {
            eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr).trim());
            return None;
        }
        Err(error) => {
            eprintln!("skipped: the script of namespaces does not run here: {error}");
            return None;
        }
    };
    let text = String::from_utf8(output.stdout).expect("text");
    let line = |line: &str| {
        let mut words = line.splitn(4, ' ').skip(1);
        let code = words.next()?.parse().ok()?;
        let seconds = words.next()?.parse().ok()?;
        Some((code, seconds, serde_json::from_str(words.next()?).unwrap_or(Value::Null)))
    };
    Some(text.lines().map(|text| line(text).unwrap_or_else(|| panic!("{text}"))).collect())
}

#[test]
fn four_hosts_in_network_namespaces() {
    let folder = folder("cluster-namespaces");
    let small = wheel(&folder, 4, 8);
    let Some(said) = namespaces("plain", &small, "--no-symmetry") else { return };
    assert_eq!(said.len(), 4);
    for (code, _, said) in &said {
        assert_eq!((*code, &said["states"]), (0, &Value::from(6561)), "{said}");
    }
    let large = wheel(&folder, 5, 16);
    let kept = folder.join("kept");
    for (scenario, lost) in [("kill=2", "is closed"), ("cut=2", "was not heard of")] {
        let _ = fs::remove_dir_all(&kept);
        let options = format!("--no-symmetry --memory 4G --checkpoint {}", kept.display());
        let said = namespaces(scenario, &large, &options).expect("they were permitted before");
        for (host, (code, seconds, said)) in said.iter().enumerate() {
            if scenario.starts_with("kill") && host == 1 {
                continue;
            }
            assert_eq!(*code, 5, "{scenario}, host {host}: {said}");
            assert!(*seconds < 10.0, "{scenario}, host {host}: {seconds} s");
            let why = said["reason"].as_str().unwrap_or_default();
            assert!(why.contains(lost) || why.contains("stopped:"), "{scenario}, host {host}: {why}");
        }
    }
    // Another number of workers, on one host, goes on from what the four had kept.
    let resumed =
        allways(&format!("check {large} --no-symmetry --workers 2 --resume {} --json", kept.display()));
    assert_eq!(resumed.code, 0, "{resumed:?}");
    assert_eq!(resumed.json()["states"], 1_419_857);
}

/// Every program of the corpus that `free` decides within a moment. With `ALLWAYS_LONG`, for longer, and by 1, 2, 3 and 4 workers each, in
/// threads and in processes that are started as users start them.
#[test]
fn programs_of_the_corpus() {
    use allways::{Budget, Engine, Options, Verdict, load};
    use allways_cluster::{Cluster, Settings};
    use allways_engines::below::free::Free;
    use allways_engines::confirm::confirm;
    use allways_engines::{Forms, Question};
    let long = std::env::var_os("ALLWAYS_LONG").is_some();
    let patience = Duration::from_millis(if long { 10_000 } else { 100 });
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aw");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the programs of the corpus")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "aw"))
        .collect();
    paths.sort();
    let (mut decided, mut wrong, mut in_processes) = (0, 0, 0);
    for (index, path) in paths.iter().enumerate() {
        let Ok(loaded) = load(path, &Options::default(), &Budget::unlimited()) else { continue };
        let mut task = loaded.task;
        let opened = task.is_open();
        if opened {
            task.threads = "2".parse().expect("a number of threads");
        }
        let question = Question { no_symmetry: index % 2 == 0, ..Question::default() };
        let forms = Forms::new(&task, &question);
        if Free.supports(&forms).is_err() || task.is_open() {
            continue;
        }
        let said = |engine: &dyn Engine, budget: &Budget| {
            let mut outcome = engine.run(&forms, budget);
            confirm(&forms, &mut outcome, &Budget::unlimited());
            assert!(outcome.rejected.is_none(), "{}: {:?}", path.display(), outcome.rejected);
            match outcome.verdict {
                Verdict::Safe(_) => Some((None, outcome.figures.concrete_states)),
                Verdict::Unsafe(counterexample) => {
                    Some((counterexample.trace().map(|trace| trace.steps.len()), None))
                }
                Verdict::Unknown(_) => None,
            }
        };
        let Some(expected) = said(&Free, &Budget::of_time(patience)) else { continue };
        decided += 1;
        wrong += usize::from(expected.0.is_some());
        let counts = if long { vec![1, 2, 3, 4] } else { vec![1 + index % 4] };
        for workers in counts {
            // Rules that were made and found missing before are not told again.
            let cluster = Cluster::new(Settings::threads(workers));
            let found = said(&cluster, &Budget::unlimited());
            assert_eq!(found, Some(expected), "{}, {workers} workers", path.display());
            if long {
                let symmetry = if question.no_symmetry { "--no-symmetry" } else { "" };
                let threads = if opened { "--threads 2" } else { "" };
                let options = format!("{} {symmetry} {threads} --quiet", path.display());
                let run = allways(&format!("cluster {options} --processes {workers} --json --stats")).json();
                let steps = expected.0.map_or(Value::Null, Value::from);
                let verdict = if expected.0.is_some() { "unsafe" } else { "safe" };
                assert_eq!(run["verdict"], verdict, "{options}, {workers} processes: {run}");
                // A trace of the program may be told in more steps than the search took; states are counted as they are stored.
                if let Some(states) = expected.1 {
                    assert_eq!(run["stored_states"], states, "{options}, {workers} processes: {run}");
                }
                in_processes +=
                    usize::from(run["certified"] == true && (steps.is_null() || run["steps"].is_u64()));
            }
        }
    }
    println!("{decided} programs, {wrong} of them wrong; {in_processes} runs in processes");
    assert!(decided > 100 && wrong > 20, "{decided} decided, {wrong} of them wrong");
    assert!(
        !long || in_processes == 4 * decided,
        "{in_processes} certified in processes of {decided} programs"
    );
}

/// What a run of the program says that must not depend on who says it.
fn said(arguments: &str) -> (i32, [Value; 4]) {
    let run = allways(&format!("{arguments} --json --stats"));
    let answer = run.json();
    let states = if answer["verdict"] == "safe" { answer["stored_states"].clone() } else { Value::Null };
    (run.code, [answer["verdict"].clone(), answer["certified"].clone(), answer["steps"].clone(), states])
}

/// Random systems, by processes that are started as users start them; `ALLWAYS_RANDOM` sets how many.
#[test]
fn random_systems_in_processes() {
    use allways_testkit::random;
    let folder = folder("cluster-random");
    let mut verdicts = std::collections::BTreeMap::new();
    for seed in random::seeds(6) {
        let system = random::system(seed, random::SMALL);
        let path = file(&folder, "random.pds", allways_lang::pds::write(&system));
        file(&folder, "random.init", allways_model::notation::show_state(&system, &system.initial));
        let threads = system.threads.len();
        let top =
            |thread: usize| if (seed >> thread).is_multiple_of(3) { "*" } else { ["0", "1"][thread % 2] };
        let target = format!("*|{}", (0..threads).map(top).collect::<Vec<_>>().join(","));
        let property = if seed % 3 == 0 { "--deadlock".to_string() } else { format!("--target {target}") };
        let options = format!("{path} {property} --max-depth 3 --no-symmetry --quiet");
        let free = said(&format!("check {options} --engine free"));
        *verdicts.entry(free.1[0].to_string()).or_insert(0) += 1;
        for processes in 1..=4 {
            let found = said(&format!("cluster {options} --processes {processes}"));
            assert_eq!(found, free, "system {seed}, {property}, {processes} processes");
        }
    }
    println!("{verdicts:?}");
}

/// Without its feature, nothing of timely is in the program.
#[test]
fn the_feature_is_what_depends_on_timely() {
    let tree = |options: &[&str]| {
        let output = std::process::Command::new(env!("CARGO"))
            .args(["tree", "--offline", "--locked", "-p", "allways", "-e", "normal", "--prefix", "none"])
            .args(options)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo runs the tests");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    assert!(tree(&[]).contains("timely"));
    assert!(!tree(&["--no-default-features"]).contains("timely"));
}
