"""Pictures and movies of rollouts, drawn by the library, without a display."""
from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, List, Optional

import numpy as np
from numpy.typing import NDArray

from ._core import BadArgument, check, ffi, lib
from .scene import Path

if TYPE_CHECKING:
    from .rollout import Rollout

Image = NDArray[np.uint8]


def draw(rollout: "Rollout", frames: List[int], width: int, height: int, color_by: str = "body") -> List[Image]:
    """Pictures (height, width, 3) of states of a rollout."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rollout.h5")
        rollout.save(path)
        return draw_file(path, frames, width, height, color_by)


def draw_file(path: Path, frames: List[int], width: int, height: int, color_by: str = "body") -> List[Image]:
    """Pictures of frames of a trajectory file."""
    error, out = ffi.new("ct_error*"), ffi.new("ct_trajectory**")
    check(lib.ct_trajectory_open(out, os.fsencode(path), error), error)
    try:
        word = ffi.new("char[]", color_by.encode())
        definition = ffi.new("ct_picture_def*", lib.ct_picture_def_default())
        definition.width, definition.height, definition.color_by = width, height, word
        definition.view = lib.ct_trajectory_summary(out[0]).view
        pictures = []
        for frame in frames:
            pixels: Image = np.zeros((height, width, 3), np.uint8)
            check(lib.ct_picture_draw(out[0], frame, definition, ffi.from_buffer("uint8_t[]", pixels), error), error)
            pictures.append(pixels)
        return pictures
    finally:
        lib.ct_trajectory_close(out[0], ffi.NULL)


def save_png(path: Path, pixels: Image) -> None:
    error = ffi.new("ct_error*")
    height, width, _ = pixels.shape
    numbers: Any = ffi.from_buffer("uint8_t[]", np.ascontiguousarray(pixels))
    check(lib.ct_picture_save(os.fsencode(path), numbers, width, height, error), error)


def png(pixels: Image) -> bytes:
    """The bytes of a .png file."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "picture.png")
        save_png(path, pixels)
        with open(path, "rb") as file:
            return file.read()


def save_movie(path: Path, pictures: List[Image], frames_per_second: float) -> None:
    """An MP4, by ffmpeg."""
    if not pictures:
        raise BadArgument("a movie has at least one picture")
    error, out = ffi.new("ct_error*"), ffi.new("ct_movie**")
    height, width, _ = pictures[0].shape
    check(lib.ct_movie_create(out, os.fsencode(path), width, height, frames_per_second, error), error)
    failed: Optional[BaseException] = None
    try:
        for pixels in pictures:
            check(lib.ct_movie_append(out[0], ffi.from_buffer("uint8_t[]", pixels), error), error)
    except BaseException as exception:
        failed = exception
        raise
    finally:
        status = lib.ct_movie_close(out[0], error)
        if failed is None:
            check(status, error)
