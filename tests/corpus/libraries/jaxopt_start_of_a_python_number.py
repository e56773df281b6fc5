# cause: weak_type
# subject: guess
# old: weak f32[]
# new: f32[]
# advice: asarray | array
# reason: the first start is a Python number, the next ones are what the call before gave

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def implied(volatility, spot, strike, price):
    moneyness = jnp.log(spot / strike) / volatility + 0.5 * volatility
    normal = lambda z: 0.5 * (1.0 + jax.scipy.special.erf(z / jnp.sqrt(2.0)))
    return spot * normal(moneyness) - strike * normal(moneyness - volatility) - price


def objective(volatility, spot, strike, price):
    return implied(volatility, spot, strike, price) ** 2


solver = jaxopt.GradientDescent(objective, stepsize=1e-3, maxiter=5, acceleration=False)


@jax.jit
def implied_volatility(guess, spot, strike, price):
    start = jnp.asarray(guess, jnp.float32)
    return solver.run(start, spot, strike, price).params


guess = 0.3
for strike, price in ((90.0, 15.0), (100.0, 8.0), (110.0, 4.0)):
    guess = implied_volatility(guess, np.float32(100.0), np.float32(strike), np.float32(price))  # <- cause
    print(strike, float(guess))
