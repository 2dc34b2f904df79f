#!/bin/sh
# Build every target with the coverage that libFuzzer reads; stable Rust has the pass, if not the
# flag that cargo-fuzz would set for it.
set -eu
cd "$(dirname "$0")"
pass='-Cpasses=sancov-module'
for option in level=4 inline-8bit-counters pc-table trace-compares; do
	pass="$pass -Cllvm-args=-sanitizer-coverage-$option"
done
RUSTFLAGS="$pass -Ccodegen-units=1 --cfg fuzzing" \
	cargo build --quiet --release --bins --target "$(rustc -vV | sed -n 's/host: //p')"
