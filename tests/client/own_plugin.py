"""`keel run` without --plugin in front of the plugin that JAX would have used by itself: packages of
`jax_plugins`, PJRT_NAMES_AND_LIBRARY_PATHS, JAX_PLATFORMS."""

import os
import shutil

from harness import (KEEL, LIBRARY, PYTHON, Report, Workspace, clean_environment, finish,
                     journal, last_json, of_kind, other_plugins, run, start, told)
from harness import PLUGIN as EMBEDDED

report = Report()
PLUGIN = str(EMBEDDED)

PACKAGE = '''
def initialize():
    from jax._src import xla_bridge
    xla_bridge.register_plugin({name!r}, priority={priority}, library_path={library!r})
'''

PROGRAM = '''
import json, os, subprocess, sys
import jax, jax.numpy as jnp
from jax._src import xla_bridge
try:
    step = jax.jit(lambda x: (x * 3 + 1).sum())
    answer = {"values": [float(step(jnp.ones(n))) for n in (3, 5)],
              "platforms": jax.config.jax_platforms or "", "backends": sorted(xla_bridge.backends()),
              "devices": [str(d) for d in jax.devices()]}
    for name in sys.argv[1:]:
        answer[name] = float(jax.device_put(4.0, jax.devices(name)[0]) + 2)
except Exception as error:
    answer = {"error": type(error).__name__ + str(error)[:400]}
print(json.dumps(answer))
'''


class Case:
    """A Python with its own plugins, bare and under `keel run`."""

    def __init__(self, space, title, plugins, words=(), first="", flags=(), **environment):
        folder = space.path(title.replace(" ", "_"))
        for name, (library, priority) in plugins.items():
            package = folder / "jax_plugins" / name
            package.mkdir(parents=True)
            (package / "__init__.py").write_text(
                PACKAGE.format(name=name, priority=priority, library=str(library)))
        folder.mkdir(exist_ok=True)
        program = folder / "program.py"
        program.write_text(first + PROGRAM)
        self.title, self.runs = title, folder / "runs"
        plain = clean_environment() | environment | {"PYTHONPATH": str(folder),
                                                     "TF_CPP_MIN_LOG_LEVEL": "3"}
        command = [PYTHON, *flags, str(program), *words]
        bare = start(command, plain)
        self.keel = run([KEEL, "run", "--", *command], plain | {
            "KEEL_CONFIG": os.devnull, "KEEL_CACHE_DIR": str(folder / "cache"),
            "KEEL_RUN_DIR": str(self.runs)})
        self.bare = finish(bare)

    def plugin(self):
        """The path that Keel wrapped; None if nothing was recorded."""
        runs = sorted(path.name for path in self.runs.glob("20*"))
        starts = of_kind(journal(self.runs, runs[-1]), "start") if runs else []
        return starts[0]["plugin"]["path"] if starts else None

    def same(self, wrapped):
        report.check(f"{self.title}: JAX answers as without Keel", last_json(self.keel) is not None
                     and last_json(self.keel) == last_json(self.bare),
                     f"{told(self.bare)}\n{told(self.keel)}")
        report.equal(f"{self.title}: what Keel wraps", self.plugin(),
                     None if wrapped is None else str(wrapped))

    def own(self, wrapped):
        self.same(wrapped)
        self.says(f"in front of the plugin that the command uses by itself: {wrapped}, platform cpu")

    def embedded(self):
        self.same(PLUGIN)

    def tells(self, name):
        report.equal(f"{self.title}: {name}", (last_json(self.keel) or {}).get(name),
                     (last_json(self.bare) or {}).get(name, "missing"))

    def says_once(self, text):
        report.equal(f"{self.title}: says {text}", self.keel.err.count(text), 1)

    def says(self, text):
        report.check(f"{self.title}: says {text}", text in self.keel.err, told(self.keel))


def one_plugin(space):
    acme, copy = {"acme": (PLUGIN, 500)}, space.path("copy.so")
    shutil.copyfile(PLUGIN, copy)
    Case(space, "a package", {"acme": (copy, 500)}).own(copy)
    Case(space, "a package by name", acme, JAX_PLATFORMS="acme").same(PLUGIN)
    Case(space, "a package and the CPU", acme, ["cpu"], JAX_PLATFORMS="acme,cpu").same(PLUGIN)
    Case(space, "the CPU by name", acme, JAX_PLATFORMS="cpu").embedded()
    Case(space, "no plugin", {}).embedded()
    Case(space, "a listed plugin", {},
         PJRT_NAMES_AND_LIBRARY_PATHS=f"listed:{PLUGIN}").same(PLUGIN)
    Case(space, "an absent platform", {}, JAX_PLATFORMS="absent").same(None)
    # JAX skips it without a GPU.
    if not any(os.path.exists(device) for device in ("/dev/nvidia0", "/dev/nvidiactl", "/dev/dxg")):
        Case(space, "CUDA without a GPU", {"cuda": (PLUGIN, 500)}).embedded()


