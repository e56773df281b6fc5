# cause: stable

import equinox as eqx
import jax
import jax.numpy as jnp


def build(key, depth):
    return eqx.filter_jit(eqx.nn.MLP)(4, 1, 8, depth, key=key)


shallow = build(jax.random.key(0), 1)
deep = build(jax.random.key(1), 3)


@eqx.filter_jit
def distil(student, teacher, x):
    @eqx.filter_grad
    def grads(student):
        return jnp.mean((jax.vmap(student)(x) - jax.vmap(teacher)(x)) ** 2)

    return eqx.apply_updates(student, jax.tree.map(lambda g: -0.1 * g, grads(student)))


for step in range(4):
    shallow = distil(shallow, deep, jnp.full((16, 4), float(step)))
