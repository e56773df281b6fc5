"""XLA's dumps: where they are asked for, a program that is in the cache is compiled, so that the same
files are written as without Keel, and none twice."""

import collections
import re

from harness import (Report, Workspace, PYTHON, bare_environment, journal, keel_environment, of_kind, run,
                     told)

report = Report()

SCRIPT = '''
import sys
import jax, jax.numpy as jnp
options = {"xla_dump_to": sys.argv[1]} if len(sys.argv) > 1 else None
step = jax.jit(lambda x: jnp.tanh(x) @ x.T + 1).lower(jnp.ones((8, 4))).compile(compiler_options=options)
print(float(step(jnp.ones((8, 4))).sum()))
'''


def written(folder):
    """The dumps by kind, less what counts the modules of the process."""
    names = [re.sub(r"^module_\d+\.", "", path.name) for path in folder.rglob("*") if path.is_file()]
    return collections.Counter(re.sub(r"\d+", "N", name) for name in names if "lambda" in name)


def execute(space, script, name, dump, how, mode):
    """One process: `how` it asks for dumps, `mode` None for the bare plugin. What it dumped, its answer."""
    folder = space.path(f"dump-{name}")
    more = {"XLA_FLAGS": f"--xla_dump_to={folder}"} if how == "flags" and dump else {}
    if mode:
        environment = keel_environment(space.path(f"cache-{how}"), space.runs, name, mode, **more)
    else:
        environment = bare_environment() | more
    words = [folder] if how == "options" and dump else []
    answer = run([PYTHON, script, *words], environment)
    report.check(f"{name}: it ran", answer.code == 0, told(answer, 8))
    return (written(folder) if folder.exists() else None), answer


def kinds(space, name):
    """How often the function was compiled, loaded and stored."""
    events = journal(space.runs, name)
    return {kind: sum("lambda" in (event.get("name") or "") for event in of_kind(events, kind))
            for kind in ("compile", "load", "publish")}


def check(space, script, how):
    wanted, _ = execute(space, script, f"{how}-bare", True, how, None)
    report.check(f"{how}: the plugin dumps", wanted, wanted)
    execute(space, script, f"{how}-cold", False, how, "on")
    got, answer = execute(space, script, f"{how}-hit", True, how, "on")
    report.equal(f"{how}: a program that is stored is dumped as without Keel", got, wanted)
    report.equal(f"{how}: it is compiled", kinds(space, f"{how}-hit"),
                 {"compile": 1, "load": 0, "publish": 0})
    report.equal(f"{how}: that is said once", answer.err.count(
        "XLA was asked for dumps (--xla_dump_to), so programs are compiled, not loaded"), 1)
    _, answer = execute(space, script, f"{how}-after", False, how, "on")
    report.equal(f"{how}: afterwards it is loaded", kinds(space, f"{how}-after"),
                 {"compile": 0, "load": 1, "publish": 0})
    report.check(f"{how}: nothing is said then", "asked for dumps" not in answer.err)
    got, _ = execute(space, script, f"{how}-refresh", True, how, "refresh")
    report.equal(f"{how}: nothing is dumped twice", got, wanted)


def main():
    with Workspace("dumps") as space:
        script = space.path("script.py")
        script.write_text(SCRIPT)
        for how in ("flags", "options"):
            check(space, script, how)
    report.finish()


if __name__ == "__main__":
    main()
