"""Rollouts: the states of many steps as arrays, and their exact gradients."""
from __future__ import annotations

import tempfile
from typing import Any, Dict, Iterator, NamedTuple, NoReturn, Optional, Sequence, Tuple

import numpy as np
from numpy.typing import ArrayLike

from ._core import Array, BadArgument, array, check, doubles, fail, ffi, fields, lib, quantity_index, text
from .model import Model, State
from .picture import Image, draw, png, save_movie, save_png
from .scene import Path, os
from .view import Page, page


class RolloutReport(NamedTuple):
    """How a rollout went."""

    steps: int
    substepped: int
    edges: int
    inverted: int
    solves: int
    max_residual: float
    signature: int
    seconds: float


def rollout_report(c: Any) -> RolloutReport:
    return RolloutReport._make(fields(c, RolloutReport._fields))


class Gradient:
    """Derivatives of a loss: ``gradient["control"]``, ``gradient["young"]``, ...; ``gradient.initial`` by the vector of
    the initial state, ``gradient.part("actuation")`` a part of that."""

    def __init__(self, model: Model, initial: Array, by: Dict[str, Array]) -> None:
        self.model, self.initial, self._by = model, initial, by

    def __getitem__(self, name: str) -> Array:
        return self._by[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by)

    def part(self, name: str) -> Array:
        return self.initial[self.model.parts[name]]

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} {value.shape}" for name, value in self._by.items())
        return f"<Gradient by the initial state{', ' if sizes else ''}{sizes}>"


class Record:
    """Arrays that a rollout fills, a row per state, and its last state; bare: the last state alone."""

    def __init__(self, model: Model, steps: int, bare: bool = False) -> None:
        rows = 0 if bare else steps + 1
        self.positions = np.empty((rows, model.nodes, 3))
        self.velocities = np.empty((rows, model.nodes, 3))
        self.contact_forces = np.empty((rows, model.nodes, 3))
        self.coordinates = np.empty((rows, model.coordinates))
        self.actuation = np.empty((rows, model.actuation))
        self.last = model.state()
        self.pointer = ffi.new("cuttle_record*")
        c = self.pointer
        c.model, c.steps, c.nvert, c.last = model._pointer, steps, model.nodes, self.last._pointer
        c.ncoordinate, c.nactuation = model.coordinates, model.actuation
        self._keep = [
            doubles(rows)
            for rows in (self.positions, self.velocities, self.coordinates, self.actuation, self.contact_forces)
        ]
        c.x, c.v, c.q, c.actuation, c.contact = self._keep


class Seeds:
    """dL/d(states) for the library."""

    def __init__(self, model: Model, steps: int, **bars: Optional[ArrayLike]) -> None:
        shapes: Dict[str, Tuple[int, ...]] = {
            "positions": (steps + 1, model.nodes, 3),
            "velocities": (steps + 1, model.nodes, 3),
            "coordinates": (steps + 1, model.coordinates),
            "actuation": (steps + 1, model.actuation),
            "final": (model.state_size,),
        }
        numbers = {
            name: None if bars.get(name) is None else array(bars[name], shape, f"the seed of {name}")  # type: ignore[arg-type]
            for name, shape in shapes.items()
        }
        self.pointer = ffi.new("cuttle_seeds*")
        c = self.pointer
        c.model, c.steps, c.nvert = model._pointer, steps, model.nodes
        c.ncoordinate, c.nactuation = model.coordinates, model.actuation
        self._keep = [numbers, [doubles(numbers[name]) for name in shapes]]
        c.x, c.v, c.q, c.actuation, c.last = self._keep[1]


def values_for(model: Model, by: Sequence[str], steps: int) -> Tuple[Any, Dict[str, Array], Any]:
    """A ct_values with room for the gradient by these quantities, the arrays, and what keeps them alive."""
    values, arrays, keep = ffi.new("ct_values*"), {}, []
    for name in by:
        index = quantity_index(name)
        size = int(lib.ct_model_quantity_size(model._pointer, index))
        shape = (steps, size) if index == lib.CT_QUANTITY_CONTROL else (size,)
        arrays[name] = np.zeros(shape)
        keep.append(doubles(arrays[name]))
        values.of[index] = keep[-1]
    return values, arrays, keep


def control_rows(model: Model, controls: Optional[ArrayLike], steps: Optional[int]) -> Tuple[Optional[Array], int]:
    """Controls of a rollout, checked, and its steps."""
    if controls is None:
        return None, model.steps if steps is None else steps
    rows = array(controls, (-1, model.control_size), "controls")
    if steps is not None and steps != len(rows):
        raise BadArgument(f"there are controls for {len(rows)} steps, and {steps} steps were asked for")
    return rows.copy() if rows is controls else rows, len(rows)


