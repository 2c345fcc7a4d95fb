"""Rollouts and steps as autograd functions of PyTorch.

    state = ct.initial(model)                                       # cuttle.torch as ct
    for _ in range(20):
        state = ct.step(model, state, policy(ct.positions(model, state).mean(0)))
    loss = ct.positions(model, state)[:, 0].mean()
    loss.backward()

A state is a vector that has derivatives and bytes that have none (time, which contacts there are, ...). With one more
axis in front of it, many states are stepped at a time. Numbers are float64. A second derivative is refused.
"""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np
import torch

from ._core import Unsupported
from ._run import (
    ARRAYS,
    check_controls,
    check_quantity,
    count_steps,
    pack,
    part,
    positions,
    run,
    set_values,
    unpack,
    velocities,
)
from .model import Model
from .model import State as _State
from .pool import Pool

Tensor = torch.Tensor


class State(NamedTuple):
    """vector: (..., model.state_size), float64; bytes: (..., n), uint8, without derivatives."""

    vector: Tensor
    bytes: Tensor


class Motion(NamedTuple):
    """Of a rollout: arrays with a row per state, and the last state. One more axis in front for many."""

    positions: Tensor
    velocities: Tensor
    coordinates: Tensor
    actuation: Tensor
    state: State


def _pack(state: _State) -> Tuple[Tensor, Tensor]:
    vector, carried = pack(state)
    return torch.from_numpy(vector), torch.from_numpy(carried)


def _unpack(model: Model, vector: Tensor, carried: Tensor) -> _State:
    return unpack(model, vector.detach().cpu().numpy(), carried.detach().cpu().numpy())


def initial(model: Model, batch: Optional[int] = None, state: Optional[_State] = None) -> State:
    """The model's initial state, or another; batch: so many of it."""
    vector, carried = _pack(state or model.state())
    if batch is None:
        return State(vector, carried)
    return State(vector.repeat(batch, 1), carried.repeat(batch, 1))


def to_state(model: Model, state: State) -> _State:
    """A single state as a cuttle.State."""
    return _unpack(model, state.vector, state.bytes)


# ---- the autograd function -------------------------------------------------------------------

class _Call:
    """What one call needs besides tensors."""

    def __init__(self, model: Model, pool: Optional[Pool], names: Sequence[str], bare: bool, steps: Optional[int]) -> None:
        self.model, self.pool, self.names, self.bare, self.steps = model, pool, list(names), bare, steps
        self.values: List[Any] = []  # of the quantities
        self.runs: Any = None


class _Run(torch.autograd.Function):
    """Many rollouts: (count, size) vectors to arrays and last vectors."""

    @staticmethod
    def forward(ctx: Any, call: _Call, vector: Tensor, carried: Tensor, controls: Optional[Tensor], *values: Tensor) -> Any:
        model = call.model
        call.values = [value.detach().cpu().numpy().copy() for value in values]
        set_values(model, dict(zip(call.names, call.values)))
        states = [_unpack(model, v, b) for v, b in zip(vector, carried)]
        numbers = None if controls is None else controls.detach().cpu().numpy()
        call.runs = run(model, call.pool, states, numbers, call.steps, call.bare)
        last = [_pack(state) for state in call.runs.final]
        vectors, carries = (torch.stack(rows) for rows in zip(*last))
        arrays = [torch.from_numpy(getattr(call.runs, name)) for name in ARRAYS]
        ctx.call = call
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(carries)
        ctx.save_for_backward(vector, controls, *values)
        return (vectors, carries, *arrays)

    @staticmethod
    def backward(ctx: Any, vectors: Optional[Tensor], _carries: Any, *arrays: Optional[Tensor]) -> Any:
        by_vector, by_controls, *by_values = _Reverse.apply(ctx.call, len(arrays), vectors, *arrays, *ctx.saved_tensors)
        return (None, by_vector, None, by_controls, *by_values)


class _Reverse(torch.autograd.Function):
    """From the adjoints of what _Run gives to those of what it takes; has no derivative of its own."""

    @staticmethod
    def forward(ctx: Any, call: _Call, count: int, vectors: Optional[Tensor], *rest: Optional[Tensor]) -> Any:
        set_values(call.model, dict(zip(call.names, call.values)))
        runs = call.runs
        seeds: Dict[str, Any] = {
            name: None if bar is None or call.bare else bar.detach().cpu().numpy()
            for name, bar in zip(ARRAYS, rest[:count])
        }
        seeds["final"] = None if vectors is None else vectors.detach().cpu().numpy()
        by = (["control"] if runs.controls is not None else []) + call.names
        gradients = runs.gradient(by=by, **seeds)
        by_vector = torch.from_numpy(np.stack([g.initial for g in gradients]))
        by_controls = None
        if runs.controls is not None:
            by_controls = torch.from_numpy(np.stack([g["control"] for g in gradients]))
        by_values = [torch.from_numpy(np.sum([g[name] for g in gradients], axis=0)) for name in call.names]
        return (by_vector, by_controls, *by_values)

    @staticmethod
    def backward(ctx: Any, *bars: Any) -> Any:
        raise Unsupported("cuttle.torch has first derivatives only: its gradients cannot be differentiated once more")


def _apply(
    model: Model,
    state: State,
    controls: Optional[Tensor],
    steps: Optional[int],
    pool: Optional[Pool],
    bare: bool,
    quantities: Dict[str, Tensor],
) -> Tuple[State, List[Tensor]]:
    single = state.vector.dim() == 1
    values = []
    for name, value in quantities.items():
        numbers = torch.as_tensor(value).to(torch.float64).reshape(-1)
        values.append(numbers.expand(check_quantity(model, name, len(numbers))))
    vector, carried = (t[None] if single else t for t in state)
    if controls is not None:
        controls = controls.to(torch.float64)
        controls = controls[None] if single else controls
        check_controls(model, controls.shape, (len(vector),))
    call = _Call(model, pool, list(quantities), bare, steps)
    out, carries, *arrays = _Run.apply(call, vector.to(torch.float64), carried, controls, *values)
    if single:
        return State(out[0], carries[0]), [a[0] for a in arrays]
    return State(out, carries), list(arrays)


def step(
    model: Model,
    state: State,
    control: Optional[Tensor] = None,
    pool: Optional[Pool] = None,
    steps: int = 1,
    **quantities: Any,
) -> State:
    """The state one step later, or several. control: (..., control_size), held; None: the scene's values.

    Quantities (young=..., friction=...) are those of the model from then on, the same for all states.
    """
    controls = None if control is None else control.unsqueeze(-2).expand(*control.shape[:-1], steps, control.shape[-1])
    return _apply(model, state, controls, steps if controls is None else None, pool, True, quantities)[0]


def rollout(
    model: Model,
    controls: Optional[Tensor] = None,
    state: Optional[State] = None,
    steps: Optional[int] = None,
    pool: Optional[Pool] = None,
    **quantities: Any,
) -> Motion:
    """The motion under controls (..., steps, control_size), None: the scene's values, from a state (the initial one)."""
    if state is None:
        batch = len(controls) if controls is not None and controls.dim() == 3 else None
        state = initial(model, batch)
    count = count_steps(model, None if controls is None else controls.shape, steps)
    end, arrays = _apply(model, state, controls, count if controls is None else None, pool, False, quantities)
    return Motion(arrays[0], arrays[1], arrays[2], arrays[3], end)


__all__ = ["Motion", "State", "initial", "part", "positions", "rollout", "step", "to_state", "velocities"]
