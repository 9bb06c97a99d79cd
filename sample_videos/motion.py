"""Where every ball is at any instant: pieces of exact motion, and the turning that goes with them.

A piece is either pooltool's closed form from a state on, or a scripted path. Orientation is integrated from the spin.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sample_videos.layouts import turn_by
from sample_videos.optics import F64

TURN_STEP_S = 1 / 480
STATIONARY, SPINNING, SLIDING, ROLLING, POCKETED = 0, 1, 2, 3, 4


@dataclass(frozen=True, slots=True)
class Physics:
    """Constants of a ball on cloth, SI units (pooltool's names)."""

    m: float = 0.170097
    u_s: float = 0.2
    u_r: float = 0.01
    u_sp: float = 10 * 2 / 5 / 9 * 0.028575
    g: float = 9.81


@dataclass(frozen=True, slots=True)
class Piece:
    """Motion from ``start_s`` until the next piece: a ``rvw`` state (3, 3) of pooltool's, or a ``path``.

    ``path`` maps seconds since ``start_s`` to position, velocity, spin (3, 3); None of all: the ball is not there.
    """

    start_s: float
    state: int = STATIONARY
    rvw: F64 | None = None
    path: Callable[[float], F64] | None = None
    leaves: bool = False  # a path that ends off the table: the ball does not count as lying there any more

    @property
    def moving(self) -> bool:
        return self.path is not None or (self.rvw is not None and self.state in (SPINNING, SLIDING, ROLLING))


@dataclass
class Track:
    """One ball's pieces in time order, with the orientation at every TURN_STEP_S."""

    radius: float
    physics: Physics
    first_turn: F64
    pieces: list[Piece] = field(default_factory=list)
    _turns: dict[int, list[F64]] = field(default_factory=dict)
    _starts: list[float] = field(default_factory=list)

    def add(self, piece: Piece) -> None:
        """Append a piece; one that begins before the last replaces what came after its start."""
        while self.pieces and self.pieces[-1].start_s >= piece.start_s - 1e-12:
            self.pieces.pop()
            self._starts.pop()
            self._turns.pop(len(self.pieces), None)
        if self.pieces and not piece.moving and not self.pieces[-1].moving and piece.rvw is not None:
            before = self.pieces[-1].rvw
            if before is not None and np.array_equal(before[0], piece.rvw[0]):
                return  # it goes on lying there
        self.pieces.append(piece)
        self._starts.append(piece.start_s)

    def cut(self, t: float) -> None:
        """Forget all pieces that begin at ``t`` or later."""
        while self.pieces and self.pieces[-1].start_s >= t:
            self.pieces.pop()
            self._starts.pop()
            self._turns.pop(len(self.pieces), None)

    def index(self, t: float) -> int:
        return max(0, bisect.bisect_right(self._starts, t) - 1)

    def rvw(self, t: float) -> F64 | None:
        """Position, velocity, spin (3, 3) at ``t``; None where the ball is not there."""
        return self._rvw(self.pieces[self.index(t)], t)

    def _rvw(self, piece: Piece, t: float) -> F64 | None:
        if piece.path is not None:
            return piece.path(t - piece.start_s)
        if piece.rvw is None or piece.state == POCKETED:
            return None
        if not piece.moving or t <= piece.start_s:
            return piece.rvw
        from pooltool.physics.evolve import evolve_ball_motion

        p = self.physics
        found, _ = evolve_ball_motion(
            piece.state, piece.rvw.copy(), self.radius, p.m, p.u_s, p.u_sp, p.u_r, p.g, t - piece.start_s
        )
        return np.asarray(found, dtype=np.float64)

    def moving(self, t0: float, t1: float) -> bool:
        """Whether the ball can move or turn between two instants."""
        return any(self.pieces[k].moving for k in range(self.index(t0), self.index(t1) + 1))

    def changes(self, t0: float, t1: float) -> bool:
        """Whether a piece begins within (t0, t1]."""
        return self.index(t0) != self.index(t1)

    def turn(self, t: float) -> F64:
        """(3, 3) orientation at ``t``: ball frame to table frame."""
        k = self.index(t)
        piece = self.pieces[k]
        grid = self._turns.get(k)
        if grid is None:
            before = self.first_turn if k == 0 else self.turn(np.nextafter(piece.start_s, -np.inf))
            grid = self._turns[k] = [before]
        if not piece.moving:
            return grid[0]
        step = max(0.0, t - piece.start_s)
        n = int(step / TURN_STEP_S)
        while len(grid) <= n:
            middle = piece.start_s + (len(grid) - 0.5) * TURN_STEP_S
            grid.append(self._spun(piece, middle, TURN_STEP_S) @ grid[-1])
        rest = step - n * TURN_STEP_S
        if rest < 1e-9:
            return grid[n]
        return self._spun(piece, piece.start_s + n * TURN_STEP_S + rest / 2, rest) @ grid[n]

    def _spun(self, piece: Piece, t: float, dt: float) -> F64:
        state = self._rvw(piece, t)
        return np.eye(3) if state is None else turn_by(state[2] * dt)


def still(x: float, y: float, z: float) -> F64:
    """(3, 3) state of a ball at rest."""
    return np.array([[x, y, z], [0.0, 0, 0], [0.0, 0, 0]])
