"""The wheel: made without a network from this build, installed into a fresh environment, and used
there: the command, JAX_PLATFORMS=keel without `keel run`, and the entry points."""

import email
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import (BUILD, PLUGIN, PYTHON, ROOT, Report, Workspace, clean_environment,  # noqa: E402
                     compiles, journal, last_json, run, told)

report = Report()
TRAIN = "import jax; print(float(jax.jit(lambda x: x * 2 + 1)(3.0)))"


def environment(space, **more):
    kept = {name: value for name, value in clean_environment().items()
            if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    return kept | {"KEEL_CONFIG": os.devnull, "KEEL_RUN_DIR": str(space.runs), "HOME":
                   str(space.folder), "KEEL_CACHE_DIR": str(space.path("cache")),
                   "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": "1"} | more


def pip(space, *words):
    return run([PYTHON, "-m", "pip", "--disable-pip-version-check", *words],
               environment(space, KEEL_BUILD=str(BUILD), PIP_NO_INDEX="1"))


def built(space):
    answer = pip(space, "wheel", "--no-deps", "--wheel-dir", space.path("made"), ROOT / "python")
    wheels = list(space.path("made").glob("keel-*.whl")) if answer.code == 0 else []
    if not report.check("it is built without a network", len(wheels) == 1, told(answer, 12)):
        report.finish()
    return wheels[0]


def check_content(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    report.check("it is tagged for this machine", re.fullmatch(
        r"keel-[\d.]+-py3-none-(many)?linux_(\d+_\d+_)?x86_64\.whl", wheel.name), wheel.name)
    report.equal("it holds no plugin and nothing compiled by Python",
                 [name for name in names if "cpu" in name or "__pycache__" in name], [])
    files = zipfile.ZipFile(wheel)
    report.equal("no file of it names a folder of the machine that built it",
                 [name for name in names for folder in (ROOT, BUILD)
                  if os.fsencode(folder) in files.read(name)], [])
    brought = [name for name in names if "/libs/" in name]
    licences = [name for name in names if "/licenses/" in name]
    report.equal("what it brings has its licence", len(licences), len(brought) + 1)


def told_before(space):
    """METADATA as a caller gets it before the wheel is made."""
    os.environ["KEEL_BUILD"] = str(BUILD)
    spec = importlib.util.spec_from_file_location(
        "keel_build", ROOT / "python" / "build_backend" / "keel_build.py")
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    space.path("told").mkdir()
    folder = space.path("told") / backend.prepare_metadata_for_build_wheel(space.path("told"))
    return {path.relative_to(folder.parent).as_posix(): path.read_bytes()
            for path in folder.rglob("*") if path.is_file()}


def check_metadata(space, wheel):
    files = zipfile.ZipFile(wheel)
    names = files.namelist()
    data = files.read(next(name for name in names if name.endswith("/METADATA")))
    fields = email.message_from_bytes(data)
    report.equal("it names each licence that it holds", sorted(fields.get_all("License-File")),
                 sorted(name.split("/licenses/")[1] for name in names if "/licenses/" in name))
    brought = {name.split("/")[-1].split(".")[0] for name in names if "/libs/" in name}
    spdx = {"libjansson": "MIT", "libsodium": "ISC", "libxxhash": "BSD-2-Clause",
            "libzstd": "BSD-3-Clause"}
    report.equal("and says of all that is in it which it is", fields["License-Expression"],
                 " AND ".join(["Apache-2.0", *sorted({spdx[name] for name in brought})]))
    before = told_before(space)
    report.equal("what is told before it is made is what it holds",
                 [name for name in before if files.read(name) != before[name]], [])
    report.check("its licences among it", sum("/licenses/" in name for name in before) ==
                 len(brought) + 1, list(before))


def installed(space, wheel):
    """A fresh environment with the wheel; its Python."""
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", space.path("fresh")], check=True)
    python = space.path("fresh") / "bin" / "python"
    answer = pip(space, "--python", python, "install", "--no-deps", wheel)
    if not report.check("it is installed", answer.code == 0, told(answer, 12)):
        report.finish()
    return python


def check_alone(space, python):
    """No JAX and no plugin are there."""
    keel = python.parent / "keel"
    answer = run([keel, "--version"], environment(space))
    report.check("the command runs", answer.out.startswith("keel 0."), told(answer))
    answer = run([python, "-c", "import keel, keel.jax_plugin as j; keel.step(); "
                  "print(keel.library_path())"], environment(space))
    report.check("the package brings its library", "/fresh/" in answer.out and
                 os.path.isfile(answer.out.strip()), told(answer))
    answer = run([keel, "run", "--plugin", "tpu", "--", python, "-c", ""], environment(space))
    report.check("a plugin that is not there is named, and what to install",
                 answer.code == 2 and "install libtpu there" in answer.err, told(answer))
    site = next(python.parents[1].glob("lib/python3*/site-packages"))
    plugin = site / "xla_plugins" / "xla_cpu_pjrt" / "xla_cpu_pjrt.so"
    plugin.parent.mkdir(parents=True)
    plugin.write_bytes(b"")
    answer = run([keel, "config"], environment(space))
    report.check("the plugin of the package beside it is the default", str(plugin) in answer.out,
                 answer.out)
    shutil.rmtree(site / "xla_plugins")
    answer = run([keel, "fixes"], environment(space))
    report.check("it finds its table of fixes", "sharding-retrace" in answer.out, told(answer))
    answer = run([python, "-c", "from importlib.metadata import entry_points as e\n"
                  "print([p.name for g in ('jax_plugins', 'torch_xla.plugins') for p in "
                  "e(group=g)])"], environment(space))
    report.equal("it has its entry points", answer.out, "['keel', 'keel']\n")


def check_with_jax(space, python):
    site = next(python.parents[1].glob("lib/python3*/site-packages"))
    packages = next((ROOT / ".venv").glob("lib/python3*/site-packages"))
    (site / "others.pth").write_text(f"{packages}\n")
    answer = run([python, "-c", TRAIN], environment(space, JAX_PLATFORMS="cpu"))
    report.equal("JAX that does not ask for it does not get it", (last_json(answer), answer.err),
                 (7.0, ""))
    report.check("and leaves no run behind", not space.runs.exists(), told(answer))
    asked = environment(space, JAX_PLATFORMS="keel,cpu", KEEL_RUN_ID="asked",
                        KEEL_PLUGIN=str(PLUGIN))
    answer = run([python, "-c", TRAIN], asked)
    report.check("JAX_PLATFORMS=keel,cpu runs on it", last_json(answer) == 7.0 and
                 compiles(journal(space.runs, "asked")), told(answer))
    report.check("without a warning about the platform", "experimental" not in answer.err,
                 told(answer))
    answer = run([python.parent / "keel", "run", "--", python, "-c", TRAIN],
                 environment(space, KEEL_PLUGIN=str(PLUGIN)))
    report.check("keel run from it loads what it compiled", last_json(answer) == 7.0 and
                 "nothing compiled, 1 load" in answer.err, told(answer))
    (site / "keel" / "native").rename(site / "keel" / "away")
    answer = run([python, "-c", TRAIN], environment(space, JAX_PLATFORMS="cpu"))
    report.equal("a wheel that is damaged does no harm", last_json(answer), 7.0)
    answer = run([python, "-c", TRAIN], environment(space, JAX_PLATFORMS="keel"))
    report.equal("and where it is asked for it is said once",
                 answer.err.count("libkeel_pjrt.so is in none of"), 1)
    answer = run([python.parent / "keel", "--version"], environment(space))
    report.check("by the command too", answer.code == 1 and "reinstall the wheel of keel" in
                 answer.err, told(answer))


with Workspace("wheel") as workspace:
    made = built(workspace)
    check_content(made)
    check_metadata(workspace, made)
    fresh = installed(workspace, made)
    check_alone(workspace, fresh)
    check_with_jax(workspace, fresh)
report.finish()
