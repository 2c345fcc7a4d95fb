"""Problems: the objective of a scene as a function of one vector y, in which each parameter is a slice."""
from __future__ import annotations

import inspect
import sys
import tempfile
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from ._core import (
    Array,
    BadArgument,
    Host,
    array,
    check,
    doubles,
    fail_with,
    ffi,
    fields,
    interruptible,
    lib,
    raise_pending,
    set_pending,
    spans,
    text,
)
from .model import Model, State
from .picture import Image, draw_file
from .rollout import Record, RolloutReport, rollout_report
from .scene import Path, Scene, load, os
from .view import Live, Page, page


class Slice(NamedTuple):
    """A parameter's numbers in y."""

    name: str
    quantity: str
    first: int
    count: int  # type: ignore[assignment]


class Evaluation(NamedTuple):
    """Loss and gradient at a point; measure: the first term of the objective as a root mean square."""

    loss: float
    gradient: Optional[Array]
    measure: float


class Progress(NamedTuple):
    """Where a search is."""

    iteration: int
    loss: float
    best: float
    gradient_norm: float
    measure: float
    seconds: float
    failed: bool
    y: Array
    best_y: Array


class Optimum(NamedTuple):
    """What a search has found."""

    y: Array
    loss: float
    iterations: int
    failures: int
    reason: str
    seconds: float


class Motion(NamedTuple):
    """The motion of a problem at a point: as Rollout."""

    positions: Array
    velocities: Array
    coordinates: Array
    actuation: Array
    contact_forces: Array
    controls: Array
    report: RolloutReport


# loss, dL/dx, dL/dv = term(step, x, v); x, v and the derivatives (nodes, 3); None: no derivative. Or, where the scene has
# joints: loss, dL/dx, dL/dv, dL/dq = term(step, x, v, q), q the coordinates, dL/dq per joint rate
Term = Callable[..., Tuple[Any, ...]]
OnProgress = Callable[[Progress], Optional[bool]]


def _raised(_type: Any, exception: BaseException, _traceback: Any) -> None:
    set_pending(exception)


class _Watcher:
    """Hands progress on, and stops a search."""

    def __init__(self, call: OnProgress, size: int) -> None:
        self.call, self.size = call, size
        self.handle = ffi.new_handle(self)


@ffi.def_extern(name="cuttle_python_progress", error=False, onerror=_raised)
def _progress(c: Any, user: Any) -> bool:
    watcher: _Watcher = ffi.from_handle(user)
    y, best = (
        np.frombuffer(ffi.buffer(p, 8 * watcher.size)).copy() if p else np.zeros(0) for p in (c.y, c.best_y)
    )
    now = Progress._make([*fields(c, Progress._fields[:-2]), y, best])
    return watcher.call(now) is not False


class TermCall:
    """A term for the library."""

    def __init__(self, call: Term, problem: Any) -> None:
        model = lib.ct_problem_model(problem)
        info = lib.ct_model_summary(model)
        first, last = (lib.ct_model_state_first(model, lib.CT_STATE_COORDINATE + i) for i in (0, 1))
        self.call, self.nodes, self.rates, self.coordinates = call, int(info.nvert), int(info.njoint), int(last - first)
        self.joints = len(inspect.signature(call).parameters) > 3
        self.exception: Optional[BaseException] = None  # that it raised, on whatever thread
        self.handle = ffi.new_handle(self)


@ffi.def_extern(name="cuttle_python_term", onerror=_raised)
def _term(step: int, state: Any, loss: Any, x_bar: Any, v_bar: Any, q_bar: Any, user: Any) -> None:
    own: TermCall = ffi.from_handle(user)
    try:
        _add_term(own, step, state, loss, x_bar, v_bar, q_bar)
    except BaseException as exception:
        own.exception, loss[0] = exception, np.nan
        raise


def _add_term(own: TermCall, step: int, state: Any, loss: Any, x_bar: Any, v_bar: Any, q_bar: Any) -> None:
    nodes: Tuple[int, ...] = (own.nodes, 3)
    seen = [lib.ct_state_positions(state), lib.ct_state_velocities(state)]
    numbers = [np.frombuffer(ffi.buffer(p, 24 * own.nodes)).reshape(nodes).copy() for p in seen]
    if own.joints:
        numbers.append(np.frombuffer(ffi.buffer(lib.ct_state_coordinates(state), 8 * own.coordinates)).copy())
    value, *by = own.call(step, *numbers)
    loss[0] += value
    for bar, own_bar, shape in zip((x_bar, v_bar, q_bar), by, (nodes, nodes, (own.rates,))):
        if bar and own_bar is not None:
            size = 8 * int(np.prod(shape))
            np.frombuffer(ffi.buffer(bar, size)).reshape(shape)[:] += array(own_bar, shape, "a term's derivative")


