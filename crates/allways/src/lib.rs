//! Can this concurrent program go wrong under any schedule? A trace, or a proof..
