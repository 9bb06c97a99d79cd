"""The table as a relief of flat pieces: which part lies where, and what a ray meets first.

The rail tops and cushions lie at the height of the nose, the cloth at 0, the pockets go down. A ray meets the upper
plane first; where that is open it goes on to the cloth, and where it gets from open to solid on the way it has met a
cushion's face.
"""

from __future__ import annotations

import math

from sample_videos.optics import inlined

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
def slab(ox, oy, oz, ix, iy, iz, x0, x1, y0, y1, z0, z1):  # type: ignore[no-untyped-def]
    """Distance at which a ray (origin, reciprocal direction) enters a box, or -1."""
    a = (x0 - ox) * ix
    b = (x1 - ox) * ix
    ta = min(a, b)
    tb = max(a, b)
    a = (y0 - oy) * iy
    b = (y1 - oy) * iy
    ta = max(ta, min(a, b))
    tb = min(tb, max(a, b))
    a = (z0 - oz) * iz
    b = (z1 - oz) * iz
    ta = max(ta, min(a, b))
    tb = min(tb, max(a, b))
    return ta if ta < tb else -1.0


@inlined
def meet(ox, oy, oz, dx, dy, dz, tab, pockets, mouths, opt, hit):  # type: ignore[no-untyped-def]
    """First surface a ray meets: its class; the point and the distance go to ``hit`` (4,)."""
    top = tab[2]
    if dz < -1e-6:
        t = (top - oz) / dz
        x = ox + dx * t
        y = oy + dy * t
        r = region(x, y, tab, pockets, mouths)
        if r in (CAP, CUSHION):
            hit[0] = x
            hit[1] = y
            hit[2] = top
            hit[3] = t
            return r
        if r in (CLOTH, POCKET):
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
    ix = 1.0 / dx if abs(dx) > 1e-9 else 1e9
    iy = 1.0 / dy if abs(dy) > 1e-9 else 1e9
    iz = 1.0 / dz if abs(dz) > 1e-9 else 1e9
    rim = tab[4]
    # the body; then, where the ray passes through the room under it, the four legs
    t = slab(ox, oy, oz, ix, iy, iz, -rim, tab[0] + rim, -rim, tab[1] + rim, -tab[5], top)
    if 0.01 < t < best:
        best = t
        cls = APRON
    if slab(ox, oy, oz, ix, iy, iz, 0.0, tab[0], 0.1, tab[1] - 0.1, tab[6], -tab[5]) > 0.01:
        e = 0.16
        for part in range(4):
            x0 = 0.02 + (part % 2) * (tab[0] - 0.04 - e)
            y0 = 0.12 + (part // 2) * (tab[1] - 0.24 - e)
            t = slab(ox, oy, oz, ix, iy, iz, x0, x0 + e, y0, y0 + e, tab[6], -tab[5])
            if 0.01 < t < best:
                best = t
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
