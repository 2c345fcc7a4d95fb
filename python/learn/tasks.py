"""Tasks for rl.py: the scenes of `cuttle experiment`, and the octopus of swim.py."""
from typing import Any, Tuple

import numpy as np
import torch

import cuttle
import cuttle.gym
from swim import HOLD, LEGS, OWN, SEEN, Aims, Body, beat, start_gait

SMOOTH = 0.5  # share of the new action in what is done
PUSH = 4.0  # what an action of 1 adds to the gait of swim.py, before the sigmoid

# Steps that an action is held for; bounds of the controls where the scene has none: 3 times what it scales them by.
REPEAT = {"gripper": 2, "octopus": 8, "fish": 2}
TOLERANCE = {"octopus": 1e-2, "gripper": 1e-3}  # of steps, where it is not the scene's: faster by 2 and 1.4
FISH = np.array([0.9, 0.9, 0.45, 0.15, 0.15])


class SceneTask:
    """An environment of cuttle.gym. Rewards are how much nearer the body came, so that their sum is what the experiment
    measures: how far it is in the end."""

    def __init__(self, name: str, count: int, start: float = 0.0) -> None:
        scene = cuttle.load(name)
        if name in TOLERANCE:
            scene = scene.replace(solver={"tolerance": TOLERANCE[name]})
        model = scene.model(threads=1)
        self.objective = cuttle.Objective(model.scene)
        document = model.scene.to_dict()
        term = document["objective"][0]
        self._root, self._weight = term.get("norm") != "distance", float(term.get("weight", 1))
        repeat = REPEAT[name]
        self.envs = cuttle.gym.make_vec(
            model, count, threads=1, repeat=repeat, reward=lambda state, action: -self.distance(state),
            act=(-FISH, FISH) if name == "fish" else None,
        )  # fmt: skip
        self.count, self.length = count, self.envs.task.steps
        self.actions = model.control_size
        self.size = self.envs.single_observation_space.shape[0] + self.actions + 1
        self.start = start or self.distance(model.state())

    def distance(self, state: cuttle.State) -> float:
        """m, as in the experiment's tables."""
        value = next(iter(self.objective.terms(state).values()))[0] / self._weight
        return float(np.sqrt(value)) if self._root else float(value)

    def _see(self, seen: Any) -> Any:
        return np.concatenate([seen, self._done, np.full((self.count, 1), 2 * self._taken / self.length - 1)], 1)

    def reset(self) -> Any:
        seen, _ = self.envs.reset(seed=0)
        self._done, self._taken = np.zeros((self.count, self.actions)), 0
        self._far = np.full(self.count, self.distance(self.envs.states[0]))
        self._over = np.zeros(self.count, bool)
        self.final = np.full(self.count, np.nan)
        self.losses = np.full(self.count, np.nan)
        return self._see(seen)

    def step(self, actions: Any) -> Tuple[Any, Any, Any]:
        self._done += SMOOTH * (np.clip(actions, -1, 1) - self._done)
        low, high = self.envs.task.low, self.envs.task.high
        seen, minus, failed, _, _ = self.envs.step(low + 0.5 * (self._done + 1) * (high - low))
        self._taken += 1
        reward = np.where(self._over, 0, (self._far + minus) / self.start)
        reward[failed & ~self._over] = -1
        self._far = -minus
        self._over |= failed
        if self._taken == self.length:
            for i in np.flatnonzero(~self._over):
                self.final[i], self.losses[i] = self._far[i], self.objective(self.envs.states[i])
        return self._see(seen), 10 * reward, failed


class LegActor(torch.nn.Module):
    """The network of swim.Policy, for what SwimTask shows."""

    def __init__(self, outputs: int, width: int = 48) -> None:
        super().__init__()
        self.outputs = outputs
        self.net = torch.nn.Sequential(
            torch.nn.Linear(SEEN + OWN, width), torch.nn.Tanh(), torch.nn.Linear(width, width), torch.nn.Tanh(),
            torch.nn.Linear(width, outputs * OWN),
        )  # fmt: skip

    def forward(self, seen: torch.Tensor) -> torch.Tensor:
        legs = seen[..., :-1].reshape(*seen.shape[:-1], LEGS, SEEN + OWN)
        out = self.net(legs).reshape(*seen.shape[:-1], LEGS, self.outputs, OWN)
        return out.transpose(-3, -2).flatten(-3)  # means of all legs, then what comes after


