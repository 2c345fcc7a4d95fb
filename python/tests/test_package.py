"""The package as a user meets it: scenes, models, states, rollouts, gradients, problems, many at a time."""
import copy
import gc
import json
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import cuttle


@pytest.fixture(scope="module")
def finger():
    return cuttle.load("finger").model()


def beam(**keys):
    """A small beam, built in Python."""
    return cuttle.Scene(
        bodies=[{"name": "beam", "box": {"size": np.array([0.4, 0.1, 0.1]), "cells": [4, 1, 1]},
                 "material": {"young": 1e5, "poisson": 0.3, "density": 1000}}],
        pins=[{"select": {"box": [[-1, -1, -1], [1e-6, 1, 1]]}}],
        time_step=0.01, duration=0.1, gravity=9.81, **keys,
    )


# ---- scenes ------------------------------------------------------------------------------------


def test_scenes_come_with_the_package():
    assert {"octopus", "finger", "gripper"} <= set(cuttle.scenes())
    scene = cuttle.load("octopus")
    assert scene.name == "octopus" and scene.steps == 400 and "octopus" in repr(scene)


def test_scene_is_built_in_python_and_round_trips():
    scene = beam(name="plank")
    assert scene.name == "plank"
    again = cuttle.Scene(json.dumps(scene.to_dict()))
    assert again.to_dict() == scene.to_dict()
    assert pickle.loads(pickle.dumps(scene)).to_dict() == scene.to_dict()
    assert scene.replace(duration=0.5).steps == 50


@pytest.mark.parametrize("name", ["arm", "fish", "gripper", "hand"])
def test_saved_and_pickled_scenes_are_the_same_to_the_bit(name, tmp_path, monkeypatch):
    scene = cuttle.load(name)
    scene.save(tmp_path / "saved.json")
    saved = cuttle.load(tmp_path / "saved.json")
    assert saved.write() == scene.write()
    monkeypatch.setattr(cuttle.scene, "DATA", tmp_path)  # nothing of the package's is read
    models = [s.model(threads=1) for s in (scene, saved, pickle.loads(pickle.dumps(scene)))]
    states = [model.state() for model in models]
    for state in states:
        state.step()
    assert states[0].tobytes() == states[1].tobytes() == states[2].tobytes()


def test_pickled_model_keeps_what_was_set(tmp_path):
    (tmp_path / "mesh.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    scene = cuttle.Scene(bodies=[{"name": "sail", "mesh": "mesh.obj"}], directory=tmp_path)
    model = scene.model()
    model.factor_always()
    model.set(young=3e5)
    pickled = pickle.dumps(model)
    os.remove(tmp_path / "mesh.obj")  # the file is gone, the model is not
    again = pickle.loads(pickled)
    assert np.array_equal(again.get("young"), model.get("young"))
    a, b = model.state(), again.state()
    a.step()
    b.step()
    assert a.tobytes() == b.tobytes()
    with pytest.raises(cuttle.Error):
        scene.replace(duration=2)


def test_mistake_is_named_with_its_place(tmp_path):
    path = tmp_path / "bad.json"
    path.write_text('{\n "bodies": [{"name": "a", "box": {"size": [1, 1, 1], "cells": [1, 1, 1]},\n'
                    ' "material": {"yuong": 1e5}}]\n}')
    with pytest.raises(cuttle.BadScene) as info:
        cuttle.load(path)
    error = info.value
    assert error.file.endswith("bad.json") and error.line == 3 and "young" in error.message
    assert "yuong" in error.path + error.message and isinstance(error, ValueError)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    with pytest.raises(cuttle.FileError):
        cuttle.load(tmp_path / "nothing.json")


# ---- models and states ---------------------------------------------------------------------------


def test_model_tells_what_it_is(finger):
    assert finger.nodes == len(finger.rest) and finger.tetrahedra.shape == (finger.tets, 4)
    assert "finger" in repr(finger) and finger.control_size == sum(c.count for c in finger.controls)
    first = finger.controls[0]
    assert finger.control(first.name) == slice(first.first, first.first + first.count)
    assert finger.node_mass.sum() == pytest.approx(finger.mass)
    assert finger.state_size == max(part.stop for part in finger.parts.values())
    with pytest.raises(cuttle.BadArgument, match="no quantity"):
        finger.get("yuong")


def test_views_follow_steps_and_outlive_their_owner():
    model = beam().model()
    state = model.state()
    x = state.positions
    before = x.copy()
    assert not x.flags.writeable
    state.step()
    assert state.steps == 1 and state.time == pytest.approx(0.01) and not np.array_equal(x, before)
    after = x.copy()
    del state, model
    gc.collect()
    junk = [np.ones(1000) for _ in range(100)]
    assert np.array_equal(x, after) and junk


def test_state_copies_and_pickles_to_the_bit():
    state = beam().model().state()
    state.step()
    twins = [state.copy(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))]
    state.step()
    for twin in twins:
        twin.step()
        assert twin.tobytes() == state.tobytes()
    with pytest.raises(cuttle.BadArgument):
        state.restore(b"nonsense")


