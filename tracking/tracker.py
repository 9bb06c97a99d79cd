"""Follows every ball from look to look: predict, gate, associate, update, and know when a ball rests, moves or is hidden."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from calibration.table import Table
from tracking import associate, kalman
from tracking.marks import Marks
from tracking.merged import BESIDE, merged
from tracking.observations import Bools, Floats, Observation
from tracking.pockets import INSIDE
from tracking.tracks import Status, Track

CONFIRM = 3  # looks before a detection counts as a ball
COAST_S = 0.4  # a moving ball not seen this long is lost
HIDDEN_S = 6.0  # a moving ball hidden this long is lost
SLOWEST = 0.1  # m/s², the least that cloth slows a ball
GONE_S = 1.0  # a resting ball not seen this long, though nothing hides its place, is gone
SETTLE_S = 0.3  # a ball that does not move for this long rests
SPARSE_S = 2.0  # time over which the few looks of a slow camera are taken together
LEAST_SCORE = 0.2
BIRTH_SCORE = 0.45
UNSEEN_LOOKS = 4.0  # weight of looks where motion does not tell: what was not seen on its way must look alike
WEDGED_M = 0.075  # metres
FAR_OFF = 11.0  # cost, of way and of looks, from which something seen far off is another ball
UNTIED_S = 0.1  # what was seen once, longer ago than this, has not gone to another ball's place
ELSEWHERE = 3  # balls that are elsewhere at once, from which it is another scene
FAINT_SCORE = 0.05  # what is seen as faintly as this is a ball only where a known one is due
FAINT_GATE = 9.0  # squared sigmas that it may be off
FOUND_AGAIN = 3.0  # cost, of way and of looks, at which something faint is a lost ball
MOVING_LOOK = 0.1  # worth of one look at a rolling ball, in independent looks
STALE = 0.7  # each further look at a resting ball tells so much of the one before


class Tracker:
    """Tracks over a stream of observations.

    ``step`` takes one observation and returns whether any ball moves. Tracks keep their identity through contacts: a
    ball's next place is predicted freely and with the bounce that is about to come, whichever fits, and looks decide
    between balls that motion leaves open.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.tracks: list[Track] = []
        self.time_s = -np.inf
        self._next = 0
        self._pockets = np.array([[*p.centre, p.radius] for p in table.pockets.values()])
        self.marks = Marks()
        self.replaced_s = -np.inf  # when all balls were last found elsewhere at once
        self._before: tuple[float, Floats] = (-np.inf, np.zeros((0, 2)))

    # -- one look ------------------------------------------------------------------------------------------------
    def step(self, seen: Observation) -> bool:
        """Take in one observation; True while any ball moves."""
        if seen.t_s <= self.time_s:
            return self.moving
        dt = seen.t_s - self.time_s if np.isfinite(self.time_s) else 0.0
        opening = not np.isfinite(self.time_s)
        self.time_s = seen.t_s
        firm = seen.score >= LEAST_SCORE
        z, noise, score, evidence = _part(seen, firm)
        if self._all_elsewhere(seen, z):
            self._start_anew(seen.t_s)
        self._before = (seen.t_s, z)
        live = [t for t in self.tracks if t.status not in (Status.LOST, Status.GONE)]
        single = self._single(live, z, noise, seen.t_s)
        z, noise, score, evidence = z[single], noise[single], score[single], evidence[single]
        free_d = np.ones(len(z), dtype=np.bool_)
        if live and len(z):
            free_d = self._associate(live, z, noise, evidence, dt, seen.t_s)
        self._faintly(seen, ~firm & (seen.score >= FAINT_SCORE), live, dt)
        for k in np.flatnonzero(free_d):
            if score[k] >= BIRTH_SCORE and self._may_begin(z[k]):
                self._begin(z[k], noise[k], evidence[k], seen.t_s, opening or self.replaced_s == seen.t_s)
        self._age(seen)
        return self.moving

    @property
    def moving(self) -> bool:
        return any(t.status is Status.MOVING for t in self.tracks)

    # -- parts ---------------------------------------------------------------------------------------------------
    def _all_elsewhere(self, seen: Observation, z: Floats) -> bool:
        """Whether the balls lie still, but most of those known have left their places without having been seen to go.

        No stroke does that: it is another scene (a cut, a loop, a rack set behind somebody's back), and following the old balls
        into it would cost the next stroke.
        """
        t_s, before = self._before
        if len(z) < ELSEWHERE or not len(before) or seen.t_s - t_s > 0.6:
            return False
        still = np.hypot(*(z[:, None] - before[None]).transpose(2, 0, 1)).min(axis=1) < 0.004
        if still.mean() < 0.9:
            return False
        known = [t for t in self.tracks if t.status in (Status.RESTING, Status.MOVING) and t.rest_looks >= 3]
        if len(known) < ELSEWHERE:
            return False
        gaps = np.hypot(*(z[:, None] - np.array([t.rest for t in known])[None]).transpose(2, 0, 1))
        left = [
            t
            for t, gap in zip(known, gaps.min(axis=0), strict=True)
            if gap > 0.02 and t.flown <= 3 and not self._hides(seen, t.rest)
        ]
        new = int((gaps.min(axis=1) > 0.02).sum())
        return len(left) >= max(ELSEWHERE, 0.5 * len(known)) and new >= ELSEWHERE

    def _start_anew(self, t_s: float) -> None:
        """Give up all balls; those of the new scene are taken up as at the beginning."""
        self.replaced_s = t_s
        for track in self.tracks:
            if track.status is not Status.LOST:
                track.status = Status.GONE
        self.tracks = [t for t in self.tracks if t.hits >= CONFIRM]

    def _single(self, live: list[Track], z: Floats, noise: Floats, t_s: float) -> Bools:
        """Which looks are of one ball; two at rest that are seen as one are there, and where they were."""
        single = np.ones(len(z), dtype=np.bool_)
        resting = [t for t in live if t.status is Status.RESTING]
        for i, j, k in merged(np.array([t.rest for t in resting]), z, noise, self.table.ball_radius):
            single[k] = False
            for track in (resting[i], resting[j]):
                track.seen_s = t_s
        return single

    def _associate(self, live: list[Track], z: Floats, noise: Floats, evidence: Floats, dt: float, t_s: float) -> Bools:
        mean = np.array([t.mean for t in live])
        cov = np.array([t.cov for t in live])
        moves = np.array([t.status is Status.MOVING for t in live])
        step = min(dt, 0.25)
        bounced, hit = kalman.collide(mean, step, moves, self.table)
        free_mean, free_cov = kalman.predict(mean, cov, step)
        free_mean[~moves], free_cov[~moves] = mean[~moves], cov[~moves]
        belief = _belief(np.array([t.evidence for t in live]))
        like = 0.5 * associate.looks(belief, evidence)
        free = associate.distance(free_mean, free_cov, z, noise)
        speed = float(np.hypot(mean[moves, 2], mean[moves, 3]).max()) if moves.any() else 0.0
        other_cov = free_cov + _kick(0.25 * speed * step + 0.004, 0.35 * speed + 0.05)
        other = associate.distance(bounced, other_cov, z, noise) + 3.0
        other[~hit] = np.inf
        cost = np.minimum(free, other) + like
        pairs, free_t, free_d = associate.assign(cost)
        for i, k in pairs:
            prior = (free_mean[i], free_cov[i]) if free[i, k] <= other[i, k] else (bounced[i], other_cov[i])
            self._take(live[i], prior, z[k], noise[k], evidence[k], t_s)
        left_t, left_d = np.flatnonzero(free_t), np.flatnonzero(free_d)
        if len(left_t) and len(left_d):
            since = np.array([t_s - live[i].seen_s for i in left_t])
            cue = belief[left_t, 0] > 0.2
            fastest = np.where(cue, associate.FAST, max(2.0 * speed + 1.0, 3.0))
            far = associate.reach(np.array([live[i].mean[:2] for i in left_t]), since, z[left_d], fastest)
            far += UNSEEN_LOOKS * like[np.ix_(left_t, left_d)]
            if not moves.any():
                far[
                    self._wedged(live)[left_t][:, None] & (far < np.inf) & (_apart(live, left_t, z[left_d]) < WEDGED_M)
                ] = np.inf
            # what was seen there before, faintly, is a mark: a ball that is missed has not flown to it
            far[:, self.marks.known(z[left_d])] = np.inf
            again, _, _ = associate.assign(far, missed=FAR_OFF)
            for i, k in again:
                track, d = live[left_t[i]], left_d[k]
                way = 0.25 if since[i] < UNTIED_S else self.table.ball_radius
                if track.status is Status.TENTATIVE and np.hypot(*(z[d] - track.mean[:2])) > way:
                    continue
                if track.status is Status.MOVING and t_s - track.seen_s > 0.1 and self._drops(track, t_s):
                    continue
                gap = max(t_s - track.seen_s, 1e-3)
                v = (z[d] - track.mean[:2]) / gap
                spread = np.hypot(*v) * 0.5 + 0.2
                prior = (np.append(z[d], v), np.diag([1e-4, 1e-4, spread**2, spread**2]))
                self._take(track, prior, z[d], noise[d], evidence[d], t_s)
                free_d[d] = False
        return free_d

    def _wedged(self, live: list[Track]) -> Bools:
        """Which balls at rest touch two others: they do not shift by a ball's width while nothing moves; another was not seen."""
        rests = np.array([t.rest for t in live])
        still = np.array([t.status is Status.RESTING for t in live])
        near = np.hypot(*(rests[:, None] - rests[None]).transpose(2, 0, 1)) < self.table.ball_m + BESIDE
        return np.asarray(still & ((near & still).sum(axis=1) > 2))

    def _faintly(self, seen: Observation, faint: Bools, live: list[Track], dt: float) -> None:
        """Give tracks that no firm look was found for the faint ones at the very place where they are due.

        A ball in the jaws, half behind a cushion or a hand, is seen faintly but for many frames (Zhang et al. 2022,
        ByteTrack). What is faint at one place all the time, ball or no ball, is a mark on the table: it stops no ball there.
        """
        # what shows faintly from inside a pocket is down for good: it is no ball that hangs
        off = np.hypot(*(seen.xy[:, None] - self._pockets[None, :, :2]).transpose(2, 0, 1)) - self._pockets[:, 2]
        over = off.min(axis=1) > -INSIDE
        z, noise, _, evidence = _part(seen, faint & over)
        left = [t for t in live if t.seen_s < seen.t_s and t.status is not Status.TENTATIVE]
        free = np.ones(len(z), dtype=np.bool_)
        if left and len(z):
            mean, cov = np.array([t.mean for t in left]), np.array([t.cov for t in left])
            moves = np.array([t.status is Status.MOVING for t in left])
            ahead, wide = kalman.predict(mean, cov, min(dt, 0.25))
            ahead[~moves], wide[~moves] = mean[~moves], cov[~moves]
            cost = associate.distance(ahead, wide, z, noise)
            slow = np.hypot(ahead[:, 2], ahead[:, 3]) < 0.5
            near = np.hypot(*(z[None] - ahead[:, None, :2]).transpose(2, 0, 1)) < self.table.ball_radius
            due = (cost < FAINT_GATE + np.log(np.linalg.det(wide[:, None, :2, :2] + noise[None]) / 1e-8)) | (
                slow[:, None] & near
            )
            cost = np.where(due & ~(moves[:, None] & self.marks.known(z)[None]), np.minimum(cost, 15.0), np.inf)
            for i, k in associate.assign(cost)[0]:
                self._take(left[i], (ahead[i], wide[i]), z[k], noise[k], 0.3 * evidence[k], seen.t_s)
                free[k] = False
        for place, evidence_of in self.marks.add(seen.t_s, z[free], noise[free], evidence[free]):
            self._find_again(place, evidence_of, seen.t_s)

    def _find_again(
        self, looks: list[tuple[float, float, float, float, float, float]], evidence: Floats, t_s: float
    ) -> None:
        """A ball that was lost on its way lies where something faint has been seen since: it hangs in the jaws."""
        place, began = np.mean([look[1:3] for look in looks], axis=0), looks[0][0]
        best, least = None, FOUND_AGAIN
        for track in self.tracks:
            lost = track.status in (Status.LOST, Status.GONE) or (track.status is Status.MOVING and track.misses > 4)
            if not lost or not track.seen_s < began or t_s - track.seen_s > 30.0:
                continue
            way = float(np.hypot(*(place - track.mean[:2])))
            if way > min(0.15, 0.03 + 0.5 * float(np.hypot(*track.mean[2:]))):
                continue
            differs = -float(associate.looks(_belief(track.evidence[None]), evidence[None])[0, 0])
            if 10.0 * way - differs < least:
                best, least = track, 10.0 * way - differs
        if best is not None:
            best.looks += looks
            best.hits, best.misses, best.seen_s = best.hits + len(looks), 0, t_s
            best.status = Status.MOVING
            self._rest(best, place, len(looks), np.array([[looks[-1][3], looks[-1][4]], [looks[-1][4], looks[-1][5]]]))

    def _take(
        self, track: Track, prior: tuple[Floats, Floats], z: Floats, noise: Floats, look: Floats, t_s: float
    ) -> None:
        """Update one track with one detection."""
        x, y, cxx, cxy, cyy = (float(v) for v in (z[0], z[1], noise[0, 0], noise[0, 1], noise[1, 1]))
        track.looks.append((t_s, x, y, cxx, cxy, cyy))
        track.hits += 1
        track.misses = 0
        # A ball at rest shows the same side under the same light: the tenth look tells next to nothing new.
        weight = MOVING_LOOK if track.status is Status.MOVING else 0.5 * STALE**track.rest_looks
        track.evidence = track.evidence + weight * look
        track.seen_as.append((t_s, weight * look))
        track.looked += weight
        track.flown += 1
        if track.status is Status.MOVING:
            mean, cov = kalman.update(prior[0][None], prior[1][None], z[None], noise[None])
            track.mean, track.cov, track.seen_s = mean[0], cov[0], t_s
            track.moved_s = t_s
            if self._settled(track):
                recent = np.array([look[1:3] for look in track.looks[-60:] if look[0] > t_s - SETTLE_S])
                self._rest(track, recent.mean(axis=0), len(recent), noise)
            return
        dx, dy = x - track.rest[0], y - track.rest[1]
        sxx, sxy, syy = cxx + track.cov[0, 0], cxy + track.cov[0, 1], cyy + track.cov[1, 1]
        m2 = (syy * dx * dx - 2 * sxy * dx * dy + sxx * dy * dy) / (sxx * syy - sxy * sxy)
        gap = math.hypot(dx, dy)
        if (m2 < 16.0 or gap < 0.003) and gap < 0.02:
            track.pending.clear()
            track.flown = 0
            track.rest_looks = min(track.rest_looks + 1, 40)
            track.rest[0] += dx / track.rest_looks
            track.rest[1] += dy / track.rest_looks
            track.mean[:2] = track.rest
            track.mean[2:] = 0.0
            n = track.rest_looks
            track.cov[:] = 0.0
            track.cov[0, 0], track.cov[0, 1], track.cov[1, 0], track.cov[1, 1] = (
                cxx / n + 1e-6,
                cxy / n,
                cxy / n,
                cyy / n + 1e-6,
            )
            track.seen_s = t_s
            if track.status is not Status.TENTATIVE or track.hits >= CONFIRM:
                track.status = Status.RESTING
            return
        track.pending.append((t_s, z[0], z[1]))
        if len(track.pending) >= 2:
            (ta, xa, ya), (tb, xb, yb) = track.pending[-2:]
            if track.rest_looks < CONFIRM and math.hypot(xb - xa, yb - ya) < 0.004 + 3 * math.sqrt(cxx + cyy):
                # it lay here from the first: the look it was taken up with was of two balls, or none
                self._rest(track, np.array([(xa + xb) / 2, (ya + yb) / 2]), 2, noise)
                track.status = Status.RESTING if track.hits >= CONFIRM else track.status
                track.seen_s = t_s
                track.pending.clear()
                return
            v = np.array([xb - xa, yb - ya]) / (tb - ta)
            if np.hypot(*v) < associate.FAST:
                spread = 0.5 * np.hypot(*v) + 0.1
                track.mean = np.array([xb, yb, *v])
                track.cov = np.diag([noise[0, 0], noise[1, 1], spread**2, spread**2])
                track.status = Status.MOVING if track.hits >= CONFIRM else track.status
                track.moved_s = t_s
            track.pending.clear()
        else:
            track.mean = np.append(z, [0.0, 0.0])
            wide = max(gap, 0.01)
            track.cov = np.diag([wide**2, wide**2, 0.0, 0.0]) if gap > 0.012 else track.cov
            if gap <= 0.012:
                track.mean = np.append(track.rest, [0.0, 0.0])
        track.seen_s = t_s

    def _settled(self, track: Track) -> bool:
        if math.hypot(track.mean[2], track.mean[3]) > 0.15:
            return False
        recent = np.array(
            [(k[0], k[1], k[2], k[3] + k[5]) for k in track.looks[-40:] if k[0] > track.seen_s - SETTLE_S]
        )
        if len(recent) < 4:  # a slow camera, or one whose frames are dropped: as many looks over a longer time
            recent = np.array(
                [(k[0], k[1], k[2], k[3] + k[5]) for k in track.looks[-4:] if k[0] > track.seen_s - SPARSE_S]
            )
        if len(recent) < 4 or recent[-1, 0] - recent[0, 0] < 0.6 * SETTLE_S:
            return False
        half = len(recent) // 2
        drift = np.median(recent[half:, 1:3], axis=0) - np.median(recent[:half, 1:3], axis=0)
        sigma = np.sqrt(recent[:, 3].mean())
        return bool(np.hypot(*drift) < 0.0008 + 1.2 * sigma / np.sqrt(half))

    def _rest(self, track: Track, place: Floats, looks: int, noise: Floats) -> None:
        track.rest, track.rest_looks, track.flown = place, looks, 0
        track.mean = np.array([place[0], place[1], 0.0, 0.0])
        track.cov = np.zeros((4, 4))
        track.cov[:2, :2] = noise / looks + np.eye(2) * 1e-6
        if track.status is Status.MOVING:
            track.status = Status.RESTING
            track.pending.clear()

    def _drops(self, track: Track, t_s: float) -> bool:
        """Whether a ball not seen any more was on its way into a pocket."""
        s = np.linspace(0.0, t_s - track.seen_s + 0.1, 12)[:, None]
        way = track.mean[:2] + s * track.mean[2:]
        gaps = np.hypot(way[:, None, 0] - self._pockets[None, :, 0], way[:, None, 1] - self._pockets[None, :, 1])
        return bool((gaps < self._pockets[None, :, 2]).any())

    def _may_begin(self, z: Floats) -> bool:
        w, length = self.table.width_m, self.table.length_m
        inside = -0.005 < z[0] < w + 0.005 and -0.005 < z[1] < length + 0.005
        down = (np.hypot(*(z - self._pockets[:, :2]).T) < self._pockets[:, 2] - 0.01).any()
        near = [t for t in self.tracks if t.status in (Status.RESTING, Status.MOVING) and t.misses == 0]
        apart = all(np.hypot(*(z - t.mean[:2])) > 1.5 * self.table.ball_radius for t in near)
        return bool(inside and not down and apart)

    def _begin(self, z: Floats, noise: Floats, look: Floats, t_s: float, opening: bool) -> None:
        cov = np.zeros((4, 4))
        cov[:2, :2] = noise
        track = Track(self._next, np.array([z[0], z[1], 0.0, 0.0]), cov, Status.TENTATIVE, t_s, t_s, z.copy())
        track.looks.append((t_s, z[0], z[1], noise[0, 0], noise[0, 1], noise[1, 1]))
        track.evidence = 0.5 * look
        track.seen_as.append((t_s, track.evidence))
        track.looked = 0.5
        track.hits = 2 if opening else 1
        self._next += 1
        self.tracks.append(track)

    def _age(self, seen: Observation) -> None:
        t_s = seen.t_s
        kept = []
        for track in self.tracks:
            if track.seen_s < t_s and track.status not in (Status.LOST, Status.GONE):
                track.misses += 1
                track.missed_s = t_s if track.misses == 1 else track.missed_s
                unseen = t_s - track.seen_s
                if track.status is Status.TENTATIVE and track.misses > 2:
                    continue
                if track.status is Status.MOVING:
                    track.moved_s = t_s
                    last = track.seen_s
                    if unseen > COAST_S and not (
                        unseen < rolls_on(track.mean) and self._hidden_on_its_way(seen, track)
                    ):
                        track.status = Status.LOST
                        track.moved_s = last
                elif (
                    track.status is Status.RESTING
                    and unseen > GONE_S
                    and track.misses > 4
                    and not self._hides(seen, track.rest)
                ):
                    track.status = Status.GONE
            kept.append(track)
        self.tracks = kept

    def _hidden_on_its_way(self, seen: Observation, track: Track) -> bool:
        """Whether a moving ball that is not seen may be behind what hides a part of the table."""
        ahead = np.linspace(0.0, min(seen.t_s - track.seen_s, 2.0) + 0.1, 8)
        return any(self._hides(seen, track.mean[:2] + s * track.mean[2:]) for s in ahead)

    def _hides(self, seen: Observation, place: Floats) -> bool:
        """Whether something hides that place of the table."""
        if not seen.hidden.size:
            return False
        rows, columns = seen.hidden.shape
        i = int(np.clip(place[1] / self.table.length_m * rows, 0, rows - 1))
        j = int(np.clip(place[0] / self.table.width_m * columns, 0, columns - 1))
        return bool(seen.hidden[i, j])


