#!/usr/bin/env python3
"""Programs from a remote: what a start on a new machine asks for and receives, beside a warm start from
its own disk; many entries pushed and fetched beside plain curl; JAX's own cache in a shared folder beside
Keel. Prints a section of Markdown.

Usage: bench/fleet.py [--delay MS]... [--entries 5000] [--crowd 100000] [--layers 4] [--jax]

The server is nginx on 127.0.0.1. For each MS, what a new machine receives goes through a relay that holds
back each connection and each piece for half of that, in both directions. Requests and bytes are those of
nginx's log. Processor time is that of the command and what it started, without nginx.
"""

import argparse
import asyncio
import json
import os
import pathlib
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("KEEL_TEST_BUILD", str(ROOT / "build"))
sys.path.insert(0, str(ROOT / "tests" / "remotes"))
from help import Place, entry, name_of  # noqa: E402

KEEL, PYTHON = ROOT / "build/bin/keel", ROOT / ".venv/bin/python"
SCRIPT = ROOT / "examples/jax/train_gpt.py"
NGINX = """
daemon off; pid {0}/pid; error_log {0}/errors; user root;
worker_processes 2; events {{ worker_connections 512; }}
http {{
  log_format short "$request_method $status $bytes_sent $request_length"; access_log {0}/log short;
  client_body_temp_path {0}/bodies; proxy_temp_path {0}/a; fastcgi_temp_path {0}/b; uwsgi_temp_path {0}/c;
  scgi_temp_path {0}/d; client_max_body_size 0; keepalive_requests 1000000;
  server {{ listen 127.0.0.1:{1}; root {0}/served;
    location / {{ dav_methods PUT DELETE; create_full_put_path on; }} }}
}}
"""


class Server:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self.port = one.getsockname()[1]
        (self.folder / "served").mkdir(parents=True)
        (self.folder / "nginx.conf").write_text(NGINX.format(self.folder, self.port))
        self.url = f"http://127.0.0.1:{self.port}/k"
        self.process = subprocess.Popen([shutil.which("nginx") or "/usr/sbin/nginx", "-c", self.folder / "nginx.conf",
                                         "-e", self.folder / "errors"])
        for _ in range(1000):
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except OSError:
                time.sleep(0.01)

    def take(self):
        """Requests by method, and bytes both ways, since the last time."""
        time.sleep(0.3)
        log = self.folder / "log"
        lines = [line.split() for line in log.read_text().splitlines()]
        os.truncate(log, 0)
        counts = {}
        for method, *_ in lines:
            counts[method] = counts.get(method, 0) + 1
        return counts, sum(int(line[2]) for line in lines), sum(int(line[3]) for line in lines)

    def end(self):
        self.process.terminate()
        self.process.wait()


class Relay:
    """To the server, and each way takes half of the delay."""

    def __init__(self, port, delay):
        self.to, self.half = port, delay / 2000
        self.loop, ready = asyncio.new_event_loop(), threading.Event()
        threading.Thread(target=self.run, args=(ready,), daemon=True).start()
        ready.wait()

    def run(self, ready):
        server = self.loop.run_until_complete(asyncio.start_server(self.serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self.loop.run_forever()

    async def serve(self, reader, writer):
        await asyncio.sleep(2 * self.half)  # a connection is a round trip
        there = await asyncio.open_connection("127.0.0.1", self.to)
        await asyncio.gather(self.pass_on(reader, there[1]), self.pass_on(there[0], writer))

    async def pass_on(self, reader, writer):
        pieces = asyncio.Queue()

        async def write():
            while (piece := await pieces.get())[1]:
                await asyncio.sleep(max(0, piece[0] + self.half - self.loop.time()))
                writer.write(piece[1])
            writer.close()

        writing = asyncio.ensure_future(write())
        try:
            while data := await reader.read(1 << 18):
                pieces.put_nowait((self.loop.time(), data))
        except OSError:
            pass
        pieces.put_nowait((0, b""))
        await writing


def timed(command, environment=None):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    answer = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True)
    took, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert answer.returncode == 0, (command, answer)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": took, "cpu": cpu, "out": answer.stdout}


class Machine(Place):
    def environment(self):
        return {**os.environ, "HOME": str(self.folder), "KEEL_CACHE_DIR": str(self.cache),
                "KEEL_KEYS_DIR": str(self.keys), "KEEL_REMOTES": self.remotes,
                "KEEL_RUN_DIR": str(self.folder / "runs")}

    def train(self, layers):
        run = timed([KEEL, "run", "--quiet", "--", PYTHON, SCRIPT, "--layers", layers, "--steps", "2"], self.environment())
        stats = json.loads(subprocess.run([KEEL, "stats", "--json"], env=self.environment(), capture_output=True,
                                          text=True, check=True).stdout)
        return run, stats


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)


