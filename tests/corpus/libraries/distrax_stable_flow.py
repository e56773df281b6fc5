# cause: stable
# reason: a flow is fitted, then drawn from

import distrax
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def make_flow():
    mask = jnp.arange(2) % 2 == 0
    layers = []
    for _ in range(2):
        net = hk.Sequential([hk.Linear(4), jax.nn.relu, hk.Linear(4, w_init=jnp.zeros),
                             hk.Reshape((2, 2))])
        layers.append(distrax.MaskedCoupling(
            mask=mask, conditioner=net,
            bijector=lambda p: distrax.ScalarAffine(shift=p[..., 0], log_scale=p[..., 1])))
        mask = ~mask
    base = distrax.MultivariateNormalDiag(jnp.zeros(2), jnp.ones(2))
    return distrax.Transformed(base, distrax.Inverse(distrax.Chain(layers)))


log_prob = hk.without_apply_rng(hk.transform(lambda x: make_flow().log_prob(x)))
sample = hk.transform(lambda: make_flow().sample(seed=hk.next_rng_key(), sample_shape=(3,)))
optimizer = optax.adam(1e-3)


@jax.jit
def update(params, state, x):
    grads = jax.grad(lambda params: -log_prob.apply(params, x).mean())(params)
    updates, state = optimizer.update(grads, state)
    return optax.apply_updates(params, updates), state


rng = np.random.default_rng(0)
params = jax.jit(log_prob.init)(jax.random.key(0), np.ones((6, 2), np.float32))
state = jax.jit(optimizer.init)(params)
for _ in range(3):
    params, state = update(params, state, rng.normal(size=(6, 2)).astype(np.float32))
draw = jax.jit(sample.apply)
for seed in range(2):
    print(np.asarray(draw(params, jax.random.key(seed))).shape)
