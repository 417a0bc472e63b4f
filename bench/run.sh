#!/usr/bin/env bash
# Measures Firesteel beside its peers and prints one table per part:
#   bench/run.sh [options] [-- more options of the harness]
#     --sf N         TPC-H scale factor; its data are made if missing (default: 1)
#     --parts LIST   of sql, dataframe, micro (default: all)
#     --groups LIST  groups of micro, such as latency,io (default: all)
#     --peers LIST   of spark, sail, or none (default: spark,sail); the first is the baseline
#     --rounds N     rounds, interleaved between the servers (default: 3)
#     --quick        one round, one run, a tenth of the rows: does all of it work?
#     --any-load     begin even though other work keeps the machine busy
# The harness lies beside the checkout, in ../shared/bench, or where
# BENCH_SUITE says. Without it there is nothing to run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")

usage() {
    sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}"
}

fail() {
    echo "bench: $1" >&2
    exit 2
}

scale_factor=1
parts=sql,dataframe,micro
peers=spark,sail
options=()
quiet=(--require-quiet)
while [ $# -gt 0 ]; do
    case $1 in
        --sf|--parts|--groups|--peers|--rounds)
            [ $# -ge 2 ] || fail "$1 wants a value"
            case $1 in
                --sf) scale_factor=$2 ;;
                --parts) parts=$2 ;;
                --peers) peers=$2 ;;
                --groups) options+=(--groups "$2") ;;
                --rounds) options+=(--rounds "$2") ;;
            esac
            shift 2 ;;
        --quick) options+=(--rounds 1 --runs 1 --scale 0.1 --calls 30 --seconds 5); shift ;;
        --any-load) quiet=(); shift ;;
        --) shift; options+=("$@"); break ;;
        -h|--help) usage; exit 0 ;;
        *) usage >&2; fail "no such option: $1" ;;
    esac
done

benches=
for part in ${parts//,/ }; do
    case $part in
        sql) benches+=,tpch ;;
        dataframe) benches+=,tpch_df ;;
        micro) benches+=,micro ;;
        *) fail "no such part: $part (there are sql, dataframe, micro)" ;;
    esac
done
benches=${benches#,}

suite=${BENCH_SUITE:-$root/../shared/bench}
if [ ! -f "$suite/sidebyside.py" ]; then
    echo "bench: no harness at $suite; skipped"
    exit 0
fi
suite=$(cd "$suite" && pwd)

servers=()
for peer in ${peers//,/ }; do
    case $peer in
        none) ;;
        *) [ -f "$suite/start/$peer.sh" ] || fail "no such peer: $peer"
           servers+=("$peer=start/$peer.sh {port}") ;;
    esac
done
# The harness works in its own folder, so these are absolute.
FIRESTEEL_BIN=$(realpath -- "${FIRESTEEL_BIN:-${CARGO_TARGET_DIR:-$root/target}/release/firesteel}")
[ -x "$FIRESTEEL_BIN" ] || fail "no server at $FIRESTEEL_BIN; build it first (make build)"
export FIRESTEEL_BIN
servers+=("firesteel=bash $(printf %q "$here/start.sh") {port}")

export BENCH_HOME=${BENCH_HOME:-$HOME/.cache/bench}
[ -x "$BENCH_HOME/venv/bin/python" ] || bash "$suite/setup.sh"
case $benches in
    *tpch*) bash "$suite/data.sh" "$scale_factor" ;;
esac
exec "$BENCH_HOME/venv/bin/python" -B "$suite/sidebyside.py" "${servers[@]}" \
    --benches "$benches" --sf "$scale_factor" "${quiet[@]}" "${options[@]}"