def size(count):
    return f"{count / 1e6:.2f} MB"


def requests(counts):
    return ", ".join(f"{count} {method}" for method, count in sorted(counts.items())) or "none"


# ---- a start -----------------------------------------------------------------------------------


def starts(folder, layers, crowd, delays):
    server = Server(f"{folder}/server")
    places = []

    def new(name, words="", port=None):
        places.append(Machine(folder, name, f"http://127.0.0.1:{port or server.port}/k{words}"))
        return places[-1]

    try:
        one = new("one", "|read-write")
        public = one.keel("cache", "keygen", "bench").strip()
        cold, stats = one.train(layers)
        one.keel("cache", "push")
        counts, _, received = server.take()
        serialized = sum(event["payload_bytes"] for event in (json.loads(line) for path in (
            one.folder / "runs").glob("*/journal.ndjson") for line in path.read_text().splitlines())
            if event["event"] == "publish")
        row("start", "requests", "bytes on the wire", "compiled", "before asked", "processor time", "time")
        row("---", "---", "--:", "--:", "--:", "--:", "--:")
        row("first machine, nothing stored", requests(counts), size(received) + " sent", stats["compiles"], "-",
            f"{cold['cpu']:.1f} s", f"{cold['seconds']:.1f} s")
        warm, stats = one.train(layers)
        counts, *_ = server.take()
        row("its second start", requests(counts), "-", stats["compiles"], stats["ahead_loads"], f"{warm['cpu']:.1f} s",
            f"{warm['seconds']:.1f} s")
        ways = [("new machine", 0, None)] + [
            (f"new machine, {delay:g} ms away", 0, Relay(server.port, delay).port) for delay in delays] + [
            (f"new machine, with {crowd} further entries there", crowd, None)]
        for name, extra, port in ways:
            for number in range(extra):
                path = server.folder / "served/k" / name_of(number)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            two = new(f"new{len(places)}", "", port)
            two.keel("cache", "trust", public)
            run, stats = two.train(layers)
            counts, sent, _ = server.take()
            found = stats["remotes"][0] if stats["remotes"] else {"found": 0}
            row(name, requests(counts), size(sent), stats["compiles"], f"{stats['ahead_loads']} of {found['found']}",
                f"{run['cpu']:.1f} s", f"{run['seconds']:.1f} s")
        print(f"\nSerialized executables: {size(serialized)}; on the wire: {sent / serialized:.2f} of that.\n")
    finally:
        for place in places:
            place.end()
        server.end()


# ---- many entries ------------------------------------------------------------------------------


def curl(server, numbers, connections, upload, folder):
    config = pathlib.Path(folder) / "curl"
    lines = []
    for number in numbers:
        path = f"{folder}/plain/{name_of(number)}"
        if upload:
            lines.append(f'upload-file = "{path}"\nurl = "http://127.0.0.1:{server.port}/plain/{name_of(number)}"')
        else:
            lines.append(f'url = "http://127.0.0.1:{server.port}/plain/{name_of(number)}"\noutput = "{path}.got"')
    config.write_text("\n".join(lines) + "\n")
    return timed(["curl", "--silent", "--show-error", "--parallel", "--parallel-max", connections, "--config", config])


