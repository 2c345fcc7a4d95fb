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
print("dL/d(control) is largest at step, muscle number:", np.unravel_index(gradient["control"].argmax(), controls.shape))
print(f"dL/d(log young) = {gradient['young'] @ model.get('young'):.2e} m")
rollout.save_picture("first_gradient.png")
