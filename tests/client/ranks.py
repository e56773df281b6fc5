"""Four processes of JAX that compare their programs, in each place where they can meet: the client's
key-value service, the run's folder, Redis. If all have the same, they run; if one drifts, all stop within
seconds with the same message, which names the operation and its line; if the place or a process ends,
the others go on."""

import os
import re
import shutil
import socket
import subprocess
import time

from harness import KEEL, PYTHON, Report, Workspace, clean_environment, run, told

report = Report()
PROCESSES = 4
JOB = '''
import os, signal, sys, threading, time
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
jax.distributed.initialize()
rank, words = jax.process_index(), sys.argv[1:]
def array(devices):
    sharding = NamedSharding(Mesh(np.array(devices), ("data",)), PartitionSpec("data"))
    whole = np.ones(len(devices) * 2, np.float32)
    return jax.make_array_from_callback(whole.shape, sharding, lambda at: whole[at])
def make(scale):
    @jax.jit
    def step(x):
        return (x * scale).sum()
    return step
x = array(jax.devices())
own = jax.jit(lambda x: x + rank)  # for each process's own device
own(np.ones(4, np.float32))
def both(scales):
    threads = [threading.Thread(target=lambda scale=scale: make(scale)(x)) for scale in scales]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
def end_place():
    if "client" in words:
        jax.distributed.shutdown()
    elif rank == 0 and "folder" in words:
        folder = os.path.join(os.environ["KEEL_RUN_DIR"], os.environ["KEEL_RUN_ID"], "ranks")
        open(folder + ".file", "w").close()
        for n in range(1000):  # others may make it again
            os.rename(folder, f"{folder}.{n}")
            try:
                os.link(folder + ".file", folder)
                break
            except FileExistsError:
                pass
    elif rank == 0:
        os.kill(int(os.environ["TEST_REDIS"]), signal.SIGKILL)
try:
    if "threads" in words:
        both((20.0, 40.0) if rank else (40.0, 20.0))
    if "groups" in words:  # two halves, each with a program of its own
        half = rank // 2 * 2
        make(7.0 + half)(array(jax.devices()[half:half + 2]))
    if "twice" in words and rank == 0:  # to ask for its cost
        print("cost", make(2.0).lower(x).compile().cost_analysis() is not None, flush=True)
    if "alone" in words and rank == 0:
        make(9.0).lower(x).compile()
    for n in range(3):
        scale = 2.0 + n
        if n == 2 and "drift" in words and rank == 3:
            scale += 0.5
            print("drifts at", time.time(), flush=True)
        if n == 2 and "leave" in words and rank == 3:
            os._exit(0)
        if n == 2 and "kill" in words and rank == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        if n == 2 and "end" in words:
            end_place()
        step = make(scale)
        for _ in range(100):
            step(x)
    print("done", flush=True)
except jax.errors.JaxRuntimeError as error:
    print("at", time.time(), flush=True)
    print("stopped", str(error).replace("\\n", "; "), flush=True)
time.sleep(3 * (rank == 0))  # the others need it to the end
os._exit(0)
'''
DRIFT_LINE = next(n for n, line in enumerate(JOB.splitlines(), 1) if "x * scale" in line)
NOT_COMPARED = "the programs of the processes are not compared: "
# What is said if the place ends.
ENDS = {"client": "the client's key-value service", "folder": "ranks", "redis": "Redis at localhost:"}


class Redis:
    """A server of the test's own; set-up installs it."""

    @staticmethod
    def start():
        if not shutil.which("redis-server"):
            raise SystemExit("redis-server is missing: tools/setup --tests installs it")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = Redis()
        server.address = f"redis://localhost:{port}"
        server.process = subprocess.Popen(["redis-server", "--port", str(port), "--save", ""],
                                          stdout=subprocess.DEVNULL)
        for _ in range(1000):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    return server
            time.sleep(0.02)
        raise SystemExit("redis-server does not answer")

    def end(self):
        self.process.kill()
        self.process.wait()


class Jobs:
    def __init__(self, space):
        self.folder = space.folder
        self.script = space.path("job.py")
        self.script.write_text(JOB)
        self.environment = clean_environment() | {
            "KEEL_CONFIG": os.devnull, "KEEL_RUN_DIR": str(space.runs),
            "KEEL_CACHE_DIR": str(space.path("cache")), "TF_CPP_MIN_LOG_LEVEL": "3"}

    def run(self, *words, options=("--agree", "on"), **more):
        # A process that is killed does not end the others as one that failed.
        command = ["sh", "-c", '"$@"; exit 0', "sh", PYTHON, self.script, *words]
        return run([KEEL, "rehearse", "--on", f"cpu:{PROCESSES}/{PROCESSES}", *options, "--", *command],
                   self.environment | more, cwd=self.folder)


