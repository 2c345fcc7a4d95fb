"""A loss of one's own, in numpy, minimised over the parameters of a scene: throw the body as high as it goes."""
import numpy as np

import cuttle

problem = cuttle.Problem("throw")


def term(step, x, v):  # value, dL/dx, dL/dv of every state
    if step != problem.steps:
        return 0.0, None, None
    return -x[:, 1].mean(), np.tile([0.0, -1 / len(x), 0.0], (len(x), 1)), None


problem.set_term(term)
start = problem.fun(problem.start)
best = problem.optimize(iterations=10, progress=lambda now: print(f"{now.iteration:3d}  {now.loss:.4f}"))
print(f"{start:.4f} -> {best.loss:.4f}: {best.reason}")
assert best.loss < start
problem.record("own_loss.h5", best.y)
