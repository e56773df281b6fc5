#!/usr/bin/env python3
"""Programs in C under the commands of `keel`, which need no code of the program: run, why, contracts,
rehearsals on CPU targets, aot.

Usage: tests/tensor/mesh_tools.py BUILD MESH_DRIFT
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRIFT = ROOT / "tests" / "tensor" / "mesh_drift.c"


class Bench:
    def __init__(self, build, work):
        self.keel, self.work = build / "bin" / "keel", work
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("KEEL_", "JAX_", "XLA_"))}
        self.environment.update(
            LD_LIBRARY_PATH=str(build / "lib"), KEEL_CONFIG="/dev/null", VIRTUAL_ENV=str(ROOT / ".venv"),
            KEEL_CACHE_DIR=str(work / "cache"), KEEL_RUN_DIR=str(work / "runs"))

    def check(self, code, words, *expected):
        """Runs `keel WORDS`; it must exit with `code` and say all that is expected, on any stream."""
        command = [self.keel, *map(str, words)]
        said = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=600,
                              cwd=self.work)
        both = said.stdout + said.stderr
        missing = [text for text in expected if text not in both]
        if said.returncode != code or missing:
            sys.exit(f"keel {' '.join(command[1:])}: exit {said.returncode}, without {missing}:\n{both}")
        return said.stdout


def line_of(mark):
    lines = DRIFT.read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.endswith(f"// line of {mark}"))


def explains(bench, drift):
    """Another spec is a change of sharding, at the line that gives it."""
    rows = "devices=[2,1,2]<=[2,2]"
    changes = {"input": ("batch", f"{rows} last_tile_dim_replicate",
                         f"{rows}T(1,0) last_tile_dim_replicate"),
               "inner": ("custom-call", "devices=[2,2]<=[2,2]",
                         "devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate")}
    for place, change in changes.items():
        bench.check(0, ["run", "--", drift, place], "2 programs", "1 recompile")
        (item,) = json.loads(bench.check(0, ["why", "--json"]))
        found = item["kind"], pathlib.Path(item["file"]).name, item["line"]
        if found != ("sharding", "mesh_drift.c", line_of(place)):
            sys.exit(f"{place}: {found}")
        if (item["subject"], item["old"], item["new"]) != change:
            sys.exit(f"{place}: {item['subject']} {item['old']} -> {item['new']}")


def holds(bench, drift, mlp):
    """Contracts list programs of C, and each spec is another one."""
    for program in (mlp, drift):
        bench.check(0, ["contract", "record", "-o", "contract", "--", program])
        bench.check(0, ["contract", "check", "--contract", "contract", "--", program])
        bench.check(0, ["run", "--contract", "contract", "--", program], "nothing compiled")
    for place in ("input", "inner"):
        bench.check(1, ["contract", "check", "--contract", "contract", "--", drift, place], "mesh_drift.c:")
        bench.check(1, ["run", "--contract", "contract", "--on-drift", "refuse", "--", drift, place],
                    f"mesh_drift.c:{line_of(place)}")


def rehearses(bench, drift, mlp):
    """On a target with enough devices: the same programs. On one with too few: refused."""
    for program, name in ((mlp, "1001 steps, 2 programs"), (drift, "4 steps, 1 program")):
        bench.check(0, ["rehearse", "--on", "cpu:4", "--compile", "all", "--", program], name)
        bench.check(0, ["aot", "--on", "cpu:4", "latest"], "step")
    bench.check(1, ["rehearse", "--on", "cpu:2", "--compile", "none", "--", drift],
                "the mesh has 4 devices, and the plugin 2")


def meets(bench, drift):
    """Two processes find each other where the context says, and Keel compares their programs there."""
    hosts = ["rehearse", "--on", "cpu:4/2", "--compile", "none", "--agree", "on", "--writes", "keep", "--",
             drift]
    bench.check(0, [*hosts, "none", "meet"], "4 steps, 1 program")
    met = list((bench.work / "meet").iterdir())
    if not met:
        sys.exit("nothing was left where the processes meet")
    bench.check(1, [*hosts, "rank", "other"], "process 1 asks for a different step than process 0",
                f"mesh_drift.c:{line_of('inner')}")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    drift, mlp = pathlib.Path(sys.argv[2]).resolve(), build / "examples" / "mlp"
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(build, pathlib.Path(folder))
        explains(bench, drift)
        holds(bench, drift, mlp)
        rehearses(bench, drift, mlp)
        meets(bench, drift)


if __name__ == "__main__":
    main()
