//! All reachable states of a finite system, listed in shards: files that can be made, kept and checked by many machines.
//!
//! A shard is a set of states as [bytes](Pushdown::state_bytes), which mean the same in every process. Where threads are of one
//! kind, a state stands for all its renamings, and is listed as the one whose stacks, as bytes, ascend within each kind: its
//! [canonical](Closure::canonical) form. What the shards list *together* proves that nothing else is reachable, if
//!
//! * every initial state is listed, in canonical form;
//! * whatever a listed state becomes when a thread moves by one of its rules ([`State::step`]) is listed, in canonical form;
//! * no listed state violates the property, under any renaming within kinds; and
//! * threads of one kind have the same rules, and end alike, at every shared state and top that is listed. Then a step of a
//!   renamed state is a renaming of a step of the listed one, as in [`induct`](mod@crate::induct).
//!
//! All four speak of one state at a time, and of whether others are listed. So [`Closure`] looks at one state and hands out
//! what must be listed, and whoever runs it finds out whether it is: here, by one set of all shards; in a cluster, by asking
//! the worker that has the shard in which the state would be. There, states are spread by [`fingerprint`], which decides who is
//! asked and nothing else: membership is a comparison of bytes.
//!
//! The digest of a file tells which file a manifest means, and that it arrived as it was written. It is no part of the proof.

use crate::rejection::{Rejection, shorten};
use crate::{Stop, StopReason};
use allways_model::bytes::{read_number, write_number};
use allways_model::notation::show_state;
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Rule, Shared, State, Symbol};
use allways_model::symmetry::Kinds;
use hashbrown::{HashSet, HashTable};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// The first line of a shard.
const MAGIC: &[u8] = b"allways shard 1\n";

/// States looked at between two looks at the limits.
const PACE: usize = 1 << 10;

/// The list of the shards: what a file of evidence says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shards {
    /// Which threads can be renamed.
    pub kinds: Kinds,
    /// The shards, in the order of their workers.
    pub files: Vec<ShardFile>,
    /// The folder of the files.
    pub folder: PathBuf,
}

/// One shard.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShardFile {
    /// The name of its file, without folder; nothing if it was never written.
    pub name: String,
    /// How many states it lists.
    pub states: u64,
    /// The [`Digest`] of the file.
    pub digest: u128,
}

impl Shards {
    /// How many states are listed.
    pub fn states(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.states))
    }
}

/// FNV-1a with 128 bits, of bytes as they come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Digest(pub u128);

impl Default for Digest {
    fn default() -> Digest {
        Digest(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Digest {
    /// Takes in more bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}

/// 64 mixed bits of a state's bytes, the same in every process.
pub fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64 ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let product = u128::from(hash ^ u64::from_le_bytes(word)) * 0xd6e8_feb8_6659_fd93;
        hash = (product >> 64) as u64 ^ product as u64;
    }
    hash
}

/// A set of states as bytes, one after another in one array, each with its length before it.
#[derive(Default)]
pub struct StateSet {
    bytes: Vec<u8>,
    /// Where each state starts in `bytes`.
    index: HashTable<u64>,
}

impl StateSet {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// How many bytes it holds.
    pub fn held(&self) -> usize {
        self.bytes.capacity() + self.index.capacity() * 9
    }

    /// Adds a state; whether it is new.
    pub fn insert(&mut self, state: &[u8]) -> bool {
        let hash = fingerprint(state);
        let StateSet { bytes, index } = self;
        if index.find(hash, |&start| at(bytes, start) == state).is_some() {
            return false;
        }
        let start = bytes.len() as u64;
        write_number(state.len() as u64, bytes);
        bytes.extend_from_slice(state);
        index.insert_unique(hash, start, |&start| fingerprint(at(bytes, start)));
        true
    }

    /// Whether a state is there.
    pub fn contains(&self, state: &[u8]) -> bool {
        self.index.find(fingerprint(state), |&start| at(&self.bytes, start) == state).is_some()
    }

    /// The state at this place, and the next place: to walk the set from place 0 while others ask it.
    pub fn at(&self, place: usize) -> Option<(&[u8], usize)> {
        let mut rest = self.bytes.get(place..).filter(|rest| !rest.is_empty())?;
        let length = read_number(&mut rest)? as usize;
        Some((&rest[..length], self.bytes.len() - rest.len() + length))
    }

    /// The states, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut place = 0;
        std::iter::from_fn(move || {
            let (state, next) = self.at(place)?;
            place = next;
            Some(state)
        })
    }

    /// Writes the shard to a file of this name in a folder, complete or not at all.
    pub fn write(&self, folder: &Path, name: String) -> io::Result<ShardFile> {
        let mut writer = ShardWriter::to(folder, name)?;
        writer.add(self)?;
        writer.finish()
    }
}

/// Writes a shard set by set, to a file or only for what the list says about it.
pub struct ShardWriter {
    out: Option<BufWriter<File>>,
    folder: PathBuf,
    file: ShardFile,
}

impl ShardWriter {
    /// To a file of this name in a folder, which is there when all was written, or not at all.
    pub fn to(folder: &Path, name: String) -> io::Result<ShardWriter> {
        let mut out = BufWriter::new(File::create(folder.join(format!("{name}.partial")))?);
        out.write_all(MAGIC)?;
        Ok(ShardWriter { out: Some(out), folder: folder.to_path_buf(), file: ShardFile::empty(name) })
    }