def programs_of_their_own(space):
    """What a program does to its environment means what it means without Keel."""
    acme = {"acme": (PLUGIN, 500)}
    for title, first in (
            ("an unset platform", 'import os; os.environ.pop("JAX_PLATFORMS", None)'),
            ("a platform of no name", 'import os; os.environ["JAX_PLATFORMS"] = ""'),
            ("an environment as without Keel",
             'import os; print([os.environ.get(name) for name in '
             '("JAX_PLATFORMS", "PJRT_NAMES_AND_LIBRARY_PATHS")])'),
            ("a loader called by name",
             'from jaxlib import xla_client\nassert xla_client.load_pjrt_plugin_dynamically('
             f'plugin_name="other", library_path={PLUGIN!r})')):
        Case(space, title, acme, first=first).same(PLUGIN)
    for title, first in (
            ("the CPU unless configured", 'import jax\nif jax.config.jax_platforms is None: '
                                          'jax.config.update("jax_platforms", "cpu")'),
            ("the CPU by an old name", 'import jax\njax.config.update("jax_platforms", "acme,cpu")\n'
                                       'jax.config.update("jax_platforms", "cpu")')):
        Case(space, title, acme, first=first).embedded()
    Case(space, "a cleared environment", acme, first="import os, jax; os.environ.clear()").same(None)
    Case(space, "the CPU unless set", acme,
         first='import os; os.environ.setdefault("JAX_PLATFORMS", "cpu")').embedded()
    case = Case(space, "the CPU and a package", acme, ["acme"], JAX_PLATFORMS="cpu,acme")
    case.embedded()
    case.tells("acme")
    # PYTHONPATH is lost, and Keel's package with it.
    Case(space, "an isolated Python", {}, flags=["-I"]).same(None)


def none_that_loads(space):
    broken = space.path("broken.so")
    broken.write_text("not a library\n")
    case = Case(space, "a broken plugin", {"acme": (broken, 500)}, JAX_PLATFORMS="acme")
    case.same(None)
    case.says("broken.so is not a shared library")


def several(space):
    others = other_plugins()
    if not others:
        report.skip("several plugins", "they are missing: tools/setup --all-plugins brings them")
        return
    second = os.path.realpath(others[0][1])
    # JAX loads packages in the order of a set.
    for seed in range(3):
        for better, worse in ((500, 450), (450, 500), (500, 500)):
            title = f"two plugins of priority {better} and {worse}, seed {seed}"
            case = Case(space, title, {"acme": (PLUGIN, better), "second": (second, worse)},
                        ["acme", "second"], PYTHONHASHSEED=str(seed))
            # The device's name tells which one is JAX's default; of equal ones it is the first loaded.
            default = (last_json(case.bare) or {"devices": [""]})["devices"][0]
            front, name = (PLUGIN, "acme") if default.startswith("TFRT") else (second, "second")
            case.same(front)
            case.says_once("runs without Keel")
            case.says(f"runs without Keel, which stands in front of {name}")
    listed = Case(space, "a package and a listed plugin", {"acme": (PLUGIN, 300)}, ["acme", "listed"],
                  PJRT_NAMES_AND_LIBRARY_PATHS=f"listed:{second}")
    listed.same(second)
    listed.says_once(f"acme: {PLUGIN} runs without Keel, which stands in front of listed")
    below = Case(space, "a package of less priority than the CPU", {"acme": (second, -5)}, ["acme"])
    below.embedded()
    below.tells("acme")
    below.says_once(f"acme: {second} runs without Keel, which stands in front of the embedded CPU plugin")
    broken = space.path("broken2.so")
    broken.write_text("not a library\n")
    Case(space, "a broken plugin beside another", {"acme": (PLUGIN, 450), "second": (broken, 500)},
         ["acme"]).same(PLUGIN)


def beside_torch(space):
    """torch_xla and JAX in one process: what is loaded for one of them never serves the other."""
    package = space.path("torch_beside/torch_xla")
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")  # all that it takes to be imported
    path = f"import os, sys; sys.path.append({str(package.parent)!r})\n"
    told_devices = 'print("device", os.environ.get("PJRT_DEVICE"))\n'
    case = Case(space, "torch_xla before JAX", {"acme": (PLUGIN, 500)},
                first=path + "import torch_xla\n" + told_devices)
    case.same(None)
    case.says_once(f"acme: {PLUGIN} runs without Keel, which stands in front of the embedded CPU plugin")
    report.check("torch_xla before JAX: it has Keel", "device LIBRARY" in case.keel.out, case.keel.out)
    case = Case(space, "JAX before torch_xla", {"acme": (PLUGIN, 500)},
                first=path + "import jax; jax.devices(); import torch_xla\n" + told_devices)
    case.same(PLUGIN)
    case.says_once("CPU: torch_xla's own client runs without Keel, which stands in front of acme")
    report.check("JAX before torch_xla: it keeps its own client", "device None" in case.keel.out,
                 case.keel.out)
    case = Case(space, "torch_xla and JAX on the CPU", {}, first=path + "import torch_xla\n")
    case.embedded()
    report.check("torch_xla and JAX on the CPU: nothing is said", "runs without Keel" not in
                 case.keel.err, case.keel.err)


def several_asked_for(space):
    others = other_plugins()
    if not others:
        return
    for first, second in (("acme", "second"), ("second", "acme")):
        libraries = {"acme": PLUGIN, "second": os.path.realpath(others[0][1])}
        case = Case(space, f"{first} before {second}",
                    {name: (path, 500) for name, path in libraries.items()}, [second],
                    JAX_PLATFORMS=f"{first},{second}")
        case.same(libraries[first])
        case.says(f"runs without Keel, because JAX prefers {first}")


def named(space):
    """With --plugin, that one is wrapped, whatever JAX would have used."""
    case = Case(space, "a named plugin", {"acme": (PLUGIN, 500)}, KEEL_PLUGIN=PLUGIN)
    report.check("a named plugin: JAX's platform is Keel's", (last_json(case.keel) or {}).get(
        "platforms") == "keel,cpu", told(case.keel))
    report.check("Keel's library is not taken for a plugin", case.plugin() != str(LIBRARY))


def main():
    with Workspace("own-plugin") as space:
        one_plugin(space)
        programs_of_their_own(space)
        none_that_loads(space)
        several(space)
        several_asked_for(space)
        beside_torch(space)
        named(space)
    report.finish()


if __name__ == "__main__":
    main()
