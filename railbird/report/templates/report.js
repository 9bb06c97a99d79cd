"use strict";
(() => {
  const video = document.getElementById("video");
  if (!video) return;
  const stage = document.getElementById("stage");
  const player = document.getElementById("player");
  const controls = document.getElementById("controls");
  const where = document.getElementById("where");
  const playButton = controls.querySelector('[data-do="play"]');
  const closeButton = controls.querySelector('[data-do="close"]');
  const frame = Number(video.dataset.frame) || 1 / 30;
  const shots = [...document.querySelectorAll("article.shot")];
  let stopAt = Infinity;
  let opener = null;

  controls.hidden = false;
  document.querySelectorAll("[data-watch]").forEach((b) => { b.hidden = false; });

  const setRate = (rate) => {
    video.playbackRate = rate;
    controls.querySelectorAll("[data-rate]").forEach((b) => {
      b.setAttribute("aria-pressed", String(Number(b.dataset.rate) === rate));
    });
  };
  const play = () => { const begun = video.play(); if (begun) begun.catch(() => {}); };
  const seek = (t) => { video.currentTime = Math.max(0, t); };
  const step = (n) => {
    video.pause();
    stopAt = Infinity;
    // Half a frame past the boundary, or rounding could show the same frame again.
    const at = Math.floor(video.currentTime / frame + 1e-3);
    seek((at + n + 0.5) * frame);
  };
  const watch = (shot, rate) => {
    stopAt = Number(shot.dataset.stop);
    setRate(rate || 1);
    // The place in the page keeps its height, or everything would jump under the reader's finger.
    stage.style.minHeight = stage.offsetHeight + "px";
    player.classList.add("floating");
    closeButton.hidden = false;
    seek(Number(shot.dataset.start));
    play();
  };
  const close = () => {
    video.pause();
    player.classList.remove("floating");
    stage.style.minHeight = "";
    closeButton.hidden = true;
    if (opener) opener.focus();
  };
  const neighbour = (way) => {
    const now = video.currentTime;
    const starts = shots.map((s) => Number(s.dataset.start));
    let i = way > 0 ? starts.findIndex((t) => t > now + 0.05) : starts.findLastIndex((t) => t < now - 1);
    if (i < 0) i = way > 0 ? shots.length - 1 : 0;
    stopAt = Infinity;
    if (shots[i]) seek(starts[i]);
  };
  const clock = (t) => {
    const m = Math.floor(t / 60), s = t - 60 * m;
    return m + ":" + s.toFixed(2).padStart(5, "0");
  };
  const show = () => {
    where.textContent = clock(video.currentTime);
    if (!video.paused && video.currentTime >= stopAt) { video.pause(); stopAt = Infinity; }
  };
  ["timeupdate", "seeked", "loadedmetadata"].forEach((name) => video.addEventListener(name, show));
  const label = () => {
    playButton.querySelector("path").setAttribute("d", video.paused ? "M5 3v14l11-7z" : "M4 3h4v14H4zM12 3h4v14h-4z");
    playButton.setAttribute("aria-label", video.paused ? playButton.dataset.play : playButton.dataset.pause);
  };
  ["play", "pause"].forEach((name) => video.addEventListener(name, label));

  controls.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.rate) setRate(Number(button.dataset.rate));
    switch (button.dataset.do) {
      case "play": if (video.paused) play(); else video.pause(); break;
      case "back": step(-1); break;
      case "forward": step(1); break;
      case "previous": neighbour(-1); break;
      case "next": neighbour(1); break;
      case "close": close(); break;
    }
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-watch]");
    if (!button) return;
    opener = button;
    watch(document.getElementById(button.dataset.watch), Number(button.dataset.slow));
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea, summary")) return;
    if (event.key === ",") step(-1);
    else if (event.key === ".") step(1);
    else if (event.key === "Escape" && player.classList.contains("floating")) close();
  });
})();
