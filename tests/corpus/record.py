"""Records cases of the corpus, so that the C test recorded.CLIENT can judge them without the
client: what `run.py` keeps of them goes into recorded/CLIENT.tar.zst.

    record.py [--client NAME] [NAME]...   these cases; the others in the archive stay
    record.py [--client NAME] --drop NAME...  takes cases out of it

Without names, it records again what the archive has; all cases if there is none. Cases run under
/mnt, in a mount namespace of their own, so that no path of this machine is recorded.
"""

import argparse
import io
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

import run

HERE = pathlib.Path(__file__).resolve().parent
KEPT = ("journal.ndjson", "sources.tsv")
SHARED = ("programs", "sources")  # compressed one by one in a run folder
INSIDE = """
set -e
exec 3<"$0" 4<"$1"
shift
mount -t tmpfs neutral /mnt
mkdir /mnt/keel /mnt/recorded
mount --no-canonicalize --bind /proc/self/fd/3 /mnt/keel
mount --no-canonicalize --bind /proc/self/fd/4 /mnt/recorded
cd /mnt/keel
exec "$@" 3<&- 4<&-
"""


def record(client, names, folder):
    """Runs the cases; all must be right."""
    python = pathlib.Path("/mnt/keel") / (HERE / "run.py").relative_to(run.ROOT)
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    subprocess.run(["unshare", "--mount", *user, "sh", "-c", INSIDE, run.ROOT, folder,
                    ".venv/bin/python", python, "--client", client, "--keep", "/mnt/recorded", *names],
                   check=True)


def unpacked(path):
    return subprocess.run(["zstd", "-dcq", path], check=True, stdout=subprocess.PIPE).stdout


def neutral(text):
    """A plugin is named by its path without links, which may lead out of the tree."""
    for place in (".venv", ".venv-libraries", ".venv-plugins", ".venv-torch", "."):
        text = text.replace(str((run.ROOT / place).resolve()).encode(), f"/mnt/keel/{place}".encode())
    return text


def members_of(case):
    """Name and content of what a recorded case needs to be explained again."""
    for path in sorted((case / "runs").rglob("*")):
        name = path.relative_to(case / "runs")
        if path.name in KEPT:
            yield f"{case.name}/{name}", neutral(path.read_bytes())
        elif name.parts[0] in SHARED and path.suffix == ".zst":
            yield f"{case.name}/{name.with_suffix('')}", unpacked(path)


def is_local(content):
    """True if it names a place of this machine, as programs do that the standard library calls."""
    places = (run.ROOT, pathlib.Path.home(), sys.base_prefix)
    return any(f"{place}/".encode() in content for place in places)


def read(path):
    if not path.exists():
        return {}
    with tarfile.open(fileobj=io.BytesIO(unpacked(path))) as archive:
        return {entry.name: archive.extractfile(entry).read() for entry in archive}


def write(path, members):
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(members.items(), key=lambda one: one[0].split("/")):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    path.parent.mkdir(exist_ok=True)
    subprocess.run(["zstd", "-q", "-f", "--ultra", "-22", "--long=27", "--stream-size", str(whole.tell()), "-o", path], check=True,
                   input=whole.getvalue())


def main():
    parser = argparse.ArgumentParser(description="Records cases of the corpus.")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--client", choices=sorted(run.CLIENTS), default="jax")
    parser.add_argument("--drop", action="store_true")
    options = parser.parse_args()
    path = HERE / "recorded" / f"{options.client}.tar.zst"
    members = read(path)
    names = set(options.names) or {name.split("/")[0] for name in members} or {
        case.name for case in run.cases.read_all(HERE / options.client)} - set(run.known_faults())
    members = {name: content for name, content in members.items() if name.split("/")[0] not in names}
    if not options.drop:
        with tempfile.TemporaryDirectory() as folder:
            record(options.client, sorted(names), folder)
            for name in sorted(names):
                case = dict(members_of(pathlib.Path(folder) / name))
                if any(map(is_local, case.values())):
                    print(f"record: {name} has paths of this machine and is left out")
                else:
                    members.update(case)
    write(path, members)


if __name__ == "__main__":
    main()
