"""`keel aot` of a recorded run compiles all that the run asks for, functions of jaxlib's among it: after it,
the run compiles nothing."""

import os
import subprocess

from harness import (KEEL, PYTHON, Report, Workspace, clean_environment, compiles, journal, loads,
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
        again, name = keel("second", "run", "--", PYTHON, script)
        events = journal(space.runs, name)
        report.equal("then the run compiles nothing", [event["name"] for event in compiles(events)], [])
        report.check("and loads all", len(loads(events)) > 10, len(loads(events)))
        report.equal("with the same results", again.out, recorded.out)
    report.finish()


if __name__ == "__main__":
    main()
