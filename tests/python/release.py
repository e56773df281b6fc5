"""What `make wheel` and `make sdist` made: `make test-wheel` runs this.

Usage: release.py WHEEL SDIST

The wheel's programs need no glibc newer than its tag says, and no library of this machine. It is
installed and used in each Python from 3.9 on that is found here, and in the root folder of an older
system if KEEL_TEST_ROOT names one. The source distribution is built by pip with this machine's
compiler and libraries.
"""

import os
import pathlib
import re
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "client"))

from harness import PLUGIN, ROOT, Report, Workspace, clean_environment, run, told  # noqa: E402
from pythons import pythons  # noqa: E402

WHEEL, SDIST = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
TOOLS = ROOT / ".venv-wheel"
GLIBC = (2, 28)
PROGRAMS = ("keel/native/bin/keel", "keel/native/lib/libkeel_pjrt.so")
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}
ADD = """module @sum {
  func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %sum = stablehlo.add %a, %b : tensor<4xf32>
    return %sum : tensor<4xf32>
  }
}
"""
# Loads the library as a client does, and asks it for its table.
LOAD = """import ctypes, keel
library = ctypes.CDLL(keel.library_path())
library.GetPjrtApi.restype = ctypes.c_void_p
keel.step()
print("%d.%d" % __import__("sys").version_info[:2], bool(library.GetPjrtApi()))
"""
report = Report()


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def environment(space, **more):
    return clean_environment() | {
        "KEEL_CONFIG": os.devnull, "KEEL_RUN_DIR": str(space.runs), "HOME": str(space.folder),
        "KEEL_CACHE_DIR": str(space.path("cache")), "PIP_NO_INDEX": "1", "PIP_NO_CACHE_DIR": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1", "TF_CPP_MIN_LOG_LEVEL": "3"} | more


# ---- what it needs -----------------------------------------------------------------------------

def check_needs(space):
    report.equal("the wheel's tag", WHEEL.name.split("-", 2)[2], "py3-none-manylinux_2_28_x86_64.whl")
    with zipfile.ZipFile(WHEEL) as files:
        files.extractall(space.path("wheel"))
        licences = sorted(name.split("/")[-1] for name in files.namelist() if "/licenses/" in name)
    report.equal("it has the licence of each library that is linked in", licences,
                 ["LICENSE", "hiredis.txt", "jansson.txt", "libsodium.txt", "libzstd.txt", "xxhash.txt"])
    for name in PROGRAMS:
        path = space.path("wheel") / name
        symbols = output("objdump", "-T", path)
        versions = {tuple(map(int, found)) for found in re.findall(r"GLIBC_(\d+)\.(\d+)", symbols)}
        report.check(f"{path.name}: no symbol of a glibc above 2.28", versions and max(versions) <= GLIBC,
                     sorted(versions)[-3:])
        dynamic = output("readelf", "-dW", path)
        report.equal(f"{path.name}: needs only what glibc brings",
                     set(re.findall(r"NEEDED.*\[(.*)\]", dynamic)) - SYSTEM, set())
        report.check(f"{path.name}: looks for libraries in no folder of its own", "PATH)" not in dynamic)
        report.check(f"{path.name}: is bound when it is loaded", "BIND_NOW" in dynamic)
        report.check(f"{path.name}: can be loaded anywhere", "DYN" in output("readelf", "-h", path))
    exported = {line.split()[-1] for line in symbols.splitlines()
                if " g " in line and "*UND*" not in line}
    listed = re.findall(r"^\s+(\w+);", (ROOT / "src/shim/exports.map").read_text(), re.M)
    report.equal("the library exports its own functions and none of those linked in", exported, set(listed))
    answer = run([TOOLS / "bin/python", "-m", "auditwheel", "show", WHEEL], environment(space))
    found = re.search(r'tag: "manylinux_2_(\d+)_x86_64"', answer.out.replace("\n", " "))
    report.check("auditwheel agrees", found and int(found[1]) <= GLIBC[1], told(answer))
    print(f"         {WHEEL.name}: {WHEEL.stat().st_size / 1e6:.1f} MB", flush=True)


# ---- where it runs -----------------------------------------------------------------------------

def check_python(space, version, python):
    """Returns the environment's folder."""
    folder = space.path(f"python{version}")
    subprocess.run([python, "-m", "venv", folder], check=True)
    answer = run([folder / "bin/pip", "install", "-q", WHEEL], environment(space))
    if report.check(f"Python {version}: pip installs it", answer.code == 0, told(answer, 12)):
        answer = run([folder / "bin/python", "-c", LOAD], environment(space))
        report.equal(f"Python {version}: the package finds the library, which can be loaded",
                     answer.out, f"{version} True\n")
        answer = run([folder / "bin/keel", "--version"], environment(space))
        report.check(f"Python {version}: the command runs", answer.out.startswith("keel 0."), told(answer))
    return folder


def client(space):
    """A client in C, compiled for the same old glibc."""
    program = space.path("client")
    subprocess.run([TOOLS / "zig-cc", "-O1", "-w", "-isystem", PLUGIN.parent / "include", "-o", program,
                    ROOT / "tests/compatibility/client.c", "-ldl"], check=True)
    space.path("add.mlir").write_text(ADD)
    return program


def check_use(name, keel, library, client, plugin, program, environ, prefix=()):
    environ = environ | {"KEEL_PLUGIN": str(plugin)}
    command = [*prefix, keel, "run", "--", client, library, program]
    for process, summary in (("compiles", "1 compile "), ("loads in a second process", "1 load ")):
        answer = run(command, environ)
        report.check(f"{name}: a client {process}", answer.code == 0 and summary in answer.err,
                     told(answer, 12))


def check_old_root(space, program):
    """Debian 11's root folder, say: `debootstrap --include python3-venv bullseye FOLDER`."""
    root = pathlib.Path(os.environ["KEEL_TEST_ROOT"]).resolve()
    folder = root / "tmp" / space.folder.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in (WHEEL, PLUGIN, program, space.path("add.mlir")):
        shutil.copy(path, folder)
    inside = f"/tmp/{folder.name}"
    environ = {"HOME": inside, "PATH": "/usr/bin:/bin", "PIP_NO_INDEX": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    chroot = [shutil.which("chroot") or "/usr/sbin/chroot", root]
    mounted = (root / "proc/self").exists()
    if not mounted:
        subprocess.run(["mount", "-t", "proc", "proc", root / "proc"], check=True)
    try:
        system = run([*chroot, "ldd", "--version"], environ).out.splitlines()[0]
        print(f"         {root}: {system}", flush=True)
        answer = run([*chroot, "python3", "-m", "venv", f"{inside}/venv"], environ)
        report.check("older system: its Python makes an environment", answer.code == 0, told(answer, 12))
        answer = run([*chroot, f"{inside}/venv/bin/pip", "install", "-q", f"{inside}/{WHEEL.name}"], environ)
        report.check("older system: its pip installs it", answer.code == 0, told(answer, 12))
        answer = run([*chroot, f"{inside}/venv/bin/python", "-c", LOAD], environ)
        report.check("older system: the library can be loaded", answer.out.endswith(" True\n"),
                     told(answer))
        library = output(*chroot, f"{inside}/venv/bin/python", "-c",
                         "import keel; print(keel.library_path())").strip()
        check_use("older system", f"{inside}/venv/bin/keel", library, f"{inside}/client",
                  f"{inside}/{PLUGIN.name}", f"{inside}/add.mlir", environ, chroot)
        answer = run([*chroot, f"{inside}/venv/bin/keel", "probe"],
                     environ | {"KEEL_PLUGIN": f"{inside}/{PLUGIN.name}"})
        report.check("older system: keel probe finds an entry to be loaded back",
                     answer.code == 0 and "the reloaded executable runs" in answer.out, told(answer, 12))
    finally:
        if not mounted:
            subprocess.run(["umount", root / "proc"], check=True)
        shutil.rmtree(folder)


def check_sdist(space, python):
    folder = space.path("from-source")
    subprocess.run([python, "-m", "venv", folder], check=True)
    answer = run([folder / "bin/pip", "install", SDIST],
                 environment(space, KEEL_PJRT_INCLUDE=str(PLUGIN.parent / "include")))
    if report.check("pip builds and installs the source distribution", answer.code == 0, told(answer, 12)):
        answer = run([folder / "bin/keel", "--version"], environment(space))
        report.check("what it built runs", answer.out.startswith("keel 0."), told(answer))


with Workspace("release") as workspace:
    check_needs(workspace)
    tried = {version: check_python(workspace, version, python) for version, python in pythons(9)}
    report.check("there is a Python", tried)
    print(f"         tried in Python {', '.join(tried)}", flush=True)
    latest = list(tried)[-1]
    native = tried[latest] / f"lib/python{latest}/site-packages/keel/native"
    compiled = client(workspace)
    check_use("this system", tried[latest] / "bin/keel", native / "lib/libkeel_pjrt.so", compiled, PLUGIN,
              workspace.path("add.mlir"), environment(workspace))
    if os.environ.get("KEEL_TEST_ROOT"):
        check_old_root(workspace, compiled)
    check_sdist(workspace, tried[latest] / "bin/python")
report.finish()
