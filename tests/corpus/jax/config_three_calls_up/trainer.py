import jax
import jax.numpy as jnp
import optimizer


def loss(params, x):
    return jnp.mean((x @ params["w"]) ** 2)


def build(config):
    apply = optimizer.from_config(config["optimizer"])

    def step(params, velocity, x):
        grads = jax.grad(loss)(params, x)
        return apply(params, velocity, grads)
    return jax.jit(step)
