"""One compile among several machines: who claims a program holds it until it is sent, others wait, and a
machine that dies is followed by one of them. Each machine has a helper and a cache folder of its own."""

import os
import pathlib
import socket
import time

from help import Place, key, temporary
from servers import end, free_port, need, serve_dav


class Claim:
    """A claim that is asked for on one machine."""

    def __init__(self, place, number, milliseconds=60000, holder="pid 1 on a host"):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(120)
        self.socket.connect(str(place.socket()))
        self.lines = self.socket.makefile("r")
        self.socket.sendall(f"claim 0 {key(number).hex()} {milliseconds} {holder}\n".encode())

    def next(self):
        return self.lines.readline().rstrip("\n")

    def close(self, done=True):
        try:
            if done:
                self.socket.sendall(b"done\n")
        except BrokenPipeError:
            pass  # it was not held
        self.lines.close()
        self.socket.close()


def check_waiting(one, two, three):
    held = Claim(one, 1, holder="pid 7 on first")
    assert held.next() == "held"
    waits = [Claim(place, 1) for place in (two, three)]
    assert [claim.next() for claim in waits] == ["waits pid 7 on first"] * 2

    # What it compiled is there when those who wait are told to look.
    one.store(1)
    assert one.put(1) == "queued"
    held.close()
    for claim, place in zip(waits, (two, three)):
        assert claim.next() == "left"
        assert place.get(1).startswith("found "), place.get(1)
        claim.close()

    # One that stored nothing leaves the others to themselves; a newcomer claims again.
    held = Claim(one, 2)
    assert held.next() == "held"
    waits = [Claim(place, 2) for place in (two, three)]
    assert all(claim.next().startswith("waits ") for claim in waits)
    held.close()
    assert [claim.next() for claim in waits] == ["left"] * 2
    again = Claim(three, 2)
    assert again.next() == "held"
    for claim in (*waits, again):
        claim.close()

    # Other programs do not wait for it.
    held, other = Claim(one, 3), Claim(two, 4)
    assert (held.next(), other.next()) == ("held", "held")
    held.close()
    other.close()


def check_fork(one, two):
    """A child that the holder forked does not hold it in its place."""
    ends = os.pipe()
    holder = os.fork()
    if not holder:
        assert Claim(one, 9, holder="pid 9 on a host").next() == "held"
        if os.fork():
            os._exit(0)
        os.close(ends[1])
        os.read(ends[0], 1)  # until the test ends
        os._exit(0)
    os.waitpid(holder, 0)
    claim = Claim(two, 9)
    assert claim.next().startswith("waits ")
    assert claim.next() == "held"
    claim.close()
    os.close(ends[1])


def check_death(one, two, three):
    """Of those who wait one takes over, and then the other has it."""
    for is_helper, number in ((False, 5), (True, 6)):
        held = Claim(one, number, holder="pid 8 on one that dies")
        assert held.next() == "held"
        waits = {place: Claim(place, number, holder=f"pid 9 on {place.folder.name}") for place in (two, three)}
        assert all(claim.next() == "waits pid 8 on one that dies" for claim in waits.values())
        if is_helper:
            os.kill(one.pid(), 9)
        held.close(done=False)
        told = {place: claim.next() for place, claim in waits.items()}
        assert sorted(answer.split()[0] for answer in told.values()) == ["held", "waits"], told
        heir, waiter = sorted(told, key=lambda place: told[place].startswith("waits"))
        assert told[waiter] == f"waits pid 9 on {heir.folder.name}", told
        heir.store(number)
        assert heir.put(number) == "queued"
        waits[heir].close()
        assert waits[waiter].next() == "left"
        assert waiter.get(number).startswith("found ")
        waits[waiter].close()
        if is_helper:
            for path in one.cache.glob("remote-*/*"):
                path.unlink()
            one.start()


def check_ends(folder, one, two):
    """Whoever cannot store, or waits for too long, compiles."""
    held = Claim(one, 7)
    assert held.next() == "held"
    late = Claim(two, 7, milliseconds=1500)
    assert late.next().startswith("waits ")
    assert late.next() == "late pid 1 on a host"
    late.close()

    # The folder goes away while one waits.
    waits = Claim(two, 7)
    assert waits.next().startswith("waits ")
    os.rename(f"{folder}/share", f"{folder}/away")
    assert waits.next().startswith("failed the folder is not there")
    waits.close()
    os.rename(f"{folder}/away", f"{folder}/share")
    held.close()

    for name, words in (("reader", ""), ("unsigned", "|read-write")):
        place = Place(folder, name, f"file://{folder}/share{words}")
        if not words:
            place.keel("cache", "keygen", "ci")
        place.start()
        claim = Claim(place, 8)
        assert claim.next() == "none", name
        claim.close()
        place.end()


def await_none(folder):
    """Nothing stays behind."""
    left = True
    for _ in range(2000):
        left = [path for path in pathlib.Path(folder, "share/claims").glob("*/*")]
        if not left:
            return
        time.sleep(0.01)
    raise AssertionError(left)


def check(folder, remote, *options):
    places = [Place(folder, name, f"{remote}|read-write|trusted", "--lease", "2s", "--down", "0", *options)
              for name in ("one", "two", "three")]
    try:
        for place in places:
            place.start()
        check_waiting(*places)
        check_death(*places)
        if remote.startswith("file:"):
            check_fork(*places[:2])
            check_ends(folder, *places[:2])
            await_none(folder)
    finally:
        for place in places:
            place.end()


if __name__ == "__main__":
    need("lighttpd")
    with temporary() as folder:
        os.mkdir(f"{folder}/share")
        check(folder, f"file://{folder}/share")
    with temporary() as folder:
        port = free_port()
        lighttpd = serve_dav(folder, port)
        try:
            check(folder, f"http://127.0.0.1:{port}")
        finally:
            end(lighttpd)
