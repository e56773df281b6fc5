# cause: devices
# program: jit_update
# run: DEVICES=2
# run: DEVICES=4
# reason: the script trains on all devices that it finds, and the second run has more of them

import os

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

jax.config.update("jax_num_cpu_devices", int(os.environ["DEVICES"]))
mesh = Mesh(np.array(jax.devices()), ("batch",))
replicated, spread = NamedSharding(mesh, P()), NamedSharding(mesh, P("batch"))
net = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([8, 3])(x)))
optimizer = optax.adam(1e-3)


def update(params, opt_state, x, labels):
    def loss_fn(params):
        logits = net.apply(params, x)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


update = jax.jit(update, in_shardings=(replicated, replicated, spread, spread), out_shardings=replicated)
rng = np.random.default_rng(0)
params = jax.jit(net.init)(jax.random.key(0), np.ones((1, 4), np.float32))
params = jax.device_put(params, replicated)
opt_state = jax.jit(optimizer.init, out_shardings=replicated)(params)
for step in range(3):
    x = rng.normal(size=(8, 4)).astype(np.float32)
    labels = rng.integers(0, 3, 8).astype(np.int32)
    params, opt_state, loss = update(params, opt_state, x, labels)  # <- cause
print(jax.device_count(), float(loss))
