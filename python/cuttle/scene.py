"""Scenes: what is simulated, as a JSON document (docs/scene.md has every key)."""
from __future__ import annotations

import json
import os
import pathlib
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Tuple, Union

import numpy as np

from ._core import check, ffi, interruptible, lib, text

if TYPE_CHECKING:
    from .model import Model
    from .view import Live

Path = Union[str, "os.PathLike[str]"]

DATA = pathlib.Path(os.path.abspath(__file__)).parent / "data"


def _plain(value: Any) -> Any:
    """What JSON has no word for: arrays and numbers of numpy, paths."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"a scene cannot hold {type(value).__name__}")


class Scene:
    """A scene, from a document: ``Scene(bodies=[...], pins=[...], gravity=9.81)`` or ``Scene({...})``.

    Files that it names are relative to `directory` (the current one by default). The document is what a scene
    file says; it is checked here, and a mistake is named with its place and what to change.
    """

    def __init__(
        self,
        document: Union[Mapping[str, Any], str, None] = None,
        directory: Optional[Path] = None,
        **keys: Any,
    ) -> None:
        if isinstance(document, str):
            self._text, self._file = document, ""
        else:
            merged: Dict[str, Any] = dict(document or {})
            merged.update(keys)
            self._text, self._file = json.dumps(merged, default=_plain), ""
        self._directory = os.path.abspath(os.fspath(directory) if directory is not None else ".")
        self._read()

    def _read(self, written: Optional[str] = None) -> None:
        error, out = ffi.new("ct_error*"), ffi.new("ct_scene**")
        encoded = (self._text if written is None else written).encode()
        with interruptible():
            if self._file and written is None:
                status = lib.ct_scene_load(out, os.fsencode(self._file), error)
            else:
                status = lib.ct_scene_parse(out, encoded, len(encoded), os.fsencode(self._directory), error)
        check(status, error)
        self._pointer = ffi.gc(out[0], lib.ct_scene_free)

    @classmethod
    def load(cls, path: Path) -> "Scene":
        """A scene file."""
        self = cls.__new__(cls)
        self._file = os.path.abspath(os.fspath(path))
        self._directory = os.path.dirname(self._file)
        self._text = ""
        self._read()
        with open(self._file, encoding="utf-8") as file:
            self._text = file.read()
        return self

    def to_dict(self) -> Dict[str, Any]:
        """The document as it was given; a copy."""
        document: Dict[str, Any] = json.loads(self._text)
        return document

    def save(self, path: Path, document: bool = False) -> None:
        """Writes a scene file that stands alone: meshes, selections and tables are written out in numbers. Loaded again
        it is the same scene, to the bit.

        document: the document as it was given instead, short and to be edited; files that it names stay relative to the
        directory of the scene, so save it there.
        """
        if document:
            with open(path, "w", encoding="utf-8") as file:
                file.write(self._text)
            return
        error = ffi.new("ct_error*")
        with interruptible():
            status = lib.ct_scene_save(self._pointer, os.fsencode(path), error)
        check(status, error)

    def write(self) -> str:
        """What `save` writes, as text."""
        error, out, size = ffi.new("ct_error*"), ffi.new("char**"), ffi.new("size_t*")
        with interruptible():
            status = lib.ct_scene_write(self._pointer, out, size, error)
        check(status, error)
        try:
            return bytes(ffi.buffer(out[0], size[0])).decode()
        finally:
            lib.ct_free(out[0])

    def replace(self, **keys: Any) -> "Scene":
        """The same scene with other values of top-level keys: ``scene.replace(duration=2, integrator="bdf2")``."""
        return Scene({**self.to_dict(), **keys}, directory=self._directory)

    def model(self, threads: int = 0) -> "Model":
        """Compiles and factors it."""
        from .model import Model

        return Model(self, threads)

    def view(self, height: int = 540) -> "Live":
        """Simulates it while one looks, in the browser or in a notebook's frame, until ``stop()``. The program `cuttle` does
        that: $CUTTLE, or where the shell finds it."""
        from .view import Live

        return Live(self, height)

    @property
    def name(self) -> str:
        return text(lib.ct_scene_name(self._pointer))

    @property
    def directory(self) -> str:
        return self._directory

    @property
    def steps(self) -> int:
        """Steps of its duration."""
        settings = lib.ct_scene_settings(self._pointer)
        return round(settings.duration / settings.time_step)

    @property
    def time_step(self) -> float:
        return float(lib.ct_scene_settings(self._pointer).time_step)

    def __getstate__(self) -> Tuple[str, str, str]:
        return self._text, self._directory, self.write()

    def __setstate__(self, state: Tuple[str, str, str]) -> None:
        """From what the scene is, not from how it was made: no mesh is made again, no file is read."""
        self._text, self._directory, written = state
        self._file = ""
        self._read(written)

    def __repr__(self) -> str:
        bodies = int(lib.ct_scene_body_count(self._pointer))
        nodes = int(lib.ct_scene_node_count(self._pointer))
        links = int(lib.ct_scene_link_count(self._pointer))
        return f"<Scene {self.name!r}: {bodies} bodies, {nodes} nodes, {links} links, {self.steps} steps>"


def load(path: Path) -> Scene:
    """A scene from its file; the name of one that comes with the package, such as "octopus", also does."""
    name = os.fspath(path)
    bundled = DATA / "scenes" / f"{name}.json"
    if not os.path.exists(name) and not os.path.dirname(name) and bundled.exists():
        return Scene.load(bundled)
    return Scene.load(name)


def scenes() -> "list[str]":
    """Names of the scenes that come with the package."""
    return sorted(path.stem for path in (DATA / "scenes").glob("*.json"))
