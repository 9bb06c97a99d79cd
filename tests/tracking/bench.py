"""Measures tracking on simulated shots, and plots whether its sigmas and probabilities are true.

    python tests/tracking/bench.py [--eye overhead60|oblique30] [--shots N] [--breaks N] [--seed N] [--out DIR] [--plots DIR]

``--out`` writes NAME.truth.json and NAME/match.json, the pairs that a scorer of match.json files takes. ``--plots`` writes
``calibration-EYE.png``.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import itertools

from results import match_json
from simulated import OBLIQUE_30, OVERHEAD_60, Eye, observe, simulate

from tracking.analyse import analyse

EYES = {"overhead60": OVERHEAD_60, "oblique30": OBLIQUE_30}
CLOSE_S = 0.05
KINDS = ("contact", "rail", "pocket")


@dataclass
class Tally:
    """Counts over shots: hits, wanted, said by kind; pulls are time errors over sigma; said holds (p, true)."""

    counts: dict[str, list[int]] = field(default_factory=lambda: {k: [0, 0, 0] for k in KINDS})
    errors: list[float] = field(default_factory=list)
    pulls: list[float] = field(default_factory=list)
    said: list[tuple[float, bool]] = field(default_factory=list)
    orders: list[tuple[float, bool]] = field(default_factory=list)
    first: list[int] = field(default_factory=lambda: [0, 0])
    frames: int = 0
    cpu_s: float = 0.0


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    if a["kind"] != b["kind"]:
        return False
    if a["kind"] == "contact":
        return sorted(a["balls"]) == sorted(b["balls"])
    return a["ball"] == b["ball"] and (a["kind"] == "rail" or a["pocket"] == b["pocket"])


def merged(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Touches of one ball on the rails within 20 ms are one event."""
    out: list[dict[str, Any]] = []
    for e in sorted(events, key=lambda e: e["t_s"]):
        if e["kind"] == "rail" and any(
            o["kind"] == "rail" and o["ball"] == e["ball"] and e["t_s"] - o["t_s"] < 0.02 for o in out
        ):
            continue
        out.append(e)
    return out


def count(tally: Tally, truth: dict[str, Any], found: dict[str, Any], breaks: bool) -> None:
    want = [e for e in merged(truth["shots"][0]["events"]) if e["kind"] in KINDS]
    got = merged([e for shot in found["shots"] for e in shot["events"] if e["kind"] in KINDS])
    hits = [e["t_s"] for e in want if e["kind"] == "contact"]
    for kind in KINDS:
        if breaks and kind == "contact":
            continue
        mine, theirs = [e for e in got if e["kind"] == kind], [e for e in want if e["kind"] == kind]
        tally.counts[kind][1] += len(theirs)
        tally.counts[kind][2] += sum(e["p"] >= 0.5 for e in mine)
        for e in theirs:
            near = [g for g in mine if same(g, e) and abs(g["t_s"] - e["t_s"]) <= CLOSE_S]
            if near:
                g = min(near, key=lambda g: abs(g["t_s"] - e["t_s"]))
                mine.remove(g)
                tally.counts[kind][0] += g["p"] >= 0.5
                tally.errors.append(abs(g["t_s"] - e["t_s"]))
                tally.pulls.append((g["t_s"] - e["t_s"]) / g["sigma_s"])
                tally.said.append((g["p"], True))
        tally.said += [(g["p"], False) for g in mine]
    cue = sorted((e["t_s"], max(e["balls"])) for e in want if e["kind"] == "contact" and 0 in e["balls"])
    seen = sorted(
        (e["t_s"], max(e["balls"]), e["sigma_s"])
        for e in got
        if e["kind"] == "contact" and 0 in e["balls"] and e["p"] >= 0.5
    )
    if len(cue) < 2 or cue[1][0] - cue[0][0] > 0.003:
        tally.first[1] += 1
        tally.first[0] += (seen[0][1] if seen else None) == (cue[0][1] if cue else None)
    if (
        len(seen) > 1
        and len(cue) > 1
        and {seen[0][1], seen[1][1]} == {cue[0][1], cue[1][1]}
        and seen[0][1] != seen[1][1]
    ):
        z = (seen[1][0] - seen[0][0]) / math.hypot(seen[0][2], seen[1][2])
        if z < 4:
            tally.orders.append((0.5 * (1 + math.erf(z / math.sqrt(2))), seen[0][1] == cue[0][1]))
    assert hits == sorted(hits)


