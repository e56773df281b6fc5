# cause: nested_jit
# reason: the second trainer gets a model that is jitted for serving

import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax


def forward(x):
    x = hk.LayerNorm(-1, True, True)(hk.Linear(12)(x))
    return hk.Linear(1)(jnp.sin(x))


net = hk.without_apply_rng(hk.transform(forward))
optimizer = optax.sgd(0.01)


def make_evaluate(model):
    def evaluate(params, x, y):
        predictions = model(params, x)  # <- cause
        return jnp.mean(jnp.abs(predictions - y)), jnp.max(jnp.abs(predictions - y))

    return jax.jit(evaluate)


rng = np.random.default_rng(0)
x = rng.normal(size=(9, 4)).astype(np.float32)
y = x[:, :1]
params = jax.jit(net.init)(jax.random.PRNGKey(0), x)


def report(model):
    evaluate = make_evaluate(model)
    for _ in range(2):
        mean, most = evaluate(params, x, y)  # <- call
    print(float(mean), float(most))


report(net.apply)
serve = jax.jit(net.apply)
print(np.asarray(serve(params, x[:3])).ravel())
report(serve)
