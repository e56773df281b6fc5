"""How many devices a program sees on the embedded CPU plugin: as many as on JAX's own CPU client,
whatever it asks for them with, and with `cpu_devices` more for programs that ask for no number."""

import os

from harness import (KEEL, PYTHON, Report, Workspace, clean_environment, compiles, finish, journal,
                     last_json, loads, of_kind, other_plugins, run, start, told)
from harness import PLUGIN as EMBEDDED

report = Report()
FLAG = "XLA_FLAGS=--xla_force_host_platform_device_count="

PROGRAM = '''
import json, os
{first}
import jax, jax.numpy as jnp
{second}
try:
    devices = jax.devices()
    answer = {{"count": len(devices), "local": jax.local_device_count(),
              "cpu": len(jax.devices("cpu")), "last": float(jax.device_put(jnp.ones(3), devices[-1]).sum())}}
except RuntimeError as error:
    answer = {{"error": str(error).split(" (")[0].replace("'keel'", "'cpu'")}}
print(json.dumps(answer))
'''


def write(space, title, first="", second=""):
    path = space.path(title.replace(" ", "_") + ".py")
    path.write_text(PROGRAM.format(first=first, second=second))
    return path


def settings(*given):
    return dict(text.split("=", 1) for text in given)


def under_keel(space, path, given=(), flags=(), place="all"):
    return run([KEEL, "run", *flags, "--", PYTHON, path], clean_environment() | settings(*given) | {
        "KEEL_CONFIG": os.devnull, "KEEL_CACHE_DIR": str(space.path(f"{place}-cache")),
        "KEEL_RUN_DIR": str(space.path(place))})


def as_on_the_cpu_client(space):
    """Each way in which a program can ask JAX for CPU devices, or not."""
    configured = 'jax.config.update("jax_num_cpu_devices", 3)'
    by_script = 'os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=5"'
    flags = space.path("flags")
    flags.write_text("--xla_force_host_platform_device_count=4\n")
    for title, first, second, given, count in (
            ("nothing asked for", "", "", (), 1),
            ("JAX's variable", "", "", ("JAX_NUM_CPU_DEVICES=2",), 2),
            ("JAX's setting in the script", "", configured, (), 3),
            ("XLA's flag", "", "", (FLAG + "4",), 4),
            ("XLA's flag in a file", "", "", (f"XLA_FLAGS={flags}",), 4),
            ("XLA's flag in the script", by_script, "", (), 5),
            ("JAX's setting and XLA's flag", by_script, configured, (), 3),
            ("no device", "", "", ("JAX_NUM_CPU_DEVICES=0",), None)):
        path = write(space, title, first, second)
        bare = start([PYTHON, path], clean_environment() | settings("JAX_PLATFORMS=cpu", *given))
        keel, bare = under_keel(space, path, given), finish(bare)
        report.check(f"{title}: as on JAX's CPU client", last_json(keel) is not None
                     and last_json(keel) == last_json(bare), f"{told(bare)}\n{told(keel)}")
        report.equal(f"{title}: the number", (last_json(keel) or {}).get("count"), count)


def with_keels_setting(space):
    plain = write(space, "plain")
    options = write(space, "options", second='jax.config.update("jax_pjrt_client_create_options", '
                                             '{"cpu_device_count": 3})')
    for title, path, given, flags, count in (
            ("the environment", plain, ("KEEL_CPU_DEVICES=2",), (), 2),
            ("a flag", plain, ("KEEL_CPU_DEVICES=2",), ("--cpu-devices", "4"), 4),
            ("the program's own number", plain, (FLAG + "3", "KEEL_CPU_DEVICES=2"), (), 3),
            ("an option of the client", options, (FLAG + "2", "KEEL_CPU_DEVICES=2"), (), 3),
            ("mode off", plain, (), ("--mode", "off"), 1),
            ("mode off and a flag", plain, (), ("--mode", "off", "--cpu-devices", "2"), 2),
            ("the plugin by name", plain, (), ("--plugin", "cpu"), 1),
            ("the plugin by path", plain, ("JAX_NUM_CPU_DEVICES=2",), ("--plugin", EMBEDDED), 2)):
        answer = under_keel(space, path, given, flags)
        report.equal(f"{title}: the number", (last_json(answer) or {}).get("count"), count)
    for title, given, flags, count in (
            ("nothing", (), (), 1),
            ("the environment", ("KEEL_CPU_DEVICES=2",), (), 2),
            ("a flag", (), ("--cpu-devices", "4"), 4),
            ("JAX's variable", ("JAX_NUM_CPU_DEVICES=3",), ("--cpu-devices", "4"), 3),
            ("XLA's flag", (FLAG + "3",), ("--cpu-devices", "4"), 3)):
        answer = under_keel(space, plain, given, ("--jax-cpu", "own", *flags))
        report.equal(f"JAX's own client, {title}: the number", (last_json(answer) or {}).get("count"), count)
    for name, plugin in other_plugins():
        answer = under_keel(space, plain, (), ("--plugin", plugin))
        report.equal(f"{name}: one device", (last_json(answer) or {}).get("count"), 1)
    for value in ("0", "-1", "two", "1025", "1.5"):
        answer = under_keel(space, plain, (), (f"--cpu-devices={value}",))
        report.check(f"{value} is refused", answer.code == 2 and
                     f"--cpu-devices: '{value}' is not a number of devices" in answer.err, told(answer))


def keys(space):
    """An entry is for a number of devices."""
    path, runs = write(space, "keyed"), space.path("keys")
    for given, compiled in ((), True), ((), False), (("JAX_NUM_CPU_DEVICES=2",), True), ((), False):
        under_keel(space, path, given, place="keys")
        events = journal(runs, max(path.name for path in runs.glob("20*")))
        report.check(f"{given or 'nothing'} asked for: it {'compiles' if compiled else 'loads'}",
                     bool(compiles(events)) == compiled and bool(loads(events)) != compiled,
                     of_kind(events, "compile", "load"))


def main():
    with Workspace("devices") as space:
        as_on_the_cpu_client(space)
        with_keels_setting(space)
        keys(space)
    report.finish()


if __name__ == "__main__":
    main()
