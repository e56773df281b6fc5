"""A training is rehearsed on GPUs and TPUs that are not there, with real JAX and the real compilers.

Usage: rehearse.py cuda|tpu
"""

import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import KEEL, Report, Workspace, clean_environment, run, told, whole_json  # noqa: E402

PYTHON = os.environ["KEEL_TARGETS_PYTHON"]
TARGET = {"cuda": "h200:8", "tpu": "v6e:2x4"}[sys.argv[1]]
KIND = {"cuda": "NVIDIA H200", "tpu": "TPU v6 lite"}[sys.argv[1]]

# The state is donated, and the last batch is short.
TRAIN = """
import jax, jax.numpy as jnp, numpy as np
print(jax.devices()[0].device_kind, jax.device_count(), jax.default_backend())
def step(state, batch):
    return jnp.tanh(state @ state) + (batch * 2).sum(), state.mean()
step = jax.jit(step, donate_argnums=0)
state = jax.device_put(np.ones((1024, 1024), np.float32))
for index in range(6):
    state, loss = step(state, np.full(8 if index < 5 else 3, index, np.float32))
print(float(loss))
"""

# All devices have a part, and only the compiler knows how the result is sharded.
SHARDED = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec
mesh = jax.make_mesh((8,), ("data",))
rows = jax.device_put(np.ones((64, 128), np.float32), NamedSharding(mesh, PartitionSpec("data")))
print(jax.jit(lambda rows: jnp.sin(rows) * 2)(rows).sharding.spec)
"""

report = Report()


class Stage:
    def __init__(self, space, name):
        self.folder = space.path(name)
        self.folder.mkdir()
        self.environment = clean_environment() | {
            "KEEL_CACHE_DIR": str(self.folder / "cache"), "KEEL_RUN_DIR": str(self.folder / "runs"),
            "KEEL_CONFIG": os.devnull}

    def keel(self, *words):
        return run([KEEL, *words], self.environment, cwd=self.folder)

    def rehearse(self, text, *options):
        (self.folder / "train.py").write_text(text)
        return self.keel("rehearse", "--on", TARGET, *options, "--", PYTHON, "train.py")

    def answer(self, *words):
        return whole_json(self.keel(*words, "--json"))


def check_training(space, compiles):
    stage = Stage(space, f"train-{compiles}")
    answer = stage.rehearse(TRAIN, "--compile", compiles)
    backend = {"cuda": "gpu", "tpu": "tpu"}[sys.argv[1]]
    report.equal(f"--compile {compiles}: the script sees the target and ends",
                 (answer.code, answer.out), (0, f"{KIND} 8 {backend}\n0.0\n"))
    report.check("the summary names it, and no plugin", f"keel: rehearsed on {TARGET}: 6 steps, " in answer.err
                 and "in front of" not in answer.err, told(answer))
    report.equal("the recompile is explained",
                 [(cause["kind"], cause["subject"], cause["old"], cause["new"], cause["line"])
                  for cause in stage.answer("why")], [("shape", "batch", "f32[8]", "f32[3]", 9)])
    report.equal("whether it fits is known if it was compiled", stage.answer("memory")["rehearsal"]["fits"],
                 None if compiles == "none" else True)
    return stage


def check_again(stage):
    answer = stage.rehearse(TRAIN)
    report.check("what is in the cache is not compiled again", answer.code == 0
                 and "nothing compiled, " in answer.err, told(answer))
    run_id = stage.answer("stats")["id"]
    answer = stage.keel("aot", "--on", TARGET, run_id)
    report.check("nor by keel aot", answer.code == 0 and "0 of " in answer.err, told(answer))


def check_sharded(space):
    stage = Stage(space, "sharded")
    answer = stage.rehearse(SHARDED, "--compile", "none")
    report.equal("the compiler says how a result is sharded, whatever --compile says",
                 (answer.code, answer.out), (0, "P('data', None)\n"))
    report.equal("so nothing is guessed", stage.answer("stats")["rehearsal"]["guesses"], [])


def check_description(space):
    """What a real machine says of itself is in the keys of what is compiled for it."""
    stage = Stage(space, "described")
    (stage.folder / "train.py").write_text(TRAIN)
    target = json.loads(stage.keel("rehearse", "--describe", TARGET).out)
    target |= {"platform_version": "version 7", "build": "00ff"}
    (stage.folder / "there.json").write_text(json.dumps(target))
    answer = stage.keel("rehearse", "--on", "there.json", "--", PYTHON, "train.py")
    report.check("another build of the plugin is named", answer.code == 0
                 and f"keel: {TARGET} has another build of the plugin (00ff) than " in answer.err,
                 told(answer))
    platforms = {entry["components"]["platform"]["value"] for entry in stage.answer("cache", "ls")}
    report.check("the plugin's version is the machine's", len(platforms) == 1
                 and 'version="version 7"' in platforms.pop(), platforms)


def check_share(space):
    """JAX's setting of how much of a GPU its allocator takes."""
    stage = Stage(space, "share")
    stage.environment["XLA_CLIENT_MEM_FRACTION"] = "0.5"
    answer = stage.rehearse(TRAIN)
    limits = {device["limit"] for device in stage.answer("memory")["devices"]}
    report.equal("the limit is the share of the memory that the client asks for", limits,
                 {stage.answer("stats")["rehearsal"]["target"]["memory"] // 2})
    ahead = stage.keel("aot", "--on", TARGET, "latest")
    report.check("also for keel aot", answer.code == 0 and "keel: 0 of " in ahead.err, told(ahead))


with Workspace("rehearse") as space:
    check_training(space, "none")
    check_again(check_training(space, "new"))
    check_sharded(space)
    check_description(space)
    if TARGET == "h200:8":
        check_share(space)
report.finish()
