"""pytorch/xla 9755: with SPMD, a compiled function is traced again for each new unsharded input.
It is so without the fix, and with `keel run --fix` it is traced once, with the same numbers; what is
really sharded otherwise is traced again all the same. And torch_xla.launch finds its device."""

import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
CALLS = 5


def compiled():
    """A compiled function, and a list that gets an item a trace."""
    import torch
    import torch_xla._dynamo.dynamo_bridge as bridge
    traces, own = [], bridge.extract_graph_helper

    def counted(*arguments):
        traces.append(1)
        return own(*arguments)
    bridge.extract_graph_helper = counted
    return torch.compile(lambda x: (x @ x).sin().sum(), backend="openxla"), traces


def work(kind):
    import numpy
    import torch
    import torch_xla
    import torch_xla.runtime
    torch_xla.runtime.use_spmd()
    device, count = torch_xla.device(), torch_xla.runtime.global_runtime_device_count()
    function, traces = compiled()
    numbers = []
    for call in range(CALLS + 5 if kind == "late" else CALLS):
        x = torch.linspace(call, call + 1, 64).reshape(8, 8).to(device)
        if call == {"sharded": 2, "late": CALLS + 2}.get(kind):
            from torch_xla.distributed import spmd
            mesh = spmd.Mesh(numpy.arange(count), (count, 1), ("x", "y"))
            spmd.mark_sharding(x, mesh, ("x", "y"))
        result = function(x)
        torch_xla.sync()
        numbers.append(result.item().hex())
    print(json.dumps({"traces": len(traces), "numbers": numbers, "devices": count}))


def replica(index):
    import torch
    import torch_xla
    value = torch.full((2,), float(index), device=torch_xla.device()) * 2
    torch_xla.sync()
    # In one write: replicas are threads, and what print writes in parts would mix.
    os.write(1, f"replica {index} {value.cpu().tolist()}\n".encode())


def main():
    sys.path.insert(0, str(HERE.parent / "client"))
    from harness import KEEL, ROOT, Report, Workspace, clean_environment, last_json, run, told
    python = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
    environment = clean_environment() | {"KEEL_CONFIG": os.devnull, "KEEL_CPU_DEVICES": "4",
                                         "TF_CPP_MIN_LOG_LEVEL": "3"}
    report = Report()

    def start(space, name, kind, *options):
        return run([KEEL, "run", "--cache-dir", space.path("cache"), "--run-dir", space.path(name),
                    *options, "--", python, __file__, kind], environment)

    def stats(space, name):
        answer = run([KEEL, "stats", "--json", "--run-dir", space.path(name)], environment)
        return json.loads(answer.out)

    with Workspace("torch-retrace") as space:
        answers = {name: start(space, name, kind, *options) for name, kind, options in (
            ("plain", "fresh", ()), ("mended", "fresh", ("--fix",)),
            ("sharded", "sharded", ("--fix=sharding-retrace",)), ("late", "late", ("--fix",)))}
        got = {name: last_json(answer) or {} for name, answer in answers.items()}
        for name, answer in answers.items():
            report.check(f"{name}: the process ends well", got[name].get("devices", 0) > 1,
                         told(answer))
        report.equal("without the fix each new input is traced", got["plain"].get("traces"), CALLS)
        report.equal("with the fix they are traced once", got["mended"].get("traces"), 1)
        report.equal("an input that is sharded is traced again, and one that no longer is",
                     got["sharded"].get("traces"), 3)
        report.equal("so late, too, that the specs of others are compared no more",
                     got["late"].get("traces"), 3)
        report.equal("the numbers are the same", got["mended"].get("numbers"),
                     got["plain"].get("numbers"))
        said = "keel: fix sharding-retrace applied, torch_xla 2.9.0 (pytorch/xla 9755)"
        report.equal("it is said once", answers["mended"].err.count(said), 1)
        report.equal("nothing is said where it is not asked for", stats(space, "plain")["fixes"], [])
        report.equal("the journal tells of it",
                     [(fix["name"], fix["state"], fix["label"], fix["client"])
                      for fix in stats(space, "mended")["fixes"]],
                     [("sharding-retrace", "applied", "backend defect", "torch_xla 2.9.0")])

        answer = start(space, "launch", "launch")
        report.equal("torch_xla.launch runs on every device",
                     sorted(line for line in answer.out.splitlines() if line.startswith("replica")),
                     [f"replica {i} [{2. * i}, {2. * i}]" for i in range(4)])
    report.finish()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        main()
    elif sys.argv[1] == "launch":
        import torch_xla
        torch_xla.launch(replica)
    else:
        work(sys.argv[1])
