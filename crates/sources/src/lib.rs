//! File formats and other stores: scan, write, partition discovery, commit
