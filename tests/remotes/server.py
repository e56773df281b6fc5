"""nginx as a remote: what is stored by PUT over TLS is loaded elsewhere; certificates, passwords and
servers that are down or silent."""

import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

from help import Place, entry, name_of, temporary

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
if not os.path.exists(NGINX) or not shutil.which("openssl"):
    print("waits for nginx and openssl, which tools/setup --tests installs")
    sys.exit(77)

CONFIGURATION = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors; {user}
events {{ }}
http {{
  log_format short "$request_method $uri $status"; access_log {folder}/log short;
  client_body_temp_path {folder}/bodies; proxy_temp_path {folder}/a; fastcgi_temp_path {folder}/b;
  uwsgi_temp_path {folder}/c; scgi_temp_path {folder}/d; client_max_body_size 0;
  server {{
    listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/server.pem; ssl_certificate_key {folder}/server.key;
    root {folder}/served;
    location / {{ dav_methods PUT; create_full_put_path on; }}
    location /closed/ {{
      auth_basic closed; auth_basic_user_file {folder}/users; dav_methods PUT; create_full_put_path on;
    }}
  }}
}}
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def certify(folder):
    openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "ca.key", "-out", "ca.pem",
            "-days", "2", "-subj", "/CN=an authority of a test")
    openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-keyout", "server.key", "-out", "server.csr",
            "-subj", "/CN=localhost")
    with open(f"{folder}/names", "w") as names:
        names.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl(folder, "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-days", "2", "-out", "server.pem", "-extfile", "names")


def serve(folder, port):
    os.mkdir(f"{folder}/served")
    user = "user root;" if os.geteuid() == 0 else ""
    with open(f"{folder}/nginx.conf", "w") as file:
        file.write(CONFIGURATION.format(folder=folder, port=port, user=user))
    with open(f"{folder}/users", "w") as file:
        file.write("me:{PLAIN}secret word\n")
    server = subprocess.Popen([NGINX, "-c", f"{folder}/nginx.conf", "-e", f"{folder}/errors"])
    for _ in range(1000):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server
        except OSError:
            assert server.poll() is None, open(f"{folder}/errors").read()
            time.sleep(0.01)
    raise AssertionError("nginx does not listen")


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
        nginx.terminate()
        nginx.wait()