def crowds(folder, count):
    server = Server(f"{folder}/crowd")
    one = Machine(folder, "pushes", server.url + "|read-write")
    two = Machine(folder, "pulls", server.url)
    numbers = range(count)
    try:
        public = one.keel("cache", "keygen", "bench").strip()
        two.keel("cache", "trust", public)
        for number in numbers:
            data = entry(number, os.urandom(8000))
            one.store(number, data)
            path = pathlib.Path(folder) / "plain" / name_of(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        row(f"{count} entries of 8 KB", "requests", "time")
        row("---", "---", "--:")
        run = timed([KEEL, "cache", "push"], one.environment())
        row("`keel cache push`, 4 connections", requests(server.take()[0]), f"{run['seconds']:.1f} s")
        row("curl --upload-file, 4 connections", "", f"{curl(server, numbers, 4, True, folder)['seconds']:.1f} s")
        server.take()
        two.start()
        run = pull_all(two, numbers)
        row("fetched by `keel-remote`, checked and stored, 16 at a time", requests(server.take()[0]),
            f"{run:.1f} s")
        row("curl --output, 16 connections", "", f"{curl(server, numbers, 16, False, folder)['seconds']:.1f} s")
    finally:
        one.end()
        two.end()
        server.end()


def pull_all(place, numbers):
    """As `keel cache pull --run` does: 16 requests in flight."""
    import concurrent.futures
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert all(said.startswith("found ") for said in pool.map(place.get, numbers))
    return time.monotonic() - start


# ---- beside JAX's own cache ---------------------------------------------------------------------

MODEL = """
import sys
import jax, jax.numpy as jnp
counts = {}
if len(sys.argv) > 1:
    jax.config.update("jax_compilation_cache_dir", sys.argv[1])
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.monitoring.register_event_listener(lambda name, **_: counts.update({name: counts.get(name, 0) + 1}))
@jax.jit
def NAME(w, x):
    return w - 0.1 * jax.grad(lambda v: ((x @ v) ** 2).mean())(w)
w = NAME(jnp.ones((16, 4)), jnp.ones((8, 16)))
w = NAME(w, jnp.ones((12, 16)))
print(*(counts.get("/jax/compilation_cache/cache_" + word, 0) for word in ("misses", "hits")))
"""


def beside_jax(folder):
    share, theirs = pathlib.Path(folder) / "share", pathlib.Path(folder) / "jax"
    share.mkdir()
    row("one function, two shapes", "JAX: compiled, loaded", "Keel: compiled, loaded")
    row("---", "--:", "--:")
    keys = None
    for number, (what, where, name) in enumerate((("first machine", "a", "step"), ("another machine", "a", "step"),
                                                  ("another path", "b", "step"), ("renamed", "a", "train_step"))):
        script = pathlib.Path(folder) / where / "model.py"
        script.parent.mkdir(exist_ok=True)
        script.write_text(MODEL.replace("NAME", name))
        machine = Machine(folder, f"beside{number}", f"file://{share}|read-write")
        if keys:
            shutil.copytree(keys, machine.keys)
        else:
            machine.keel("cache", "keygen", "bench")
            keys = machine.keys
        jax = subprocess.run([PYTHON, script, theirs], capture_output=True, text=True, check=True).stdout.split()
        timed([KEEL, "run", "--quiet", "--", PYTHON, script], machine.environment())
        stats = json.loads(subprocess.run([KEEL, "stats", "--json"], env=machine.environment(), capture_output=True,
                                          text=True, check=True).stdout)
        machine.keel("cache", "push")
        machine.end()
        row(what, f"{jax[0]}, {jax[1]}", f"{stats['compiles']}, {stats['loads']}")
    print(f"\nStored: JAX {size(sum(path.stat().st_size for path in theirs.rglob('*') if path.is_file()))}, Keel "
          f"{size(sum(path.stat().st_size for path in share.rglob('*.keel')))}.")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--delay", type=float, action="append")
    parser.add_argument("--entries", type=int, default=5000)
    parser.add_argument("--crowd", type=int, default=100000)
    parser.add_argument("--layers", default="4")
    parser.add_argument("--jax", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="keel-fleet-") as folder:
        if options.crowd:
            starts(folder, options.layers, options.crowd, options.delay or [])
        if options.entries:
            crowds(folder, options.entries)
        if options.jax:
            beside_jax(folder)


if __name__ == "__main__":
    main()
