"""Keel in front of a real GPU: the programs of tests/client give there what JAX gives alone, cold and
warm, and their keys are the same in every process. Prints the times of each way beside those of JAX's
own cache.

Skipped (77), with one line, where JAX finds no GPU. The Python is KEEL_GPU_PYTHON, or that of .venv-targets.
"""

import json
import os
import pathlib
import struct
import subprocess
import sys
import time

CLIENT = pathlib.Path(__file__).resolve().parent.parent / "client"
sys.path.insert(0, str(CLIENT))

from harness import (KEEL, ROOT, Report, Workspace, clean_environment, compiles, journal,  # noqa: E402
                     last_json, loads, of_kind, run, told, whole_json)

PYTHON = pathlib.Path(os.environ.get("KEEL_GPU_PYTHON") or ROOT / ".venv-targets" / "bin" / "python")
SKIPPED = 77
report = Report()

KERNEL = '''
import json
import jax, jax.numpy as jnp
from jax.experimental import pallas
def add(a, b, out):
    out[...] = a[...] + 2 * b[...]
a = jnp.arange(4096.0).reshape(64, 64)
made = pallas.pallas_call(add, out_shape=jax.ShapeDtypeStruct(a.shape, a.dtype))
print(json.dumps(float(jnp.abs(jax.jit(made)(a, a) - 3 * a).max())))
'''


def why_not():
    """Why nothing can be tested here; None if there is a GPU."""
    if not PYTHON.exists():
        return f"{PYTHON} is not there (tools/setup --targets, or KEEL_GPU_PYTHON)"
    ask = "import jax; print(len(jax.devices('gpu')))"
    done = subprocess.run([PYTHON, "-c", ask], env=clean_environment(), capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


class Ways:
    """One script, run in several ways."""

    def __init__(self, space, script, *words):
        self.space, self.name, self.command = space, script.stem, [PYTHON, script, *words]
        self.seconds = {}
        self.run_id = ""  # of the latest run through Keel

    def time(self, way, command, **environment):
        began = time.monotonic()
        answer = run(command, clean_environment() | environment)
        self.seconds[way] = time.monotonic() - began
        report.check(f"{self.name}, {way}: ends well", answer.code == 0, told(answer))
        return answer

    def alone(self, way="JAX alone", **environment):
        return last_json(self.time(way, self.command, **environment))

    def keel(self, way, cache="cache", *options):
        """What it prints, and the events of the run."""
        before = set(self.space.runs.glob("*/journal.ndjson"))
        answer = self.time(f"Keel, {way}", [KEEL, "run", *options, "--", *self.command],
                           KEEL_CONFIG=os.devnull, KEEL_CACHE_DIR=str(self.space.path(cache)),
                           KEEL_RUN_DIR=str(self.space.runs))
        new = set(self.space.runs.glob("*/journal.ndjson")) - before
        self.run_id = next((path.parent.name for path in new), "")
        return last_json(answer), journal(self.space.runs, self.run_id)

    def tell(self):
        print(f"         {self.name}: " + ", ".join(
            f"{way} {seconds:.1f} s" for way, seconds in self.seconds.items()))


def check_loaded(name, events):
    report.equal(f"{name}, warm: nothing is compiled", [event["name"] for event in compiles(events)], [])
    report.check(f"{name}, warm: programs are loaded", loads(events), len(events))


def floats(losses):
    return [struct.unpack("<f", bytes.fromhex(loss))[0] for loss in losses]


def is_near(answer, wanted):
    """Losses, within what sums in another order make of them."""
    return bool(answer) and all(abs(a - b) < 2e-2 * max(1, abs(b)) for a, b in zip(
        floats(answer["losses"]), floats(wanted["losses"]), strict=True))


def keys(events):
    return sorted({event["key"] for event in compiles(events)})


def check_memory(space, run_id):
    answer = whole_json(run([KEEL, "memory", run_id, "--json"], clean_environment() | {
        "KEEL_RUN_DIR": str(space.runs), "KEEL_CONFIG": os.devnull})) or {}
    devices = answer.get("devices", [])
    report.check("memory: each device says what it has", devices and all(
        0 < device["most"] <= device["limit"] for device in devices), json.dumps(answer)[:400])


def check_training(space):
    ways = Ways(space, CLIENT / "trainer.py")
    wanted = ways.alone()
    own = {"JAX_COMPILATION_CACHE_DIR": str(space.path("jax-cache")),
           "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    ways.alone("JAX's cache, cold", **own)
    ways.alone("JAX's cache, warm", **own)
    cold, events = ways.keel("cold")
    report.check("training, cold: the losses are those of JAX alone", is_near(cold, wanted), cold)
    plugin = (of_kind(events, "start") or [{}])[0].get("plugin", {}).get("path", "")
    report.check("training: it ran on the GPU's plugin", "cuda" in plugin or "rocm" in plugin, plugin)
    warm, loaded = ways.keel("warm")
    check_memory(space, ways.run_id)
    report.check("training, warm: the losses are those of JAX alone", is_near(warm, wanted), warm)
    check_loaded("training", loaded)
    _, again = ways.keel("cold again", "another-cache")
    report.check("training: another process asks for the same keys", keys(again) == keys(events) != [],
                 (keys(events), keys(again)))
    ways.tell()


def near(a, b):
    flat = [x for pair in b for x in pair]
    return len(a) == len(b) and all(abs(x - y) <= 5e-3 * max([1, *map(abs, flat)])
                                    for pair, other in zip(a, b) for x, y in zip(pair, other))


def check_linalg(space):
    ways = Ways(space, CLIENT / "linalg_programs.py")
    wanted = ways.alone() or {}
    for way in ("cold", "warm"):
        got, events = ways.keel(way)
        wrong = [name for name in wanted if name != "devices"
                 and not near((got or {}).get(name, []), wanted[name])]
        report.check(f"linalg, {way}: {len(wanted)} results are those of JAX alone", wanted and not wrong, wrong)
    check_loaded("linalg", events)
    ways.tell()


def check_kernel(space):
    script = space.path("kernel.py")
    script.write_text(KERNEL)
    ways = Ways(space, script)
    for way in ("cold", "warm"):
        got, events = ways.keel(way)
        report.equal(f"a kernel of Pallas, {way}: its values are right", got, 0.0)
    check_loaded("a kernel of Pallas", events)
    ways.tell()


def check_callbacks(space):
    ways = Ways(space, CLIENT / "callback_programs.py")
    wanted = ways.alone()
    for way in ("cold", "warm"):
        got, _ = ways.keel(way)
        report.equal(f"callbacks, {way}: what they give is what it is with JAX alone", got, wanted)
    ways.tell()


def main():
    why = why_not()
    if why:
        print(f"gpu tests: skipped: JAX finds no GPU ({why}); run `make test-gpu` where one is")
        sys.exit(SKIPPED)
    with Workspace("gpu") as space:
        check_training(space)
        check_linalg(space)
        check_kernel(space)
        check_callbacks(space)
    report.finish()


if __name__ == "__main__":
    main()
