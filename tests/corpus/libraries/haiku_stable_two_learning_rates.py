# cause: stable
# reason: two groups of parameters with optimizers of their own; NumPy's arrays of 64 bits are made f32 and i32 in each call

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def forward(x, is_training):
    x = hk.Linear(8, name="trunk")(x)
    x = hk.BatchNorm(True, True, 0.9, name="norm")(x, is_training)
    return hk.Linear(2, name="head")(jax.nn.relu(x))


net = hk.without_apply_rng(hk.transform_with_state(forward))
optimizer = optax.multi_transform(
    {"slow": optax.sgd(1e-3), "fast": optax.adam(1e-2)},
    lambda params: {module: {name: "fast" if module == "head" else "slow" for name in leaves}
                    for module, leaves in params.items()})


@jax.jit
def update(params, state, opt_state, x, y):
    def loss_fn(params, state):
        logits, state = net.apply(params, state, x, True)
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), state

    grads, state = jax.grad(loss_fn, has_aux=True)(params, state)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), state, opt_state


@jax.jit
def evaluate(params, state, x, y):
    logits, _ = net.apply(params, state, x, False)
    return jnp.mean(jnp.argmax(logits, -1) == y)


rng = np.random.default_rng(1)
params, state = jax.jit(lambda key, x: net.init(key, x, True))(jax.random.key(0), np.ones((1, 5), np.float32))
opt_state = jax.jit(optimizer.init)(params)
for epoch in range(3):
    x, y = rng.normal(size=(8, 5)), rng.integers(0, 2, size=8)
    params, state, opt_state = update(params, state, opt_state, x, y)
    print(float(evaluate(params, state, x, y)))
