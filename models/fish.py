#!/usr/bin/env python3
"""Writes fish.msh: a fish of 0.48 m, its head towards +z, with a forked tail, a dorsal fin and two pectoral fins.

A lattice of 3,000 tets cannot hold fins of a centimetre, so the fish is laid out on one index lattice: i across (+x), j upwards (+y),
k from nose to tail (-z). Cross-sections of 4 x 6 cells follow the outline; the fins are cells on top of and beside
them. Each cell is cut into five tets whose pattern alternates with the parity of i + j + k, so that neighbours fit. Cells
and pattern are mirror-symmetric; the centre of mass is the origin.

Usage: python3 models/fish.py > models/fish.msh
"""
import math

import msh

ACROSS, UP, LAST = 4, 6, 23  # cells across and upwards, the last cross-section
NOSE, PEDUNCLE, END = 0.19, -0.155, -0.25  # m along z: nose, where the tail fin begins, its rear edge at mid-height
TAIL_CELLS = 5
# z, half width, half height, m
OUTLINE = ((0.19, 0.0145, 0.0185), (0.172, 0.024, 0.031), (0.14, 0.034, 0.045), (0.095, 0.0405, 0.059), (0.045, 0.041, 0.062), (0.0, 0.037, 0.055),
           (-0.05, 0.029, 0.041), (-0.1, 0.0195, 0.026), (-0.14, 0.0145, 0.019), (-0.16, 0.013, 0.0205), (-0.18, 0.0115, 0.033),
           (-0.205, 0.01, 0.057), (-0.23, 0.009, 0.073), (-0.25, 0.008, 0.08))
FORK = 0.033  # m: how far the tips of the tail lie behind its middle
BULGE = 0.004  # m, of the nose
DORSAL = range(8, 14)  # cells k below the dorsal fin
DORSAL_HEIGHT, DORSAL_SWEEP, DORSAL_CELLS = 0.045, 0.03, 2
PECTORAL_K, PECTORAL_J = 6, (1, 2)  # cells on which a pectoral fin stands
PECTORAL_LENGTH, PECTORAL_CELLS, PECTORAL_SWEEP = 0.105, 6, math.radians(40)
PECTORAL_CHORD = (0.036, 0.046, 0.056, 0.062, 0.06, 0.05)  # m, of its layers


def outline(z):
    """Half width and half height at z: monotone cubics through OUTLINE."""
    def slope(n, c):
        if n in (0, len(OUTLINE) - 1):
            return 0
        left = (OUTLINE[n][c] - OUTLINE[n - 1][c]) / (OUTLINE[n][0] - OUTLINE[n - 1][0])
        right = (OUTLINE[n + 1][c] - OUTLINE[n][c]) / (OUTLINE[n + 1][0] - OUTLINE[n][0])
        return 2 * left * right / (left + right) if left * right > 0 else 0
    n = next((n for n in range(len(OUTLINE) - 2) if OUTLINE[n + 1][0] <= z), len(OUTLINE) - 2)
    step = OUTLINE[n + 1][0] - OUTLINE[n][0]
    t = (z - OUTLINE[n][0]) / step
    def cubic(c):
        a, b, da, db = OUTLINE[n][c], OUTLINE[n + 1][c], slope(n, c) * step, slope(n + 1, c) * step
        return a + t * (da + t * (3 * (b - a) - 2 * da - db + t * (2 * (a - b) + da + db)))
    return cubic(1), cubic(2)


def section(k):
    body = LAST - TAIL_CELLS
    if k <= body:
        t = k / body
        return NOSE + (PEDUNCLE - NOSE) * (t - 0.1 * math.sin(2 * math.pi * t) / math.pi)
    return PEDUNCLE + (END - PEDUNCLE) * (k - body) / TAIL_CELLS


def trunk(i, j, k):
    """A node of body and tail: a square mapped towards an ellipse, less so at the nose and in the tail's blade."""
    u, v, z = 2 * i / ACROSS - 1, 2 * j / UP - 1, section(k)
    a, b = outline(z)
    tail, nose = max(k - LAST + TAIL_CELLS, 0) / TAIL_CELLS, max(3 - k, 0) / 3
    roundness = 0.42 * (1 - tail) - 0.12 * nose
    z += BULGE * nose * (1 - max(u * u, v * v)) - FORK * tail ** 2 * abs(v) ** 1.2
    return a * u * math.sqrt(1 - roundness * v * v), b * v * math.sqrt(1 - roundness * u * u), z


