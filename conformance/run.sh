#!/usr/bin/env bash
# Runs Spark's own suites against a freshly started server and compares with
# the ratchet lists:
#   conformance/run.sh [suite…]          doctests golden usage grid (default: all)
#   conformance/run.sh --update [suite…] adds new passes to the lists
# The suites lie beside the checkout, in ../shared/conformance, or where
# CONFORMANCE_SUITES says. Without them there is nothing to run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$here")
suites=${CONFORMANCE_SUITES:-$root/../shared/conformance}
if [ ! -d "$suites" ]; then
    echo "conformance: no suites at $suites; skipped"
    exit 0
fi
python=$(bash "$suites/doctests/setup.sh")
export FIRESTEEL_BIN=${FIRESTEEL_BIN:-${CARGO_TARGET_DIR:-$root/target}/release/firesteel}
exec "$python" "$here/ratchet.py" --suites "$suites" "$@"
