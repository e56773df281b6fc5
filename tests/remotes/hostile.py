"""A server that lies in 10,000 ways: nothing it says becomes an entry, the helper goes on, and its
memory does not grow. In between it tells the truth, and that is loaded.

Usage: tests/remotes/hostile.py [NUMBER [SEED]]
"""

import http.server
import random
import struct
import sys
import threading

from help import (ENVELOPE, MAGIC, Place, digest, entry, field, fields_of, key, name_of, put_digest, sign,
                  temporary)

NUMBER = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
SEAL = 136
MEMORY = 64 << 10  # KiB
ASKERS = 8  # at a time, each with a key of its own
answers = {}  # what the server sends next, by path: status, headers, body, how often


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        status, headers, body, pieces = answers[self.path]
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            if value is not None:
                self.send_header(name, str(value))
        self.end_headers()
        try:
            for _ in range(pieces):
                self.wfile.write(body)
        except OSError:
            pass
        self.close_connection = headers != {}

    def log_message(self, *_):
        pass


def header_size(data):
    return struct.unpack_from("<Q", data, 16)[0]


def flip(chance, data):
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1:]


def sized(data, header=None, stored=None):
    sizes = struct.pack("<QQ", header_size(data) if header is None else header,
                        struct.unpack_from("<Q", data, 24)[0] if stored is None else stored)
    return put_digest(data[:16] + sizes + data[32:]) if header is None else data[:16] + sizes + data[32:]


def other_payload(chance, data):
    """Another program, with all digests right, under the signature of the first."""
    size = header_size(data)
    payload = flip(chance, data[size:])
    return put_digest(data[:64] + digest(payload) + data[96:size] + payload)


def other_key(number):
    """Another program's signed entry, renamed to the key that is asked for."""
    return put_digest(signed[0].replace(key(0), key(number)))


def other_sealed_payload(chance, data):
    """The same, with the digest in the seal made right too."""
    changed = other_payload(chance, data)
    size = header_size(changed)
    at = size - SEAL + 8 + 32
    return put_digest(changed[:at] + digest(changed[size:]) + changed[at + 32:])


def seal_changed(chance, data):
    at = header_size(data) - chance.randrange(1, SEAL)
    return put_digest(data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1:])


def field_changed(chance, data):
    at = chance.randrange(ENVELOPE, header_size(data) - SEAL)
    return put_digest(data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1:])


def bomb(number):
    """A frame of zstd that says that it unpacks to GiBs."""
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 3 << 30) + b"\x02\x00\x00\x00" * 40
    return entry(number, frame, fields_of(number, frame, codec=1, size=3 << 30))


def plain(data):
    return 200, {}, data, 1


# Each makes an answer of what would be a good one.
LIES = {
    "a flipped bit": lambda chance, data, number: plain(flip(chance, data)),
    "cut, and says so": lambda chance, data, number: plain(data[:chance.randrange(len(data))]),
    "half a body": lambda chance, data, number: (200, {"Content-Length": len(data)}, data[:chance.randrange(len(data))], 1),
    "a wrong length": lambda chance, data, number: (200, {"Content-Length": chance.randrange(len(data))}, data, 1),
    "more than it says": lambda chance, data, number: plain(data + chance.randbytes(chance.randrange(1, 5000))),
    "endless": lambda chance, data, number: (200, {"Content-Length": None, "Connection": "close"}, data, 100000),
    "endless zeros": lambda chance, data, number: (200, {"Content-Length": None}, bytes(1 << 16), 100000),
    "noise": lambda chance, data, number: plain(chance.randbytes(chance.randrange(5000))),
    "noise behind the magic": lambda chance, data, number: plain(MAGIC + chance.randbytes(chance.randrange(5000))),
    "another key": lambda chance, data, number: plain(signed[0]),
    "another key's entry, renamed": lambda chance, data, number: plain(other_key(number)),
    "not signed": lambda chance, data, number: plain(entry(number)),
    "signed by a stranger": lambda chance, data, number: plain(strange[number]),
    "another payload": lambda chance, data, number: plain(other_payload(chance, data)),
    "another payload in the seal": lambda chance, data, number: plain(other_sealed_payload(chance, data)),
    "another seal": lambda chance, data, number: plain(seal_changed(chance, data)),
    "another field": lambda chance, data, number: plain(field_changed(chance, data)),
    "a huge payload": lambda chance, data, number: plain(sized(data, stored=chance.randrange(1 << 63))),
    "a huge header": lambda chance, data, number: plain(sized(data, header=chance.randrange(1 << 63))),
    "a field twice": lambda chance, data, number: plain(entry(number, fields=fields_of(number, b"x") + field(1, key(number)))),
    "a bomb": lambda chance, data, number: plain(bomb(number)),
    "an error with the right body": lambda chance, data, number: (
        chance.choice([201, 204, 206, 400, 401, 403, 404, 410, 418, 500, 502, 503]), {"Connection": "close"}, data, 1),
    "elsewhere": lambda chance, data, number: (chance.choice([301, 302, 307, 308]), {"Location": f"/elsewhere/{number}"}, data, 1),
}


def ask_one(place, number, seed, times, names, told):
    chance, good, path = random.Random(seed * 1000 + number), signed[number], "/a/" + name_of(number)
    answers[f"/elsewhere/{number}"] = plain(good)
    for _ in range(times):
        is_true, name = chance.random() < 0.05, chance.choice(names)
        answers[path] = plain(good) if is_true else LIES[name](chance, good, number)
        if not is_true and answers[path] == plain(good):
            continue  # a cut at its end
        said = place.get(number)
        is_there = place.path(number).exists()
        if said.startswith("found ") != is_true or is_there != is_true:
            told.append(f"{'the truth' if is_true else name}: {said}")
            return
        if is_true:
            place.path(number).unlink()
            told.append(None)


def ask_all(place, times, names):
    """How often the truth was told and loaded."""
    told = []
    askers = [threading.Thread(target=ask_one, args=(place, number, SEED, times // ASKERS, names, told))
              for number in range(1, ASKERS + 1)]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    wrong = [what for what in told if what]
    assert not wrong, wrong
    return len(told)


# What is no good even if nobody has to sign it.
BROKEN = ["a flipped bit", "cut, and says so", "half a body", "a wrong length", "more than it says", "endless",
          "noise", "another key", "a huge payload", "a huge header", "a field twice", "a bomb", "elsewhere"]

with temporary() as folder:
    signed, public = sign(folder, range(ASKERS + 1))
    strange, _ = sign(folder, range(ASKERS + 1))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/a|timeout=60s"
    for words, times, names in (("", NUMBER, list(LIES)), ("|trusted", NUMBER // 10, BROKEN)):
        place = Place(folder, f"victim{len(words)}", url + words, "--down", "0")
        place.keel("cache", "trust", public)
        place.start()
        try:
            pid = place.pid()
            told = ask_all(place, times, names)
            assert told, "no true answer was among them"
            assert place.pid() == pid, "it ended"
            assert place.memory() < MEMORY, f"{place.memory()} KiB"
            print(f"{words or 'signed'}: {times} answers, {told} true ones loaded, no other; {place.memory()} KiB",
                  place.figures(), flush=True)
        finally:
            place.end()
    server.shutdown()
