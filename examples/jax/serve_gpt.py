"""Serves a small byte-level GPT over HTTP, in plain JAX.

    python examples/jax/serve_gpt.py --port 8000
    curl -d '{"prompts": ["Once upon"], "count": 8}' http://127.0.0.1:8000/

Prompts are padded to a bucket, and so is their number, so every program is known before the first
request: a prefill for each length of a prompt and each number of prompts, and a decode for each
number. The warm-up runs each of them once. The weights are random.
"""

import argparse
import http.server
import json
import math

import jax
import jax.numpy as jnp
import numpy as np

BYTES = 256  # the vocabulary: every value of a byte
HEAD_WIDTH = 16
LENGTHS = (16, 32, 64)  # of prompts
ROWS = (1, 2, 4)  # prompts of a request
CONTEXT = 128


def parse_arguments():
    parser = argparse.ArgumentParser(description="Serve a small byte-level GPT in plain JAX.")
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=64, help=f"a multiple of {HEAD_WIDTH}")
    parser.add_argument("--requests", type=int, default=0, help="end after so many; 0: never")
    parser.add_argument("--freeze", action="store_true", help="no new program after the warm-up")
    parser.add_argument("--warm-up-only", action="store_true")
    arguments = parser.parse_args()
    if arguments.width % HEAD_WIDTH or arguments.width < HEAD_WIDTH:
        parser.error(f"--width {arguments.width}: not a multiple of {HEAD_WIDTH}")
    return arguments


# ----------------------------------------------------------------------------------------- model


def make_model(layers, width):
    rng = np.random.default_rng(0)

    def matrix(*shape):
        return jnp.asarray(rng.normal(0, 0.02, shape).astype(np.float32))

    return {"bytes": matrix(BYTES, width), "places": matrix(CONTEXT, width),
            "layers": [{"qkv": matrix(width, 3 * width), "out": matrix(width, width),
                        "up": matrix(width, 4 * width), "down": matrix(4 * width, width)}
                       for _ in range(layers)]}


def normalize(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def split_heads(x):
    return x.reshape(*x.shape[:-1], -1, HEAD_WIDTH)


def block(layer, x, cache, places):
    """The layer's output and its cache, in which `places` are filled. x: [rows, places, width]."""
    q, k, v = jnp.split(normalize(x) @ layer["qkv"], 3, axis=-1)
    rows = jnp.arange(x.shape[0])[:, None]
    keys = cache["keys"].at[rows, places].set(split_heads(k))
    values = cache["values"].at[rows, places].set(split_heads(v))
    scores = jnp.einsum("rqhd,rkhd->rhqk", split_heads(q), keys) / math.sqrt(HEAD_WIDTH)
    is_past = jnp.arange(CONTEXT)[None, None, None] <= places[:, None, :, None]
    weights = jax.nn.softmax(jnp.where(is_past, scores, -1e30), axis=-1)
    x = x + jnp.einsum("rhqk,rkhd->rqhd", weights, values).reshape(x.shape) @ layer["out"]
    x = x + jax.nn.gelu(normalize(x) @ layer["up"]) @ layer["down"]
    return x, {"keys": keys, "values": values}


def forward(model, tokens, places, caches):
    x = model["bytes"][tokens] + model["places"][places]
    filled = []
    for layer, cache in zip(model["layers"], caches):
        x, cache = block(layer, x, cache, places)
        filled.append(cache)
    return normalize(x) @ model["bytes"].T, filled


@jax.jit
def prefill(model, tokens, lengths):
    """The byte after each prompt, and the caches. tokens: [rows, bucket]."""
    rows, bucket = tokens.shape
    empty = jnp.zeros((rows, CONTEXT, model["bytes"].shape[1] // HEAD_WIDTH, HEAD_WIDTH))
    places = jnp.broadcast_to(jnp.arange(bucket), tokens.shape)
    caches = [{"keys": empty, "values": empty} for _ in model["layers"]]
    logits, caches = forward(model, tokens, places, caches)
    last = jnp.take_along_axis(logits, lengths[:, None, None] - 1, axis=1)
    return last.argmax(-1)[:, 0], caches


@jax.jit
def decode(model, tokens, places, caches):
    """The next byte of each row. tokens, places: [rows]."""
    logits, caches = forward(model, tokens[:, None], places[:, None], caches)
    return logits[:, 0].argmax(-1), caches


# ---------------------------------------------------------------------------------------- server


def bucket_of(size, buckets):
    """The smallest bucket that holds it. The accident: what no bucket holds is taken as it is."""
    return next((bucket for bucket in buckets if size <= bucket), size)


def pad(prompts):
    rows = bucket_of(len(prompts), ROWS)
    length = bucket_of(max(map(len, prompts)), LENGTHS)
    tokens = np.zeros((rows, length), np.int32)
    lengths = np.ones(rows, np.int32)
    for row, prompt in enumerate(prompts):
        tokens[row, :len(prompt)] = list(prompt)
        lengths[row] = len(prompt)
    return tokens, lengths


def generate(model, prompts, count):
    tokens, places = pad(prompts)
    token, caches = prefill(model, tokens, places)
    made = [np.asarray(token)]
    for _ in range(count - 1):
        token, caches = decode(model, token, places, caches)
        places = places + 1
        made.append(np.asarray(token))
    return [bytes(int(step[row]) for step in made) for row in range(len(prompts))]


def warm_up(model):
    for rows in ROWS:
        for length in LENGTHS:
            generate(model, [bytes(length)] * rows, 2)


def handler(model):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            try:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompts = [text.encode() for text in request["prompts"]]
                made = generate(model, prompts, int(request["count"]))
                code, answer = 200, {"made": [text.decode("latin-1") for text in made]}
            except Exception as error:
                code, answer = 500, {"error": str(error)}
            body = json.dumps(answer).encode() + b"\n"
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


def main():
    arguments = parse_arguments()
    model = make_model(arguments.layers, arguments.width)
    warm_up(model)
    if arguments.freeze:
        import keel
        keel.freeze()
    if arguments.warm_up_only:
        return
    with http.server.HTTPServer(("127.0.0.1", arguments.port), handler(model)) as server:
        print(f"serving on port {server.server_port}", flush=True)
        for _ in iter(int, 1) if not arguments.requests else range(arguments.requests):
            server.handle_request()


if __name__ == "__main__":
    main()
