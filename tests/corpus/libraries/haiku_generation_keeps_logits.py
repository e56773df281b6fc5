# cause: structure
# reason: where the caller asks for them, the loop of the generation also carries the logits of each step

import functools

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def next_logits(token):
    return hk.Linear(7)(jnp.tanh(hk.Embed(7, 6)(token)))


net = hk.without_apply_rng(hk.transform(next_logits))
params = jax.jit(net.init)(jax.random.PRNGKey(0), np.zeros(2, np.int32))


@functools.partial(jax.jit, static_argnames="keep_logits")
def generate(params, start, keep_logits=False):
    tokens = jnp.zeros((2, 5), jnp.int32).at[:, 0].set(start)
    kept = jnp.zeros((2, 5, 7)) if keep_logits else None

    def body(step, carry):
        tokens, kept = carry
        logits = net.apply(params, tokens[:, step - 1])
        if keep_logits:
            kept = kept.at[:, step].set(logits)
        return tokens.at[:, step].set(logits.argmax(-1)), kept

    return jax.lax.fori_loop(1, 5, body, (tokens, kept))


start = np.array([1, 2], np.int32)
generate(params, start)
generate(params, start, keep_logits=True)  # <- call
