"""Each advice for JAX, followed to the letter: the accident of advice_*.py gets exactly that advice
at its line, the mended one is one program and no row.

    advice.py [NAME]...   of the advice, or all
"""

import collections
import dataclasses
import os
import pathlib
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from damage import with_compile_seconds, with_versions  # noqa: E402
from harness import (KEEL, PYTHON, Report, Workspace, clean_environment, journal, of_kind,  # noqa: E402
                     other_plugins, run, told, whole_json)
from pairs import Pairs  # noqa: E402
import tables  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = HERE / "advice_processes.py"
LIBRARIES = HERE.parents[1] / ".venv-libraries" / "bin" / "python"
report = Report()


@dataclasses.dataclass
class Source:
    """A file of pairs, and the Python that has what it imports."""
    script: pathlib.Path
    python: pathlib.Path

    def __post_init__(self):
        self.pairs = Pairs(self.script)


OWN = Source(SCRIPT, PYTHON)
SOURCES = [*(Source(HERE / f"advice_{name}.py", PYTHON) for name in ("programs", "bodies", "requests")), OWN,
           Source(HERE / "advice_libraries.py", LIBRARIES)]


def environment(folder, more=None):
    return clean_environment() | {
        "KEEL_CACHE_DIR": str(folder / "cache"), "KEEL_RUN_DIR": str(folder / "runs"),
        "KEEL_CONFIG": os.devnull, "KEEL_CPU_DEVICES": "4", "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONDONTWRITEBYTECODE": "1"
    } | (more or {})


def keel_run(folder, words, more=None, script=SCRIPT, python=PYTHON):
    """One process under `keel run`; its events, and what `keel why` shows and knows of it."""
    folder.mkdir(exist_ok=True)
    answer = run([KEEL, "run", "--quiet", "--", python, script, *words], environment(folder, more),
                 cwd=folder)
    report.check(f"{words[0]}: the process ends well", answer.code == 0, told(answer))
    last = max(path.parent.name for path in folder.glob("runs/*/journal.ndjson"))
    shown, known = (whole_json(run([KEEL, "why", "--json", *options], environment(folder)))
                    for options in ([], ["--all"]))
    return journal(folder / "runs", last), shown, known


def advised(item):
    """Each cause of a row with its advice and lines; of a pattern there is one advice."""
    for cause in item.get("causes") or [item]:
        advice = cause.get("advice") or item["advice"]
        yield advice["jax"], {cause.get("line"), cause.get("call_line")}


def asked_for(source, events, name):
    """How often each program was asked for at a line of the function; operations outside jit are
    left out."""
    return collections.Counter(event["name"] for event in of_kind(events, "compile", "load")
                               if not event.get("eager") and
                               source.pairs.function_of((event.get("site") or {}).get("line"))
                               == name)


def check_accidents(source, space, names, texts):
    pairs, folder = source.pairs, space.path(f"{source.script.stem}-accidents")
    events, _, known = keel_run(folder, names, script=source.script, python=source.python)
    for name in names:
        text, mark = texts[pairs.advice_of(name)], pairs.marks.get(name)
        here = [(advice, lines) for item in known for advice, lines in advised(item)
                if any(pairs.function_of(line) == name for line in lines)]
        given = [advice for advice, lines in here if mark in lines]
        if not mark:  # not in a row: the page has it
            report.check(f"{name}: is not a row", text not in [advice for advice, _ in here], here)
            continue
        report.check(f"{name}: the advice is given at its line", text in given, (text, here))
        others = {advice for advice, _ in here} - {text, texts["first"]}
        report.check(f"{name}: and no other", not others, others)


def check_mended(source, space, names):
    folder = space.path(f"{source.script.stem}-mended")
    events, shown, _ = keel_run(folder, names, script=source.script, python=source.python)
    for name in names:
        times = asked_for(source, events, name)
        report.check(f"{name}: each program is asked for once",
                     times and set(times.values()) == {1}, times)
        rows = [item for item in shown for _, lines in advised(item)
                if any(source.pairs.function_of(line) == name for line in lines)]
        report.check(f"{name}: and there is no row", not rows,
                     [(item["kind"], item["subject"], item["line"]) for item in rows])
    report.check("mended: no row at all", not shown, [(item["kind"], item["line"]) for item in shown])


