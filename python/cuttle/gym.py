"""Environments for reinforcement learning (gymnasium).

    env = cuttle.gym.make("finger")
    envs = cuttle.gym.make_vec("finger", 64)                # all stepped at a time by the library

A step that does not converge ends the episode (`terminated`, with the reason in info["error"]). Actions are clipped to
what the scene's parameters bound.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ._core import Array, BadArgument, Error, lib
from .model import Model, State
from .observe import Observation
from .pool import Pool
from .problem import Objective
from .scene import Path, Scene, load

Observe = Union[Callable[[State], Array], Sequence[Mapping[str, Any]]]
Reward = Callable[[State, Array], float]

# Where the scene's parameters bound nothing: controls by kind, in their own units.
_BOUNDS = {
    "activation": (0.0, 1.0),
    "pressure": (0.0, 1e4),
    "torque": (-1.0, 1.0),
    "target": (-1.0, 1.0),
    "force": (-1.0, 1.0),
    "move": (-0.01, 0.01),
    "drive": (-0.1, 0.1),
    "tension": (0.0, 10.0),
    "length": (-0.1, 0.0),
}
ENVIRONMENTS = ("octopus", "fish", "gripper", "arm", "finger", "tentacle")


def control_bounds(model: Model) -> Tuple[Array, Array]:
    """Lower and upper bounds of a control vector: the scene's parameters', or those of the control's kind."""
    lower, upper = np.zeros(model.control_size), np.zeros(model.control_size)
    given = {
        p.get("control"): p for p in model.scene.to_dict().get("parameters", []) if p.get("type") == "control"
    }
    for control in model.controls:
        low, high = _BOUNDS.get(control.kind, (-1.0, 1.0))
        own = given.get(control.name, {})
        where = slice(control.first, control.first + control.count)
        lower[where], upper[where] = own.get("lower", low), own.get("upper", high)
    return lower, upper


def observe_bodies(model: Model) -> Observation:
    """Mean position (less that at rest) and velocity of every body, coordinates and rates of joints, actuation."""
    entries: List[Dict[str, Any]] = []
    for nodes in (model.body_nodes(b) for b in range(model.bodies)):
        entries += [{"position": nodes}, {"velocity": nodes}] if len(nodes) else []
    for k, name in enumerate(model.link_names):
        if int(lib.ct_model_link_info(model._pointer, k).ncoordinate):
            entries += [{"joint": name}, {"rate": name}]
    entries += [{"actuation": name} for name in model.actuator_names]
    return Observation(model, entries)


def reward_objective(model: Model) -> Reward:
    """Less the scene's objective, as if each state were the last; a scene without one: how far its bodies came along x."""
    if model.scene.to_dict().get("objective"):
        objective = Objective(model.scene)
        return lambda state, action: -objective(state)
    mass, start = model.node_mass / model.node_mass.sum(), model.rest[:, 0]
    return lambda state, action: float(mass @ (state.positions[:, 0] - start))


class _Task:
    """What single environments and vectors of them share."""

    def __init__(
        self,
        scene: Union[Scene, Path, Model],
        observe: Optional[Observe],
        reward: Optional[Reward],
        act: Optional[Tuple[Any, Any]],
        steps: Optional[int],
        repeat: int,
        noise: float,
    ) -> None:
        self.model = scene if isinstance(scene, Model) else Model(scene, threads=1)
        model = self.model
        if not model.control_size:
            raise BadArgument(f"the scene {model.name!r} has no controls: there is nothing to act with")
        if repeat < 1:
            raise BadArgument(f"an action lasts at least one step, not {repeat}")
        if observe is None:
            observe = observe_bodies(model)
        self.observe: Callable[[State], Array] = observe if callable(observe) else Observation(model, observe)
        self.reward = reward or reward_objective(model)
        self.low, self.high = control_bounds(model) if act is None else (np.asarray(a, np.float64) for a in act)
        self.low, self.high = (np.broadcast_to(a, (model.control_size,)) for a in (self.low, self.high))
        self.steps = model.steps // repeat if steps is None else steps
        self.repeat, self.noise, self.start = repeat, noise, model.state()
        size = len(self.observe(self.start))
        self.observation_space = spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self.action_space = spaces.Box(self.low.astype(np.float32), self.high.astype(np.float32), dtype=np.float32)

    def clip(self, action: Any) -> Array:
        return np.clip(np.asarray(action, np.float64), self.low, self.high)

    def reset(self, state: State, random: np.random.Generator) -> None:
        state.restore(self.start.tobytes())
        if self.noise > 0:
            state.set(velocities=state.velocities + self.noise * random.standard_normal(3))


