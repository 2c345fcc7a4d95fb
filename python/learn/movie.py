"""A movie of the octopus on its way to three targets that it was not trained on, the last one against a current.

    python3 python/learn/movie.py -o results/swim          # after analytic.py; policy.pt -> three_targets.mp4, .png
"""
import argparse
import math
import os
from typing import Any, List, NamedTuple

import numpy as np
import torch

import cuttle
from cuttle.picture import draw_file, save_movie
from swim import HOLD, NEAR, Aims, Body, Policy, swim

STAY = 1.6  # s, for which it stays at a target
FLOW = (0.0, -0.05, 0.0)  # m/s, on the way to the last target


class Leg(NamedTuple):
    """The way to one target."""

    target: Any
    current: Any
    start: cuttle.State
    controls: Any  # a row per step
    distances: Any  # m, per action


def travel(body: Body, policy: Any, seed: int, seconds: float = 14.0) -> List[Leg]:
    """From rest to three targets, each in the cone of where the last one left it."""
    aims, state, age, legs = Aims(seed), body.model.state(), 0.0, []
    for k in range(3):
        x = torch.from_numpy(state.positions[None].copy())
        target = aims.target(body.center(x)[0].numpy(), body.frame(x)[0, :, 1].numpy())
        current = torch.tensor(FLOW if k == 2 else (0.0, 0, 0), dtype=torch.float64)
        course = swim(body, policy, target[None], current, seconds + (4 if k == 2 else 0), [state], age)
        far, stay = course.distances[:, 0], round(STAY / (HOLD * body.model.time_step))
        near = np.convolve(far < NEAR, np.ones(stay), "valid") == stay
        last = len(far) - 1 if k == 2 or not near.any() else int(np.argmax(near)) + stay - 1
        controls = np.repeat(course.controls[:last, 0], HOLD, axis=0)
        legs.append(Leg(target.numpy(), current.numpy(), state, controls, far[: last + 1]))
        state, age = body.model.rollout(controls, state=state).final, age + len(controls) * body.model.time_step
        print(f"target {k + 1} at {np.round(target.numpy(), 2)}: {far[0]:.2f} m -> {far[last]:.3f} m in {len(controls) * 0.02:.1f} s")
    return legs


def camera(body: Body, legs: List[Leg]) -> Any:
    """From where all of it is seen."""
    places = np.array([[0.0, 0, 0]] + [leg.target for leg in legs])
    middle = 0.5 * (places.min(0) + places.max(0))
    size = max(np.linalg.norm(places - middle, axis=1).max() + 0.45, 0.9)
    eye = middle + size / math.tan(math.radians(17)) * np.array([0.35, 0.18, 0.92])
    return {"eye": eye.tolist(), "target": middle.tolist(), "field_of_view": 34}


def film(body: Body, legs: List[Leg], directory: str, width: int, height: int, rate: float, name: str) -> None:
    pictures: List[Any] = []
    sheet: List[Any] = []
    model, stride = body.model, round(1 / (rate * body.model.time_step))
    for k, leg in enumerate(legs):
        model.set(water_current=leg.current)
        rollout = model.rollout(leg.controls, state=leg.start)
        path = os.path.join(directory, f"{name}_{k + 1}.h5")
        rollout.save(path)
        title = f"target {k + 1}" + (f", current {np.linalg.norm(leg.current):.2f} m/s" if leg.current.any() else "")
        frames = list(range(0, rollout.steps + 1, stride))
        pictures += draw_file(path, frames, width, height, "activation", leg.target, title, (0, 1))
        sheet.append(draw_file(path, [rollout.steps], width, height, "activation", leg.target, title, (0, 1))[0])
    save_movie(os.path.join(directory, f"{name}.mp4"), pictures, rate)
    cuttle.save_png(os.path.join(directory, f"{name}.png"), cuttle.beside(*(p[::2, ::2] for p in sheet)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", default="results/swim")
    parser.add_argument("--seed", type=int, default=2026, help="of the targets")
    parser.add_argument("--size", default="960x720")
    parser.add_argument("--rate", type=float, default=25, help="pictures per second")
    options = parser.parse_args()
    torch.set_num_threads(1)
    policy = Policy()
    policy.load_state_dict(torch.load(os.path.join(options.output, "policy.pt")))
    body = Body()
    legs = travel(body, policy, options.seed)
    seen = Body(view=camera(body, legs))
    width, height = (int(n) for n in options.size.split("x"))
    for k, leg in enumerate(legs):  # the same states, of the model that has the camera
        state = seen.model.state()
        state.restore(leg.start.tobytes())
        legs[k] = leg._replace(start=state)
    film(seen, legs, options.output, width, height, options.rate, "three_targets")


if __name__ == "__main__":
    main()
