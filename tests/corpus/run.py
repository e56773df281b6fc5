"""Runs the truth corpus: small programs with a planted cause of a recompile each, under `keel run`,
and compares what `keel why` says of the last run with what the case expects.

    run.py [NAME]...   these cases, or all
    --client NAME      the cases of tests/corpus/NAME
    --keep FOLDER      leave each case's cache and runs in FOLDER/<name>
    --again            judge what --keep has left, with this build; nothing is run
    --programs FOLDER  leave every program there that a case compiled
    --part K/N         every Nth case, from the Kth on (KEEL_CORPUS_PART; without it, all)
    --rehearse TARGET  under `keel rehearse --on TARGET --compile none` instead; what the cache has
                       only shows with `--compile new`. GPUs and TPUs need .venv-targets
    --jobs N           cases at once (2)

Prints a line a case and a table of kinds. A case that is wrong fails, unless known.tsv lists it, or
rehearsed.tsv where it is rehearsed; one that is listed there and right fails too. JAX keeps its own
client, except for the cases that own.tsv lists; KEEL_TEST_JAX_CPU says `own` or `embedded` for all.
Needs a build (KEEL_TEST_BUILD, default `build`) and .venv.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import cases

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("KEEL_TEST_BUILD") or ROOT / "build").resolve()
KEEL = BUILD / "bin" / "keel"
DEADLINE = 900  # seconds that no single process should come near, on a slow and busy machine
FOREIGN_SETTINGS = ("KEEL_", "JAX_", "XLA_", "PJRT_", "TPU_", "LIBTPU_")
# How a case of each client is started: options of `keel run`, the Python, variables. And the program
# that is looked at where the case says none; None for all of the report.
Client = collections.namedtuple("Client", "options python program variables")
# An explanation does not depend on how good a program's code is.
QUICK = {"XLA_FLAGS": "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"}
CLIENTS = {"jax": Client([], ROOT / ".venv" / "bin" / "python", "jit_step", {}),
           "torch": Client(["--lines"], os.environ.get("KEEL_TORCH_PYTHON") or
                           ROOT / ".venv-torch" / "bin" / "python", "jit_step", {}),
           "transformers": Client(["--lines"], os.environ.get("KEEL_TORCH_PYTHON") or
                                  ROOT / ".venv-torch" / "bin" / "python", None, {}),
           "torch_tpu": Client([], ROOT / ".venv-torch-tpu" / "bin" / "python", "tt_jit_forward", {}),
           "libraries": Client([], ROOT / ".venv-libraries" / "bin" / "python", None, QUICK)}

Verdict = collections.namedtuple("Verdict", "case faults skipped seconds folder")


class Skipped(Exception):
    """A case that cannot run here."""


def other_plugins():
    table = ROOT / ".venv-plugins" / "plugins.tsv"
    rows = [line.split("\t") for line in table.read_text().splitlines()] if table.exists() else []
    return {name: table.parent / library for name, _, library in rows}


def table_of(name):
    """A table of cases, each with a reason."""
    rows = [line.split("\t") for line in (HERE / name).read_text().splitlines()
            if line and not line.startswith("#")]
    return dict(rows)


NOT_OWN = table_of("own.tsv")


def jax_cpu(case):
    """What compiles for JAX on the processor: `keel run`'s default, if it can show the case."""
    return os.environ.get("KEEL_TEST_JAX_CPU") or ("embedded" if case.name in NOT_OWN else "own")


