"""`keel run -- python ...` from end to end with real JAX: what the user sees, what is on record,
and what the other commands say of it afterwards."""

import hashlib
import json
import os
import re
import shlex
import signal

from harness import (HERE, KEEL, PLUGIN, PYTHON, Report, Workspace, bare_environment,
                     clean_environment, compiles, entries, executions, finish, journal, last_json,
                     loads, of_kind, run, start, told, whole_json, worker)

report = Report()
TRAINER = worker("trainer.py")
FIELDS = ("programs compiles compile_seconds loads load_seconds memory_hits misses uncacheable "
          "executes settled_at_step").split()

EXITS = '''
import os, sys, jax
jax.jit(lambda x: x + 1)(1.0)
sys.stdout.write("out"); sys.stderr.write("err\\n"); sys.stdout.flush()
if sys.argv[1] == "signal": os.kill(os.getpid(), 15)
if sys.argv[1] == "raise": raise ValueError("of the script's own")
sys.exit(int(sys.argv[1]))
'''

STEPS = '''
import jax, jax.numpy as jnp
step = jax.jit(lambda x: (x * 2).sum())
for n in (3, 3, 4, 5, 5):
    step(jnp.ones(n))
'''

CHILDREN = f'''
import subprocess, sys
code = "import jax; jax.jit(lambda x: x * 5 + {{0}})(2.0)"
for child in [subprocess.Popen([sys.executable, "-c", code.format(i)]) for i in (1, 2)]:
    assert child.wait() == 0
'''

UNCACHEABLE = '''
import jax, numpy as np
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

@custom_partitioning
def triple(x):
    return x * 3
triple.def_partition(
    partition=lambda mesh, args, result: (mesh, lambda x: x * 3, result.sharding,
                                          tuple(a.sharding for a in args)),
    infer_sharding_from_operands=lambda mesh, args, result: args[0].sharding,
    sharding_rule="i j -> i j")
x = jax.device_put(np.ones((8, 4), np.float32),
                   NamedSharding(Mesh(np.array(jax.devices()), ("x",)), P("x")))
for name, function in (("partitioned", lambda v: triple(v) + 1), ("inspected", lambda v: (
        jax.debug.inspect_array_sharding(v, callback=print), v)[1])):
    function.__name__ = name
    try:
        print(name, jax.jit(function)(x).sum())
    except Exception as error:
        print(name, str(error)[:60])
print(jax.jit(lambda v: v + 1)(x).sum())
'''


class Terminal:
    """Keel's commands over one cache and one folder of runs."""

    def __init__(self, space):
        self.space = space
        self.environment = clean_environment() | {
            "KEEL_CACHE_DIR": str(space.path("cache")), "KEEL_RUN_DIR": str(space.runs),
            "KEEL_CONFIG": "/dev/null", "KEEL_CPU_DEVICES": "4", "TF_CPP_MIN_LOG_LEVEL": "3"}

    def keel(self, *words, **more):
        return run([KEEL, *words], self.environment | more)

    def json(self, case, *words):
        answer = self.keel(*words)
        value = whole_json(answer)
        report.check(f"{case}: keel {words[0]} answers in JSON", answer.code == 0 and
                     value is not None, told(answer))
        return value

    def newest(self):
        runs = whole_json(self.keel("runs", "--json")) or [{"id": "none"}]
        return runs[-1]["id"]

    def events(self, identity=None):
        return journal(self.space.runs, identity or self.newest())


def said(answer):
    """The lines that Keel itself wrote."""
    return [line for line in answer.err.splitlines() if line.startswith("keel: ")]


def line_of(text):
    source = (HERE / "trainer.py").read_text().splitlines()
    return next(number for number, line in enumerate(source, 1) if text in line)