def rolls_on(mean: Floats) -> float:
    """Seconds after which a ball that was last seen in state ``mean`` (4,) has surely come to rest."""
    return float(min(1.0 + math.hypot(mean[2], mean[3]) / SLOWEST, HIDDEN_S))


def _part(seen: Observation, which: Bools) -> tuple[Floats, Floats, Floats, Floats]:
    """Places, covariances, scores and evidence (bounded) of some of a look's balls."""
    which = which & np.isfinite(seen.xy).all(axis=1)
    noise = seen.cov[which] + np.eye(2) * 2.5e-7  # half a millimetre nobody accounts for
    evidence = seen.evidence[which]
    evidence = np.maximum(evidence - evidence.max(axis=1, keepdims=True), -6.0) if len(evidence) else evidence
    return seen.xy[which], noise, seen.score[which], evidence


def _apart(live: list[Track], which: npt.NDArray[np.intp], z: Floats) -> Floats:
    """(n, m) metres between places of rest of some tracks and looks."""
    return np.asarray(np.hypot(*(np.array([live[i].rest for i in which])[:, None] - z[None]).transpose(2, 0, 1)))


def _kick(place: float, speed: float) -> Floats:
    return np.diag([place**2, place**2, speed**2, speed**2])


def _belief(evidence: Floats) -> Floats:
    e = np.exp(evidence - evidence.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True))
