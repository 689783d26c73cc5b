#!/bin/bash
# Loads images that fail, in a program that imports the library as a user does, and counts what they leave: memory,
# threads, descriptors, and bytes of the memory for bodies. First 120 truncated pictures of 1.4 MB whose previews are
# read; then rounds of 1,000 loads that fail in every way (truncated, refused, cancelled, no image, timed out, 404),
# whose previews and progress are read or abandoned. The status is 1 if they leave anything.
#
#     Tests/Faults/failing-loads.sh [ROUNDS]      10 by default
#
# Needs python3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

package=(--package-path Tests/LibraryConsumer --product FailingLoads)
swift build "${package[@]}" >&2
program=$(swift build "${package[@]}" --show-bin-path)/FailingLoads
# The origin ends with its standard input, which this script holds open.
coproc origin { exec python3 Tests/Faults/failing-origin.py; }
read -r server refusing <&"${origin[0]}"
# Otherwise glibc has an arena for each thread and keeps large blocks: free memory that grows for a while and hides a leak.
export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=262144
"$program" "$server" "$refusing" "${1:-10}"