def training(terminal):
    wanted = last_json(run(TRAINER, bare_environment()))
    cold = terminal.keel("run", "--", *TRAINER)
    report.check("cold: the script's own result and exit code", cold.code == 0 and last_json(cold)
                 == wanted, told(cold))
    spoken = said(cold)
    report.check("cold: stderr has Keel's lines alone", spoken == cold.err.splitlines(), told(cold))
    summary = [line for line in spoken if not line.startswith("keel: step ")]
    report.check("cold: a summary of few lines", 1 <= len(summary) <= 4 and
                 re.search(r"6 steps, \d+ programs; \d+ compiles .*not flat yet: step 6 had a new program", summary[0]),
                 summary)
    where = f"trainer.py:{line_of('params, first, second, loss = step(')}"
    recorded = {event["file"]: event["digest"] for event in of_kind(terminal.events(), "source")}
    source = (HERE / "trainer.py").read_bytes()
    report.check("cold: what the script says is on record, so a report may show it",
                 recorded.get(str(HERE / "trainer.py")) ==
                 hashlib.blake2b(source, digest_size=32).hexdigest(), recorded)
    page = terminal.keel("report", "-o", "-").out
    report.check("cold: the report shows the line", 'class="source"' in page and
                 "step(" in page[page.find('class="source"'):], page[:200])
    report.check("cold: the line of the recompile", any(where in line for line in summary), summary)
    check_journal(terminal)
    warm = terminal.keel("run", "--", *TRAINER)
    report.check("warm: the script's own result", last_json(warm) == wanted, told(warm))
    report.check("warm: the summary says that nothing was compiled",
                 "nothing compiled" in " ".join(said(warm)), said(warm))
    report.equal("warm: nothing was", compiles(terminal.events()), [])


def check_journal(terminal):
    events = terminal.events()
    kinds = [event["event"] for event in events]
    report.check("journal: begins with the start and ends with the end",
                 kinds[0] == "start" and kinds[-1] == "end" and kinds.count("start") == 1, kinds)
    begin = events[0]
    report.check("journal: the start tells command, plugin and components",
                 begin["argv"][-1].endswith("trainer.py") and begin["plugin"]["path"] == str(PLUGIN)
                 and begin["plugin"]["platform"] == "cpu" and begin["mode"] == "on" and
                 {"plugin build", "topology", "cpu"} <= set(begin["components"]), begin)
    report.check("journal: each miss has every component", all(
        len(event["components"]) == 13 for event in of_kind(events, "miss")))
    fields = {"program", "name", "key", "seconds", "overhead_seconds", "ops", "bytes", "format",
              "site", "recompile"}
    report.check("journal: each compile has its fields", all(
        fields <= set(event) for event in of_kind(events, "compile")))
    steps = [e for e in of_kind(events, "compile") if e["name"] == "jit_step"]
    report.equal("journal: the second step is a recompile", [e["recompile"] for e in steps],
                 [False, True])
    executed = sum(executions(events).values())
    report.equal("journal: all executions are counted", executed, events[-1].get("total"))
    return events


def statistics(terminal):
    cold, warm = [entry["id"] for entry in terminal.json("runs", "runs", "--json")][:2]
    for name, identity in (("cold", cold), ("warm", warm)):
        stats = terminal.json(f"statistics, {name}", "stats", "--json", identity)
        events = terminal.events(identity)
        report.equal(f"statistics, {name}: all fields", [f for f in FIELDS if f not in stats], [])
        report.equal(f"statistics, {name}: compiles, loads, misses and executions", [
            stats[field] for field in ("compiles", "loads", "misses", "executes")], [
            len(of_kind(events, "compile")), len(loads(events)), len(of_kind(events, "miss")),
            events[-1]["total"]])
        report.check(f"statistics, {name}: seconds", abs(stats["compile_seconds"] - sum(
            e["seconds"] for e in of_kind(events, "compile"))) < 1e-4)
        report.equal(f"statistics, {name}: it settled at the short batch", stats["settled_at_step"],
                     6)
    text = terminal.keel("stats", cold)
    report.check("statistics as text name the program and its line",
                 text.code == 0 and "jit_step" in text.out and "trainer.py:" in text.out, text.out)
    return cold


def programs_of_the_run(terminal, identity):
    events = of_kind(terminal.events(identity), "compile")
    shown = [terminal.keel("show", event["program"]) for event in events]
    report.check("show: every program of the run", all(
        answer.code == 0 and "main" in answer.out for answer in shown),
        [told(answer) for answer in shown if answer.code])
    steps = [event["program"] for event in events if event["name"] == "jit_step"]
    step = terminal.json("show", "show", "--json", steps[0])
    names = [argument["name"] for argument in step["functions"][0]["arguments"]]
    report.check("show: names of the module, of its function and its arguments",
                 step["name"] == "jit_step" and step["functions"][0]["name"] == "main" and
                 any("embed" in (name or "") for name in names), names)
    report.check("show: operations with lines of the script",
                 "trainer.py" in json.dumps(step["functions"][0]["operations"]))
    same = terminal.keel("key", steps[0], steps[0])
    report.equal("key: a program and itself share one", same.code, 0)
    other = terminal.keel("key", steps[0], steps[1])
    report.check("key: two steps of different shapes differ by the program",
                 other.code == 1 and "program" in other.out, told(other))
    components = terminal.json("key", "key", "--json", steps[0])
    recorded = next(event for event in of_kind(terminal.events(identity), "miss")
                    if event["program"] == steps[0])["components"]["program"]
    report.check("key: says what the journal has", recorded in json.dumps(components))


