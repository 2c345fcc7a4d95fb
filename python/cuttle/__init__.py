"""Cuttle: differentiable simulation of soft bodies, skeletons, contact and water.

    import cuttle
    model = cuttle.load("octopus").model()
    rollout = model.rollout(steps=50)
    seed = 0 * rollout.positions
    seed[-1, :, 0] = 1 / model.nodes                     # the loss: how far it has come along x
    gradient = rollout.gradient(positions=seed, by=("control", "young"))
"""
from ._core import (
    QUANTITIES,
    BadArgument,
    BadFile,
    BadMesh,
    BadScene,
    Cancelled,
    Error,
    FileError,
    NotConverged,
    OutOfMemory,
    Singular,
    Unsupported,
    lib as _lib,
    text as _text,
)
from .picture import beside, plot, save_png
from .model import Control, Model, State, StepReport
from .observe import Observation
from .pool import Batch, Pool
from .problem import Evaluation, Objective, Problem, Slice
from .rollout import Gradient, Rollout, RolloutReport
from .scene import Scene, load, scenes
from .view import Live, Page

__version__ = _text(_lib.ct_version())

__all__ = [
    "QUANTITIES", "BadArgument", "BadFile", "BadMesh", "BadScene", "Batch", "Cancelled", "Control", "Error", "Evaluation",
    "FileError", "Gradient", "Live", "Model", "NotConverged", "Objective", "Observation", "OutOfMemory", "Page", "Pool", "Problem", "Rollout", "RolloutReport", "Scene",
    "Singular", "Slice", "State", "StepReport", "Unsupported", "beside", "load", "plot", "save_png", "scenes",
]  # fmt: skip
