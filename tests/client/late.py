"""Flags that the script sets once XLA has read them: said once, while the run goes on, and by `keel why`
and `keel diff`; and not where they come in time. That jit is disabled is said too."""

from harness import (KEEL, PLUGIN, PYTHON, Report, Workspace, journal, keel_environment, of_kind, run,
                     run_environment, told)

report = Report()

SCRIPT = '''
import os, sys
when = sys.argv[1]
def set_flags():
    os.environ["XLA_FLAGS"] = sys.argv[2]
if when == "first":
    set_flags()
import jax, jax.numpy as jnp
jax.devices()
if when == "before a compile":
    set_flags()
jax.jit(lambda x: (x / 3).sum())(jnp.arange(8.0))
if when == "late":
    set_flags()
jax.jit(lambda x: (x / 5).sum())(jnp.arange(8.0))
jax.jit(lambda x: (x / 7).sum())(jnp.arange(8.0))
'''
SAID = "keel: XLA_FLAGS was set after the client was made, so it has no effect: xla_cpu_enable_fast_math=true;"
SHOWN = "XLA_FLAGS was set too late to have an effect: xla_cpu_enable_fast_math=true"


def execute(space, when, flags="--xla_cpu_enable_fast_math=true", name=None):
    name = name or when.replace(" ", "-")
    answer = run([PYTHON, space.path("script.py"), when, flags],
                 keel_environment(space.path("cache"), space.runs, name))
    report.check(f"{name}: it ran", answer.code == 0, told(answer, 8))
    events = of_kind(journal(space.runs, name), "late")
    return answer.err.count(SAID), [(event["what"], event["value"]) for event in events]


def no_part_of_keys(space):
    """Flags that no key has are late all the same."""
    devices, dump = "xla_force_host_platform_device_count=8", f"xla_dump_to={space.path('dump')}"
    for name, flags in ("devices", [devices]), ("dump", [dump]), ("several", ["xla_cpu_enable_fast_math=true", dump, devices]):
        _, events = execute(space, "late", " ".join(f"--{flag}" for flag in flags), name)
        report.equal(f"{name}: each flag is named", events, [("XLA_FLAGS", " ".join(sorted(flags)))])
    _, events = execute(space, "before a compile", f"--{devices}", "devices-before")
    report.equal("devices: the client that has them was made", events, [("XLA_FLAGS", devices)])
    report.equal("a dump that the first compile may still see is not named",
                 execute(space, "before a compile", f"--{dump}", "dump-before"), (0, []))


def keel(space, *words):
    environment = keel_environment(space.path("cache"), space.runs, "none")
    answer = run([KEEL, *words], environment)
    report.check(f"keel {words[0]}: it ran", answer.code in (0, 1), told(answer))
    return answer.out


EAGER = '''
import sys
import jax, jax.numpy as jnp
step = jax.jit(lambda x: jnp.tanh(x) + 1)
step(jnp.ones(4))
if sys.argv[1] == "config":
    jax.config.update("jax_disable_jit", True)
if sys.argv[1] == "context":
    with jax.disable_jit():
        step(jnp.ones(4)), step(jnp.ones(4))
if sys.argv[1] == "over":
    with jax.disable_jit():
        pass
step(jnp.ones(4)), step(jnp.ones(5))
'''


def disabled_jit(space):
    """Noticed however it comes about; never elsewhere."""
    space.path("eager.py").write_text(EAGER)
    for how in "never", "over", "variable", "config", "context":
        environment = run_environment(space.path("cache"), space.runs)
        if how == "variable":
            environment["JAX_DISABLE_JIT"] = "1"
        answer = run([KEEL, "run", "--plugin", PLUGIN, "--", PYTHON, space.path("eager.py"), how], environment)
        report.check(f"jit disabled, {how}: it ran", answer.code == 0, told(answer, 8))
        report.equal(f"jit disabled, {how}: how often it is said",
                     answer.err.count("keel: jit is disabled (jax_disable_jit)"), int(how not in ("never", "over")))


def main():
    with Workspace("late") as space:
        space.path("script.py").write_text(SCRIPT)
        change = ("XLA_FLAGS", "xla_cpu_enable_fast_math=true")
        report.equal("late: said once, and in the journal", execute(space, "late"), (1, [change]))
        for when in "first", "before a compile", "never":
            report.equal(f"{when}: nothing is said", execute(space, when), (0, []))
        no_part_of_keys(space)
        keys = {when: {event["key"] for event in of_kind(journal(space.runs, when), "compile", "load")}
                for when in ("late", "first")}
        report.check("no program of a run with the flags is one of the run that set them late",
                     not keys["late"] & keys["first"], keys)
        report.check("keel why names it", SHOWN in keel(space, "why", "late"))
        out = keel(space, "diff", "late", "first")
        report.check("keel diff names it", SHOWN in out, out)
        report.check("keel diff names the flag", "xla_cpu_enable_fast_math: unset -> true" in out, out)
        disabled_jit(space)
    report.finish()


if __name__ == "__main__":
    main()
