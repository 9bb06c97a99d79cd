"use strict";
(() => {
  const film = document.getElementById("film");
  const controls = document.getElementById("film-controls");
  if (film && controls) {
    const frame = 1 / 30;
    const playButton = controls.querySelector('[data-do="play"]');
    const full = controls.querySelector('[data-do="full"]');
    const at = document.getElementById("film-at");
    controls.hidden = false;
    film.controls = false; // the browser's own would lie over the ruler in the picture
    full.hidden = !(film.requestFullscreen || film.webkitEnterFullscreen);
    const toggle = () => { if (film.paused) film.play().catch(() => {}); else film.pause(); };
    const step = (n) => {
      film.pause();
      const now = Math.floor(film.currentTime / frame + 1e-3);
      film.currentTime = Math.min(Math.max(0, (now + n + 0.5) * frame), film.duration || Infinity);
    };
    const label = () => {
      playButton.querySelector("path").setAttribute("d", film.paused ? "M5 3v14l11-7z" : "M4 3h4v14H4zM12 3h4v14h-4z");
      playButton.setAttribute("aria-label", film.paused ? playButton.dataset.play : playButton.dataset.pause);
    };
    ["play", "pause"].forEach((name) => film.addEventListener(name, label));
    ["timeupdate", "seeked"].forEach((name) => film.addEventListener(name, () => {
      if (film.duration) at.value = String(Math.round((1000 * film.currentTime) / film.duration));
    }));
    at.addEventListener("input", () => {
      film.pause();
      if (film.duration) film.currentTime = (film.duration * Number(at.value)) / 1000;
    });
    film.addEventListener("click", toggle);
    controls.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      if (button.dataset.rate) {
        film.playbackRate = Number(button.dataset.rate);
        controls.querySelectorAll("[data-rate]").forEach((b) => b.setAttribute("aria-pressed", String(b === button)));
      }
      if (button.dataset.do === "back") step(-1);
      if (button.dataset.do === "forward") step(1);
      if (button.dataset.do === "play") toggle();
      if (button === full) { if (film.requestFullscreen) film.requestFullscreen().catch(() => {}); else film.webkitEnterFullscreen(); }
    });
  }
  const whatIf = document.getElementById("what-if");
  if (whatIf) {
    const buttons = [...whatIf.querySelectorAll("[data-if]")];
    const outcomes = [...whatIf.querySelectorAll("[data-outcome]")];
    const show = (n) => {
      buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.if === n)));
      outcomes.forEach((o) => { o.hidden = o.dataset.outcome !== n; });
    };
    whatIf.querySelector(".choices").hidden = false;
    whatIf.addEventListener("click", (event) => {
      const button = event.target.closest("[data-if]");
      if (button) show(button.dataset.if);
    });
    if (buttons.length) show(buttons[0].dataset.if);
  }
})();
