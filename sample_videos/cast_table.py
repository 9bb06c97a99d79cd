"""Draws the table and the room without balls: a ray a sample, shaded by the lamps."""

from __future__ import annotations

import math

import numpy as np

from sample_videos.optics import compiled, inlined, lamp_seen, light_at, ray
from sample_videos.relief import APRON, CAP, CLOTH, CUSHION, FACE, POCKET, WORLD, meet


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
          lit, ground, out, tmp):  # type: ignore[no-untyped-def]  # fmt: skip
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
    if cls in (CLOTH, CAP):
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
        elif (corner and best < opt[9]) or (not corner and best < opt[10]):
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
        texel(
            ground, (x - w / 2) / opt[16] * 0.5 * (ground.shape[1] - 2) + 0.5 * ground.shape[1] - 0.5,
            (y - length / 2) / opt[17] * 0.5 * (ground.shape[0] - 2) + 0.5 * ground.shape[0] - 0.5, tmp,
        )  # fmt: skip
        for c in range(3):
            out[c] *= tmp[c]
    else:
        if abs(dx) * opt[17] > abs(dy) * opt[16]:
            u = y
        else:
            u = x
        texel(wall, u * opt[18] * wall.shape[1], (1 - (z - tab[6]) / opt[19]) * wall.shape[0], out)
        for c in range(3):
            out[c] *= opt[20] * colours[0, c] * 2


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
def floor_light(lamps, ambient, w, length, edge, z, half_x, half_y, share, ground):  # type: ignore[no-untyped-def]
    """Fill ``ground`` (rows, cols, 3) with the light on the floor; the table keeps its lamps from what is under it."""
    rows = ground.shape[0]
    cols = ground.shape[1]
    for i in range(rows):
        for j in range(cols):
            x = w / 2 + (j + 0.5 - 0.5 * cols) / (0.5 * (cols - 2)) * half_x
            y = length / 2 + (i + 0.5 - 0.5 * rows) / (0.5 * (rows - 2)) * half_y
            for c in range(3):
                ground[i, j, c] = ambient[c] * (1 + share)
            for k in range(lamps.shape[0]):
                t = (0.0 - z) / (lamps[k, 2] - z)
                bx = x + (lamps[k, 0] - x) * t
                by = y + (lamps[k, 1] - y) * t
                e = max(max(-bx, bx - w), max(-by, by - length)) - edge
                if e > 0:
                    lx = lamps[k, 0] - x
                    ly = lamps[k, 1] - y
                    lz = lamps[k, 2] - z
                    d2 = lx * lx + ly * ly + lz * lz
                    q = min(1.0, e / 0.2) * lz * lz / (d2 * d2)
                    for c in range(3):
                        ground[i, j, c] += lamps[k, 5 + c] * q


