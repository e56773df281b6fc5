# cause: dtype
# subject: ts
# old: f32[6]
# new: f64[6]
# program: jit_loss
# run: EQX_ON_ERROR=nan
# reason: with x64 on, the times of training are float32 and those of the table read for validation float64

import io

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

TABLE = """time,prey,predator
0.0,1.0,0.5
0.2,1.05,0.5
0.4,1.1,0.52
0.6,1.15,0.53
0.8,1.2,0.55
1.0,1.25,0.57
"""


class Rates(eqx.Module):
    growth: jax.Array
    hunting: jax.Array

    def __call__(self, t, y, args):
        prey, predator = y[0], y[1]
        return jnp.stack([self.growth * prey - self.hunting * prey * predator,
                          self.hunting * prey * predator - self.growth * predator])


@eqx.filter_jit
def loss(model, ts, measured):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(model), diffrax.Midpoint(), ts[0], ts[-1], ts[1] - ts[0],
        measured[0], saveat=diffrax.SaveAt(ts=ts), max_steps=32)
    return jnp.mean((solution.ys - measured) ** 2)


model = Rates(jnp.asarray(0.5, jnp.float32), jnp.asarray(0.25, jnp.float32))
ts = np.linspace(0.0, 1.0, 6, dtype=np.float32)
rng = np.random.default_rng(0)
for _ in range(3):
    measured = 1 + 0.1 * rng.normal(size=(6, 2)).astype(np.float32)
    print("train", float(loss(model, ts, measured.astype(np.float32))))
table = np.genfromtxt(io.StringIO(TABLE), delimiter=",", skip_header=1)
held_out = table[:, 1:].astype(np.float32)
print("validation", float(loss(model, table[:, 0], held_out)))  # <- cause
