"""Observations: numbers that are seen of a state, with their derivatives."""
from __future__ import annotations

from typing import Any, List, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ._core import Array, BadArgument, array, check, doubles, ffi, lib, text
from .model import Model, State

_OF_NODES = ("position", "velocity", "positions", "velocities")
_OF_LINKS = ("joint", "rate", "pose")
_OF_ACTUATORS = ("volume", "actuation")
_OPTIONS = ("relative", "scale")


def _kinds() -> List[str]:
    names, kind = [], 0
    while lib.ct_observe_kind_name(kind) != ffi.NULL:
        names.append(text(lib.ct_observe_kind_name(kind)))
        kind += 1
    return names


KINDS = _kinds()


class Observation:
    """What is seen of states of a model, as one vector: ``Observation(model, [{"position": nodes}, {"rate": "elbow"}])``.

    Each entry has one of

    ==============================  ===============================================================================
    position, velocity: nodes       means over the nodes, 3 numbers, positions less those at rest; `relative`: less the
                                    mean of that body
    positions, velocities: nodes    3 numbers per node
    joint, rate: link               coordinates and rates of its joint, one per rate; rotations as rotation vectors
    pose: link                      12 numbers, rotation (row-major) and translation
    contact: body                   the sum of the contact forces on it, 3 numbers, N
    volume: cavity                  m^3
    actuation: actuator             its numbers
    phase: frequency                sin and cos of 2 pi frequency t
    ==============================  ===============================================================================

    and may have a `scale`. It is called with a state; `vjp` leads derivatives back to the state's vector.
    """

    def __init__(self, model: Model, entries: Sequence[Mapping[str, Any]]) -> None:
        defs, keep = ffi.new("ct_observe_def[]", max(1, len(entries))), []
        for i, entry in enumerate(entries):
            defs[i] = lib.ct_observe_def_default()
            keep.append(_fill(defs[i], i, entry))
        error, out = ffi.new("ct_error*"), ffi.new("ct_observation**")
        check(lib.ct_observation_create(out, model._pointer, defs, len(entries), error), error)
        self.model = model  # freed after the observation
        self._pointer = ffi.gc(out[0], lib.ct_observation_free)
        self.size = int(lib.ct_observation_size(self._pointer))
        firsts = [int(lib.ct_observation_first(self._pointer, i)) for i in range(len(entries) + 1)]
        self.slices = [slice(*pair) for pair in zip(firsts, firsts[1:])]  # of each entry

    def __call__(self, state: State) -> Array:
        out = np.empty(self.size)
        check(lib.ct_observation_state(self._pointer, state._pointer, doubles(out)))
        return out

    def many(self, states: Sequence[State]) -> Array:
        """(states, size)"""
        out = np.empty((len(states), self.size))
        if states:
            pointers = ffi.new("ct_state*[]", [state._pointer for state in states])
            check(lib.ct_observation_many(self._pointer, len(states), ffi.cast("ct_state**", pointers), doubles(out)))
        return out

    def vjp(self, state: State, values_bar: ArrayLike) -> Array:
        """From dL/d(what is seen) to dL/d(vector of the state)."""
        bar, out = array(values_bar, (self.size,), "values_bar"), np.empty(self.model.state_size)
        check(lib.ct_observation_vjp(self._pointer, state._pointer, doubles(bar), doubles(out)))
        return out

    def __repr__(self) -> str:
        return f"<Observation of {self.model.name!r}: {self.size} numbers>"


def _fill(c: Any, index: int, entry: Mapping[str, Any]) -> List[Any]:
    """Fills a definition; returns what must live as long as it."""
    kinds = [key for key in entry if key in KINDS]
    unknown = [key for key in entry if key not in KINDS and key not in _OPTIONS]
    if unknown or len(kinds) != 1:
        raise BadArgument(f"entry {index} must have exactly one of {', '.join(KINDS)}, and may have {' and '.join(_OPTIONS)}")
    kind, keep = kinds[0], []
    value, c.kind = entry[kind], KINDS.index(kind)
    if kind in _OF_NODES:
        nodes = np.ascontiguousarray(np.asarray(value, dtype=np.int32).ravel())
        keep = [nodes, ffi.from_buffer("int[]", nodes)]
        c.nodes, c.count = keep[1], len(nodes)
    elif kind in _OF_LINKS + _OF_ACTUATORS:
        keep = [ffi.new("char[]", str(value).encode())]
        if kind in _OF_LINKS:
            c.link = keep[0]
        else:
            c.actuator = keep[0]
    elif kind == "contact":
        c.body = int(value)
    else:
        c.frequency = float(value)
    c.relative = int(entry.get("relative", -1))
    c.scale = float(entry.get("scale", 1.0))
    return keep


__all__ = ["KINDS", "Observation"]
