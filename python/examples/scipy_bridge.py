"""scipy finds how stiff every element of a bridge has to be for the deck to sink by 8 cm."""
import numpy as np
import scipy.optimize

import cuttle

problem = cuttle.Problem(cuttle.load("arch_bridge").replace(time_step=0.05))
losses = []
found = scipy.optimize.minimize(
    problem, problem.start, jac=True, method="L-BFGS-B", bounds=scipy.optimize.Bounds(*problem.bounds),
    options={"maxiter": 15, "maxcor": 10}, callback=lambda y: losses.append(problem.fun(y)),
)  # fmt: skip
print(f"{problem!r}\nloss {problem.fun(problem.start):.3e} -> {found.fun:.3e} in {found.nfev} evaluations: {found.message}")
young = problem.values(found.x)[problem.slices[0].first :][: problem.slices[0].count]
print(f"Young's moduli from {young.min():.2e} to {young.max():.2e} Pa")
assert found.fun < 0.1 * problem.fun(problem.start)
pictures = [problem.picture(y, width=480, color_by="displacement") for y in (problem.start, found.x)]
cuttle.save_png("scipy_bridge.png", cuttle.beside(*pictures))
