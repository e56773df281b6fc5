# cause: edit
# old: spread = numpyro.sample("spread", dist.HalfNormal(1.0))
# new: spread = numpyro.sample("spread", dist.Exponential(2.0))
# program: jit_update
# run: write HalfNormal(1.0)
# run: PYTHONHASHSEED=0 fit
# run: write Exponential(2.0)
# run: PYTHONHASHSEED=0 fit
# reason: a prior is edited in the module that has the model

import pathlib
import sys

if sys.argv[1] == "write":
    pathlib.Path("schools.py").write_text(f'''import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist


def model(errors, effects=None):
    center = numpyro.sample("center", dist.Normal(0.0, 5.0))
    spread = numpyro.sample("spread", dist.{sys.argv[2]})
    with numpyro.plate("schools", len(errors)):
        effect = numpyro.sample("effect", dist.Normal(center, spread))
        numpyro.sample("observed", dist.Normal(effect, errors), obs=effects)
''')
    raise SystemExit

sys.path.insert(0, str(pathlib.Path.cwd()))
import jax
import numpy as np
import numpyro
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoNormal

import schools

ERRORS = np.array([15, 10, 16, 11, 9, 11, 10, 18], np.float32)
EFFECTS = np.array([28, 8, -3, 7, -1, 1, 18, 12], np.float32)

svi = SVI(schools.model, AutoNormal(schools.model), numpyro.optim.Adam(0.05), Trace_ELBO())


@jax.jit
def update(state, errors, effects):
    return svi.update(state, errors, effects)


def fit(steps):
    state = svi.init(jax.random.key(0), ERRORS, EFFECTS)
    for _ in range(steps):
        state, loss = update(state, ERRORS, EFFECTS)  # <- call
    return float(loss)


print(fit(4))