def measure(eye: Eye, shots: int, breaks: int, seed: int, out: Path | None = None) -> Tally:
    tally = Tally()
    for k in range(shots + breaks):
        scene = simulate(seed + k, breaks=k >= shots)
        observations = observe(scene, eye, seed + k)
        began = time.process_time()
        found = match_json(analyse(observations, scene.table).shots, scene.table)
        tally.cpu_s += time.process_time() - began
        tally.frames += round(observations[-1].t_s * eye.fps)
        count(tally, scene.truth, found, scene.breaks)
        if out is not None:
            name = f"{'break' if scene.breaks else 'shot'}{seed + k:05d}"
            (out / name).mkdir(parents=True, exist_ok=True)
            (out / f"{name}.truth.json").write_text(json.dumps(scene.truth))
            (out / name / "match.json").write_text(json.dumps(found))
    return tally


def report(tally: Tally) -> dict[str, Any]:
    pulls = np.abs(tally.pulls)
    f1 = {k: round(2 * h / max(w + s, 1), 4) for k, (h, w, s) in tally.counts.items()}
    errors = 1e3 * np.array(tally.errors)
    return {
        "f1": f1, "first_contact": tally.first, "time_error_ms": {"median": round(float(np.median(errors)), 2), "p95": round(float(np.percentile(errors, 95)), 2)},
        "within_sigma": {"1": round(float((pulls < 1).mean()), 3), "2": round(float((pulls < 2).mean()), 3)},
        "ms_a_frame": round(1e3 * tally.cpu_s / tally.frames, 2),
    }  # fmt: skip


def plot(tally: Tally, title: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from scipy.stats import norm

    figure, axes = plt.subplots(1, 3, figsize=(13, 4))
    pulls = np.sort(np.abs(tally.pulls))
    expected = 2 * norm.cdf(pulls) - 1
    axes[0].plot(expected, np.arange(1, len(pulls) + 1) / len(pulls))
    axes[0].set(xlabel="share expected within k sigma", ylabel="share found", title=f"times ({len(pulls)} events)")
    for axis, rows, name in (
        (axes[1], tally.said, "events: happened"),
        (axes[2], tally.orders, "order of the first two contacts"),
    ):
        p, hit = np.array([r[0] for r in rows]), np.array([r[1] for r in rows])
        edges = [0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.001]
        for lo, hi in itertools.pairwise(edges):
            on = (p >= lo) & (p < hi)
            if on.sum() >= 3:
                rate, n = hit[on].mean(), on.sum()
                axis.errorbar(
                    p[on].mean(), rate, yerr=np.sqrt(max(rate * (1 - rate), 0.25 / n) / n), fmt="o", color="C0"
                )
                axis.annotate(str(n), (p[on].mean(), rate), fontsize=8)
        axis.set(xlabel="probability said", ylabel="share true", title=name)
    for axis in axes:
        axis.plot([0, 1], [0, 1], "k:", lw=1)
    figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--eye", choices=EYES, default="overhead60")
    parser.add_argument("--shots", type=int, default=200)
    parser.add_argument("--breaks", type=int, default=40)
    parser.add_argument("--seed", type=int, default=20000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plots", type=Path)
    args = parser.parse_args()
    tally = measure(EYES[args.eye], args.shots, args.breaks, args.seed, args.out)
    print(json.dumps(report(tally)))
    if args.plots:
        plot(tally, f"{args.eye}, {args.shots} shots, {args.breaks} breaks", args.plots / f"calibration-{args.eye}.png")


if __name__ == "__main__":
    main()
