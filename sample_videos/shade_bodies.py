"""Draws everything made of rounded cones (cues, hands, arms, people) and the shadows that balls and bodies throw."""

from __future__ import annotations

import math

import numpy as np

from sample_videos.optics import compiled, inlined, pixel
from sample_videos.relief import CAP, CLOTH, CUSHION, FACE, RIM


@inlined
def blocked(px, py, pz, lx, ly, lz, size, ax, ay, az, ra, bx, by, bz, rb):  # type: ignore[no-untyped-def]
    """Share of a lamp of half width ``size`` at (lx, ly, lz) that a rounded cone hides from (px, py, pz)."""
    ux = lx - px
    uy = ly - py
    uz = lz - pz
    wx = bx - ax
    wy = by - ay
    wz = bz - az
    qx = px - ax
    qy = py - ay
    qz = pz - az
    a = ux * ux + uy * uy + uz * uz
    e = wx * wx + wy * wy + wz * wz
    f = wx * qx + wy * qy + wz * qz
    c = ux * qx + uy * qy + uz * qz
    if e < 1e-12:
        t = 0.0
        s = min(1.0, max(0.0, -c / a))
    else:
        b = ux * wx + uy * wy + uz * wz
        den = a * e - b * b
        s = 0.0
        if den > 1e-12:
            s = min(1.0, max(0.0, (b * f - c * e) / den))
        t = (b * s + f) / e
        if t < 0:
            t = 0.0
            s = min(1.0, max(0.0, -c / a))
        elif t > 1:
            t = 1.0
            s = min(1.0, max(0.0, (b - c) / a))
    hx = qx + ux * s - wx * t
    hy = qy + uy * s - wy * t
    hz = qz + uz * s - wz * t
    d = math.sqrt(hx * hx + hy * hy + hz * hz)
    r = ra + (rb - ra) * t
    soft = size * s + 0.0008
    k = (r + soft - d) / (2 * soft)
    if k <= 0:
        return 0.0
    k = min(k, 1.0)
    k = k * k * (3 - 2 * k)
    most = min(1.0, (r / soft) ** 2)
    return k * most


@compiled
def paint_shadow(image, place, kinds, owner, lamps, ambient, cones, reach, window, spare):  # type: ignore[no-untyped-def]
    """Darken the table's surfaces in ``window`` (u0, v0, u1, v1) where cones (n, 8: a, ra, b, rb) keep light away.

    Pixels that a ball owns are left alone where ``spare``. ``reach`` is the strength of the contact shadow (ambient light kept away near the body).
    """
    for v in range(window[1], window[3]):
        for u in range(window[0], window[2]):
            kind = kinds[v, u]
            if spare and owner[v, u] != -1:
                continue
            if kind != CLOTH and kind != CUSHION and kind != FACE and kind != CAP and kind != RIM:
                continue
            px = place[v, u, 0]
            py = place[v, u, 1]
            pz = place[v, u, 2]
            nz = 1.0
            fb = 1.0
            fg = 1.0
            fr = 1.0
            for m in range(cones.shape[0]):
                all_b = ambient[0]
                all_g = ambient[1]
                all_r = ambient[2]
                cut_b = 0.0
                cut_g = 0.0
                cut_r = 0.0
                ax = cones[m, 0]
                ay = cones[m, 1]
                az = cones[m, 2]
                ra = cones[m, 3]
                # the part of the room's light that the body hides: a sphere's closed form at its nearer end
                dx = ax - px
                dy = ay - py
                dz = az - pz
                d2 = dx * dx + dy * dy + dz * dz
                occ = 0.0
                if d2 > 1e-9 and dz > 0:
                    occ = min(1.0, dz / math.sqrt(d2) * ra * ra / max(d2, ra * ra) * reach)
                cut_b += all_b * occ
                cut_g += all_g * occ
                cut_r += all_r * occ
                for k in range(lamps.shape[0]):
                    lx = lamps[k, 0]
                    ly = lamps[k, 1]
                    lz = lamps[k, 2]
                    qx = lx - px
                    qy = ly - py
                    qz = lz - pz
                    q2 = qx * qx + qy * qy + qz * qz
                    e = qz * qz / (q2 * q2) * nz
                    share = blocked(
                        px, py, pz, lx, ly, lz, 0.5 * (lamps[k, 3] + lamps[k, 4]),
                        ax, ay, az, ra, cones[m, 4], cones[m, 5], cones[m, 6], cones[m, 7],
                    )  # fmt: skip
                    share = max(share, 0.35 * occ)
                    all_b += e * lamps[k, 5]
                    all_g += e * lamps[k, 6]
                    all_r += e * lamps[k, 7]
                    cut_b += share * e * lamps[k, 5]
                    cut_g += share * e * lamps[k, 6]
                    cut_r += share * e * lamps[k, 7]
                fb *= 1 - cut_b / (all_b + 1e-9)
                fg *= 1 - cut_g / (all_g + 1e-9)
                fr *= 1 - cut_r / (all_r + 1e-9)
            image[v, u, 0] *= fb
            image[v, u, 1] *= fg
            image[v, u, 2] *= fr


