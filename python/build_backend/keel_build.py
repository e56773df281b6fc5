"""Builds the wheel of `keel` from CMake's build (PEP 517), with only the standard library.

The wheel contains the package, and below keel/native the output of `cmake --install`: bin/keel,
lib/libkeel_pjrt.so and, in lib/keel/libs, the few libraries that they need and not every system
has, with their licences. Its tag says where it runs: manylinux with the newest glibc version that
any file needs, or plain linux if it needs another library.

KEEL_BUILD names the build folder (build/).
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile
import tomllib
import zipfile

PYTHON = pathlib.Path(__file__).resolve().parents[1]
ROOT = PYTHON.parent
BUILD = pathlib.Path(os.environ.get("KEEL_BUILD") or ROOT / "build")
PROGRAMS = ("bin/keel", "lib/libkeel_pjrt.so")
LIBRARIES = "lib/keel/libs"
# The libraries that may be included, and the licence chosen for each (SPDX).
LICENCES = {"libjansson": "MIT", "libsodium": "ISC", "libxxhash": "BSD-2-Clause",
            "libzstd": "BSD-3-Clause"}
# manylinux guarantees these on every system.
SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|ld-linux-[a-z0-9-]+)\.so\.\d+")
EPOCH = (1980, 1, 1, 0, 0, 0)


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


# ---- contents ---------------------------------------------------------------------------------

def dependencies(path):
    """Names and paths of the libraries that a program loads."""
    return dict(re.findall(r"(\S+) => (/\S+)", output("ldd", str(path))))


def libraries():
    """Names and paths of the libraries to include."""
    if not (BUILD / PROGRAMS[1]).exists():
        raise SystemExit(f"keel: {BUILD / PROGRAMS[1]} does not exist; run `make build` first, or name "
                         "the build folder in KEEL_BUILD")
    return {library: path for name in PROGRAMS
            for library, path in dependencies(BUILD / name).items() if not SYSTEM.fullmatch(library)}


def licence(library):
    """The copyright file of a library's Debian package."""
    for path in {library, os.path.realpath(library)}:
        for name in {path, path.removeprefix("/usr")}:
            answer = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
            if answer.returncode == 0:
                package = answer.stdout.split(":")[0]
                return package, pathlib.Path(f"/usr/share/doc/{package}/copyright").read_bytes()
    raise SystemExit(f"keel: {library}: dpkg does not know its licence, so it cannot go into "
                     "the wheel")


def expression(own, brought):
    """The licences of everything in the wheel."""
    stems = [library.split(".")[0] for library in brought]
    unknown = [stem for stem in stems if stem not in LICENCES]
    if unknown:
        raise SystemExit(f"keel: {unknown[0]}: add its licence to LICENCES in {__file__}")
    return " AND ".join([own, *sorted({LICENCES[stem] for stem in stems} - {own})])


def stage(folder):
    """Fills `folder` with programs and libraries."""
    with tempfile.TemporaryDirectory() as everything:
        subprocess.run(["cmake", "--install", BUILD, "--prefix", everything, "--strip",
                        "--component", "programs"], check=True, stdout=subprocess.DEVNULL)
        for name in PROGRAMS:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(pathlib.Path(everything, name), folder / name)
    (folder / LIBRARIES).mkdir(parents=True)
    for library, path in libraries().items():
        shutil.copy(path, folder / LIBRARIES / library)


# ---- what it runs on ---------------------------------------------------------------------------

def tag(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    own, needed, versions = {path.name for path in files}, set(), set()
    for path in files:
        dynamic = output("readelf", "-dV", "-W", str(path))
        needed |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        versions |= {tuple(map(int, found)) for found in re.findall(r"GLIBC_(\d+)\.(\d+)", dynamic)}
    foreign = sorted(name for name in needed - own if not SYSTEM.fullmatch(name))
    machine = platform.machine()
    if foreign or not versions:
        return f"py3-none-linux_{machine}"
    return "py3-none-manylinux_{}_{}_{}".format(*max(versions), machine)


# ---- the wheel ---------------------------------------------------------------------------------

def project():
    with open(PYTHON / "pyproject.toml", "rb") as file:
        table = tomllib.load(file)["project"]
    found = re.search(r'^version = "(.+)"$', (PYTHON / "keel" / "_version.py").read_text(), re.M)
    return table | {"version": found[1]}


def metadata(table, spdx, licences):
    lines = ["Metadata-Version: 2.4", f"Name: {table['name']}", f"Version: {table['version']}",
             f"Summary: {table['description']}", f"License-Expression: {spdx}"]
    lines += [f"License-File: {name}" for name in licences]
    lines += [f"Requires-Python: {table['requires-python']}"]
    lines += [f"Requires-Dist: {name}" for name in table["dependencies"]]
    for extra, names in table["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}"]
        lines += [f'Requires-Dist: {name}; extra == "{extra}"' for name in names]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / "docs/python.md").read_text()]
    return "\n".join(lines)


def entry_points(table):
    groups = {"console_scripts": table["scripts"]} | table["entry-points"]
    return "\n".join(f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in rows.items())
                     for group, rows in groups.items())


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def package_files():
    for path in sorted((PYTHON / "keel").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(PYTHON).as_posix(), path


def information(table):
    """The wheel's metadata, before it is made and in it: names and contents."""
    brought = libraries()
    licences = dict(sorted(licence(path) for path in brought.values()))
    files = {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    files |= {f"{package}.txt": text for package, text in licences.items()}
    told = metadata(table, expression(table["license"], brought), files)
    return {f"licenses/{name}": data for name, data in files.items()} | {
        "METADATA": told.encode(), "entry_points.txt": entry_points(table).encode()}


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    table = project()
    info = f"{table['name']}-{table['version']}.dist-info"
    for name, data in information(table).items():
        path = pathlib.Path(metadata_directory, info, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return info


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    table = project()
    stem = f"{table['name']}-{table['version']}"
    info = f"{stem}.dist-info"
    told = information(table)
    with tempfile.TemporaryDirectory() as temporary:
        native = pathlib.Path(temporary, "native")
        stage(native)
        tagged = tag(native)
        files = {name: path.read_bytes() for name, path in package_files()}
        files |= {f"keel/native/{path.relative_to(native).as_posix()}": path.read_bytes()
                  for path in sorted(native.rglob("*")) if path.is_file()}
    files |= {f"{info}/{name}": data for name, data in told.items()}
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: keel_build\nRoot-Is-Purelib: false\n"
                              f"Tag: {tagged}\n").encode()
    record = "".join(record_line(name, data) for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    name = f"{stem}-{tagged}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, EPOCH)
            entry.external_attr = (0o100755 if path.startswith("keel/native/") else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise SystemExit("keel: there is no source distribution; build a wheel from a checkout")