# ---- the command's own -------------------------------------------------------------------------


def exit_codes(terminal):
    for word, code in (("0", 0), ("7", 7), ("raise", 1), ("signal", 128 + signal.SIGTERM)):
        answer = terminal.keel("run", "--", PYTHON, "-c", EXITS, word)
        report.check(f"exit: {word}: the script's own code and output",
                     answer.code == code and answer.out == "out" and "err" in answer.err,
                     told(answer))
    report.check("exit: signal: the journal has the compile all the same",
                 of_kind(terminal.events(), "compile", "load"))
    quiet = terminal.keel("run", "--quiet", "--", PYTHON, "-c", EXITS, "0")
    report.equal("--quiet: no word of Keel's", said(quiet), [])
    path = terminal.space.path("stats.json")
    terminal.keel("run", "--quiet", "--json", path, "--", PYTHON, "-c", EXITS, "0")
    report.check("--json FILE: the run's statistics", path.exists() and all(
        field in json.loads(path.read_text()) for field in FIELDS))
    before = terminal.newest()
    off = terminal.keel("run", "--mode", "off", "--", PYTHON, "-c", EXITS, "0")
    report.check("--mode off: the script runs, and nothing is on record",
                 off.code == 0 and terminal.newest() == before, told(off))
    missing = terminal.keel("run", "--plugin", "/no/plugin.so", "--", PYTHON, "-c", EXITS, "0")
    report.check("a plugin that is not there: one line that names it, and no run",
                 missing.code in (2, 3) and "/no/plugin.so" in missing.err and
                 len(missing.err.splitlines()) == 1, told(missing))
    no_plugin = terminal.keel("run", "--plugin", KEEL, "--", PYTHON, "-c", EXITS, "0")
    report.check("a plugin that is not a plugin: one line that names it, and no run",
                 no_plugin.code in (2, 3) and str(KEEL) in no_plugin.err and
                 len(no_plugin.err.splitlines()) == 1, told(no_plugin))


def other_forms(terminal):
    line = f"{shlex.quote(str(PYTHON))} -c {shlex.quote(EXITS)} 3; exit $?"
    answer = terminal.keel("run", "--", "sh", "-c", line)
    report.check("a shell in between", answer.code == 3 and terminal.events()[0]["event"] ==
                 "start", told(answer))
    answer = terminal.keel("run", "--", PYTHON, "-c", CHILDREN)
    events = terminal.events()
    report.check("two processes at once: one run", answer.code == 0 and len(
        of_kind(events, "start")) == 2 and len(of_kind(events, "end")) == 2, told(answer))
    stats = terminal.json("two processes", "stats", "--json")
    report.equal("two processes at once: both are counted", stats["processes"], 2)


