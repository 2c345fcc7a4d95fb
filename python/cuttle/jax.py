"""Rollouts and steps as functions of JAX: grad (reverse mode), jit, vmap.

    jax.config.update("jax_enable_x64", True)
    motion = cj.rollout(model, controls)                            # cuttle.jax as cj
    state = cj.step(model, state, control, young=2e5)

A state is a vector that has derivatives and bytes that have none (time, which contacts there are, ...). vmap runs all of
a batch at once, on all cores, with the bits of a loop; also over quantities. The library is called back from JAX
(pure_callback), so an error of the library comes as an error of JAX that quotes it.
"""
from __future__ import annotations

import hashlib
import weakref
from functools import partial
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import jax
import jax.numpy as jnp
import numpy as np

from ._core import BadArgument
from ._run import (
    ARRAYS,
    Lanes,
    Recent,
    array_shapes,
    check_controls,
    check_quantity,
    count_steps,
    pack,
    part,
    positions,
    unpack,
    velocities,
)
from .model import Model
from .model import State as _State

Array = Any  # jax.Array, or a tracer of one


class State(NamedTuple):
    """vector: (model.state_size,), float64; bytes: (n,), uint8, without derivatives."""

    vector: Array
    bytes: Array


class Motion(NamedTuple):
    """Of a rollout: arrays with a row per state, and the last state."""

    positions: Array
    velocities: Array
    coordinates: Array
    actuation: Array
    state: State


def _need_doubles() -> None:
    if jnp.zeros(0).dtype != np.float64:
        raise BadArgument('cuttle.jax computes with 64 bits: call jax.config.update("jax_enable_x64", True) first')


def initial(model: Model, state: Optional[_State] = None) -> State:
    """The model's initial state, or another."""
    _need_doubles()
    vector, carried = pack(state or model.state())
    return State(jnp.asarray(vector), jnp.asarray(carried))


def to_state(model: Model, state: State) -> _State:
    """A cuttle.State."""
    return unpack(model, np.asarray(state.vector), np.asarray(state.bytes))


def _shape(shape: Tuple[int, ...], kind: Any) -> Any:
    return jax.ShapeDtypeStruct(shape, kind)  # type: ignore[no-untyped-call]


# ---- calls of the library --------------------------------------------------------------------

_recent: "weakref.WeakKeyDictionary[Model, Recent]" = weakref.WeakKeyDictionary()


class _Call(NamedTuple):
    """What a call needs besides arrays; the same for the same call, so that jit compiles once."""

    model: Model
    names: Tuple[str, ...]
    steps: int
    bare: bool

    def shapes(self) -> List[Any]:
        """Of what comes back: vector and bytes of the last state, and the arrays."""
        model, f8 = self.model, np.float64
        size = len(model.state().tobytes())
        last = [_shape((model.state_size,), f8), _shape((size,), np.uint8)]
        if self.bare:
            return last
        return last + [_shape(shape, f8) for shape in array_shapes(model, self.steps)]


class _Batch:
    """Arguments of a callback with all batch axes made one. Axes of length 1 stand for all."""

    def __init__(self, arrays: Sequence[Any], dims: Sequence[int]) -> None:
        numbers = [np.asarray(a) for a in arrays]
        fronts = [a.shape[: a.ndim - d] for a, d in zip(numbers, dims)]
        self.front = np.broadcast_shapes(*fronts)
        self.count = int(np.prod(self.front, dtype=int))
        self.arrays = [
            np.ascontiguousarray(np.broadcast_to(a, self.front + a.shape[a.ndim - d :])).reshape(
                (self.count,) + a.shape[a.ndim - d :]
            )
            for a, d in zip(numbers, dims)
        ]

    def fold(self, rows: Any) -> Any:
        return rows.reshape(self.front + rows.shape[1:])


def _lanes(call: _Call, batch: _Batch, keep: bool) -> Lanes:
    """Runs the rollouts, or finds them among the last ones."""
    vectors, carried, *rest = batch.arrays
    controls = rest.pop(0) if len(rest) > len(call.names) else None
    recent = _recent.setdefault(call.model, Recent())
    digest = hashlib.blake2b(b"".join(a.tobytes() for a in batch.arrays), digest_size=16)
    key = (call.names, call.steps, call.bare, batch.count, digest.digest())
    lanes = recent.take(key)
    if lanes is None:
        values = dict(zip(call.names, rest))
        steps = None if controls is not None else call.steps
        lanes = Lanes(call.model, vectors, carried, controls, values, steps, call.bare)
    if keep:
        recent.put(key, lanes)
    return lanes


