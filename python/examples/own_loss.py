"""A loss of one's own, in numpy: a ball is to linger at a hoop. Found: the throw that turns around there."""
import numpy as np

import cuttle

problem = cuttle.Problem(cuttle.load("throw").replace(objective=[], optimizer={"method": "lbfgs"}))
hoop, near = np.array([0.9, 0.7, 0.0]), 0.4  # m
path = np.zeros((problem.steps + 1, 3))


def term(step, x, v):
    """L = -sum over states of exp(-|center - hoop|^2 / near^2), and its derivative by positions and velocities."""
    path[step] = x.mean(0)
    away = (path[step] - hoop) / near
    value = np.exp(-away @ away)
    return -value, np.tile(2 * value * away / near / len(x), (len(x), 1)), None


problem.set_term(term)
start = problem.start + np.tile([1.0, 2.0, 0.0], len(problem.start) // 3)
print(f"{-problem.fun(start):.1f} of {problem.steps} states are near the hoop")
thrown = path.copy()
best = problem.optimize(start, iterations=30, progress=lambda now: print(f"{now.iteration:3d}  {-now.loss:.3f}"))
print(f"{-problem.fun(best.y):.1f} of them now, thrown with {np.round(problem.values(best.y), 2)} m/s")
assert best.loss < -20
lines = {"first throw": tuple(thrown[:, :2].T), "found": tuple(path[:, :2].T), "hoop": ([0.85, 0.95], [0.7, 0.7])}
cuttle.plot("own_loss.png", lines, x_label="x, m", y_label="height, m")
