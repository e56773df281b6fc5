# cause: stable

import haiku as hk
import jax
import jax.numpy as jnp

networks = {
    "actor": hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([8, 2])(x))),
    "critic": hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([8, 1])(x))),
}
sample = jnp.ones((4, 3))
params = {name: jax.jit(net.init)(jax.random.PRNGKey(0), sample) for name, net in networks.items()}
forward = {name: jax.jit(net.apply) for name, net in networks.items()}


@jax.jit
def improve(params, observations, returns):
    def loss(params):
        value = networks["critic"].apply(params["critic"], observations)[:, 0]
        action = networks["actor"].apply(params["actor"], observations)
        return jnp.mean((value - returns) ** 2) + jnp.mean(action**2)

    grads = jax.grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


for step in range(4):
    observations = jnp.full((4, 3), float(step))
    outputs = {name: forward[name](params[name], observations) for name in networks}
    params = improve(params, observations, outputs["actor"].sum(1))