def test_vector_is_the_state(finger):
    state = finger.state()
    state.step()
    vector = state.vector
    assert np.array_equal(vector[finger.parts["position"]].reshape(-1, 3), state.positions)
    bytes_before = state.tobytes()
    state.vector = vector
    assert state.tobytes() == bytes_before
    vector[finger.parts["actuation"]] += 0.1
    state.vector = vector
    assert np.array_equal(state.actuation, vector[finger.parts["actuation"]])
    vector[0] = np.nan
    with pytest.raises(cuttle.BadArgument):
        state.vector = vector


def test_set_values_and_pickled_model_keep_them():
    model = beam().model()
    model.set(young=3e5, gravity=[0, -1, 0])
    assert np.all(model.get("young") == 3e5)
    again = pickle.loads(pickle.dumps(model))
    assert np.all(again.get("young") == 3e5)
    with pytest.raises(cuttle.Error, match="young"):
        model.set(young=-1)
    a, b = model.state(), again.state()
    a.step(), b.step()
    assert np.allclose(a.positions, b.positions, rtol=0, atol=1e-9)


def test_bad_control_is_refused_and_changes_nothing(finger):
    state = finger.state()
    before = state.tobytes()
    with pytest.raises(cuttle.BadArgument, match="finite"):
        state.step(np.full(finger.control_size, np.nan))
    with pytest.raises(cuttle.BadArgument, match="shape"):
        state.step(np.zeros(finger.control_size + 1))
    assert state.tobytes() == before


# ---- rollouts and gradients ----------------------------------------------------------------------


def test_rollout_is_its_steps(finger):
    controls = 0.2 + 0.1 * np.sin(np.arange(5 * finger.control_size)).reshape(5, -1)
    rollout = finger.rollout(controls)
    state = finger.state()
    for i, control in enumerate(controls):
        assert np.array_equal(rollout.positions[i], state.positions)
        state.step(control)
    assert np.array_equal(rollout.positions[-1], state.positions)
    assert np.array_equal(rollout.actuation[-1], state.actuation)
    assert len(rollout.times) == 6 and "5 steps" in repr(rollout)


def test_gradient_matches_differences():
    model = beam(solver={"tolerance": 1e-12}).model()
    weight = np.sin(np.arange(3 * model.nodes)).reshape(-1, 3)

    def loss(young, gravity):
        model.set(young=young, gravity=gravity)
        rollout = model.rollout(steps=6)
        return np.sum(weight * rollout.positions[-1]), rollout

    young, gravity = model.get("young"), model.get("gravity")
    _, rollout = loss(young, gravity)
    seed = np.zeros_like(rollout.positions)
    seed[-1] = weight
    gradient = rollout.gradient(positions=seed, by=("young", "gravity"))
    direction = np.cos(np.arange(len(young))) * 1e5
    errors = []
    for h in (4e-3, 2e-3):
        difference = (loss(young + h * direction, gravity)[0] - loss(young - h * direction, gravity)[0]) / (2 * h)
        errors.append(abs(difference - gradient["young"] @ direction) / abs(difference))
    assert errors[1] < 1e-4 and errors[0] / errors[1] == pytest.approx(4, rel=0.1)
    push = np.array([1.0, 2, 3])
    difference = (loss(young, gravity + push)[0] - loss(young, gravity - push)[0]) / 2
    assert gradient["gravity"] @ push == pytest.approx(difference, rel=1e-2)


