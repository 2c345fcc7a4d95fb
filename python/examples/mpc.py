"""Model predictive control by forward mode: an elastic arm with four muscles draws a circle with its tip.

At every step the next few are linearised along the muscles, a direction each, and a small least-squares problem gives
what the muscles do next.
"""
import numpy as np

import cuttle

SIZE = 0.1
corners = [(y, z) for y in (0.02, 0.08) for z in (0.02, 0.08)]
scene = cuttle.Scene(
    bodies=[{"name": "arm", "box": {"size": [0.6, SIZE, SIZE], "cells": [12, 2, 2]},
             "material": {"young": 1e5, "poisson": 0.4, "density": 1000, "damping": {"stiffness": 0.02}}}],
    pins=[{"select": {"box": [[-1, -1, -1], [1e-6, 1, 1]]}}],
    muscles=[{"name": f"m{i}", "body": "arm", "points": [[0, y, z], [0.6, y, z]], "radius": 0.04, "stiffness": 2e5,
              "activation_time": 0.02} for i, (y, z) in enumerate(corners)],
    controls=[{"name": f"m{i}", "actuator": f"m{i}"} for i in range(4)],
    gravity=[0, 0, 0], time_step=0.02, duration=2,
)  # fmt: skip
model = scene.model(threads=1)
tip = int(np.argmin(np.linalg.norm(model.rest - [0.6, SIZE / 2, SIZE / 2], axis=1)))
where = model.parts["position"].start + 3 * tip
horizon, effort, limit = 8, 1e-5, 0.6


def look_ahead(state, control):
    """The path of the tip, y and z, under a control that is held, and its derivative by the control."""
    dots, places, slopes = np.zeros((4, model.state_size)), [], []
    for _ in range(horizon):
        state, dots = model.step_jvp(state, dots, control, control_dots=np.eye(4))
        places.append(state.positions[tip, 1:].copy())
        slopes.append(dots[:, where + 1 : where + 3].T)
    return np.concatenate(places), np.concatenate(slopes)


def least_squares(J, right):
    """|J u - right|^2 + effort |u|^2 with 0 <= u <= limit, by projected gradients."""
    A, b, u = J.T @ J + effort * np.eye(4), J.T @ right, np.zeros(4)
    for _ in range(500):
        u = np.clip(u - (A @ u - b) / np.linalg.norm(A, 2), 0, limit)
    return u


def target(step):
    angle, radius = 2 * np.pi * step / 60, 0.06 * min(1, step / 20)
    return np.array([0.05 + radius * np.cos(angle), 0.05 + radius * np.sin(angle)])


state, control, path = model.state(), np.zeros(4), []
for step in range(100):
    wanted = np.concatenate([target(step + 1 + i) for i in range(horizon)])
    reached, J = look_ahead(state, control)
    control = least_squares(J, wanted - reached + J @ control)
    state.step(control)
    path.append(state.positions[tip, 1:].copy())
path, goal = np.array(path), np.array([target(step + 1) for step in range(100)])
error = np.linalg.norm((path - goal)[30:], axis=1)
print(f"the tip is {1e3 * error.mean():.1f} mm off the circle on average, {1e3 * error.max():.1f} mm at most")
assert error.mean() < 0.01
cuttle.plot("mpc.png", {"target": tuple(goal.T), "tip": tuple(path.T)}, "y, m", "z, m", height=700)
