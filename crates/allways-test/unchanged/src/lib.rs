//! Published crates, their source unchanged, compiled against shuttle: see `tests/`.
