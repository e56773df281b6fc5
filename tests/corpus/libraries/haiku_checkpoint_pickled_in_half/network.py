import haiku as hk
import jax
import jax.numpy as jnp

model = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([6, 1])(x)))
init = jax.jit(model.init)


@jax.jit
def update(params, x, y):
    grads = jax.grad(lambda params: jnp.mean((model.apply(params, x) - y) ** 2))(params)
    return jax.tree.map(lambda p, g: p - 0.125 * g, params, grads)
