"""`keel aot` of a recorded run compiles all that the run asks for, functions of jaxlib's among it: after it,
the run compiles nothing."""

import json
import os
import subprocess

from harness import (BUILD, KEEL, PYTHON, Report, Workspace, clean_environment, compiles, journal, loads,
                     of_kind, run, told)

report = Report()

PROGRAM = '''
import jax, jax.numpy as jnp, numpy as np
a = jnp.eye(8) * 3 + 1
print(jnp.linalg.cholesky(a).sum(), jnp.linalg.solve(a, a[0]).sum(), jnp.linalg.eigvalsh(a)[0])
print(jax.jit(lambda x: jnp.sin(x) @ x)(a).sum())
for shift in range(2):
    jax.jit(lambda x: jax.debug.print("{}", jnp.linalg.cholesky(x + shift)[0, 0]))(a)
jax.effects_barrier()
'''

# Keel does not know what the function depends on.
UNKEPT = '''
import ctypes, sys, jax, jax.numpy as jnp
own = ctypes.CDLL(sys.argv[1]).own_function
jax.ffi.register_ffi_target("own", jax.ffi.pycapsule(own), platform="cpu")
a = jnp.asarray([1.0, 2.0])
jax.jit(lambda a: jnp.sin(a) * 2)(a)
jax.jit(lambda a: jax.ffi.ffi_call("own", a)(a))(a)
'''


def main():
    with Workspace("aot") as space:
        script = space.path("program.py")
        script.write_text(PROGRAM)

        def keel(cache, *words, **options):
            """What is said, and the events of the run that it leaves."""
            before = set(space.runs.glob("*/journal.ndjson"))
            answer = run([KEEL, *words], clean_environment() | {
                "KEEL_CONFIG": os.devnull, "KEEL_RUN_DIR": str(space.runs),
                "KEEL_CACHE_DIR": str(space.path(cache))}, **options)
            new = [path.parent.name for path in set(space.runs.glob("*/journal.ndjson")) - before]
            report.check(f"keel {words[0]} ends well", answer.code == 0, told(answer))
            return answer, new[0] if new else None

        recorded, name = keel("first", "run", "--", PYTHON, script)
        events = journal(space.runs, name)
        names = [event["name"] for event in of_kind(events, "handler") if event["kind"] == "call"]
        report.check("the run records which functions its programs call",
                     {"lapack_spotrf_ffi", "lapack_sgetrf_ffi", "lapack_ssyevd_ffi",
                      "xla_ffi_python_cpu_callback"} <= set(names), names)
        report.equal("each once", len(names), len(set(names)))
        answer, _ = keel("second", "aot", "--on", "cpu:1", name)
        report.check("all its programs are compiled ahead", "failed" not in answer.out, answer.out)
        answer, _ = keel("second", "aot", "--on", "cpu:1", name, stderr=subprocess.STDOUT)
        report.check("each has its line as soon as it is known, before the sum",
                     "programs compiled for cpu:1" in answer.out.splitlines()[-1], answer.out)
        report.check("every program is stored", "not stored" not in answer.out, answer.out)
        again, name = keel("second", "run", "--", PYTHON, script)
        events = journal(space.runs, name)
        report.equal("then the run compiles nothing", [event["name"] for event in compiles(events)], [])
        report.check("and loads all", len(loads(events)) > 10, len(loads(events)))
        report.equal("with the same results", again.out, recorded.out)
        script.write_text(UNKEPT)
        _, name = keel("first", "rehearse", "--on", "cpu:1", "--compile", "none", "--", PYTHON, script,
                       str(BUILD / "samples" / "libown_function.so"))
        answer, _ = keel("third", "aot", "--on", "cpu:1", name, stderr=subprocess.STDOUT)
        last = answer.out.splitlines()[-1]
        report.equal("what is compiled and not stored is counted",
                     (last, answer.out.count("not stored: custom call")),
                     ("keel: 1 of them is not stored, so each run compiles it again; see above why", 1))
        report.check("beside those that are compiled", "3 of 3 programs compiled" in answer.out, answer.out)
        answer, _ = keel("third", "aot", "--on", "cpu:1", "--json", name)
        programs = json.loads(answer.out)["programs"]
        report.equal("JSON says so too", sorted((one["state"], "not_stored" in one) for one in programs),
                     [("cached", False), ("cached", False), ("compiled", True)])
    report.finish()


if __name__ == "__main__":
    main()