@compiled
def paint_cones(image, far, owner, cam, cones, coats, lamps, ambient, weave, opacity):  # type: ignore[no-untyped-def]
    """Draw rounded cones, far ones first; ``coats`` (n, 5): colour, gloss, weave strength.

    ``weave`` is a small tile of noise laid on cloth and skin. ``opacity`` (n,) fades a fast one that is blurred.
    """
    n = cones.shape[0]
    depth = np.zeros(n)
    # the lamps' light as one direction and strength a colour at the middle of each cone
    glow = np.zeros((n, 3, 3))
    for m in range(n):
        _, _, za = pixel(cam, cones[m, 0], cones[m, 1], cones[m, 2])
        _, _, zb = pixel(cam, cones[m, 4], cones[m, 5], cones[m, 6])
        depth[m] = -(za + zb)
        for k in range(lamps.shape[0]):
            lx = lamps[k, 0] - 0.5 * (cones[m, 0] + cones[m, 4])
            ly = lamps[k, 1] - 0.5 * (cones[m, 1] + cones[m, 5])
            lz = lamps[k, 2] - 0.5 * (cones[m, 2] + cones[m, 6])
            d2 = max(0.04, lx * lx + ly * ly + lz * lz)
            d = math.sqrt(d2)
            e = max(0.05, lz / d) / (d2 * d)
            for c in range(3):
                glow[m, c, 0] += e * lx * lamps[k, 5 + c]
                glow[m, c, 1] += e * ly * lamps[k, 5 + c]
                glow[m, c, 2] += e * lz * lamps[k, 5 + c]
    order = np.argsort(depth)
    lit = np.zeros(3)
    height = image.shape[0]
    width = image.shape[1]
    for o in range(n):
        m = order[o]
        ua, va, za = pixel(cam, cones[m, 0], cones[m, 1], cones[m, 2])
        ub, vb, zb = pixel(cam, cones[m, 4], cones[m, 5], cones[m, 6])
        if za < 0.15 or zb < 0.15:
            continue
        ra = cam[0] * cones[m, 3] / za
        rb = cam[0] * cones[m, 7] / zb
        du = ub - ua
        dv = vb - va
        length2 = du * du + dv * dv
        u0 = max(0, int(min(ua - ra, ub - rb) - 2))
        u1 = min(width - 1, int(max(ua + ra, ub + rb) + 2))
        v0 = max(0, int(min(va - ra, vb - rb) - 2))
        v1 = min(height - 1, int(max(va + ra, vb + rb) + 2))
        inv = 1.0 / math.sqrt(length2) if length2 > 1e-9 else 0.0
        for v in range(v0, v1 + 1):
            for u in range(u0, u1 + 1):
                qu = u - ua
                qv = v - va
                t = 0.0
                if length2 > 1e-9:
                    t = min(1.0, max(0.0, (qu * du + qv * dv) / length2))
                eu = qu - du * t
                ev = qv - dv * t
                r = ra + (rb - ra) * t
                d = math.sqrt(eu * eu + ev * ev)
                a = r - d + 0.5
                if a <= 0:
                    continue
                a = min(1.0, a) * min(1.0, 2 * r) * opacity[m]
                za + (zb - za) * t
                rw = cones[m, 3] + (cones[m, 7] - cones[m, 3]) * t
                px = cones[m, 0] + (cones[m, 4] - cones[m, 0]) * t
                py = cones[m, 1] + (cones[m, 5] - cones[m, 1]) * t
                pz = cones[m, 2] + (cones[m, 6] - cones[m, 2]) * t
                vx = cam[14] - px
                vy = cam[15] - py
                vz = cam[16] - pz
                vn = math.sqrt(vx * vx + vy * vy + vz * vz)
                if vn - rw > far[v, u]:
                    continue
                sx = eu / max(r, 0.5)
                sy = ev / max(r, 0.5)
                s2 = min(0.98, sx * sx + sy * sy)
                sz = math.sqrt(1 - s2)
                nx = cam[5] * sx + cam[8] * sy + vx / vn * sz
                ny = cam[6] * sx + cam[9] * sy + vy / vn * sz
                nz = cam[7] * sx + cam[10] * sy + vz / vn * sz
                for c in range(3):
                    e = glow[m, c, 0] * nx + glow[m, c, 1] * ny + glow[m, c, 2] * nz
                    lit[c] = ambient[c] * (0.6 + 0.4 * nz) + max(0.0, e)
                k = 1.0
                if coats[m, 4] > 0:
                    side = (eu * dv - ev * du) * inv / max(r, 1.0)
                    i = int(t * 60 + 13 * m) % weave.shape[0]
                    j = int(side * 24 + 31 * m) % weave.shape[1]
                    k += coats[m, 4] * weave[i, j]
                shine = 0.0
                if coats[m, 3] > 0:
                    shine = coats[m, 3] * max(0.0, nz) ** 24
                for c in range(3):
                    image[v, u, c] = image[v, u, c] * (1 - a) + a * (coats[m, c] * k + shine) * lit[c]
                if a > 0.5:
                    owner[v, u] = -1
                    if vn - rw < far[v, u]:
                        far[v, u] = vn - rw