def pushed(seen: torch.Tensor, done: Any) -> torch.Tensor:
    """Activations: the gait that analytic.py begins with, too, and what is added to it."""
    push = PUSH * torch.from_numpy(done).reshape(len(done), LEGS, OWN)
    return torch.sigmoid(beat(start_gait().double(), seen) + push).flatten(1)


class SwimTask:
    """What analytic.py learns, with rewards instead of derivatives: how much nearer to its target an octopus came."""

    def __init__(self, body: Body, count: int, seed: int, seconds: float = 9.6) -> None:
        self.body, self.count, self.aims = body, count, Aims(seed)
        self.length = round(seconds / (HOLD * body.model.time_step))
        self.actions, self.size = LEGS * OWN, LEGS * (SEEN + OWN) + 1
        self.states = [body.model.state() for _ in range(count)]

    def actor(self, outputs: int) -> torch.nn.Module:
        return LegActor(outputs)

    def see(self) -> Any:
        x, v, a = (
            torch.from_numpy(np.stack([getattr(s, n) for s in self.states])) for n in ("positions", "velocities", "actuation")
        )
        self.far = (self.body.center(x) - self.targets).norm(dim=1).numpy()
        self.seen = seen = self.body.see(x, v, a, self.targets, self.current.expand(self.count, 3), self.age)
        done = torch.from_numpy(self.done).reshape(self.count, LEGS, OWN)
        left = np.full((self.count, 1), 1 - 2 * self.taken / self.length)
        return np.concatenate([torch.cat([seen, done], -1).flatten(1).numpy(), left], 1)

    def reset(self) -> Any:
        self.current = self.aims.current()
        self.body.model.set(water_current=self.current.numpy())
        self.states = [self.body.model.state() for _ in range(self.count)]
        self.targets = torch.stack([self.aims.target(np.zeros(3), [0, 1.0, 0]) for _ in range(self.count)])
        self.age = torch.from_numpy(self.aims.random.uniform(0, 10, self.count))
        self.done, self.taken, self.over = np.zeros((self.count, self.actions)), 0, np.zeros(self.count, bool)
        return self.see()

    def step(self, actions: Any) -> Tuple[Any, Any, Any]:
        self.done += SMOOTH * (np.clip(actions, -1, 1) - self.done)
        failed, before = np.zeros(self.count, bool), self.far
        control = pushed(self.seen, self.done).numpy()
        for _ in range(HOLD):
            failed |= np.array([e is not None for e in self.body.pool.step(self.states, control)])
        self.taken += 1
        self.age = self.age + HOLD * self.body.model.time_step
        now = self.see()
        reward = np.where(self.over, 0, before - self.far)
        self.over |= failed
        return now, 10 * reward, failed


class SwimPolicy:
    """What PPO or SAC learnt, as a policy of swim.exam: actions from what legs see."""

    def __init__(self, task: SwimTask, method: Any) -> None:
        self.task, self.method, self.done = task, method, None  # type: Any, Any, Any

    def __call__(self, seen: torch.Tensor) -> torch.Tensor:
        count = len(seen)
        if self.done is None or len(self.done) != count or self.taken >= self.task.length:
            self.done, self.taken = np.zeros((count, self.task.actions)), 0
        legs = torch.cat([seen, torch.from_numpy(self.done).reshape(count, LEGS, OWN)], -1).flatten(1).numpy()
        left = np.full((count, 1), 1 - 2 * min(1.0, self.taken / self.task.length))
        actions = self.method(np.concatenate([legs, left], 1))
        self.done = self.done + SMOOTH * (np.clip(actions, -1, 1) - self.done)
        self.taken += 1
        return pushed(seen, self.done)
