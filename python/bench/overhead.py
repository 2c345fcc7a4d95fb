"""Figures of docs/python.md: what Python costs on top of the library. Usage: python python/bench/overhead.py"""
import gc
import resource
import statistics
import time

import numpy as np

import cuttle
from cuttle._core import check, doubles, ffi, lib


def bar(cells):
    return cuttle.Scene(
        bodies=[{"box": {"size": [0.1 * cells[0], 0.1 * cells[1], 0.1 * cells[2]], "cells": cells},
                 "material": {"young": 1e5, "poisson": 0.3, "density": 1000}}],
        pins=[{"select": {"box": [[-1, -1, -1], [1e-6, 9, 9]]}}],
        time_step=0.01, duration=1,
    )  # fmt: skip


def step_overhead():
    """Median, us, of a step's time less what the library says that it took."""
    state = bar([1, 1, 1]).model(threads=1).state()
    extra = []
    for _ in range(5000):
        begun = time.perf_counter()
        report = state.step()
        extra.append(time.perf_counter() - begun - report.seconds)
    return 1e6 * statistics.median(extra)


def bare_rollout(model, controls, rows):
    """Seconds of a rollout as a program in C would write it, creating and freeing what it needs, less those of its steps."""
    begun, error, report = time.perf_counter(), ffi.new("ct_error*"), ffi.new("ct_rollout_report*")
    states, tape, record = ffi.new("ct_state*[2]"), ffi.new("ct_tape**"), ffi.new("cuttle_record*")
    for i in range(2):
        check(lib.ct_state_create(states + i, model._pointer, error), error)
    check(lib.ct_tape_create(tape, model._pointer, len(controls), 0, error), error)
    record.model, record.steps, record.nvert, record.last = model._pointer, len(controls), model.nodes, states[1]
    record.ncoordinate, record.nactuation = model.coordinates, model.actuation
    record.x, record.v, record.q, record.actuation, record.contact = rows
    visit, work = ffi.addressof(lib, "cuttle_record_state"), model._work().pointer
    lib.ct_rollout(model._pointer, work, tape[0], states[0], len(controls), doubles(controls), visit, record, report)
    lib.ct_tape_free(tape[0])
    for i in range(2):
        lib.ct_state_free(states[i])
    return time.perf_counter() - begun - report.seconds


def rollout_overhead():
    """Shares of a rollout's time that are not its steps', medians: from Python, arrays and all, and as in C."""
    model = cuttle.load("octopus").model(threads=1)
    controls, python, bare = np.full((25, model.control_size), 0.1), [], []
    arrays = [np.zeros((26, size)) for size in (3 * model.nodes, 3 * model.nodes, model.coordinates, model.actuation)]
    rows = [doubles(a) for a in (*arrays, np.zeros((26, 3 * model.nodes)))]
    for _ in range(25):
        begun = time.perf_counter()
        rollout = model.rollout(controls)
        seconds = rollout.report.seconds
        del rollout
        spent = time.perf_counter() - begun
        python.append((spent - seconds) / spent)
        bare.append(bare_rollout(model, controls, rows) / spent)
    return statistics.median(python), statistics.median(bare)


def throughput(count=64, repeats=60):
    """Single steps one after the other by the pool's: CPU time (1 at best), and elapsed time (the number of cores at best),
    median by median and least by least, which other programs disturb least."""
    model = bar([10, 4, 5]).model(threads=1)
    pool, states = cuttle.Pool(model), [model.state() for _ in range(count)]
    single = [model.state() for _ in range(count)]
    for states_now in (states, single):
        pool.step(states_now)
    cpu, one, many = [], [], []
    for _ in range(repeats):
        a = time.process_time(), time.perf_counter()
        for state in single:
            state.step()
        b = time.process_time(), time.perf_counter()
        pool.step(states)
        c = time.process_time(), time.perf_counter()
        cpu.append((b[0] - a[0]) / (c[0] - b[0]))
        one.append(b[1] - a[1])
        many.append(c[1] - b[1])
    median = statistics.median
    return model.tets, median(cpu), median(one) / median(many), min(one) / min(many), pool.threads


def cycles(count=1000):
    """MB by which the process grows over creations of all that there is."""
    scene = bar([1, 1, 1])

    def once():
        model = scene.model(threads=1)
        rollout = model.rollout(steps=2)
        rollout.gradient(final=np.ones(model.state_size), by=("young",))
        cuttle.Pool(model, 1).step([rollout.final])

    for _ in range(50):
        once()
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(count):
        once()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


if __name__ == "__main__":
    print(f"a step costs {step_overhead():.2f} us more than in C")
    python, bare = rollout_overhead()
    print(f"a rollout costs {100 * (python - bare):.2f} % more than in C")
    print(f"  ({100 * python:.2f} % of its time are not its steps; in C {100 * bare:.2f} %)")
    tets, cpu, median, least, threads = throughput()
    print(f"64 environments of {tets} tets: CPU time of single steps by the pool's {cpu:.2f}")
    print(f"  as fast on {threads} threads: {median:.2f} times, {least:.2f} least by least")
    print(f"1,000 cycles of model, rollout, gradient and pool: {cycles():.1f} MB more")
