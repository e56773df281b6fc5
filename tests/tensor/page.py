#!/usr/bin/env python3
"""Compiles and runs the programs that docs/tensors.md and docs/models.md begin with, and the example
beside them, through `keel run`.

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


def build_page(build, work, page):
    code = re.search(r"```c\n(.*?)```", (ROOT / "docs" / f"{page}.md").read_text(), re.S)[1]
    (work / f"{page}.c").write_text(code)
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", work / f"{page}.c",
                    f"-L{build}/lib", "-lkeel", "-o", work / page], check=True)
    return work / page


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for page, said, times in (("tensors", "3", ("2 compiles", "nothing compiled, 2 loads")),
                                  ("models", "slope 2.00, 2 programs", ("2 compiles", "nothing compiled, 2 loads"))):
            program = build_page(build, work, page)
            for expected in times:
                run(build, work, program, said, expected)
        for times in ("1001 steps, 2 programs; 2 compiles", "1001 steps, 2 programs; nothing compiled"):
            run(build, work, build / "examples" / "mlp", "2 programs in 1001 steps", times)
        for times in ("201 steps, 2 programs; 2 compiles", "201 steps, 2 programs; nothing compiled"):
            run(build, work, build / "examples" / "sharded", "2 programs in 201 steps", times)


if __name__ == "__main__":
    main()
