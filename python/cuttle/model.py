"""Models: compiled scenes; states of them, and steps."""
from __future__ import annotations

import os
import threading
import types
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import (
    QUANTITIES,
    Array,
    BadArgument,
    Host,
    array,
    check,
    doubles,
    fail,
    ffi,
    interruptible,
    lib,
    quantity_index,
    raise_pending,
    spans,
    text,
    view,
)
from .scene import Path, Scene, load

if TYPE_CHECKING:
    from .pool import Pool
    from .rollout import Rollout


class Control(NamedTuple):
    """Numbers of a step's control vector, by name."""

    name: str
    kind: str
    first: int
    count: int  # type: ignore[assignment]


class StepReport(NamedTuple):
    """How a step went."""

    substeps: int
    iterations: int
    solves: int
    inverted: int
    residual: float
    contacts: int
    sticking: int
    slipping: int
    penetration: float
    smooth: bool
    seconds: float


def step_report(c: Any) -> StepReport:
    return StepReport(
        c.substeps,
        c.iterations,
        c.solves,
        c.inverted,
        c.residual / c.reference if c.reference > 0 else c.residual,
        c.contacts,
        c.sticking,
        c.slipping,
        c.penetration,
        c.smooth,
        c.seconds,
    )


class Work:
    """Scratch of one thread: a work of the library and what its calls share."""

    def __init__(self, model: "Model", threads: int) -> None:
        out = ffi.new("ct_work**")
        error = ffi.new("ct_error*")
        check(lib.ct_work_create(out, model._pointer, threads, error), error)
        self.model = model  # freed after the work
        self.pointer = ffi.gc(out[0], lib.ct_work_free)
        self.report = ffi.new("ct_step_report*")
        self.host = Host()
        lib.ct_work_set_cancel(self.pointer, self.host.cancel, self.host.pointer)


