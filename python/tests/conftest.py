"""Scenes that several tests use."""
import pytest

import cuttle


@pytest.fixture(scope="session")
def small_scene():
    """A beam with a muscle that lags."""
    return cuttle.Scene(
        bodies=[{"name": "beam", "box": {"size": [0.4, 0.1, 0.1], "cells": [2, 1, 1]},
                 "material": {"young": 1e5, "poisson": 0.3, "density": 1000}}],
        pins=[{"select": {"box": [[-1, -1, -1], [1e-6, 1, 1]]}}],
        muscles=[{"name": "m", "body": "beam", "points": [[0, 0.08, 0.05], [0.4, 0.08, 0.05]], "radius": 0.05,
                  "stiffness": 1e5, "activation_time": 0.1}],
        controls=[{"name": "m", "actuator": "m"}],
        time_step=0.01, duration=0.1, solver={"tolerance": 1e-12},
    )  # fmt: skip
