"""The scripts of python/learn: what learns lowers its loss, and its tables have the experiments' form."""
import pathlib
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "learn"))

import cuttle.torch as ct  # noqa: E402
import rl  # noqa: E402
import tables  # noqa: E402
from analytic import Trainer  # noqa: E402
from swim import LEGS, OWN, Aims, Body, Policy, swim  # noqa: E402

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def body():
    return Body()


def test_legs_see_the_same_where_target_and_body_turn_together(body):
    rest = torch.from_numpy(body.model.rest.copy())
    turn = torch.linalg.matrix_exp(torch.tensor([[0, 0.3, -0.2], [-0.3, 0, 0.5], [0.2, -0.5, 0]], dtype=torch.float64))
    random = np.random.default_rng(0)
    target, flow, v = (torch.from_numpy(random.standard_normal(s)) for s in ((1, 3), (1, 3), rest.shape))
    a, t = torch.zeros(1, LEGS * OWN, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    seen = body.see(rest[None], v[None], a, target, flow, t)
    turned = body.see((rest @ turn.T)[None] + 2, (v @ turn.T)[None], a, target @ turn.T + 2, flow @ turn.T, t)
    assert torch.allclose(seen, turned, atol=1e-10)


def test_a_leg_sees_what_its_neighbour_sees_of_a_target_an_eighth_of_a_turn_on(body):
    rest = torch.from_numpy(body.model.rest.copy())[None]
    c = np.cos(np.pi / 4)
    eighth = torch.tensor([[c, 0, -c], [0, 1, 0], [c, 0, c]], dtype=torch.float64)
    still = torch.zeros_like(rest), torch.zeros(1, LEGS * OWN, dtype=torch.float64)
    target = torch.tensor([[0.3, 0.8, -0.1]], dtype=torch.float64)
    flow, t = torch.zeros(1, 3, dtype=torch.float64), torch.zeros(1, dtype=torch.float64)
    here = body.see(rest, *still, target, flow, t)
    there = body.see(rest, *still, target @ eighth.T, flow, t)
    assert torch.allclose(here[:, 0], there[:, 1], atol=1e-3)  # the centre is off the axis by 3e-5 m


def test_gradient_of_a_window_is_that_of_differences(body):
    trainer = Trainer(body, seed=3, batch=1, window=3)
    current = torch.tensor([0, -0.05, 0], dtype=torch.float64)
    body.model.set(water_current=current.numpy())
    trainer.loss(current).backward()
    weight = trainer.policy.net[-1].weight
    way = torch.randn(weight.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    slope, size, losses = float((weight.grad * way).sum()), 0.02, []
    for sign in (1, -1):
        with torch.no_grad():
            weight += sign * size * way
            losses.append(float(trainer.loss(current)))
            weight -= sign * size * way
    assert slope == pytest.approx((losses[0] - losses[1]) / (2 * size), rel=0.02)


def test_updates_lower_the_loss_of_a_window(body):
    trainer = Trainer(body, seed=1, batch=1, window=5, rate=0.02)
    first, losses = (trainer.state, trainer.age, trainer.targets.clone()), []
    trainer.aims.current = lambda: torch.zeros(3, dtype=torch.float64)  # the same window again and again
    for _ in range(6):
        trainer.state, trainer.age, trainer.windows[:] = first[0], first[1], 0
        losses.append(trainer.update()["loss"])
        assert torch.equal(trainer.targets, first[2])
    assert losses[-1] < losses[0] - 1e-3 and trainer.failures == 0


def test_targets_are_in_the_cone_and_courses_measure_them(body):
    aims = Aims(5)
    targets = torch.stack([aims.target(np.ones(3), [0, 1.0, 0]) for _ in range(50)]) - 1
    far = targets.norm(dim=1)
    assert (far > 0.6).all() and (far < 1.2).all() and (targets[:, 1] / far > np.cos(np.radians(50))).all()
    course = swim(body, Policy(), targets[:2], seconds=0.12)
    assert course.distances.shape == (3, 2) and course.controls.shape == (2, 2, 64) and not course.failed.any()
    assert np.allclose(course.distances[0], far[:2], atol=1e-3)


def test_a_held_control_is_that_of_single_steps(body):
    control = torch.full((64,), 0.3, dtype=torch.float64, requires_grad=True)
    state, one = ct.initial(body.model), control.detach().clone().requires_grad_()
    held = ct.step(body.model, state, control, steps=3)
    for _ in range(3):
        state = ct.step(body.model, state, one)
    assert torch.equal(held.vector, state.vector)
    ct.positions(body.model, held)[:, 1].sum().backward()
    ct.positions(body.model, state)[:, 1].sum().backward()
    assert torch.allclose(control.grad, one.grad, rtol=1e-9, atol=1e-12)


class Point:
    """Moves by its actions; half of the episodes are to end at 1, the others at -1."""

    count, size, actions, length = 8, 3, 1, 10
    goal = np.tile([1.0, -1.0], 4)

    def reset(self):
        self.x, self.t = np.zeros(self.count), 0
        return self._see()

    def _see(self):
        return np.stack([self.x, self.goal, np.full(self.count, self.t / self.length)], 1)

    def step(self, actions):
        before, self.t = np.abs(self.x - self.goal), self.t + 1
        self.x = self.x + 0.2 * np.clip(actions[:, 0], -1, 1)
        return self._see(), before - np.abs(self.x - self.goal), np.zeros(self.count, bool)


@pytest.mark.parametrize("method, most", [("ppo", 20), ("sac", 14)])
def test_learners_learn_to_move_a_point(method, most):
    returns = []
    keys = {"steps": 2, "begin": 80, "width": 32, "batch": 64} if method == "sac" else {"rate": 5e-3, "width": 32}
    learner = rl.METHODS[method](Point(), 1, **keys)
    learner.train(lambda row: returns.append(row["return"]) or len(returns) < most)
    assert np.mean(returns[-3:]) > 0.5 and abs(np.mean(returns[:2])) < 0.3
    actions = learner(np.array([[0, 1.0, 0], [0, -1.0, 0]]))
    assert actions[0, 0] > 0 > actions[1, 0]


@pytest.mark.parametrize("method", ["ppo", "sac"])
def test_learners_update_on_scenes(method):
    pytest.importorskip("gymnasium")
    from tasks import SceneTask

    task = SceneTask("fish", 2)
    assert task.start == pytest.approx(0.15, rel=1e-3)
    task.length = 6
    learner = rl.METHODS[method](task, 1, **({"begin": 4, "batch": 8} if method == "sac" else {}))
    before = [p.clone() for p in learner.actor.parameters()]
    rows = []
    learner.train(lambda row: rows.append(row) or len(rows) < 2)
    assert np.isfinite(task.final).all() and np.isfinite(rows[-1]["return"])
    assert any(not torch.equal(a, b) for a, b in zip(before, learner.actor.parameters()))


def test_tables_keep_other_seeds(tmp_path):
    path = str(tmp_path / "fish" / "ppo.csv")
    for seed, distances in ((1, (0.3, float("nan"), 0.2, 0.25)), (2, (0.4,)), (1, (0.1, 0.5))):
        table = tables.Table(path)
        table.begin(seed)
        for distance in distances:
            table.add(seed, distance, distance**2, 0.1, 0.2)
    rows = tables.read(path)
    assert [(r["seed"], r["episode"], r["best_distance"]) for r in rows] == [(2, 1, 0.4), (1, 1, 0.1), (1, 2, 0.1)]
    assert open(path).readline() == tables.HEAD


def test_particles_fall():
    pytest.importorskip("taichi")
    import mpm
    import taichi as ti

    ti.init(arch=ti.cpu, cpu_max_num_threads=1, log_level=ti.WARN)
    x = np.random.default_rng(0).uniform(0, 0.2, (400, 3))
    n = len(x)
    stiff = np.tile(mpm.lame(1e4, 0.3), (n, 1))
    grid = mpm.Grid(x, np.zeros((n, 3)), np.full(n, 0.008 / n), np.full(n, 100.0), stiff, 0.05, 9.81)
    grid.step(0.05, 0.0)
    assert np.allclose(grid.v.to_numpy().mean(0), [0, -9.81 * 0.05, 0], atol=5e-3)
    assert mpm.uniform(1, 0) != mpm.uniform(2, 0) and abs(mpm.uniform(3, 4)) <= 1
