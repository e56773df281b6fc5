"""The wheel: made without a network from this build, installed into a fresh environment, and used
there: the command, JAX_PLATFORMS=keel without `keel run`, and the entry points. And the source
distribution. What `make wheel` makes is checked by release.py."""

import email
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import (BUILD, PLUGIN, PYTHON, ROOT, Report, Workspace, clean_environment,  # noqa: E402
                     compiles, journal, last_json, run, told)

report = Report()
PRODUCT = "import jax, jax.numpy as jnp; print(float(jax.jit(lambda w: (w @ w).sum())(jnp.ones((64, 64)))))"
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
    answer = pip(space, "wheel", "--no-deps", "--wheel-dir", space.path("made"), ROOT)
    wheels = list(space.path("made").glob("keel-*.whl")) if answer.code == 0 else []
    if not report.check("it is built without a network", len(wheels) == 1, told(answer, 12)):
        report.finish()
    return wheels[0]


def check_content(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    report.check("it is tagged for this machine", re.fullmatch(
        r"keel-[\d.]+-py3-none-(many)?linux_(\d+_\d+_)?x86_64\.whl", wheel.name), wheel.name)
    report.equal("it holds no plugin and nothing compiled by Python",
                 [name for name in names if re.search(r"cpu.*\.so|__pycache__", name)], [])
    files = zipfile.ZipFile(wheel)
    report.equal("no file of it names a folder of the machine that built it",
                 [name for name in names for folder in (ROOT, BUILD)
                  if os.fsencode(folder) in files.read(name)], [])


def check_metadata(wheel):
    files = zipfile.ZipFile(wheel)
    names = files.namelist()
    data = files.read(next(name for name in names if name.endswith("/METADATA")))
    fields = email.message_from_bytes(data)
    report.equal("it names each licence that it holds", sorted(fields.get_all("License-File")),
                 sorted(name.split("/licenses/")[1] for name in names if "/licenses/" in name))
    report.equal("of an ordinary build that is Keel's alone", fields["License-Expression"], "Apache-2.0")


def tracked(*folders):
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", *folders], capture_output=True, text=True)
    return listed.stdout.split()


def check_sources(space):
    """The source distribution has all that a build reads; that it builds is checked by release.py."""
    backend = "import keel_build; print(keel_build.build_sdist('.'))"
    folder = space.path("sdist")
    folder.mkdir()
    environ = environment(space, PYTHONPATH=str(ROOT / "python" / "build_backend"))
    answer = subprocess.run([PYTHON, "-c", backend], cwd=folder, env=environ, capture_output=True,
                            text=True)
    if not report.check("the source distribution is made", answer.returncode == 0, answer.stderr):
        return
    archive = folder / answer.stdout.strip()
    stem = archive.name.removesuffix(".tar.gz")
    with tarfile.open(archive) as files:
        names = {name.removeprefix(stem + "/") for name in files.getnames()}
        information = files.extractfile(f"{stem}/PKG-INFO").read()
        files.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    report.equal("all in it is in its folder", [name for name in names if name.startswith(stem)], [])
    report.equal("it names itself", email.message_from_bytes(information)["Name"], "keel")
    wanted = tracked("CMakeLists.txt", "pyproject.toml", "cmake", "src", "include", "python", "docs", "man",
                     "examples")
    report.equal("it has every source", [name for name in wanted if name not in names], [])
    report.equal("and no test", [name for name in names if name.startswith("tests/")], [])
    answer = run(["cmake", "-S", folder / stem, "-B", folder / "build", "-DKEEL_TESTS=OFF",
                  f"-DKEEL_PJRT_INCLUDE={PLUGIN.parent / 'include'}"], environment(space))
    report.check("CMake finds in it all that it looks for", answer.code == 0, told(answer, 12))
    first = archive.read_bytes()
    subprocess.run([PYTHON, "-c", backend], cwd=folder, env=environ, check=True, capture_output=True)
    report.check("the same sources make the same bytes", archive.read_bytes() == first)


def installed(space, wheel):
    """A fresh environment with the wheel; its Python."""
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", space.path("fresh")], check=True)
    python = space.path("fresh") / "bin" / "python"
    answer = pip(space, "--python", python, "install", "--no-deps", wheel)
    if not report.check("it is installed", answer.code == 0, told(answer, 12)):
        report.finish()
    return python


def check_pages(python):
    """The pages are in the environment's share/, and their links lead to others of them."""
    share = python.parents[1] / "share"
    pages = share / "doc" / "keel"
    report.check("the man page is there", "keel why" in (share / "man/man1/keel.1").read_text()
                 .replace("\\-", "-"))
    report.equal("and all pages", sorted(path.relative_to(pages).as_posix() for path in
                                         pages.rglob("docs/**/*.md")), sorted(tracked("docs/*.md")))
    lost = [(path.name, link) for path in pages.rglob("*.md")
            for link in re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", path.read_text())
            if not (path.parent / link).exists()]
    report.equal("their links work there", lost, [])


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
    loud = environment(space, KEEL_PLUGIN=str(PLUGIN))
    del loud["TF_CPP_MIN_LOG_LEVEL"]
    answer = run([python.parent / "keel", "run", "--", python, "-c", PRODUCT], loud)
    report.check("what the user sees is the script's and Keel's", answer.out == "262144.0\n" and all(
        line.startswith("keel: ") for line in answer.err.splitlines()), told(answer))
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
    check_metadata(made)
    check_sources(workspace)
    fresh = installed(workspace, made)
    check_pages(fresh)
    check_alone(workspace, fresh)
    check_with_jax(workspace, fresh)
report.finish()
