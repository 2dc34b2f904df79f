#!/bin/sh
# Fuzz every target for some seconds, 60 unless said, or the targets named after that.
set -eu
cd "$(dirname "$0")"
seconds=${1:-60}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- ks distances laws counts extract
./build.sh
host=$(rustc -vV | sed -n 's/host: //p')
for target in "$@"; do
	mkdir -p "corpus/$target" found
	echo "$target: $seconds s"
	program="${CARGO_TARGET_DIR:-target}/$host/release/$target"
	[ "$target" != extract ] || program="${PYTHON:-python3} extract.py"
	$program "corpus/$target" -max_total_time="$seconds" -max_len=400 -timeout=10 \
		-artifact_prefix="found/$target-" 2>"found/$target.log" ||
		{ grep -A3 "panicked\|Error\|ERROR" "found/$target.log"; exit 1; }
	tail -1 "found/$target.log"
done
