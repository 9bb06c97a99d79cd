"""Draws balls: spheres with their markings, lit by the lamps, mirroring lamps and cloth, blurred by their motion.

A ball is drawn from samples; a sample has its own instant (centre and orientation at that instant) and its own place
within the pixel, so that the same few samples do both the blur and smooth edges.
"""

from __future__ import annotations

import math

import numpy as np

from sample_videos.optics import compiled, inlined, lamp_seen, light_at, pixel, ray

SOLID, STRIPE, CUE, MEASLES, PLAIN, LOGO = range(6)


@inlined
def marking(bx, by, bz, style, paint, digits, number, out):  # type: ignore[no-untyped-def]
    """Colour of the ball's surface at a point of the unit sphere in the ball's own frame.

    ``paint``: rows colour, white, digit, spot; last row: spot radius (sine), band half width (sine), ring, logo.
    """
    spot = paint[4, 0]
    band = paint[4, 1]
    row = 0
    if style == STRIPE:
        row = 0 if abs(bz) < band else 1
    elif style in (CUE, MEASLES, LOGO):
        row = 1
    for c in range(3):
        out[c] = paint[row, c]
    if style in (SOLID, STRIPE):
        if by * by + bz * bz < spot * spot:
            for c in range(3):
                out[c] = paint[3, c]
            n = digits.shape[1]
            q = by / spot if bx > 0 else -by / spot
            i = int((0.5 - 0.5 * bz / spot) * n)
            j = int((0.5 + 0.5 * q) * n)
            if 0 <= i < n and 0 <= j < n:
                a = digits[number, i, j]
                for c in range(3):
                    out[c] = out[c] * (1 - a) + paint[2, c] * a
    elif style == MEASLES:
        ax = abs(bx)
        ay = abs(by)
        az = abs(bz)
        if max(ax, max(ay, az)) > math.sqrt(1 - spot * spot):
            for c in range(3):
                out[c] = paint[2, c]
    elif style == LOGO:
        r2 = by * by + bz * bz
        if r2 < spot * spot and (r2 > spot * spot * paint[4, 2]) and bx > 0:
            for c in range(3):
                out[c] = paint[2, c]