def _bar(now: Progress) -> None:
    """Progress as a line on stderr."""
    end = "" if sys.stderr.isatty() else "\n"
    print(f"\r{now.iteration:5d}  loss {now.loss:.4g}  best {now.best:.4g}  {now.seconds:.1f} s", end=end, file=sys.stderr)


def method_index(name: str) -> int:
    out = ffi.new("ct_method*")
    if not lib.ct_method_find(name.encode(), out):
        raise BadArgument(f"there is no method {name!r}")
    return int(out[0])


def optimize_def(scene: Scene, method: Optional[str], options: "dict[str, Any]") -> Any:
    definition = ffi.new("ct_optimize_def*", lib.ct_scene_optimize_def(scene._pointer))
    if method is not None:
        definition.method = method_index(method)
    for name, value in options.items():
        try:
            setattr(definition, name, value)
        except AttributeError:
            raise BadArgument(f"searches have no option {name!r}") from None
    return definition


class Objective:
    """The objective of a scene at a single state, as if a rollout ended with it: ``objective(state)``."""

    def __init__(self, scene: Union[Scene, Path, "Problem"]) -> None:
        self._problem = scene if isinstance(scene, Problem) else Problem(scene)

    def __call__(self, state: State) -> float:
        return self.evaluate(state)[0]

    def evaluate(self, state: State) -> Tuple[float, Array]:
        """The loss, and its derivative by the vector of the state."""
        problem, loss = self._problem, ffi.new("double*")
        bar = np.zeros(state.model.state_size)
        check(lib.ct_problem_state(problem._pointer, problem.steps, state._pointer, loss, doubles(bar)))
        return float(loss[0]), bar

    def terms(self, state: State) -> Dict[str, Tuple[float, Array]]:
        """The same of each term by its name, weights included; those of controls are 0."""
        problem, out = self._problem, {}  # type: Problem, Dict[str, Tuple[float, Array]]
        for i in range(int(lib.ct_problem_term_count(problem._pointer))):
            loss, bar = ffi.new("double*"), np.zeros(state.model.state_size)
            check(lib.ct_problem_state_term(problem._pointer, i, problem.steps, state._pointer, loss, doubles(bar)))
            out[text(lib.ct_problem_term_name(problem._pointer, i))] = (float(loss[0]), bar)
        return out

    def __repr__(self) -> str:
        pointer = self._problem._pointer
        names = [text(lib.ct_problem_term_name(pointer, i)) for i in range(int(lib.ct_problem_term_count(pointer)))]
        return f"<Objective of {self._problem.scene.name!r}: {', '.join(names) or 'no terms'}>"