def environment(variables):
    """Nothing that steers Keel or its client but what the case says."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(FOREIGN_SETTINGS)}
    return clean | {"KEEL_CONFIG": os.devnull, "KEEL_CPU_DEVICES": "4", "TF_CPP_MIN_LOG_LEVEL": "3",
                    "PYTHONDONTWRITEBYTECODE": "1"} | variables


def answer(command, variables, folder):
    words = [str(word) for word in command]
    with subprocess.Popen(words, env=environment(variables), cwd=folder, start_new_session=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        try:
            out, err = process.communicate(timeout=DEADLINE)
        except subprocess.TimeoutExpired:  # what `keel run` started holds its output open
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def command(case, target):
    """A case of the cache is one that a later process loads, or does not."""
    if not target:
        return ["run"]
    is_of_cache = len(case.runs) > 1 and case.causes[0].kind in ("none", "cache", "stable")
    # What a script writes to its modules stands for an edit of the user's between two runs.
    return ["rehearse", "--on", target, "--compile", "new" if is_of_cache else "none", "--writes", "keep"]


def client_of(options):
    """Compilers of GPUs and TPUs have an environment of their own."""
    client = CLIENTS[options.client]
    if not options.rehearse or options.rehearse.startswith("cpu:"):
        return client
    return client._replace(python=ROOT / ".venv-targets" / "bin" / "python")


def execute(case, client, folder, target):
    """Runs the processes of a case, one after the other; the runs are in folder/runs."""
    variables = client.variables | {"KEEL_JAX_CPU": jax_cpu(case),
                                    "TORCHINDUCTOR_CACHE_DIR": str(folder / "torch")}  # not another case's
    for run in case.runs:
        words = [KEEL, *command(case, target), "--quiet", *client.options, "--cache-dir", folder / run.cache,
                 "--run-dir", folder / "runs"]
        plugin = run.plugin or case.plugin
        if plugin:
            if target and not target.startswith("cpu:"):
                raise Skipped(f"plugin {plugin} is one of processors, and {target} has others")
            if plugin not in other_plugins():
                raise Skipped(f"plugin {plugin} is missing: tools/setup --all-plugins brings it")
            words += ["--plugin", other_plugins()[plugin]]
        done = answer([*words, "--", client.python, *shlex.split(case.launch), case.main,
                       *run.arguments], variables | run.variables, folder)
        if done.returncode:
            raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-600:]}")


def told(folder, command, *options):
    """What Keel says of the last run."""
    done = answer([KEEL, command, "--json", *options, "--run-dir", folder / "runs"], {}, folder)
    if done.returncode:
        raise RuntimeError(f"keel {command}: exit code {done.returncode}: {done.stderr[-600:]}")
    return json.loads(done.stdout)


def all_runs(folder):
    """The folders of the runs, oldest first."""
    return sorted(path for path in (folder / "runs").iterdir()
                  if (path / "journal.ndjson").exists())


def events_of(run, program):
    """Compiles and loads of the program in a run."""
    events = map(json.loads, (run / "journal.ndjson").read_text().splitlines())
    return [event for event in events
            if event["event"] in ("compile", "load") and is_as(program, event.get("name"))]


# ---- comparing ---------------------------------------------------------------------------------


def show(cause):
    place = f" at {pathlib.Path(cause.place[0]).name}:{cause.place[1]}" if cause.place else ""
    call = f" from line {cause.call[1]}" if cause.call else ""
    return f"{cause.kind} {cause.subject}: {cause.old} -> {cause.new}{place}{call}"


def found(root, entry, client):
    """A cause as Keel tells it; a place that is not told is None."""
    def place(file, line):
        return (root[file], root[line]) if root.get(line) else None
    advice = root.get("advice") or entry["advice"]
    return cases.Cause(root["kind"], root.get("subject"), root.get("old"), root.get("new"),
                       entry.get("pattern") or None,
                       advice["torch" if client in ("torch", "torch_tpu", "transformers") else "jax"],
                       place("file", "line"), place("call_file", "call_line"))


def roots_of(entry, client):
    if entry["unrelated"] and not entry["causes"]:
        return [cases.Cause("unrelated", advice="")]
    return [found(root, entry, client) for root in entry["causes"]]


def advises(wanted, got):
    """`a | b`: one of these words is in the advice; `!a | b`: none is."""
    if wanted is None:
        return True
    words = [word.strip().lower() for word in wanted.removeprefix("!").split("|")]
    return any(word in got.lower() for word in words) != wanted.startswith("!")


def is_as(wanted, got):
    """A text that ends in dots stands for all that begin so."""
    if isinstance(wanted, str) and wanted.endswith("..."):
        return (got or "").startswith(wanted.removesuffix("..."))
    return wanted is None or wanted == got


def differences(wanted, got):
    """Names of the fields that are not as the case has them."""
    fields = ("kind", "subject", "old", "new", "pattern", "place", "call")
    wrong = [field for field in fields if not is_as(getattr(wanted, field), getattr(got, field))]
    return wrong + ([] if advises(wanted.advice, got.advice) else ["advice"])


def compare(case, roots):
    """Pairs each planted cause with the root that is nearest to it."""
    left = list(roots)
    faults = []
    for wanted in case.causes:
        if not left:
            faults.append(f"missing: {show(wanted)}")
            continue
        nearest = min(left, key=lambda got: ("kind" in differences(wanted, got),
                                             len(differences(wanted, got))))
        left.remove(nearest)
        wrong = differences(wanted, nearest)
        if wrong:
            faults.append(f"{', '.join(wrong)}: got {show(nearest)}; wanted {show(wanted)}")
        if "advice" in wrong:
            faults.append(f"advice: got {nearest.advice!r}; wanted {wanted.advice!r}")
    return faults + [f"more than planted: {show(got)}" for got in left]


def miscounted(entry):
    """What of an entry's own numbers does not hold together."""
    folds = sum(root.get("folds", 0) for root in entry["causes"])
    if entry["folded_total"] < len(entry["folded"]):
        return [f"{len(entry['folded'])} differences follow, of {entry['folded_total']}"]
    if entry["cause_total"] == len(entry["causes"]) and entry["folded_total"] != folds:
        return [f"{entry['folded_total']} differences follow, {folds} by their causes"]
    return []


