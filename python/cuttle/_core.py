"""What the rest of the package stands on: the library, errors, arrays, and the way to interrupt it."""
from __future__ import annotations

import contextlib
import threading
from typing import Any, Callable, Dict, Iterable, Iterator, List, NoReturn, Optional, Sequence, Tuple, Type

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._cuttle import ffi, lib

Array = NDArray[np.float64]


# ---- errors ----------------------------------------------------------------------------------


class Error(Exception):
    """What the library refuses or fails at, with a sentence that says what to change.

    file, line, path, element: where the mistake is, where that is known ("" or 0 or -1 otherwise).
    """

    status = 0

    def __init__(self, message: str, file: str = "", line: int = 0, path: str = "", element: int = -1) -> None:
        self.message, self.file, self.line, self.path, self.element = message, file, line, path, element
        place = ":".join(part for part in (file, str(line) if line else "") if part)
        where = path if not message.startswith(path) else ""  # most messages begin with it
        super().__init__(": ".join(part for part in (place, where, message) if part))

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.message, self.file, self.line, self.path, self.element)


class OutOfMemory(Error, MemoryError):
    """Out of memory."""


class BadArgument(Error, ValueError):
    """An argument is out of range."""


class BadFile(Error, ValueError):
    """A file is not what it claims to be."""


class BadMesh(Error, ValueError):
    """A mesh cannot be simulated."""


class BadScene(Error, ValueError):
    """A scene is not valid."""


class FileError(Error, OSError):
    """Reading or writing a file failed."""


class NotConverged(Error, ArithmeticError):
    """A step, or the adjoint of one, did not converge."""


class Singular(Error, ArithmeticError):
    """The system matrix is not positive definite."""


class Unsupported(Error, NotImplementedError):
    """This is not supported."""


class Cancelled(Error):
    """Something was cancelled."""


_ERRORS: Dict[int, Type[Error]] = {
    lib.CT_OUT_OF_MEMORY: OutOfMemory,
    lib.CT_BAD_ARGUMENT: BadArgument,
    lib.CT_BAD_FILE: BadFile,
    lib.CT_BAD_MESH: BadMesh,
    lib.CT_BAD_SCENE: BadScene,
    lib.CT_IO: FileError,
    lib.CT_NOT_CONVERGED: NotConverged,
    lib.CT_SINGULAR: Singular,
    lib.CT_UNSUPPORTED: Unsupported,
    lib.CT_CANCELLED: Cancelled,
}
for _status, _kind in _ERRORS.items():
    _kind.status = _status


def text(pointer: Any) -> str:
    """A C string."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer else ""


def status_text(status: int) -> str:
    return text(lib.ct_status_text(status))


def fail(status: int, message: str = "") -> NoReturn:
    """Raises what the status stands for; what Python raised meanwhile (Ctrl-C) comes first."""
    raise_pending()
    raise error_of(status, message)


def error_of(status: int, message: str = "") -> Error:
    """What the status stands for; a step that did not converge has advice alone as its message."""
    meaning = status_text(status)
    if status == lib.CT_NOT_CONVERGED and message:
        message = f"{meaning}: {message}"
    return _ERRORS.get(status, Error)(message or meaning)


def fail_with(error: Any, status: int) -> NoReturn:
    """The same with a ct_error."""
    raise_pending()
    raise _ERRORS.get(status, Error)(
        text(error.message) or status_text(status), text(error.file), error.line, text(error.path), error.element
    )


def check(status: int, error: Any = None) -> None:
    if status == lib.CT_OK:
        return
    if error is not None:
        fail_with(error, status)
    fail(status)


# ---- Ctrl-C and exceptions of callbacks ------------------------------------------------------

_pending = threading.local()


def set_pending(exception: BaseException) -> None:
    """Keeps what a callback raised until the library has returned."""
    if getattr(_pending, "exception", None) is None:
        _pending.exception = exception


def raise_pending() -> None:
    exception: Optional[BaseException] = getattr(_pending, "exception", None)
    if exception is not None:
        _pending.exception = None
        raise exception


def _cancelled(_type: Any, exception: BaseException, _traceback: Any) -> bool:
    set_pending(exception)
    return True


def _let_signals_run() -> None:
    """Python calls the handlers of signals that have come between two of its own steps."""


@ffi.def_extern(name="cuttle_python_cancel", error=True, onerror=_cancelled)
def _cancel(user: Any) -> bool:
    _let_signals_run()
    return False


class Host:
    """Whom works ask whether to go on: this Python, on the thread that called."""

    def __init__(self) -> None:
        self._memory = ffi.new("char[]", int(lib.cuttle_host_size()))
        self.pointer = ffi.cast("cuttle_host*", self._memory)
        self.cancel = ffi.addressof(lib, "cuttle_host_cancel")

    def begin(self) -> None:
        lib.cuttle_host_begin(self.pointer, ffi.NULL)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C ends set-up, too: meshing, creation of models."""
    host = Host()
    host.begin()
    lib.ct_set_cancel(host.cancel, host.pointer)
    try:
        yield
    finally:
        lib.ct_set_cancel(ffi.NULL, ffi.NULL)


