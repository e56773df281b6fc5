"""The examples in C are rehearsed on a device that is not there: every program compiles for it, and
`keel rehearse` says whether it fits.

Usage: c_programs.py TARGET
"""

import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "client"))

from harness import BUILD, KEEL, Report, Workspace, clean_environment, run, told  # noqa: E402

PYTHON = pathlib.Path(os.environ["KEEL_TARGETS_PYTHON"])  # the compilers are in its environment
TARGET = sys.argv[1]
report = Report()


def rehearse(space, example):
    environment = clean_environment() | {
        "KEEL_CACHE_DIR": str(space.path("cache")), "KEEL_RUN_DIR": str(space.runs), "KEEL_CONFIG": os.devnull,
        "LD_LIBRARY_PATH": str(BUILD / "lib"), "PATH": f"{PYTHON.parent}:{os.environ['PATH']}"}
    return run([KEEL, "rehearse", "--on", TARGET, "--", BUILD / "examples" / example], environment, cwd=space.folder)


def main():
    with Workspace("c-programs") as space:
        for example in ("mlp", "sharded"):
            answer = rehearse(space, example)
            report.check(f"{example}: its two programs are compiled for {TARGET}", answer.code == 0 and re.search(
                rf"rehearsed on {TARGET}: \d+ steps, 2 programs; 2 compiles", answer.err), told(answer))
            report.check(f"{example}: and fit", re.search(r"fits: at most .* of a device, in step \(.*\.c:\d+\)", answer.err),
                         told(answer))
            answer = rehearse(space, example)
            report.check(f"{example}: another rehearsal loads them", "nothing compiled, 2 loads" in answer.err, told(answer))
    report.finish()


main()
