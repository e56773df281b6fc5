"""Redis as a remote: passwords, a memory that is full or evicts while one reads, claims, and a server that
goes away and comes back."""

import os
import subprocess
import threading

import claims
from help import Place, entry, key, name_of, temporary
from servers import end, free_port, need, serve_redis


def cli(port, *words):
    answer = subprocess.run(["redis-cli", "-p", str(port), *map(str, words)], capture_output=True, text=True, check=True)
    return answer.stdout.strip()


def check_password(folder):
    port = free_port()
    server = serve_redis(folder, port, "--requirepass", "secret word")
    place = Place(folder, "closed", f"redis://127.0.0.1:{port}|read-write|trusted", "--down", "0")
    place.store(1)
    place.start()
    try:
        assert place.get(1) == "failed it wants a password: ~/.netrc or REDISCLI_AUTH has it"
        (place.folder / ".netrc").write_text('machine other password x\nmachine 127.0.0.1\n  password "secret word"\n')
        assert place.put(1) == "queued"
        said = place.ask("finish")
        assert said == "done", said
        (place.folder / ".netrc").write_text("machine 127.0.0.1 password wrong\n")
        other = Place(folder, "other", f"redis://127.0.0.1:{port}", "--down", "0")
        (other.folder / ".netrc").write_text("machine 127.0.0.1 password wrong\n")
        other.start()
        assert other.get(1) == "failed the password of ~/.netrc or REDISCLI_AUTH is wrong", other.get(1)
        other.end()
    finally:
        place.end()
        end(server)


def check_room(folder):
    """A full memory takes nothing more, and what it has is still read; one that evicts loses what it likes."""
    port = free_port()
    server = serve_redis(folder, port, "--maxmemory", "20mb")
    remote = f"redis://127.0.0.1:{port}|read-write|trusted"
    one, two = Place(folder, "full", remote), Place(folder, "reader", remote)
    for number in range(12):
        one.store(number, entry(number, os.urandom(3 << 20)))
    one.start()
    two.start()
    try:
        for number in range(12):
            assert one.put(number) == "queued"
        said = one.ask("finish")
        assert said.endswith("it has no room: raise its maxmemory, or set maxmemory-policy to allkeys-lru"), said
        assert sum(two.get(number).startswith("found ") for number in range(12)) == one.figures()["stored"] > 0
        assert two.figures()["failed"] == 0

        cli(port, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        for number in range(12):
            assert one.put(number) == "queued"
        assert one.ask("finish") == "done"
        stored = set()
        for number in range(12):
            two.path(number).unlink(missing_ok=True)
            answer = two.get(number).split()[0]
            stored |= {number} if answer == "found" else set()
            assert answer in ("found", "none"), answer
        assert 0 < len(stored) < 12, stored

        # Evicted while it is read.
        cli(port, "CONFIG", "SET", "maxmemory", "0")
        one.store(20, entry(20, os.urandom(40 << 20)))
        name, ends, seen = f"keel:{name_of(20)}", threading.Event(), set()

        def evict():
            while not ends.is_set():
                if cli(port, "EXISTS", name) == "1":
                    cli(port, "DEL", name)

        for _ in range(10):
            one.put(20)
            assert one.ask("finish") == "done"
            thread = threading.Thread(target=evict)
            thread.start()
            two.path(20).unlink(missing_ok=True)
            seen.add(two.get(20).split()[0])
            ends.set()
            thread.join()
            ends.clear()
        assert seen <= {"found", "none"}, seen
    finally:
        one.end()
        two.end()
        end(server)


def check_claims(folder):
    port = free_port()
    server = serve_redis(folder, port)
    try:
        claims.check(folder, f"redis://127.0.0.1:{port}")
        assert cli(port, "KEYS", "keel:claims/*") == ""
        place = Place(folder, "waits", f"redis://127.0.0.1:{port}|read-write|trusted", "--down", "0")
        other = Place(folder, "holds", f"redis://127.0.0.1:{port}|read-write|trusted", "--down", "0")
        place.start()
        other.start()
        held = claims.Claim(other, 30)
        assert held.next() == "held"
        assert 0 < int(cli(port, "PTTL", f"keel:claims/{key(30).hex()[:2]}/{key(30).hex()}")) <= 20000
        waits = claims.Claim(place, 30)
        assert waits.next().startswith("waits ")

        # The server goes away while one waits, and another is there later.
        end(server)
        said = waits.next()
        assert said.startswith("failed "), said
        held.close()
        assert place.get(1).startswith("failed ")
        server = serve_redis(folder, port)
        assert place.get(1) == "none"
        place.end()
        other.end()
    finally:
        end(server)


if __name__ == "__main__":
    need("redis-server", "redis-cli")
    with temporary() as folder:
        check_password(folder)
        check_room(folder)
        check_claims(folder)
