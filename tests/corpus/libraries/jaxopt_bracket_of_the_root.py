# cause: constant
# subject: self.solver.upper
# old: 4.0
# new: 6.0
# reason: the root of the second market is looked for in a wider bracket, which the solver closes over; it evaluates the function there first

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np


def excess_demand(price, supply, taste):
    demand = jnp.sum(taste / (1.0 + price ** 2))  # <- cause
    return demand - supply * price


class Market:
    def __init__(self, highest):
        self.solver = jaxopt.Bisection(excess_demand, lower=0.0, upper=highest, maxiter=8,
                                       check_bracket=False)
        self.clear = jax.jit(self._clear)

    def _clear(self, supply, taste):
        price = self.solver.run(None, supply, taste).params
        return price, supply * price


taste = np.array([1.0, 2.0, 3.0], np.float32)
for highest in (4.0, 6.0):
    market = Market(highest)
    for supply in (1.0, 1.5):
        price, turnover = market.clear(np.float32(supply), taste)  # <- call
        print(highest, float(price), float(turnover))
