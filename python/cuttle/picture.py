"""Pictures and movies of rollouts, drawn by the library, without a display."""
from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._core import BadArgument, array, check, doubles, ffi, lib
from .scene import Path

if TYPE_CHECKING:
    from .rollout import Rollout

Image = NDArray[np.uint8]


def draw(
    rollout: "Rollout",
    frames: List[int],
    width: int,
    height: int,
    color_by: str = "body",
    mark: Optional[ArrayLike] = None,
) -> List[Image]:
    """Pictures (height, width, 3) of states of a rollout; mark: a place (3 numbers) with a ring around it."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rollout.h5")
        rollout.save(path)
        return draw_file(path, frames, width, height, color_by, mark)


def draw_file(
    path: Path,
    frames: List[int],
    width: int,
    height: int,
    color_by: str = "body",
    mark: Optional[ArrayLike] = None,
    title: str = "",
    color_range: Optional[Tuple[float, float]] = None,
) -> List[Image]:
    """Pictures of frames of a trajectory file; color_range: of the values that colours show (None: the data's)."""
    error, out = ffi.new("ct_error*"), ffi.new("ct_trajectory**")
    check(lib.ct_trajectory_open(out, os.fsencode(path), error), error)
    try:
        word = ffi.new("char[]", color_by.encode())
        definition = ffi.new("ct_picture_def*", lib.ct_picture_def_default())
        definition.width, definition.height, definition.color_by = width, height, word
        place = None if mark is None else array(mark, (3,), "mark")
        definition.mark = at = doubles(place)
        words = ffi.new("char[]", title.encode())
        definition.title = words if title else ffi.NULL
        if color_range is not None:
            definition.range = list(color_range)
        definition.view = lib.ct_trajectory_summary(out[0]).view
        pictures = []
        for frame in frames:
            pixels: Image = np.zeros((height, width, 3), np.uint8)
            check(lib.ct_picture_draw(out[0], frame, definition, ffi.from_buffer("uint8_t[]", pixels), error), error)
            pictures.append(pixels)
        del at, words
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


def plot(
    path: Path,
    lines: Mapping[str, Tuple[ArrayLike, ArrayLike]],
    x_label: str = "",
    y_label: str = "",
    title: str = "",
    log_y: bool = False,
    log_x: bool = False,
    width: int = 800,
    height: int = 500,
) -> None:
    """Lines over common axes as a .png: ``plot("loss.png", {"Adam": (steps, losses)}, y_label="loss", log_y=True)``."""
    series, keep = ffi.new("ct_plot_series[]", len(lines)), []
    for one, (name, (x, y)) in zip(series, lines.items()):
        numbers = array(x, (-1,), f"x of {name!r}"), array(y, (-1,), f"y of {name!r}")
        if len(numbers[0]) != len(numbers[1]):
            raise BadArgument(f"{name!r} has {len(numbers[0])} places and {len(numbers[1])} values")
        word, *pointers = ffi.new("char[]", name.encode()), doubles(numbers[0]), doubles(numbers[1])
        one.name, one.x, one.y, one.count = word, *pointers, len(numbers[0])
        keep.append((word, numbers, pointers))
    definition = ffi.new("ct_plot_def*", lib.ct_plot_def_default())
    words = [ffi.new("char[]", text.encode()) if text else ffi.NULL for text in (title, x_label, y_label)]
    definition.title, definition.x_label, definition.y_label = words
    definition.log_y, definition.log_x, definition.width, definition.height = log_y, log_x, width, height
    error = ffi.new("ct_error*")
    check(lib.ct_plot_save(os.fsencode(path), definition, series, len(lines), error), error)


def beside(*pictures: Image) -> Image:
    """Pictures of one height side by side."""
    return np.concatenate(pictures, axis=1)
