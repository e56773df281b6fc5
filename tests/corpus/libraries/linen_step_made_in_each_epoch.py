# cause: retrace
# pattern: alternating
# program: jit_step
# reason: every epoch jits its step anew, for training and for validation in turn; the third epoch asks again for programs that are in memory

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(16)(x))
        x = nn.Dropout(0.2, deterministic=not train)(x)
        return nn.Dense(1)(x)[:, 0]


model = Net()


def run_epoch(params, key, x, y, train):
    @jax.jit
    def step(params, key, x, y):
        def loss_fn(params):
            predicted = model.apply(params, x, train, rngs={"dropout": key})
            return jnp.mean((predicted - y) ** 2)

        if not train:
            return params, loss_fn(params)
        loss, grads = jax.value_and_grad(loss_fn)(params)
        return jax.tree.map(lambda p, g: p - 0.05 * g, params, grads), loss

    losses = []
    for start in range(0, len(x), 4):
        params, loss = step(params, jax.random.fold_in(key, start), x[start:start + 4],  # <- cause
                            y[start:start + 4])
        losses.append(float(loss))
    return params, np.mean(losses)


rng = np.random.default_rng(0)
x = rng.normal(size=(16, 3)).astype(np.float32)
y = x.prod(1)
key = jax.random.key(0)
params = jax.jit(model.init, static_argnums=2)(key, x, False)
for epoch in range(3):
    params, fitted = run_epoch(params, jax.random.fold_in(key, epoch), x[:8], y[:8], train=True)
    _, validated = run_epoch(params, key, x[8:], y[8:], train=False)  # <- call
    print(f"epoch {epoch}: {fitted:.3f} {validated:.3f}")
