"""XLA's dumps and the cache: a program that is compiled is dumped as without Keel and stored all the
same; one that is loaded is dumped as asked for and as optimized, where this run wants it; what only
a compile writes is compiled, as far as XLA's filter goes; and nothing is written where nobody asked
for it."""

import collections
import re

from harness import (KEEL, Report, Workspace, PYTHON, bare_environment, clean_environment, journal, keel_environment, of_kind, run,
                     told)

report = Report()

SCRIPT = '''
import os, sys
# As trainers do: the flags are set by the script, before JAX is imported.
if os.environ.get("TEST_FLAGS"):
    os.environ["XLA_FLAGS"] = os.environ["TEST_FLAGS"]
import jax, jax.numpy as jnp
options = {"xla_dump_to": os.environ["TEST_FOLDER"]} if os.environ.get("TEST_FOLDER") else None
def train_step(x):
    return jnp.tanh(x) @ x.T + 1
def eval_step(x):
    return jnp.sin(x).sum() * 2
for function in train_step, eval_step:
    compiled = jax.jit(function).lower(jnp.ones((8, 4))).compile(compiler_options=options)
    print(float(compiled(jnp.ones((8, 4))).sum()))
'''
STEPS = ("train_step", "eval_step")
LOADED = "programs that are loaded are dumped as asked for and as optimized"
COMPILED = "asks for what only a compile writes"


def written(folder):
    """The dumps by kind, less what counts the modules of the process."""
    if not folder.exists():
        return None
    names = [re.sub(r"^(\d+\.)?module_\d+\.", "", path.name) for path in folder.rglob("*") if path.is_file()]
    return collections.Counter(re.sub(r"\d+", "N", name) for name in names
                               if any(step in name for step in STEPS))


def by_a_load(*names):
    """What a load writes of these functions."""
    return collections.Counter(f"jit_{name}.{kind}" for name in names
                               for kind in ("after_optimizations.txt", "before_optimizations.mlirbc", "debug_options"))


class Runs:
    """Processes of the script, all on one cache."""

    def __init__(self, space, script):
        self.space, self.script = space, script

    def __call__(self, name, flags="", folder=None, mode="on", bare=False):
        """What it dumped, by folder `dump-NAME`; how often each function was compiled and loaded; what Keel said."""
        dump = self.space.path(f"dump-{name}")
        more = {"TEST_FLAGS": flags.format(dump), "TEST_FOLDER": str(folder and dump or "")}
        environment = (bare_environment() | more if bare else
                       keel_environment(self.space.path("cache"), self.space.runs, name, mode, **more))
        answer = run([PYTHON, self.script], environment)
        report.check(f"{name}: it ran", answer.code == 0, told(answer, 8))
        return written(dump), {} if bare else self.kinds(name), answer

    def kinds(self, name):
        events = journal(self.space.runs, name)
        return {step: [kind for kind in ("compile", "load", "publish")
                       if any(step in (event.get("name") or "") for event in of_kind(events, kind))]
                for step in STEPS}


def everything(runs, how):
    """The usual dumps, by XLA_FLAGS or by the compile options."""
    asks = {"flags": "--xla_dump_to={}"} if how == "flags" else {"folder": True}
    wanted, _, _ = runs(f"{how}-bare", **asks, bare=True)
    report.check(f"{how}: the plugin dumps", wanted, wanted)
    got, kinds, answer = runs(f"{how}-cold", **asks, mode="refresh")
    report.equal(f"{how}: what is compiled is dumped as without Keel, and once", got, wanted)
    report.equal(f"{how}: and stored", kinds, {step: ["compile", "publish"] for step in STEPS})
    report.check(f"{how}: nothing is said", "dump" not in answer.err, answer.err)
    folder = runs.space.path(f"dump-{how}-cold")
    files = sorted(folder.rglob("*"))
    got, kinds, answer = runs(f"{how}-plain")
    report.equal(f"{how}: without the flag it is loaded", kinds, {step: ["load"] for step in STEPS})
    report.equal(f"{how}: and the first run's folder is left alone", sorted(folder.rglob("*")), files)
    report.check(f"{how}: nothing is said then", "dump" not in answer.err, answer.err)
    got, kinds, answer = runs(f"{how}-warm", **asks)
    report.equal(f"{how}: with the flag it is loaded too", kinds, {step: ["load"] for step in STEPS})
    report.equal(f"{how}: and dumped, as far as a load can", got, by_a_load(*STEPS))
    report.equal(f"{how}: that is said once", answer.err.count(LOADED), 1)
    report.equal(f"{how}: the first run's folder is left alone by that too", sorted(folder.rglob("*")), files)


