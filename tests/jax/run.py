#!/usr/bin/env python3
"""Runs JAX's own tests three times: with the bare plugin, through Keel with an empty cache, and again
with what that left. Every test must end alike. With --own, the first is JAX's own CPU client, whose place Keel takes
in the others. With --rehearse it runs them once through Keel and twice in
rehearsals, where a test may fail that reads what no device computed. JAX's own cache stays on if a
test wants it, because some test that cache.

    run.py [NAME]...        these test files ("lax_test", "pallas/ops_test"), or all
    --own                   JAX's own CPU client instead of the bare plugin
    --rehearse              a real run on CPU devices against rehearsals, which compile or do not
    --devices N             CPU devices of each way (with --rehearse 8; else what each test asks for)
    --sources PATH          JAX's sources: a folder with tests/, or a git directory (KEEL_JAX_SOURCES)
    --any-version           take sources of a different release than the JAX that is installed
    --sample N              tests of each file, spread over it; 0 for all (40)
    --deadline SECONDS      for one file, once (900)
    --minutes N             begin no further file after so long
    --jobs N                files at once (1)
    --out FOLDER            leave results, logs and programs there (build/jax-tests)
    --pairs N               then compare so many random pairs of the programs that were compiled (1000)
    --skip                  where it cannot run here, that is not a failure (exit code 0)

Prints a line a file and the tests that end otherwise, and leaves OUT/summary.json. A difference counts
where the test alone shows it again. Exit codes: 0 all alike, 1 not, 77 skipped. Needs a build
(KEEL_TEST_BUILD), and a Python with jax and absl-py: .venv-libraries, or KEEL_JAX_PYTHON.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = pathlib.Path(os.environ.get("KEEL_TEST_BUILD") or ROOT / "build").resolve()
KEEL = BUILD / "bin" / "keel"
PYTHON = pathlib.Path(os.environ.get("KEEL_JAX_PYTHON") or ROOT / ".venv-libraries" / "bin" / "python")
FOREIGN_SETTINGS = ("KEEL_", "JAX_", "XLA_", "PJRT_", "TPU_", "LIBTPU_")
WAYS = ("bare", "cold", "warm")
REHEARSED = ("real", "new", "none")  # the last two are --compile of `keel rehearse`
MOST_CRASHES = 5  # of one file; what is behind the last of them is not run
SKIPPED = 77

Result = collections.namedtuple("Result", "outcomes seconds ended")
Test = collections.namedtuple("Test", "name path")


class Skipped(Exception):
    """The lane cannot run here."""


# ---- what it needs -------------------------------------------------------------------------------


def installed_version():
    if not PYTHON.exists():
        raise Skipped(f"{PYTHON} is not there (tools/setup --libraries, or KEEL_JAX_PYTHON)")
    done = subprocess.run([PYTHON, "-c", "import absl.testing, jax; print(jax.__version__)"],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skipped(f"{PYTHON} lacks jax or absl-py")
    return done.stdout.strip()


def git(directory, *words):
    done = subprocess.run(["git", f"--git-dir={directory}", *words], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def take_from_git(directory, version, into):
    """The tests of that release, else of the newest commit, from a git directory."""
    tag = f"jax-v{version}"
    revision = tag if git(directory, "rev-parse", "--verify", "--quiet", tag) else "HEAD"
    tree = git(directory, "archive", revision, "jax/version.py", "jax/_src", "tests")
    if tree is None:
        raise Skipped(f"{directory} holds no jax/version.py, jax/_src and tests/")
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    subprocess.run(["tar", "-x", "-C", into], input=tree, check=True)
    return into


def find_sources(given, version, into):
    """A folder with jax/version.py and tests/."""
    if not given:
        raise Skipped("JAX's tests are not in its packages: name a checkout of the release "
                      f"jax-v{version} with KEEL_JAX_SOURCES")
    given = pathlib.Path(given).resolve()
    if (given / "tests").is_dir():
        return given
    if (given / "HEAD").exists():
        return take_from_git(given, version, into)
    raise Skipped(f"{given} is not a checkout of JAX, and no git directory of one")


def version_of(sources):
    found = re.search(r'^_version = "([\d.]+)"', (sources / "jax" / "version.py").read_text(), re.M)
    return found[1] if found else "unknown"


def name_of(test, sources):
    """Of a test file: "lax_test", "pallas/ops_test"."""
    return str(test.relative_to(sources / "tests").with_suffix(""))


def bare_plugin():
    facts = dict(line.split("=", 1) for line in
                 (ROOT / ".venv" / "keel-plugin").read_text().splitlines() if "=" in line)
    return ROOT / ".venv" / facts["library"]


# ---- one file, one way ---------------------------------------------------------------------------


def environment():
    clean = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN_SETTINGS)}
    return clean | {"KEEL_CONFIG": os.devnull, "KEEL_CLIENT_CACHE": "keep", "TF_CPP_MIN_LOG_LEVEL": "3",
                    "PYTHONDONTWRITEBYTECODE": "1"}


def command(way, options, cache, runs=None):
    """The words before the Python, and the environment."""
    variables = environment()
    if options.rehearse:
        devices = options.devices or 8
        words = {"real": ["run", "--jax-cpu", "embedded", "--cpu-devices", devices],
                 "new": ["rehearse", "--on", f"cpu:{devices}", "--compile", "new"],
                 "none": ["rehearse", "--on", f"cpu:{devices}", "--compile", "none"]}[way]
        return [KEEL, *words, "--quiet", "--cache-dir", f"{cache}-{way}",
                "--run-dir", runs or options.out / "runs", "--"], variables
    if options.devices:
        variables |= {"JAX_NUM_CPU_DEVICES": str(options.devices)}
    if options.own:
        return [] if way == "bare" else [KEEL, "run", "--quiet", "--cache-dir", cache, "--run-dir",
                                         options.out / "runs", "--"], variables
    if way == "bare":
        variables |= {"PJRT_NAMES_AND_LIBRARY_PATHS": f"keel:{options.plugin}",
                      "JAX_PLATFORMS": "keel,cpu"}
        return [], variables
    return [KEEL, "run", "--quiet", "--plugin", options.plugin, "--cache-dir", cache,
            "--run-dir", options.out / "runs", "--"], variables


def once(words, variables, log, deadline):
    """The exit code; None if the deadline came first."""
    with log.open("ab") as out, subprocess.Popen(
            [str(word) for word in words], env=variables, cwd=log.parent, stdin=subprocess.DEVNULL,
            stdout=out, stderr=out, start_new_session=True) as process:
        try:
            return process.wait(timeout=deadline)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None


def read_outcomes(path):
    """Outcomes by test, the test that was under way, whether the file came to its end."""
    outcomes, under_way, ended = {}, None, False
    for line in path.read_text().splitlines() if path.exists() else ():
        word, _, test = line.partition("\t")
        if word == "done":
            ended = True
        elif word == "begin":
            under_way = test
        else:
            outcomes[test], under_way = word, None
    return outcomes, under_way, ended


def run_file(test, way, options, cache, only=None, runs=None):
    """Runs a test file one way, beyond tests that end the process, and gives each test's outcome."""
    folder = options.out / "logs" / test.name
    folder.mkdir(parents=True, exist_ok=True)
    out, log, left = folder / f"{way}.outcomes", folder / f"{way}.log", folder / f"{way}.only"
    before, variables = command(way, options, cache, runs)
    outcomes, started, ended = {}, time.monotonic(), False
    for _ in range(MOST_CRASHES):
        out.unlink(missing_ok=True)
        words = [*before, PYTHON, HERE / "one.py", test.path, out, "--sample", options.sample,
                 "--sources", options.sources]
        if only is not None:
            left.write_text("\n".join(only))
            words += ["--only", left]
        time_left = options.deadline - (time.monotonic() - started)
        code = once(words, variables, log, max(time_left, 1))
        found, under_way, ended = read_outcomes(out)
        outcomes |= found
        if ended or code is None or under_way is None:
            break
        outcomes[under_way] = f"ends the process with {code}"
        if only is None:
            only = options.tests_of(test)
        only = [name for name in only if name not in outcomes]
        if not only:
            ended = True
            break
    return Result(outcomes, time.monotonic() - started, ended)


