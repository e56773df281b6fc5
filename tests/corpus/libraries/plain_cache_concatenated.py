# cause: shape
# subject: cache
# pattern: unpadded

import jax
import jax.numpy as jnp
import numpy as np

HEADS, WIDTH, VOCABULARY = 2, 8, 20


def init(key):
    names = {"embed": (VOCABULARY, WIDTH), "qkv": (WIDTH, 3 * HEADS * WIDTH), "out": (HEADS * WIDTH, VOCABULARY)}
    return {name: jax.random.normal(k, shape) * 0.2
            for (name, shape), k in zip(names.items(), jax.random.split(key, len(names)))}


def attend(query, cache):
    keys, values = cache[0], cache[1]
    weights = jax.nn.softmax(jnp.einsum("hd,thd->ht", query, keys) / WIDTH ** 0.5)
    return jnp.einsum("ht,thd->hd", weights, values)


@jax.jit
def decode(params, token, cache):
    x = params["embed"][token]
    query, key, value = (x @ params["qkv"]).reshape(3, HEADS, WIDTH)
    cache = jnp.concatenate([cache, jnp.stack([key, value])[:, None]], axis=1)
    logits = attend(query, cache).reshape(-1) @ params["out"]
    return logits.argmax(), cache


def generate(params, prompt, count):
    cache = np.zeros((2, 1, HEADS, WIDTH), np.float32)
    tokens = list(prompt)
    token = np.int32(tokens[-1])
    for _ in range(count):
        token, cache = decode(params, token, cache)  # <- cause
        tokens.append(int(token))
    return tokens


params = jax.jit(init)(jax.random.key(0))
print(generate(params, [3], 6))
