"""Statics: states that begin, or are put, where the scene rests, and gradients through it."""
import numpy as np
import pytest

import cuttle


def beam(young, **keys):
    return cuttle.Scene(
        bodies=[{"box": {"size": [0.4, 0.1, 0.1], "cells": [4, 1, 1]},
                 "material": {"young": young, "poisson": 0.3, "density": 1000}}],
        pins=[{"select": {"box": [[-1, -1, -1], [1e-6, 1, 1]]}}],
        time_step=0.01, duration=0.1, solver={"tolerance": 1e-10}, **keys,
    )  # fmt: skip


def height(model):
    return model.rollout(steps=1).positions[-1][:, 1].sum()


def test_a_scene_that_settles_begins_at_rest():
    settled = beam(1e5, settle=True).model(threads=1)
    state = settled.state()
    before = state.positions.copy()
    assert before[:, 1].min() < -0.01
    state.step()
    assert np.abs(state.positions - before).max() < 1e-9
    by_hand = beam(1e5).model(threads=1).state()
    by_hand.settle()
    assert np.array_equal(by_hand.positions, before)


def test_gradients_go_through_the_rest():
    model = beam(1e5, settle=True).model(threads=1)
    rollout = model.rollout(steps=1)
    seed = np.zeros_like(rollout.positions)
    seed[-1, :, 1] = 1
    gradient = rollout.gradient(positions=seed, by=("young",))["young"].sum()
    fresh = [height(beam(1e5 * (1 + e), settle=True).model(threads=1)) for e in (1e-4, -1e-4)]
    assert gradient == pytest.approx((fresh[0] - fresh[1]) / 20, rel=1e-6)


def test_what_cannot_rest_says_so():
    free = cuttle.Scene(bodies=[{"box": {"size": [0.1, 0.1, 0.1], "cells": [1, 1, 1]}}])
    with pytest.raises(cuttle.Error, match="settling: "):
        free.model(threads=1).state().settle()


def test_steps_and_vectors_take_a_state_as_it_is():
    model = beam(1e5, settle=True).model(threads=1)
    state, other = model.state(), model.state()
    other.vector = state.vector
    seed = np.zeros((2, model.nodes, 3))
    seed[-1, :, 1] = 1
    through, given = (
        model.rollout(steps=1, state=s).gradient(positions=seed, by=("young",))["young"].sum() for s in (state, other)
    )
    assert abs(given) < 0.1 * abs(through)
