"""A small training loop that is compiled again for reasons of several kinds."""

import functools

import jax
import jax.numpy as jnp


def layer(params, x, dropout):
    h = jnp.tanh(x @ params["w"] + params["b"])
    if dropout:
        h = h * 0.9
    return h


@functools.partial(jax.jit, static_argnames=("dropout", "scale"))
def train_step(params, batch, dropout=False, scale=0.5):
    def loss(p):
        h = layer(p, layer(p, batch["x"], dropout), dropout)
        return jnp.mean((h - batch["y"]) ** 2) * scale

    value, grads = jax.value_and_grad(loss)(params)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


@functools.partial(jax.jit, static_argnames=("step",))
def evaluate(x, step):
    return jnp.sum(x * step)


def main():
    params = {"w": jnp.eye(32), "b": jnp.zeros(32)}
    full = {"x": jnp.ones((8, 32)), "y": jnp.zeros((8, 32))}
    short = {"x": full["x"][:5], "y": full["y"][:5]}
    for step in range(1, 21):
        batch = short if step == 7 else full
        scale = 0.25 if step == 15 else 0.5
        _, params = train_step(params, batch, dropout=step == 10, scale=scale)
        if step % 5 == 0:
            evaluate(full["x"], step).block_until_ready()


main()