# ---- what it takes several processes for -------------------------------------------------------

FAST = {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true"}


def compiled(events):
    return [event["name"] for event in of_kind(events, "compile") if not event.get("eager")]


def in_turn(space, name, *runs):
    """Several processes with one cache, each words and an environment; what the last one says."""
    for words, more in runs:
        last = keel_run(space.path(name), words, more)
    return last


def check_given(name, text, known):
    given = [advice for item in known for advice, _ in advised(item)]
    report.check(f"{name}: the advice is given", text in given, (text, given))


def check_loaded(name, events, shown):
    report.check(f"{name}: mended, nothing is compiled again", not compiled(events), compiled(events))
    report.check(f"{name}: and there is no row", not shown, shown)


def flag(space, text):
    _, _, known = in_turn(space, "flag", (["plain"], {}), (["plain"], FAST))
    check_given("flag", text, known)
    events, shown, _ = in_turn(space, "one-place", (["plain"], FAST), (["plain"], FAST))
    check_loaded("flag", events, shown)


def devices(space, text):
    _, _, known = in_turn(space, "devices", (["plain"], {}), (["fewer_devices"], {}))
    check_given("devices", text, known)
    for words in ["plain"], ["fewer_devices"]:
        events, shown, _ = in_turn(space, "devices", (words, {}))
        check_loaded(f"devices, {words[0]} again", events, shown)


def backend(space, text):
    if not other_plugins():
        report.skip("backend", "a second plugin is missing: tools/setup --all-plugins brings them")
        return
    other = {"KEEL_PLUGIN": str(other_plugins()[0][1])}
    _, _, known = in_turn(space, "backend", (["plain"], {}), (["plain"], other))
    check_given("backend", text, known)
    for more in {}, other:
        events, shown, _ = in_turn(space, "backend", (["plain"], more))
        check_loaded("backend, each again", events, shown)


def first(space, text):
    _, shown, known = in_turn(space, "first", (["plain"], {}))
    check_given("first", text, known)
    report.check("first: it is shown with --all only", not shown, shown)
    events, shown, _ = in_turn(space, "first", (["plain"], {}))
    check_loaded("first", events, shown)


LATE = '''
import sys, jax, numpy as np
def step(x): return x * 2
def evaluate(x): return x.sum()
step, evaluate, x = jax.jit(step), jax.jit(evaluate), np.ones(4, np.float32)
if "warm" in sys.argv: evaluate(x)
for _ in range(3): step(x)
try: evaluate(x)
except jax.errors.JaxRuntimeError as error: print(error)
'''


def refused(space, text):
    folder, frozen = space.path("refused"), {"KEEL_FREEZE_AFTER": "2"}
    folder.mkdir()
    script = folder / "train.py"
    script.write_text(LATE)
    _, shown, _ = keel_run(folder, ["late"], frozen, script=script)
    check_given("refused", text, shown)
    keel_run(folder, ["warm"], frozen, script=script)
    events, shown, _ = keel_run(folder, ["warm"], frozen, script=script)
    check_loaded("refused, mended", events, shown)


def edit(space, text):
    folder = space.path("edit")
    folder.mkdir()
    script = folder / "train.py"
    shutil.copyfile(SCRIPT, script)
    keel_run(folder, ["plain"], script=script)
    script.write_text(script.read_text().replace("jnp.tanh(x) * 0.5", "jnp.tanh(x) * 0.75"))
    _, _, known = keel_run(folder, ["plain"], script=script)
    check_given("edit", text, known)
    events, shown, _ = keel_run(folder, ["plain"], script=script)
    check_loaded("edit", events, shown)


def cache(space, text):
    """Of two programs the room is for one."""
    small, large = {"KEEL_CACHE_LIMIT": "1K"}, {"KEEL_CACHE_LIMIT": "1G"}
    _, _, known = in_turn(space, "cache", (["plain"], small), (["plain"], small))
    check_given("cache", text, known)
    answer = run([KEEL, "cache", "stat"], environment(space.path("cache"), small))
    report.check("cache: keel cache stat names the limit", answer.code == 0 and "1" in answer.out,
                 told(answer))
    events, shown, _ = in_turn(space, "cache", (["plain"], large), (["plain"], large))
    check_loaded("cache", events, shown)


def shuffled(space, text):
    seeds = [{"PYTHONHASHSEED": seed} for seed in ("1", "3")]
    _, _, known = in_turn(space, "shuffled", *((["of_a_set"], seed) for seed in seeds))
    check_given("shuffled", text, known)
    events, shown, _ = in_turn(space, "sorted", *((["of_sorted_names"], seed) for seed in seeds))
    check_loaded("shuffled, sorted", events, shown)
    events, shown, _ = in_turn(space, "one-seed", *((["of_a_set"], seeds[0]) for _ in range(2)))
    check_loaded("shuffled, one seed", events, shown)


def dumps(space, text):
    # Passes are dumped by a compile alone.
    flags = {"XLA_FLAGS": f"--xla_dump_to={space.path('dumped')} --xla_dump_hlo_pass_re=.*"}
    _, _, known = in_turn(space, "dumps", (["plain"], {}), (["plain"], flags))
    check_given("dumps", text, known)
    events, shown, _ = in_turn(space, "dumps", (["plain"], {}))
    check_loaded("dumps", events, shown)


def refresh(space, text):
    _, _, known = in_turn(space, "refresh", (["plain"], {}), (["plain"], {"KEEL_MODE": "refresh"}))
    check_given("refresh", text, known)
    events, shown, _ = in_turn(space, "refresh", (["plain"], {}))
    check_loaded("refresh", events, shown)


def unused(space, text):
    folder = space.path("open")
    folder.mkdir()
    folder.chmod(0o777)
    _, _, known = in_turn(space, "unused", (["plain"], {}), (["plain"], {"KEEL_CACHE_DIR": str(folder)}))
    check_given("unused", text, known)
    events, shown, _ = in_turn(space, "unused", (["plain"], {}))
    check_loaded("unused", events, shown)


def check_spoiled(name, space, text, spoil):
    """Each entry of the first run is spoiled; the second run replaces it."""
    in_turn(space, name, (["plain"], {}))
    for path in space.path(name).glob("cache/entries/*/*.keel"):
        spoil(path)
    _, _, known = in_turn(space, name, (["plain"], {}))
    check_given(name, text, known)
    events, shown, _ = in_turn(space, name, (["plain"], {}))
    check_loaded(name, events, shown)


def lost(space, text):
    check_spoiled("lost", space, text, lambda path: path.write_bytes(path.read_bytes() + b"x"))


def unreadable(space, text):
    check_spoiled("unreadable", space, text, lambda path: path.chmod(0o666))


def slow(space, text):
    """Loading it takes longer than a compile of no time, or than the real one."""
    in_turn(space, "slow", (["closes_over"], {}))
    for path in space.path("slow").glob("cache/entries/*/*.keel"):
        path.write_bytes(with_compile_seconds(path.read_bytes(), 1e-9))
    _, _, known = in_turn(space, "slow", (["closes_over"], {}), (["closes_over"], {}))
    check_given("slow", text, known)
    events, shown, _ = in_turn(space, "argument", (["takes"], {}), (["takes"], {}))
    check_loaded("slow", events, shown)


def foreign(space, text):
    check_spoiled("foreign", space, text,
                  lambda path: path.write_bytes(with_versions(path.read_bytes(), 99, 99)))


def uncacheable(space, text):
    """No plugin here compiles a call that is not known, so there is no row: what a run wrote of it is
    keyed as it stands, and with the call vouched for."""
    events, _, _ = in_turn(space, "uncacheable", (["unknown_call"], {}))
    refused = of_kind(events, "uncacheable")
    report.equal("uncacheable: the journal names the call", [event["targets"] for event in refused],
                 [["my_call"]])
    key = [KEEL, "key", refused[0]["program"]]
    folder = space.path("uncacheable")
    said = run(key + key[2:], environment(folder)).out
    report.check("uncacheable: it is never stored", "never stored" in said, said)
    said = run(key + key[2:], environment(folder, {"KEEL_CUSTOM_CALLS": "my_call"})).out
    report.check("uncacheable: named, it may be stored", "share a stored program" in said
                 and "never" not in said, said)
    events, _, _ = in_turn(space, "uncacheable", (["unknown_call"], {"KEEL_CUSTOM_CALLS": "my_call"}))
    report.equal("uncacheable: named, a run looks it up", of_kind(events, "uncacheable"), [])
    rules = (tables.ROOT / "docs" / "keys.md").read_text()
    report.check("uncacheable: docs/keys.md has the rules", "KEEL_CUSTOM_CALLS" in rules)


def unstored(space, text):
    """What there is to do is nothing: each process compiles it once, and computes."""
    own = {"KEEL_JAX_CPU": "own"}
    in_turn(space, "unstored", (["calls_back"], own))
    for _ in range(2):
        events, _, known = in_turn(space, "unstored", (["calls_back"], own))
        check_given("unstored", text, known)
        report.equal("unstored: it is compiled once", len(compiled(events)), 1)


def eager_again(space, text):
    """For as long as the run goes on: of a run of its own."""
    _, _, known = in_turn(space, "eager_again", (["eager_again_accident"], {}))
    mark = OWN.pairs.marks["eager_again_accident"]
    given = [advice for item in known for advice, lines in advised(item) if mark in lines]
    report.check("eager_again: the advice is given at its line", text in given, given)
    events, shown, _ = in_turn(space, "eager_again_mended", (["eager_again_mended"], {}))
    report.equal("eager_again: mended, there are two programs", len(compiled(events)), 2)
    report.check("eager_again: and there is no row", not shown, shown)


def library_again(space, text):
    """A solver runs programs beside its loop, which are compared with those of other functions."""
    script = HERE / "advice_libraries.py"
    if not LIBRARIES.exists():
        report.skip("library_again", "tools/setup --libraries brings what it imports")
        return
    _, shown, known = keel_run(space.path("again"), ["library_again_accident"], None, script, LIBRARIES)
    check_given("library_again", text, known)
    report.equal("library_again: and no other is shown",
                 {advice for item in shown for advice, _ in advised(item)}, {text})
    _, shown, _ = keel_run(space.path("jitted"), ["library_again_mended"], None, script, LIBRARIES)
    report.check("library_again: mended, there is no row", not shown, shown)


OF_PROCESSES = {one.__name__: one for one in (flag, devices, backend, first, refused, edit, cache,
                                              shuffled, dumps, refresh, unused, lost, unreadable,
                                              slow, foreign, uncacheable, unstored,
                                              eager_again, library_again)}


def check_pairs(source, space, texts, wanted):
    for kind in "accident", "mended":
        names = [name for name in source.pairs.functions(kind)
                 if source.pairs.advice_of(name) not in OF_PROCESSES
                 and (not wanted or source.pairs.advice_of(name) in wanted)]
        if names and kind == "accident":
            check_accidents(source, space, names, texts)
        elif names:
            check_mended(source, space, names)


def main():
    texts, wanted = tables.advice("jax"), sys.argv[1:]
    with Workspace("advice") as space:
        for source in SOURCES:
            if source.python.exists():
                check_pairs(source, space, texts, wanted)
            else:
                report.skip(source.script.name, "tools/setup --libraries brings what it imports")
        for name, check in OF_PROCESSES.items():
            if not wanted or name in wanted:
                check(space, texts[name])
    report.finish()


if __name__ == "__main__":
    main()
