#!/usr/bin/env bash
# Runs Firesteel in the foreground: start.sh PORT [more options of `firesteel server`]
#   FIRESTEEL_BIN  the binary (default: this checkout's release build)
#   CORES          cores that queries use (default: 2, as for the peers)
#   BENCH_HOME     where scratch files go (default: ~/.cache/bench)
set -euo pipefail
# No commands but the shell's own where they are not needed: they would count in the server's start-up time.
port=$1; shift
binary=${FIRESTEEL_BIN:-${CARGO_TARGET_DIR:-${BASH_SOURCE[0]%/*}/../target}/release/firesteel}
[[ $binary == /* ]] || binary=$PWD/$binary
bench_home=${BENCH_HOME:-$HOME/.cache/bench}
scratch=$bench_home/scratch/firesteel-$port
[[ -d $scratch/checkpoint && -d $scratch/spill ]] || mkdir -p "$scratch/checkpoint" "$scratch/spill"
cd "$scratch"
# Python functions run in the client's own environment.
export PYSPARK_PYTHON=${PYSPARK_PYTHON:-$bench_home/venv/bin/python}
exec "$binary" server --port "$port" --cores "${CORES:-2}" \
    --spill-directory "$scratch/spill" \
    --conf spark.checkpoint.dir="$scratch/checkpoint" \
    --conf spark.sql.warehouse.dir="$scratch/warehouse" \
    "$@"