# ---- one file, every way -------------------------------------------------------------------------


WHOLE = "(the file)"


def differing(results):
    """Tests that every way ran, and that did not end alike; and the file, where one way did not reach
    its end."""
    common = set.intersection(*(set(result.outcomes) for result in results.values()))
    found = {test: {way: results[way].outcomes[test] for way in results} for test in sorted(common)
             if len({results[way].outcomes[test] for way in results}) > 1}
    if len({result.ended for result in results.values()}) > 1:
        found[WHOLE] = {way: f"{'ends' if result.ended else 'stops'} after {len(result.outcomes)} tests"
                        for way, result in results.items()}
    return found


def forget(cache):
    for folder in cache.parent.glob(f"{cache.name}*"):
        shutil.rmtree(folder, ignore_errors=True)


def reads_unreal(name, ways, test, options, cache):
    """Whether each rehearsal of this test that fails says that it read what no device computed."""
    for way, outcome in ways.items():
        if way == "real" or outcome not in ("fail", "error") or ways["real"] != "ok":
            continue
        runs = cache / "alone"
        shutil.rmtree(runs, ignore_errors=True)
        run_file(test, way, options, cache, [name], runs)
        if not any(b'"unreal"' in path.read_bytes() for path in runs.glob("*/journal.ndjson")):
            return False
    return all(outcome in ("ok", "fail", "error") for outcome in ways.values())


