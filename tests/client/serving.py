"""A JAX server with buckets (examples/jax/serve_gpt.py), over HTTP: what its warm-up runs is no step, so
the freeze comes after it, a request in a bucket is served, and one outside is refused or reported."""

import json
import re
import urllib.error
import urllib.request

from harness import (KEEL, PYTHON, ROOT, Report, Workspace, finish, journal, of_kind, run, run_environment,
                     start, told)

report = Report()
SERVER = ROOT / "examples" / "jax" / "serve_gpt.py"
LINE = next(n for n, line in enumerate(SERVER.read_text().splitlines(), 1) if "= prefill(" in line)
IN_BUCKETS = [["Once upon"], ["a" * 30, "b"], ["c" * 60] * 4, ["d" * 5] * 3]
OUTSIDE = ["e" * 100]


class Server:
    """The answers of a server below `keel run`, and what it said."""

    def __init__(self, space, options, *words, requests):
        process = start([KEEL, "run", *options, "--", PYTHON, SERVER, "--requests", str(len(requests)), *words],
                        run_environment(space.path("cache"), space.runs), cwd=space.folder)
        line = process.stdout.readline()
        port = line.split()[-1] if line.startswith("serving on port") else None
        self.answers = [self.ask(port, prompts) for prompts in requests] if port else []
        self.code, self.out, self.err = finish(process)

    @staticmethod
    def ask(port, prompts):
        body = json.dumps({"prompts": prompts, "count": 8}).encode()
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", body) as answer:
                return answer.status, json.loads(answer.read())["made"]
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())["error"]


def served(server, requests):
    return [code for code, _ in server.answers] == [200] * len(requests) and all(
        len(made) == len(prompts) for (_, made), prompts in zip(server.answers, requests))


def events_of(space):
    return journal(space.runs, max(path.name for path in space.runs.glob("2*")))


def keel(space, *words):
    return run([KEEL, *words], run_environment(space.path("cache"), space.runs), cwd=space.folder)


def check_free(space):
    requests = [*IN_BUCKETS, OUTSIDE, IN_BUCKETS[0]]
    server = Server(space, [], requests=requests)
    report.check("without a freeze, all requests are served", served(server, requests), told(server))
    stats = json.loads(keel(space, "stats", "--json").out)
    report.equal("the figures have one recompile, that of the request outside the buckets",
                 [(stats["recompile_count"], r["site"]["line"], r["cause"]["new"]) for r in stats["recompiles"]],
                 [(1, LINE, "i32[1,100]")])
    report.equal("and two sets, all before step 1",
                 [(s["name"], s["programs"], s["last_step"]) for s in stats["sets"]],
                 [("jit_prefill", 9, 1), ("jit_decode", 3, 1)])
    report.check("the summary after the run counted the same", "keel: 1 recompile cost" in server.err, told(server))
    why = keel(space, "why")
    report.check("and so does keel why", "1 recompile cost" in why.out and
                 f"9 sizes of `tokens`, all before step 1: examples/jax/serve_gpt.py:{LINE} (jit_prefill)"
                 in why.out.replace(str(ROOT) + "/", ""), why.out)


def check_frozen(space, name, options, *words):
    requests = [*IN_BUCKETS, OUTSIDE, IN_BUCKETS[0]]
    server = Server(space, options, *words, requests=requests)
    codes = [code for code, _ in server.answers]
    report.equal(f"{name}: in-bucket requests are served, before and after one that is refused", codes,
                 [200] * len(IN_BUCKETS) + [500, 200])
    message = server.answers[len(IN_BUCKETS)][1] if len(server.answers) > len(IN_BUCKETS) else told(server)
    report.check(f"{name}: the refusal names the line and the size",
                 "jit_prefill: a new program after programs were frozen" in message and
                 re.search(rf"step \d+  -  shape  \S*serve_gpt\.py:{LINE}  tokens  i32\[1,64\] -> i32\[1,100\]",
                           message), message)
    refused = of_kind(events_of(space), "drift")
    report.equal(f"{name}: it is the only one", [e["verdict"] for e in refused], ["refused"])
    step = re.search(r"step (\d+)  -", message)
    why = keel(space, "why")
    report.check(f"{name}: keel why tells the same step later",
                 bool(step) and f"1  step {step[1]}  -  shape" in why.out, why.out)


