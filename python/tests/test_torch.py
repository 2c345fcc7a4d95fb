"""Rollouts and steps under torch.autograd."""
import numpy as np
import pytest

torch = pytest.importorskip("torch")

import cuttle  # noqa: E402
import cuttle.torch as ct  # noqa: E402


@pytest.fixture(scope="module")
def small(small_scene):
    return small_scene.model()


def controls(model, steps, *front):
    count = int(np.prod(front + (steps, model.control_size)))
    return (0.2 + 0.1 * torch.sin(torch.arange(count, dtype=torch.float64))).reshape(*front, steps, model.control_size)


def test_gradcheck_of_a_rollout(small):
    u = controls(small, 3).requires_grad_()
    young = torch.tensor(1e5, dtype=torch.float64)
    scale = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)

    def run(u, scale):
        motion = ct.rollout(small, u, young=scale * young)
        return motion.positions[-1], motion.actuation

    assert torch.autograd.gradcheck(run, (u, scale), eps=1e-4, atol=1e-6, rtol=1e-4)


def test_gradcheck_of_a_step_by_the_whole_state(small):
    state = ct.step(small, ct.initial(small), controls(small, 1)[0])
    u = controls(small, 1)[0].requires_grad_()
    vector = state.vector.clone().requires_grad_()

    def run(vector, u):
        return ct.step(small, ct.State(vector, state.bytes), u).vector

    assert torch.autograd.gradcheck(run, (vector, u), eps=1e-4, atol=1e-5, rtol=1e-3)


def test_steps_with_a_network_in_the_loop_are_the_rollout():
    model = cuttle.load("finger").model()
    u = controls(model, 4).requires_grad_()
    weight = torch.sin(torch.arange(3 * model.nodes, dtype=torch.float64)).reshape(-1, 3)
    motion = ct.rollout(model, u)
    (motion.positions[-1] * weight).sum().backward()
    whole = u.grad.clone()
    u.grad = None
    state = ct.initial(model)
    for control in u:
        state = ct.step(model, state, control)
    assert torch.equal(ct.positions(model, state), motion.positions[-1])
    (ct.positions(model, state) * weight).sum().backward()
    assert (u.grad - whole).abs().max() <= 1e-12 * whole.abs().max()


def test_many_have_the_bits_of_one(small):
    u = controls(small, 3, 4).requires_grad_()
    motion = ct.rollout(small, u)
    motion.positions[:, -1].square().sum().backward()
    for i in range(4):
        own = u[i].detach().clone().requires_grad_()
        single = ct.rollout(small, own)
        assert torch.equal(single.positions, motion.positions[i])
        single.positions[-1].square().sum().backward()
        assert torch.equal(own.grad, u.grad[i])


def test_second_derivative_is_refused(small):
    u = controls(small, 2).requires_grad_()
    loss = ct.rollout(small, u).positions.square().sum()
    (first,) = torch.autograd.grad(loss, u, create_graph=True)
    with pytest.raises(cuttle.Unsupported, match="first derivatives only"):
        torch.autograd.grad(first.sum(), u)


def test_float32_network_learns(small):
    torch.manual_seed(0)
    network = torch.nn.Linear(3, small.control_size)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    losses, threads = [], torch.get_num_threads()
    for _ in range(6):
        state = ct.initial(small)
        for _ in range(4):
            seen = ct.positions(small, state).mean(0)
            state = ct.step(small, state, torch.sigmoid(network(seen.float())))
        loss = ct.positions(small, state)[:, 1].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] and torch.get_num_threads() == threads


def test_wrong_shape_is_named(small):
    with pytest.raises(cuttle.BadArgument, match="numbers per step"):
        ct.rollout(small, torch.zeros(3, small.control_size + 1, dtype=torch.float64))