def no_room(terminal):
    """No file may take a byte, as on a disk that is full; and a folder that cannot be written."""
    script = "import jax; print(float(jax.jit(lambda x: x * 7 - 3)(2.0)))"
    words = [KEEL, "run", "--", PYTHON, "-c", script]
    answer = run(["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *words], terminal.environment)
    report.check("where nothing can be written the run is what it is", answer.code == 0 and
                 last_json(answer) == 11.0, told(answer))
    report.check("and it is said that nothing was recorded", "could not be written; see above"
                 in answer.err and " programs; " not in answer.err, told(answer))
    answer = run(words, terminal.environment | {"KEEL_RUN_DIR": "/proc/keel/ä b",
                                                "KEEL_CACHE_DIR": "/proc/keel/\udcff"})
    report.check("so it is where neither folder can be made", answer.code == 0 and
                 last_json(answer) == 11.0, told(answer))


def a_linked_history(terminal):
    """It is neither followed nor silently lost."""
    folder, target = terminal.space.path("linked"), terminal.space.path("target")
    command = ("run", "--", PYTHON, "-c", EXITS, "0")
    terminal.keel(*command, KEEL_RUN_DIR=str(folder))
    history, = folder.glob("history/*")
    target.write_text("mine\n")
    history.unlink()
    history.symlink_to(target)
    answer = terminal.keel(*command, KEEL_RUN_DIR=str(folder))
    report.equal("a linked history: its target stays", target.read_text(), "mine\n")
    report.check("a linked history: one line says what is lost", answer.code == 0 and
                 answer.err.count("later runs are not compared with this one") == 1, told(answer))


def odd_names(terminal):
    """Names of 200 bytes and more, with blanks and with bytes that are not text."""
    names = terminal.space.path("s p" + "a" * 220)
    names.mkdir()
    script = names / "tr\u00e4in '1'.py"
    script.write_text(STEPS)
    folders = {"KEEL_RUN_DIR": str(names / "r\udcff\n\x1b[31m"),
               "KEEL_CACHE_DIR": str(names / "c\u00e4\x1b[31m")}
    for case, expected in ("cold", "2 recompiles"), ("warm", "nothing compiled"):
        answer = terminal.keel("run", "--", PYTHON, script, "\udcff\x1b[31m", **folders)
        report.check(f"odd names, {case}: the run is what it is", answer.code == 0 and
                     expected in answer.err and "\x1b" not in answer.err, told(answer))
    for words in (["stats", "--json"], ["why", "--json"], ["runs", "--json"], ["memory", "--json"],
                  ["cache", "stat", "--json"], ["config", "--json"], ["bundle", "--fast", "--json"],
                  ["probe", "--fast", "--json"], ["diff", "--json", "latest", "latest"]):
        answer = terminal.keel(*words, **folders)
        report.check(f"odd names: {' '.join(words)}", answer.code == 0 and
                     whole_json(answer) is not None, told(answer))
    folders["KEEL_RUN_DIR"] = str((names / "r\u00e4\x1b[31m"))
    (names / "r\udcff\n\x1b[31m").rename(folders["KEEL_RUN_DIR"])
    for words in ["stats"], ["why"], ["runs"], ["memory"], ["cache", "stat"], ["config"]:
        answer = terminal.keel(*words, **folders)
        report.check(f"odd names: {words[-1]} is safe to read", answer.code == 0 and
                     "\x1b" not in answer.out + answer.err, told(answer))


def killed(terminal):
    process = start([KEEL, "run", "--", PYTHON, "-c", "import jax, os, time\n"
                     "jax.jit(lambda x: x * 11)(1.0)\nprint(os.getpid(), flush=True)\n"
                     "time.sleep(60)"], terminal.environment)
    os.kill(int(process.stdout.readline()), signal.SIGKILL)
    answer = finish(process)
    report.equal("kill -9 of the script: its code", answer.code, 128 + signal.SIGKILL)
    stats = terminal.json("kill -9 of the script", "stats", "--json")
    report.check("kill -9 of the script: statistics of what was written",
                 stats["compiles"] >= 1 and stats["unfinished"] == 1, stats)


def uncacheable(terminal):
    before = set(entries(terminal.space.path("cache")))
    answer = terminal.keel("run", "--", PYTHON, "-c", UNCACHEABLE)
    events = terminal.events()
    targets = {event["name"]: event.get("targets") for event in of_kind(events, "uncacheable")}
    report.equal("what embeds a host pointer is on record with its target", targets, {
        "jit_partitioned": ["CustomSPMDPartitioning"], "jit_inspected": ["InspectSharding"]})
    keys = {event["key"] for event in of_kind(events, "uncacheable") if "key" in event}
    after = set(entries(terminal.space.path("cache")))
    report.check("and never stored", not keys & after and after - before == {
        event["key"] for event in of_kind(events, "publish")}, told(answer))
    again = terminal.keel("run", "--", PYTHON, "-c", UNCACHEABLE)
    report.equal("nor looked up", len(of_kind(terminal.events(), "uncacheable")), 2)
    report.equal("and the script says the same", again.out, answer.out)
    stats = terminal.json("uncacheable", "stats", "--json")
    report.equal("and it is counted", stats["uncacheable"], 2)


def main():
    with Workspace("run") as space:
        terminal = Terminal(space)
        training(terminal)
        programs_of_the_run(terminal, statistics(terminal))
        exit_codes(terminal)
        other_forms(terminal)
        no_room(terminal)
        a_linked_history(terminal)
        odd_names(terminal)
        killed(terminal)
        uncacheable(terminal)
    report.finish()


if __name__ == "__main__":
    main()
