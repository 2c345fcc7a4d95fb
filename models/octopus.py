#!/usr/bin/env python3
"""Writes octopus.msh: a mantle and eight tapered legs that fall outwards and curl up at their ends.

At about 2,000 tets a leg is two cells wide and two thick, thinner than a lattice of that size can hold, so this mesh is
laid out by hand, with the eightfold symmetry of the shape. The mantle is a stack of discs: an axis, a ring of 8 nodes and
an outer ring of 16, 32 triangles each. On the outer ring of the lowest three discs each leg begins with 2 x 2 faces and goes on
in slices of 3 x 3 nodes, rounded, down to an apex. Prisms, hexahedra and pyramids are cut into tets from their node of
lowest number, so that neighbours fit.

Usage: python3 models/octopus.py > models/octopus.msh
"""
import math

import msh

# The outer ring of each disc: radius and height, m; then how much higher the ring inside and the axis are.
DISCS = [(0.105, -0.042, -0.004, -0.004), (0.110, 0.000, 0, 0), (0.105, 0.042, 0.002, 0.002), (0.108, 0.092, 0, 0),
         (0.138, 0.158, 0, 0), (0.143, 0.228, -0.002, -0.008), (0.103, 0.304, 0.023, 0.034)]
# The slices of a leg: length, m, and slope, degrees, from the one before; half of its width and of its thickness, m. Last, the apex.
LEGS = [(0.056, -4, 0.042, 0.038), (0.056, -23, 0.041, 0.037), (0.056, -42, 0.039, 0.035), (0.055, -55, 0.037, 0.033),
        (0.053, -62, 0.034, 0.031), (0.050, -58, 0.031, 0.028), (0.046, -42, 0.028, 0.025), (0.042, -15, 0.024, 0.021),
        (0.036, 17, 0, 0)]
CENTER = 0.0466  # m, height of the centre of mass of all this, which becomes the origin
ROUND = 0.78    # where the corners of a slice are, of those of the rectangle

nodes, tets = [], []


def add_node(x, y, z):
    nodes.append((x, y, z))
    return len(nodes) - 1


def volume(t):
    a, b, c, d = (nodes[i] for i in t)
    u, v, w = ([p[k] - a[k] for k in range(3)] for p in (b, c, d))
    return (u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])) / 6


def add_cell(faces, tag):
    """Tets from the cell's node of lowest number to the triangles of the faces without it."""
    first = min(min(face) for face in faces)
    for face in faces:
        if first in face:
            continue
        k = face.index(min(face))
        face = face[k:] + face[:k]
        for i in range(1, len(face) - 1):
            tet = [first, face[0], face[i], face[i + 1]]
            tets.append((tag, tet if volume(tet) > 0 else [tet[1], tet[0]] + tet[2:]))


def add_prism(a, b, tag):
    """Between two polygons with as many corners."""
    n = len(a)
    add_cell([list(a), list(b)] + [[a[i], a[(i + 1) % n], b[(i + 1) % n], b[i]] for i in range(n)], tag)


def polar(radius, angle, y, side=0):
    """A point at a distance from the axis, and sideways of that."""
    c, s = math.cos(angle), math.sin(angle)
    return radius * c - side * s, y - CENTER, radius * s + side * c


def make_mantle():
    """Returns the outer rings, 16 nodes each: node 2 k + 1 is in the middle of leg k."""
    rings, before = [], None
    for radius, y, inner, axis in DISCS:
        outer = [add_node(*polar(radius, i * math.pi / 8, y)) for i in range(16)]
        inside = [add_node(*polar(0.52 * radius, k * math.pi / 4, y + inner)) for k in range(8)]
        middle = add_node(*polar(0, 0, y + axis))
        disc = []
        for k in range(8):
            here, there, left = inside[k], inside[(k + 1) % 8], outer[2 * k]
            between, right = outer[2 * k + 1], outer[(2 * k + 2) % 16]
            disc += [(middle, here, there), (here, left, between), (here, between, there), (there, between, right)]
        for a, b in zip(before or [], disc):
            add_prism(a, b, 1)
        rings.append(outer)
        before = disc
    return rings


def leg_line():
    """The middle of the legs in the plane of distance and height, from the mantle to the apex."""
    line = [DISCS[1][:2]]
    for length, slope, _, _ in LEGS:
        r, y = line[-1]
        line.append((r + length * math.cos(math.radians(slope)), y + length * math.sin(math.radians(slope))))
    return line


def direction(line, k):
    """Of the line at point k: that between its neighbours."""
    a, b = line[max(k - 1, 0)], line[min(k + 1, len(line) - 1)]
    length = math.dist(a, b)
    return (b[0] - a[0]) / length, (b[1] - a[1]) / length


def make_leg(leg, rings):
    """A leg's slices are 3 x 3 nodes: i from side to side, j from the inner (lower) to the outer side."""
    tag, angle = 2 + leg, (2 * leg + 1) * math.pi / 8
    line = leg_line()
    before = [[rings[j][(2 * leg + i) % 16] for i in range(3)] for j in range(3)]
    for k, (_, _, width, thickness) in enumerate(LEGS[:-1], 1):
        (r, y), (dr, dy) = line[k], direction(line, k)
        slice_ = [[0] * 3 for _ in range(3)]
        for j in range(3):
            for i in range(3):
                scale = ROUND if i != 1 and j != 1 else 1
                side, lift = scale * (i - 1) * width, scale * (j - 1) * thickness
                slice_[j][i] = add_node(*polar(r - lift * dy, angle, y + lift * dr, side))
        for j in range(2):
            for i in range(2):
                a, b = ([s[j][i], s[j][i + 1], s[j + 1][i + 1], s[j + 1][i]] for s in (before, slice_))
                add_prism(a, b, tag)
        before = slice_
    apex = add_node(*polar(line[-1][0], angle, line[-1][1]))
    for j in range(2):
        for i in range(2):
            base = [before[j][i], before[j][i + 1], before[j + 1][i + 1], before[j + 1][i]]
            add_cell([base] + [[base[m], base[(m + 1) % 4], apex] for m in range(4)], tag)


rings = make_mantle()
for leg in range(8):
    make_leg(leg, rings)

msh.write(["mantle"] + [f"leg{leg + 1}" for leg in range(8)], nodes, tets, "{:.6g}")
