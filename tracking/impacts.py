"""Says what each kink in a ball's path was: another ball, a cushion, a jaw, the tip; by where, which way and who answered."""

from __future__ import annotations

import math

import numpy as np

from calibration.table import RAILS, Table
from tracking.joint import Kink
from tracking.observations import Floats
from tracking.opening import Opening
from tracking.trails import Jump, Trail, along

PLACE = 0.006  # metres, one sigma of where a kink is found
BLIND = 0.12  # of a frame, one sigma of when a kink is found
BALL_ANGLE = 0.17  # radians, one sigma of a push's direction off the line of centres
RAIL_ANGLE = 0.45
SEEN_JUMP = 0.07  # m/s, one sigma of what may escape notice in the partner
UNMOVED = 26.0  # the same for a ball that starts from rest: something must have touched it
NOTHING = 14.0  # cost of a kink that nothing explains
SOFT = 3.0  # costs are squared sigmas over this, for probabilities: errors have tails
SUREST = 0.995
BOUNCE = 0.75  # of its speed that a ball brings back from a cushion
OPENING = 0.13  # metres from a pocket's centre within which jaws explain a kink


def causal(kinks: list[Kink], lying: set[int], step_s: float) -> list[Kink]:
    """Kinks in an order that can have been: a ball at rest touches nothing before something has set it going.

    Parameters
    ----------
    kinks : as read, their times a frame wrong at worst.
    lying : balls at rest at first.
    step_s : by how much a kink that comes too early is put after its cause.

    Returns
    -------
    The same kinks, those among resting balls moved to just after the first kink that sets one of their balls going.
    """
    still = set(lying)
    waiting = sorted(kinks, key=lambda k: k.t_s)
    out: list[Kink] = []
    while waiting:
        able = [k for k in waiting if k.kind in ("strike", "free") or not set(k.balls) <= still]
        now = able[0] if able and able[0].t_s < waiting[0].t_s + 8 * step_s else waiting[0]
        waiting.remove(now)
        for late in waiting:
            if late.t_s < now.t_s + 1e-4 and set(late.balls) <= still:
                late.t_s = now.t_s + step_s
        waiting.sort(key=lambda k: k.t_s)
        still -= set(now.balls)
        out.append(now)
    return sorted(out, key=lambda k: k.t_s)


