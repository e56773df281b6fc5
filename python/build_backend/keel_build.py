"""Builds the wheel and the source distribution of `keel` (PEP 517), with only the standard library.

The wheel contains the package; below keel/native, bin/keel and lib/libkeel_pjrt.so as `cmake
--install` leaves them; and the pages of docs/ and the man page for the environment's share/. Its tag
says where it runs: manylinux if its programs need only what every Linux with that glibc has, or
plain linux if they need other libraries of the machine that built it.

KEEL_BUILD names a build folder. Without it, the programs are compiled with the machine's compiler and
libraries, as for `pip install keel-*.tar.gz`.
"""

import base64
import gzip
import hashlib
import io
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / "python"
PROGRAMS = ("bin/keel", "lib/libkeel_pjrt.so")
# What a source distribution contains: all that a build and an installation need.
SOURCES = ("ARCHITECTURE.md", "CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "LICENSE",
           "README.md", "cmake", "docs", "examples", "include", "man", "pyproject.toml", "python", "src")
# Has pjrt_c_api.h.
HEADER = "xla-cpu-pjrt==0.0.1"
# Licence texts of libraries that are linked in (cmake/KeelLibraries.cmake), and the licence chosen
# for each (SPDX).
NOTICES = "share/doc/keel/libraries"
LICENCES = {"hiredis": "BSD-3-Clause", "jansson": "MIT", "libsodium": "ISC", "libzstd": "BSD-3-Clause", "xxhash": "BSD-2-Clause"}
# manylinux guarantees these on every system.
SYSTEM = re.compile(r"(libc|libm|libdl|librt|libpthread|ld-linux-[a-z0-9-]+)\.so\.\d+")
# The oldest glibc that the wheel is tested with.
OLDEST = (2, 28)
EPOCH = (1980, 1, 1, 0, 0, 0)


# ---- building ----------------------------------------------------------------------------------

def header_folder():
    """The folder of pjrt_c_api.h: KEEL_PJRT_INCLUDE, otherwise in the environment that builds."""
    packages = pathlib.Path(sysconfig.get_path("purelib"))
    return os.environ.get("KEEL_PJRT_INCLUDE") or packages / "xla_plugins/xla_cpu_pjrt/include"


def compile_programs(folder):
    """A build without tests and without the plugin, which is a package of its own."""
    command = ["cmake", "-S", ROOT, "-B", folder, "-DKEEL_TESTS=OFF", "-DKEEL_INSTALL_PLUGIN=OFF"]
    command += ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run([*command, f"-DKEEL_PJRT_INCLUDE={header_folder()}"], check=True)
    subprocess.run(["cmake", "--build", folder, "--parallel", str(os.cpu_count()), "--target", "keel",
                    "keel_pjrt_plugin"], check=True)


def stage(build, folder):
    """Fills `folder` with the programs and the pages, as they are installed."""
    for component in ("programs", "documentation"):
        subprocess.run(["cmake", "--install", build, "--prefix", folder, "--strip", "--component",
                        component], check=True, stdout=subprocess.DEVNULL)


def staged(folder):
    """Names and contents of what was built."""
    build = os.environ.get("KEEL_BUILD")
    with tempfile.TemporaryDirectory() as temporary:
        if not build:
            build = os.path.join(temporary, "build")
            compile_programs(build)
        elif not os.path.exists(os.path.join(build, PROGRAMS[1])):
            raise SystemExit(f"keel: {build}/{PROGRAMS[1]} does not exist; KEEL_BUILD names no finished "
                             "build")
        stage(build, folder)
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()}


# ---- what it runs on ---------------------------------------------------------------------------

