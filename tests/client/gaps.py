"""What a gate and `keel contract check` say of programs that Keel could not look at: never that all is well."""

import os

from harness import KEEL, PYTHON, Report, Workspace, clean_environment, run, told

report = Report()

SCRIPT = '''
import os, sys, jax, numpy as np
how = sys.argv[1]
step = jax.jit(lambda x: x * 2)
other = jax.jit(lambda x: x * 3 + 1)
one = np.ones(4, np.float32)
if how == "operations":
    print(float(jax.numpy.tanh(one).sum()))
    sys.exit()
step(one)
if how == "frozen":
    import keel
    keel.freeze()
if how in ("given up", "frozen"):
    import keel.own_client
    keel.own_client._program_of = lambda *_: 1 / 0
    other(one)
if how == "full":
    import resource
    journal = os.path.join(os.environ["KEEL_RUN_DIR"], os.environ["KEEL_RUN_ID"], "journal.ndjson")
    size = os.path.getsize(journal)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    other(one)
    os._exit(0)
if how == "forked":
    child = os.fork()
    if not child:
        other(one)
        os._exit(0)
    os.waitpid(child, 0)
if how in ("asked itself", "asked itself in text"):
    from jaxlib import xla_client
    lowered = other.lower(one).compiler_ir()
    given = lowered if how == "asked itself" else str(lowered)
    devices = xla_client._xla.DeviceList((jax.devices()[0],))
    jax.devices()[0].client.compile_and_load(given, devices, xla_client.CompileOptions())
print("done")
'''


class Stage:
    def __init__(self, space):
        self.script, self.contract = space.path("script.py"), space.path("keel.contract")
        self.script.write_text(SCRIPT)
        self.environment = clean_environment() | {
            "KEEL_CACHE_DIR": str(space.path("cache")), "KEEL_RUN_DIR": str(space.path("runs")),
            "KEEL_CONFIG": os.devnull, "KEEL_QUIET": "1", "KEEL_JAX_CPU": "own"}

    def keel(self, command, how, **more):
        return run([KEEL, *command, "--", PYTHON, "-W", "ignore", self.script, how], self.environment | more)

    def check(self, how):
        return self.keel(["contract", "check", "--contract", self.contract], how)

    def held(self, how, *options):
        return self.keel(["run", "--contract", self.contract, "--on-drift", "refuse", *options], how)


def check_gaps(stage):
    report.equal("a contract is recorded",
                 stage.keel(["contract", "record", "-o", stage.contract], "plain").code, 0)
    answer = stage.check("plain")
    report.check("a run without gaps holds", answer.code == 0 and " holds: " in answer.out, told(answer))
    for how, why in (("given up", "could not be given to Keel"), ("full", "journal could not be written"),
                     ("forked", "a forked child")):
        answer = stage.check(how)
        report.check(f"{how}: not checked", answer.code == 4 and ": not checked: " in answer.out
                     and why in answer.out, told(answer))
    for how in ("asked itself", "asked itself in text"):
        answer = stage.check(how)
        report.check(f"{how}: the program is one of the run", answer.code == 1 and "left by 1 of 2" in answer.out,
                     told(answer))


def check_gates(stage):
    refusal = "FAILED_PRECONDITION: keel: a program could not be looked at"
    answer = stage.held("given up")
    report.check("given up: refused", answer.code == 1 and refusal in answer.err, told(answer))
    answer = stage.keel(["run"], "frozen")
    report.check("frozen: refused", answer.code == 1 and refusal in answer.err, told(answer))
    answer = stage.keel(["run"], "given up")
    report.check("held to nothing, the run goes on", answer.code == 0 and "done" in answer.out, told(answer))
    for name, answer in (("a contract", stage.held("operations")),
                         ("a freeze", stage.keel(["run", "--freeze-after", "2"], "operations")),
                         ):
        report.check(f"{name} that looked at nothing ends with 4", answer.code == 4
                     and "only for operations outside jit" in answer.err, told(answer))


def main():
    with Workspace("gaps") as space:
        stage = Stage(space)
        check_gaps(stage)
        check_gates(stage)
    report.finish()


main()
