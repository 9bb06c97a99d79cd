"""Draws the table and the room without balls: one ray per sample against flat pieces of a table of given sizes.

The table is a relief: the rail tops and cushions lie at the height of the nose, the cloth at 0, the pockets go down.
A ray meets the upper plane first; where that is open it goes on to the cloth, and where it gets from open to solid on
the way it has met a cushion's face.
"""

from __future__ import annotations

import math

import numpy as np

from sample_videos.optics import compiled, inlined, lamp_seen, light_at, ray

WORLD, CAP, CUSHION, CLOTH, POCKET, FACE, APRON, RIM = range(8)


@inlined
def region(x, y, tab, pockets, mouths):  # type: ignore[no-untyped-def]
    """Which part of the relief lies at (x, y): WORLD, CAP, CUSHION, CLOTH or POCKET."""
    w = tab[0]
    length = tab[1]
    if 0.12 < x < w - 0.12 and 0.12 < y < length - 0.12:
        return CLOTH
    near = -1
    for k in range(6):
        dx = x - pockets[k, 0]
        dy = y - pockets[k, 1]
        d2 = dx * dx + dy * dy
        if d2 < pockets[k, 2] * pockets[k, 2]:
            return POCKET
        if d2 < 0.04:
            near = k
    if 0 <= x <= w and 0 <= y <= length:
        return CLOTH
    if near >= 0:
        inside = False
        n = mouths.shape[1]
        j = n - 1
        for i in range(n):
            yi = mouths[near, i, 1]
            yj = mouths[near, j, 1]
            if (yi > y) != (yj > y):
                xi = mouths[near, i, 0]
                xj = mouths[near, j, 0]
                if x < (xj - xi) * (y - yi) / (yj - yi) + xi:
                    inside = not inside
            j = i
        if inside:
            return CLOTH
    ox = max(-x, x - w)
    oy = max(-y, y - length)
    d = max(ox, oy)
    if d <= tab[3]:
        return CUSHION
    if d > tab[4]:
        return WORLD
    rounding = tab[7]
    ex = ox - (tab[4] - rounding)
    ey = oy - (tab[4] - rounding)
    if ex > 0 and ey > 0 and ex * ex + ey * ey > rounding * rounding:
        return WORLD
    return CAP


@inlined
def texel(tex, u, v, out):  # type: ignore[no-untyped-def]
    """Bilinear look-up of a (h, w, 3) picture at column u, row v, repeated at its borders."""
    h = np.int64(tex.shape[0])
    w = np.int64(tex.shape[1])
    i = np.int64(math.floor(v))
    j = np.int64(math.floor(u))
    a = u - j
    b = v - i
    if i < 0 or i >= h - 1:
        i = i % h
    if j < 0 or j >= w - 1:
        j = j % w
    i2 = i + 1 if i + 1 < h else 0
    j2 = j + 1 if j + 1 < w else 0
    for c in range(3):
        out[c] = (tex[i, j, c] * (1 - a) + tex[i, j2, c] * a) * (1 - b) + (
            tex[i2, j, c] * (1 - a) + tex[i2, j2, c] * a
        ) * b


