"""A rehearsed run is replayed with its target's real compiler: the same keys; on another device of
the platform, other keys, and which part of them differs.

Usage: replay.py TARGET OTHER
"""

import json
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "client"))

from harness import KEEL, Report, Workspace, clean_environment, run, told  # noqa: E402

PYTHON = os.environ["KEEL_TARGETS_PYTHON"]
SCRIPT = '''
import jax, jax.numpy as jnp
print(jax.jit(lambda x, w: jnp.tanh(x @ w).sum())(jnp.ones((64, 128)), jnp.ones((128, 128))))
'''

report = Report()
target, other = sys.argv[1:]
with Workspace("replay-target") as space:
    environment = clean_environment() | {
        "KEEL_CACHE_DIR": str(space.path("cache")), "KEEL_RUN_DIR": str(space.runs),
        "KEEL_CONFIG": os.devnull}
    script = space.path("program.py")
    script.write_text(SCRIPT)
    report.equal("the run is rehearsed",
                 run([KEEL, "rehearse", "--on", target, "--", PYTHON, script], environment).code, 0)
    for on in (None, other):
        answer = run([KEEL, "replay", "--json", "latest", *(["--on", on] if on else [])], environment)
        report.equal(f"on {on or target}: nothing fails", answer.code, 1 if on else 0) or print(
            told(answer))
        found = json.loads(answer.out or '{"programs": []}')
        report.check("its programs are there", found["programs"], told(answer))
        for program in found["programs"]:
            name = f"on {on or target}: {program['name']}"
            report.equal(f"{name} is compiled", program["state"], "compiled")
            report.equal(f"{name} has the key of the run", program["key"]["same"], not on)
            report.equal(f"{name} is not run", program["results"].get("why"),
                         f"{on or target} is not here")
            subjects = [part["subject"] for part in program["key"].get("differs", [])]
            report.check(f"{name}: the device is what differs",
                         not on or any("device" in subject or "topology" in subject or
                                       "version" in subject for subject in subjects), subjects)
report.finish()
