//! Compiles the .proto files to Rust, with `protox` in the place of `protoc`.

use std::error::Error;
use std::path::{Path, PathBuf};

use prost::Message;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=proto");

    let root = Path::new("proto");
    let mut files = proto_files(&root.join("google/rpc"))?;
    files.extend(proto_files(&root.join("spark/connect"))?);
    let descriptors = protox::compile(files, [root])?;

    let out: PathBuf = std::env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?.into();
    let mut plain = descriptors.clone();
    for file in &mut plain.file {
        file.source_code_info = None;
    }
    std::fs::write(out.join("descriptors.bin"), plain.encode_to_vec())?;

    let mut config = prost_build::Config::new();
    config.enable_type_names();
    tonic_prost_build::configure()
        .build_client(true)
        .build_server(true)
        .bytes(".")
        .codec_path("crate::codec::GuardedCodec")
        .compile_fds_with_config(descriptors, config)?;
    Ok(())
}

/// The .proto files of one folder, in a fixed order.
fn proto_files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "proto") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
