"""Servers that tests of remotes start: each is the real one."""

import os
import shutil
import socket
import subprocess
import sys
import time

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
LIGHTTPD = shutil.which("lighttpd") or "/usr/sbin/lighttpd"


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            print(f"waits for {program}, which tools/setup --tests installs")
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
    return started([NGINX, "-c", f"{folder}/nginx.conf", "-e", f"{folder}/errors"], port)


def serve_dav(folder, port):
    """A whole WebDAV server, which has folders and keeps to If-None-Match."""
    os.makedirs(f"{folder}/dav", exist_ok=True)
    with open(f"{folder}/lighttpd.conf", "w") as file:
        file.write(f'''server.modules = ("mod_webdav")
server.document-root = "{folder}/dav"
server.port = {port}
server.bind = "127.0.0.1"
server.errorlog = "{folder}/errors"
webdav.activate = "enable"
''')
    return started([LIGHTTPD, "-D", "-f", f"{folder}/lighttpd.conf"], port)


def serve_redis(folder, port, *words, tls=False):
    """A server without files; with `tls`, by the certificate of certify."""
    where = ["--port", "0", "--tls-port", port, "--tls-cert-file", f"{folder}/server.pem", "--tls-key-file",
             f"{folder}/server.key", "--tls-ca-cert-file", f"{folder}/ca.pem", "--tls-auth-clients", "no"]
    return started(["redis-server", *(where if tls else ["--port", port]), "--bind", "127.0.0.1", "--save", "",
                    "--dir", folder, *words], port, stdout=subprocess.DEVNULL)


def started(words, port, **more):
    """The server, once it listens at that port."""
    server = subprocess.Popen([str(word) for word in words], **more)
    for _ in range(6000):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return server
        except OSError:
            assert server.poll() is None, words
            time.sleep(0.01)
    server.kill()
    raise AssertionError(f"{words[0]} does not listen")


def end(server):
    server.terminate()
    server.wait()