class Explainer:
    """Names the kinks of a shot. ``trails`` by ball, all of one shot; ``frame_s`` the time between looks.

    ``cue``: the track most like the cue ball's; ``struck``: one that the tip is known to have sent off, though others move;
    ``from_start``: balls may have moved before the first look.
    """

    def __init__(
        self, trails: dict[int, Trail], table: Table, frame_s: float, cue: int | None = None, struck: int | None = None,
        from_start: bool = True,
    ) -> None:  # fmt: skip
        self.trails, self.table, self.frame, self.cue = trails, table, frame_s, cue
        self.struck, self.from_start = struck, from_start
        self.pockets = list(table.pockets.values())
        self.reactions = {b: trail.jumps for b, trail in trails.items()}

    def explain(self) -> list[Kink]:
        """Kinks named, in order of time; those that nothing explains and that are small are left out."""
        jumps = sorted(
            (j for trail in self.trails.values() for j in trail.jumps),
            key=lambda j: j.t_s - 0.5 * self.frame * j.departs,
        )
        opening = Opening(self.trails, self.table, self.frame, self.cue)
        opener, struck_s = opening.opener(jumps, self.struck, self.from_start)
        played = None if opener is None or self.struck is not None else opening.played_at(opener)
        found: list[Kink] = []
        for jump in jumps:
            if jump is opener:
                found += played or [Kink("strike", min(jump.t_s, struck_s), (jump.ball,))]
                continue
            partner = self._known(jump, found)
            if partner is not None:
                if jump.departs:
                    found += self._bounce_unseen(jump, partner, found)
                continue
            for kink in self._best(jump):
                if (
                    kink.kind == "free"
                    and opener is not None
                    and jump.ball == opener.ball
                    and jump.t_s < opener.t_s + 3 * self.frame
                ):
                    continue  # the tip's push, seen over two or three looks
                again = [k for k in found if k.kind == kink.kind and set(k.balls) == set(kink.balls)]
                if not any(abs(k.t_s - kink.t_s) < 1.5 * self.frame for k in again):
                    found.append(kink)
        if opener is not None:
            opening.first_in_the_way(opener, found)
            found = opening.sent_by(opener, found)
        lying = {b for b, t in self.trails.items() if t.lay}
        return causal(found, lying, 0.25 * self.frame)

    def _known(self, jump: Jump, found: list[Kink]) -> int | None:
        """The ball of whose jumps one was named a contact that accounts for this one, too; None where there is none."""
        for kink in found:
            if kink.kind != "contact" or jump.ball not in kink.balls:
                continue
            if jump.lo_s - 0.5 * self.frame <= kink.t_s <= jump.hi_s + 0.5 * self.frame:
                other = kink.balls[0] if kink.balls[1] == jump.ball else kink.balls[1]
                theirs = [j for j in self.reactions[other] if self._answers(j, kink.t_s)]
                answer = -sum((j.jump for j in theirs), np.zeros(2))
                for bounce in found:  # pushed against a cushion, it is seen to come back from it
                    if bounce.balls == (other,) and bounce.wall is not None and 0 <= bounce.t_s - kink.t_s < self.frame:
                        answer[bounce.wall[0]] /= -BOUNCE
                left = jump.jump - answer
                if np.hypot(*left) < 0.5 * jump.size + 3 * jump.sigma or self._rail(jump)[0] > NOTHING:
                    return other
        return None

    def _answers(self, jump: Jump, t_s: float) -> bool:
        """Whether a ball's jump may have been at a time."""
        return abs(jump.t_s - t_s) < 1.6 * self.frame or (jump.departs and jump.lo_s <= t_s <= jump.hi_s)

    @staticmethod
    def _fastest(jump: Jump) -> float:
        """The higher of the speeds before and after a jump, metres a second."""
        return max(float(np.hypot(*jump.before)), float(np.hypot(*(jump.before + jump.jump))))

    def _best(self, jump: Jump) -> list[Kink]:
        options: list[tuple[float, list[Kink]]] = []
        t = np.linspace(jump.lo_s, jump.hi_s, 25)
        seen, onward = self._ways(jump, t)
        for other in self.trails:
            if other != jump.ball:
                cost, kinks = self._pair(jump, other, t, seen, onward)
                options.append((cost, kinks))
        # a ball at rest meets no cushion
        cost, rail_kink = self._rail(jump) if not jump.departs else (np.inf, None)
        if rail_kink is not None:
            options.append((cost, [rail_kink]))
        mouth = min(float(np.hypot(*(jump.place - np.array(p.centre)))) for p in self.pockets)
        if mouth < OPENING and not jump.departs:
            options.append((6.0, [Kink("jaw", jump.t_s, (jump.ball,))]))
        if options:
            cost, kinks = min(options, key=lambda o: o[0])
            nothing = UNMOVED if jump.departs else NOTHING
            if cost < nothing:
                rivals = [c for c, k in options if k is not kinks] + [nothing]
                p = 1 / (1 + sum(math.exp(-(c - cost) / SOFT) for c in rivals))
                for kink in kinks:
                    kink.p = min(p, SUREST)
                return kinks
        if jump.size > 8 * jump.sigma and jump.size > 0.25:
            return [Kink("free", jump.t_s, (jump.ball,))]
        return []

    def _ways(self, jump: Jump, t: Floats) -> tuple[Floats, Floats]:
        """Where the ball of a kink was about it, as seen and with its approach carried on, (n, 2) each at times (n,)."""
        trail = self.trails[jump.ball]
        seen = trail.at(t)
        if not jump.departs or self._moved(jump):
            return seen, along(jump.left, t)
        return np.where((t < jump.t_s)[:, None], trail.rest, seen), np.tile(trail.rest, (len(t), 1))

    def _pair(self, jump: Jump, other: int, t: Floats, mine: Floats, mine_on: Floats) -> tuple[float, list[Kink]]:
        """Cost and kinks of a contact with ``other``, with a cushion right after it if that turns the push the way it went;
        the other three as `_ways` takes and gives them."""
        them = self.trails[other]
        theirs_seen = them.at(t)
        line = mine - theirs_seen
        # the approach, carried on through the kink: where it brings the centres a diameter apart is the contact
        answering = [j for j in self.reactions[other] if self._answers(j, jump.t_s)]
        if answering:
            first = min(answering, key=lambda j: j.t_s)
            theirs_on = (
                np.tile(them.rest, (len(t), 1)) if first.departs and first is them.jumps[0] else along(first.left, t)
            )
        else:
            theirs_on = theirs_seen
        onward = mine_on - theirs_on
        early = 0.3 * np.abs(t - jump.t_s)
        length = np.hypot(line[:, 0], line[:, 1])
        length_on = np.hypot(onward[:, 0], onward[:, 1])
        off, off_on = np.abs(length - self.table.ball_m), np.abs(length_on - self.table.ball_m)
        if (off_on + early).min() < (off + early).min() + 0.002:
            line, length, off = onward, length_on, off_on
        k = int((off + early).argmin())
        speed = max(self._fastest(j) for j in (jump, *answering))
        place = float(np.hypot(PLACE, BLIND * self.frame * speed))
        if off[k] > 0.03 + 2 * place or t[k] > them.end_s + 2 * self.frame:
            return np.inf, []
        axis = line[k] / max(float(length[k]), 1e-9)
        loose = float(np.hypot(BALL_ANGLE, jump.sigma / max(jump.size, 1e-6)))
        angle = float(np.arccos(np.clip(jump.jump @ axis / jump.size, -1, 1)))
        when = float(t[k]) if off[k] < 0.5 * PLACE else jump.t_s
        kinks = [Kink("contact", when, (min(jump.ball, other), max(jump.ball, other)))]
        turned, bounce = self._bounced(jump, axis, mine[k], when)
        extra = 0.0
        near = bounce is not None and bounce.t_s < when + 0.25 * self.frame
        if bounce is not None and (turned < angle - 0.3 or (near and turned < angle - 0.08 and turned < 0.25)):
            angle, extra = turned, 2.0
            kinks.append(bounce)
        theirs = [j for j in self.reactions[other] if self._answers(j, float(t[k]))]
        answer = max((-float(j.jump @ jump.jump) / jump.size for j in theirs), default=0.0)
        if answer > 0.25 * jump.size:
            silent = 0.0
        else:
            silent = min((jump.size / SEEN_JUMP) ** 2, 18.0 if jump.departs else 30.0)
            if t[k] - 2 * self.frame < them.end_s < t[k] + 5 * self.frame:
                silent = min(silent, 1.0)  # it was knocked out of sight
            if theirs:
                silent = min(silent, 3.0)  # it was pushed on, or pushed twice
            elif self._passes_on(other, jump, float(t[k])):
                silent = min(silent, 5.0)
        return float((off[k] / place) ** 2 + (angle / loose) ** 2 + silent + extra), kinks

    def _bounced(self, jump: Jump, axis: Floats, place: Floats, t_s: float) -> tuple[float, Kink | None]:
        """Angle between the line of centres and the push as it was before a cushion close by turned it, and that bounce."""
        r, w, length = self.table.ball_radius, self.table.width_m, self.table.length_m
        after = jump.before + jump.jump
        best: tuple[float, Kink | None] = (np.inf, None)
        for ax, nose, sign in ((0, r, 1.0), (0, w - r, -1.0), (1, r, 1.0), (1, length - r, -1.0)):
            gap = max((place[ax] - nose) * sign, 0.0)
            speed = after[ax] * sign
            if speed <= 0.02 or gap > 1.8 * self.frame * speed / BOUNCE + 0.002:
                continue
            push = after.copy()
            push[ax] /= -BOUNCE
            push -= jump.before
            size = float(np.hypot(push[0], push[1]))
            angle = float(np.arccos(np.clip(push @ axis / max(size, 1e-9), -1, 1)))
            if angle < best[0]:
                best = (angle, Kink("rail", t_s + gap / (speed / BOUNCE) + 1e-4, (jump.ball,), wall=(ax, nose, sign)))
        return best

    def _bounce_unseen(self, jump: Jump, partner: int, found: list[Kink]) -> list[Kink]:
        """The cushion that a ball at rest, sent off by a known contact, met before it was first seen on its way; none where it went
        off along the line of centres."""
        pair = {jump.ball, partner}
        t_s = next(k.t_s for k in found if k.kind == "contact" and set(k.balls) == pair)
        place = self.trails[jump.ball].rest
        onward = next((j.left for j in self.reactions[partner] if self._answers(j, t_s) and not j.departs), None)
        other = self.trails[partner].at(np.array([t_s])) if onward is None else along(onward, np.array([t_s]))
        axis = place - other[0]
        axis /= max(float(np.hypot(axis[0], axis[1])), 1e-9)
        angle = float(np.arccos(np.clip(jump.jump @ axis / jump.size, -1, 1)))
        turned, bounce = self._bounced(jump, axis, place, t_s)
        loose = float(np.hypot(BALL_ANGLE, jump.sigma / max(jump.size, 1e-6)))
        return [bounce] if bounce is not None and angle > 3 * loose and turned < angle - 0.3 else []

    def _moved(self, jump: Jump) -> bool:
        first = self.trails[jump.ball].jumps[0]
        return first is not jump

    def _passes_on(self, other: int, jump: Jump, t: float) -> bool:
        """Whether ``other`` touches a third ball that starts at about the same time (it passes the push on)."""
        place = self.trails[other].at(np.array([t]))[0]
        for third, trail in self.trails.items():
            if third in (other, jump.ball):
                continue
            for j in trail.jumps:
                if (
                    abs(j.t_s - t) < 2 * self.frame
                    and np.hypot(*(j.place - place)) < 2 * self.table.ball_radius + 0.012
                ):
                    return True
        return False

    def _rail(self, jump: Jump) -> tuple[float, Kink | None]:
        best: tuple[float, Kink | None] = (np.inf, None)
        t = np.linspace(jump.lo_s, jump.hi_s, 25)
        mine = self.trails[jump.ball].at(t)
        r, w, length = self.table.ball_radius, self.table.width_m, self.table.length_m
        sides = {"left": (0, r, 1.0), "right": (0, w - r, -1.0), "head": (1, r, 1.0), "foot": (1, length - r, -1.0)}
        for rail in RAILS:
            axis, place, sign = sides[rail]
            if jump.jump[axis] * sign <= 0 or jump.before[axis] * sign > 0.03:
                continue
            off = np.abs(mine[:, axis] - place)
            k = int(np.argmin(off + 0.3 * np.abs(t - jump.t_s)))
            e = min(float(off[k]), abs(float(jump.place[axis]) - place))
            cos = jump.jump[axis] * sign / jump.size
            angle = float(np.arccos(np.clip(cos, -1, 1)))
            loose = float(np.hypot(RAIL_ANGLE, jump.sigma / max(jump.size, 1e-6)))
            speed = abs(float(jump.before[axis])) + abs(float(jump.jump[axis]))
            cost = (e / np.hypot(PLACE, 0.5 * BLIND * self.frame * speed)) ** 2 + (angle / loose) ** 2
            if cost < best[0]:
                when = float(t[k]) if off[k] < 0.5 * PLACE else jump.t_s
                best = (cost, Kink("rail", when, (jump.ball,), wall=(axis, place, sign)))
        return best
