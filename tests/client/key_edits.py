"""What may change a key and what may not: a table of edits to programs and their surroundings with
the expected verdict, on real JAX. JAX's own verdict stands beside it for orientation."""

import os
import shutil

import edits_source
from harness import (PLUGIN, Report, Workspace, finish, keel_environment, last_json, start, told,
                     worker)

report = Report()
WIDTH = 60
# Of the edits of the source. All have one key, and Keel adds up what a process asks for more than
# 16 times.
PARTS = 3


def judge(rows):
    for row in rows:
        line = (f"{row['name']:{WIDTH}} expected {row['expected']:4}  Keel {row['keel']:4}  "
                f"JAX {row['jax']:4}")
        detail = {part: row[part] for part in ("events", "moved", "errors", "unread")}
        report.check(line, row["keel"] == row["expected"] and not row["unread"], detail)


def environment(space, run, **more):
    plugin = more.pop("KEEL_PLUGIN", PLUGIN)
    return keel_environment(space.path("cache"), space.runs, run, plugin=plugin, **more)


def table(space, name, process):
    answer = finish(process)
    rows = last_json(answer)
    report.check(f"{name}: the table was made", answer.code == 0 and rows, told(answer, 12))
    judge(rows or [])
    return rows or []


# ---- the surroundings --------------------------------------------------------------------------


def plugin_copies(space):
    """The plugin in another place, and with a byte more that nothing reads."""
    copy, changed = space.path(f"moved/{PLUGIN.name}"), space.path(f"changed/{PLUGIN.name}")
    for path in (copy, changed):
        path.parent.mkdir()
        shutil.copy(PLUGIN, path)
    with open(changed, "ab") as file:
        file.write(b"\0")
    return copy, changed


def surroundings(space):
    """Name, expected, variables, prefix of the command, folder: each against the first."""
    copy, changed = plugin_copies(space)
    dump = space.path("dump")
    cases = [
        ("another process", "same", {}, [], None),
        ("another folder and hash seed", "same", {"PYTHONHASHSEED": "11"}, [], "/"),
        ("XLA_FLAGS that only dump", "same", {"XLA_FLAGS": f"--xla_dump_to={dump}"}, [], None),
        ("the plugin in another place", "same", {"KEEL_PLUGIN": copy}, [], None),
        ("another build of the plugin", "new", {"KEEL_PLUGIN": changed}, [], None),
        ("XLA_FLAGS that change code", "new", {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true"}, [],
         None),
        ("a variable that plugins read", "new", {"ONEDNN_DEFAULT_FPMATH_MODE": "BF16"}, [], None),
    ]
    if shutil.which("taskset") and len(os.sched_getaffinity(0)) > 1:
        only = str(min(os.sched_getaffinity(0)))
        cases.append(("fewer processors", "new", {}, ["taskset", "-c", only], None))
    else:
        report.skip("fewer processors", "it takes two processors and taskset (util-linux)")
    return cases


def probe(space, number, variables, prefix, folder):
    process = start(prefix + worker("edit_worker.py", "probe"),
                    environment(space, f"probe-{number}", **variables), cwd=folder)
    answer = finish(process)
    keys = last_json(answer)
    return keys if answer.code == 0 else report.check("a probe runs", False, told(answer))


def compare_surroundings(space):
    base = probe(space, 0, {}, [], None)
    for number, (name, expected, variables, prefix, folder) in enumerate(surroundings(space), 1):
        keys = probe(space, number, variables, prefix, folder)
        if keys and base:
            verdicts = {whose: "same" if keys[whose] == base[whose] else "new"
                        for whose in ("keel", "jax")}
            moved = [part for part, digest in keys["components"].items()
                     if base["components"].get(part) != digest]
            judge([{"name": name, "expected": expected, **verdicts, "moved": moved, "unread": [],
                    "events": [base["event"], keys["event"]], "errors": []}])


def main():
    with Workspace("key-edits") as space:
        sources = [start(worker("edit_worker.py", "source", space.path(f"sources-{part}"),
                                f"{part}/{PARTS}"), environment(space, f"source-{part}"))
                   for part in range(1, PARTS + 1)]
        meaning = start(worker("edit_worker.py", "meaning"), environment(space, "meaning"))
        rows = [row for part, source in enumerate(sources, 1)
                for row in table(space, f"edits of the source, part {part}", source)]
        missed = [row["name"] for row in rows[-edits_source.MISSED_BY_JAX:] if row["jax"] == "new"]
        report.equal("JAX's own cache misses on the last of them", len(missed),
                     edits_source.MISSED_BY_JAX)
        rows += table(space, "edits of the meaning", meaning)
        report.check("the table has at least 60 edits", len(rows) >= 60, len(rows))
        compare_surroundings(space)
    report.finish()


if __name__ == "__main__":
    main()
