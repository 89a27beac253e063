//! What can be left out of a program without changing any verdict.
