"""Which stiffness does a beam have, given the path of its tip, as a camera would see it?"""
import numpy as np

import cuttle

model = cuttle.load("beam").replace(time_step=0.02, duration=0.4).model(threads=1)
tip = np.argmax(model.rest[:, 0])
truth = 2.3e5
model.set(young=truth)
seen = model.rollout().positions[:, tip] + 2e-3 * np.random.default_rng(0).standard_normal((model.steps + 1, 3))

log_young, paths = np.log(5e5), []
for iteration in range(12):  # secants of the exact gradient by the logarithm
    model.set(young=np.exp(log_young))
    rollout = model.rollout()
    paths.append(rollout.positions[:, tip, 1])
    error = rollout.positions[:, tip] - seen
    seed = np.zeros_like(rollout.positions)
    seed[:, tip] = error
    slope = rollout.gradient(positions=seed, by=("young",))["young"] @ model.get("young")
    print(f"{iteration:3d}  young {np.exp(log_young):.4g}  loss {0.5 * np.sum(error**2):.3e}")
    if iteration:
        curvature = (slope - before[1]) / (log_young - before[0])
        step = -slope / curvature if curvature > 0 else -np.sign(slope)
    else:
        step = -0.1 * np.sign(slope)
    if abs(step) < 1e-6:
        break
    before = (log_young, slope)
    log_young += np.clip(step, -1, 1)
print(f"found {np.exp(log_young):.4g} Pa, the truth is {truth:.4g} Pa")
assert abs(np.exp(log_young) / truth - 1) < 0.02
lines = {"seen": (rollout.times, seen[:, 1]), "start": (rollout.times, paths[0]), "found": (rollout.times, paths[-1])}
cuttle.plot("identify.png", lines, x_label="time, s", y_label="height of the tip, m")
