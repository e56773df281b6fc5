"""JAX behaves through Keel as it does without: results, errors and texts are the same bit for bit,
in every mode, cold and warm; and a warm process compiles nothing that may be kept."""

import json
import shutil
import sys

from harness import (KEEL, Report, Workspace, bare_environment, compiles, entries, finish,
                     journal, keel_environment, last_json, loads, of_kind, run, start, told,
                     whole_json, worker)

report = Report()


def compare(name, got, wanted):
    if got is None:
        return
    different = [key for key in wanted if got.get(key) != wanted[key]]
    report.check(f"{name}: {len(wanted)} behaviours are those of the bare plugin", not different,
                 "; ".join(f"{key}: {json.dumps(got.get(key))[:300]} where "
                           f"{json.dumps(wanted[key])[:300]} was expected" for key in different))


def record(name, environment):
    """Starts the behaviours; call what comes back for their records."""
    process = start(worker("behaviours.py"), environment)

    def collect():
        answer = finish(process)
        records = last_json(answer)
        report.check(f"{name}: the process ends well", answer.code == 0 and records is not None,
                     told(answer))
        return records
    return collect


def listing(folder):
    """What a folder holds: names, sizes and times of all files."""
    return {str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns)
            for path in folder.rglob("*") if path.is_file()}


def through_keel(space, name, cache, mode="on"):
    return record(name, keel_environment(space.path(cache), space.runs, name, mode))


def avoidable(events):
    """Names of programs that were compiled and might have been loaded."""
    return [event["name"] for event in compiles(events)]


def failures(events):
    return [event["message"] for event in of_kind(events, "store_error", "fallback")]


def check_cold(space):
    events = journal(space.runs, "cold")
    stored = {event["key"] for event in of_kind(events, "publish")}
    compiled = {event["key"] for event in compiles(events)}
    report.equal("cold: no failure", failures(events), [])
    report.check("cold: every program that may be kept is stored",
                 compiled == stored == set(entries(space.path("cache"))),
                 f"{len(compiled)} compiled, {len(stored)} published, "
                 f"{len(entries(space.path('cache')))} entries")
    report.equal("cold: one compile for each key", len(avoidable(events)), len(compiled))
    names = {target for event in of_kind(events, "uncacheable")
             for target in event.get("targets", [])}
    report.check("cold: what embeds a pointer or is unknown is named",
                 {"nobody_knows", "CustomSPMDPartitioning"} <= names, names)


def check_warm(space):
    events = journal(space.runs, "warm")
    report.equal("warm: nothing that may be kept is compiled", avoidable(events), [])
    # "client": what the script itself serialized and loaded again.
    report.check("warm: programs come from disk and from memory", {"disk", "memory", "client"} == {
        event["tier"] for event in loads(events)}, {event["tier"] for event in loads(events)})
    report.equal("warm: no failure of the store", failures(events), [])
    answer = run([KEEL, "stats", "--json", "--run-dir", space.runs, "warm"], keel_environment(
        space.path("cache"), space.runs, "warm"))
    stats = whole_json(answer)
    if report.check("warm: keel stats --json answers", answer.code == 0 and stats, told(answer)):
        report.equal("warm: the statistics count the same compiles", stats["compiles"],
                     len(of_kind(events, "compile")))
        report.equal("warm: and the same loads", stats["loads"],
                     sum(event.get("times", 1) for event in loads(events)))


def check_other_modes(space, before):
    report.equal("readonly: the cache is as it was", listing(space.path("cache")), before)
    report.equal("readonly: nothing that may be kept is compiled",
                 avoidable(journal(space.runs, "readonly")), [])
    report.equal("off: no journal", journal(space.runs, "off"), [])
    events = journal(space.runs, "refresh")
    report.equal("refresh: nothing is looked up", {event["tier"] for event in loads(events)},
                 {"client"})
    report.check("refresh: programs are compiled", compiles(events))
    stored = {event["key"] for event in of_kind(events, "publish")}
    report.equal("refresh: all is stored anew", sorted(stored ^ set(entries(space.path(
        "refreshed")))), [])


def in_every_mode(space):
    bare = record("bare", bare_environment())
    cold = through_keel(space, "cold", "cache")
    wanted = bare()
    compare("cold", cold(), wanted)
    check_cold(space)
    shutil.copytree(space.path("cache"), space.path("refreshed"))
    warm = through_keel(space, "warm", "cache")
    off = through_keel(space, "off", "unused", "off")
    compare("warm", warm(), wanted)
    compare("off", off(), wanted)
    check_warm(space)
    report.check("off: no cache", not space.path("unused").exists())
    before = listing(space.path("cache"))
    readonly = through_keel(space, "readonly", "cache", "readonly")
    refresh = through_keel(space, "refresh", "refreshed", "refresh")
    compare("readonly", readonly(), wanted)
    compare("refresh", refresh(), wanted)
    check_other_modes(space, before)


JAX_CACHE = ["jit", "training_step", "sharding_over_four_devices", "threads_with_one_program",
             "executables_that_come_and_go"]


def with_jax_cache(space):
    """JAX's own persistent cache above Keel: what it keeps must not be what a reloaded executable
    serializes itself, which loads and then fails."""
    wanted = last_json(run(worker("behaviours.py", *JAX_CACHE), bare_environment()))

    def step(name, keel_cache, jax_cache):
        settings = {"JAX_COMPILATION_CACHE_DIR": str(space.path(jax_cache)),
                    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "0"}
        answer = run(worker("behaviours.py", *JAX_CACHE), keel_environment(
            space.path(keel_cache), space.runs, f"jax-{keel_cache}-{jax_cache}", **settings))
        compare(f"JAX's cache above Keel, {name}", last_json(answer) or {}, wanted)
        events = journal(space.runs, f"jax-{keel_cache}-{jax_cache}")
        report.check(f"JAX's cache above Keel, {name}: the run is on record",
                     of_kind(events, "start") and of_kind(events, "end"))
        return [event for event in events if event["pid"] == events[-1]["pid"]]

    step("both empty", "keel-1", "jax-1")
    events = step("both full", "keel-1", "jax-1")
    report.equal("JAX's cache above Keel, both full: Keel sees what JAX loads", [
        len(compiles(events)), {event.get("by") for event in loads(events)}], [0, {"JAX's own cache"}])
    events = step("only Keel's full", "keel-1", "jax-2")
    report.check("JAX's cache above Keel, only Keel's full: Keel loads",
                 loads(events) and not compiles(events), avoidable(events) + failures(events))
    report.check("JAX's cache keeps what Keel loaded", any(space.path("jax-2").iterdir()))
    events = step("JAX's made from what Keel loaded", "keel-2", "jax-2")
    report.equal("JAX's cache made from what Keel loaded: Keel sees what JAX loads", [
        len(compiles(events)), {event["tier"] for event in loads(events)}], [0, {"elsewhere"}])


def main():
    with Workspace("behaviour") as space:
        if "--jax-cache" not in sys.argv:
            in_every_mode(space)
        with_jax_cache(space)
    report.finish()


if __name__ == "__main__":
    main()
