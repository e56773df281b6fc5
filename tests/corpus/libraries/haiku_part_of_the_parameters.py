# cause: arguments
# subject: trained['body']['b']
# old: absent
# new: f32[6]
# reason: the split of the parameters changes; the same leaves leave the frozen, which is one change

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np


def forward(x):
    return hk.Linear(2, name="head")(jnp.tanh(hk.Linear(6, name="body")(x)))


net = hk.without_apply_rng(hk.transform(forward))
x = np.ones((3, 4), np.float32)
params = jax.jit(net.init)(jax.random.PRNGKey(0), x)


@jax.jit
def update(trained, frozen, x):
    def loss(trained):
        return jnp.mean(net.apply(hk.data_structures.merge(trained, frozen), x) ** 2)

    return jax.tree.map(lambda p, g: p - 0.1 * g, trained, jax.grad(loss)(trained))


for keep in (("head",), ("head", "body")):
    trained, frozen = hk.data_structures.partition(lambda module, *_: module in keep, params)
    update(trained, frozen, x)  # <- cause
