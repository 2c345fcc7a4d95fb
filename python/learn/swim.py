"""An octopus that shall swim to a target and stay there, whatever the current: what it sees, and what its legs do.

One small network drives a leg; all eight share it. Each leg sees the target, its own motion and the current in a frame
that turns with the mantle and has the leg along x:

    B     = Gram-Schmidt(sum_i x_i p_i^T)            p = m r C^-1, r: mantle at rest, C = sum m r r^T
    seen  = R_leg B^T (target - center, velocity, spin, current), clock, own activations
    action = sigmoid(gait(clock) + network(seen)) in [0, 1], held for HOLD steps

What is learnt for one direction so holds for those an eighth of a turn apart, too. The gait is a Fourier series; it begins as
that of the mean leg in what `cuttle optimize scenes/octopus.json` finds for one target in 17 episodes, and is learnt on.
"""
import math
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import torch

import cuttle
import cuttle.torch as ct

LEGS, OWN = 8, 8  # legs; muscle segments of each
SEEN = 16 + OWN  # numbers that a leg sees
HOLD = 3  # steps that an action is held for: 0.06 s
PERIOD = 0.69  # s, of the clock
NEAR = 0.1  # m, from the target: it is reached
REACH = (0.6, 1.2)  # m, how far targets are
CONE = math.radians(50)  # from the mantle's axis to the target, at most
CURRENT = 0.06  # m/s, at most

# Of each segment, inner ones first: mean, then cos and sin of the clock and of twice the clock.
GAIT = [
    [0.27, 0.08, -0.26, -0.31, 0.04], [0.23, 0.06, -0.19, -0.24, 0.10], [0.25, 0.01, 0.00, -0.20, 0.12],
    [0.32, 0.11, 0.37, -0.02, 0.13], [0.27, -0.14, 0.10, 0.23, 0.10], [0.26, -0.16, 0.13, 0.17, 0.07],
    [0.28, -0.17, 0.22, 0.04, 0.03], [0.36, -0.13, 0.35, -0.04, 0.04],
]  # fmt: skip

Tensor = torch.Tensor


class Body:
    """The octopus's model, and how to see it."""

    def __init__(self, view: Any = None, tolerance: float = 0.0) -> None:
        scene = cuttle.load("octopus")
        scene = scene.replace(view=view) if view else scene
        self.model = (scene.replace(solver={"tolerance": tolerance}) if tolerance else scene).model(threads=1)
        self.pool = cuttle.Pool(self.model, threads=1)
        rest, mass = self.model.rest, self.model.node_mass
        self.mantle = torch.from_numpy(np.flatnonzero(rest[:, 1] > 0.03))
        m, r = mass[self.mantle], rest[self.mantle]
        r = r - m @ r / m.sum()
        self.axes = torch.from_numpy((m[:, None] * r) @ np.linalg.inv((m[:, None] * r).T @ r))
        self.weight = torch.from_numpy(mass / mass.sum())
        angle = (2 * torch.arange(LEGS, dtype=torch.float64) + 1) * math.pi / LEGS
        c, s, o = torch.cos(angle), torch.sin(angle), torch.zeros(LEGS, dtype=torch.float64)
        self.turn = torch.stack([c, o, s, o, o + 1, o, -s, o, c], -1).reshape(LEGS, 3, 3)
        self.start = ct.initial(self.model)

    def center(self, x: Tensor) -> Tensor:
        return torch.einsum("bni,n->bi", x, self.weight)

    def frame(self, x: Tensor) -> Tensor:
        """(batch, 3, 3), its columns the mantle's axes; the second is where it swims to."""
        f = torch.einsum("bni,nj->bij", x[:, self.mantle], self.axes)
        up = torch.nn.functional.normalize(f[:, :, 1], dim=1)
        side = f[:, :, 0] - (f[:, :, 0] * up).sum(1, keepdim=True) * up
        side = torch.nn.functional.normalize(side, dim=1)
        return torch.stack([side, up, torch.cross(side, up, dim=1)], -1)

    def see(self, x: Tensor, v: Tensor, activation: Tensor, target: Tensor, current: Tensor, age: Tensor) -> Tensor:
        """What each leg sees: (batch, LEGS, SEEN)."""
        b = self.frame(x)
        away = target - self.center(x)
        far = away.square().sum(1, keepdim=True)
        spin = torch.einsum("bij,bik->bjk", b, torch.einsum("bni,nj->bij", v[:, self.mantle], self.axes))
        turning = torch.stack([spin[:, 2, 1] - spin[:, 1, 2], spin[:, 0, 2] - spin[:, 2, 0], spin[:, 1, 0] - spin[:, 0, 1]], 1)
        world = torch.stack([away / (far + 0.15**2).sqrt(), self.center(v) / 0.2, current / 0.1], 1)
        own = torch.cat([torch.einsum("bij,bki->bkj", b, world), 0.5 * turning[:, None]], 1)
        vectors = torch.einsum("lij,bkj->blki", self.turn, own).reshape(len(x), LEGS, 12)
        phase = 2 * math.pi * age / PERIOD
        waves = [phase.cos(), phase.sin(), (2 * phase).cos(), (2 * phase).sin()]
        clock = torch.stack(waves, -1)[:, None].expand(-1, LEGS, -1)
        return torch.cat([vectors, clock, activation.reshape(len(x), LEGS, OWN)], -1)


