"""`keel probe` on the real plugins: each is alive, what it says of its devices is so,
its keys are those of a client behind Keel, and what it foretells of an entry comes true."""

import json
import os

from harness import (KEEL, PLUGIN, PYTHON, Report, Workspace, clean_environment, finish, journal,
                     keel_environment, loads, other_plugins, start, told, whole_json)

report = Report()
PROGRAM = "import jax; print(jax.jit(lambda x: x * 2 + 1)(jax.numpy.arange(4.0)))"
# Steps that XLA's CPU plugins get right.
GOOD = ("load", "client", "devices", "compile", "run", "serialize", "reload", "run again",
        "last device", "older client")


def probe(space, plugin, *options, **more):
    environment = clean_environment() | {"KEEL_CPU_DEVICES": "4", "KEEL_CACHE_DIR": str(space.path("cache")),
                                         "KEEL_RUN_DIR": str(space.runs),
                                         "KEEL_CONFIG": os.devnull, **more}
    return finish(start([KEEL, "probe", "--json", plugin, *options], environment))


def on_plugin(space, name, plugin):
    answer = probe(space, plugin)
    found = whole_json(answer)
    if not report.check(f"{name}: answers", found is not None, told(answer)):
        return None
    report.equal(f"{name}: alive", (answer.code, found["verdict"]), (0, "alive"))
    steps = {step: outcome["state"] for step, outcome in found["steps"].items()}
    report.equal(f"{name}: steps", {step: steps.get(step) for step in GOOD},
                 dict.fromkeys(GOOD, "ok"))
    bundle = found["bundle"]
    report.equal(f"{name}: devices by kind and id", list(bundle["memory"]),
                 [f"cpu:{number}" for number in range(4)])
    report.check(f"{name}: memory is refused by name", all(
        memory.startswith("unknown: UNIMPLEMENTED: PJRT_Device_MemoryStats")
        for memory in bundle["memory"].values()), bundle["memory"])
    labels = {finding["label"] for finding in found["findings"]}
    report.check(f"{name}: each finding has a label and a next step",
                 labels <= {"backend defect", "launch policy", "version gate", "model policy"}
                 and all(finding["next"] for finding in found["findings"]), found["findings"])
    return found


def through_keel(space, plugin, run):
    return finish(start([PYTHON, "-c", PROGRAM],
                        keel_environment(space.path("cache"), space.runs, run, plugin=plugin)))


def compared(space, one, other):
    """Whether an entry would hit, and the components of keys that differ."""
    files = [space.path("one.json"), space.path("other.json")]
    for path, found in zip(files, (one, other)):
        path.write_text(json.dumps(found))
    diff = whole_json(finish(start([KEEL, "bundle", "diff", "--json", *files],
                                   clean_environment()))) or {}
    return diff.get("would_hit"), [change["name"] for change in diff.get("changes", [])
                                   if change["section"] == "key"]


def with_client(space, name, plugin, found):
    """The components of keys are those that the engine gives a client of JAX."""
    cold = through_keel(space, plugin, f"{name}-cold")
    report.equal(f"{name}: JAX runs", cold.code, 0)
    events = [event for event in journal(space.runs, f"{name}-cold") if event["event"] == "start"]
    engine = events[0]["components"] if events else {}
    # The key's own version is no matter of the backend, and the journal leaves it out.
    probed = {component: digest for component, digest in found["bundle"]["key"].items()
              if component != "key version"}
    report.equal(f"{name}: keys as the engine's", engine, probed)
    again = whole_json(probe(space, plugin))
    report.equal(f"{name}: an entry would hit", compared(space, found, again), (True, []))
    through_keel(space, plugin, f"{name}-warm")
    report.check(f"{name}: and it does", loads(journal(space.runs, f"{name}-warm")))
    flags = "--xla_cpu_enable_fast_math=true"
    flagged = whole_json(probe(space, plugin, XLA_FLAGS=flags))
    report.equal(f"{name}: with a flag it would not", compared(space, found, flagged),
                 (False, ["XLA_FLAGS"]))


def main():
    with Workspace("probe") as space:
        probes = {}
        for name, plugin in [("embedded", PLUGIN), *other_plugins()]:
            probes[name] = on_plugin(space, name, plugin)
        if probes["embedded"]:
            with_client(space, "embedded", PLUGIN, probes["embedded"])
        if not other_plugins():
            report.skip("other plugins", "they are missing: tools/setup --all-plugins brings them")
        for name, plugin in other_plugins():
            hits, differing = compared(space, probes["embedded"], probes[name])
            report.check(f"{name}: is not taken for the embedded one", hits is False
                         and {"plugin build", "platform"} <= set(differing), differing)
            fast = whole_json(probe(space, plugin, "--fast")) or {}
            report.equal(f"{name}: a fast probe loads it and no more", list(fast.get("steps", [])),
                         ["load"])
    report.finish()


if __name__ == "__main__":
    main()
