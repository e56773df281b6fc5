"""A fix is applied to the versions and to the code that it is for, and skipped with a reason
otherwise. The client is a made one: a package torch_xla with the function in question."""

import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import (KEEL, PYTHON, Report, Workspace, clean_environment, run, told,  # noqa: E402
                     last_json)

report = Report()
COMPARED = """
import torch_xla

def extract_internal(captured):
    xla_args_sharding_spec = captured
    skip_checking_input_sharding_threashold = 2

    def optimized_mod(xla_args_tensor_only):
        nonlocal skip_checking_input_sharding_threashold
        if skip_checking_input_sharding_threashold > 0:
            if torch_xla._XLAC._get_xla_sharding_specs(
                    xla_args_tensor_only) != xla_args_sharding_spec:
                return True
            else:
                skip_checking_input_sharding_threashold -= 1
        return False
    return optimized_mod

def elsewhere():
    return [""] != ["{replicated}"]
"""
CLIENT = """
class _XLAC:
    @staticmethod
    def _get_xla_sharding_specs(tensors):
        return list(tensors)
"""
PROGRAM = """
import json, sys, traceback
import torch_xla._dynamo.dynamo_bridge as bridge
import keel
differ = bridge.extract_internal(["{replicated}", "{devices=[2,1]0,1}"])
line = bridge.extract_internal.__code__.co_firstlineno
print(json.dumps({"states": keel.fixes.states(), "line": line, "loader": bridge.__loader__ is
                  bridge.__spec__.loader and hasattr(bridge.__loader__, "get_source"),
                  "elsewhere": bridge.elsewhere() if hasattr(bridge, "elsewhere") else None,
                  "differ": [differ(["", "{devices=[2,1]0,1}"]) for _ in range(3)] +
                  [differ(["", ""]), differ(["{replicated}", "{devices=[2,1]0,1}"]),
                   differ(["{replicated}", "{devices=[2,1]0,1}"]), differ(["", ""])]}))
"""


def environment(*paths, **more):
    return clean_environment() | {
        "KEEL_CONFIG": os.devnull, "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(map(str, paths))} | more


def client(space, name, version, code):
    """A folder with a torch_xla of that version in it."""
    folder = space.path(name)
    (folder / "torch_xla" / "_dynamo").mkdir(parents=True)
    (folder / "torch_xla" / "__init__.py").write_text(CLIENT)
    (folder / "torch_xla" / "_dynamo" / "__init__.py").write_text("")
    (folder / "torch_xla" / "_dynamo" / "dynamo_bridge.py").write_text(code)
    info = folder / f"torch_xla-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: torch_xla\nVersion: {version}\n")
    return folder


def start(space, folder, *options, program=PROGRAM, python=(), **more):
    return run([KEEL, "run", "--run-dir", space.runs, *options, "--", PYTHON, *python, "-c", program],
               environment(folder, **more))


def check_applied(space):
    answer = start(space, client(space, "good", "2.9.0+cpu", COMPARED), "--fix")
    got = last_json(answer) or {}
    report.equal("it is applied", got.get("states"), {"sharding-retrace": "applied"})
    report.equal("unset and replicated are the same, another sharding is not; only what is the same "
                 "without the fix counts for comparing no more", got.get("differ"),
                 [False, False, False, True, False, False, False])
    report.equal("nowhere else they are", got.get("elsewhere"), True)
    report.equal("lines stay", got.get("line"), 4)
    report.equal("the module keeps its loader", got.get("loader"), True)
    said = "keel: fix sharding-retrace applied, torch_xla 2.9.0+cpu (pytorch/xla 9755)\n"
    report.equal("it says so once", answer.err.count(said), 1)
    answer = start(space, space.path("good"), "--fix", KEEL_QUIET="1")
    report.equal("KEEL_QUIET=1 says nothing", answer.err, "")
    answer = start(space, space.path("good"))
    report.equal("what is not asked for is left alone", (last_json(answer) or {}).get("differ"),
                 [True, True, True, True, False, False, False])


