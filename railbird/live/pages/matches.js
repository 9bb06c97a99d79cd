// Past matches: go on with one, take its script or result away, read its report; clips in dispute; a clip to check.
import { $, make, fill, say, named, speakIn, theme, toJoin, get, post, ask, toast, joinByLink, rulingText, currentLanguage } from "/static/common.js";

theme();
await joinByLink();
const me = await get("/api/me").catch(() => ({ role: null }));
if (me.role === null) toJoin();
else await start();

async function start() {
  const state = await get("/api/state");
  await speakIn(state.language);
  const rows = await get("/api/matches");
  const day = new Intl.DateTimeFormat(state.language, { dateStyle: "medium", timeStyle: "short" });
  fill($("list"), ...(rows.length ? rows.map((row) => entry(row, state, day)) : [make("li", { class: "dim" }, say("nothing_here"))]));
  if (me.role !== "viewer") {
    await disputes(state);
    $("check").hidden = false;
    fill($("check").elements.namedItem("game"), ...["8-ball", "9-ball", "10-ball", "14.1"].map((code) => make("option", { value: code, selected: code === state.match?.game }, named("game", code))));
  }
}

function entry(row, state, day) {
  const playing = row.id === state.match_id && row.ended === null;
  const how = row.winner ? say("won_by", { player: row.winner }) : playing ? say("playing") : row.ended ? say("stopped") : "";
  const links = make("div", { class: "row" },
    make("a", { class: "button", href: `/api/matches/${row.id}/report` }, say("report")),
    make("a", { class: "button", href: `/api/matches/${row.id}/match.json` }, say("download")),
    make("a", { class: "button", href: `/api/matches/${row.id}/script` }, say("script")));
  if (me.role === "referee" && !playing && !row.winner)
    links.append(make("button", { onclick: async () => { try { await post(`/api/matches/${row.id}/resume`); location.href = "/phone"; } catch (error) { toast(error.message, true); } } }, say("resume")));
  return make("li", { class: "panel stack" }, make("b", {}, row.players.join(" – ")), make("span", { class: "dim" }, [day.format(new Date(row.began * 1000)), row.table, named("game", row.game), how].filter(Boolean).join(" · ")), links);
}

async function disputes(state) {
  const rows = await get("/api/disputes");
  $("kept").hidden = !rows.length;
  fill($("disputes"), ...rows.map((row) => make("li", { class: "panel stack" },
    make("span", {}, `${row.match} · ${row.shot}`), make("span", { class: "dim" }, row.text ?? ""),
    make("div", { class: "row" }, make("a", { class: "button", href: `/clips/${row.match}/${row.shot}.mp4` }, say("replay_clip")),
      me.role === "referee" ? make("button", { class: "bad", onclick: async () => { if (await ask({ do: "settle", dispute: row.id })) disputes(state); } }, say("settle")) : null))));
}

$("check").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const file = form.elements.namedItem("file").files[0];
  const query = new URLSearchParams({ at: form.elements.namedItem("at").value, game: form.elements.namedItem("game").value, language: currentLanguage() });
  const answer = $("answer");
  answer.textContent = say("checking");
  try {
    const response = await fetch(`/api/check?${query}`, { method: "POST", headers: { "x-railbird": "1", "content-type": "application/octet-stream" }, body: file });
    const found = await response.json();
    if (!response.ok) throw new Error(found.refused);
    fill(answer, make("b", {}, found.ruling ? rulingText(found.ruling) : String(found.answer)), " ", make("a", { href: found.page, target: "_blank", rel: "noopener" }, say("full_check")));
  } catch (error) {
    answer.textContent = `${say("check_failed")}: ${error.message}`;
  }
});
