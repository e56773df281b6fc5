"""What the tests of remotes share: entries, made as src/store/entry.h says, and the helper, which is
asked over its socket as src/remote/remote.h says."""

import hashlib
import json
import os
import pathlib
import socket
import struct
import subprocess
import tempfile
import time

BUILD = pathlib.Path(os.environ["KEEL_TEST_BUILD"])
KEEL, HELPER = BUILD / "bin/keel", pathlib.Path(os.environ.get("KEEL_TEST_HELPER") or BUILD / "bin/keel-remote")
ENVELOPE = 96
MAGIC = b"\x89KEEL\r\n\x1a"
# The address sanitizer keeps little of what was freed, so that the memory of the helper is what it holds.
SANITIZER = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"


def digest(data):
    return hashlib.blake2b(data, digest_size=32).digest()


def key(number):
    return digest(f"key {number}".encode())


def field(tag, data):
    return struct.pack("<II", tag, len(data)) + data


def fields_of(number, payload, codec=0, size=None):
    return b"".join([
        field(1, key(number)), field(2, digest(b"program")), field(3, b"{}"), field(4, b"jit_step"),
        field(5, b"a test"), field(6, struct.pack("<Q", 1795266302123456789)),
        field(7, struct.pack("<d", 12.5)), field(8, struct.pack("<I", codec)),
        field(9, struct.pack("<Q", len(payload) if size is None else size))])


def put_digest(data):
    """The entry with the digest that its header should have."""
    header = struct.unpack_from("<Q", data, 16)[0]
    return data[:32] + digest(data[:32] + data[64:header]) + data[64:]


def entry(number, payload=b"code" * 500, fields=None):
    fields = fields_of(number, payload) if fields is None else fields
    header = ENVELOPE + len(fields)
    envelope = MAGIC + struct.pack("<IIQQ", 1, 1, header, len(payload)) + bytes(32) + digest(payload)
    return put_digest(envelope + fields + payload)


def name_of(number):
    return f"entries/{key(number).hex()[:2]}/{key(number).hex()}.keel"


class Place:
    """A machine's cache folder, its keys, and the helper that has both."""

    def __init__(self, folder, name, remotes, *options):
        self.folder = pathlib.Path(folder) / name
        self.cache, self.keys = self.folder / "cache", self.folder / "keys"
        self.cache.mkdir(parents=True, mode=0o700, exist_ok=True)
        self.remotes, self.options = remotes, options
        self.environment = {}  # of the helper, beside this one's

    def run(self, *words, code=0):
        settings = {"KEEL_CACHE_DIR": self.cache, "KEEL_KEYS_DIR": self.keys, "KEEL_REMOTES": self.remotes,
                    "HOME": self.folder}
        environment = {**os.environ, **{name: str(value) for name, value in settings.items()}}
        answer = subprocess.run([KEEL, *words], env=environment, capture_output=True, text=True)
        assert answer.returncode == code, (words, answer)
        return answer

    def keel(self, *words, code=0):
        return self.run(*words, code=code).stdout

    def say(self, *words, code=0):
        return self.run(*words, code=code).stderr

    def start(self):
        subprocess.run([HELPER, "--cache-dir", self.cache, "--cache-limit", "20G", "--remotes", self.remotes,
                        "--keys-dir", self.keys, *self.options], check=True,
                       env={**os.environ, "HOME": self.folder, "ASAN_OPTIONS": SANITIZER, **self.environment})

    def socket(self):
        names = [path for path in self.cache.glob("remote-*/*") if path.is_socket()]
        assert len(names) == 1, names
        return names[0]

    def ask(self, request):
        with socket.socket(socket.AF_UNIX) as asked:
            asked.settimeout(120)
            asked.connect(str(self.socket()))
            asked.sendall(request.encode() + b"\n")
            answer = b""
            while not answer.endswith(b"\n"):
                part = asked.recv(65536)
                assert part, (request, answer)
                answer += part
        return answer[:-1].decode()

    def get(self, number):
        return self.ask(f"get 0 {key(number).hex()}")

    def put(self, number):
        return self.ask(f"put 0 {key(number).hex()}")

    def path(self, number):
        return self.cache / name_of(number)

    def store(self, number, data=None):
        self.path(number).parent.mkdir(parents=True, exist_ok=True)
        self.path(number).write_bytes(entry(number) if data is None else data)

    def memory(self):
        """The most that the helper has had in memory, in KiB."""
        status = pathlib.Path(f"/proc/{self.pid()}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0])

    def pid(self):
        return json.loads(self.ask("figures"))["pid"]

    def figures(self):
        return json.loads(self.ask("figures"))["remotes"][0]

    def end(self):
        """Ends the helper of this place, and no other."""
        try:
            pid = self.pid()
        except (AssertionError, OSError):
            return
        os.kill(pid, 15)
        for _ in range(500):
            try:
                if pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                    return  # whoever should wait for it does not
            except OSError:
                return
            time.sleep(0.01)


def sign(folder, numbers, data=entry):
    """These entries, signed by a new key, and that key."""
    share = pathlib.Path(folder) / "signed"
    share.mkdir(exist_ok=True)
    signer = Place(folder, f"signer{time.monotonic_ns()}", f"file://{share}|read-write")
    public = signer.keel("cache", "keygen", "signer").strip()
    for number in numbers:
        signer.store(number, data(number))
    signer.start()
    for number in numbers:
        assert signer.put(number) == "queued"
    assert signer.ask("finish") == "done"
    signer.end()
    signed = {number: (share / name_of(number)).read_bytes() for number in numbers}
    for number in numbers:
        (share / name_of(number)).unlink()
    return signed, public


def temporary():
    return tempfile.TemporaryDirectory(prefix="keel-remotes-")