def test_chained_steps_are_the_rollout(finger):
    controls = 0.2 + 0.1 * np.sin(np.arange(4 * finger.control_size)).reshape(4, -1)
    rng = np.random.default_rng(3)
    final = rng.standard_normal(finger.state_size)
    gradient = finger.rollout(controls).gradient(final=final)
    states = [finger.state()]
    for control in controls[:-1]:
        states.append(states[-1].copy())
        states[-1].step(control)
    bar, rows = final, []
    for state, control in zip(states[::-1], controls[::-1]):
        bar, control_bar = finger.step_vjp(state, bar, control)
        rows.append(control_bar)
    assert np.allclose(rows[::-1], gradient["control"], rtol=0, atol=1e-12 * np.abs(gradient["control"]).max())
    assert np.allclose(bar, gradient.initial, rtol=0, atol=1e-12 * np.abs(gradient.initial).max())
    assert gradient.part("actuation").shape == (finger.actuation,)


# ---- problems ------------------------------------------------------------------------------------


def test_problem_evaluates_and_optimizes():
    problem = cuttle.Problem(cuttle.load("throw"))
    y = problem.start
    loss, gradient = problem(y)
    assert gradient.shape == (problem.size,) and problem.fun(y) == loss
    assert "throw" in repr(problem) and problem.slices[0].count > 0
    seen = []
    best = problem.optimize(iterations=4, progress=lambda p: seen.append(p.loss))
    assert best.loss < loss and len(seen) == best.iterations <= 4
    assert problem.optimize(iterations=50, progress=lambda p: p.iteration < 2).iterations == 2
    motion = problem.rollout(best.y)
    assert motion.positions.shape[0] == problem.steps + 1
    with pytest.raises(cuttle.BadArgument, match="no option"):
        problem.optimize(iteratoins=3)


def test_term_from_python_is_minimised():
    problem = cuttle.Problem(cuttle.load("throw"))
    steps = problem.steps

    def term(step, x, v):
        if step != steps:
            return 0.0, None, None
        return x[:, 1].sum(), np.tile([0.0, 1.0, 0.0], (len(x), 1)), None

    y = problem.start
    bare, by_bare = problem(y)
    problem.set_term(term)
    loss, gradient = problem(y)
    last = problem.rollout(y).positions[-1]
    assert loss - bare == pytest.approx(last[:, 1].sum())
    h, direction = 1e-4, gradient - by_bare
    direction /= np.linalg.norm(direction)
    difference = (problem.fun(y + h * direction) - problem.fun(y - h * direction)) / (2 * h)
    assert gradient @ direction == pytest.approx(difference, rel=1e-3)

    def wrong(step, x, v):
        raise KeyError("mine")

    problem.set_term(wrong)
    with pytest.raises(KeyError, match="mine"):
        problem(y)
    problem.set_term(None)
    assert problem.fun(y) == bare


# ---- many at a time ------------------------------------------------------------------------------


def test_pool_gives_the_bits_of_single_steps(finger):
    controls = 0.2 + 0.1 * np.sin(np.arange(4 * finger.control_size)).reshape(4, -1)
    pool = cuttle.Pool(finger, 2)
    many, single = [finger.state() for _ in range(4)], [finger.state() for _ in range(4)]
    assert pool.step(many, controls) == [None] * 4
    for state, control in zip(single, controls):
        state.step(control)
    assert [s.tobytes() for s in many] == [s.tobytes() for s in single]
    controls[1, 0] = np.nan
    errors = pool.step(many, controls)
    assert [type(e) for e in errors] == [type(None), cuttle.BadArgument, type(None), type(None)]
    assert many[1].steps == 1 and many[0].steps == 2


def test_pool_gradients_are_those_of_single_rollouts(finger):
    controls = 0.2 + 0.1 * np.sin(np.arange(9 * finger.control_size)).reshape(3, 3, -1)
    rollouts = cuttle.Pool(finger, 2).rollout([finger.state() for _ in range(3)], controls)
    seeds = np.cos(np.arange(rollouts.positions.size)).reshape(rollouts.positions.shape)
    gradients = rollouts.gradient(positions=seeds)
    for i in range(3):
        single = finger.rollout(controls[i])
        assert np.array_equal(single.positions, rollouts.positions[i])
        assert np.array_equal(single.gradient(positions=seeds[i])["control"], gradients[i]["control"])