def filters(runs):
    """A trainer's default: only its step is dumped. And what only a compile writes."""
    usual = "--xla_dump_to={} --xla_dump_large_constants --xla_dump_hlo_module_re=jit_train_step"
    got, kinds, _ = runs("trainer", usual)
    report.equal("trainer: both are loaded", kinds, {step: ["load"] for step in STEPS})
    report.equal("trainer: the step is dumped", got, by_a_load("train_step"))
    got, kinds, answer = runs("passes", usual + " --xla_dump_hlo_pass_re=.*")
    report.equal("passes: the step is compiled, the other function loaded", kinds,
                 {"train_step": ["compile", "publish"], "eval_step": ["load"]})
    report.check("passes: its passes are dumped", got and sum("after_pipeline" in name for name in got) > 3, got)
    report.equal("passes: that is said once", answer.err.count(COMPILED), 1)
    got, kinds, _ = runs("protos", "--xla_dump_to={} --xla_dump_hlo_as_proto --xla_dump_hlo_module_re=eval")
    report.equal("protos: the optimized program is one", got and got["jit_eval_step.after_optimizations.hlo.pb"], 1)
    report.equal("protos: both are loaded", kinds, {step: ["load"] for step in STEPS})
    # A filter that excludes a program that has to be compiled: it is stored as if nothing were dumped.
    got, kinds, _ = runs("excluded", "--xla_dump_to={} --xla_dump_hlo_module_re=nothing", mode="refresh")
    report.equal("excluded: they are compiled and stored", kinds, {step: ["compile", "publish"] for step in STEPS})
    report.check("excluded: and not dumped", not got, got)


def obstacles(runs):
    runs.space.path("dump-file").write_text("")
    got, kinds, answer = runs("file", "--xla_dump_to={}/below")
    report.equal("a folder that cannot be: they are loaded", kinds, {step: ["load"] for step in STEPS})
    report.equal("a folder that cannot be: one line", answer.err.count("keel: dumps of loaded programs"), 1)


def own_client(space, script):
    """JAX's own client, behind which `keel run` stands: its loads take other options too."""
    def execute(name, flags=""):
        dump = space.path(f"dump-own-{name}")
        environment = clean_environment() | {
            "KEEL_CACHE_DIR": str(space.path("cache-own")), "KEEL_RUN_DIR": str(space.path("runs-own")),
            "KEEL_CONFIG": "/dev/null", "TEST_FLAGS": flags.format(dump)}
        answer = run([KEEL, "run", "--", PYTHON, script], environment)
        report.check(f"own client, {name}: it ran", answer.code == 0, told(answer, 8))
        return written(dump), answer
    execute("cold", "--xla_dump_to={}")
    files = sorted(space.path("dump-own-cold").rglob("*"))
    report.check("own client: it dumps", files)
    _, answer = execute("plain")
    report.check("own client: what was dumped is stored", "nothing compiled" in answer.err, answer.err)
    report.equal("own client: the first run's folder is left alone", sorted(space.path("dump-own-cold").rglob("*")), files)
    got, answer = execute("warm", "--xla_dump_to={}")
    report.check("own client: with the flag it is loaded too", "nothing compiled" in answer.err, answer.err)
    report.equal("own client: and dumped, as far as a load can", got, by_a_load(*STEPS))


def rehearsed(space, script):
    """A rehearsal's files are discarded, so it dumps nothing, and what it compiled is there for the run."""
    def execute(name, *words, flags=""):
        dump = space.path(f"dump-rehearsed-{name}")
        environment = clean_environment() | {
            "KEEL_CACHE_DIR": str(space.path("cache-rehearsed")), "KEEL_RUN_DIR": str(space.path("runs-rehearsed")),
            "KEEL_CONFIG": "/dev/null", "TEST_FLAGS": flags.format(dump)}
        answer = run([KEEL, *words, "--", PYTHON, script], environment)
        report.check(f"rehearsed, {name}: it ran", answer.code == 0, told(answer, 8))
        return written(dump), answer
    rehearse = ("rehearse", "--on", "cpu:1")
    _, answer = execute("kept", *rehearse, "--writes", "keep", flags="--xla_dump_to={}")
    report.check("rehearsed: files that are kept are dumped", written(space.path("dump-rehearsed-kept")))
    _, answer = execute("cold", *rehearse, flags="--xla_dump_to={} --xla_dump_hlo_pass_re=.*")
    if "cannot be undone here" in answer.err:
        report.skip("a rehearsal whose files are discarded", answer.err)
        return
    report.check("rehearsed: nothing is said of dumps", "--xla" not in answer.err, answer.err)
    _, answer = execute("run", "run", "--plugin", "cpu")
    report.check("rehearsed: the run compiles nothing", "nothing compiled" in answer.err, answer.err)
    report.equal("rehearsed: and dumps nothing", written(space.path("dump-rehearsed-cold")), None)


def main():
    with Workspace("dumps") as space:
        script = space.path("script.py")
        script.write_text(SCRIPT)
        runs = Runs(space, script)
        for how in ("flags", "options"):
            everything(runs, how)
        filters(runs)
        obstacles(runs)
        own_client(space, script)
        rehearsed(space, script)
    report.finish()


if __name__ == "__main__":
    main()
