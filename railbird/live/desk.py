"""The referee's desk: what the camera sees and what people say meet here, are kept, ruled on and announced."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from calibration.errors import InputError
from railbird.games import BALLS
from railbird.live import commands as ask
from railbird.live import orders
from railbird.live.access import Visitor
from railbird.live.catalogue import phrase
from railbird.live.clock import ShotClock
from railbird.live.config import Club
from railbird.live.fitting import being_racked, only_moved
from railbird.live.hub import Hub
from railbird.live.metrics import Metrics
from railbird.live.seen import CameraState, SeenShot
from railbird.live.session import News, Session
from railbird.live.speech import Speaker
from railbird.live.store import MatchRecord, Store, StoreFault
from railbird.words import words
from referee.terms import Game
from tracking.events import Point

log = logging.getLogger("railbird.live")
BALLS_EVERY_S = 0.1
MB = 1 << 20


class Desk:
    """One table's desk; every method may be called from any thread.

    Parameters
    ----------
    club : the settings.
    store, hub, metrics : where lines are kept, pages reached, numbers counted.
    speaker : a voice on this machine, if wanted.
    """

    def __init__(self, club: Club, store: Store, hub: Hub, metrics: Metrics, speaker: Speaker | None = None) -> None:
        self.club, self.store, self.hub, self.metrics, self.speaker = club, store, hub, metrics, speaker
        self.fouls_only, self.volume = club.sound.fouls_only, club.sound.volume
        self.language = club.language
        self.record: MatchRecord | None = None
        self.session: Session | None = None
        self.clock = ShotClock()
        self._lock = threading.RLock()
        self.camera_state = CameraState.STARTING
        self._camera_text = ""
        self._camera_since = time.time()
        self._balls: dict[str, list[float]] = {}
        self._balls_sent = -1e9
        self._took: float | None = None
        self.extension_taken = False
        self.watching = False
        self.put_back = False
        self._version = 0
        self._alert: dict[str, Any] | None = None
        #: Length, width and ball of the table that the camera found, metres; None until then.
        self.table_size: dict[str, float] | None = None

    # -- matches -------------------------------------------------------------------------------------------------
    def resume(self) -> bool:
        """Take up the match that was being played here; whether there was one."""
        record = self.store.unfinished(self.club.table)
        if record is None:
            return False
        self.open(record)
        return True

    def open(self, record: MatchRecord) -> None:
        """Go on with a match of the log, an ended one included."""
        session = Session({"match": record.options}, partial(self.store.append, record.id), self.store.lines(record.id))
        with self._lock:
            if self.record is not None and self.record.id != record.id:
                self._close_match()
            if record.ended is not None and not session.over:
                self.store.reopen(record.id)
            self.record, self.session = record, session
            self.language = record.language
            self._set_clock()
            self.publish()
        log.info("match %s taken up: %s, %d shots", record.id, " - ".join(session.players), session.shots)

    def begin(self, opening: Mapping[str, Any], language: str | None = None) -> MatchRecord:
        """Begin a match; the one being played is closed.

        Raises
        ------
        InputError
            Where the options do not fit together.
        """
        options = {key: value for key, value in opening.items() if value is not None}
        Session({"match": options}, _refuse)  # the options are checked before anything is kept
        with self._lock:
            self._close_match()
            self.language = language or self.club.language
            record = self.store.begin(self.club.table, options, self.language)
            self.record = record
            self.session = Session({"match": options}, partial(self.store.append, record.id))
            self._set_clock()
            self._alert = None
            self.publish()
        log.info("match %s begins: %s", record.id, " - ".join(self.session.players))
        return record

    def _close_match(self) -> None:
        if self.record is not None and self.session is not None and not self.session.over:
            self.store.end(self.record.id, None)
        self.record = self.session = None

    def _set_clock(self) -> None:
        assert self.session is not None
        options = self.session.options
        self.clock = ShotClock(options.shot_clock_s, options.rules.call_left_s, options.rules.extension_s)
        self._took, self.extension_taken = None, False

    # -- the camera's side ---------------------------------------------------------------------------------------
    def on_state(self, state: CameraState, text: str = "") -> None:
        """The camera's state changed."""
        now = time.monotonic()
        with self._lock:
            if state is self.camera_state and text == self._camera_text:
                return
            if state is not self.camera_state:
                self._camera_since = time.time()
            before, self.camera_state, self._camera_text = self.camera_state, state, text
            if state is CameraState.SHOT:
                # In a shot that is picked up twice (somebody leant over it) the time taken is the first one's.
                self._took = self._took if self._took is not None else self.clock.stop(now)
            elif state is CameraState.READY and before not in (CameraState.OCCLUDED, CameraState.SHOT):
                self.clock.go_on(now) if self.clock.view(now) else None
            elif state in (CameraState.LOST, CameraState.NO_TABLE, CameraState.CALIBRATING):
                self.clock.hold(now)
            self.publish()
        level = logging.WARNING if state in (CameraState.LOST, CameraState.NO_TABLE) else logging.INFO
        log.log(level, "camera: %s%s", state.value, f" ({text})" if text else "")

    def on_balls(self, t_s: float, balls: Mapping[int, Point]) -> None:
        """Where the balls are now; shown ten times a second at most."""
        now = time.monotonic()
        with self._lock:
            self._balls = {str(b): [round(float(x), 5), round(float(y), 5)] for b, (x, y) in balls.items()}
            if now - self._balls_sent < BALLS_EVERY_S:
                return
            self._balls_sent = now
            balls_now = self._balls
        self.hub.publish("balls", {"balls": balls_now, "t_s": round(t_s, 3)})

    @property
    def game(self) -> str:
        """The game that is being played, or would be."""
        session = self.session
        return self.club.match.game if session is None else session.game.value

    @property
    def rack_due(self) -> bool:
        """Whether a rack has to be set up now."""
        session = self.session
        return session is not None and session.state.is_break

    @property
    def in_play(self) -> frozenset[int]:
        """Balls that may be on the table: what the match has there, or all where a rack is or may be set up."""
        session = self.session
        every = frozenset({0, *BALLS[self.game]})
        if session is None or session.game is Game.STRAIGHT_POOL:
            return every
        state = session.state
        return every if state.is_break or state.choice is not None else state.on_table | {0}

    def on_table(self, table: Mapping[str, float]) -> None:
        """The table's sizes; matches that begin from now on are played on it."""
        with self._lock:
            self.table_size = dict(table)
            record = self.record
            if record is None or record.options.get("table") == self.table_size:
                return
            # Nothing was played yet: the match begins with the table it is played on.
            if self.store.amend(record.id, {**record.options, "table": self.table_size}):
                self.open(self.store.match(record.id))

    def on_shot(self, seen: SeenShot) -> tuple[str, int] | None:
        """A shot is finished: keep it, rule on it, say so. Gives match and number for its clip."""
        with self._lock:
            session, record = self.session, self.record
            if session is None or record is None:
                log.info("a shot was seen, but no match is being played")
                return None
            if session.paused:
                session.remark("camera", {"unruled": {"start_s": round(seen.shot.start_s, 3), "why": "time-out"}})
                return None
            if session.over:
                return None
            racked_by_hand = being_racked(session.state, seen.shot, session.table, session.game)
            if racked_by_hand or only_moved(seen.shot):
                log.info("balls were moved at %.1f s; no stroke", seen.shot.start_s)
                session.remark("camera", {"unruled": {"start_s": round(seen.shot.start_s, 3), "why": "no stroke"}})
                return None
            took, self._took = self._took, None
            extension, self.extension_taken = self.extension_taken, False
            try:
                news = session.play(seen, clock_s=took, extension=extension)
            except InputError as error:
                log.warning("shot at %.1f s not ruled on: %s", seen.shot.start_s, error)
                session.remark("camera", {"unruled": {"start_s": round(seen.shot.start_s, 3), "why": str(error)[:300]}})
                self._alert = {"code": "unruled", "what": str(error)[:300]}
                self.publish()
                return None
            except StoreFault as error:
                log.error("%s", error)
                self._alert = {"code": "store", "what": str(error)[:300]}
                self.publish()
                return None
            shot = session.shots
            if self.watching:
                self.store.dispute(record.id, shot, "watch", {"text": "hit watched"})
                self.watching = False
            self.put_back = False
            self._alert = None
            self.after(news)
            self.clock.start(time.monotonic())
            self.metrics.add("shots_total")
            if seen.rest_wall_s is not None:
                self.metrics.latency(time.monotonic() - seen.rest_wall_s)
            self.publish()
            return record.id, shot

    def on_fault(self, text: str) -> None:
        """A shot was lost to a fault of ours: people are told, and enter what happened."""
        with self._lock:
            self._alert = {"code": "unruled", "what": text}
            self.publish()

    def on_clip(self, match: str, shot: int, file: Path, began_s: float) -> None:
        """A clip is written: keep it within the budget, and let pages offer it."""
        try:
            self.store.add_clip(match, shot, file, began_s, self.club.keep.clips_mb * MB)
        except (OSError, StoreFault) as error:
            log.warning("clip of shot %d not kept: %s", shot, error)
            return
        self.publish()

    def clip_file(self) -> Path | None:
        """Where the camera may write the clip of the shot that begins now; None where no clip is wanted."""
        with self._lock:
            if self.record is None or self.session is None or not self.club.keep.clips:
                return None
            return self.store.new_clip_file(self.record.id, self.session.shots + 1)

    # -- announcing ----------------------------------------------------------------------------------------------
    def after(self, news: News, *, speak: bool = True) -> None:
        """What follows from new rulings: the match may be over, and people are told the latest."""
        if self.session is None or self.record is None:
            return
        if self.session.over and self.store.match(self.record.id).ended is None:
            self.store.end(self.record.id, self.session.winner)
            log.info("match %s won by %s", self.record.id, self.session.winner)
        elif not self.session.over and self.store.match(self.record.id).ended is not None:
            self.store.reopen(self.record.id)
        if news.rulings and speak:
            self._announce(news.rulings[-1])

    def _announce(self, ruling: Mapping[str, Any]) -> None:
        grave = bool(ruling["fouls"]) or ruling["rack_winner"] or ruling["match_winner"] or ruling["choice"]
        self.say(ruling["announce"], foul=bool(grave))

    def say(self, texts: Mapping[str, str], *, foul: bool) -> None:
        """Have a sentence spoken, here and on the wall, in the match's language."""
        if self.fouls_only and not foul:
            return
        text = texts.get(self.language) or texts["en"]
        self.hub.publish("say", {"text": text, "language": self.language, "foul": foul, "volume": self.volume})
        if self.speaker is not None:
            self.speaker.say(text, self.language)

    def tick(self) -> None:
        """Called a few times a second: the shot clock."""
        with self._lock:
            if self.session is None or self.session.over:
                return
            due = self.clock.due(time.monotonic())
        if due == "call":
            self.say(phrase("ten_seconds"), foul=True)
        elif due == "over":
            self.say(phrase("time"), foul=True)
            self.publish()

    def publish(self) -> None:
        """Send how things stand to every page."""
        with self._lock:
            self._version += 1
            self.hub.publish("state", self.state())

    def state(self) -> dict[str, Any]:
        """How things stand, as pages, overlay and other programs read it (``format`` railbird/1)."""
        with self._lock:
            return {
                "format": "railbird/1",
                "version": self._version,
                "table_name": self.club.table,
                "language": self.language,
                "camera": {
                    "state": self.camera_state.value,
                    "text": self._camera_text,
                    "since": round(self._camera_since),
                },
                "clock": self.clock.view(time.monotonic()),
                "balls": self._balls,
                "watch": self._watch_view(),
                "put_back": self.put_back,
                "sound": {"volume": self.volume, "fouls_only": self.fouls_only},
                "alert": self._alert,
                "corrections": self.club.page.corrections,
                "match_id": self.record.id if self.record else None,
                "clip": self._clip_view(),
                "match": self.session.view() if self.session else None,
            }

    def _clip_view(self) -> dict[str, Any] | None:
        if self.record is None or self.session is None or not self.session.shots:
            return None
        clip = self.store.clip(self.record.id, self.session.shots)
        return None if clip is None else {"url": f"/clips/{clip.match}/{clip.shot}.mp4", "began_s": clip.began_s}

    def _watch_view(self) -> dict[str, Any] | None:
        """The gap between cue ball and the nearest ball, for a hit that is being watched."""
        if not self.watching:
            return None
        cue = self._balls.get("0")
        others = {ball: at for ball, at in self._balls.items() if ball != "0"}
        if cue is None or not others or self.session is None:
            return {"ball": None, "gap_mm": None}
        gap, ball = min((((at[0] - cue[0]) ** 2 + (at[1] - cue[1]) ** 2) ** 0.5, ball) for ball, at in others.items())
        size = self.session.table.ball_m
        return {"ball": int(ball), "gap_mm": round(1000 * (gap - size), 1)}

    def offers(self, shot: int) -> list[dict[str, Any]]:
        """Readings of a shot with the rulings they would give, events put in words.

        Raises
        ------
        InputError
            Where there is no match or no such shot.
        """
        if self.session is None:
            raise InputError("no match is being played")
        speak = words(self.language)
        found = self.session.offers(shot)
        for offer in found:
            if "event" in offer["detail"]:
                offer["detail"]["what"] = speak.event(offer["detail"]["event"])
        return found

    # -- people's side -------------------------------------------------------------------------------------------
    def do(self, visitor: Visitor, document: Any) -> dict[str, Any]:
        """Carry out a command.

        Raises
        ------
        InputError
            Where it is none, or cannot be now.
        PermissionError
            Where the visitor may not give it.
        """
        command = ask.parse(document)
        if not visitor.role.covers(ask.NEEDS[type(command)]):
            raise PermissionError(f"{document['do']}: not for a {visitor.role.value}")
        with self._lock:
            reply = orders.carry_out(self, visitor, command)
            self.publish()
            return reply


def _refuse(kind: str, who: str, body: Mapping[str, Any]) -> Any:
    raise RuntimeError("this session only checks options")
