# cause: arguments
# subject: params['intercept']
# old: absent
# new: f32[]
# reason: the second model has an intercept; what is computed of it follows

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def loss(params, strength, x, y):
    logits = x @ params["coefficients"]
    if "intercept" in params:
        logits = logits + params["intercept"]
    each = jnp.maximum(logits, 0) - logits * y + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    return each.mean() + 0.5 * strength * jnp.sum(params["coefficients"] ** 2)


solver = jaxopt.GradientDescent(loss, maxiter=4, stepsize=0.2, acceleration=False)


@jax.jit
def fit(params, strength, x, y):
    params, state = solver.run(params, strength, x, y)
    return params, state.error


x = np.linspace(-1.0, 1.0, 24, dtype=np.float32).reshape(8, 3)
y = (x.sum(axis=1) > 0).astype(np.float32)
plain = {"coefficients": np.zeros(3, np.float32)}
for start in (plain, plain, plain | {"intercept": np.float32(0.0)}):
    params, error = fit(start, np.float32(0.1), x, y)  # <- cause
    print(sorted(params), float(error))
