"""What cuttle.torch and cuttle.jax share: many rollouts from vectors of states, and their reverse, in numpy."""
from __future__ import annotations

import concurrent.futures
import threading
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import NDArray

from ._core import Array, BadArgument
from .model import Model, State
from .pool import Pool
from .rollout import Gradient, Rollout

Bytes = NDArray[np.uint8]
ARRAYS = ("positions", "velocities", "coordinates", "actuation")


def pack(state: State) -> Tuple[Array, Bytes]:
    """A state as its vector, which has derivatives, and its bytes, which have none."""
    return state.vector, np.frombuffer(state.tobytes(), np.uint8).copy()


def unpack(model: Model, vector: Array, carried: Bytes) -> State:
    state = model.state()
    state.restore(carried.tobytes())
    state.vector = vector
    return state


def array_shapes(model: Model, steps: int) -> List[Tuple[int, ...]]:
    """Shapes of ARRAYS, of one rollout."""
    rows = steps + 1
    return [(rows, model.nodes, 3), (rows, model.nodes, 3), (rows, model.coordinates), (rows, model.actuation)]


# ---- states and arguments of either library's arrays -------------------------------------------


def part(model: Model, state: Any, name: str) -> Any:
    """A part of a state's vector, such as "actuation" or "coordinate" (Model.parts)."""
    return state.vector[..., model.parts[name]]


def positions(model: Model, state: Any) -> Any:
    """(..., nodes, 3)"""
    out = part(model, state, "position")
    return out.reshape(*out.shape[:-1], model.nodes, 3)


def velocities(model: Model, state: Any) -> Any:
    """(..., nodes, 3)"""
    out = part(model, state, "velocity")
    return out.reshape(*out.shape[:-1], model.nodes, 3)


def check_quantity(model: Model, name: str, count: int) -> int:
    """Numbers of a quantity, of which `count` are given: all, or one for all."""
    size = model.quantity_size(name)
    if count not in (1, size):
        raise BadArgument(f"{name} has {size} numbers, or one for all, not {count}")
    return size


def check_controls(model: Model, shape: Sequence[int], front: Sequence[int]) -> None:
    """Controls have the shape (*front, steps, control_size)."""
    if tuple(shape[:-2]) != tuple(front) or len(shape) < 2 or shape[-1] != model.control_size:
        each = f", for each of {front[0]} states" if front else ""
        raise BadArgument(f"controls must have {model.control_size} numbers per step{each}, not the shape {tuple(shape)}")


def count_steps(model: Model, shape: Optional[Sequence[int]], steps: Optional[int]) -> int:
    """Steps of a rollout: those that its controls, of this shape, are for, those that are asked for, or the scene's."""
    given = shape[-2] if shape is not None and len(shape) > 1 else None
    if given is not None and steps is not None and steps != given:
        raise BadArgument(f"there are controls for {given} steps, and {steps} steps were asked for")
    count = given if given is not None else model.steps if steps is None else steps
    if count < 1:
        raise BadArgument(f"a rollout has at least one step, not {count}")
    return count


# ---- runs --------------------------------------------------------------------------------------


class Single:
    """One rollout with the face of many."""

    def __init__(self, rollout: Rollout) -> None:
        self.rollout, self.final = rollout, [rollout.final]
        self.controls = None if rollout.controls is None else rollout.controls[None]
        self.tape_bytes = rollout.tape_bytes
        for name in ARRAYS:
            setattr(self, name, getattr(rollout, name)[None])

    def gradient(self, by: Sequence[str], **seeds: Any) -> List[Gradient]:
        own = {name: None if seed is None else seed[0] for name, seed in seeds.items()}
        return [self.rollout.gradient(by=by, **own)]


def set_values(model: Model, values: Dict[str, Array]) -> None:
    """So that results depend on the values alone."""
    if values:
        model.factor_always()
        model.set(values)


def run(
    model: Model,
    pool: Optional[Pool],
    states: List[State],
    controls: Optional[Array],
    steps: Optional[int],
    bare: bool,
) -> Any:
    """Rollouts (pool.Rollouts), or a single one with their face."""
    if pool is None and len(states) == 1:
        return Single(Rollout(model, None if controls is None else controls[0], steps, states[0], bare=bare))
    runs = (pool or model.pool()).rollout(states, controls, steps, bare=bare)
    for error in runs.errors:
        if error is not None:
            raise error
    return runs