def check_drift(jobs, place, agree):
    answer = jobs.run("drift", options=("--agree", agree))
    lines = re.findall(r"stopped (.*)", answer.out)
    report.check(f"{place}: if one drifts, all stop with the same message",
                 len(lines) == PROCESSES and len(set(lines)) == 1, answer.out + told(answer))
    began = [float(time) for time in re.findall(r"drifts at ([0-9.]+)", answer.out)]
    ended = [float(time) for time in re.findall(r"\bat ([0-9.]+)", answer.out)]
    report.check(f"{place}: at once", began and max(ended) - began[0] < 60, (began, ended))
    print(f"         the last one {max(ended, default=0) - min(began, default=0):.1f} s after it drifted")
    report.check(f"{place}: which says who differs, in which operation, on which line", lines and
                 "process 3 asks for a different jit_step than processes 0, 1 and 2" in lines[0]
                 and "multiply: 4 -> 4.5" in lines[0] and f"job.py:{DRIFT_LINE}" in lines[0], lines)


def check_place(jobs, place, agree, **more):
    answer = jobs.run(options=("--agree", agree))
    report.equal(f"{place}: processes with the same programs run", answer.out.count("done"), PROCESSES)
    report.check(f"{place}: and nothing is said of it", "compared" not in answer.err, told(answer))
    check_drift(jobs, place, agree)
    answer = jobs.run("kill", options=("--agree", agree))
    report.equal(f"{place}: if one is killed, the others go on", answer.out.count("done"), PROCESSES - 1)
    report.check(f"{place}: and say so", f"{NOT_COMPARED}process 3 has ended" in answer.err, told(answer, 12))
    answer = jobs.run("end", place, "drift", options=("--agree", agree), **more)
    report.equal(f"{place}: if the place ends, all go on", answer.out.count("done"), PROCESSES)
    report.check(f"{place}: and say so", len(re.findall(f"{NOT_COMPARED}.*{ENDS[place]}", answer.err)) ==
                 PROCESSES, told(answer, 12))


def check_common(jobs):
    answer = jobs.run("drift", options=("--agree", "on", "--freeze-after", "1", "--on-drift", "warn"))
    report.equal("a program that only gets a warning is compared, too", answer.out.count("stopped"), PROCESSES)
    answer = jobs.run("leave")
    report.equal("if one has ended, the others go on", answer.out.count("done"), PROCESSES - 1)
    answer = jobs.run("threads")
    report.check("if several threads ask, there is no order to compare", answer.out.count("done") == PROCESSES
                 and f"{NOT_COMPARED}several threads" in answer.err, answer.out + told(answer, 12))
    answer = jobs.run("groups", "twice")
    report.check("programs of some processes are compared among these, and what all had may come again",
                 answer.out.count("done") == PROCESSES and "compared" not in answer.err,
                 answer.out + told(answer, 12))
    answer = jobs.run("alone")
    report.check("a program for all that only one asks for cannot be told from drift",
                 answer.out.count("process 0 asks for a different jit_step than processes 1, 2 and 3") == PROCESSES,
                 answer.out + told(answer, 12))
    answer = jobs.run("drift", options=())
    report.equal("unless asked to, nobody compares", answer.out.count("stopped"), 0)


def check_alone(jobs):
    """A client without a job has the callbacks' fields too, and no service behind them."""
    words = [PYTHON, "-c", "import jax, numpy as np; print(jax.jit(lambda x: x + 1)(np.ones(2))[0])"]
    for agree in ("on", "client"):
        answer = run([KEEL, "run", "--agree", agree, "--", *words], jobs.environment, cwd=jobs.folder)
        report.check(f"without jax.distributed.initialize(), --agree {agree} changes nothing",
                     answer.code == 0 and answer.out.strip() == "2.0", told(answer))


def check_redis(jobs):
    server = Redis.start()
    try:
        check_place(jobs, "redis", server.address, TEST_REDIS=str(server.process.pid))
        answer = jobs.run("drift", options=("--agree", server.address))
        report.check("redis: without a server, all go on and say so", answer.out.count("done") == PROCESSES
                     and answer.err.count(f"{NOT_COMPARED}Redis at localhost:") == PROCESSES, told(answer, 12))
    finally:
        server.end()


def main():
    with Workspace("ranks") as space:
        jobs = Jobs(space)
        for place in ("client", "folder"):
            check_place(jobs, place, place)
        check_redis(jobs)
        check_common(jobs)
        check_alone(jobs)
    report.finish()


main()
