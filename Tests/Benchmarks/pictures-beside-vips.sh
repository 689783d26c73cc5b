#!/bin/bash
# Compares marquee picture with vipsthumbnail and Pillow: the processor time to read, decode, resize to
# 342x513, encode at quality 80 and write a picture. Each program makes all pictures in one process with one
# thread, in turn. Prints medians of RUNS rounds (default 7), and ratios to vipsthumbnail.
#   Tests/Benchmarks/pictures-beside-vips.sh [FOLDER]      a folder of 2:3 JPEGs. Default: 40 posters of 500 x
# 750,
#                                                          and the same at 2000 x 3000
# Needs Debian's libvips-tools and libjpeg-turbo-progs, Python with Pillow, and a release build. All files are
# in $TMPDIR/marquee-beside-vips.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
marquee=$(swift build -c release --show-bin-path)/marquee
folder=${TMPDIR:-/tmp}/marquee-beside-vips
mkdir -p "$folder"
export VIPS_CONCURRENCY=1
export MARQUEE="$marquee" FOLDER="$folder" RUNS="${RUNS:-7}"

if [ $# -eq 0 ]; then
    rm -rf "$folder/500x750" "$folder/2000x3000"
    python3 - "$folder" sample-data/posters/*.jpg <<'PYTHON'
import os, sys
from PIL import Image

folder, posters = sys.argv[1], sys.argv[2:]
posters = [path for path in posters if Image.open(path).size == (500, 750) and "progressive" not in Image.open(path).info]
for name, size in ("500x750", (500, 750)), ("2000x3000", (2000, 3000)):
    os.makedirs(f"{folder}/{name}")
    for number in range(40):
        picture = Image.open(posters[number % len(posters)]).convert("RGB").resize(size, Image.LANCZOS)
        picture.save(f"{folder}/{name}/{number:02}.jpg", quality=90, subsampling=2)
PYTHON
    set -- "$folder/500x750" "$folder/2000x3000"
fi

for source in "$@"; do
    python3 - "$source" <<'PYTHON'
import glob, os, resource, shutil, statistics, subprocess, sys

PILLOW = """
import os, sys
from PIL import Image
for path in sys.argv[2:]:
    picture = Image.open(path)
    picture.thumbnail((342, 513), Image.LANCZOS)
    picture.save(sys.argv[1] + "/" + os.path.basename(path), quality=80)
"""
files = sorted(glob.glob(sys.argv[1] + "/*.jpg"))
out = os.environ["FOLDER"] + "/out"
programs = {
    "vipsthumbnail": ["vipsthumbnail", *files, "-s", "342x513", "-o", out + "/%s.jpg[Q=80]"],
    "Pillow": ["python3", "-c", PILLOW, out, *files],
    "marquee": [os.environ["MARQUEE"], "picture", *files, "342x513", "-o", out, "--workers", "1", "--quiet"],
}
times = {name: [] for name in programs}
for run in range(int(os.environ["RUNS"]) + 1):
    for name, command in programs.items():
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        made = len(os.listdir(out))
        assert made == len(files), f"{name} made {made} of {len(files)} pictures"
        # The first round warms up.
        if run > 0:
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            times[name].append(seconds * 1000 / len(files))
reference = statistics.median(times["vipsthumbnail"])
print(f"{sys.argv[1]}: {len(files)} pictures to 342x513, ms of processor time each")
for name in programs:
    middle = statistics.median(times[name])
    print(f"  {name}: {middle:.2f}, ratio {middle / reference:.2f}")
PYTHON
done
