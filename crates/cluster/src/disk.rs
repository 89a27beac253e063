//! Files for what does not fit into memory. They have no names: whatever becomes of the process, the system takes them away with
//! it, and no run can come across what another has left.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where a worker may keep states on disk.
#[derive(Clone)]
pub struct Disk {
    folder: PathBuf,
    /// Bytes in files that are still open.
    used: Arc<AtomicU64>,
}

impl Disk {
    /// Files in this folder.
    pub fn new(folder: &Path) -> Disk {
        Disk { folder: folder.to_path_buf(), used: Arc::default() }
    }

    /// Makes the folder if need be, and a file in it that vanishes again: whether this can be done at all.
    pub fn try_out(folder: &Path) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        tempfile::tempfile_in(folder).map(drop)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Bytes on disk now.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// A new file.
    pub fn file(&self) -> io::Result<Rc<DiskFile>> {
        let file = tempfile::tempfile_in(&self.folder)?;
        Ok(Rc::new(DiskFile { file, length: AtomicU64::new(0), used: Arc::clone(&self.used) }))
    }
}

/// A file to which one worker appends, and from which it reads anywhere.
pub struct DiskFile {
    file: File,
    length: AtomicU64,
    used: Arc<AtomicU64>,
}

impl DiskFile {
    /// How long it is.
    pub fn length(&self) -> u64 {
        self.length.load(Ordering::Relaxed)
    }

    /// Appends bytes; returns where they start.
    pub fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let start = self.length();
        let mut file = &self.file;
        file.seek(SeekFrom::Start(start))?;
        file.write_all(bytes)?;
        self.length.store(start + bytes.len() as u64, Ordering::Relaxed);
        self.used.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        Ok(start)
    }

    /// Reads so many bytes from here on.
    pub fn read(&self, start: u64, length: usize, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.resize(length, 0);
        let mut file = &self.file;
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(bytes)
    }
}

impl Drop for DiskFile {
    fn drop(&mut self) {
        self.used.fetch_sub(self.length(), Ordering::Relaxed);
    }
}

/// What was read is not what was written.
pub fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a file is not what was written")
}