class Env(gymnasium.Env):  # type: ignore[misc]
    """A scene as an environment.

    observe(state) -> numbers, an `Observation` or its entries; reward(state, action) -> number; act: (lower, upper)
    bounds of actions; steps: actions of an episode; repeat: steps for which an action holds; noise: m/s, of the velocity
    that an episode begins with.
    """

    metadata: Dict[str, Any] = {"render_modes": []}

    def __init__(
        self,
        scene: Union[Scene, Path, Model],
        observe: Optional[Observe] = None,
        reward: Optional[Reward] = None,
        act: Optional[Tuple[Any, Any]] = None,
        steps: Optional[int] = None,
        repeat: int = 1,
        noise: float = 0.0,
    ) -> None:
        self.task = _Task(scene, observe, reward, act, steps, repeat, noise)
        self.model, self.state = self.task.model, self.task.model.state()
        self.observation_space, self.action_space = self.task.observation_space, self.task.action_space
        self._taken = 0

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Any:
        super().reset(seed=seed)
        self._taken = 0
        self.task.reset(self.state, self.np_random)
        return self.task.observe(self.state), {}

    def step(self, action: Any) -> Any:
        control, info, failed = self.task.clip(action), {}, False
        try:
            for _ in range(self.task.repeat):
                self.model.step(self.state, control)
        except Error as error:
            info["error"], failed = str(error), True
        self._taken += 1
        seen = self.task.observe(self.state)
        return seen, float(self.task.reward(self.state, control)), failed, self._taken >= self.task.steps, info

    def __repr__(self) -> str:
        return f"<Env of {self.model!r}>"


class VectorEnv(gymnasium.vector.VectorEnv):  # type: ignore[misc]
    """Many environments of one model, stepped at a time by the library. An episode that ends begins anew at the next
    step (gymnasium's next-step autoreset)."""

    def __init__(self, scene: Union[Scene, Path, Model], count: int, threads: Optional[int] = None, **keys: Any) -> None:
        options: Dict[str, Any] = {"observe": None, "reward": None, "act": None, "steps": None, "repeat": 1, "noise": 0.0}
        options.update(keys)
        self.task = _Task(scene, **options)
        self.model, self.num_envs = self.task.model, count
        self.pool = Pool(self.model, threads)
        self.states = [self.model.state() for _ in range(count)]
        self.single_observation_space, self.single_action_space = self.task.observation_space, self.task.action_space
        batch = gymnasium.vector.utils.batch_space
        self.observation_space = batch(self.single_observation_space, count)
        self.action_space = batch(self.single_action_space, count)
        self._taken = np.zeros(count, int)
        self._over = np.zeros(count, bool)
        self._random = np.random.default_rng()
        if hasattr(gymnasium.vector, "AutoresetMode"):
            self.metadata = {**self.metadata, "autoreset_mode": gymnasium.vector.AutoresetMode.NEXT_STEP}

    def _observe(self) -> Array:
        observe = self.task.observe
        return observe.many(self.states) if isinstance(observe, Observation) else np.stack([observe(s) for s in self.states])

    def reset(self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None) -> Any:
        if seed is not None:
            self._random = np.random.default_rng(seed)
        for state in self.states:
            self.task.reset(state, self._random)
        self._taken[:], self._over[:] = 0, False
        return self._observe(), {}

    def step(self, actions: Any) -> Any:
        fresh = self._over.copy()
        for i in np.flatnonzero(fresh):
            self.task.reset(self.states[i], self._random)
        controls = self.task.clip(actions)
        terminated: NDArray[np.bool_] = np.zeros(self.num_envs, np.bool_)
        reasons: List[Optional[str]] = [None] * self.num_envs
        running = [i for i in range(self.num_envs) if not fresh[i]]
        for _ in range(self.task.repeat):
            running = [i for i in running if not terminated[i]]
            for i, error in zip(running, self.pool.step([self.states[i] for i in running], controls[running])):
                if error is not None:
                    terminated[i], reasons[i] = True, str(error)
        rewards = np.array(
            [0.0 if fresh[i] else self.task.reward(self.states[i], controls[i]) for i in range(self.num_envs)]
        )
        self._taken = np.where(fresh, 0, self._taken + 1)
        truncated = (self._taken >= self.task.steps) & ~terminated
        self._over = terminated | truncated
        info: Dict[str, Any] = {"error": reasons} if terminated.any() else {}
        return self._observe(), rewards, terminated, truncated, info

    def __repr__(self) -> str:
        return f"<VectorEnv of {self.num_envs} {self.model!r}>"


def make(scene: Union[Scene, Path, Model], **keys: Any) -> Env:
    """An environment of a scene, or of one of ENVIRONMENTS by name; see Env."""
    return Env(scene, **keys)


def make_vec(scene: Union[Scene, Path, Model], count: int, threads: Optional[int] = None, **keys: Any) -> VectorEnv:
    """Many of them; see VectorEnv."""
    return VectorEnv(scene, count, threads, **keys)


def register() -> None:
    """Makes them known to gymnasium: gymnasium.make("Cuttle/finger")."""
    for name in ENVIRONMENTS:
        gymnasium.register(f"Cuttle/{name}", entry_point="cuttle.gym:Env", kwargs={"scene": name})


__all__ = ["ENVIRONMENTS", "Env", "VectorEnv", "control_bounds", "load", "make", "make_vec", "observe_bodies", "register"]