def check_skipped(space):
    other = COMPARED.replace(") != xla", ") == xla")
    inner = COMPARED[COMPARED.index("    def optimized"):COMPARED.index("    return optimized_mod")]
    twice = COMPARED.replace("    return optimized_mod", inner + "    return optimized_mod")
    for case, version, code, why in (
            ("another version", "2.6.0", COMPARED, "torch_xla 2.6.0 (pytorch/xla 9755): it is for "
                                                   "torch_xla 2.7 to 2.9"),
            ("a later version", "3.0.0", COMPARED, "it is for torch_xla 2.7 to 2.9"),
            ("other code", "2.9.0", other, "the code of torch_xla 2.9.0 is not the code that it fixes (2.7 to "
                                           "2.9): extract_internal compares sharding specs 0 times"),
            ("code that does it twice", "2.9.0", twice, "2 times, not once")):
        answer = start(space, client(space, case.replace(" ", "-"), version, code), "--fix")
        got = last_json(answer) or {}
        report.equal(f"{case}: it is skipped", got.get("states"), {"sharding-retrace": "skipped"})
        report.check(f"{case}: it says why", f"keel: fix sharding-retrace skipped, " in answer.err
                     and why in answer.err, told(answer))
    gone = COMPARED.replace("def extract_internal", "def renamed") + "extract_internal = print\n"
    answer = start(space, client(space, "gone", "2.9.0", gone), "--fix", program="import "
                   "torch_xla._dynamo.dynamo_bridge")
    report.check("a function that is gone: it is skipped", answer.err.startswith(
        "keel: fix sharding-retrace skipped") and "is not a function" in answer.err, told(answer))


def check_names(space):
    good = space.path("good")
    answer = start(space, good, KEEL_FIX="nothing, sharding-retrace")
    report.equal("of KEEL_FIX the known ones are applied", (last_json(answer) or {}).get("states"),
                 {"sharding-retrace": "applied"})
    report.check("and the unknown one is said", "keel: KEEL_FIX: nothing: no such fix; the fixes are "
                 "sharding-retrace\n" in answer.err, told(answer))
    answer = start(space, good, program="import keel\ntry: keel.fixes.apply(['x'])\n"
                   "except ValueError as error: print(error)")
    report.equal("in code an unknown name is an error", answer.out,
                 "x: no such fix; the fixes are sharding-retrace\n")
    answer = start(space, good, program="import torch_xla._dynamo.dynamo_bridge as b, keel\n"
                   "keel.fixes.apply(); keel.fixes.apply(); "
                   "print(keel.fixes.states(), b.extract_internal([''])(['{replicated}']))")
    report.equal("in code it is applied to what is loaded already", answer.out,
                 "{'sharding-retrace': 'applied'} False\n")
    report.equal("once", answer.err.count("sharding-retrace applied"), 1)


def check_harmless(space):
    """What a program may bring that Keel's own package does not expect."""
    good = space.path("good")
    script = space.path("scripts") / "keel.py"
    script.parent.mkdir()
    script.write_text("print(__name__)\nimport torch_xla._dynamo.dynamo_bridge as b\n"
                      "print(b.extract_internal([''])(['{replicated}']))\n")
    answer = run([KEEL, "run", "--run-dir", space.runs, "--fix", "--", PYTHON, script],
                 environment(good))
    report.equal("a script that is named keel.py runs once, and its fixes are applied", answer.out,
                 "__main__\nFalse\n")
    checkout = space.path("beside") / "train.py"
    (checkout.parent / "keel" / "src").mkdir(parents=True)
    checkout.write_text("import torch_xla._dynamo.dynamo_bridge as b, keel\nkeel.step()\n"
                        "print(keel.fixes.states())\n")
    answer = run([KEEL, "run", "--run-dir", space.runs, "--fix", "--", PYTHON, checkout],
                 environment(good))
    report.equal("a folder keel beside the script, as a checkout is, is not taken for the package",
                 answer.out, "{'sharding-retrace': 'applied'}\n")
    bridge = ("import torch_xla._dynamo.dynamo_bridge as b\n"
              "print(b.extract_internal(['{replicated}'])(['{devices=[2]0,1}']))")
    for case, program, more in (
            ("no stderr", "import sys; sys.stderr = None\n", {}),
            ("no stderr, and nothing that is known", "import sys; sys.stderr = None\n",
             {"KEEL_FIX": "nothing"}),
            ("a closed stderr", "import sys; sys.stderr.close()\n", {}),
            ("a module without a spec of the name keel", "import sys, types\n"
             "sys.modules['keel'] = types.ModuleType('keel')\n", {})):
        options = () if more else ("--fix",)
        answer = start(space, good, *options, program=program + bridge, **more)
        report.check(f"{case}: the program runs", answer.code == 0 and answer.out == "True\n",
                     told(answer))
    answer = start(space, good, "--fix", program="from importlib.util import find_spec\n"
                   "spec = find_spec('torch_xla._dynamo.dynamo_bridge')\n"
                   "print('extract' in spec.loader.get_source(spec.name))\n" + PROGRAM)
    report.equal("a module that was looked for first is mended when it is imported",
                 (last_json(answer) or {}).get("states"), {"sharding-retrace": "applied"})
    report.check("and may be read without being imported", answer.out.startswith("True\n"),
                 told(answer))


