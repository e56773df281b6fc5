"""Four processes of JAX that compare their programs: if all have the same, they run; if one drifts, all
stop within seconds with the same message, which names the operation and its line."""

import os
import re

from harness import KEEL, PYTHON, Report, Workspace, clean_environment, run, told

report = Report()
PROCESSES = 4
JOB = '''
import os, sys, threading, time
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
jax.distributed.initialize()
rank, words = jax.process_index(), sys.argv[1:]
devices = jax.device_count()
sharding = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), PartitionSpec("data"))
def make(scale):
    @jax.jit
    def step(x):
        return (x * scale).sum()
    return step
whole = np.ones(devices * 2, np.float32)
x = jax.make_array_from_callback(whole.shape, sharding, lambda at: whole[at])
own = jax.jit(lambda x: x + rank)  # for each process's own device
own(whole)
def both(scales):
    threads = [threading.Thread(target=lambda scale=scale: make(scale)(x)) for scale in scales]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
try:
    if "threads" in words:
        both((20.0, 40.0) if rank else (40.0, 20.0))
    for n in range(3):
        scale = 2.0 + n
        if n == 2 and "drift" in words and rank == 3:
            scale += 0.5
        if n == 2 and "leave" in words and rank == 3:
            os._exit(0)
        make(scale)(x)
    print("done", flush=True)
except jax.errors.JaxRuntimeError as error:
    print("at", time.time(), flush=True)
    print("stopped", str(error).replace("\\n", "; "), flush=True)
time.sleep(3 * (rank == 0))  # the others need it to the end
os._exit(0)
'''
DRIFT_LINE = next(n for n, line in enumerate(JOB.splitlines(), 1) if "x * scale" in line)


def main():
    with Workspace("ranks") as space:
        script = space.path("job.py")
        script.write_text(JOB)
        environment = clean_environment() | {"KEEL_CONFIG": os.devnull, "KEEL_RUN_DIR": str(space.runs),
                                             "KEEL_CACHE_DIR": str(space.path("cache")),
                                             "TF_CPP_MIN_LOG_LEVEL": "3"}

        def job(*words, options=("--agree", "on")):
            return run([KEEL, "rehearse", "--on", f"cpu:{PROCESSES}/{PROCESSES}", *options, "--", PYTHON, script,
                        *words], environment, cwd=space.folder)

        answer = job()
        report.equal("processes with the same programs run", answer.out.count("done"), PROCESSES)
        report.check("and nothing is said of it", "compared" not in answer.err, told(answer))
        answer = job("drift")
        lines = re.findall(r"stopped (.*)", answer.out)
        report.check("if one drifts, all stop with the same message",
                     len(lines) == PROCESSES and len(set(lines)) == 1, answer.out + told(answer))
        times = [float(time) for time in re.findall(r"at ([0-9.]+)", answer.out)]
        report.check("at once", times and max(times) - min(times) < 5, times)
        report.check("which says who differs, in which operation, on which line", lines and
                     "process 3 asks for another jit_step than processes 0, 1 and 2" in lines[0]
                     and "multiply: 4 -> 4.5" in lines[0] and f"job.py:{DRIFT_LINE}" in lines[0], lines)
        answer = job("drift", options=("--agree", "on", "--freeze-after", "1", "--on-drift", "warn"))
        report.equal("a program that only gets a warning is compared, too", answer.out.count("stopped"), PROCESSES)
        answer = job("leave")
        report.equal("if one has ended, the others go on", answer.out.count("done"), PROCESSES - 1)
        report.check("and say so", "the programs of the processes are not compared: process 3 has ended"
                     in answer.err, told(answer, 12))
        answer = job("threads")
        report.check("if several threads ask, there is no order to compare", answer.out.count("done") == PROCESSES
                     and "not compared: several threads" in answer.err, answer.out + told(answer, 12))
        answer = job("drift", options=())
        report.equal("unless asked to, nobody compares", answer.out.count("stopped"), 0)
    report.finish()


main()
