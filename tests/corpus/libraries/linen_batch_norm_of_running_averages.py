# cause: structure
# reason: one jitted function with a static flag; in evaluation nothing is averaged over the batch

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.Dense(16)(x)
        x = nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)  # <- cause
        return nn.Dense(1)(nn.relu(x))


net = Net()


@functools.partial(jax.jit, static_argnames="train")
def loss_of(variables, x, y, train):
    out, updates = net.apply(variables, x, train, mutable=["batch_stats"])
    return jnp.mean((out - y) ** 2), updates


rng = np.random.default_rng(0)
x = rng.normal(size=(10, 6)).astype(np.float32)
y = x[:, :1] * 2
variables = jax.jit(functools.partial(net.init, train=False))(jax.random.key(0), x)
for epoch in range(2):
    for _ in range(2):
        loss, updates = loss_of(variables, x, y, train=True)
        variables = {**variables, **updates}
loss, _ = loss_of(variables, x, y, train=False)  # <- call
print(float(loss))