def dorsal(i, j, k):
    """The fin leans back, is highest near its front, and half as thick as its root at the edge."""
    x, y, z = trunk(i, UP, k)
    t, along = (j - UP) / DORSAL_CELLS, (k - DORSAL[0]) / len(DORSAL)
    height = DORSAL_HEIGHT * (0.55 + 1.5 * along * (1 - along))
    return x * (1 - 0.55 * t), y + height * t, z - DORSAL_SWEEP * t * (0.4 + 0.6 * along)


def pectoral(i, j, k):
    """An upright blade, swept back: layers away from the flank along `out`, each a rectangle of chord and thickness."""
    side, layer = (1, i - ACROSS) if i > ACROSS else (-1, -i)
    j0, j1 = PECTORAL_J[0], PECTORAL_J[-1] + 1
    flank = ACROSS if side > 0 else 0
    root = [trunk(flank, jj, kk) for jj in (j0, j1) for kk in (PECTORAL_K, PECTORAL_K + 1)]
    x, y, z = (sum(p[c] for p in root) / 4 for c in range(3))
    t = layer / PECTORAL_CELLS
    out = PECTORAL_LENGTH * t
    across = (0.5 - (k - PECTORAL_K)) * (0.015 - 0.006 * t)
    upwards = ((j - j0) / (j1 - j0) - 0.5) * PECTORAL_CHORD[layer - 1]
    along = out - 0.3 * max(t - 0.5, 0) * abs(upwards)
    c, s = math.cos(PECTORAL_SWEEP), math.sin(PECTORAL_SWEEP)
    return x + side * (along * c + across * s), y - 0.12 * out + upwards, z - along * s + across * c


def point(i, j, k):
    if i < 0 or i > ACROSS:
        return pectoral(i, j, k)
    return dorsal(i, j, k) if j > UP else trunk(i, j, k)


numbers, points, tets = {}, [], []


def cell(i, j, k, tag):
    def node(key):
        if key not in numbers:
            numbers[key] = len(points)
            points.append(point(*key))
        return numbers[key]
    corner = [node((i + a, j + b, k + c)) for c in (0, 1) for b in (0, 1) for a in (0, 1)]
    pattern = ((0, 3, 5, 6), (1, 3, 5, 0), (2, 3, 0, 6), (4, 5, 6, 0), (7, 6, 5, 3))
    flip = (i + j + k) % 2
    for tet in pattern:
        tets.append((tag, [corner[v ^ flip] for v in tet]))


def volume(tet):
    a, b, c, d = (points[v] for v in tet)
    e, f, g = ([p[n] - a[n] for n in range(3)] for p in (b, c, d))
    return (e[0] * (f[1] * g[2] - f[2] * g[1]) + e[1] * (f[2] * g[0] - f[0] * g[2]) + e[2] * (f[0] * g[1] - f[1] * g[0])) / 6


for k in range(LAST):
    for j in range(UP):
        for i in range(ACROSS):
            cell(i, j, k, 1 if k < LAST - TAIL_CELLS else 2)
for k in DORSAL:
    for j in range(UP, UP + DORSAL_CELLS):
        for i in (1, 2):
            cell(i, j, k, 3)
for layer in range(PECTORAL_CELLS):
    for j in PECTORAL_J:
        cell(ACROSS + layer, j, PECTORAL_K, 4)
        cell(-1 - layer, j, PECTORAL_K, 5)

for n, (tag, tet) in enumerate(tets):
    if volume(tet) < 0:
        tets[n] = tag, [tet[1], tet[0], tet[2], tet[3]]
mass = sum(volume(tet) for _, tet in tets)
centre = [sum(volume(tet) * sum(points[v][c] for v in tet) / 4 for _, tet in tets) / mass for c in range(3)]

msh.write(("body", "tail", "dorsal", "left", "right"), [[p[c] - centre[c] for c in range(3)] for p in points], tets, "{:.9g}")