# What these say is not a change of a value.
WITHOUT_SIDES = ("first", "retrace", "cache", "host_read", "backend")


def alike(entry):
    """Causes of an entry, and what follows from them, whose two sides read the same."""
    return [f"two equal sides: {entry['name']}: {show(cases.Cause(one['kind'], one['subject'], one['old'], one['new']))}"
            for one in entry["causes"] + entry["folded"]
            if one["old"] == one["new"] and (one["old"] or one["kind"] not in WITHOUT_SIDES)]


def judge_sides(folder):
    """No cause of any run has two sides that read the same."""
    return [fault for run in all_runs(folder) for entry in told(folder, "why", "--all", run.name)
            if entry["what"] != "cut" for fault in alike(entry)]


def judge_summary(folder):
    """The summary of a run tells the recompiles that `keel why` then lists, by the same causes. In a
    rehearsal a load is one too: the cache here says nothing about the device's own run."""
    stats = told(folder, "stats")
    compiles = ("compile", "load") if stats["rehearsal"] else ("compile",)
    listed = collections.Counter(entry["kind"] for entry in told(folder, "why")
                                 if entry["what"] in compiles and entry["recompile"])
    summed = collections.Counter(one.get("cause", {}).get("kind", "") for one in stats["recompiles"])
    return [f"the summary has {dict(summed)}, keel why {dict(listed)}"] if listed != summed else []


def judge_reads(case, cuts, folder):
    """Steps that are cut must be, by the lines that are marked and no more."""
    found_cuts = {(cut["file"], cut["line"]): cut["pieces"] for cut in cuts}
    faults = [f"cut at {file}:{line}: got {found_cuts.get((file, line))} programs of a step, "
              f"wanted {case.cuts.get((file, line))}"
              for file, line in sorted(found_cuts.keys() | case.cuts.keys())
              if found_cuts.get((file, line)) != case.cuts.get((file, line))]
    if not case.reads:
        return faults
    reads = {(read["file"], read["line"]) for read in told(folder, "stats")["reads"]}
    return faults + [f"no read at {file}:{line}" for file, line in sorted(case.reads - reads)]


