"""Motions in the browser: pages that stand alone, and scenes that are simulated while one looks."""
from __future__ import annotations

import atexit
import html
import json
import os
import shutil
import subprocess
import tempfile
import threading
import weakref
import webbrowser
from typing import TYPE_CHECKING, Any, List, Optional

from ._core import BadArgument, Error, check, ffi, lib
from .scene import Path

if TYPE_CHECKING:
    from .scene import Scene

_START = 60.0  # seconds that a scene may take to be loaded


class Page:
    """A motion as one HTML page that needs no network; a notebook shows it in a frame."""

    def __init__(self, text: str, height: int = 540) -> None:
        self.html, self.height = text, height

    def save(self, path: Path) -> None:
        """Writes the page, to be sent or put on a web site."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)

    def open(self) -> str:
        """Opens it in the browser; returns where it was written."""
        with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8", delete=False) as file:
            file.write(self.html)
        webbrowser.open("file://" + file.name)
        return file.name

    def _repr_html_(self) -> str:
        return _frame(f'srcdoc="{html.escape(self.html)}"', self.height)

    def __repr__(self) -> str:
        return f"<Page of {len(self.html) / 1e6:.1f} MB>"


def _frame(source: str, height: int) -> str:
    style = f"width:100%;height:{height}px;border:0;border-radius:8px"
    return f'<iframe title="Cuttle viewer" allow="fullscreen; clipboard-write" style="{style}" {source}></iframe>'


def page(path: Path, scene: Optional["Scene"], interior: bool, stride: int, fields: Optional[str], height: int) -> Page:
    """The page of a trajectory file."""
    if not lib.ct_page_available():
        raise BadArgument("this build of Cuttle has no viewer: install npm (Debian: apt-get install npm), and build again")
    error, out = ffi.new("ct_error*"), ffi.new("ct_trajectory**")
    check(lib.ct_trajectory_open(out, os.fsencode(path), error), error)
    try:
        definition = ffi.new("ct_page_def*", lib.ct_page_def_default())
        definition.interior, definition.stride = interior, stride
        words = ffi.NULL if fields is None else ffi.new("char[]", fields.encode())
        definition.fields = words
        definition.scene = ffi.NULL if scene is None else scene._pointer
        with tempfile.TemporaryDirectory() as directory:
            name = os.path.join(directory, "page.html")
            check(lib.ct_page_write(out, 1, definition, os.fsencode(name), error), error)
            with open(name, encoding="utf-8") as file:
                return Page(file.read(), height)
    finally:
        lib.ct_trajectory_close(out[0], ffi.NULL)


def program() -> str:
    """The program `cuttle`: $CUTTLE, or where the shell finds it."""
    found = os.environ.get("CUTTLE") or shutil.which("cuttle")
    if not found:
        raise Error(
            "scenes are simulated live by the program `cuttle`, which was not found: install it (`make install`), or put its "
            "path into the environment variable CUTTLE"
        )
    return found


class Live:
    """A scene that is simulated while one looks at ``address``, which this machine alone can open; ``stop()`` ends it.

    A notebook shows it in a frame.
    """

    _running: "weakref.WeakSet[Live]" = weakref.WeakSet()

    def __init__(self, scene: "Scene", height: int = 540) -> None:
        self.height, self.address = height, ""
        self._place = tempfile.TemporaryDirectory()
        self.file = os.path.join(self._place.name, "scene.json")
        scene.save(self.file)
        self._process = self._start([program(), "view", self.file, "--no-open", "--json"])
        self.address = self._hear()
        Live._running.add(self)

    @staticmethod
    def _start(command: List[str]) -> "subprocess.Popen[str]":
        try:
            return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        except OSError as problem:
            raise Error(f"{command[0]} cannot be started: {problem.strerror}") from None

    def _hear(self) -> str:
        """The address that the program tells, or why there is none."""
        assert self._process.stdout is not None
        late = threading.Timer(_START, self._process.kill)
        late.start()
        told = self._document(self._process.stdout)
        late.cancel()
        if told.get("address"):
            return str(told["address"])
        _, errors = self._process.communicate()
        self._place.cleanup()
        problem: Any = told.get("error", errors.strip() or "the program said nothing")
        raise Error(str(problem.get("message", problem)) if isinstance(problem, dict) else str(problem))

    @staticmethod
    def _document(stream: Any) -> "dict[str, Any]":
        """One JSON object, on one line or several."""
        lines = ""
        for line in stream:
            lines += line
            try:
                told: "dict[str, Any]" = json.loads(lines)
                return told
            except ValueError:
                continue
        return {}

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def open(self) -> None:
        """Opens it in the browser."""
        webbrowser.open(self.address)

    def stop(self) -> None:
        """Ends the simulation."""
        if self.running:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._place.cleanup()

    def __enter__(self) -> "Live":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def __del__(self) -> None:
        if self.address:
            self.stop()

    def _repr_html_(self) -> str:
        return _frame(f'src="{html.escape(self.address)}"', self.height)

    def __repr__(self) -> str:
        return f"<Live at {self.address}>" if self.running else "<Live, ended>"


@atexit.register
def _stop_all() -> None:
    for live in list(Live._running):
        live.stop()