@inlined
def shade(cls, x, y, z, dx, dy, dz, foot, tab, pockets, lamps, rects, colours, cloth, grain, floor, wall, marks, opt,
          lit, out, tmp):  # type: ignore[no-untyped-def]  # fmt: skip
    """Colour of a surface point seen along (dx, dy, dz); ``foot`` is a pixel's size there, ``lit`` the light on the bed."""
    for c in range(3):
        tmp[c] = colours[0, c]
    out[0] = 0.0
    out[1] = 0.0
    out[2] = 0.0
    w = tab[0]
    length = tab[1]
    ox = max(-x, x - w)
    oy = max(-y, y - length)
    nx = 0.0
    ny = 0.0
    nz = 1.0
    if cls == CLOTH or cls == CAP:
        texel(lit, (x + 0.2) / (w + 0.4) * (lit.shape[1] - 1), (y + 0.2) / (length + 0.4) * (lit.shape[0] - 1), tmp)
    if cls == CLOTH:
        # the corner between cushion and cloth sees less of the room
        d = min(-ox, -oy)
        if d > 0:
            f = 1 - opt[0] * math.exp(-d / 0.016)
            for c in range(3):
                tmp[c] *= f
        texel(
            cloth, (x + 0.1) / (w + 0.2) * (cloth.shape[1] - 1), (y + 0.1) / (length + 0.2) * (cloth.shape[0] - 1), out
        )
        g = grain[int(y * 900 + 2560) & 255, int(x * 900 + 2560) & 255]
        g = 1 + opt[1] * g * min(1.0, 0.0015 / foot)
        for c in range(3):
            out[c] *= tmp[c] * g
        return
    if cls == CUSHION:
        # the top of a cushion slopes down to the nose
        if ox > oy:
            nx = opt[2] if x < 0 else -opt[2]
        else:
            ny = opt[2] if y < 0 else -opt[2]
        n = 1 / math.sqrt(1 + opt[2] * opt[2])
        nx *= n
        ny *= n
        nz = n
        light_at(lamps, x, y, z, nx, ny, nz, 0.0, tmp)
        d = max(ox, oy)
        f = 1 - opt[3] * math.exp(-d / 0.003)
        g = grain[int(y * 900 + 2560) & 255, int(x * 900 + 2560) & 255]
        f *= 1 + opt[1] * g * min(1.0, 0.0015 / foot)
        if d > tab[3] - 0.0025:
            f *= opt[4]
        for c in range(3):
            out[c] = colours[1, c] * tmp[c] * f
        return
    if cls == FACE:
        if ox > oy:
            nx = 1.0 if x < w / 2 else -1.0
        else:
            ny = 1.0 if y < length / 2 else -1.0
        light_at(lamps, x, y, z, nx * 0.9, ny * 0.9, -0.2, 0.2, tmp)
        f = opt[5] * (0.35 + 0.65 * max(0.0, z) / tab[2])
        for c in range(3):
            out[c] = colours[1, c] * tmp[c] * f
        return
    if cls == POCKET:
        light_at(lamps, x, y, 0.0, 0.0, 0.0, 1.0, 0.0, tmp)
        f = 0.55 * math.exp(z / 0.06) if z < 0 else 0.8
        for c in range(3):
            out[c] = colours[4, c] * tmp[c] * f
        return
    if cls == CAP:
        best = 1e9
        corner = False
        for k in range(6):
            qx = x - pockets[k, 0]
            qy = y - pockets[k, 1]
            e = math.sqrt(qx * qx + qy * qy) - pockets[k, 2]
            if e < best:
                best = e
                corner = k != 2 and k != 3
        gloss = opt[6]
        if best < opt[7]:
            row = 3
            gloss = opt[8]
        elif corner and best < opt[9]:
            row = 7
            gloss = opt[8]
        elif not corner and best < opt[10]:
            row = 7
            gloss = opt[8]
        else:
            row = 2
        f = 1.0
        if row == 2:
            along = y if ox > oy else x
            across = x if ox > oy else y
            f = 1 + opt[11] * (
                0.5 * math.sin(across * 260 + 3 * math.sin(along * 7) + 1.3 * math.sin(along * 23))
                + 0.5 * grain[int(across * 700) % grain.shape[0], int(along * 40) % grain.shape[1]]
            )
            for k in range(marks.shape[0]):
                qx = abs(x - marks[k, 0])
                qy = abs(y - marks[k, 1])
                if opt[12] > 0.5:
                    hit = qx / (marks[k, 2]) + qy / (marks[k, 3]) < 1
                else:
                    hit = qx * qx + qy * qy < marks[k, 2] * marks[k, 3]
                if hit:
                    row = 6
                    f = 1.0
        for c in range(3):
            out[c] = colours[row, c] * tmp[c] * f
        if gloss > 0:
            cosine = -dz
            fres = 0.04 + 0.96 * (1 - cosine) ** 5
            tmp[0] = 0.0
            tmp[1] = 0.0
            tmp[2] = 0.0
            lamp_seen(rects, x, y, z, dx, dy, -dz, opt[13], tmp)
            for c in range(3):
                out[c] += gloss * fres * (tmp[c] + colours[0, c] * 0.5)
        return
    if cls == APRON:
        if ox > oy:
            nx = -1.0 if x < w / 2 else 1.0
        else:
            ny = -1.0 if y < length / 2 else 1.0
        light_at(lamps, x, y, z, nx, ny, 0.0, 0.0, tmp)
        for c in range(3):
            out[c] = colours[5, c] * (tmp[c] * 0.6 + 0.25 * colours[0, c])
        return
    # the room
    if z <= tab[6] + 1e-3:
        texel(floor, x * opt[14] * floor.shape[1], y * opt[14] * floor.shape[0], out)
        for k in range(lamps.shape[0]):
            # the table keeps its own lamps from the floor under it
            t = (0.0 - z) / (lamps[k, 2] - z)
            bx = x + (lamps[k, 0] - x) * t
            by = y + (lamps[k, 1] - y) * t
            e = max(max(-bx, bx - w), max(-by, by - length)) - tab[4]
            if e > 0:
                lx = lamps[k, 0] - x
                ly = lamps[k, 1] - y
                lz = lamps[k, 2] - z
                d2 = lx * lx + ly * ly + lz * lz
                q = min(1.0, e / 0.2) * lz * lz / (d2 * d2)
                for c in range(3):
                    tmp[c] += lamps[k, 5 + c] * q
        for c in range(3):
            out[c] *= tmp[c] + opt[15] * colours[0, c]
    else:
        if abs(dx) * opt[17] > abs(dy) * opt[16]:
            u = y
        else:
            u = x
        texel(wall, u * opt[18] * wall.shape[1], (1 - (z - tab[6]) / opt[19]) * wall.shape[0], out)
        for c in range(3):
            out[c] *= opt[20] * colours[0, c] * 2