def judge(case, client, folder):
    """What is wrong with what Keel says; empty if nothing is."""
    if case.causes[0].kind == "stable":
        return judge_silence(case, client, folder)
    entries = told(folder, "why", "--all")
    cuts = [entry for entry in entries if entry["what"] == "cut"]
    program = case.program or CLIENTS[client].program
    faults = judge_reads(case, cuts, folder)
    if not program:
        shown = [entry for entry in told(folder, "why") if entry["what"] != "cut"]
        return faults + judge_report(case, shown, client)
    entries = [entry for entry in entries
               if entry["what"] != "cut" and is_as(program, entry["name"])]
    return faults + judge_causes(case, program, entries, client, folder)


def judge_silence(case, client, folder):
    """No run says anything, and those after the first compile nothing."""
    faults = []
    for number, run in enumerate(all_runs(folder), 1):
        faults += [f"run {number}, {entry['name']}: {show(root)}"
                   for entry in told(folder, "why", run.name)
                   for root in roots_of(entry, client)]
        faults += [f"run {number}: {event['name']} is compiled again"
                   for event in events_of(run, None) if number > 1 and event["event"] == "compile"]
    return faults


def judge_report(case, entries, client):
    """All that is shown must be the planted causes: each program's last row in full, and no row of
    any other kind."""
    if not entries:
        return ["nothing is said"]
    last = {entry["name"]: entry for entry in entries}
    kinds = {cause.kind for cause in case.causes}
    faults = compare(case, [root for entry in last.values() for root in roots_of(entry, client)])
    for entry in entries:
        if entry is last[entry["name"]]:
            faults += miscounted(entry)
        else:
            faults += [f"{entry['name']} earlier: {show(root)}" for root in roots_of(entry, client)
                       if root.kind not in kinds]
    return faults


def judge_causes(case, program, entries, client, folder):
    if case.causes[0].kind == "none":
        events = [event["event"] for event in events_of(all_runs(folder)[-1], program)]
        if not events:
            return [f"{program} was neither compiled nor loaded"]
        if len(case.runs) > 1 and "load" not in events:
            return [f"it was not loaded: {events}"]
        limit = 1 if len(case.runs) == 1 else 0
        extra = [entry for entry in entries if entry["what"] != "load"][limit:]
        return [f"{entry['what']}: {show(root)}" for entry in extra
                for root in roots_of(entry, client)]
    if not entries:
        return [f"nothing is said of {program}"]
    return compare(case, roots_of(entries[-1], client)) + miscounted(entries[-1])


def keep_programs(runs, into):
    """Leaves the programs of a case in a folder that all share: they are named by their contents."""
    for program in runs.glob("programs/*"):
        if not (into / program.name).exists():
            shutil.copyfile(program, into / program.name)


def forget_explanations(folder):
    """This build explains the runs anew, one after the other."""
    for path in folder.glob("runs/*/explained.ndjson"):
        path.unlink()
    shutil.rmtree(folder / "runs" / "history", ignore_errors=True)


