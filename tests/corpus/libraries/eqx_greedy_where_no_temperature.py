# cause: structure
# reason: without a temperature the likeliest token is taken; filter_jit makes None and the number static

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np


class Speaker(eqx.Module):
    cell: eqx.nn.GRUCell
    head: eqx.nn.Linear

    def __call__(self, token, hidden):
        hidden = self.cell(jax.nn.one_hot(token, 7), hidden)
        return self.head(hidden), hidden


def choose(logits, temperature, key):
    if temperature is None:
        return jnp.argmax(logits)
    return jax.random.categorical(key, logits / temperature)  # <- cause


@eqx.filter_jit
def speak(speaker, hidden, temperature, key):
    def advance(carry, key):
        token, hidden = carry
        logits, hidden = speaker(token, hidden)
        token = choose(logits, temperature, key).astype(jnp.int32)
        return (token, hidden), token

    start = jnp.zeros((), jnp.int32), hidden
    return jax.lax.scan(advance, start, jax.random.split(key, 5))[1]


@eqx.filter_jit
def build(key):
    first, second = jax.random.split(key)
    return Speaker(eqx.nn.GRUCell(7, 5, key=first), eqx.nn.Linear(5, 7, key=second))


speaker, hidden = build(jax.random.key(0)), np.zeros(5, np.float32)
for temperature in (None, None, 0.7):
    print(np.asarray(speak(speaker, hidden, temperature, jax.random.key(3))))  # <- call
