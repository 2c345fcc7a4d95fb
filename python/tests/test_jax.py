"""Rollouts and steps under jax: reverse mode, jit and vmap."""
import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import cuttle  # noqa: E402
import cuttle.jax as cj  # noqa: E402


@pytest.fixture(scope="module")
def small(small_scene):
    return small_scene.model(threads=1)


def controls(model, steps, *front):
    count = int(np.prod(front + (steps, model.control_size)))
    return jnp.asarray(0.2 + 0.1 * np.sin(np.arange(count))).reshape(*front, steps, model.control_size)


def test_check_grads_of_a_rollout(small):
    def run(u, scale):
        motion = cj.rollout(small, u, young=1e5 * scale)
        return motion.positions[-1], motion.actuation

    check_grads(run, (controls(small, 3), jnp.asarray(1.0)), order=1, modes=["rev"], eps=1e-4, atol=1e-6, rtol=1e-5)


def test_check_grads_of_a_step_by_the_whole_state(small):
    before = cj.step(small, cj.initial(small), controls(small, 1)[0])

    def run(vector, u):
        return cj.step(small, cj.State(vector, before.bytes), u).vector

    check_grads(run, (before.vector, controls(small, 1)[0]), order=1, modes=["rev"], eps=1e-4, atol=1e-5, rtol=1e-4)


def test_steps_in_a_scan_are_the_rollout(small):
    u = controls(small, 4)
    weight = jnp.sin(jnp.arange(3.0 * small.nodes)).reshape(-1, 3)

    def by_steps(u):
        state, _ = jax.lax.scan(lambda s, c: (cj.step(small, s, c), None), cj.initial(small), u)
        return (cj.positions(small, state) * weight).sum(), cj.positions(small, state)

    def by_rollout(u):
        end = cj.rollout(small, u).positions[-1]
        return (end * weight).sum(), end

    chained, whole = (jax.jit(jax.value_and_grad(f, has_aux=True))(u) for f in (by_steps, by_rollout))
    assert jnp.array_equal(chained[0][1], whole[0][1])
    assert jnp.abs(chained[1] - whole[1]).max() <= 1e-12 * jnp.abs(whole[1]).max()


def loss(model, u, scale):
    return jnp.sum(cj.rollout(model, u, young=1e5 * scale).positions[-1] ** 2)


def test_vmap_has_the_bits_of_a_loop(small):
    u = controls(small, 3, 5)
    young = 1e5 * (1 + 0.1 * jnp.arange(5.0))[:, None] * jnp.ones(small.quantity_size("young"))
    seed = jnp.cos(jnp.arange(3.0 * small.nodes)).reshape(-1, 3)

    def run(u, young):  # positions, and what the seed becomes; no sums of JAX's own, whose order may differ
        end, reverse = jax.vjp(lambda u, e: cj.rollout(small, u, young=e).positions[-1], u, young)
        return (end, *reverse(seed))

    for axes in ((0, None), (None, 0), (0, 0)):
        args = [a if axis == 0 else a[0] for a, axis in zip((u, young), axes)]
        many = jax.jit(jax.vmap(run, axes))(*args)
        for i in range(5):
            one = run(*[a[i] if axis == 0 else a for a, axis in zip(args, axes)])
            assert all(jnp.array_equal(own, all_[i]) for own, all_ in zip(one, many))


def test_vmap_in_vmap(small):
    u, scale = controls(small, 2, 3), jnp.asarray([0.5, 2.0])
    table = jax.vmap(jax.vmap(lambda u, s: loss(small, u, s), (None, 0)), (0, None))(u, scale)
    assert table.shape == (3, 2) and np.isclose(table[2, 1], loss(small, u[2], scale[1]), rtol=1e-14)


def test_reverse_runs_nothing_twice(small, monkeypatch):
    count = []
    run = cj.Lanes._each
    monkeypatch.setattr(cj.Lanes, "_each", lambda self, call: count.append(1) or run(self, call))
    u = controls(small, 3) * 0.87
    jax.grad(lambda u: cj.rollout(small, u).positions[-1].sum())(u).block_until_ready()
    assert len(count) == 2  # there and back


def test_mistakes_are_named(small):
    with pytest.raises(cuttle.BadArgument, match="numbers per step"):
        cj.rollout(small, jnp.zeros((3, small.control_size + 1)))
    with pytest.raises(cuttle.BadArgument, match="young has"):
        cj.rollout(small, controls(small, 2), young=jnp.ones(3))
    with pytest.raises(Exception, match="must be finite"):
        cj.rollout(small, controls(small, 2) * jnp.nan).positions.block_until_ready()
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(cuttle.BadArgument, match="jax_enable_x64"):
            cj.initial(small)
    finally:
        jax.config.update("jax_enable_x64", True)
