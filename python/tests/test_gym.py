"""Environments."""
import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import cuttle  # noqa: E402
import cuttle.gym as cg  # noqa: E402


@pytest.mark.parametrize("name", cg.ENVIRONMENTS)
def test_environments_pass_the_check(name):
    env = cg.make(name, steps=3)
    check_env(env, skip_render_check=True)
    seen, _ = env.reset(seed=1)
    seen, reward, terminated, truncated, info = env.step(env.action_space.sample() * 1e3)
    assert np.isfinite(seen).all() and np.isfinite(reward) and not terminated and not info


def test_episode_ends_and_begins_anew():
    env = cg.make("finger", steps=2)
    first, _ = env.reset(seed=0)
    env.step(env.action_space.high)
    *_, truncated, _ = env.step(env.action_space.high)
    assert truncated
    again, _ = env.reset()
    assert np.array_equal(first, again)


def test_step_that_fails_ends_the_episode_with_a_reason():
    model = cuttle.load("finger").replace(solver={"max_iterations": 1, "max_substep_depth": 0}).model()
    env = cg.make(model)
    env.reset(seed=0)
    *_, terminated, _, info = env.step(env.action_space.high)
    assert terminated and "converge" in info["error"].lower()


def test_vector_has_the_numbers_of_single_ones():
    model = cuttle.load("finger").model()
    envs, env = cg.make_vec(model, 3, threads=2, steps=3), cg.make(model, steps=3)
    envs.reset(seed=0)
    rng = np.random.default_rng(0)
    actions = rng.uniform(env.action_space.low, env.action_space.high, (4, 3) + env.action_space.shape)
    seen = [envs.step(a) for a in actions]
    for i in range(3):
        env.reset(seed=0)
        for k in range(3):
            own = env.step(actions[k, i])
            assert np.array_equal(own[0], seen[k][0][i]) and own[1] == seen[k][1][i]
    assert seen[2][3].all() and not seen[3][3].any() and (seen[3][1] == 0).all()


def test_own_observation_and_reward():
    env = cg.make("finger", observe=lambda s: s.positions[0].copy(), reward=lambda s, a: float(a.sum()), act=(-0.1, 0.1))
    env.reset(seed=0)
    seen, reward, *_ = env.step(np.ones(env.action_space.shape))
    assert seen.shape == (3,) and reward == pytest.approx(0.1 * env.action_space.shape[0])
    with pytest.raises(cuttle.BadArgument, match="no controls"):
        cg.make("beam")


def test_observations_by_entries():
    env = cg.make("finger", observe=[{"position": [0, 1]}, {"phase": 1.0}], reward=lambda state, action: 2.0, act=(0, 0.5))
    seen, _ = env.reset()
    assert seen.shape == (5,) and env.action_space.high.max() == 0.5
    assert env.step(env.action_space.high)[1] == 2.0
    assert "3" in repr(cg.make_vec("finger", 3))
