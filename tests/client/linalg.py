"""jnp.linalg, jax.scipy.linalg and jnp.fft give through Keel what they give without it, in every
mode, and their programs are loaded again: the plugin gets jaxlib's own kernels."""

import json
import os
import shutil

from harness import (HERE, KEEL, PYTHON, Report, Workspace, clean_environment, compiles, journal,
                     last_json, loads, of_kind, run, told)

report = Report()
SCRIPT = HERE / "linalg_programs.py"
DIGITS = {"32": 2e-3, "64": 1e-9}  # what is left of float32 and float64 behind a factorization


def environment():
    return clean_environment() | {"KEEL_CONFIG": os.devnull, "TF_CPP_MIN_LOG_LEVEL": "3"}


def tolerance(name):
    small = name.endswith(("float32", "complex64")) or name == "sparse"
    return DIGITS["32" if small else "64"]


def is_near(got, wanted, limit):
    scale = max([1.0] + [abs(x) for pair in wanted for x in pair])
    return len(got) == len(wanted) and all(
        abs(a - b) <= limit * scale for pair, other in zip(got, wanted) for a, b in zip(pair, other))


def compare(name, got, wanted):
    """Whether all numbers are the same but for rounding."""
    names = [key for key in wanted if key != "devices"]
    wrong = [key for key in names if not is_near(got.get(key, []), wanted[key], tolerance(key))]
    report.check(f"{name}: {len(names)} results are those of JAX alone", not wrong, wrong)


def through_keel(space, name, *settings):
    """The results of one more run, and its events."""
    runs = space.path("runs")
    before = set(runs.glob("*/journal.ndjson"))
    answer = run([KEEL, "run", "--quiet", "--cache-dir", space.path("cache"), "--run-dir", runs,
                  *settings, "--", PYTHON, SCRIPT], environment())
    results = last_json(answer)
    report.check(f"{name}: the process ends well", answer.code == 0 and results is not None,
                 told(answer))
    return results or {}, [event for path in set(runs.glob("*/journal.ndjson")) - before
                           for event in journal(runs, path.parent.name)]


def with_another_build(space):
    """A copy of jaxlib's package whose LAPACK library has one byte more: another build of it."""
    import jaxlib
    target = space.path("packages")
    source = os.path.dirname(jaxlib.__file__)
    shutil.copytree(source, target / "jaxlib", copy_function=os.link)
    library = next((target / "jaxlib" / "cpu").glob("_lapack*.so"))
    content = library.read_bytes()
    library.unlink()
    library.write_bytes(content + b"\0")
    return target


def main():
    with Workspace("linalg") as space:
        answer = run([PYTHON, SCRIPT], environment() | {"JAX_PLATFORMS": "cpu"})
        wanted = last_json(answer)
        report.check("JAX alone: the process ends well", wanted is not None, told(answer))
        cold, events = through_keel(space, "cold")
        compare("cold", cold, wanted)
        report.equal("cold: nothing is refused", of_kind(events, "uncacheable"), [])
        warm, events = through_keel(space, "warm")
        compare("warm", warm, wanted)
        report.equal("warm: nothing is compiled", [event["name"] for event in compiles(events)], [])
        report.check("warm: programs are loaded", len(loads(events)) > 50, len(loads(events)))
        off, _ = through_keel(space, "off", "--mode", "off")
        compare("off", off, wanted)
        os.environ["PYTHONPATH"] = str(with_another_build(space))
        other, events = through_keel(space, "another build")
        compare("another build", other, wanted)
        report.check("another build: what calls no kernel is loaded", len(loads(events)) > 10,
                     len(loads(events)))
        known = json.loads(run([KEEL, "why", "--json", "--all", "--run-dir", space.path("runs")],
                               environment()).out)
        # Of each function, the first dtype is known from earlier runs, the others from this one.
        kernels = [item["subject"] for item in known if item["kind"] == "backend"]
        others = {(item["kind"], item["subject"]) for item in known} - {("backend", k) for k in kernels}
        report.check("another build: compiles are explained by its kernels",
                     len(kernels) > 10 and all(k.startswith("lapack_") for k in kernels), kernels)
        report.equal("another build: or by the dtype", others, {("dtype", "a")})
    report.finish()


if __name__ == "__main__":
    main()
