#!/bin/bash
# Runs the tests of rooms under glibc's checks of malloc: each freed block is filled, so that a use after a free ends the
# process. Prints one line for each run.
#
#     3 of 20    31 s  passed 1005 tests
#
#     Tests/Faults/memory-checks.sh [ROUNDS [ROOM...]]
#
# ROUNDS is 1 by default. ROOM is each room with unsafe code but the decoders and parsers, whose tests CI runs under the
# address sanitizer. Tests of races and faults repeat themselves more often than in a plain `swift test`. The status is
# 1 if a run was aborted, stood still or had a failed test; its output is kept.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

rounds=${1:-1}
rooms=("${@:2}")
[ ${#rooms[@]} -gt 0 ] || rooms=(SystemSupport HTTPServer ServiceOperations CatalogueService LazyImages MixedLoads
    BackgroundTransfers marquee)
printf -v modules '|%sTests' "${rooms[@]}"

swift build --build-tests >/dev/null || exit 1
program=$(swift build --show-bin-path)/marqueePackageTests.xctest
logs=$(mktemp -d)
failures=0
for round in $(seq "$rounds"); do
    began=$SECONDS
    log=$logs/$round
    # The programs that the tests start inherit the checks.
    LD_PRELOAD=libc_malloc_debug.so.0 MALLOC_CHECK_=3 MALLOC_PERTURB_=165 SWIFT_BACKTRACE=enable=no \
        MARQUEE_MANY_ROUNDS=1 "$program" --testing-library swift-testing --filter "^(${modules:1})\\." \
        >"$log" 2>&1 </dev/null
    status=$?
    passed=$(sed -nE 's/.*Test run with ([0-9]+) tests? .*passed.*/\1/p' "$log" | tail -n 1)
    if [ "$status" = 0 ] && [ "${passed:-0}" -gt 0 ]; then
        printf '%2d of %d  %4d s  passed %d tests\n' "$round" "$rounds" $((SECONDS - began)) "$passed"
        rm "$log"
    else
        failures=$((failures + 1))
        printf '%2d of %d  %4d s  failed (status %d): %s\n' "$round" "$rounds" $((SECONDS - began)) "$status" "$log"
        grep -E '✘|malloc|free|No test has finished' "$log" | head -n 10
    fi
done
rmdir "$logs" 2>/dev/null
[ "$failures" = 0 ]
