"""Measures tracking on simulated shots, and plots whether its sigmas and probabilities are true.

    python tests/tracking/bench.py [--eye overhead60|oblique30|both] [--shots N] [--breaks N] [--seed N] [--jobs N]
                                   [--list] [--out DIR] [--plots DIR] [--again DIR]

``--out`` writes EYE/NAME.truth.json and EYE/NAME/match.json, the pairs that a scorer of match.json files takes. ``--list``
names every event missed and invented, with what else happened to its balls then. ``--plots`` writes ``calibration-EYE.png``. ``--again DIR`` counts
what a run wrote with ``--out``, instead of simulating: one that was cut short, or for other plots.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import itertools

from results import match_json
from simulated import OBLIQUE_30, OVERHEAD_60, observe, simulate

from tracking.analyse import analyse

EYES = {"overhead60": OVERHEAD_60, "oblique30": OBLIQUE_30}
CLOSE_S = 0.05
APART = 4.0  # sigmas between two contacts beyond which their order is no question
EVERY = 24  # scenes between interim reports
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
    failures: list[str] = field(default_factory=list)
    scenes: int = 0
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


def described(event: dict[str, Any], others: list[dict[str, Any]]) -> str:
    """An event, and what really happened to its balls within 40 ms."""

    def balls(e: dict[str, Any]) -> list[int]:
        return list(e["balls"]) if e["kind"] == "contact" else [e["ball"]]

    near = [
        f"{o['kind']} {balls(o)} {1e3 * (o['t_s'] - event['t_s']):+.1f} ms"
        for o in others
        if o is not event and set(balls(o)) & set(balls(event)) and abs(o["t_s"] - event["t_s"]) < 0.04
    ]
    return f"{event['kind']} {balls(event)} at {event['t_s']:.4f} s; near it: {', '.join(near) or 'nothing'}"


def orders(want: list[dict[str, Any]], found: dict[str, Any]) -> list[tuple[float, bool]]:
    """How likely two close contacts of a shot were in the order told, by what was said or by their sigmas, and whether they were.

    Contacts that share a ball have a probability of their own; others are timed apart from each other. Left out: pairs of balls
    that touched more than once just then.
    """
    out = []
    for shot in found["shots"]:
        said = {tuple(k["events"]): k["p"] for k in shot.get("order", [])}
        told = []
        for i, e in enumerate(shot["events"]):
            near = [w for w in want if same(w, e) and abs(w["t_s"] - e["t_s"]) <= CLOSE_S]
            if e["kind"] == "contact" and e["p"] >= 0.5 and len(near) == 1:
                told.append((i, e, near[0]["t_s"]))
        for (i, one, first_s), (j, two, second_s) in itertools.combinations(told, 2):
            z = (two["t_s"] - one["t_s"]) / math.hypot(one["sigma_s"], two["sigma_s"])
            p = said.get((i, j), 0.5 * (1 + math.erf(z / math.sqrt(2))))
            if z < APART:
                out.append((p, first_s < second_s))
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
                if g["p"] < 0.5:
                    tally.failures.append(f"doubted p={g['p']:.2f} {described(e, want)}")
            else:
                tally.failures.append(f"missed {described(e, want)}")
        tally.said += [(g["p"], False) for g in mine]
        tally.failures += [f"invented p={g['p']:.2f} {described(g, want)}" for g in mine if g["p"] >= 0.5]
    cue = sorted((e["t_s"], max(e["balls"])) for e in want if e["kind"] == "contact" and 0 in e["balls"])
    seen = sorted(
        (e["t_s"], max(e["balls"])) for e in got if e["kind"] == "contact" and 0 in e["balls"] and e["p"] >= 0.5
    )
    if len(cue) < 2 or cue[1][0] - cue[0][0] > 0.003:
        tally.first[1] += 1
        tally.first[0] += (seen[0][1] if seen else None) == (cue[0][1] if cue else None)
    tally.orders += orders(want, found)
    assert hits == sorted(hits)


Seen = tuple[dict[str, Any], dict[str, Any], float, int]  # truth, result, CPU seconds, frames


def watch(task: tuple[int, bool, tuple[str, ...]]) -> dict[str, Seen]:
    """One scene simulated, seen through each eye and read."""
    seed, breaks, eyes = task
    scene = simulate(seed, breaks=breaks)
    out: dict[str, Seen] = {}
    for name in eyes:
        observations = observe(scene, EYES[name], seed)
        began = time.process_time()
        found = match_json(analyse(observations, scene.table).shots, scene.table)
        out[name] = scene.truth, found, time.process_time() - began, round(observations[-1].t_s * EYES[name].fps)
    return out


def measure(
    eyes: tuple[str, ...], shots: int, breaks: int, seed: int, *, jobs: int = 1, out: Path | None = None, listed: bool = False
) -> dict[str, Tally]:  # fmt: skip
    tallies = {name: Tally() for name in eyes}
    # breaks among the shots, so that a run cut short says something of both
    order = sorted(range(shots + breaks), key=lambda k: (k + 0.5) / shots if k < shots else (k - shots + 0.5) / breaks)
    tasks = [(seed + k, k >= shots, eyes) for k in order]
    with multiprocessing.get_context("spawn").Pool(jobs) as pool:
        for done, ((number, broke, _), seen) in enumerate(zip(tasks, pool.imap(watch, tasks), strict=True), 1):
            name = f"{'break' if broke else 'shot'}{number:05d}"
            for eye, (truth, found, cpu_s, frames) in seen.items():
                tally = tallies[eye]
                tally.cpu_s += cpu_s
                tally.frames += frames
                tally.scenes += 1
                before = len(tally.failures)
                count(tally, truth, found, broke)
                if listed:
                    for line in tally.failures[before:]:
                        print(eye, name, line, flush=True)
                if out is not None:
                    (out / eye / name).mkdir(parents=True, exist_ok=True)
                    (out / eye / f"{name}.truth.json").write_text(json.dumps(truth))
                    (out / eye / name / "match.json").write_text(json.dumps(found))
            if done % EVERY == 0 and done < len(tasks):
                for eye, tally in tallies.items():
                    print(f"after {done} scenes", eye, json.dumps(report(tally)), flush=True)
    return tallies


def reread(folder: Path) -> Tally:
    """What a run with ``--out`` left behind, whole or cut short, counted again (without its cost)."""
    tally = Tally()
    for path in sorted(folder.glob("*.truth.json")):
        name = path.name.removesuffix(".truth.json")
        result = folder / name / "match.json"
        if result.exists():
            count(tally, json.loads(path.read_text()), json.loads(result.read_text()), name.startswith("break"))
            tally.scenes += 1
    return tally


def report(tally: Tally) -> dict[str, Any]:
    pulls = np.abs(tally.pulls)
    if not tally.errors:
        return {}
    f1 = {k: round(2 * h / max(w + s, 1), 4) for k, (h, w, s) in tally.counts.items()}
    errors = 1e3 * np.array(tally.errors)
    return {
        "f1": f1, "first_contact": tally.first, "time_error_ms": {"median": round(float(np.median(errors)), 2), "p95": round(float(np.percentile(errors, 95)), 2)},
        "within_sigma": {"1": round(float((pulls < 1).mean()), 3), "2": round(float((pulls < 2).mean()), 3)},
        "scenes": tally.scenes, "ms_a_frame": round(1e3 * tally.cpu_s / max(tally.frames, 1), 2),
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
        (axes[2], tally.orders, "order of two close contacts"),
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
    parser.add_argument("--eye", choices=[*EYES, "both"], default="overhead60")
    parser.add_argument("--shots", type=int, default=200)
    parser.add_argument("--breaks", type=int, default=40)
    parser.add_argument("--seed", type=int, default=20000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--plots", type=Path)
    parser.add_argument("--again", type=Path, help="count what a run wrote with --out, instead of simulating")
    args = parser.parse_args()
    eyes = tuple(EYES) if args.eye == "both" else (args.eye,)
    tallies = (
        {eye: reread(args.again / eye) for eye in eyes}
        if args.again
        else measure(eyes, args.shots, args.breaks, args.seed, jobs=args.jobs, out=args.out, listed=args.list)
    )
    for eye, tally in tallies.items():
        print(eye, json.dumps(report(tally)))
        if args.plots:
            args.plots.mkdir(parents=True, exist_ok=True)
            plot(tally, f"{eye}, {tally.scenes} scenes", args.plots / f"calibration-{eye}.png")


if __name__ == "__main__":
    main()