# ---- arrays ----------------------------------------------------------------------------------


class _Memory:
    """Memory of the library as numpy wants it; keeps the owner alive as long as an array looks at it."""

    __slots__ = ("owner", "__array_interface__")

    def __init__(self, owner: Any, pointer: Any, shape: Tuple[int, ...], kind: str) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "data": (int(ffi.cast("uintptr_t", pointer)), True),
            "shape": shape,
            "typestr": kind,
            "version": 3,
        }


def view(owner: Any, pointer: Any, shape: Tuple[int, ...], kind: str = "<f8") -> Any:
    """A read-only array of the library's own memory."""
    if 0 in shape or pointer == ffi.NULL:
        return np.zeros(shape, dtype=kind)
    return np.asarray(_Memory(owner, pointer, shape, kind))


def array(values: ArrayLike, shape: Optional[Tuple[int, ...]] = None, what: str = "array") -> Array:
    """A contiguous array of doubles; of the shape, if one is given (-1: any length)."""
    out = np.ascontiguousarray(values, dtype=np.float64)
    if shape is not None:
        if out.ndim != len(shape) or any(n not in (-1, m) for n, m in zip(shape, out.shape)):
            wanted = "(" + ", ".join("n" if n < 0 else str(n) for n in shape) + ")"
            raise BadArgument(f"{what} must have the shape {wanted}, not {out.shape}")
    return out


def doubles(values: Optional[Array]) -> Any:
    """A pointer to the numbers of an array that array() made; NULL for None or an empty one."""
    if values is None or values.size == 0:
        return ffi.NULL
    return ffi.from_buffer("double[]", values, require_writable=False)


def fields(struct: Any, names: Iterable[str]) -> List[Any]:
    """Fields of a C struct."""
    return [getattr(struct, name) for name in names]


def spans(count: int, info: Callable[[int], Any], word: Callable[[Any], Any]) -> Iterator[Tuple[str, str, int, int]]:
    """Name, kind, first number and count of each of what a vector consists of."""
    for i in range(count):
        c = info(i)
        kind = c.quantity if hasattr(c, "quantity") else c.kind
        yield text(c.name), text(word(kind)), c.first, c.count


def quantities() -> Iterator[Tuple[int, str]]:
    for quantity in range(lib.CT_QUANTITY_COUNT):
        yield quantity, text(lib.ct_quantity_name(quantity))


QUANTITIES: List[str] = [name for _, name in quantities()]


def quantity_index(name: str) -> int:
    index = int(lib.ct_quantity_find(name.encode()))
    if index == lib.CT_QUANTITY_COUNT:
        raise BadArgument(f"there is no quantity {name!r}; there are {', '.join(QUANTITIES)}")
    return index


def thread_count(threads: Optional[int]) -> int:
    if threads is not None and threads < 0:
        raise BadArgument(f"{threads} threads were asked for")
    return threads or 0


def names(values: Sequence[str]) -> str:
    return ", ".join(values) if values else "none"
