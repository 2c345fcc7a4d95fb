"""Many at a time: states of one model (Pool), points of one problem (Batch)."""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import (
    Array,
    BadArgument,
    Error,
    Host,
    array,
    check,
    doubles,
    error_of,
    fail_with,
    ffi,
    lib,
    raise_pending,
    text,
    thread_count,
)
from .model import Model, State
from .problem import Term, TermCall
from .rollout import Gradient, Record, Seeds, values_for
from .scene import Path, Scene, load


def errors_of(statuses: Any, messages: Sequence[str]) -> List[Optional[Error]]:
    return [
        None if status == lib.CT_OK else error_of(status, message)
        for status, message in zip(statuses, messages)
    ]


class Pool:
    """Threads that step many states of a model at a time, with the bits of single steps.

    One that fails does not keep the others: every call returns an error, or None, for each state.
    """

    def __init__(self, model: Model, threads: Optional[int] = None) -> None:
        out = ffi.new("ct_pool**")
        error = ffi.new("ct_error*")
        check(lib.ct_pool_create(out, model._pointer, thread_count(threads), error), error)
        self.model = model
        self._pointer = ffi.gc(out[0], lib.ct_pool_free)
        self._host = Host()
        lib.ct_pool_set_cancel(self._pointer, self._host.cancel, self._host.pointer)
        self.threads = int(lib.ct_pool_threads(self._pointer))

    def _controls(self, controls: Optional[ArrayLike], shape: Tuple[int, ...]) -> Optional[Array]:
        return None if controls is None else array(controls, shape, "controls")

    def step(self, states: Sequence[State], controls: Optional[ArrayLike] = None) -> List[Optional[Error]]:
        """A step of each state, in place. controls: (states, control_size), None: the scene's values."""
        count = len(states)
        numbers = self._controls(controls, (count, self.model.control_size))
        pointers = ffi.new("ct_state*[]", [state._pointer for state in states])
        statuses, reports = ffi.new("ct_status[]", count), ffi.new("ct_step_report[]", count)
        self._host.begin()
        status = lib.ct_step_many(self._pointer, count, pointers, doubles(numbers), statuses, reports)
        raise_pending()
        check(status)
        if not any(statuses):
            return [None] * count
        return errors_of(statuses, [text(reports[i].message) for i in range(count)])

    def rollout(
        self,
        states: Sequence[State],
        controls: Optional[ArrayLike] = None,
        steps: Optional[int] = None,
        bare: bool = False,
    ) -> "Rollouts":
        """A rollout from each state. controls: (states, steps, control_size), None: the scene's values."""
        return Rollouts(self, states, controls, steps, bare)

    def __repr__(self) -> str:
        return f"<Pool of {self.threads} threads for {self.model!r}>"


