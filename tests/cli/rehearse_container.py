"""A rehearsal in a container, whose root is an overlay, and where only the root was changed: no file changes, and
what is written is kept in memory, or below TMPDIR if that is a file system of its own."""

import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path.cwd()
BUILD = pathlib.Path(shutil.which("keel")).parent.parent
REHEARSE = ["keel", "rehearse", "--on", "cpu:1", "--plugin", str(BUILD / "lib" / "keel_test_plugin.so"), "--"]
SKIPPED = 77

# The layers are on a tmpfs: an overlay writes to no overlay, which this machine's root may be.
CONTAINER = """
set -e
mount -t tmpfs none $mounted; cd $mounted; mkdir upper work root
mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work none root
cd root; mount --rbind /proc proc; mount --rbind /dev dev
mkdir -p app was; echo old > app/old
$enter sh -c 'cd /app; "$@"; code=$?; echo "then: $(ls) $(cat old)"; exit $code' -- "$@"
"""
PIVOT = "pivot_root . was; umount -l was; exec"
CONTAINERS = {
    "a container": (PIVOT, "echo lost > old; echo new > new; cat old new"),
    "a small TMPDIR": (f"mount -t tmpfs -o size=4m none tmp; {PIVOT}",
                       "echo more >> old; head -c 9000000 /dev/zero > large || exit 3"),
    "a changed root": ("exec chroot .", "echo lost > old; echo new > new; cat old new"),
}


def container(name, enter, script):
    place = HERE / "mounted"
    place.mkdir()
    whole = CONTAINER.replace("$mounted", str(place)).replace("$enter", enter)
    run = subprocess.run(["unshare", "-m", "sh", "-c", whole, "--", *REHEARSE, "sh", "-c", script], capture_output=True,
                         text=True, env=os.environ | {"KEEL_RUN_DIR": "/app/runs", "KEEL_CACHE_DIR": "/app/cache"})
    print(f"{name}: exit {run.returncode}")
    for line in (run.stdout + run.stderr).splitlines():
        if "nothing was recorded" not in line:
            print("  " + line)
    shutil.rmtree(place)


if os.geteuid() != 0:
    print("skipped until root runs it: other users cannot mount an overlay over /")
    sys.exit(SKIPPED)
os.environ.pop("TMPDIR", None)
for words in CONTAINERS.items():
    container(words[0], *words[1])
