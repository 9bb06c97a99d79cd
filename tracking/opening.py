"""Which ball the tip struck and what that one met first: a stroke and a contact just after it hardly show as two."""

from __future__ import annotations

import numpy as np

from calibration.table import Table
from tracking.joint import Kink
from tracking.trails import Jump, Trail, along, begins_at_rest

TOUCHING = 0.005  # metres between balls that set out together when one is struck
ALONG = 0.15  # radians off the line of centres that a ball pushed by another may seem to go
STROKE = 0.012  # metres that a ball struck by the tip goes at least
NEAR_BY = 3.5  # frames of a stroke before a contact, in which its approach is hardly seen
HOP = 0.05  # of the cue ball's speed, below which what another seemed to do before was no stroke
MANY = 3  # balls that set out together: more are a pack
STRUCK = 0.1  # m/s, least push that tells where it came from
AIMED = 0.35  # radians off the way that a struck ball was told to go
NEAR, LOOSE = 0.03, 0.24  # metres, and of a frame, by which the way back may miss the place of contact
BESIDE = 0.06  # metres between the cue ball and the one it was played at, over which it need not be seen to go


class Opening:
    """The beginning of a shot. Parameters as for `tracking.impacts.Explainer`."""

    def __init__(self, trails: dict[int, Trail], table: Table, frame_s: float, cue: int | None) -> None:
        self.trails, self.table, self.frame, self.cue = trails, table, frame_s, cue

    def opener(self, jumps: list[Jump], struck: int | None, from_start: bool) -> tuple[Jump | None, float]:
        """The jump that the tip made, of all in order of time, and the latest time of the stroke (infinite where the jump says it).

        ``struck``: a ball that the tip is known to have sent off; ``from_start``: balls may have moved before the first look.
        """
        movers = [j for j in jumps if j.departs]
        movers = [j for j in movers if self.trails[j.ball].way() > STROKE]
        opener = min(movers, key=lambda j: j.t_s, default=None)
        struck_s = np.inf
        for jump in movers:
            if opener is not None and jump.ball == self.cue and jump.t_s < opener.t_s + self._leeway(jump, opener):
                if self._apart(jump, opener) < TOUCHING:
                    struck_s = opener.t_s  # sent off through a ball that it touched, it may seem to start after that
                opener = jump
                break
        if struck is not None:
            opener = next((j for j in movers if j.ball == struck), None)
        elif opener is not None and from_start and self._under_way(opener):
            opener = None
        if opener is not None and struck is None:
            opener = self._behind(opener, [j for j in jumps if j.departs and j.size > 5 * j.sigma])
        return opener, struck_s

    def played_at(self, opener: Jump) -> list[Kink]:
        """The stroke and the contact where what seems to be struck lay just before the cue ball, and was sent on straight from there:
        it stops or follows so slowly that its own start does not show."""
        c = self.cue
        if c is None or c == opener.ball or c not in self.trails:
            return []
        first = next(iter(self.trails[c].pieces), None)
        if first is not None and float(np.hypot(*(first.at(first.begin_s) - self.trails[c].rest))) > STROKE:
            return []  # it came from elsewhere
        line = self.trails[opener.ball].rest - self.trails[c].rest
        length = float(np.hypot(line[0], line[1]))
        gap = max(length - self.table.ball_m, 0.0)
        off = float(np.arccos(np.clip(opener.jump @ line / (opener.size * length), -1, 1)))
        if gap > BESIDE or off > AIMED or (gap > TOUCHING and self.trails[c].way() < 0.3 * gap):
            return []
        t_s = opener.t_s
        pair = (min(c, opener.ball), max(c, opener.ball))
        return [Kink("strike", t_s - gap / opener.size - 2e-5, (c,)), Kink("contact", t_s, pair, p=0.9)]

    def first_in_the_way(self, opener: Jump, found: list[Kink]) -> None:
        """The struck ball meets what lies first in its way: in a rack the balls behind it were touched by that one.

        Adds the contact where no kink showed it, and doubts the struck ball's other contacts at the same moment.
        """
        b = opener.ball
        turn = next((j for j in self.trails[b].jumps if j.t_s > opener.t_s + 0.5 * self.frame), None)
        if turn is None or turn.left.last - turn.left.first < 1:
            return
        t = np.arange(opener.t_s, turn.hi_s + 0.5 * self.frame, 0.0005)
        mine = along(turn.left, t)
        reached: list[tuple[float, int]] = []
        for other, trail in self.trails.items():
            if other == b or (trail.jumps and trail.jumps[0].t_s < opener.t_s - self.frame):
                continue
            near = np.hypot(*(mine - trail.rest).T) < 2 * self.table.ball_radius - 0.002
            if near.any():
                reached.append((float(t[int(np.argmax(near))]), other))
        if not reached:
            return
        when, first = min(reached)
        if abs(when - turn.t_s) > 1.5 * self.frame or (len(reached) > 1 and sorted(reached)[1][0] - when < 0.001):
            return
        same = [k for k in found if k.kind == "contact" and b in k.balls and abs(k.t_s - when) < 1.5 * self.frame]
        crowd = (
            sum(j.departs and abs(j.t_s - when) < 2.5 * self.frame for tr in self.trails.values() for j in tr.jumps) > 3
        )
        if not any(first in k.balls for k in same):
            if not crowd and same:
                return
            found.append(Kink("contact", when, (min(b, first), max(b, first)), p=0.9))
        for k in same:
            if crowd and first not in k.balls:
                k.p = min(k.p, 0.3)
                k.t_s = max(k.t_s, when + 0.002)

    def sent_by(self, opener: Jump, found: list[Kink]) -> list[Kink]:
        """The kinks, with the struck ball's contact put in that a pair at rest (or one ball) set out by just after the stroke, too near to
        it for the approach to show: what they took with them, together, points back to where the struck ball was."""
        b = opener.ball
        strike = next((k for k in found if k.kind == "strike"), None)
        gone = next((p for p in self.trails[b].pieces if p.begin_s > opener.t_s and p.last >= p.first), None)
        if strike is None or gone is None:
            return found
        together = [
            t
            for t in self.trails.values()
            if any(j.departs and abs(j.t_s - opener.t_s) < NEAR_BY * self.frame for j in t.jumps)
        ]
        if len(together) > MANY + 1:
            return found
        firsts: dict[int, Kink] = {}
        for kink in sorted(found, key=lambda k: k.t_s):
            for c in kink.balls:
                firsts.setdefault(c, kink)
        for kink in found:
            set_out = [self.trails[c].jumps[0] for c in kink.balls if self.trails[c].lay and self.trails[c].jumps]
            alone = all(firsts[c] is kink for c in kink.balls) and len(set_out) == len(kink.balls)
            if kink.kind not in ("contact", "free") or b in kink.balls or not alone:
                continue
            if not -NEAR_BY * self.frame < kink.t_s - opener.t_s < NEAR_BY * self.frame:
                continue
            momentum = np.sum([j.jump for j in set_out], axis=0)
            size = float(np.hypot(momentum[0], momentum[1]))
            if size < STRUCK:
                continue
            t = np.linspace(max(min(j.lo_s for j in set_out), opener.lo_s), max(j.hi_s for j in set_out), 25)
            after = along(gone, t)
            best: tuple[float, int, float, float] = (np.inf, -1, 0.0, 0.0)
            for c in kink.balls:
                place = self.trails[c].rest - self.table.ball_m * momentum / size
                way = place - self.trails[b].rest
                length = float(np.hypot(way[0], way[1]))
                v = gone.velocity(gone.begin_s) + momentum
                off = np.hypot(*(after - place).T)
                k = int(np.argmin(off))
                turn = float(np.arccos(np.clip(v @ way / max(float(np.hypot(v[0], v[1])) * length, 1e-9), -1, 1)))
                if (turn < AIMED or length < TOUCHING) and off[k] < best[0]:
                    best = (float(off[k]), c, float(t[k]), length / max(float(np.hypot(v[0], v[1])), STRUCK))
            if best[1] >= 0 and best[0] < NEAR + LOOSE * self.frame * size:
                rest = [k for k in found if k is not kink or k.kind == "contact"]
                kink.t_s = max(kink.t_s, best[2] + 1e-4)
                strike.t_s = min(strike.t_s, best[2]) if best[3] > self.frame else best[2] - best[3]
                c = best[1]
                return [*rest, Kink("contact", best[2], (min(b, c), max(b, c)), p=0.8)]
        return found

    def _behind(self, opener: Jump, movers: list[Jump]) -> Jump:
        """The ball that was struck, of two that touch and set out together: the other goes off along the line of centres."""
        for jump in movers:
            if jump.ball == opener.ball or abs(jump.t_s - opener.t_s) > self.frame:
                continue
            line = self.trails[opener.ball].rest - self.trails[jump.ball].rest
            gap = float(np.hypot(line[0], line[1]))
            if gap > self.table.ball_m + TOUCHING:
                continue
            off = float(np.arccos(np.clip(opener.jump @ line / (opener.size * gap), -1, 1)))
            other = float(np.arccos(np.clip(-(jump.jump @ line) / (jump.size * gap), -1, 1)))
            if off < ALONG and other > 2 * ALONG:
                return jump
        return opener

    def _leeway(self, jump: Jump, opener: Jump) -> float:
        """By how much the likely cue ball may seem to start after another that it sent off: more where it lay beside it."""
        gap = self._apart(jump, opener)
        if gap < TOUCHING or opener.size < HOP * jump.size:
            return 5.0 * self.frame  # it follows slowly, or stops at once; detections of touching balls hop about
        return (3.0 if gap < 2 * self.table.ball_m else 1.0) * self.frame

    def _apart(self, one: Jump, other: Jump) -> float:
        """Metres between the surfaces of two balls where they lay."""
        return float(np.hypot(*(self.trails[one.ball].rest - self.trails[other.ball].rest))) - self.table.ball_m

    def _under_way(self, opener: Jump) -> bool:
        """Whether a ball moved from the first look on: then the stroke was before, and ``opener`` was struck by a ball."""
        firsts = [(t, t.pieces[0]) for t in self.trails.values() if t.pieces]
        start = min(p.begin_s for _, p in firsts)
        for trail, piece in firsts:
            speed = float(np.hypot(piece.c[1, 0], piece.c[1, 1]))
            early = piece.begin_s < min(start + 2 * self.frame, opener.t_s - 3 * self.frame)
            way = speed * (piece.end_s - piece.begin_s)
            if piece.last - piece.first < 3 or way < 0.05 or trail.way() < 0.05:  # a stray look or two are no motion
                continue
            if early and trail.ball != opener.ball and speed > 0.15 and not begins_at_rest(piece, trail.rest):
                return True
        return False
