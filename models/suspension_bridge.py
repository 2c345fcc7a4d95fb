#!/usr/bin/env python3
"""Writes suspension_bridge.msh: a deck, two towers, two sagging main cables and their hangers.

At about 700 tets a cable is one element thick, thinner than a lattice of that size can hold, so this mesh is laid out
by hand: hexahedral cells on one index lattice, i along the bridge, j upwards, k across, each cut into five tets whose
pattern alternates with the parity of i + j + k, so that neighbours fit. Cells and pattern are mirror-symmetric.

Usage: python3 models/suspension_bridge.py > models/suspension_bridge.msh
"""
import math

import msh

PITCH, BAR = 0.485, 0.12          # m, from column to column, width of a column
COLUMNS = range(-4, 5)            # anchor, tower, five hangers, tower, anchor
TOWERS = (-3, 3)
EDGES = (-0.27, -0.13, 0.13, 0.27)  # m across: cable plane, roadway, cable plane
DECK, CABLE = 0.12, 0.1           # m, thickness
FOOT, TOP, LOW = 0.3, 0.75, 0.1   # m: towers below the deck; cable above it at the towers and at mid-span
TOWER_CELLS, HANGER_CELLS = 4, 2  # upwards, between deck and cable; both even

# Where the node columns are: two for each column.
xs = sorted([c * PITCH + s * BAR / 2 for c in COLUMNS for s in (-1, 1)])
column_of = {2 * n: c for n, c in enumerate(COLUMNS)}  # cell i -> column


def cable_height(x):
    """Lower side of the cable above the deck: a parabola between the towers, straight on to the anchors."""
    tower, end, x = 3 * PITCH - BAR / 2, 4 * PITCH - BAR / 2, abs(x)
    if x <= tower:
        return LOW + (TOP - LOW) * (x / tower) ** 2
    if x <= tower + BAR:
        return TOP
    return LOW + (TOP - LOW) * max(end - x, 0) / (end - tower - BAR)


def cable_top(i):
    """The upper side: offset along the normal, mitred at the corners."""
    low = [(x, cable_height(x)) for x in xs]
    def direction(a, b):
        length = math.hypot(b[0] - a[0], b[1] - a[1])
        return (b[0] - a[0]) / length, (b[1] - a[1]) / length
    before = direction(low[max(i - 1, 0)], low[max(i, 1)])
    after = direction(low[min(i, len(low) - 2)], low[min(i + 1, len(low) - 1)])
    mid = direction((0, 0), (before[0] + after[0], before[1] + after[1]))
    if i in (0, len(low) - 1):  # the ends are cut upright
        return low[i][0], low[i][1] + CABLE / mid[0]
    stretch = CABLE / (mid[0] * after[0] + mid[1] * after[1])
    return low[i][0] - stretch * mid[1], low[i][1] + stretch * mid[0]


nodes, cells = {}, []


def node(i, j, k, top=None):
    """j: -1 foot, 0 and 1 the deck, 1 + part/parts up to the cable, "low" and "high" the cable."""
    x, z = xs[i], EDGES[k]
    if j == "high":
        x, y = cable_top(i)
    elif j == "low":
        y = cable_height(x)
    elif j <= 1:
        y = -FOOT - DECK if j == -1 else -DECK if j == 0 else 0
    else:
        y = cable_height(x) * (j - 1)
    return nodes.setdefault((round(x, 6), round(y, 6), round(z, 6)), len(nodes) + 1)


def cell(i, k, level, bottom, top, tag):
    """level: the cell's j, for the parity."""
    corner = [node(i + a, (bottom, top)[b], k + c) for c in (0, 1) for b in (0, 1) for a in (0, 1)]
    pattern = ((0, 3, 5, 6), (1, 3, 5, 0), (2, 3, 0, 6), (4, 5, 6, 0), (7, 6, 5, 3))
    flip = (i + level + k) % 2
    for tet in pattern:
        cells.append((tag, [corner[v ^ flip] for v in tet]))


last = len(xs) - 2
for i in range(last + 1):
    for k in (0, 1, 2):
        cell(i, k, 0, 0, 1, 1)
    for k in (0, 2):
        cell(i, k, 1, "low", "high", 3)  # an even number of cells lies between: its parity is that of level 1
        if i in column_of:
            tower = column_of[i] in TOWERS
            count = TOWER_CELLS if tower else HANGER_CELLS
            for part in range(count):
                bottom = 1 + part / count
                top = "low" if part == count - 1 else 1 + (part + 1) / count
                cell(i, k, 1 + part, bottom, top, 2 if tower else 4)
            if tower:
                cell(i, k, -1, -1, 0, 2)
    if i in column_of and column_of[i] in TOWERS:
        cell(i, 1, 1, "low", "high", 2)  # the beam between the legs, at the top

msh.write(("deck", "tower", "cable", "hanger"), list(nodes), [(tag, [v - 1 for v in tet]) for tag, tet in cells])