def check_reported(space):
    requests = [*IN_BUCKETS, OUTSIDE]
    server = Server(space, ["--freeze-after", "1", "--on-drift", "warn"], requests=requests)
    lines = [line for line in server.err.splitlines() if "a new program after programs were frozen" in line]
    report.check("with --on-drift warn it is served and reported, and nothing of the warm-up is",
                 served(server, requests) and len(lines) == 1 and
                 lines[0].startswith(f"keel: serve_gpt.py:{LINE}: jit_prefill: "), told(server))


def check_contract(space):
    contract = space.path("keel.contract")
    answer = keel(space, "contract", "record", "-o", contract, "--", PYTHON, SERVER, "--warm-up-only", "--freeze")
    text = contract.read_text() if contract.exists() else ""
    report.check("a contract of the warm-up has all buckets",
                 answer.code == 0 and "takes tokens i32[1|2|4,16|32|64]" in text and "programs 12" in text or
                 answer.code == 0 and text.count("pin ") >= 12, told(answer) + text)
    requests = [*IN_BUCKETS, OUTSIDE]
    server = Server(space, ["--contract", contract, "--on-drift", "refuse"], "--freeze", requests=requests)
    codes = [code for code, _ in server.answers]
    report.equal("a server that is held to it serves what is in a bucket", codes, [200] * len(IN_BUCKETS) + [500])
    message = server.answers[-1][1] if server.answers else told(server)
    report.check("and what is outside is named with what is listed",
                 "jit_prefill: tokens i32[1,100] is not in keel.contract (listed: i32[" in message, message)


def check_ahead(space):
    environment = run_environment(space.path("ahead"), space.runs)
    words = ["--", PYTHON, SERVER, "--warm-up-only", "--freeze"]
    answer = run([KEEL, "rehearse", "--on", "cpu:1", *words], environment, cwd=space.folder)
    report.check("a rehearsal compiles the warm-up ahead, and none of it is a recompile",
                 answer.code == 0 and re.search(r"17 programs; 17 compiles .*; flat since step 1$", answer.err, re.M)
                 and "recompile" not in answer.err, told(answer))
    answer = run([KEEL, "run", *words], environment, cwd=space.folder)
    report.check("and the server starts with 0 compiles", "nothing compiled, 17 loads" in answer.err, told(answer))
    answer = run([KEEL, "rehearse", "--on", "cpu:1", *words], environment, cwd=space.folder)
    report.check("as does its next rehearsal", "nothing compiled, 17 loads" in answer.err, told(answer))


GROWING = '''
import jax, numpy as np
step = jax.jit(lambda x: x * 2)
for rows in range(1, 8):
    step(np.ones(rows, np.float32))
'''


def check_growing(space):
    script = space.path("growing.py")
    script.write_text(GROWING)
    answer = keel(space, "run", "--freeze-after", "3", "--", PYTHON, script)
    report.check("a loop that has a new program in each step is a warm-up that never ends, and that is said",
                 answer.code == 0 and "programs were never frozen: 7 executions look like a warm-up" in answer.err and
                 "keel.step()" in answer.err, told(answer))


def main():
    with Workspace("serving") as space:
        check_free(space)
        check_frozen(space, "--freeze-after 1", ["--freeze-after", "1"])
        check_frozen(space, "--freeze-after 5", ["--freeze-after", "5"])
        check_frozen(space, "keel.freeze()", [], "--freeze")
        check_reported(space)
        check_contract(space)
        check_ahead(space)
        check_growing(space)
    report.finish()


main()
