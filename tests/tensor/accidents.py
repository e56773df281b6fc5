#!/usr/bin/env python3
"""What examples/c/accidents.c prints is what examples/c/README.md says.

Usage: tests/tensor/accidents.py BUILD [--write]
  --write   writes it there instead
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "examples" / "c" / "README.md"
PLACE = re.compile(r"(<!-- accidents: made by .*? -->\n)(.*?)(<!-- accidents: end -->)", re.S)


def output_of(build):
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, KEEL_CONFIG=os.devnull, KEEL_CACHE_DIR=f"{folder}/cache", KEEL_RUN_DIR=f"{folder}/runs")
        said = subprocess.run([build / "examples" / "accidents"], env=env, capture_output=True, text=True, timeout=600)
    if said.returncode or said.stderr:
        sys.exit(f"accidents: exit {said.returncode}:\n{said.stderr}")
    lines = [line.rstrip() for line in said.stdout.splitlines()]
    return re.sub(r"\S*/accidents\.c", "accidents.c", "\n".join(lines))


def main():
    shown = f"\n```\n{output_of(pathlib.Path(sys.argv[1]).resolve())}\n```\n\n"
    page = PAGE.read_text()
    if sys.argv[2:] == ["--write"]:
        PAGE.write_text(PLACE.sub(lambda match: match[1] + shown + match[3], page))
        return
    said = PLACE.search(page)[2]
    if said != shown:
        sys.exit(f"{PAGE.relative_to(ROOT)} says:\n{said}\naccidents prints:\n{shown}")


if __name__ == "__main__":
    main()
