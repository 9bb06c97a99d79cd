"""Records observations as they come: tracks, stretches of motion, and the shots they turn out to be; bounded memory."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibration.table import Table
from tracking import motion
from tracking.draft import Draft
from tracking.identity import Identities, identify
from tracking.joint import sample
from tracking.leaving import HANG_S, Mouths, doubted, hangs, left_table, pocket_at
from tracking.looks import Looks
from tracking.observations import Floats, Observation
from tracking.pockets import Drop
from tracking.reconstruct import Reading, reconstruct
from tracking.shots import RawShot
from tracking.strokes import STILL, Verdict, judge, moving_at, next_stroke
from tracking.suspicion import suspicions
from tracking.tracker import GONE_S, Tracker
from tracking.tracks import Status, Track
from tracking.untangle import stitch, untangle

QUIET_S = 0.15  # after the tracker says that all rest
BEFORE_S = 0.8  # looks kept from before the first motion
LONGEST_S = 60.0  # a shot longer than this is cut
BLIND_S = 1.0  # between two looks; longer, and what happened is not known
REPLACED_S = 0.6  # motion longer than this, before all balls lay elsewhere, was a shot that was cut off
TOUCHED_P = 0.6  # that a shift was a touch: rest places of hidden or dark balls err by as much, so a person decides
TOUCH_KEPT_S = 120.0  # a ball brushed longer ago than this is no matter of the next shot's
PHANTOM_LOOKS = 8  # a ball that came up from nowhere must be seen so often
MOST_TRACKS = 48  # dead and alive, that are kept live
KNOWN_LOOKS = 1.0  # independent looks from which a dead track says something of its number
DRAFT_S = 3.0  # after its first motion a shot with many balls is read for a first time
DRAFT_AGAIN_S = 1.2  # and again so long after, from where it was left
DRAFT_LEFT_S = 0.8  # seconds that balls must go on to roll for that
MANY = 7  # balls that move, from which that is worth it
STIRRED_M = 0.02  # metres a ball was seen to move, for it to count among them
CUE_SURE = 4.0  # nats by which the track of the cue ball must look like it

Part = Literal["", "start", "end", "both"]


@dataclass(frozen=True, slots=True)
class Between:
    """Something that moved and was no shot.

    ``kind``: ``moved`` (by hand, racked, spotted), ``touched`` (a ball at rest was brushed), ``unseen`` (it moved while the table
    was not seen), ``dropped`` (it hung in the jaws and dropped), ``replaced`` (all balls lie elsewhere at once).
    """

    begin_s: float
    end_s: float
    kind: str
    tracks: tuple[int, ...]


class Recorder:
    """Tracks, cuts the stream into stretches of motion, and reads each.

    A shot is handed out once all balls rest; where a ball hangs in the jaws, once it has dropped or the rules' five seconds are
    over. The last shot is kept to add a ball that drops later still.

    Parameters
    ----------
    table : geometry.
    recording : whether all tracks are needed to the end, to number them over the whole of it; live, those of balls long gone
        are let go.
    """

    def __init__(self, table: Table, *, recording: bool = False) -> None:
        self.table, self.recording = table, recording
        self.tracker = Tracker(table)
        self.between: list[Between] = []
        self.opened: dict[int, int] = {}
        self.prior = (motion.SLIDE, motion.ROLL, 0.5, 0.03)
        self._begin: float | None = None
        self._blind = False  # whether the stretch began unseen
        self._gap = False  # whether the table was not seen for a while within it
        self._rests: dict[int, Floats] = {}
        self._quiet_since: float | None = None
        self._exposure = 0.0
        self._first_s: float | None = None
        self._last_s = -np.inf
        self._mouths = Mouths(table)
        self._touched_s: float | None = None
        self._held: RawShot | None = None
        self._hanging: dict[int, float] = {}  # tracks in the jaws, and since when they lie there
        self._last: RawShot | None = None
        self._named: tuple[tuple[tuple[int, int, int], ...], Identities] = ((), Identities({}, {}, np.zeros((0, 16))))
        self._seen_again_s = -np.inf
        self._draft: Draft | None = None
        self._drafted_s = -np.inf

    @property
    def moving(self) -> bool:
        """Whether a shot may still be going on: a ball moves or did a moment ago, or hangs where it may yet drop."""
        return self.tracker.moving or self._begin is not None or self._held is not None

    def push(self, seen: Observation) -> list[RawShot]:
        """Take in one observation; the shots that it shows to be over, in order."""
        self._exposure = seen.exposure_s or self._exposure
        blind = seen.t_s - self._last_s > BLIND_S
        if blind and self._begin is not None:
            self._gap = True
        self._mouths.push(seen)
        moving = self.tracker.step(seen)
        t = seen.t_s
        if self._first_s is None:
            self._first_s = t
        if blind:
            self._seen_again_s = t
        self._last_s = max(self._last_s, t)
        if moving and self._begin is None:
            self._open(t)
        if self.tracker.replaced_s == t:
            return self._replaced(t)
        out = self._release(t)
        if self._begin is None:
            self._trim(t - 2.0)
            return out
        if moving:
            self._quiet_since = None
            if t - self._begin < LONGEST_S:
                return out
        elif self._quiet_since is None:
            self._quiet_since = t
            return out
        elif t - self._quiet_since < QUIET_S:
            return out
        return out + self._finish(t, cut=moving)

    def flush(self) -> list[RawShot]:
        """What the end of the stream leaves: the shot under way, and one that was held back."""
        out = []
        if self._begin is not None:
            out = self._finish(self.tracker.time_s, cut=self.tracker.moving)
        held, self._held = self._held, None
        return out if held is None or held in out else [held, *out]

    # -- stretches -----------------------------------------------------------------------------------------------
    def _open(self, t: float) -> None:
        starts = [k[0] for tr in self.tracker.tracks if tr.status is Status.MOVING for k in tr.looks[-3:]]
        self._begin = min(starts, default=t)
        self._rests = {tr.id: tr.rest.copy() for tr in self.tracker.tracks if tr.rest_looks >= 3}
        self._quiet_since = None
        self._gap = False
        self._draft, self._drafted_s = None, -np.inf
        self._blind = self._begin - self._seen_again_s < 0.25

    def _trim(self, before_s: float) -> None:
        for track in self.tracker.tracks:
            if len(track.looks) > 240 or track.status in (Status.LOST, Status.GONE):
                track.looks = [k for k in track.looks if k[0] >= before_s]
                track.seen_as = [k for k in track.seen_as if k[0] >= before_s]
        if not self.recording and len(self.tracker.tracks) > MOST_TRACKS:
            self._forget()

    def _forget(self) -> None:
        """Let go of dead tracks: first of what was hardly seen, then of what is longest gone. Those left say which numbers are taken."""
        dead = [t for t in self.tracker.tracks if t.status in (Status.LOST, Status.GONE) and t.id not in self._hanging]
        dead.sort(key=lambda t: (t.looked >= KNOWN_LOOKS, t.seen_s))
        gone = {t.id for t in dead[: len(self.tracker.tracks) - MOST_TRACKS // 2]}
        self.tracker.tracks = [t for t in self.tracker.tracks if t.id not in gone]
        self.opened = {k: v for k, v in self.opened.items() if k not in gone}

    def _replaced(self, t: float) -> list[RawShot]:
        """All balls lie elsewhere at once: another table, a cut, or a rack set behind somebody's back."""
        self._hanging.clear()
        out = [] if self._held is None else [self._held]
        self._held = None
        begin = t if self._begin is None else self._begin
        if t - begin > REPLACED_S:
            out += self._finish(t, cut=True)
        self._begin = self._quiet_since = self._touched_s = None
        self.between.append(Between(begin, t, "replaced", tuple(tr.id for tr in self.tracker.tracks)))
        return out

    def _finish(self, t_s: float, *, cut: bool) -> list[RawShot]:
        assert self._begin is not None
        begin, self._begin, self._quiet_since = self._begin, None, None
        looks = self._looks(self.tracker, begin, self._since(begin))
        raws = self._read(looks, begin, t_s, cut, None)
        for raw in raws:
            self._learn(raw.reading)
        return self._hold(raws, t_s)

    def _looks(self, tracker: Tracker, begin: float, since: float) -> dict[int, Looks]:
        """What was seen of each ball, pieces of one ball together."""
        stitch(tracker.tracks, since, tracker.replaced_s)
        untangle(tracker.tracks, since)
        looks: dict[int, Looks] = {}
        for track in tracker.tracks:
            times, xy, cov = track.arrays(since)
            if len(times) and not self._phantom(track, begin, float(times[0])):
                looks[track.id] = Looks(track.id, times, xy, cov, self._rests.get(track.id))
        return looks

    def _since(self, begin: float) -> float:
        since = begin - BEFORE_S
        return max(since, self.tracker.replaced_s) if self.tracker.replaced_s < begin else since

    def draft(self, takes_s: float = 0.0) -> bool:
        """Read a long shot with many balls as far as it has come, so that its end is read sooner; whether that was done.

        Parameters
        ----------
        takes_s : how long a reading takes; where balls come to rest before that, the end would only wait for it.
        """
        begin, now = self._begin, self.tracker.time_s
        if begin is None or now - begin < DRAFT_S or self._blind or self._gap:
            return False
        if now - self._drafted_s < DRAFT_AGAIN_S or self._left_s() < max(DRAFT_LEFT_S, takes_s):
            return False
        self._drafted_s = now
        looks = self._looks(copy.deepcopy(self.tracker), begin, self._since(begin))
        if sum(float(np.ptp(k.xy, axis=0).max()) > STIRRED_M for k in looks.values()) < MANY:
            return False
        former = self._draft if self._draft is not None and self._draft.holds(looks) else None
        reading = reconstruct(
            looks, self.table, begin_s=begin, end_s=now, exposure_s=self._exposure, prior=self.prior, cue=self._cue()[0],
            from_start=False, draft=former,
        )  # fmt: skip
        self._draft = Draft(looks, reading.fit, reading.refused, reading.needed, now)
        return True

    def _left_s(self) -> float:
        """Seconds that the fastest ball would roll on, did it meet nothing."""
        speeds = [float(np.hypot(*t.mean[2:4])) for t in self.tracker.tracks if t.status is Status.MOVING]
        return max(speeds, default=0.0) / self.prior[1]

    def _phantom(self, track: Track, begin: float, first_s: float) -> bool:
        """A knuckle taken for a ball: it came up in mid-table, was never at rest, and went after a moment, into no pocket."""
        if track.status is Status.TENTATIVE:
            return True
        fresh = track.id not in self._rests and not self._blind and first_s > begin + 0.1
        brief = track.status in (Status.LOST, Status.GONE) and track.hits < PHANTOM_LOOKS
        return fresh and brief and not hangs(track.mean[:2], self.table)

    def _read(
        self, looks: dict[int, Looks], begin: float, t_s: float, cut: bool, struck: tuple[int, float] | None
    ) -> list[RawShot]:
        """The shots of a stretch: one, none, or several where the next was played while balls still moved."""
        cue, sure = self._cue()
        draft = self._draft if struck is None and self._draft is not None and self._draft.holds(looks) else None
        reading = reconstruct(
            looks, self.table, begin_s=begin, end_s=t_s, exposure_s=self._exposure, prior=self.prior, cue=cue,
            struck=None if struck is None else struck[0], from_start=self._blind, draft=draft,
        )  # fmt: skip
        if not reading.movers:
            return []
        moved_first = self._blind and struck is None and any(not reading.fit.paths[b].resting for b in reading.movers)
        if struck is not None:
            verdict = Verdict("shot", *struck)
        else:
            verdict = judge(
                reading, begin_s=begin, from_start=moved_first, cue=cue, cue_sure=sure, rested=set(self._rests)
            )
        unseen = self._blind and verdict.opener is not None and verdict.start_s < self._seen_again_s - reading.frame_s
        if verdict.kind != "shot" or unseen:
            self._no_shot(verdict.kind, reading, begin, t_s)
            return []
        opener, start_s = verdict.opener, verdict.start_s
        if opener is not None:
            self.opened[opener] = self.opened.get(opener, 0) + 1
        after = (
            [k for k in (next_stroke(reading, cue, start_s, self.table),) if k is not None] if cue is not None else []
        )
        if after and cue is not None and len(looks) > 1:
            return self._split(looks, reading, cue, begin, after[0], t_s, cut, verdict, moved_first)
        return [self._shot(reading, verdict, t_s, cut=cut, moved_first=moved_first, fresh=struck is None)]

    def _split(
        self, looks: dict[int, Looks], reading: Reading, cue: int, begin: float, again_s: float, t_s: float, cut: bool,
        verdict: Verdict, moved_first: bool,
    ) -> list[RawShot]:  # fmt: skip
        """Two shots of a stretch: the second was played at ``again_s``, before the balls of the first lay still."""
        first = {b: k.within(-np.inf, again_s - 0.5 * reading.frame_s, k.rest) for b, k in looks.items()}
        former = reconstruct(
            {b: k for b, k in first.items() if len(k.times)}, self.table, begin_s=begin, end_s=again_s,
            exposure_s=self._exposure, prior=self.prior, cue=cue, from_start=self._blind,
        )  # fmt: skip
        moved = moving_at(reading, again_s, cue)
        second = {}
        for b, k in looks.items():
            drop = reading.drops.get(b)
            if drop is not None and drop.t_s < again_s:
                continue
            place, v = sample(reading.fit, b, np.array([again_s - 1e-3])) if b in reading.fit.paths else (None, None)
            lies = v is None or float(np.hypot(*v[0])) < STILL
            rest = k.rest if place is None else place[0] if lies else None
            since = again_s - (0.3 if lies else 0.05)
            part = k.within(since, np.inf, rest)
            if len(part.times):
                second[b] = part
        shots = []
        if former.movers:
            shots.append(self._shot(former, verdict, again_s, cut=False, moved_first=moved_first, fresh=True))
            shots[-1].end_s = again_s
        then = self._read(second, again_s - 0.02, t_s, cut, (cue, again_s))
        for raw in then[:1]:
            if any(moved.values()):
                raw.observed = (*raw.observed, "balls-moving")
            elif moved:
                raw.suspected = {**raw.suspected, "balls-moving": 0.5}
        return shots + then

    def _shot(
        self, reading: Reading, verdict: Verdict, t_s: float, *, cut: bool, moved_first: bool, fresh: bool
    ) -> RawShot:
        lost = False
        for b in reading.movers:
            if b in reading.drops:
                drop = reading.drops[b]
                reading.drops[b] = doubted(drop, self._mouths, t_s - float(reading.looks[b].times[-1]))
            elif b not in reading.ends:
                left = left_table(reading, b, self.table)
                if left is not None:
                    reading.drops[b] = left
                else:
                    lost = True
        end_open = cut or lost or self._gap
        partial: Part = "both" if moved_first and end_open else "start" if moved_first else "end" if end_open else ""
        suspected = {} if verdict.opener is None else suspicions(reading, verdict.opener, self.table)
        if fresh and self._touched_s is not None and verdict.start_s - self._touched_s < TOUCH_KEPT_S:
            suspected = {**suspected, "touched-ball": TOUCHED_P}
        if fresh:
            self._touched_s = None
        end = max(reading.end_s, verdict.start_s)
        return RawShot(reading, verdict.start_s, end, verdict.opener, partial, (), suspected)

    def _no_shot(self, kind: str, reading: Reading, begin: float, t_s: float) -> None:
        fell = [b for b in reading.movers if b in self._hanging and b in reading.drops]
        if fell and len(fell) == len(reading.movers):
            for b in fell:
                self._drop(b, reading.drops[b].t_s, reading.drops[b].sigma_s)
            return
        if kind == "touched" and not self._blind and not self._gap:
            self._touched_s = t_s
        elif self._blind:
            kind = "unseen"
        self.between.append(Between(begin, t_s, kind, tuple(reading.movers)))

    # -- balls in the jaws ---------------------------------------------------------------------------------------
    def _hold(self, raws: list[RawShot], t_s: float) -> list[RawShot]:
        """Hand out shots, but for the last while a ball of it hangs."""
        if not raws:
            return raws
        if self._held is not None and all(raw is not self._held for raw in raws):
            raws, self._held = [self._held, *raws], None
        last = raws[-1]
        self._last = last
        self._hanging = {
            b: last.end_s
            for b, place in last.reading.ends.items()
            if b in last.reading.movers and hangs(place, self.table)
        }
        if self._hanging and not last.partial:
            self._held = last
            return raws[:-1]
        return raws

    def _release(self, t: float) -> list[RawShot]:
        """A shot held back, once what hung has dropped or may not any more."""
        if not self._hanging:
            return []
        tracks = {tr.id: tr for tr in self.tracker.tracks}
        for b in list(self._hanging):
            track = tracks.get(b)
            if track is None:
                del self._hanging[b]
            elif track.status in (Status.GONE, Status.LOST):
                self._drop(
                    b, track.seen_s + 0.5 * (track.missed_s - track.seen_s), 0.3 * (track.missed_s - track.seen_s)
                )
        others = self._begin is not None and any(
            tr.status is Status.MOVING and tr.id not in self._hanging for tr in self.tracker.tracks
        )
        over = all(t - since > HANG_S + GONE_S + 0.5 for since in self._hanging.values()) and self._begin is None
        if others:
            self._hanging.clear()  # what becomes of them now is the next shot's doing
        if self._held is None or not (over or others or not self._hanging):
            return []
        held, self._held = self._held, None
        return [held]

    def _drop(self, ball: int, t_s: float, sigma_s: float) -> None:
        """A ball that hung after the last shot has dropped: it belongs to that shot, and the rules say how it counts."""
        since = self._hanging.pop(ball)
        last = self._last
        if last is None:
            return
        place = last.reading.ends.pop(ball, None)
        if place is None:
            return
        last.reading.drops[ball] = Drop(t_s, max(sigma_s, 0.005), pocket_at(place, self.table), 0.95, t_s - since)
        last.end_s = max(last.end_s, t_s) if t_s - since < HANG_S else last.end_s
        self.between.append(Between(since, t_s, "dropped", (ball,)))

    # -- numbers -------------------------------------------------------------------------------------------------
    def _cue(self) -> tuple[int | None, bool]:
        """The track that looks most like the cue ball (those that opened shots lead), and whether that is beyond doubt."""
        scores = {
            t.id: float(t.evidence[0] - np.sort(t.evidence[1:])[-2:].mean()) + 3 * self.opened.get(t.id, 0)
            for t in self.tracker.tracks
            if t.status is not Status.TENTATIVE
        }
        if not scores:
            return None, False
        best = max(scores, key=lambda k: scores[k])
        rest = max((v for k, v in scores.items() if k != best), default=-np.inf)
        return best, scores[best] > CUE_SURE and rest < scores[best] - CUE_SURE

    def _learn(self, reading: Reading) -> None:
        """Carry the cloth's frictions on to the next shot, as a prior that stays open."""
        s, d, ss, ds = self.prior
        self.prior = (
            0.7 * s + 0.3 * reading.fit.slide,
            0.7 * d + 0.3 * reading.fit.roll,
            max(0.8 * ss, 0.15),
            max(0.8 * ds, 0.008),
        )

    def identities(self, game_balls: list[int] | None = None, *, lately: bool = False) -> Identities:
        """Numbers of all tracks so far; ``lately``: as they were a look or two ago will do."""
        tracks = [t for t in self.tracker.tracks if t.status is not Status.TENTATIVE]
        state = tuple((t.id, round(t.looked), self.opened.get(t.id, 0)) for t in tracks)
        if lately and state == self._named[0]:
            return self._named[1]
        found = identify(
            [t.id for t in tracks],
            np.array([t.evidence for t in tracks]).reshape(-1, 16),
            np.array([_span(t) for t in tracks]).reshape(-1, 2),
            game_balls=game_balls,
            opened=np.array([float(self.opened.get(t.id, 0)) for t in tracks]),
            looked=np.array([t.looked for t in tracks]),
        )
        self._named = (state, found)
        return found


def _span(track: Track) -> tuple[float, float]:
    return track.born_s, track.seen_s
