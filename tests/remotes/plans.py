"""Plans travel: what a script asked for on one machine is one small object in the remote, and another
machine that follows it has the programs before it asks for one."""

import http.server
import os
import threading
import time

from help import Place, digest, entry, key, name_of, temporary

SCRIPT = "train.py-0123456789abcdef"
requests = []


class Server(http.server.BaseHTTPRequestHandler):
    """Files in memory; every GET takes a moment, so that gets which wait for each other would show."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    files, most, now, lock = {}, 0, 0, threading.Lock()

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        with Server.lock:
            Server.now += 1
            Server.most = max(Server.most, Server.now)
            requests.append(("GET", self.path))
        time.sleep(0.05)
        with Server.lock:
            Server.now -= 1
        self.answer(200, self.files[self.path]) if self.path in self.files else self.answer(404)

    def do_HEAD(self):
        requests.append(("HEAD", self.path))
        self.send_response(200 if self.path in self.files else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_PUT(self):
        requests.append(("PUT", self.path))
        self.files[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201)

    def log_message(self, *_):
        pass


def plan(place, numbers, build):
    """What an engine leaves beside its own plan (src/store/travel.h); without numbers, just its client."""
    zeros, lines = "0" * 64, [f"script {SCRIPT}", "time 0000000000000001",
                              f"component {digest(b'cpu').hex()} platform\tcpu",
                              f"component {digest(build.encode()).hex()} plugin build\t{build}"]
    for number in numbers:
        lines.append(f"program {digest(b'%d' % number).hex()} {zeros} {zeros} {number:016x} 00000007 "
                     f"0000000000000000 {key(number).hex()}")
    folder = place.cache / "plans"
    folder.mkdir(exist_ok=True)
    (folder / f"{SCRIPT}.travel.plan").write_text("\n".join(["keel travel 1", *lines, "end", ""]))


def come(place, numbers):
    for _ in range(2000):
        if all(place.path(number).exists() for number in numbers):
            return
        time.sleep(0.01)
    raise AssertionError("they do not come")


with temporary() as folder:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/k"
    numbers = range(1, 33)
    places = []

    def new(name, words=""):
        places.append(Place(folder, name, url + words))
        return places[-1]

    try:
        one = new("one", "|read-write")
        public = one.keel("cache", "keygen", "ci").strip()
        for number in numbers:
            one.store(number, entry(number, os.urandom(2000)))
        plan(one, numbers, "a build")
        one.keel("cache", "push")
        plans = [path for path in Server.files if path.startswith("/k/plans/")]
        assert len(plans) == 1 and len(Server.files) == 33, list(Server.files)
        assert len(Server.files[plans[0]]) < 300 * len(numbers), "it is small"

        # Before there is a client, as `keel run` asks: one get for the plan, one for each program.
        two = new("two")
        two.keel("cache", "trust", public)
        two.start()
        del requests[:]
        assert two.ask(f"ahead 0 {SCRIPT}") == "queued"
        come(two, numbers)
        assert sorted(requests) == sorted([("GET", plans[0]), *(("GET", f"/k/{name_of(number)}")
                                                                for number in numbers)]), requests
        assert 8 <= Server.most <= 17, f"{Server.most} at a time"

        # The client's own plan: nothing comes twice, and the plan is this machine's from then on.
        del requests[:]
        plan(two, [], "a build")
        assert two.ask(f"plan 0 {SCRIPT}") == "planned 32"
        two.ask("finish")
        assert requests == [("GET", plans[0])], requests
        assert len((two.cache / "plans" / f"{SCRIPT}.plan").read_text().splitlines()) == 33

        # Another path of the script on another machine has the same programs.
        three = new("three")
        three.keel("cache", "trust", public)
        three.start()
        assert three.ask(f"ahead 0 train.py-{'f' * 16}") == "queued"
        come(three, numbers)

        # A client of another build hears what differs, and fetches nothing.
        four = new("four")
        four.keel("cache", "trust", public)
        plan(four, [], "another build")
        four.start()
        del requests[:]
        said = four.ask(f"plan 0 {SCRIPT}")
        assert said == ("other its programs of this script have another plugin build: a build there, another "
                        "build here"), said
        four.ask("finish")
        assert requests == [("GET", plans[0])], requests

        # Who does not trust the key follows nothing; and what is damaged is no plan.
        five = new("five")
        plan(five, [], "a build")
        five.start()
        assert five.ask(f"plan 0 {SCRIPT}").startswith("untrusted "), "it is a list of what to fetch"
        good = Server.files[plans[0]]
        Server.files[plans[0]] = good[:-1]
        assert two.ask(f"plan 0 {SCRIPT}").startswith("refused ")
        Server.files[plans[0]] = good
        assert two.ask(f"plan 0 other.py-{'0' * 16}") == "none"
        for word in ("../../x", "", "x" * 300):
            assert two.ask(f"ahead 0 {word}").startswith("failed "), word

        # Two machines' plans of one script are in one object.
        six = new("six", "|read-write")
        six.keel("cache", "keygen", "six")
        six.keel("cache", "trust", public)
        plan(six, [50], "a third build")
        six.store(50)
        six.keel("cache", "push")
        two.keel("cache", "trust", six.keel("cache", "keys").split("own")[1].split()[0])
        assert two.ask(f"plan 0 {SCRIPT}") == "planned 32", "the first one's is still there"
        two.ask("finish")
        assert not two.path(50).exists()
    finally:
        for place in places:
            place.end()
        server.shutdown()