def start_gait() -> Tensor:
    """(OWN, 5): what leads to GAIT by way of the sigmoid, which is steepest with 1/4, and somewhat more."""
    gait = 4 * torch.tensor(GAIT)
    gait[:, 0] -= 2
    gait[:, 1:] *= 1.4
    return gait


def beat(gait: Tensor, seen: Tensor) -> Tensor:
    """The gait at the legs' clocks: (..., LEGS, OWN)."""
    return gait[:, 0] + seen[..., 12:16] @ gait[:, 1:].T


class Policy(torch.nn.Module):
    """From what the legs see to their activations."""

    def __init__(self, width: int = 48) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(SEEN, width), torch.nn.Tanh(), torch.nn.Linear(width, width), torch.nn.Tanh(),
            torch.nn.Linear(width, OWN),
        ).double()  # fmt: skip
        self.gait = torch.nn.Parameter(start_gait().double())
        with torch.no_grad():
            self.net[-1].weight *= 0.1
            self.net[-1].bias.zero_()

    def forward(self, seen: Tensor) -> Tensor:
        """(batch, controls)"""
        return torch.sigmoid(self.net(seen) + beat(self.gait, seen)).flatten(1)


class Aims:
    """Targets and currents, at random."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def target(self, center: Any, axis: Any, reach: Tuple[float, float] = REACH) -> Tensor:
        """In a cone around the axis, evenly by solid angle and distance."""
        cos = self.random.uniform(math.cos(CONE), 1)
        angle, far = self.random.uniform(0, 2 * math.pi), self.random.uniform(*reach)
        axis = np.asarray(axis) / np.linalg.norm(axis)
        side = np.cross(axis, [1.0, 0, 0] if abs(axis[0]) < 0.7 else [0, 0, 1.0])
        side /= np.linalg.norm(side)
        across = math.cos(angle) * side + math.sin(angle) * np.cross(axis, side)
        return torch.from_numpy(np.asarray(center) + far * (cos * axis + math.sqrt(1 - cos * cos) * across))

    def current(self) -> Tensor:
        """Mostly from above: what sinks away from the cone."""
        if self.random.uniform() < 0.4:
            return torch.zeros(3, dtype=torch.float64)
        way = np.array([0, -1.0, 0]) + 0.6 * self.random.standard_normal(3)
        return torch.from_numpy(CURRENT * self.random.uniform(0.2, 1) * way / np.linalg.norm(way))


class Course(NamedTuple):
    """A motion under a policy."""

    distances: np.ndarray  # (actions + 1, batch), m
    controls: np.ndarray  # (actions, batch, controls)
    failed: np.ndarray  # (batch,)
    final: List[cuttle.State]


def swim(
    body: Body,
    policy: Any,
    targets: Tensor,
    current: Optional[Tensor] = None,
    seconds: float = 10.0,
    states: Optional[Sequence[cuttle.State]] = None,
    age: float = 0.0,
) -> Course:
    """Swims to targets (batch, 3) side by side, without derivatives."""
    model, count = body.model, len(targets)
    flow = torch.zeros(3, dtype=torch.float64) if current is None else current
    model.set(water_current=flow.numpy())
    now = [s.copy() for s in states] if states is not None else [model.state() for _ in range(count)]
    failed, distances, controls = np.zeros(count, bool), [], []
    for k in range(round(seconds / (HOLD * model.time_step)) + 1):
        x, v, a = (torch.from_numpy(np.stack([getattr(s, n) for s in now])) for n in ("positions", "velocities", "actuation"))
        distances.append((body.center(x) - targets).norm(dim=1).numpy())
        if k == round(seconds / (HOLD * model.time_step)):
            break
        with torch.no_grad():
            t = torch.full((count,), age + k * HOLD * model.time_step, dtype=torch.float64)
            u = policy(body.see(x, v, a, targets, flow.expand(count, 3), t)).numpy()
        controls.append(u)
        for _ in range(HOLD):
            failed |= np.array([e is not None for e in body.pool.step(now, u)])
    return Course(np.array(distances), np.array(controls), failed, now)


def exam(body: Body, policy: Any, seed: int = 1000, count: int = 8, currents: int = 4, seconds: float = 12.0) -> Tuple[Any, Any]:
    """Held-out targets from rest, `count` in still water and as many in some currents: rows of (start, final, least
    distance; m), the final one a mean over the last 2 s."""
    aims, tables = Aims(seed), []
    last = round(2.0 / (HOLD * body.model.time_step))
    for flow in [torch.zeros(3, dtype=torch.float64)] + [_some_current(aims) for _ in range(currents)]:
        some = count // currents if tables else count
        targets = torch.stack([aims.target(np.zeros(3), [0, 1.0, 0]) for _ in range(some)])
        course = swim(body, policy, targets, flow, seconds)
        d = np.where(course.failed, np.nan, course.distances)
        tables.append(np.stack([d[0], d[-last:].mean(0), d.min(0)], 1))
    return tables[0], np.concatenate(tables[1:]) if currents else np.zeros((0, 3))


def _some_current(aims: Aims) -> Tensor:
    while True:
        flow = aims.current()
        if flow.norm() > 0.5 * CURRENT:
            return flow


def report(rows: Any) -> str:
    """An exam in words."""
    return (
        f"{100 * np.mean(rows[:, 1] < NEAR):.0f} % stay within {NEAR} m, {100 * np.mean(rows[:, 2] < NEAR):.0f} % come there; "
        f"mean distance {np.nanmean(rows[:, 0]):.2f} -> {np.nanmean(rows[:, 1]):.3f} m"
    )
