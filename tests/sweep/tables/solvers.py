"""Solvers: diffrax, lineax, jaxopt."""

from plan import Recipe

IMPORTS = "import diffrax\nimport lineax as lx\nimport jaxopt"

ODE = "diffrax.diffeqsolve(diffrax.ODETerm(lambda t, y, args: {field}), diffrax.{solver}(), 0.0, 1.0, 0.25, {start}{more}).ys"

DIFFRAX = {
    "y: f32[n]": """
        euler: -y | Euler | y |
        heun: -y | Heun | y |
        tsit5: -y * 0.5 | Tsit5 | y |
        dopri5: jnp.sin(y) | Dopri5 | y | , stepsize_controller=diffrax.PIDController(1e-3, 1e-3)
        midpoint: -y | Midpoint | y | , saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, 1.0, 4))
        steps: -y | Ralston | y | , saveat=diffrax.SaveAt(steps=True), max_steps=8
        bosh3: y * (1 - y) | Bosh3 | y |
    """,
    "y: f32[n,2]": """
        batch: -y | Tsit5 | y |
        coupled: y @ jnp.array([[0.0, 1.0], [-1.0, 0.0]]) | Heun | y |
        mean_field: y.mean(0) - y | Euler | y |
    """,
    "y: f32[2]; ts: f32[n]": """
        saved: -y | Euler | y | , saveat=diffrax.SaveAt(ts=ts)
        saved_dense: -y | Tsit5 | y | , saveat=diffrax.SaveAt(ts=ts), stepsize_controller=diffrax.PIDController(1e-3, 1e-3)
    """,
}

OTHERS = {
    "a: f32[n]; b: f32[n]": """
        lx_diagonal: lx.linear_solve(lx.DiagonalLinearOperator(a + 1), b, lx.Diagonal()).value
        lx_cg: lx.linear_solve(lx.TaggedLinearOperator(lx.DiagonalLinearOperator(a + 1), lx.positive_semidefinite_tag), b, lx.CG(1e-4, 1e-4), throw=False).value
        lx_bicgstab: lx.linear_solve(lx.DiagonalLinearOperator(a + 1), b, lx.BiCGStab(1e-4, 1e-4), throw=False).value
        lx_grad: jax.grad(lambda b: (lx.linear_solve(lx.DiagonalLinearOperator(a + 1), b, lx.Diagonal()).value ** 2).sum())(b)
        jaxopt_prox: jaxopt.prox.prox_lasso(a - b, 0.1)
        jaxopt_simplex: jaxopt.projection.projection_simplex(a - b)
        jaxopt_box: jaxopt.projection.projection_box(a - b, (-1.0, 1.0))
        jaxopt_l2: jaxopt.projection.projection_l2_ball(a - b, 1.0)
        jaxopt_l1: jaxopt.projection.projection_l1_ball(a - b, 1.0)
        jaxopt_logistic: jaxopt.loss.binary_logistic_loss(a, b).mean()
        jaxopt_huber: jaxopt.loss.huber_loss(a, b).mean()
        jaxopt_sparsemax: jaxopt.projection.projection_simplex(a) * b
        jaxopt_bisection: jaxopt.Bisection(lambda v: v ** 3 - a.sum() * b.sum() - 1.0, 0.0, 100.0, maxiter=5, check_bracket=False).run().params
    """,
    "x: f32[n,3]; y: f32[n]": """
        gradient_descent: jaxopt.GradientDescent(lambda w: jnp.mean((x @ w - y) ** 2), maxiter=3).run(jnp.zeros(3)).params
        lbfgs: jaxopt.LBFGS(lambda w: jnp.mean((x @ w - y) ** 2), maxiter=3).run(jnp.zeros(3)).params
        nonlinear_cg: jaxopt.NonlinearCG(lambda w: jnp.mean((x @ w - y) ** 2), maxiter=3).run(jnp.zeros(3)).params
        proximal: jaxopt.ProximalGradient(lambda w: jnp.mean((x @ w - y) ** 2), jaxopt.prox.prox_lasso, maxiter=3).run(jnp.zeros(3), 0.1).params
        projected: jaxopt.ProjectedGradient(lambda w: jnp.mean((x @ w - y) ** 2), jaxopt.projection.projection_non_negative, maxiter=3).run(jnp.zeros(3)).params
        gauss_newton: jaxopt.GaussNewton(lambda w: x @ w - y, maxiter=2).run(jnp.zeros(3)).params
        optax_solver: jaxopt.PolyakSGD(lambda w: jnp.mean((x @ w - y) ** 2), maxiter=3).run(jnp.zeros(3)).params
        fixed_point: jaxopt.FixedPointIteration(lambda w: w - 0.1 * x.T @ (x @ w - y), maxiter=3).run(jnp.zeros(3)).params
        implicit: jax.grad(lambda l: jaxopt.GradientDescent(lambda w, l: jnp.mean((x @ w - y) ** 2) + l * (w ** 2).sum(), maxiter=3).run(jnp.zeros(3), l).params.sum())(0.1)
        lx_normal_cg: lx.linear_solve(lx.MatrixLinearOperator(x.T @ x + jnp.eye(3), lx.positive_semidefinite_tag), x.T @ y, lx.CG(1e-4, 1e-4), throw=False).value
    """,
}


def recipes():
    for arguments, bodies in DIFFRAX.items():
        for line in bodies.strip().splitlines():
            name, rest = line.strip().split(": ", 1)
            field, solver, start, more = [word.strip() for word in rest.split(" | ")] if rest.count(" | ") == 3 else \
                [word.strip() for word in rest.rstrip(" |").split(" | ")] + [""]
            body = ODE.format(field=field, solver=solver, start=start, more=more)
            yield Recipe(f"diffrax_{name}", arguments, body, sizes=tuple(("n", index) for index in (0, 2, 3, 4, 5)),
                         dtypes=())
    for arguments, bodies in OTHERS.items():
        for line in bodies.strip().splitlines():
            name, body = line.strip().split(": ", 1)
            yield Recipe(f"solve_{name}", arguments, body, sizes=tuple(("n", index) for index in (0, 2, 3, 4, 5)),
                         dtypes=())


RECIPES = list(recipes())