@inlined
def meet(ox, oy, oz, dx, dy, dz, tab, pockets, mouths, opt, hit):  # type: ignore[no-untyped-def]
    """First surface a ray meets: its class; the point and the distance go to ``hit`` (4,)."""
    top = tab[2]
    if dz < -1e-6:
        t = (top - oz) / dz
        x = ox + dx * t
        y = oy + dy * t
        r = region(x, y, tab, pockets, mouths)
        if r == CAP or r == CUSHION:
            hit[0] = x
            hit[1] = y
            hit[2] = top
            hit[3] = t
            return r
        if r == CLOTH or r == POCKET:
            t0 = -oz / dz
            r0 = region(ox + dx * t0, oy + dy * t0, tab, pockets, mouths)
            a = t
            b = t0
            found = CLOTH
            if r0 == POCKET:
                a = t0
                b = (-0.14 - oz) / dz
                found = POCKET
                if region(ox + dx * b, oy + dy * b, tab, pockets, mouths) == POCKET:
                    a = b
            elif r0 == CLOTH:
                a = t0
                b = t0
            if b > a:
                # something solid on the way down: halve the way to it
                for _ in range(10):
                    m = 0.5 * (a + b)
                    rm = region(ox + dx * m, oy + dy * m, tab, pockets, mouths)
                    if rm == POCKET or (rm == CLOTH and found == CLOTH):
                        a = m
                    else:
                        b = m
                if found == CLOTH:
                    found = POCKET if region(ox + dx * a, oy + dy * a, tab, pockets, mouths) == POCKET else FACE
            hit[0] = ox + dx * a
            hit[1] = oy + dy * a
            hit[2] = oz + dz * a
            hit[3] = a
            return found
        # beside the table: its side, its legs, the floor or a wall
    best = 1e9
    cls = WORLD
    for part in range(5):
        if part == 0:
            x0 = -tab[4]
            x1 = tab[0] + tab[4]
            y0 = -tab[4]
            y1 = tab[1] + tab[4]
            z0 = -tab[5]
            z1 = top
        else:
            e = 0.16
            i = (part - 1) % 2
            j = (part - 1) // 2
            x0 = 0.02 + i * (tab[0] - 0.04 - e)
            x1 = x0 + e
            y0 = 0.12 + j * (tab[1] - 0.24 - e)
            y1 = y0 + e
            z0 = tab[6]
            z1 = -tab[5]
        ta = 0.0
        tb = best
        for axis in range(3):
            if axis == 0:
                o = ox
                d = dx
                lo = x0
                hi = x1
            elif axis == 1:
                o = oy
                d = dy
                lo = y0
                hi = y1
            else:
                o = oz
                d = dz
                lo = z0
                hi = z1
            if abs(d) < 1e-9:
                if o < lo or o > hi:
                    tb = -1.0
            else:
                q0 = (lo - o) / d
                q1 = (hi - o) / d
                if q0 > q1:
                    q0, q1 = q1, q0
                ta = max(ta, q0)
                tb = min(tb, q1)
        if ta < tb and ta > 0.01 and ta < best:
            best = ta
            cls = APRON
    if dz < -1e-6:
        t = (tab[6] - oz) / dz
        if t < best:
            best = t
            cls = WORLD
    cx = tab[0] / 2
    cy = tab[1] / 2
    if dx != 0.0:
        t = (cx + math.copysign(opt[16], dx) - ox) / dx
        if 0 < t < best:
            best = t
            cls = WORLD
    if dy != 0.0:
        t = (cy + math.copysign(opt[17], dy) - oy) / dy
        if 0 < t < best:
            best = t
            cls = WORLD
    hit[0] = ox + dx * best
    hit[1] = oy + dy * best
    hit[2] = oz + dz * best
    hit[3] = best
    return cls


