"""Plays strokes with pooltool and keeps exact event times, paths and turning; hands over to scripted paths and back.

pooltool 0.3.3 knows no flight: jumps, balls that leave the table or come out of a pocket again are scripted
(``sample_videos.scripted``): the simulation is stopped at the instant, the ball is taken out, and it is put back with a
new state where its path ends on the table.
"""

from __future__ import annotations

import contextlib
import io
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibration.errors import InputError, MissingExtra
from calibration.table import Table
from sample_videos.motion import POCKETED, ROLLING, SLIDING, Physics, Piece, Track, still
from sample_videos.optics import F64
from tracking.events import AnyEvent, Contact, OffTable, Pocketed, RailHit, Strike

#: pooltool's cushion segments by the rail they belong to
RAIL_OF = {
    "3": "left", "6": "left", "2": "left", "4": "left", "5": "left", "7": "left",
    "12": "right", "15": "right", "11": "right", "13": "right", "14": "right", "16": "right",
    "9": "foot", "8": "foot", "10": "foot", "18": "head", "1": "head", "17": "head",
}  # fmt: skip
POCKET_OF = {
    "lb": "head-left", "lc": "side-left", "lt": "foot-left", "rb": "head-right", "rc": "side-right", "rt": "foot-right",
}  # fmt: skip
ONE_TOUCH_S = 0.020  # touches of one ball on the rails within this time are one event
ONE_CLICK_S = (
    0.003  # repeated contacts of one pair within this time are one: rigid balls in a rack rattle, real ones press
)
POCKET_DEPTH_M = 0.13
FALL_S = 0.45


@dataclass(frozen=True, slots=True)
class Stroke:
    """How the cue ball is struck.

    Parameters
    ----------
    speed : of the cue at impact, m/s.
    direction : degrees, 0 along +x (to the right rail), 90 along +y (to the foot rail).
    side, above : tip's offset from the middle in radii, right and up positive.
    elevation : of the cue, degrees.
    ball : the ball struck.
    """

    speed: float
    direction: float
    side: float = 0.0
    above: float = 0.0
    elevation: float = 3.0
    ball: int = 0


@dataclass(frozen=True, slots=True)
class Flight:
    """A scripted stretch of one ball's motion.

    ``path`` gives (3, 3) states for 0 … ``lasts_s``; afterwards the ball goes on in pooltool from ``then`` (state code
    and rvw), or is gone where ``then`` is None. ``events`` are added to the truth (times from the stretch's start).
    """

    ball: int
    start_s: float
    lasts_s: float
    path: Callable[[float], F64]
    then: tuple[int, F64] | None
    events: tuple[AnyEvent, ...] = ()


@dataclass
class Played:
    """What came of a stroke; times are seconds of the clip."""

    start_s: float
    end_s: float
    start: dict[int, tuple[float, float]]
    end: dict[int, tuple[float, float]]
    events: list[AnyEvent] = field(default_factory=list)


def _pooltool() -> Any:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            import pooltool
    except ImportError:
        raise MissingExtra("rendering shots", "render") from None
    return pooltool


def table_of(table: Table) -> Any:
    """pooltool's table with the sizes of ours."""
    pt = _pooltool()
    s = table.pocket_shape
    specs = pt.objects.PocketTableSpecs(
        l=table.length_m, w=table.width_m, cushion_height=table.nose_height,
        corner_pocket_width=s.corner_mouth, corner_pocket_radius=s.corner_radius, corner_pocket_depth=s.corner_depth,
        side_pocket_width=s.side_mouth, side_pocket_radius=s.side_radius, side_pocket_depth=s.side_depth,
    )  # fmt: skip
    return pt.Table.from_table_specs(specs)


