#!/usr/bin/env python3
"""Compiles and runs what docs/tensors.md shows, and the example beside it, through `keel run`.

Usage: tests/tensor/page.py BUILD

Twice: the second time nothing may be compiled.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(build, work, program, *expected):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(build / "lib"), KEEL_CONFIG="/dev/null",
                       KEEL_CACHE_DIR=str(work / "cache"), KEEL_RUN_DIR=str(work / "runs"),
                       VIRTUAL_ENV=str(ROOT / ".venv"))
    command = [build / "bin" / "keel", "run", "--", program]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    both = said.stdout + said.stderr
    missing = [text for text in expected if text not in both]
    foreign = [line for line in said.stderr.splitlines() if not line.startswith("keel: ")]
    if said.returncode or missing or foreign:
        sys.exit(f"{program}: exit {said.returncode}, without {missing}, with {foreign}:\n{both}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        code = re.search(r"```c\n(.*?)```", (ROOT / "docs" / "tensors.md").read_text(), re.S)[1]
        (work / "sum.c").write_text(code)
        subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", work / "sum.c",
                        f"-L{build}/lib", "-lkeel", "-o", work / "sum"], check=True)
        for times in ("2 compiles", "nothing compiled, 2 loads"):
            run(build, work, work / "sum", "done", times)
        for times in ("1000 steps, 1 program; 1 compile", "1000 steps, 1 program; nothing compiled"):
            run(build, work, build / "examples" / "mlp", "1 programs in 1000 steps", times)


if __name__ == "__main__":
    main()