    /// To nowhere.
    pub fn nowhere() -> ShardWriter {
        ShardWriter { out: None, folder: PathBuf::new(), file: ShardFile::empty(String::new()) }
    }

    /// Adds states, none of which was added before.
    pub fn add(&mut self, set: &StateSet) -> io::Result<()> {
        let mut digest = Digest(self.file.digest);
        digest.add(&set.bytes);
        self.file.digest = digest.0;
        self.file.states += set.len() as u64;
        self.out.as_mut().map_or(Ok(()), |out| out.write_all(&set.bytes))
    }

    /// What the list says about it.
    pub fn finish(self) -> io::Result<ShardFile> {
        let ShardWriter { out, folder, file } = self;
        if let Some(out) = out {
            out.into_inner()?.sync_all()?;
            std::fs::rename(folder.join(format!("{}.partial", file.name)), folder.join(&file.name))?;
        }
        Ok(file)
    }
}

impl ShardFile {
    fn empty(name: String) -> ShardFile {
        let mut digest = Digest::default();
        digest.add(MAGIC);
        ShardFile { name, states: 0, digest: digest.0 }
    }
}

fn at(bytes: &[u8], start: u64) -> &[u8] {
    let mut rest = &bytes[start as usize..];
    let length = read_number(&mut rest).unwrap_or_default() as usize;
    &rest[..length]
}

/// Reads a shard, state by state; fails if it is not the file that the manifest means.
pub fn read_shard(
    folder: &Path,
    file: &ShardFile,
    each: &mut dyn FnMut(&[u8]) -> Result<(), Rejection>,
) -> Result<(), Rejection> {
    let path = folder.join(&file.name);
    let unreadable = |error: io::Error| Rejection::Malformed(format!("{}: {error}", path.display()));
    let mut reader = BufReader::with_capacity(1 << 16, File::open(&path).map_err(unreadable)?);
    let mut digest = Digest::default();
    let mut magic = vec![0; MAGIC.len()];
    reader.read_exact(&mut magic).map_err(unreadable)?;
    digest.add(&magic);
    let mut states = 0;
    let mut state = Vec::new();
    let mut prefix = Vec::new();
    let cut = || Rejection::Malformed(format!("{} is cut short", path.display()));
    while !reader.fill_buf().map_err(unreadable)?.is_empty() {
        prefix.clear();
        loop {
            let mut byte = [0];
            reader.read_exact(&mut byte).map_err(|_| cut())?;
            prefix.push(byte[0]);
            if byte[0] < 0x80 || prefix.len() > 9 {
                break;
            }
        }
        let length = read_number(&mut &prefix[..]).ok_or_else(cut)?;
        state.clear();
        // As much as there is, whatever the length says.
        (&mut reader).take(length).read_to_end(&mut state).map_err(unreadable)?;
        if (state.len() as u64) < length {
            return Err(cut());
        }
        digest.add(&prefix);
        digest.add(&state);
        states += 1;
        each(&state)?;
    }
    if magic != MAGIC || states != file.states || digest.0 != file.digest {
        return Err(Rejection::Malformed(format!("{} is not the shard that is meant", path.display())));
    }
    Ok(())
}

/// What must hold of each state that is listed; see the module.
pub struct Closure<'a> {
    system: &'a dyn Pushdown,
    property: &'a Property,
    kinds: &'a Kinds,
    /// Where threads of one kind were found to be alike.
    alike: HashSet<(usize, Shared, Symbol)>,
}

