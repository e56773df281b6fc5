"""`keel run` without --plugin in front of the plugin that PyTorch/XLA is set to use: a device that
the script registers, or a library by path."""

import os
import pathlib
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))


def train():
    for setting in filter(None, os.environ.get("BY_SCRIPT", "").split(",")):
        os.environ.setdefault(*setting.split("=", 1))
    import torch
    import torch_xla
    from torch_xla.experimental import plugins

    class Acme(plugins.DevicePlugin):
        def library_path(self):
            return os.environ["ACME_LIBRARY"]

        def configure_single_process(self):
            pass

        def physical_chip_count(self):
            return 1

    if os.environ.get("PJRT_DEVICE") == "ACME":
        plugins.register_plugin("ACME", Acme())
    total = (torch.ones(3, device=torch_xla.device()) * 2).sum()
    torch_xla.sync()
    print("total", total.item())


def main():
    from harness import (KEEL, PLUGIN, ROOT, Report, Workspace, clean_environment, journal, of_kind,
                         run, told)
    python = os.environ.get("KEEL_TORCH_PYTHON") or ROOT / ".venv-torch" / "bin" / "python"
    report = Report()
    with Workspace("torch-own-plugin") as space:
        acme = space.path("acme.so")
        shutil.copyfile(PLUGIN, acme)
        path = f"PJRT_LIBRARY_PATH={acme}"
        for title, given, wrapped in (
                ("a registered device", {"PJRT_DEVICE": "ACME", "ACME_LIBRARY": str(acme)}, acme),
                ("a registered device that the script asks for",
                 {"BY_SCRIPT": "PJRT_DEVICE=ACME", "ACME_LIBRARY": str(acme)}, acme),
                ("a library by path", {"PJRT_DEVICE": "LIBRARY", "PJRT_LIBRARY_PATH": str(acme)},
                 acme),
                ("a library by path in the script", {"BY_SCRIPT": f"PJRT_DEVICE=LIBRARY,{path}"},
                 acme),
                ("the CPU in the script", {"BY_SCRIPT": "PJRT_DEVICE=CPU"}, PLUGIN),
                ("no device", {}, PLUGIN)):
            runs = space.path(title.replace(" ", "_"))
            answer = run([KEEL, "run", "--", python, __file__, "train"], clean_environment() | given | {
                "KEEL_CONFIG": os.devnull, "KEEL_CACHE_DIR": str(space.path("cache")),
                "KEEL_RUN_DIR": str(runs), "TF_CPP_MIN_LOG_LEVEL": "3"})
            report.check(f"{title}: the script runs", "total 6.0" in answer.out, told(answer))
            identities = [path.name for path in runs.glob("20*")]
            events = journal(runs, identities[0]) if identities else []
            starts = of_kind(events, "start")
            report.equal(f"{title}: what Keel wraps", [event["plugin"]["path"] for event in starts],
                         [str(wrapped)])
            report.check(f"{title}: it is recorded", of_kind(events, "compile", "load"), told(answer))
        # torch_xla asks for its library when it makes a client, and so must Keel.
        answer = run([KEEL, "run", "--", python, "-c", "import torch_xla; print('imported')"],
                     clean_environment() | {"PJRT_DEVICE": "NEURON", "KEEL_CONFIG": os.devnull,
                                            "KEEL_RUN_DIR": str(space.path("neuron"))})
        report.check("a device without its library: torch_xla is imported",
                     "imported" in answer.out, told(answer))
    report.finish()


if __name__ == "__main__":
    if len(sys.argv) < 2:
        main()
    else:
        train()