def compare_file(test, options):
    """A row of the summary."""
    cache = options.out / "caches" / test.name
    forget(cache)
    ways = REHEARSED if options.rehearse else WAYS
    results = {way: run_file(test, way, options, cache) for way in ways}
    different, steady = differing(results), {}
    if different:  # alone, a fault shows again
        forget(cache)
        only = None if WHOLE in different else list(different)
        again = {way: run_file(test, way, options, cache, only) for way in ways}
        steady = differing(again)
    unreal = {name: tests for name, tests in steady.items() if options.rehearse and name != WHOLE
              and reads_unreal(name, tests, test, options, cache)}
    forget(cache)
    counts = collections.Counter(results[ways[0]].outcomes.values())
    common = set.intersection(*(set(result.outcomes) for result in results.values()))
    return {"file": test.name, "tests": len(common), "outcomes": dict(counts),
            "seconds": {way: round(result.seconds, 1) for way, result in results.items()},
            "ended": {way: result.ended for way, result in results.items()},
            "different": {name: tests for name, tests in steady.items() if name not in unreal},
            "unreal": unreal,
            "unsteady": {name: ways for name, ways in different.items() if name not in steady}}


def tell(row):
    words = ", ".join(f"{count} {word}" for word, count in sorted(row["outcomes"].items()))
    seconds = "/".join(f"{seconds:.0f}" for seconds in row["seconds"].values())
    if row["unreal"]:
        words += f"; {len(row['unreal'])} read what is not computed"
    mark = "DIFFERS" if row["different"] else "ok" if row["tests"] else "NONE"
    print(f"{mark:8} {row['file']}: {row['tests']} tests ({words}); {seconds} s", flush=True)
    for name, ways in row["different"].items():
        print(f"         {name}: " + ", ".join(f"{way} {word}" for way, word in ways.items()))
    for name, ways in row["unsteady"].items():
        print(f"         (unsteady) {name}: "
              + ", ".join(f"{way} {word}" for way, word in ways.items()))