class Rollouts:
    """Rollouts of Pool.rollout: arrays as those of a Rollout, with one more axis in front; errors: of each, or None."""

    def __init__(
        self,
        pool: Pool,
        states: Sequence[State],
        controls: Optional[ArrayLike],
        steps: Optional[int],
        bare: bool = False,
    ) -> None:
        self.pool, self.model, count = pool, pool.model, len(states)
        model = pool.model
        self.controls = pool._controls(controls, (count, -1, model.control_size))
        self.steps = self.controls.shape[1] if self.controls is not None else model.steps if steps is None else steps
        if self.steps < 1:
            raise BadArgument(f"a rollout has at least one step, not {self.steps}")
        self._initial = [state.copy() for state in states]
        self._tapes = []
        for _ in states:
            out = ffi.new("ct_tape**")
            error = ffi.new("ct_error*")
            check(lib.ct_tape_create(out, model._pointer, self.steps, 0, error), error)
            self._tapes.append(ffi.gc(out[0], lib.ct_tape_free))
        records = [Record(model, self.steps, bare) for _ in states]
        statuses, reports = ffi.new("ct_status[]", count), ffi.new("ct_rollout_report[]", count)
        pool._host.begin()
        status = lib.ct_rollout_many(
            pool._pointer, count, ffi.new("ct_tape*[]", self._tapes),
            ffi.new("ct_state*[]", [state._pointer for state in self._initial]), self.steps, doubles(self.controls),
            ffi.addressof(lib, "cuttle_record_state"), ffi.new("void*[]", [r.pointer for r in records]), statuses, reports,
        )  # fmt: skip
        raise_pending()
        check(status)
        self.errors = errors_of(statuses, [text(reports[i].last.message) for i in range(count)])
        self.final = [record.last for record in records]
        for name in ("positions", "velocities", "coordinates", "actuation", "contact_forces"):
            setattr(self, name, np.stack([getattr(r, name) for r in records]) if count else np.zeros(0))

    positions: Array
    velocities: Array
    coordinates: Array
    actuation: Array
    contact_forces: Array

    @property
    def tape_bytes(self) -> int:
        """Of the tapes that they keep for gradients."""
        return sum(int(lib.ct_tape_bytes(tape)) for tape in self._tapes)

    def gradient(self, by: Sequence[str] = ("control",), **seeds: Optional[ArrayLike]) -> List[Gradient]:
        """As Rollout.gradient, for each, with seeds that have one more axis in front. Rollouts that failed have none:
        ask for those that have no error only."""
        model, count = self.model, len(self._tapes)
        if any(self.errors):
            raise BadArgument("some of the rollouts failed: see errors")
        own: List[Seeds] = []
        for i in range(count):
            own.append(Seeds(model, self.steps, **{k: None if s is None else np.asarray(s)[i] for k, s in seeds.items()}))
        values = ffi.new("ct_values[]", count)
        arrays: List[Dict[str, Array]] = []
        keep = []
        for i in range(count):
            single, by_name, pointers = values_for(model, by, self.steps)
            values[i] = single[0]
            arrays.append(by_name)
            keep.append(pointers)
        initial, statuses = np.zeros((count, model.state_size)), ffi.new("ct_status[]", count)
        self.pool._host.begin()
        status = lib.ct_backward_many(
            self.pool._pointer, count, ffi.new("ct_tape*[]", self._tapes), doubles(self.controls),
            ffi.addressof(lib, "cuttle_seed_state"), ffi.new("void*[]", [s.pointer for s in own]), doubles(initial), values,
            statuses, ffi.NULL,
        )  # fmt: skip
        raise_pending()
        check(status)
        for code in statuses:
            check(code)
        return [Gradient(model, initial[i], arrays[i]) for i in range(count)]


class BatchResult(NamedTuple):
    """Of many points: losses (NAN where one did not converge), gradients, whether each converged."""

    losses: Array
    gradients: Optional[Array]
    converged: NDArray[np.bool_]


class Batch:
    """Workers that evaluate many points of a scene's problem at a time."""

    def __init__(self, scene: Union[Scene, Path], workers: Optional[int] = None) -> None:
        self.scene = scene if isinstance(scene, Scene) else load(scene)
        error, out = ffi.new("ct_error*"), ffi.new("ct_batch**")
        check(lib.ct_batch_create(out, self.scene._pointer, thread_count(workers), ffi.NULL, error), error)
        self._pointer = ffi.gc(out[0], lib.ct_batch_free)
        self._problem = lib.ct_batch_problem(self._pointer)
        self._own_term: Optional[TermCall] = None
        self.workers = int(lib.ct_batch_workers(self._pointer))
        self.size = int(lib.ct_problem_size(self._problem))

    @property
    def start(self) -> Array:
        y = np.zeros(self.size)
        lib.ct_problem_start(self._problem, doubles(y))
        return y

    def set_term(self, term: Optional[Term]) -> None:
        """Adds a term of your own, as Problem.set_term; it is called from several threads."""
        self._own_term = None if term is None else TermCall(term, self._problem)
        if self._own_term is None:
            lib.ct_batch_set_term(self._pointer, ffi.NULL, ffi.NULL)
        else:
            lib.ct_batch_set_term(self._pointer, lib.cuttle_python_term, self._own_term.handle)

    def evaluate(self, points: ArrayLike, gradients: bool = True) -> BatchResult:
        """points: (count, size)."""
        y = array(points, (-1, self.size), "points")
        by = np.zeros_like(y) if gradients else None
        results, error = ffi.new("ct_evaluation[]", len(y)), ffi.new("ct_error*")
        status = lib.ct_batch_evaluate(self._pointer, len(y), doubles(y), doubles(by), results, error)
        if self._own_term is not None and self._own_term.exception is not None:
            exception, self._own_term.exception = self._own_term.exception, None
            raise exception  # of one of the workers' threads
        if status:
            fail_with(error, status)
        losses = np.array([r.loss for r in results])
        return BatchResult(losses, by, np.array([r.status == lib.CT_OK for r in results], dtype=np.bool_))

    def __repr__(self) -> str:
        return f"<Batch of {self.workers} workers for {self.scene!r}>"