class Problem:
    """Minimise a scene's objective over its parameters: ``Problem("identify")``.

    ``problem.fun(y)`` and ``problem.jac(y)`` suit scipy.optimize.minimize; ``problem(y)`` returns both.
    """

    def __init__(self, scene: Union[Scene, Path], max_bytes: int = 0) -> None:
        self.scene = scene if isinstance(scene, Scene) else load(scene)
        error, out = ffi.new("ct_error*"), ffi.new("ct_problem**")
        with interruptible():
            status = lib.ct_problem_create(out, self.scene._pointer, max_bytes, error)
        check(status, error)
        self._pointer = ffi.gc(out[0], lib.ct_problem_free)
        self._host = Host()
        lib.ct_problem_set_cancel(self._pointer, self._host.cancel, self._host.pointer)
        self.size = int(lib.ct_problem_size(self._pointer))
        self.steps = int(lib.ct_problem_steps(self._pointer))
        self._own_term: Optional[TermCall] = None
        self._shapes: Optional[Model] = None

    @property
    def start(self) -> Array:
        """The scene's own values as a point."""
        y = np.zeros(self.size)
        lib.ct_problem_start(self._pointer, doubles(y))
        return y

    @property
    def bounds(self) -> Tuple[Array, Array]:
        """Lower and upper bounds of y, -inf and inf where there are none."""
        lower, upper = np.zeros(self.size), np.zeros(self.size)
        lib.ct_problem_bounds(self._pointer, doubles(lower), doubles(upper))
        return lower, upper

    @property
    def slices(self) -> List[Slice]:
        """Its parameters, in order."""
        own, count = self._pointer, lib.ct_problem_slice_count(self._pointer)
        return [Slice(*s) for s in spans(count, lambda i: lib.ct_problem_slice(own, i), lib.ct_quantity_name)]

    def values(self, y: ArrayLike) -> Array:
        """What y means: a physical value for each of its numbers."""
        point, values = self._point(y), np.zeros(self.size)
        lib.ct_problem_values(self._pointer, doubles(point), doubles(values))
        return values

    def _point(self, y: ArrayLike) -> Array:
        return array(y, (self.size,), "y")

    def set_term(self, term: Optional[Term]) -> None:
        """Adds a term of your own to the objective: ``loss, dL/dx, dL/dv = term(step, x, v)``, for every state; with joints
        also ``loss, dL/dx, dL/dv, dL/dq = term(step, x, v, q)``."""
        self._own_term = None if term is None else TermCall(term, self._pointer)
        if self._own_term is None:
            lib.ct_problem_set_term(self._pointer, ffi.NULL, ffi.NULL)
        else:
            lib.ct_problem_set_term(self._pointer, lib.cuttle_python_term, self._own_term.handle)

    def evaluate(self, y: ArrayLike, gradient: bool = True) -> Evaluation:
        """The loss at y, and its gradient."""
        point = self._point(y)
        by = np.zeros(self.size) if gradient else None
        loss, report, error = ffi.new("double*"), ffi.new("ct_problem_report*"), ffi.new("ct_error*")
        self._host.begin()
        status = lib.ct_problem_evaluate(self._pointer, doubles(point), loss, doubles(by), report, error)
        raise_pending()
        check(status, error)
        return Evaluation(loss[0], by, report.measure)

    def fun(self, y: ArrayLike) -> float:
        return self.evaluate(y, gradient=False).loss

    def jac(self, y: ArrayLike) -> Array:
        gradient = self.evaluate(y).gradient
        assert gradient is not None
        return gradient

    def __call__(self, y: ArrayLike) -> Tuple[float, Array]:
        loss, gradient, _ = self.evaluate(y)
        assert gradient is not None
        return loss, gradient

    def optimize(
        self,
        y: Optional[ArrayLike] = None,
        method: Optional[str] = None,
        progress: Union[OnProgress, bool, None] = None,
        **options: Any,
    ) -> Optimum:
        """Searches from y (the scene's values) by the scene's method or another, with options such as iterations.

        progress: called after each evaluation; returns False to stop. True: a line on stderr.
        """
        definition = optimize_def(self.scene, method, options)
        point = self.start if y is None else self._point(y).copy()
        report, error = ffi.new("ct_optimize_report*"), ffi.new("ct_error*")
        call = _bar if progress is True else progress or None
        watcher = None if call is None else _Watcher(call, self.size)
        self._host.begin()
        status = lib.ct_problem_optimize(
            self._pointer, definition, doubles(point),
            lib.cuttle_python_progress if watcher else ffi.NULL, watcher.handle if watcher else ffi.NULL, report, error,
        )  # fmt: skip
        raise_pending()
        if status:
            fail_with(error, status)
        return Optimum(
            point, report.loss, report.iterations, report.failures, text(report.reason), report.seconds
        )

    def rollout(self, y: ArrayLike) -> Motion:
        """The motion at y."""
        point, error, report = self._point(y), ffi.new("ct_error*"), ffi.new("ct_rollout_report*")
        if self._shapes is None:
            self._shapes = Model(self.scene)
        record = Record(self._shapes, self.steps)
        controls = np.zeros((self.steps, self._shapes.control_size))
        self._host.begin()
        status = lib.ct_problem_rollout(
            self._pointer, doubles(point), ffi.addressof(lib, "cuttle_record_state"), record.pointer, doubles(controls),
            report, error,
        )  # fmt: skip
        check(status, error)
        return Motion(
            record.positions, record.velocities, record.coordinates, record.actuation, record.contact_forces, controls,
            rollout_report(report),
        )  # fmt: skip

    def record(self, path: Path, y: ArrayLike) -> None:
        """Runs the motion at y into a trajectory file."""
        point, error = self._point(y), ffi.new("ct_error*")
        file = os.fsencode(path)
        self._host.begin()
        check(lib.ct_problem_record(self._pointer, self.scene._pointer, file, doubles(point), error), error)

    def picture(self, y: ArrayLike, step: int = -1, width: int = 640, height: int = 360, **keys: Any) -> Image:
        """A picture of the motion at y; keys as those of Rollout.picture."""
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "motion.h5")
            self.record(path, y)
            return draw_file(path, [range(self.steps + 1)[step]], width, height, **keys)[0]

    def view(self, y: Optional[ArrayLike] = None, height: int = 540) -> Union[Live, Page]:
        """The scene, simulated while one looks; with y: the motion there as a page. A notebook shows either in a frame."""
        if y is None:
            return self.scene.view(height)
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "motion.h5")
            self.record(path, y)
            return page(path, self.scene, False, 1, None, height)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Problem, (self.scene,)

    def __repr__(self) -> str:
        slices = ", ".join(f"{s.name} ({s.count})" for s in self.slices[:4])
        more = ", ..." if len(self.slices) > 4 else ""
        return f"<Problem {self.scene.name!r}: {self.size} numbers, {slices}{more}; {self.steps} steps>"
