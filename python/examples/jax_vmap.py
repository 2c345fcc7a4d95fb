"""How far a beam sags over its stiffness, and the slope of that, by one jitted vmap."""
import jax
import numpy as np

jax.config.update("jax_enable_x64", True)

import cuttle  # noqa: E402
import cuttle.jax as cj  # noqa: E402

model = cuttle.load("beam").replace(time_step=0.02, duration=0.2).model(threads=1)
tip = int(np.argmax(model.rest[:, 0]))


def sag(log_young):
    motion = cj.rollout(model, young=jax.numpy.exp(log_young))
    return motion.positions[0, tip, 1] - motion.positions[-1, tip, 1]


young = np.geomspace(5e5, 5e7, 24)
sags, slopes = jax.jit(jax.vmap(jax.value_and_grad(sag)))(np.log(young))
for row in list(zip(young, sags, slopes))[::6]:
    print("young {:.2e} Pa: sags by {:.4f} m, {:.4f} m per factor of e".format(*row))
between = np.gradient(np.asarray(sags), np.log(young), edge_order=2)
assert np.abs(between[1:-1] - slopes[1:-1]).max() < 0.1 * np.abs(slopes).max()
lines = {"sag": (young, sags), "-d(sag)/d(log young)": (young, -slopes)}
cuttle.plot("jax_vmap.png", lines, x_label="stiffness, Pa", y_label="m", log_x=True)