class State:
    """Everything that determines the future of a motion.

    Its arrays are views of the library's memory: they follow the steps, and stay valid as long as they are held.
    """

    __slots__ = ("model", "_pointer", "__weakref__")

    def __init__(self, model: "Model") -> None:
        out = ffi.new("ct_state**")
        error = ffi.new("ct_error*")
        check(lib.ct_state_create(out, model._pointer, error), error)
        self.model = model
        self._pointer = ffi.gc(out[0], lib.ct_state_free)

    @property
    def time(self) -> float:
        """s"""
        return float(lib.ct_state_time(self._pointer))

    @property
    def steps(self) -> int:
        """Steps taken."""
        return int(lib.ct_state_step_index(self._pointer))

    @property
    def positions(self) -> Array:
        """(nodes, 3), m"""
        out: Array = view(self, lib.ct_state_positions(self._pointer), (self.model.nodes, 3))
        return out

    @property
    def velocities(self) -> Array:
        """(nodes, 3), m/s"""
        out: Array = view(self, lib.ct_state_velocities(self._pointer), (self.model.nodes, 3))
        return out

    @property
    def contact_forces(self) -> Array:
        """(nodes, 3), N, of the last step"""
        out: Array = view(self, lib.ct_state_contact_forces(self._pointer), (self.model.nodes, 3))
        return out

    @property
    def coordinates(self) -> Array:
        """Of the joints, then of driven roots"""
        out: Array = view(self, lib.ct_state_coordinates(self._pointer), (self.model.coordinates,))
        return out

    @property
    def actuation(self) -> Array:
        """Numbers of the actuators: activations, volume ratios, pressures (Pa), ..."""
        out: Array = view(self, lib.ct_state_actuation(self._pointer), (self.model.actuation,))
        return out

    @property
    def link_poses(self) -> Array:
        """(links, 12): rotation (row-major) and translation of every link"""
        poses = np.zeros((self.model.links, 12))
        check(lib.ct_state_link_poses(self.model._pointer, self._pointer, doubles(poses)))
        return poses

    @property
    def vector(self) -> Array:
        """All that derivatives are taken by, as one vector (Model.parts names its parts). It can be set."""
        out = np.empty(self.model.state_size)
        check(lib.ct_state_get_vector(self.model._pointer, self._pointer, doubles(out)))
        return out

    @vector.setter
    def vector(self, values: ArrayLike) -> None:
        numbers = array(values, (self.model.state_size,), "the vector")
        check(lib.ct_state_set_vector(self.model._pointer, self._pointer, doubles(numbers)))

    def set(self, positions: Optional[ArrayLike] = None, velocities: Optional[ArrayLike] = None) -> None:
        """Puts the nodes somewhere, (nodes, 3) each, and forgets the history."""
        shape = (self.model.nodes, 3)
        x = array(self.positions if positions is None else positions, shape, "positions").copy()
        v = array(self.velocities if velocities is None else velocities, shape, "velocities").copy()
        check(lib.ct_state_set(self._pointer, doubles(x), doubles(v)))

    def set_joints(self, positions: Optional[ArrayLike] = None, velocities: Optional[ArrayLike] = None) -> None:
        """Puts the joints somewhere (a number per joint rate), and forgets the history."""
        n = (self.model.rates,)
        q = None if positions is None else array(positions, n, "positions")
        qdot = None if velocities is None else array(velocities, n, "velocities")
        check(lib.ct_state_set_joints(self.model._pointer, self._pointer, doubles(q), doubles(qdot)))

    def step(self, control: Optional[ArrayLike] = None) -> StepReport:
        """One step further, in place; control None: the scene's values."""
        return self.model.step(self, control)

    def settle(self, control: Optional[ArrayLike] = None) -> None:
        """To where the scene rests under `control` (None: the scene's values); velocities stay as they are.

        The gradient of a rollout from there goes through it.
        """
        numbers = None if control is None else array(control, (self.model.control_size,), "the control")
        work, report = self.model._work(), ffi.new("ct_settle_report*")
        work.host.begin()
        status = lib.ct_settle(self.model._pointer, work.pointer, self._pointer, doubles(numbers), report)
        if status:
            fail(status, "settling: " + text(report.message))

    def relax(self) -> None:
        """Flesh to where it rests between its bones, which stay where they are."""
        work, report = self.model._work(), ffi.new("ct_settle_report*")
        work.host.begin()
        status = lib.ct_relax(self.model._pointer, work.pointer, self._pointer, report)
        if status:
            fail(status, "relaxing: " + text(report.message))

    def copy(self) -> "State":
        other = State(self.model)
        check(lib.ct_state_copy(other._pointer, self._pointer))
        return other

    __copy__ = copy

    def __deepcopy__(self, memo: Dict[int, Any]) -> "State":
        return self.copy()

    def tobytes(self) -> bytes:
        """A checkpoint: restored, it goes on to the same bits."""
        return bytes(ffi.buffer(lib.ct_state_bytes(self._pointer), lib.ct_state_size(self._pointer)))

    def restore(self, checkpoint: bytes) -> None:
        """Takes the bytes of a state of the same model."""
        status = lib.ct_state_restore(self._pointer, ffi.from_buffer(checkpoint), len(checkpoint))
        if status:
            fail(status, "these are not the bytes of a state of this model")

    def __reduce__(self) -> Tuple[Any, ...]:
        return _unpickle_state, (self.model, self.tobytes())

    def __repr__(self) -> str:
        return f"<State of {self.model.name!r} after {self.steps} steps, t = {self.time:g} s>"


def _unpickle_state(model: "Model", checkpoint: bytes) -> State:
    state = State(model)
    state.restore(checkpoint)
    return state