def check_recorded(space):
    """A fix stands in the journal, applied before there was a client or after."""
    client = "import jax\nfor i in range(3): jax.jit(lambda x: x + i)(1.); keel.step()\n"
    fix = "import torch_xla._dynamo.dynamo_bridge as b\n"
    for case, folder, code, state in (
            ("before", "good", "import keel\n" + fix + client, "applied"),
            ("after", "other-code", "import keel\n" + client + fix, "skipped")):
        runs = space.path(case)
        answer = run([KEEL, "run", "--run-dir", runs, "--fix", "--", PYTHON, "-c", code],
                     environment(space.path(folder)))
        events = [event for path in runs.glob("*/journal.ndjson")
                  for event in map(json.loads, path.read_text().splitlines())]
        told_of = [event for event in events if event["event"] == "fix"]
        report.equal(f"{case} the client: it is recorded once",
                     [(event["name"], event["state"], event["label"]) for event in told_of],
                     [("sharding-retrace", state, "backend defect")])
        report.equal(f"{case} the client: behind the start", events[0]["event"], "start")
        report.check(f"{case} the client: a reason where it was skipped",
                     [bool(event.get("why")) for event in told_of] == [state == "skipped"], told_of)
        report.check(f"{case} the client: the summary has nothing to add",
                     "no fix was applied" not in answer.err, told(answer))
        report.equal(f"{case} the client: keel.step() marks steps",
                     sum(event["count"] for event in events if event["event"] == "step"), 3)
        words = f"sharding-retrace {state}, torch_xla 2.9.0"
        for command in (["stats"], ["why"], ["report", "-o", "-"]):
            answer = run([KEEL, *command, "--run-dir", runs], environment())
            report.check(f"{case} the client: keel {command[0]} tells of it", words in answer.out,
                         told(answer) + answer.out[:200])


def check_package(space):
    """What does not depend on fixes."""
    for case, python in (("isolated", "-I"), ("without site", "-S")):
        answer = start(space, space.path("good"), "--fix", python=(python,), program="import "
                       "jax; jax.jit(lambda x: x + 1)(1.)" if python == "-I" else "pass")
        report.check(f"{case}: the program runs", answer.code == 0, told(answer))
        if python == "-I":
            report.check("isolated: it is said that nothing was applied",
                         "keel: no fix was applied: " in answer.err, told(answer))
    table = run([KEEL, "fixes", "--json"], environment())
    answer = start(space, space.path("good"), program="import json, keel\n"
                   "print(json.dumps([fix._asdict() for fix in keel.fixes.known()]))")
    report.equal("keel fixes lists the package's own", last_json(answer), json.loads(table.out))
    version = run([KEEL, "version", "--json"], environment())
    answer = start(space, space.path("good"), program="import keel; print(keel.version)")
    report.equal("it has the version of the build", answer.out.strip(),
                 json.loads(version.out)["keel"])


with Workspace("python") as workspace:
    check_applied(workspace)
    check_skipped(workspace)
    check_names(workspace)
    check_harmless(workspace)
    check_recorded(workspace)
    check_package(workspace)
report.finish()