class Rollout:
    """The motion of Model.rollout: arrays with a row for every state, the initial one included.

    positions, velocities, contact_forces: (steps + 1, nodes, 3); coordinates, actuation: (steps + 1, n). final: the
    last state. bare: no arrays.
    """

    def __init__(
        self,
        model: Model,
        controls: Optional[ArrayLike] = None,
        steps: Optional[int] = None,
        state: Optional[State] = None,
        max_bytes: int = 0,
        bare: bool = False,
    ) -> None:
        self.model = model
        self.controls, self.steps = control_rows(model, controls, steps)
        if self.steps < 1:
            raise BadArgument(f"a rollout has at least one step, not {self.steps}")
        self.initial = model.state() if state is None else state.copy()
        out = ffi.new("ct_tape**")
        error = ffi.new("ct_error*")
        check(lib.ct_tape_create(out, model._pointer, self.steps, max_bytes, error), error)
        self._tape = ffi.gc(out[0], lib.ct_tape_free)
        self._run(bare)

    def _run(self, bare: bool) -> None:
        model, work = self.model, self.model._work()
        record, report = Record(model, self.steps, bare), ffi.new("ct_rollout_report*")
        visit = ffi.addressof(lib, "cuttle_record_state")
        work.host.begin()
        status = lib.ct_rollout(
            model._pointer, work.pointer, self._tape, self.initial._pointer, self.steps, doubles(self.controls), visit,
            record.pointer, report,
        )  # fmt: skip
        self._report = report
        if status:
            fail(status, f"step {report.steps}: {text(report.last.message)}")
        self.positions, self.velocities = record.positions, record.velocities
        self.contact_forces, self.coordinates = record.contact_forces, record.coordinates
        self.actuation, self.final = record.actuation, record.last

    @property
    def report(self) -> RolloutReport:
        """What its steps took."""
        return rollout_report(self._report)

    @property
    def times(self) -> Array:
        """(steps + 1,), s"""
        return self.initial.time + self.model.time_step * np.arange(self.steps + 1)

    @property
    def tape_bytes(self) -> int:
        """Of the tape that it keeps for gradients."""
        return int(lib.ct_tape_bytes(self._tape))

    def gradient(
        self,
        positions: Optional[ArrayLike] = None,
        velocities: Optional[ArrayLike] = None,
        coordinates: Optional[ArrayLike] = None,
        actuation: Optional[ArrayLike] = None,
        final: Optional[ArrayLike] = None,
        by: Sequence[str] = ("control",),
    ) -> Gradient:
        """From dL/d(arrays), shaped as these, and dL/d(vector of the last state), `final`, to dL/d(quantities).

        by: quantities such as "control" or "young"; the initial state is always there.
        """
        model, work = self.model, self.model._work()
        seeds = Seeds(
            model, self.steps, positions=positions, velocities=velocities, coordinates=coordinates,
            actuation=actuation, final=final,
        )  # fmt: skip
        values, arrays, keep = values_for(model, by, self.steps)
        initial = np.zeros(model.state_size)
        work.host.begin()
        status = lib.ct_backward_states(
            model._pointer, work.pointer, self._tape, doubles(self.controls), ffi.addressof(lib, "cuttle_seed_state"),
            seeds.pointer, doubles(initial), values, ffi.NULL,
        )  # fmt: skip
        del keep
        check(status)
        return Gradient(model, initial, arrays)

    def save(self, path: Path) -> None:
        """Writes a trajectory file (HDF5; `cuttle view`, ParaView) by running the steps once more."""
        error, out = ffi.new("ct_error*"), ffi.new("ct_trajectory**")
        model, state = self.model, self.initial.copy()
        check(lib.ct_trajectory_create(out, model.scene._pointer, model._pointer, os.fsencode(path), error), error)
        file = out[0]
        try:
            check(lib.ct_trajectory_append(file, model._pointer, state._pointer, ffi.NULL, error), error)
            for i in range(self.steps):
                model.step(state, None if self.controls is None else self.controls[i])
                report = model._work().report
                check(lib.ct_trajectory_append(file, model._pointer, state._pointer, report, error), error)
        finally:
            closed = lib.ct_trajectory_close(file, error)
        check(closed, error)

    def view(
        self, interior: bool = False, stride: int = 1, fields: Optional[str] = None, height: int = 540
    ) -> Page:
        """The motion as a page for the browser; a notebook shows it in a frame of that height.

        interior: with the tets, so that a cut shows what is inside; stride: every so many states, and the last; fields: what
        to colour by ("velocity,stress"), "": nothing.
        """
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "rollout.h5")
            self.save(path)
            return page(path, self.model.scene, interior, stride, fields, height)

    def picture(
        self,
        step: int = -1,
        width: int = 640,
        height: int = 360,
        color_by: str = "body",
        mark: Optional[ArrayLike] = None,
    ) -> Image:
        """A picture of a state, (height, width, 3); mark: a place with a ring around it."""
        return draw(self, [range(self.steps + 1)[step]], width, height, color_by, mark)[0]

    def save_picture(self, path: Path, step: int = -1, width: int = 640, height: int = 360) -> None:
        """The same as a .png file."""
        save_png(path, self.picture(step, width, height))

    def save_movie(self, path: Path, width: int = 640, height: int = 360, frames_per_second: float = 25) -> None:
        """An MP4 in real time, by ffmpeg."""
        count = max(2, round(self.steps * self.model.time_step * frames_per_second))
        frames = [round(i) for i in np.linspace(0, self.steps, count)]
        save_movie(path, draw(self, frames, width, height), frames_per_second)

    def _repr_png_(self) -> bytes:
        """What a notebook shows: the last state."""
        return png(self.picture())

    def __reduce__(self) -> NoReturn:
        raise TypeError("a rollout holds what its gradient needs and is not pickled: pickle its arrays, or save() it")

    def __repr__(self) -> str:
        r = self.report
        return f"<Rollout of {self.model.name!r}: {self.steps} steps, {r.seconds:.3g} s, residual {r.max_residual:.1e}>"
