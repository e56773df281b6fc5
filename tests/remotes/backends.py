"""What every kind of remote does, by one test (tests/unit/courier_backend_test.c), over real servers."""

import os
import subprocess

from help import BUILD, temporary
from servers import certify, end, free_port, need, serve, serve_dav, serve_redis


def check(name, remote, lacks=(), **environment):
    known = {**os.environ, "KEEL_TEST_REMOTE": remote, "KEEL_TEST_LACKS": " ".join(lacks), **environment}
    test = subprocess.run([BUILD / "bin/courier_backend_test"], env=known, capture_output=True, text=True)
    assert test.returncode == 0, (name, test.stdout[-3000:], test.stderr[-3000:])
    print(f"{name}: as it should, without {', '.join(lacks) or 'nothing'}", flush=True)


if __name__ == "__main__":
    need("/usr/sbin/nginx", "lighttpd", "openssl", "redis-server")
    with temporary() as folder:
        certify(folder)
        port = free_port()
        nginx = serve(folder, port)
        try:
            check("nginx", f"https://127.0.0.1:{port}/keel|ca={folder}/ca.pem", ["absent", "list", "remove", "lease"])
        finally:
            end(nginx)
        port = free_port()
        lighttpd = serve_dav(folder, port)
        try:
            check("lighttpd", f"http://127.0.0.1:{port}", ["list"])
        finally:
            end(lighttpd)
        port = free_port()
        redis = serve_redis(folder, port)
        try:
            check("Redis", f"redis://127.0.0.1:{port}/2")
        finally:
            end(redis)
        port = free_port()
        redis = serve_redis(folder, port, "--requirepass", "secret word", tls=True)
        try:
            check("Redis over TLS", f"rediss://default@localhost:{port}|ca={folder}/ca.pem",
                  REDISCLI_AUTH="secret word")
        finally:
            end(redis)
