//! How the command is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        // A small check takes three milliseconds, and a good part of that is pages of the program that are written at its
        // start, because addresses are relative to where it is loaded. At a fixed place there are thirty fewer.
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