class Model:
    """A scene, compiled and factored: ``Model(scene)``, or ``Model("octopus")``.

    It is shared by any number of states and threads. `threads` are those of a single step, 0: the scene's.
    """

    def __init__(self, scene: Union[Scene, Path], threads: int = 0) -> None:
        self.scene = scene if isinstance(scene, Scene) else load(scene)
        error, out = ffi.new("ct_error*"), ffi.new("ct_model**")
        with interruptible():
            status = lib.ct_model_create(out, self.scene._pointer, error)
        check(status, error)
        self._pointer = ffi.gc(out[0], lib.ct_model_free)
        self._threads = threads
        self._changed: Dict[str, Array] = {}
        self._local: Any = threading.local()
        self._copies: List[Model] = []
        self.lock = threading.RLock()  # who sets quantities and runs with them holds it
        info = lib.ct_model_summary(self._pointer)
        self.nodes, self.tets, self.triangles = int(info.nvert), int(info.ntet), int(info.ntri)
        self.bodies, self.links, self.rates = int(info.nbody), int(info.nlink), int(info.njoint)
        self.mass, self.kernel = float(info.mass), text(info.kernel)
        settings = lib.ct_model_settings(self._pointer)
        self.time_step = float(settings.time_step)
        self._settles, self._relaxes = bool(settings.settle), bool(settings.relax)
        self.steps = round(settings.duration / settings.time_step)
        self.control_size = int(lib.ct_model_control_size(self._pointer))
        self.parts = self._find_parts()
        self.state_size = int(lib.ct_model_state_first(self._pointer, lib.CT_STATE_PARTS))
        self.coordinates = self._part_size("coordinate")
        self.actuation = self._part_size("actuation")

    # ---- what it consists of

    def _find_parts(self) -> Dict[str, slice]:
        """Parts of a state's vector."""
        parts = {}
        for part in range(lib.CT_STATE_PARTS):
            first, last = (int(lib.ct_model_state_first(self._pointer, part + i)) for i in (0, 1))
            parts[text(lib.ct_state_part_name(part))] = slice(first, last)
        return parts

    def _part_size(self, name: str) -> int:
        part = self.parts[name]
        return int(part.stop - part.start)

    @property
    def name(self) -> str:
        return self.scene.name

    @property
    def controls(self) -> List[Control]:
        """What a step's control vector consists of."""
        own, count = self._pointer, lib.ct_model_control_count(self._pointer)
        return [Control(*s) for s in spans(count, lambda i: lib.ct_model_control_info(own, i), lib.ct_control_kind_name)]

    def control(self, name: str) -> slice:
        """Where a control is in the control vector."""
        for c in self.controls:
            if c.name == name:
                return slice(c.first, c.first + c.count)
        raise BadArgument(f"there is no control {name!r}; there are {', '.join(c.name for c in self.controls) or 'none'}")

    def control_values(self, time: float = 0) -> Array:
        """The scene's own controls at a time."""
        out = np.zeros(self.control_size)
        if self.control_size:
            lib.ct_model_control_values(self._pointer, time, doubles(out))
        return out

    @property
    def rest(self) -> Array:
        """(nodes, 3), m"""
        out: Array = view(self, lib.ct_model_rest(self._pointer), (self.nodes, 3))
        return out

    @property
    def node_mass(self) -> Array:
        """(nodes,), kg"""
        out: Array = view(self, lib.ct_model_node_mass(self._pointer), (self.nodes,))
        return out

    @property
    def tetrahedra(self) -> NDArray[np.int32]:
        """(tets, 4)"""
        out: NDArray[np.int32] = view(self, lib.ct_model_tets(self._pointer), (self.tets, 4), "<i4")
        return out

    @property
    def surface(self) -> NDArray[np.int32]:
        """(triangles of the surface, 3)"""
        count = int(lib.ct_model_summary(self._pointer).nsurface)
        out: NDArray[np.int32] = view(self, lib.ct_model_surface(self._pointer), (count, 3), "<i4")
        return out

    @property
    def tet_body(self) -> NDArray[np.int32]:
        """(tets,): the body of each"""
        out: NDArray[np.int32] = view(self, lib.ct_model_tet_body(self._pointer), (self.tets,), "<i4")
        return out

    def body_nodes(self, body: int = 0) -> NDArray[np.int64]:
        """Nodes of the tets of a body."""
        return np.unique(self.tetrahedra[self.tet_body == body]).astype(np.int64)

    @property
    def link_names(self) -> List[str]:
        """Of its links, in the order of the scene."""
        return [text(lib.ct_model_link_info(self._pointer, k).name) for k in range(self.links)]

    @property
    def actuator_names(self) -> List[str]:
        """Of its muscles, chambers, cavities and cables, in the order of their numbers in `State.actuation`."""
        count = int(lib.ct_model_actuator_count(self._pointer))
        return [text(lib.ct_model_actuator_info(self._pointer, k).name) for k in range(count)]

    # ---- quantities

    def quantity_size(self, name: str) -> int:
        """Numbers of a quantity (of a control: per step); 0: the model has none."""
        return int(lib.ct_model_quantity_size(self._pointer, quantity_index(name)))

    @property
    def quantities(self) -> List[str]:
        """Names of those that the model has."""
        return [name for name in QUANTITIES if self.quantity_size(name)]

    def get(self, name: str) -> Array:
        """The numbers of a quantity, such as "young": one per element."""
        index = quantity_index(name)
        out = np.zeros(int(lib.ct_model_quantity_size(self._pointer, index)))
        if out.size:
            lib.ct_model_get(self._pointer, index, doubles(out))
        return out

    def set(self, values: Optional[Mapping[str, ArrayLike]] = None, **more: ArrayLike) -> bool:
        """Sets quantities: ``model.set(young=2e5, gravity=[0, 0, 0])``. A number stands for all.

        Returns whether the system was factored again. Rollouts on this model have to be run again before their
        gradients are taken.
        """
        c_values, keep = ffi.new("ct_values*"), {}
        for name, value in {**(values or {}), **more}.items():
            index = quantity_index(name)
            size = int(lib.ct_model_quantity_size(self._pointer, index))
            numbers = np.ascontiguousarray(np.broadcast_to(np.asarray(value, dtype=np.float64).ravel(), (size,)))
            keep[name] = (numbers, doubles(numbers))
            c_values.of[index] = keep[name][1]
        refactored, error = ffi.new("bool*"), ffi.new("ct_error*")
        check(lib.ct_model_set_values(self._pointer, c_values, refactored, error), error)
        self._changed.update({name: numbers.copy() for name, (numbers, _) in keep.items()})
        return bool(refactored[0])

    def factor_always(self, always: bool = True) -> None:
        """Every change of quantities factors the system anew, so that results depend on the values alone, to the bit."""
        lib.ct_model_factor_always(self._pointer, always)

    # ---- motion

    def pool(self) -> "Pool":
        """A pool with a thread on each core, of this thread's own, made once."""
        from .pool import Pool

        pool: Optional[Pool] = getattr(self._local, "pool", None)
        if pool is None:
            pool = self._local.pool = Pool(self)
        return pool

    def copies(self, count: int) -> List["Model"]:
        """Other models of the same scene with the same quantities, at most one per core, made once."""
        count = max(1, min(count, os.cpu_count() or 1))
        while len(self._copies) < count:
            other = Model(self.scene, threads=1)
            other._local = types.SimpleNamespace()  # one thread at a time, which holds its lock
            self._copies.append(other)
        for other in self._copies[:count]:
            with other.lock:
                if self._changed:
                    other.set(self._changed)
        return self._copies[:count]

    def state(self) -> State:
        """The state in which the scene begins: relaxed or settled where it says so."""
        state = State(self)
        if self._relaxes:
            state.relax()
        if self._settles:
            state.settle()
        return state

    def _work(self) -> Work:
        """The scratch of this thread."""
        work: Optional[Work] = getattr(self._local, "work", None)
        if work is None:
            work = self._local.work = Work(self, self._threads)
        return work

    def step(self, state: State, control: Optional[ArrayLike] = None) -> StepReport:
        """Advances the state by one step, in place; on failure it stays as it was."""
        work: Work = getattr(self._local, "work", None) or self._work()
        if control is None:
            numbers = ffi.NULL
        else:
            numbers = doubles(array(control, (self.control_size,), "the control"))
        lib.cuttle_host_begin(work.host.pointer, ffi.NULL)
        status = lib.ct_step(self._pointer, work.pointer, state._pointer, numbers, work.report)
        if status:
            fail(status, text(work.report.message))
        return step_report(work.report)

    def step_vjp(
        self, state: State, state_bar: ArrayLike, control: Optional[ArrayLike] = None
    ) -> Tuple[Array, Array]:
        """The reverse of a step from `state`: from dL/d(vector of the state after) to dL/d(vector of the state)
        and dL/d(control)."""
        work = self._work()
        bar = array(state_bar, (self.state_size,), "state_bar").copy()
        numbers = None if control is None else array(control, (self.control_size,), "the control")
        control_bar = np.zeros(self.control_size)
        gradient = ffi.new("ct_values*")
        control_pointer = doubles(control_bar)
        gradient.of[lib.CT_QUANTITY_CONTROL] = control_pointer
        work.host.begin()
        status = lib.ct_step_vjp(
            self._pointer, work.pointer, state._pointer, doubles(numbers), doubles(bar), gradient, ffi.NULL
        )
        check(status)
        return bar, control_bar

    def step_jvp(
        self,
        state: State,
        state_dots: Optional[ArrayLike] = None,
        control: Optional[ArrayLike] = None,
        control_dots: Optional[ArrayLike] = None,
        **dots: ArrayLike,
    ) -> Tuple[State, Array]:
        """A step from `state`, which stays as it is, along directions (forward mode).

        state_dots: what the vector of the state changes by, (state_size,), or (directions, state_size); None: nothing.
        control_dots and dots: what the control and quantities (young, poisson, gravity, friction) change by, likewise.
        Returns the state after the step and what its vector changes by.
        """
        work, after = self._work(), self.state()
        if control_dots is not None:
            dots["control"] = control_dots
        rows = {name: np.atleast_2d(np.asarray(value, np.float64)) for name, value in dots.items()}
        single = all(np.ndim(value) <= 1 for value in [*dots.values(), np.zeros(0) if state_dots is None else state_dots])
        counts = [len(value) for value in rows.values()]
        if state_dots is None:
            out = np.zeros((max(counts, default=1), self.state_size))
        else:
            out = array(np.atleast_2d(np.asarray(state_dots, np.float64)), (-1, self.state_size), "state_dots").copy()
        values, keep = ffi.new("ct_values[]", len(out)), []
        for name, value in rows.items():
            index, shape = quantity_index(name), (len(out), self.quantity_size(name))
            if value.shape not in (shape, (1, shape[1]), (1, 1)):
                raise BadArgument(f"the change of {name} must have the shape {shape}, not {value.shape}")
            numbers = np.ascontiguousarray(np.broadcast_to(value, shape))
            keep.append((numbers, [doubles(row) for row in numbers]))
            for i, pointer in enumerate(keep[-1][1]):
                values[i].of[index] = pointer
        control_numbers = None if control is None else array(control, (self.control_size,), "the control")
        work.host.begin()
        status = lib.ct_step_jvp(
            self._pointer, work.pointer, state._pointer, doubles(control_numbers), len(out), doubles(out), values,
            after._pointer, ffi.NULL,
        )  # fmt: skip
        if status == lib.CT_UNSUPPORTED:
            fail(status, "there is no forward mode for quantities other than control, young and poisson (without sheets), "
                 "gravity (outside of water) and friction: use step_vjp")  # fmt: skip
        check(status)
        return after, out[0] if single else out

    def rollout(
        self,
        controls: Optional[ArrayLike] = None,
        steps: Optional[int] = None,
        state: Optional[State] = None,
        max_bytes: int = 0,
    ) -> "Rollout":
        """Runs steps from `state` (the scene's initial one), which stays as it is.

        controls: (steps, control_size), None: the scene's values. max_bytes: of the tape that a gradient needs, 0:
        no limit; beyond it states are computed again.
        """
        from .rollout import Rollout

        return Rollout(self, controls, steps, state, max_bytes)

    def __getstate__(self) -> Dict[str, Any]:
        return {"scene": self.scene, "threads": self._threads, "changed": self._changed}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(state["scene"], state["threads"])  # type: ignore[misc]
        if state["changed"]:
            self.set(state["changed"])

    def __repr__(self) -> str:
        parts = [f"{self.nodes} nodes"]
        parts += [f"{n} {what}" for n, what in ((self.tets, "tets"), (self.triangles, "triangles")) if n]
        parts += [f"{self.links} links"] if self.links else []
        parts.append(f"{self.control_size} controls")
        return f"<Model {self.name!r}: {', '.join(parts)}, {self.mass:.3g} kg>"


__all__ = ["Control", "Model", "State", "StepReport", "raise_pending"]