def tag(folder):
    needed, versions = set(), {OLDEST}
    for name in PROGRAMS:
        dynamic = subprocess.run(["readelf", "-dV", "-W", folder / name], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
        needed |= set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        versions |= {tuple(map(int, found)) for found in re.findall(r"GLIBC_(\d+)\.(\d+)", dynamic)}
    machine = platform.machine()
    if not all(SYSTEM.fullmatch(name) for name in needed):
        return f"py3-none-linux_{machine}"
    return "py3-none-manylinux_{}_{}_{}".format(*max(versions), machine)


# ---- metadata ----------------------------------------------------------------------------------

def project():
    with open(ROOT / "pyproject.toml", "rb") as file:
        table = tomllib.load(file)["project"]
    found = re.search(r'^version = "(.+)"$', (PYTHON / "keel" / "_version.py").read_text(), re.M)
    return table | {"version": found[1], "stem": f"{table['name']}-{found[1]}"}


def metadata(table, libraries=()):
    """METADATA of a wheel that contains these libraries, or PKG-INFO."""
    unknown = [name for name in libraries if name not in LICENCES]
    if unknown:
        raise SystemExit(f"keel: {unknown[0]}: add its licence to LICENCES in {__file__}")
    spdx = " AND ".join([table["license"], *sorted({LICENCES[name] for name in libraries})])
    lines = ["Metadata-Version: 2.4", f"Name: {table['name']}", f"Version: {table['version']}",
             f"Summary: {table['description']}", f"License-Expression: {spdx}", "License-File: LICENSE"]
    lines += [f"License-File: {name}.txt" for name in libraries]
    lines += [f"Requires-Python: {table['requires-python']}"]
    lines += [f"Requires-Dist: {name}" for name in table["dependencies"]]
    for extra, names in table["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}"]
        lines += [f'Requires-Dist: {name}; extra == "{extra}"' for name in names]
    lines += ["Description-Content-Type: text/markdown", "", (ROOT / "docs/python.md").read_text()]
    return "\n".join(lines).encode()


def entry_points(table):
    groups = {"console_scripts": table["scripts"]} | table["entry-points"]
    return "\n".join(f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in rows.items())
                     for group, rows in groups.items()).encode()


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def files_below(folder):
    return (path for path in sorted(folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts)


# ---- the wheel ---------------------------------------------------------------------------------

def get_requires_for_build_wheel(config_settings=None):
    """What to install for a build: nothing if there is one."""
    if os.environ.get("KEEL_BUILD"):
        return []
    tools = [name for name in ("cmake", "ninja") if not shutil.which(name)]
    return tools + ([] if os.environ.get("KEEL_PJRT_INCLUDE") else [HEADER])


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    table = project()
    stem, info = table["stem"], f"{table['stem']}.dist-info"
    with tempfile.TemporaryDirectory() as temporary:
        found = staged(pathlib.Path(temporary))
        tagged = tag(pathlib.Path(temporary))
    notices = {pathlib.PurePath(name).stem: data for name, data in found.items()
               if name.startswith(NOTICES)}
    files = {path.relative_to(PYTHON).as_posix(): path.read_bytes()
             for path in files_below(PYTHON / "keel")}
    files |= {f"keel/native/{name}": found[name] for name in PROGRAMS}
    files |= {f"{stem}.data/data/{name}": data for name, data in found.items()
              if name.startswith("share/") and not name.startswith(NOTICES)}
    files |= {f"{info}/METADATA": metadata(table, sorted(notices)),
              f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes()}
    files |= {f"{info}/licenses/{name}.txt": data for name, data in sorted(notices.items())}
    files[f"{info}/entry_points.txt"] = entry_points(table)
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


# ---- the source distribution -------------------------------------------------------------------

def build_sdist(sdist_directory, config_settings=None):
    """The same bytes for the same sources: no times, no owners."""
    table = project()
    files = {"PKG-INFO": (metadata(table), 0o644)}
    for source in SOURCES:
        path = ROOT / source
        for file in files_below(path) if path.is_dir() else [path]:
            mode = 0o755 if os.access(file, os.X_OK) else 0o644
            files[file.relative_to(ROOT).as_posix()] = (file.read_bytes(), mode)
    name = f"{table['stem']}.tar.gz"
    with open(os.path.join(sdist_directory, name), "wb") as out, \
            gzip.GzipFile("", "wb", mtime=0, fileobj=out) as packed, \
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, (data, mode) in files.items():
            entry = tarfile.TarInfo(f"{table['stem']}/{path}")
            entry.size, entry.mode = len(data), mode
            archive.addfile(entry, io.BytesIO(data))
    return name