impl<'a> Closure<'a> {
    /// For a system and a property; fails if shards say nothing about such a system.
    pub fn new(
        system: &'a dyn Pushdown,
        property: &'a Property,
        kinds: &'a Kinds,
    ) -> Result<Closure<'a>, Rejection> {
        if kinds.threads() != system.threads() {
            let (listed, threads) = (kinds.threads(), system.threads());
            return Err(Rejection::Malformed(format!("states of {listed} threads, not {threads}")));
        }
        if let Some(thread) = (0..system.threads()).find(|&thread| system.many(thread)) {
            let what =
                format!("thread {thread} stands for any number of threads, of which a state lists one");
            return Err(Rejection::Malformed(what));
        }
        Ok(Closure { system, property, kinds, alike: HashSet::new() })
    }

    /// The canonical form of a state: of all its renamings, the one whose stacks ascend within kinds, as bytes.
    pub fn canonical(system: &dyn Pushdown, kinds: &Kinds, mut state: State) -> Vec<u8> {
        if !kinds.trivial() {
            for kind in 0..kinds.count() {
                let members = kinds.members(kind);
                if members.len() < 2 {
                    continue;
                }
                let mut stacks: Vec<_> = members
                    .iter()
                    .map(|&thread| {
                        let stack = std::mem::take(&mut state.stacks[thread]);
                        let mut bytes = Vec::new();
                        stack
                            .symbols()
                            .for_each(|symbol| system.write_symbol(members[0], symbol, &mut bytes));
                        (bytes, stack)
                    })
                    .collect();
                stacks.sort_unstable();
                members.iter().zip(stacks).for_each(|(&thread, (_, stack))| state.stacks[thread] = stack);
            }
        }
        system.state_bytes(&state)
    }

    /// The initial states, which must be listed.
    pub fn initial(&self) -> Vec<Vec<u8>> {
        let canonical = |state| Closure::canonical(self.system, self.kinds, state);
        self.system.initial().into_iter().map(canonical).collect()
    }

    /// Looks at a state that is listed, and hands out each state that must be listed for its sake.
    pub fn look(&mut self, listed: &[u8], needed: &mut dyn FnMut(Vec<u8>)) -> Result<(), Rejection> {
        let (system, kinds) = (self.system, self.kinds);
        let state = system.state_from_bytes(listed).ok_or_else(|| {
            Rejection::Malformed("a shard lists something that is no state of this system".to_string())
        })?;
        if !kinds.trivial() && Closure::canonical(system, kinds, state.clone()) != listed {
            return Err(Rejection::Malformed(format!("{} is not canonical", self.shown(&state))));
        }
        let visible = state.visible();
        for (thread, &top) in visible.tops.iter().enumerate() {
            self.check_alike(kinds.kind(thread), visible.shared, top)?;
        }
        if self.property.violated_in_orbit(system, kinds, visible.shared, &visible.tops) {
            let shown = self.shown(&state);
            return Err(Rejection::NotClosed(format!("{shown} is listed and violates the property")));
        }
        for thread in 0..system.threads() {
            // Threads of one kind with equal stacks move to renamings of the same states.
            let members = kinds.members(kinds.kind(thread));
            let twin = |&&other: &&usize| other < thread && state.stacks[other] == state.stacks[thread];
            if members.iter().find(twin).is_some() {
                continue;
            }
            for rule in state.enabled(system, thread) {
                needed(Closure::canonical(system, kinds, state.step(thread, &rule)));
            }
        }
        Ok(())
    }

    /// Whether all threads of a kind have the same rules here, and end alike.
    fn check_alike(&mut self, kind: usize, shared: Shared, top: Symbol) -> Result<(), Rejection> {
        let members = self.kinds.members(kind);
        if members.len() < 2 || !self.alike.insert((kind, shared, top)) {
            return Ok(());
        }
        let rules = |thread: usize| {
            let mut rules: Vec<Rule> = Vec::new();
            self.system.rules(thread, shared, top, &mut rules);
            let mut rules: Vec<_> = rules.into_iter().map(|rule| (rule.shared, rule.word)).collect();
            rules.sort_unstable();
            rules.dedup();
            (rules, self.system.ended(thread, top))
        };
        let leader = rules(members[0]);
        match members[1..].iter().find(|&&thread| rules(thread) != leader) {
            None => Ok(()),
            Some(&thread) => {
                let (first, shared_name) = (members[0], self.system.shared_name(shared));
                let what = format!("threads {first} and {thread} are no kind: at {shared_name} they differ");
                Err(Rejection::NotAlike { threads: (first, thread), shared, top, what })
            }
        }
    }

    /// To be asked after all states were looked at: whether the system could make all its rules.
    pub fn complete(&self) -> Result<(), Rejection> {
        self.system.incomplete().map_or(Ok(()), |why| Err(Rejection::Stopped(StopReason::GaveUp(why))))
    }

    /// That a state which must be listed is not.
    pub fn lacking(&self, needed: &[u8]) -> Rejection {
        let shown = self.system.state_from_bytes(needed).map(|state| self.shown(&state));
        Rejection::NotClosed(format!("{} is reachable and not listed", shown.unwrap_or_default()))
    }

    fn shown(&self, state: &State) -> String {
        shorten(&show_state(self.system, state))
    }
}

/// Accepts shards that prove that no bad state is reachable; here, one after the other in one set.
pub fn check(
    system: &dyn Pushdown,
    property: &Property,
    shards: &Shards,
    stop: Stop<'_>,
) -> Result<(), Rejection> {
    let mut closure = Closure::new(system, property, &shards.kinds)?;
    let mut set = StateSet::default();
    let mut work = 0;
    let mut ask = || {
        work += 1;
        if work % PACE == 0 {
            stop().map_or(Ok(()), |reason| Err(Rejection::Stopped(reason)))
        } else {
            Ok(())
        }
    };
    for file in &shards.files {
        read_shard(&shards.folder, file, &mut |state| {
            set.insert(state);
            ask()
        })?;
    }
    let mut lacking = closure.initial().into_iter().find(|state| !set.contains(state));
    for state in set.iter() {
        if lacking.is_some() {
            break;
        }
        closure.look(state, &mut |needed| {
            if lacking.is_none() && !set.contains(&needed) {
                lacking = Some(needed);
            }
        })?;
        ask()?;
    }
    match lacking {
        Some(needed) => Err(closure.lacking(&needed)),
        None => closure.complete(),
    }
}