def test_batch_evaluates_points():
    scene = cuttle.load("throw")
    batch, problem = cuttle.Batch(scene, 2), cuttle.Problem(scene)
    points = batch.start + np.linspace(0, 0.1, 3)[:, None]
    losses, gradients, converged = batch.evaluate(points)
    assert converged.all() and gradients.shape == points.shape
    assert losses[0] == pytest.approx(problem.fun(points[0]), rel=1e-6)


# ---- manners -------------------------------------------------------------------------------------


@pytest.fixture
def interrupts():
    """Signals as at a terminal: what runs in the background of a shell ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_interrupt_ends_a_rollout(interrupts):
    model = cuttle.load("octopus").model()
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100):
            model.rollout(steps=400)
    assert time.monotonic() - begun < 30
    model.state().step()  # it goes on


def test_interrupt_ends_meshing(interrupts):
    threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):  # it would take minutes
        cuttle.Scene(bodies=[{"sphere": {"radius": 0.5, "size": 0.004}, "material": {"young": 1e5}}])
    assert time.monotonic() - begun < 20


def test_create_and_free_is_flat():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    model = beam().model()

    def cycle(times):
        for _ in range(times):
            state = model.state()
            state.positions.sum()
            model.rollout(steps=1)

    cycle(100)
    before = resident()
    cycle(400)
    assert resident() - before < 2e6


def test_threads_may_share_a_model():
    model = beam().model()
    expected = model.rollout(steps=5).positions
    results = [None] * 4

    def run(i):
        results[i] = model.rollout(steps=5).positions

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert all(np.array_equal(r, expected) for r in results)


def test_step_jvp_is_the_transpose_of_step_vjp(small_scene):
    model = small_scene.model()
    state = model.state()
    state.step([0.3])
    rng = np.random.default_rng(0)
    dots, bar = rng.standard_normal((2, model.state_size)), rng.standard_normal(model.state_size)
    control_dots = rng.standard_normal((2, 1))
    after, out = model.step_jvp(state, dots, [0.2], control_dots)
    back, control_bar = model.step_vjp(state, bar, [0.2])
    assert np.allclose(out @ bar, dots @ back + control_dots @ control_bar, rtol=1e-11)
    stepped = state.copy()
    stepped.step([0.2])
    assert after.tobytes() == stepped.tobytes()
    one = model.step_jvp(state, dots[1], [0.2], control_dots[1])[1]
    assert np.array_equal(one, out[1])
    by_young = model.step_jvp(state, control=[0.2], young=1e3)[1]
    eps = 1e-3
    ends = []
    for sign in (1, -1):
        model.set(young=1e5 + sign * eps * 1e3)
        ends.append(state.copy())
        ends[-1].step([0.2])
    assert np.allclose((ends[0].vector - ends[1].vector) / (2 * eps), by_young, atol=1e-6 * np.abs(by_young).max())
    with pytest.raises(cuttle.Unsupported, match="forward mode"):
        model.step_jvp(state, density=1.0)


def test_rollouts_say_that_they_are_not_pickled(small_scene):
    with pytest.raises(TypeError, match="pickle its arrays"):
        pickle.dumps(small_scene.model().rollout(steps=1))


def test_errors_name_the_path_once():
    with pytest.raises(cuttle.BadScene) as caught:
        cuttle.Scene(bodies=[{"box": {"size": [1, 1, 1], "cells": [1, 1, 1]}, "material": {"yuong": 1}}])
    assert str(caught.value).count("bodies[0].material.yuong") == 1


def test_step_jvp_goes_through_contacts_and_stages():
    for name, integrator in (("incline", "sdirk2"), ("incline", "euler")):
        scene = cuttle.load(name).replace(integrator=integrator, solver={"tolerance": 1e-13})
        model = scene.model()
        state = model.state()
        for _ in range(20):
            report = state.step()
        assert report.contacts > 0
        rng = np.random.default_rng(0)
        dots, bar = rng.standard_normal((2, model.state_size)), rng.standard_normal(model.state_size)
        out, back = model.step_jvp(state, dots)[1], model.step_vjp(state, bar)[0]
        assert np.allclose(out @ bar, dots @ back, rtol=0, atol=1e-10 * (np.abs(out) @ np.abs(bar)).max())
        by_friction = model.step_jvp(state, friction=1.0)[1]
        ends, eps, friction = [], 1e-4, model.get("friction")
        for sign in (1, -1):
            model.set(friction=friction + sign * eps)
            ends.append(state.copy())
            ends[-1].step()
        difference = (ends[0].vector - ends[1].vector) / (2 * eps)
        assert np.allclose(difference, by_friction, rtol=0, atol=1e-5 * np.abs(by_friction).max())


def test_term_of_joints_and_in_a_batch():
    scene = cuttle.Scene(
        skeletons=[{"links": [{"name": "arm", "joint": {"type": "revolute", "anchor": [0, 0, 0], "axis": [0, 0, 1]}, "mass": 1,
                               "center": [0.5, 0, 0], "inertia": [0.01, 0.01, 0.01]}]}],
        parameters=[{"type": "joint_velocity", "link": "arm"}], objective=[], gravity=[0, -9.81, 0], time_step=0.01,
        duration=0.2, solver={"tolerance": 1e-12},
    )  # fmt: skip
    problem = cuttle.Problem(scene)

    def term(step, x, v, q):
        if step != problem.steps:
            return 0.0, None, None, None
        return 0.5 * (q[0] - 0.3) ** 2, None, None, [q[0] - 0.3]

    problem.set_term(term)
    y = problem.start + 0.1
    loss, gradient = problem(y)
    eps = 1e-4
    assert np.isclose((problem.fun(y + eps) - problem.fun(y - eps)) / (2 * eps), gradient[0], rtol=1e-6)
    batch = cuttle.Batch(scene, workers=2)
    batch.set_term(term)
    result = batch.evaluate([y, y + 0.2, y])
    assert np.isclose(result.losses[0], loss) and np.isclose(result.losses[1], problem.fun(y + 0.2))
    assert np.allclose(result.gradients[2], gradient)
    batch.set_term(lambda step, x, v: 1 / 0)
    with pytest.raises(Exception):
        batch.evaluate([y])


# ---- observations ----------------------------------------------------------------------------------


def test_observation_has_its_derivative():
    model = cuttle.load("arm").model()
    state = model.state()
    state.step()
    link = model.link_names[-1]
    observation = cuttle.Observation(
        model, [{"position": model.body_nodes(0), "scale": 2}, {"rate": link}, {"pose": link}, {"positions": [0, 7]}, {"phase": 2}]
    )
    seen = observation(state)
    assert seen.shape == (observation.size,) == (3 + 1 + 12 + 6 + 2,)
    assert np.array_equal(seen[observation.slices[3]], state.positions[[0, 7]].ravel())
    assert np.array_equal(observation.many([state, state.copy()]), [seen, seen])
    rng = np.random.default_rng(0)
    weight, direction, vector = rng.normal(size=observation.size), rng.normal(size=model.state_size), state.vector
    exact, moved, errors = observation.vjp(state, weight) @ direction, state.copy(), []
    for h in (1e-3, 5e-4):
        ends = []
        for sign in (1, -1):
            moved.vector = vector + sign * h * direction
            ends.append(weight @ observation(moved))
        errors.append(abs((ends[0] - ends[1]) / (2 * h) - exact))
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.05) or errors[1] < 1e-9 * abs(exact)
    with pytest.raises(cuttle.BadScene, match=r"observe\[0\].link"):
        cuttle.Observation(model, [{"rate": "nothing"}])
    with pytest.raises(cuttle.BadArgument, match="exactly one of position"):
        cuttle.Observation(model, [{"colour": 3}])


def test_terms_of_an_objective_sum_to_it():
    objective, state = cuttle.Objective("arm"), cuttle.load("arm").model().state()
    loss, bar = objective.evaluate(state)
    terms = objective.terms(state)
    assert sum(t for t, _ in terms.values()) == pytest.approx(loss) and loss > 0
    assert np.allclose(sum(b for _, b in terms.values()), bar, rtol=1e-12)


def test_recent_rollouts_are_bounded_by_their_bytes():
    class Held:
        tape_bytes = 40

    from cuttle._run import Recent

    recent, held = Recent(limit=100), [Held() for _ in range(4)]
    for key, lanes in enumerate(held):
        recent.put((key,), lanes)
    assert [recent.take((key,)) for key in range(4)] == [None, None, held[2], held[3]]