@compiled
def paint_ball(image, far, kinds, owner, alpha, cam, centres, turns, offsets, radius, style, number, paint, digits,
               lamps, rects, light, gloss, only, index, neighbours):  # type: ignore[no-untyped-def]  # fmt: skip
    """Draw one ball; returns the sum over pixels of its coverage without anything before it, and of what is seen.

    Parameters
    ----------
    image, far, kinds, owner, alpha : (h, w, …) the picture (linear), distance of what is there, its class, the last
        ball drawn there, and a scratch plane for coverage.
    centres, turns, offsets : (n, 3) metres, (n, 3, 3) table frame to ball frame, (n, 2) pixels.
    light : (4, 3) ambient from above, cloth colour times its light, room mirrored, [wrap, softness, 0].
    only : class of background it may be drawn on, or -1 for all (a ball in a pocket shows in the hole only).
    neighbours : (m, 3) centres of other balls nearby, which keep light from it.
    """
    n = centres.shape[0]
    u0 = 1e9
    u1 = -1e9
    v0 = 1e9
    v1 = -1e9
    for k in range(n):
        u, v, z = pixel(cam, centres[k, 0], centres[k, 1], centres[k, 2])
        if z < 0.1:
            return 0.0, 0.0
        r = 1.25 * cam[0] * radius / z * math.sqrt(1 + ((u - cam[1]) ** 2 + (v - cam[2]) ** 2) / cam[0] ** 2) + 2
        u0 = min(u0, u - r)
        u1 = max(u1, u + r)
        v0 = min(v0, v - r)
        v1 = max(v1, v + r)
    ua = max(0, int(u0))
    ub = min(image.shape[1] - 1, int(u1) + 1)
    va = max(0, int(v0))
    vb = min(image.shape[0] - 1, int(v1) + 1)
    out = np.zeros(3)
    lit = np.zeros(3)
    mirror = np.zeros(3)
    total = 0.0
    seen = 0.0
    ox = cam[14]
    oy = cam[15]
    oz = cam[16]
    for v in range(va, vb + 1):
        for u in range(ua, ub + 1):
            b = 0.0
            g = 0.0
            rr = 0.0
            count = 0
            covered = 0
            near = 1e9
            for k in range(n):
                dx, dy, dz = ray(cam, u + offsets[k, 0], v + offsets[k, 1])
                cx = centres[k, 0] - ox
                cy = centres[k, 1] - oy
                cz = centres[k, 2] - oz
                m = cx * dx + cy * dy + cz * dz
                e = cx * cx + cy * cy + cz * cz - m * m
                if e >= radius * radius:
                    continue
                covered += 1
                t = m - math.sqrt(radius * radius - e)
                if t > far[v, u] + 0.002 and only < 0:
                    continue
                if only >= 0 and kinds[v, u] != only:
                    continue
                if t < near:
                    near = t
                px = ox + dx * t
                py = oy + dy * t
                pz = oz + dz * t
                nx = (px - centres[k, 0]) / radius
                ny = (py - centres[k, 1]) / radius
                nz = (pz - centres[k, 2]) / radius
                w = turns[k]
                marking(
                    w[0, 0] * nx + w[0, 1] * ny + w[0, 2] * nz,
                    w[1, 0] * nx + w[1, 1] * ny + w[1, 2] * nz,
                    w[2, 0] * nx + w[2, 1] * ny + w[2, 2] * nz,
                    style, paint, digits, number, out,
                )  # fmt: skip
                up = 0.5 + 0.5 * nz
                h = max(0.0, pz / radius)
                bounce = (1 - up) * min(1.0, h * 0.9 + 0.05)
                shade = 1.0
                for q in range(neighbours.shape[0]):
                    qx = neighbours[q, 0] - px
                    qy = neighbours[q, 1] - py
                    qz = neighbours[q, 2] - pz
                    q2 = qx * qx + qy * qy + qz * qz
                    c = (qx * nx + qy * ny + qz * nz) / math.sqrt(q2)
                    if c > 0:
                        shade *= 1 - 0.9 * c * radius * radius / q2
                for c in range(3):
                    lit[c] = (light[0, c] * up + light[1, c] * bounce) * shade
                    mirror[c] = 0.0
                light_at(lamps, px, py, pz, nx, ny, nz, light[3, 0], lit)
                cosine = -(dx * nx + dy * ny + dz * nz)
                rx = dx + 2 * cosine * nx
                ry = dy + 2 * cosine * ny
                rz = dz + 2 * cosine * nz
                fres = 0.045 + 0.955 * (1 - cosine) ** 5
                if rz > 0.01:
                    lamp_seen(rects, px, py, pz, rx, ry, rz, light[3, 1], mirror)
                    for c in range(3):
                        mirror[c] += light[2, c] * (0.4 + 0.6 * rz)
                else:
                    for c in range(3):
                        mirror[c] = light[1, c] * min(1.0, h + 0.2) + light[2, c] * 0.2
                for c in range(3):
                    out[c] = out[c] * lit[c] + gloss * fres * mirror[c] * shade
                b += out[0]
                g += out[1]
                rr += out[2]
                count += 1
            total += covered / n
            if count > 0:
                a = count / n
                seen += a
                image[v, u, 0] = image[v, u, 0] * (1 - a) + b / n
                image[v, u, 1] = image[v, u, 1] * (1 - a) + g / n
                image[v, u, 2] = image[v, u, 2] * (1 - a) + rr / n
                if a > 0.5:
                    owner[v, u] = index
                    if near < far[v, u]:
                        far[v, u] = near
    return total, seen