class Simulator:
    """Balls on a table through a whole clip: place them, wait, strike, script, and ask where they are.

    Parameters
    ----------
    table : sizes.
    places : ball to (x, y), metres.
    turns : ball to (3, 3) first orientation.
    """

    def __init__(
        self,
        table: Table,
        places: dict[int, tuple[float, float]],
        turns: dict[int, F64],
        physics: Physics | None = None,
    ) -> None:
        self.table = table
        self.physics = physics or Physics()
        self.tracks: dict[int, Track] = {}
        self.turns = turns
        self._pt_table = table_of(table)
        for ball, (x, y) in places.items():
            self.place(ball, x, y, -1e3)

    def place(self, ball: int, x: float, y: float, t: float) -> None:
        """Put a ball down at rest at ``t`` (ball in hand, a spotted ball)."""
        pocket = self.table.nearest_pocket((x, y))
        in_jaws = pocket.radius < math.dist((x, y), pocket.centre) < pocket.radius + 0.06
        if not self.table.on_surface((x, y), 0.0 if in_jaws else self.table.ball_radius - 0.002):
            raise InputError(f"ball {ball} at ({x}, {y}) is not on the table: give a place inside the cushions")
        for other, track in self.tracks.items():
            at = track.rvw(t) if other != ball else None
            if at is not None and math.dist(at[0][:2], (x, y)) < self.table.ball_m - 1e-5:
                raise InputError(f"balls {ball} and {other} overlap at ({x:.4f}, {y:.4f}): move one of them")
        if ball not in self.tracks:
            self.tracks[ball] = Track(self.table.ball_radius, self.physics, self.turns.get(ball, np.eye(3)))
        self.tracks[ball].add(Piece(t, rvw=still(x, y, self.table.ball_radius)))

    def on_table(self, t: float) -> dict[int, tuple[float, float]]:
        """Balls on the cloth at ``t`` and where."""
        found = {}
        for ball, track in self.tracks.items():
            state = None if track.pieces[track.index(t)].leaves else track.rvw(t)
            if state is not None and self.table.on_surface((float(state[0, 0]), float(state[0, 1])), -0.06):
                found[ball] = (float(state[0, 0]), float(state[0, 1]))
        return found

    def strike(
        self, stroke: Stroke, t: float, scripts: tuple[Callable[[Simulator, Played, Any], Flight | None], ...] = ()
    ) -> Played:
        """Play one stroke at ``t``; each script may look at the shot so far and replace a stretch of it.

        Raises
        ------
        InputError
            Where the struck ball is not on the table.
        """
        start = self.on_table(t)
        if stroke.ball not in start:
            raise InputError(f"stroke at {t:.2f} s: ball {stroke.ball} is not on the table")
        played = Played(t, t, start, {}, [Strike(t_s=t, ball=stroke.ball)])
        for nudge in (0.0, 1e-4, -1e-4):
            # pooltool's quartic solver breaks down where balls lie exactly in line: a ten-thousandth of a degree helps
            with contextlib.suppress(ValueError):
                self._run(self._struck(stroke, start, nudge), t, played)
                break
        else:
            raise InputError(
                f"stroke at {t:.2f} s: pooltool cannot solve it: turn the direction by a hundredth of a degree"
            )
        for script in scripts:
            flight = script(self, played, stroke)
            if flight is not None:
                self._interrupt(flight, played)
        played.events.sort(key=lambda e: e.t_s)
        played.events = _merged(played.events)
        played.end_s = self._rest(played)
        played.end = self.on_table(played.end_s + 1e-6)
        return played

    def _struck(self, stroke: Stroke, start: dict[int, tuple[float, float]], nudge: float) -> Any:
        pt = _pooltool()
        balls = {str(ball): self._ball(ball, still(x, y, self.table.ball_radius), 0) for ball, (x, y) in start.items()}
        cue = pt.Cue(
            V0=stroke.speed, phi=stroke.direction + nudge, theta=stroke.elevation, a=-stroke.side, b=stroke.above,
            cue_ball_id=str(stroke.ball),
        )  # fmt: skip
        return pt.System(table=self._pt_table.copy(), balls=balls, cue=cue)

    # -- inside --------------------------------------------------------------------------------------------------------
    def _ball(self, ball: int, rvw: F64, state: int) -> Any:
        pt = _pooltool()
        p = self.physics
        return pt.Ball(
            id=str(ball),
            state=pt.objects.BallState(rvw=rvw.copy(), s=state),
            params=pt.BallParams(
                m=p.m,
                R=self.table.ball_radius,
                u_s=p.u_s,
                u_r=p.u_r,
                u_sp_proportionality=p.u_sp / self.table.ball_radius,
                g=p.g,
            ),
        )

    def _run(self, system: Any, t: float, played: Played) -> None:
        """Simulate from ``t`` until rest and take over events and pieces."""
        pt = _pooltool()
        pt.simulate(system, inplace=True)
        for event in system.events:
            made = self._event(event, system, t)
            if made is not None:
                played.events.append(made)
        for name, ball in system.balls.items():
            track = self.tracks[int(name)]
            for state in ball.history:
                if state.s == POCKETED:
                    break
                track.add(Piece(t + state.t, state.s, np.array(state.rvw)))
            fall = [e for e in system.events if e.event_type == pt.EventType.BALL_POCKET and e.agents[0].id == name]
            if fall:
                self._drop(
                    int(name),
                    t + fall[0].time,
                    POCKET_OF[fall[0].agents[1].id],
                    np.array(fall[0].agents[0].initial.state.rvw),
                )

    def _event(self, event: Any, system: Any, t: float) -> AnyEvent | None:
        pt = _pooltool()
        kind, when = event.event_type, t + event.time
        if kind == pt.EventType.BALL_BALL:
            a, b = (np.array(agent.initial.state.rvw[0]) for agent in event.agents)
            at = (a + b) / 2
            pair = sorted(int(agent.id) for agent in event.agents)
            return Contact(t_s=when, balls=(pair[0], pair[1]), at=(float(at[0]), float(at[1])))
        if kind in (pt.EventType.BALL_LINEAR_CUSHION, pt.EventType.BALL_CIRCULAR_CUSHION):
            agent, cushion = event.agents
            at = agent.initial.state.rvw[0]
            rail = RAIL_OF[cushion.id.rstrip("t")]
            return RailHit(t_s=when, ball=int(agent.id), rail=rail, at=(float(at[0]), float(at[1])))  # type: ignore[arg-type]
        if kind == pt.EventType.BALL_POCKET:
            agent, pocket = event.agents
            return Pocketed(t_s=when, ball=int(agent.id), pocket=POCKET_OF[pocket.id])  # type: ignore[arg-type]
        return None

    def _drop(self, ball: int, t: float, pocket: str, rvw: F64) -> None:
        """The fall into a pocket, from the instant the centre crosses the edge."""
        opening = self.table.pockets[pocket]
        start, speed = rvw[0].copy(), rvw[1].copy()
        speed[2] = 0
        middle = np.array([*opening.centre, 0.0])
        most = opening.radius - self.table.ball_radius
        inward = (middle - start)[:2]
        inward = inward / max(1e-9, float(np.linalg.norm(inward)))
        spin = rvw[2].copy()

        def path(s: float) -> F64:
            p = start + np.append(speed[:2] * s + inward * 0.5 * 1.2 * s * s, 0)
            away = p[:2] - middle[:2]
            far = float(np.linalg.norm(away))
            # past the middle it has met the back of the pocket; before it, it is still coming over the edge
            if s > 0.01 and far > most and (float(away @ inward) > 0 or s > 0.12):
                p[:2] = middle[:2] + away / far * most
            p[2] = max(self.table.ball_radius - 0.5 * 9.81 * 0.8 * s * s, -POCKET_DEPTH_M)
            return np.stack([p, speed, spin])

        self.tracks[ball].add(Piece(t, path=path, leaves=True))
        self.tracks[ball].add(Piece(t + FALL_S))

    def _interrupt(self, flight: Flight, played: Played) -> None:
        """Take a ball out at the flight's start, play the others on, put it back at its end."""
        pt = _pooltool()
        t = flight.start_s
        played.events = [e for e in played.events if e.t_s < t - 1e-9]
        states = {}
        for ball, track in self.tracks.items():
            k = track.index(t)
            piece = track.pieces[k]
            if piece.rvw is not None and piece.state != POCKETED:
                rvw = track.rvw(t)
                if rvw is not None:
                    states[ball] = (piece.state, rvw)
            if ball != flight.ball:
                track.cut(t)
        flyer = self.tracks[flight.ball]
        flyer.cut(t)
        states.pop(flight.ball, None)
        flyer.add(Piece(t, path=flight.path, leaves=flight.then is None))
        if states:
            balls = {str(b): self._ball(b, rvw, s) for b, (s, rvw) in states.items()}
            system = pt.System(
                table=self._pt_table.copy(), balls=balls, cue=pt.Cue(V0=0.0, cue_ball_id=next(iter(balls)))
            )
            self._run(system, t, played)
        from dataclasses import replace

        played.events += [replace(e, t_s=t + e.t_s) for e in flight.events]
        back = t + flight.lasts_s
        if flight.then is None:
            flyer.add(Piece(back))
            return
        # put it back: the others are where the run above has them at that instant
        played.events = [e for e in played.events if e.t_s < back + 1e-9]
        balls = {}
        for ball, track in self.tracks.items():
            piece = track.pieces[track.index(back)]
            if ball == flight.ball or piece.rvw is None or piece.state == POCKETED:
                continue
            rvw = track.rvw(back)
            if rvw is not None:
                balls[str(ball)] = self._ball(ball, rvw, piece.state)
            track.cut(back)
        state, rvw = flight.then
        balls[str(flight.ball)] = self._ball(flight.ball, rvw, state)
        system = pt.System(table=self._pt_table.copy(), balls=balls, cue=pt.Cue(V0=0.0, cue_ball_id=str(flight.ball)))
        self._run(system, back, played)

    def _rest(self, played: Played) -> float:
        """When the last ball comes to rest (one that fell or flew off counts until it is gone or out of sight)."""
        last = played.start_s
        for track in self.tracks.values():
            for k, piece in enumerate(track.pieces):
                if piece.moving and piece.start_s >= played.start_s - 1e-9:
                    after = track.pieces[k + 1] if k + 1 < len(track.pieces) else None
                    if after is None or (after.rvw is None and piece.path is not None):
                        last = max(last, piece.start_s)
                    else:
                        last = max(last, after.start_s)
        return max([last, *(e.t_s for e in played.events)])


def _merged(events: list[AnyEvent]) -> list[AnyEvent]:
    """Touches of one ball on the rails, and contacts of one pair, that follow each other closely as one event."""
    kept: list[AnyEvent] = []
    last: dict[tuple[int, ...], float] = {}
    for event in events:
        if isinstance(event, RailHit | Contact):
            who = (event.ball,) if isinstance(event, RailHit) else event.balls
            within = ONE_TOUCH_S if isinstance(event, RailHit) else ONE_CLICK_S
            if event.t_s - last.get(who, -math.inf) < within:
                continue
            last[who] = event.t_s
        kept.append(event)
    return kept


__all__ = [
    "POCKET_OF",
    "RAIL_OF",
    "ROLLING",
    "SLIDING",
    "Contact",
    "Flight",
    "OffTable",
    "Played",
    "Simulator",
    "Stroke",
    "table_of",
]