# ---- the programs --------------------------------------------------------------------------------


def compare_programs(options):
    """Takes what was compiled through tests/programs; its last line, and whether it was good."""
    programs = ROOT / "build" / "asan-ubsan" / "bin" / "programs"
    if not programs.exists():
        programs = BUILD / "bin" / "programs"
    if not options.pairs or not programs.exists():
        return "the programs were not compared", True
    done = subprocess.run([programs, "--pairs", str(options.pairs), options.out / "runs" / "programs"],
                          capture_output=True, text=True, check=False)
    sys.stderr.write(done.stderr)
    return (done.stdout.strip() or "programs: it did not end"), done.returncode == 0


# ---- all -----------------------------------------------------------------------------------------


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--sources", default=os.environ.get("KEEL_JAX_SOURCES"))
    parser.add_argument("--any-version", action="store_true")
    parser.add_argument("--own", action="store_true")
    parser.add_argument("--rehearse", action="store_true")
    parser.add_argument("--devices", type=int)
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--deadline", type=float, default=900)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=BUILD / "jax-tests")
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--skip", action="store_true")
    return parser.parse_args()


def prepare(options):
    """The test files."""
    if not KEEL.exists():
        raise Skipped(f"{KEEL} is not there; build first")
    version = installed_version()
    options.out = options.out.resolve()
    shutil.rmtree(options.out, ignore_errors=True)
    options.out.mkdir(parents=True)
    sources = find_sources(options.sources, version, options.out / "sources")
    if version_of(sources) != version and not options.any_version:
        raise Skipped(f"{sources} is JAX {version_of(sources)}, {version} is installed "
                      "(--any-version takes it all the same)")
    options.plugin, options.sources = bare_plugin(), sources
    print(f"tests of JAX {version_of(sources)}, with JAX {version}", flush=True)
    tests = {name_of(test, sources): test for test in sorted((sources / "tests").rglob("*_test.py"))}
    unknown = set(options.names) - set(tests)
    if unknown:
        sys.exit(f"jax tests: no such file: {', '.join(sorted(unknown))}")
    return [Test(name, test) for name, test in tests.items()
            if not options.names or name in options.names]


def list_tests(options):
    """The names of a file's tests that are run, listed once, without running them."""
    def tests_of(test):
        out = options.out / "logs" / test.name / "names"
        once([PYTHON, HERE / "one.py", test.path, out, "--sample", options.sample, "--sources",
              options.sources, "--list"],
             environment(), out.with_suffix(".log"), options.deadline)
        return out.read_text().split("\n") if out.exists() else []
    return tests_of


def main():
    options = arguments()
    try:
        tests = prepare(options)
    except Skipped as why:
        print(f"jax tests: skipped: {why}")
        sys.exit(0 if options.skip else SKIPPED)
    options.tests_of = list_tests(options)
    started, rows, left_out = time.monotonic(), [], []

    def work(test):
        if options.minutes and time.monotonic() - started > 60 * options.minutes:
            return None
        return compare_file(test, options)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for test, row in zip(tests, pool.map(work, tests)):
            if row is None:
                left_out.append(test.name)
                continue
            rows.append(row)
            tell(row)
    told, good = compare_programs(options)
    different = sum(len(row["different"]) for row in rows)
    unsteady = sum(len(row["unsteady"]) for row in rows)
    print(f"\n{sum(row['tests'] for row in rows)} tests of {len(rows)} files ran every way: "
          f"{different} end otherwise, {unsteady} are unsteady")
    if left_out:
        print(f"{len(left_out)} files were not begun: {', '.join(left_out)}")
    print(told)
    (options.out / "summary.json").write_text(json.dumps(
        {"files": rows, "left_out": left_out, "programs": told}, indent=1))
    print(f"{time.monotonic() - started:.0f} s; {options.out / 'summary.json'}")
    sys.exit(0 if good and not different and rows else 1)


if __name__ == "__main__":
    main()