def _forward(call: _Call, keep: bool, dims: Sequence[int], *arrays: Any) -> Any:
    batch = _Batch(arrays, dims)
    lanes = _lanes(call, batch, keep)
    out: List[Any] = list(lanes.final())
    if not call.bare:
        out += [lanes.gather(name) for name in ARRAYS]
    return tuple(batch.fold(rows) for rows in out)


def _reverse(call: _Call, nbar: int, dims: Sequence[int], *arrays: Any) -> Any:
    batch = _Batch(arrays, dims)
    bars, batch.arrays = batch.arrays[:nbar], batch.arrays[nbar:]
    lanes = _lanes(call, batch, False)
    seeds: Dict[str, Any] = {"final": bars[0], **dict(zip(ARRAYS, bars[1:]))}
    controlled = len(batch.arrays) > 2 + len(call.names)
    gradients = lanes.gradient((["control"] if controlled else []) + list(call.names), seeds)
    out = [np.stack([g.initial for g in gradients])]
    out += [np.stack([g[name] for g in gradients]) for name in (("control",) if controlled else ()) + call.names]
    return tuple(batch.fold(rows) for rows in out)


def _arguments(vector: Array, carried: Array, controls: Optional[Array], values: Tuple[Array, ...]) -> List[Array]:
    return [vector, carried] + ([] if controls is None else [controls]) + list(values)


def _call_back(call: _Call, keep: bool, arguments: List[Array]) -> Tuple[Array, ...]:
    dims = [a.ndim for a in arguments]
    out: Tuple[Array, ...] = jax.pure_callback(
        partial(_forward, call, keep, dims), tuple(call.shapes()), *arguments, vmap_method="expand_dims"
    )
    return out


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def _run(call: _Call, vector: Array, carried: Array, controls: Optional[Array], values: Tuple[Array, ...]) -> Any:
    return _call_back(call, False, _arguments(vector, carried, controls, values))


def _run_forward(call: _Call, vector: Array, carried: Array, controls: Optional[Array], values: Tuple[Array, ...]) -> Any:
    return _call_back(call, True, _arguments(vector, carried, controls, values)), (vector, carried, controls, values)


def _run_backward(call: _Call, kept: Any, bars: Sequence[Array]) -> Any:
    vector, carried, controls, values = kept
    arguments = _arguments(vector, carried, controls, values)
    seeds = [bars[0], *bars[2:]]
    shapes = tuple(_shape(a.shape, np.float64) for a in arguments if a.dtype == np.float64)
    everything = [*seeds, *arguments]
    out = jax.pure_callback(
        partial(_reverse, call, len(seeds), [a.ndim for a in everything]), shapes, *everything, vmap_method="expand_dims"
    )
    rest = list(out[1:])
    by_controls = None if controls is None else rest.pop(0)
    return out[0], None, by_controls, tuple(rest)


_run.defvjp(_run_forward, _run_backward)


# ---- the two functions -----------------------------------------------------------------------


def _apply(
    model: Model, state: State, controls: Optional[Array], steps: int, bare: bool, quantities: Dict[str, Any]
) -> Tuple[Array, ...]:
    _need_doubles()
    values = []
    for name, value in quantities.items():
        numbers = jnp.ravel(jnp.asarray(value, np.float64))
        values.append(jnp.broadcast_to(numbers, (check_quantity(model, name, numbers.size),)))
    if controls is not None:
        controls = jnp.asarray(controls, np.float64)
        check_controls(model, controls.shape, ())
    call = _Call(model, tuple(quantities), steps, bare)
    out: Tuple[Array, ...] = _run(call, jnp.asarray(state.vector, np.float64), state.bytes, controls, tuple(values))
    return out


def step(model: Model, state: State, control: Optional[Array] = None, **quantities: Any) -> State:
    """The state one step later. control: (control_size,), None: the scene's values. Quantities: young=..., friction=..."""
    controls = None if control is None else jnp.asarray(control)[None]
    return State(*_apply(model, state, controls, 1, True, quantities))


def rollout(
    model: Model,
    controls: Optional[Array] = None,
    state: Optional[State] = None,
    steps: Optional[int] = None,
    **quantities: Any,
) -> Motion:
    """The motion under controls (steps, control_size), None: the scene's values, from a state (the initial one)."""
    controls = None if controls is None else jnp.asarray(controls)
    count = count_steps(model, None if controls is None else controls.shape, steps)
    vector, carried, *arrays = _apply(model, state or initial(model), controls, count, False, quantities)
    return Motion(arrays[0], arrays[1], arrays[2], arrays[3], State(vector, carried))


__all__ = ["Motion", "State", "initial", "part", "positions", "rollout", "step", "to_state", "velocities"]
