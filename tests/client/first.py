"""Where the time of a start went, and what makes a program large, with real JAX on its own client and on the
embedded plugin."""

from harness import PYTHON, Report, Workspace
from stage import Stage

report = Report()
LAYERS = 12

SCRIPT = f'''
import numpy as np
import jax, jax.numpy as jnp
table = np.arange(256 * 256, dtype=np.float32).reshape(256, 256)

def layer(x, w):
    x = jax.nn.gelu(x @ w)
    return x / jnp.sqrt(jnp.sum(x * x) + 1e-6)

@jax.jit
def step(x, ws):
    for w in ws:
        x = layer(x, w)  # unrolled
    return (x @ table).sum()  # array

x, ws = jnp.ones((8, 256)), [jnp.ones((256, 256)) * i for i in range({LAYERS})]
for _ in range(3):
    step(x, ws).block_until_ready()
'''
PARTS = ("before_seconds", "client_seconds", "traced_seconds", "lowered_seconds", "compiled_seconds", "loaded_seconds",
         "overhead_seconds", "rest_seconds")


def line_of(mark):
    return next(number for number, line in enumerate(SCRIPT.splitlines(), 1) if line.endswith(f"# {mark}"))


def check(stage, client):
    answer = stage.keel("run", "--", PYTHON, "first.py")
    report.check(f"{client}: it runs", answer.code == 0, answer.err)
    start = stage.answer("why", "--first")
    parts = sum(start[part] or 0 for part in PARTS)
    report.check(f"{client}: the parts are the whole", abs(parts - start["seconds"]) < 1e-3, start)
    report.check(f"{client}: JAX says how long it traces and lowers",
                 start["traced_seconds"] > 0 and start["lowered_seconds"] > 0 and start["before_seconds"] > 0, start)
    step = next(program for program in start["programs"] if program["name"] == "jit_step")
    report.equal(f"{client}: the line that is unrolled, and how often", (step["repeat"]["shown"], step["repeat"]["times"]),
                 (f"first.py:{line_of('unrolled')}", LAYERS))
    report.equal(f"{client}: the array that it carries, and for which line",
                 [(array["type"], array["bytes"], array["shown"]) for array in step["arrays"]],
                 [("f32[256,256]", 262144, f"first.py:{line_of('array')}")])
    report.check(f"{client}: what is traced is part of the program's time",
                 0 < step["traced_seconds"] < step["seconds"], step)
    said = stage.keel("why", "--first").out
    for words in ("The first step had all its programs after ", f"first.py:{line_of('unrolled')} is unrolled {LAYERS} times: ",
                  f"it carries an array of 256 KiB, f32[256,256], for first.py:{line_of('array')}"):
        report.check(f"{client}: the text says '{words}'", words in said, said)


with Workspace("first") as space:
    for client in ("own", "embedded"):
        stage = Stage(space, client)
        stage.environment["KEEL_JAX_CPU"] = client
        stage.script("first.py", SCRIPT)
        check(stage, client)
report.finish()
