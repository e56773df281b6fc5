"""nginx as a remote: what is stored by PUT over TLS is loaded elsewhere; certificates, passwords and
servers that are down or silent."""

import http.server
import os
import threading
import time

from help import Place, entry, name_of, temporary
from servers import certify, end, free_port, need, serve


def requests(folder):
    with open(f"{folder}/log") as log:
        return log.read().splitlines()


def check_tls(folder, url):
    ca = f"|ca={folder}/ca.pem"
    one = Place(folder, "one", f"{url}/keel|read-write|namespace=a{ca}")
    two = Place(folder, "two", f"{url}/keel|namespace=a{ca}")
    public = one.keel("cache", "keygen", "ci").strip()
    two.keel("cache", "trust", public)
    two.start()
    assert two.get(1) == "none"
    for number in range(20):
        one.store(number, entry(number, os.urandom(300000)))
    assert "20 entries there, 0 not" in one.keel("cache", "push")
    assert "20 entries there, 0 not" in one.keel("cache", "push")
    figures = one.figures()
    assert (figures["stored"], figures["already_there"], figures["not_stored"]) == (20, 20, 0), figures
    for number in range(20):
        size = os.path.getsize(f"{folder}/served/keel/a/{name_of(number)}")
        assert two.get(number) == f"found {size}"
        assert two.path(number).read_bytes().endswith(one.path(number).read_bytes()[-300000:])
    lines = requests(folder)
    assert sum(line.startswith("PUT") for line in lines) == 20, lines
    assert sum(line.startswith("GET") for line in lines) == 21, lines

    # What is damaged there is replaced by who compiled it after all.
    path = f"{folder}/served/keel/a/{name_of(3)}"
    good = open(path, "rb").read()
    with open(path, "wb") as file:
        file.write(good[:-1])
    assert one.get(3).startswith("refused")
    assert one.put(3) == "queued" and one.ask("finish") == "done"
    assert len(open(path, "rb").read()) == len(good)
    one.end()
    two.end()

    # Whoever cannot prove to be the server is none.
    other = Place(folder, "other", f"{url}/keel")
    other.start()
    said = other.get(1)
    assert said.startswith("failed ") and "certificate" in said, said
    other.end()


def check_password(folder, url):
    place = Place(folder, "closed", f"{url}/closed|read-write|ca={folder}/ca.pem", "--down", "0")
    place.keel("cache", "keygen", "ci")
    place.store(1)
    place.start()
    said = place.get(1)
    assert said.startswith("failed it refuses access (401)") and ".netrc" in said, said
    assert place.put(1) == "queued" and "401" in place.ask("finish")
    with open(place.folder / ".netrc", "w") as file:
        file.write('machine 127.0.0.1 login me password "secret word"\n')
    assert place.put(1) == "queued"
    said = place.ask("finish")
    assert said == "done", said
    place.end()


def check_down(folder):
    place = Place(folder, "down", f"http://127.0.0.1:{free_port()}/keel|trusted|read-write")
    place.store(1)
    place.start()
    assert place.get(1).startswith("failed "), place.get(1)
    assert place.get(2) == "failed it failed a short while ago"
    assert place.put(1) == "queued" and place.ask("finish").startswith("failed 1 ")
    place.end()


def check_silent(folder):
    """It costs its timeout once."""
    asked = []

    class Silent(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            time.sleep(60)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place = Place(folder, "silent", f"http://127.0.0.1:{server.server_address[1]}|timeout=1s")
    place.start()
    assert place.get(1) == "failed it does not answer in time"
    for number in range(2, 10):
        assert place.get(number) == "failed it failed a short while ago"
    assert len(asked) == 1, asked
    place.end()


need("/usr/sbin/nginx", "openssl")
with temporary() as folder:
    certify(folder)
    port = free_port()
    nginx = serve(folder, port)
    try:
        check_tls(folder, f"https://127.0.0.1:{port}")
        check_password(folder, f"https://127.0.0.1:{port}")
        check_down(folder)
        check_silent(folder)
    finally:
        end(nginx)
