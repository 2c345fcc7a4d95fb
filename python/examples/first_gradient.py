"""How far does the octopus get in half a second, and how would its muscles have to change that?"""
import numpy as np

import cuttle

model = cuttle.load("octopus").model()
controls = np.full((25, model.control_size), 0.1)
rollout = model.rollout(controls)
weight = model.node_mass / model.mass
print(f"it moves by {weight @ (rollout.positions[-1, :, 1] - rollout.positions[0, :, 1]):.4f} m along y")

seed = np.zeros_like(rollout.positions)  # dL/d(positions), L = height of the centre of mass at the end
seed[-1, :, 1] = weight
gradient = rollout.gradient(positions=seed, by=("control", "young"))
step, muscle = divmod(int(gradient["control"].argmax()), model.control_size)
print(f"dL/d(control) is largest at step {step}, muscle number {muscle}: {gradient['control'].max():.2e} m")
print(f"dL/d(log young) = {gradient['young'] @ model.get('young'):.2e} m")

better = model.rollout(np.clip(controls + 0.4 * np.sign(gradient["control"]), 0, 0.5))  # one step along it
print(f"with muscles changed along the gradient: {weight @ (better.positions[-1, :, 1] - better.positions[0, :, 1]):.4f} m")
cuttle.save_png("first_gradient.png", cuttle.beside(rollout.picture(), better.picture()))