class Lane:
    """Rollouts of one model with one set of quantities: a part of Lanes."""

    def __init__(self, model: Model, rows: NDArray[np.int64], values: Dict[str, Array]) -> None:
        self.model, self.rows, self.values, self.runs = model, rows, values, None  # type: Tuple[Model, Any, Any, Any]

    def run(self, vectors: Array, carried: Bytes, controls: Optional[Array], steps: Optional[int], bare: bool) -> None:
        with self.model.lock:
            set_values(self.model, self.values)
            states = [unpack(self.model, vectors[i], carried[i]) for i in self.rows]
            self.runs = run(self.model, None, states, None if controls is None else controls[self.rows], steps, bare)

    def gradient(self, by: Sequence[str], seeds: Dict[str, Any]) -> List[Gradient]:
        with self.model.lock:
            set_values(self.model, self.values)
            own = {name: None if seed is None else seed[self.rows] for name, seed in seeds.items()}
            gradients: List[Gradient] = self.runs.gradient(by=by, **own)
            return gradients


class Lanes:
    """Rollouts of which each may have quantities of its own: those with the same go through a pool together, others run
    side by side on copies of the model, as many as there are cores."""

    def __init__(
        self,
        model: Model,
        vectors: Array,
        carried: Bytes,
        controls: Optional[Array],
        values: Dict[str, Array],
        steps: Optional[int],
        bare: bool,
    ) -> None:
        """values: (count, size) each."""
        self.count = len(vectors)
        groups: Dict[bytes, List[int]] = {}
        for i in range(self.count):
            groups.setdefault(b"".join(v[i].tobytes() for v in values.values()), []).append(i)
        copies = model.copies(len(groups)) if len(groups) > 1 else [model]
        self.lanes = [
            Lane(copies[k % len(copies)], np.array(rows), {name: v[rows[0]] for name, v in values.items()})
            for k, rows in enumerate(groups.values())
        ]
        self._each(lambda lane: lane.run(vectors, carried, controls, steps, bare))
        self.tape_bytes = sum(lane.runs.tape_bytes for lane in self.lanes)

    def _each(self, call: Any) -> List[Any]:
        if len(self.lanes) == 1:
            return [call(self.lanes[0])]
        workers = len({id(lane.model) for lane in self.lanes})
        with concurrent.futures.ThreadPoolExecutor(workers) as threads:
            return list(threads.map(call, self.lanes))

    def gather(self, name: str) -> Array:
        """An array of the rollouts, (count, ...)."""
        parts = [getattr(lane.runs, name) for lane in self.lanes]
        out = np.empty((self.count, *parts[0].shape[1:]))
        for lane, part in zip(self.lanes, parts):
            out[lane.rows] = part
        return out

    def final(self) -> Tuple[Array, Bytes]:
        """Vectors and bytes of the last states."""
        states: List[Any] = [None] * self.count
        for lane in self.lanes:
            for row, state in zip(lane.rows, lane.runs.final):
                states[row] = pack(state)
        vectors, carried = zip(*states)
        return np.stack(vectors), np.stack(carried)

    def gradient(self, by: Sequence[str], seeds: Dict[str, Any]) -> List[Gradient]:
        out: List[Any] = [None] * self.count
        for lane, own in zip(self.lanes, self._each(lambda lane: lane.gradient(by, seeds))):
            for row, gradient in zip(lane.rows, own):
                out[row] = gradient
        return out


class Recent:
    """Rollouts of the last calls, so that their reverse need not run them once more; bounded by bytes."""

    def __init__(self, limit: int = 1 << 28) -> None:
        self.limit, self._held, self._lock = limit, {}, threading.Lock()  # type: Tuple[int, Dict[Any, Lanes], Any]

    def put(self, key: Any, lanes: Lanes) -> None:
        with self._lock:
            self._held.pop(key, None)
            self._held[key] = lanes
            size = sum(held.tape_bytes for held in self._held.values())
            while size > self.limit and len(self._held) > 1:
                size -= self._held.pop(next(iter(self._held))).tape_bytes

    def take(self, key: Any) -> Optional[Lanes]:
        with self._lock:
            return self._held.get(key)