@compiled
def bed_light(lamps, ambient, w, length, height, lit):  # type: ignore[no-untyped-def]
    """Fill ``lit`` (rows, cols, 3) with the light falling on a level surface, 0.2 m beyond the nose lines on all sides."""
    out = np.zeros(3)
    for i in range(lit.shape[0]):
        for j in range(lit.shape[1]):
            for c in range(3):
                out[c] = ambient[c]
            x = -0.2 + (w + 0.4) * j / (lit.shape[1] - 1)
            y = -0.2 + (length + 0.4) * i / (lit.shape[0] - 1)
            light_at(lamps, x, y, height, 0.0, 0.0, 1.0, 0.0, out)
            for c in range(3):
                lit[i, j, c] = out[c]


@compiled
def cast(cam, height, width, per_side, tab, pockets, mouths, lamps, rects, colours, cloth, grain, floor, wall, marks, opt, lit,
         image, place, kinds, far):  # type: ignore[no-untyped-def]  # fmt: skip
    """Fill ``image`` (h, w, 3), ``place`` (h, w, 3) metres, ``kinds`` (h, w), ``far`` (h, w) metres along the ray.

    A pixel is drawn from ``per_side`` squared samples where its surroundings are not all of one kind, else from one.
    """
    hit = np.zeros(4)
    out = np.zeros(3)
    tmp = np.zeros(3)
    ox = cam[14]
    oy = cam[15]
    oz = cam[16]
    for v in range(height):
        for u in range(width):
            dx, dy, dz = ray(cam, float(u), float(v))
            kinds[v, u] = meet(ox, oy, oz, dx, dy, dz, tab, pockets, mouths, opt, hit)
            far[v, u] = hit[3]
            place[v, u, 0] = hit[0]
            place[v, u, 1] = hit[1]
            place[v, u, 2] = hit[2]
    for v in range(height):
        for u in range(width):
            kind = kinds[v, u]
            n = 1
            if kind == CAP:
                n = per_side
            else:
                for i in range(max(0, v - 1), min(height, v + 2)):
                    for j in range(max(0, u - 1), min(width, u + 2)):
                        if kinds[i, j] != kind:
                            n = per_side
            b = 0.0
            g = 0.0
            r = 0.0
            for i in range(n):
                for j in range(n):
                    dx, dy, dz = ray(cam, u + (j + 0.5) / n - 0.5, v + (i + 0.5) / n - 0.5)
                    if n > 1:
                        kind = meet(ox, oy, oz, dx, dy, dz, tab, pockets, mouths, opt, hit)
                    else:
                        hit[0] = place[v, u, 0]
                        hit[1] = place[v, u, 1]
                        hit[2] = place[v, u, 2]
                        hit[3] = far[v, u]
                    shade(
                        kind, hit[0], hit[1], hit[2], dx, dy, dz, hit[3] / cam[0], tab, pockets, lamps, rects, colours, cloth,
                        grain, floor, wall, marks, opt, lit, out, tmp,
                    )  # fmt: skip
                    b += out[0]
                    g += out[1]
                    r += out[2]
            k = 1.0 / (n * n)
            image[v, u, 0] = b * k
            image[v, u, 1] = g * k
            image[v, u, 2] = r * k
