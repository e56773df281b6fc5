# cause: shape
# old: f32[12]
# new: f32[7]
# program: jit_scan

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO
from numpyro.infer.autoguide import AutoDelta


def model(x):
    rate = numpyro.sample("rate", dist.HalfNormal(2.0))
    numpyro.sample("x", dist.Exponential(rate).expand([x.shape[0]]).to_event(1), obs=x)


svi = SVI(model, AutoDelta(model), numpyro.optim.Adam(0.05), Trace_ELBO())
for rows in (12, 7):
    svi.run(jax.random.key(0), 4, np.ones(rows, np.float32), progress_bar=False)  # <- cause
