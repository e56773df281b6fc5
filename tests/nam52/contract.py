#!/usr/bin/env python3
"""examples/nam52/keel.contract lists the programs of the tiny configuration, full.contract those of the one of 4.04
billion parameters: runs hold to them, two runs ask for the same ones, and so does a build by another compiler. What cannot be is refused with its numbers, and a checkpoint of another
configuration with all that differs.

Usage: tests/nam52/contract.py BUILD [--record]

Rehearsed on a CPU that compiles nothing.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from accidents import MODEL, ROOT, line_of

CONTRACT, FULL = MODEL / "keel.contract", MODEL / "full.contract"
CPU = "--on", "cpu:1", "--compile", "none"
# Both depths, one run behind the other.
SCRIPT = '"$0" "$1" --steps 12 --mtp 1 && "$0" "$1" --steps 12 --mtp 3'


class Bench:
    def __init__(self, build, folder):
        self.keel, self.env = build / "bin" / "keel", {n: v for n, v in os.environ.items() if not n.startswith(("KEEL_", "XLA_"))}
        self.env |= {"KEEL_CONFIG": os.devnull, "VIRTUAL_ENV": str(ROOT / ".venv"), "LD_LIBRARY_PATH": str(build / "lib"),
                     "KEEL_CACHE_DIR": str(folder / "cache"), "KEEL_RUN_DIR": str(folder / "runs")}

    def hold(self, code, words, *texts):
        done = subprocess.run([str(word) for word in words], env=self.env, capture_output=True, text=True, timeout=600)
        missing = [text for text in texts if text not in done.stdout + done.stderr]
        if done.returncode != code or missing:
            sys.exit(f"{words}: exit {done.returncode}, not {code}; without {missing}\n{done.stdout}{done.stderr}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    model = build / "examples" / "nam52"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        bench, both = Bench(build, folder), lambda model: ("--", "sh", "-c", SCRIPT, model, ROOT / "LICENSE")
        full = "--", model, ROOT / "LICENSE", "--config=nam52", "--mtp=1", "--steps=2"
        if "--record" in sys.argv:
            bench.hold(0, [bench.keel, "contract", "record", "-o", FULL, *CPU, *full])
            bench.hold(0, [bench.keel, "contract", "record", "-o", CONTRACT, *CPU, *both(model)])
        check = [bench.keel, "contract", "check", "--contract", CONTRACT, *CPU]
        bench.hold(0, [*check, *both(model)])
        bench.hold(0, [bench.keel, "contract", "check", "--contract", FULL, *CPU, *full])
        for compiler in filter(shutil.which, ("gcc", "clang")):
            other = folder / f"by-{compiler}"
            bench.hold(0, [compiler, "-std=c11", "-O1", "-D_GNU_SOURCE", f"-I{ROOT}/include", *sorted(MODEL.glob("*.c")),
                           f"-L{build}/lib", "-lkeel", "-lm", "-o", other])
            bench.hold(0, [*check, *both(other)])
            print(f"{compiler}: the listed programs")
        file, line = line_of(("experts.c", "keel_route("))
        bench.hold(1, [*check, "--", model, ROOT / "LICENSE", "--mtp", "1", "--accident", "capacity"], f"{file}:{line}")
        bench.hold(0, [bench.keel, "smoke", "--on", "cpu:1", *both(model)])
        for setting, said in {"heads=3": "the number of key heads 2 does not divide 3", "length=100": "the chunk 32 does not divide 100",
                              "keys=129": "sparse keys is 129, and must be from 1 to the length, 128",
                              "top=9": "top is 9, and must be from 1 to the experts, 8",
                              "capacity=-8": "capacity is -8, and must be above 0", "heads=x": "--set heads=x"}.items():
            bench.hold(1, [model, "--set", setting], said)
        bench.env["KEEL_PLUGIN"] = "cpu"
        saved = folder / "saved"
        bench.hold(0, [model, ROOT / "LICENSE", "--steps=0", "--mtp=1", "--save", saved])
        load = [model, ROOT / "LICENSE", "--steps=1", "--load", saved]
        bench.hold(1, [*load, "--mtp=3"], "36 tensors do not fit", *(f"mtp{depth}.{name} is in the tree and not in the file"
                   for depth in (2, 3) for name in ("proj", "wqkv", "wo", "g", "u", "dn")))
        bench.hold(1, [*load, "--mtp=1", "--set=experts=4"], "26 tensors do not fit",
                   *(f"L{block}.E.wr is f32[128,4] in the tree and f32[128,8] in the file" for block in ("01", "05")))
        bench.hold(1, [model, "--mtp=4"], "MTP depth is 4, and must be from 0 to 3")
        bench.hold(1, [model, "--accident=luck"], "no accident is called 'luck'")


if __name__ == "__main__":
    main()