def verdict(case, name, folder, options):
    started = time.monotonic()
    faults, skipped = [], None
    try:
        if options.again:
            forget_explanations(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            execute(case, client_of(options), folder, options.rehearse)
        faults = judge(case, name, folder) + judge_sides(folder) + judge_summary(folder)
    except Skipped as error:
        skipped = str(error)
    except (RuntimeError, ValueError, KeyError, OSError, subprocess.TimeoutExpired) as error:
        faults = [f"{type(error).__name__}: {error}"]
    return Verdict(case, faults, skipped, time.monotonic() - started, folder)


# ---- telling -----------------------------------------------------------------------------------


def known_faults(is_rehearsed):
    """Cases that are known to be wrong, and why."""
    own = NOT_OWN if os.environ.get("KEEL_TEST_JAX_CPU") == "own" else {}
    return table_of("known.tsv") | (table_of("rehearsed.tsv") if is_rehearsed else own)


def word_of(result, known):
    if result.skipped:
        return "skipped"
    if result.case.name in known:
        return "known" if result.faults else "RIGHT"
    return "FAILED" if result.faults else "ok"


def tell(result, known):
    word = word_of(result, known)
    print(f"{word:8} {result.case.name} ({result.seconds:.0f} s)", flush=True)
    if word == "RIGHT":
        print("         it is right, but known.tsv lists it as wrong")
    for line in result.faults if word == "FAILED" else ():
        print(f"         {line}")
    if word in ("known", "skipped"):
        print(f"         {result.skipped or known[result.case.name]}")
    return word


def table(results, known):
    rows = collections.defaultdict(collections.Counter)
    for result in results:
        rows[result.case.causes[0].kind][word_of(result, known)] += 1
    words = [word for word in ("ok", "FAILED", "known", "RIGHT", "skipped")
             if any(row[word] for row in rows.values())]
    print(f"\n{'cause':12}" + "".join(f"{word:>9}" for word in words))
    for kind, row in sorted(rows.items()):
        print(f"{kind:12}" + "".join(f"{row[word] or '':>9}" for word in words))
    total = sum(rows.values(), collections.Counter())
    print(f"{'all':12}" + "".join(f"{total[word]:>9}" for word in words))
    return total


def part(text):
    first, _, count = text.partition("/")
    if not (first.isdigit() and count.isdigit() and 1 <= int(first) <= int(count)):
        raise argparse.ArgumentTypeError(f"{text!r} is not a part such as 1/2")
    return int(first), int(count)


def main():
    parser = argparse.ArgumentParser(description="Runs the truth corpus.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--client", choices=sorted(CLIENTS), default="jax")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--programs", type=pathlib.Path, metavar="FOLDER")
    parser.add_argument("--part", type=part, default=os.environ.get("KEEL_CORPUS_PART") or "1/1",
                        metavar="K/N")
    parser.add_argument("--rehearse", metavar="TARGET")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not pathlib.Path(client_of(options).python).exists():
        sys.exit(f"corpus: {client_of(options).python} is not there; see tools/setup")
    if not KEEL.exists():
        sys.exit(f"corpus: {KEEL} is not there; build first, or set KEEL_TEST_BUILD")
    chosen = cases.read_all(HERE / options.client)
    known = known_faults(options.rehearse)
    everywhere = {case.name for client in CLIENTS for case in cases.read_all(HERE / client)}
    unknown = set(options.names) - {case.name for case in chosen} | set(known) - everywhere
    if unknown:
        sys.exit(f"corpus: no such case: {', '.join(sorted(unknown))}")
    if options.names:
        chosen = [case for case in chosen if case.name in options.names]
    else:
        first, count = options.part
        chosen = chosen[first - 1::count]
    if options.again:
        if not options.keep:
            sys.exit("corpus: --again judges what --keep FOLDER has left: say which folder")
        chosen = [case for case in chosen if (options.keep / case.name / "runs").is_dir()]
    base = options.keep.resolve() if options.keep else pathlib.Path(
        tempfile.mkdtemp(prefix="keel-corpus-"))
    if options.programs:
        shutil.rmtree(options.programs, ignore_errors=True)
        options.programs.mkdir(parents=True)
    started = time.monotonic()

    def work(case):
        folder = base / case.name
        result = verdict(case, options.client, folder, options)
        if options.programs:
            keep_programs(folder / "runs", options.programs)
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
        return result

    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(work, chosen):
            tell(result, known)
            results.append(result)
    if not options.keep:
        shutil.rmtree(base, ignore_errors=True)
    total = table(results, known)
    print(f"{time.monotonic() - started:.0f} s")
    sys.exit(1 if total["FAILED"] or total["RIGHT"] or not total["ok"] else 0)


if __name__ == "__main__":
    main()