@compiled
def cast(cam, height, width, per_side, tab, pockets, mouths, lamps, rects, colours, cloth, grain, floor, wall, marks, opt, lit,
         ground, image, place, kinds, far):  # type: ignore[no-untyped-def]  # fmt: skip
    """Fill ``image`` (h, w, 3), ``place`` (h, w, 3) metres, ``kinds`` (h, w), ``far`` (h, w) metres along the ray.

    A pixel is drawn from ``per_side`` squared samples where its surroundings are not all of one kind, else from one.
    The open cloth, most of many pictures, is met and shaded without a call.
    """
    hit = np.zeros(4)
    out = np.zeros(3)
    tmp = np.zeros(3)
    ox = cam[14]
    oy = cam[15]
    oz = cam[16]
    w = tab[0]
    length = tab[1]
    top = tab[2]
    inner = 0.12  # metres from the nose lines: no pocket, cushion or shade of one comes so far
    for v in range(height):
        for u in range(width):
            dx, dy, dz = ray(cam, float(u), float(v))
            if dz < -1e-6:
                t = -oz / dz
                x = ox + dx * t
                y = oy + dy * t
                if inner < x < w - inner and inner < y < length - inner:
                    q = (top - oz) / dz
                    if inner < ox + dx * q < w - inner and inner < oy + dy * q < length - inner:
                        kinds[v, u] = CLOTH
                        far[v, u] = t
                        place[v, u, 0] = x
                        place[v, u, 1] = y
                        place[v, u, 2] = 0.0
                        continue
            kinds[v, u] = meet(ox, oy, oz, dx, dy, dz, tab, pockets, mouths, opt, hit)
            far[v, u] = hit[3]
            place[v, u, 0] = hit[0]
            place[v, u, 1] = hit[1]
            place[v, u, 2] = hit[2]
    lit_rows = lit.shape[0] - 1
    lit_cols = lit.shape[1] - 1
    tex_rows = cloth.shape[0] - 1
    tex_cols = cloth.shape[1] - 1
    for v in range(height):
        for u in range(width):
            kind = kinds[v, u]
            x = place[v, u, 0]
            y = place[v, u, 1]
            if kind == CLOTH and inner < x < w - inner and inner < y < length - inner:
                fu = (x + 0.2) / (w + 0.4) * lit_cols
                fv = (y + 0.2) / (length + 0.4) * lit_rows
                i = int(fv)
                j = int(fu)
                a = fu - j
                b = fv - i
                gu = (x + 0.1) / (w + 0.2) * tex_cols
                gv = (y + 0.1) / (length + 0.2) * tex_rows
                m = int(gv)
                n = int(gu)
                c1 = gu - n
                d1 = gv - m
                g = grain[int(y * 900 + 2560) & 255, int(x * 900 + 2560) & 255]
                g = 1 + opt[1] * g * min(1.0, 0.0015 * cam[0] / far[v, u])
                for c in range(3):
                    e = (lit[i, j, c] * (1 - a) + lit[i, j + 1, c] * a) * (1 - b)
                    e += (lit[i + 1, j, c] * (1 - a) + lit[i + 1, j + 1, c] * a) * b
                    k = (cloth[m, n, c] * (1 - c1) + cloth[m, n + 1, c] * c1) * (1 - d1)
                    k += (cloth[m + 1, n, c] * (1 - c1) + cloth[m + 1, n + 1, c] * c1) * d1
                    image[v, u, c] = e * k * g
                continue
            n = 1
            if kind == CAP:
                n = per_side
            elif per_side > 1:
                for i in range(max(0, v - 1), min(height, v + 2)):
                    for j in range(max(0, u - 1), min(width, u + 2)):
                        if kinds[i, j] != kind:
                            n = per_side
            if n == 1 and kind == WORLD and place[v, u, 2] <= tab[6] + 1e-3:
                texel(floor, x * opt[14] * floor.shape[1], y * opt[14] * floor.shape[0], out)
                gu = (x - w / 2) / opt[16] * 0.5 * (ground.shape[1] - 2) + 0.5 * ground.shape[1] - 0.5
                gv = (y - length / 2) / opt[17] * 0.5 * (ground.shape[0] - 2) + 0.5 * ground.shape[0] - 0.5
                texel(ground, gu, gv, tmp)
                for c in range(3):
                    image[v, u, c] = out[c] * tmp[c]
                continue
            bb = 0.0
            gg = 0.0
            rr = 0.0
            for i in range(n):
                for j in range(n):
                    if n > 1:
                        dx, dy, dz = ray(cam, u + (j + 0.5) / n - 0.5, v + (i + 0.5) / n - 0.5)
                        kind = meet(ox, oy, oz, dx, dy, dz, tab, pockets, mouths, opt, hit)
                    else:
                        hit[0] = x
                        hit[1] = y
                        hit[2] = place[v, u, 2]
                        hit[3] = far[v, u]
                        dx = (hit[0] - ox) / hit[3]
                        dy = (hit[1] - oy) / hit[3]
                        dz = (hit[2] - oz) / hit[3]
                    shade(
                        kind, hit[0], hit[1], hit[2], dx, dy, dz, hit[3] / cam[0], tab, pockets, lamps, rects, colours, cloth,
                        grain, floor, wall, marks, opt, lit, ground, out, tmp,
                    )  # fmt: skip
                    bb += out[0]
                    gg += out[1]
                    rr += out[2]
            k = 1.0 / (n * n)
            image[v, u, 0] = bb * k
            image[v, u, 1] = gg * k
            image[v, u, 2] = rr * k
