// What all pages share: words, the socket with its reconnection, commands, light and dark.

export const $ = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") element.className = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  // Children are nodes or text; text is never read as markup, whatever name somebody gave himself.
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.filter((child) => child !== null && child !== undefined && child !== false));
}

// -- words --------------------------------------------------------------------------------------------------------
let words = {};
let language = "";
const endings = { 3: "as", 5: "ös", 6: "os", 8: "as", 13: "as", 15: "ös" };

export async function speakIn(wanted) {
  if (wanted === language) return;
  const answer = await fetch(`/words/${wanted}`);
  if (!answer.ok) return;
  words = await answer.json();
  language = wanted;
  document.documentElement.lang = wanted;
  for (const element of document.querySelectorAll("[data-word]")) element.textContent = say(element.dataset.word);
}

export function say(key, values = {}) {
  const text = words[key] ?? words[`live.${key}`] ?? key;
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));
}

export const named = (kind, code) => words[`${kind}.${code}`] ?? code;
export const currentLanguage = () => language;

export function ballName(ball) {
  if (Number(ball) === 0) return named("ball", "cue");
  return language === "hu" ? `${ball}-${endings[ball] ?? "es"}` : String(ball);
}

export function sureness(p) {
  if (p > 0.995) return say("sure", { p: say("over99") });
  const figure = Math.max(1, Math.round(100 * p));
  return say("sure", { p: language === "et" ? `${figure} %` : `${figure}%` });
}

export function callText(call) {
  if (!call) return "";
  if (typeof call === "string") return named("call", call);
  return `${ballName(call.ball)} → ${named("pocket", call.pocket)}`;
}

export function rulingText(ruling) {
  return ruling?.announce?.[language] || ruling?.announce?.en || "";
}

export function articleText(ruling) {
  const article = ruling.fouls?.find((foul) => foul.code === ruling.enforced)?.article ?? ruling.reason?.article;
  return article ? say("article", { rules: named("rules", ruling.rules), article }) : named("rules", ruling.rules);
}

export function doubtText(ruling) {
  const why = named("needs", ruling.needs_referee?.reason ?? "several-readings");
  return `${why.charAt(0).toUpperCase()}${why.slice(1)}. ${say("doubt_hint")}`;
}

export function remarkText(remark) {
  const values = { ...remark };
  if (remark.ball !== undefined) values.ball = ballName(remark.ball);
  if (remark.code === "choice-read") values.what = named("option", remark.what);
  return say(`remark_${remark.code}`, values);
}

export function nextText(match) {
  if (!match || match.winner) return "";
  if (!match.shooter) return "";
  const who = say(match.break ? "rack_ready" : "to_shoot", { player: match.shooter });
  return match.cue_ball === "as-lies" || match.break ? who : `${who} · ${named("cue", match.cue_ball)}`;
}

// -- asking -------------------------------------------------------------------------------------------------------
export class Refused extends Error {}

async function answerOf(response) {
  let body = {};
  try {
    body = await response.json();
  } catch {
    /* an answer without a body */
  }
  if (response.ok) return body;
  throw new Refused(response.status === 429 ? say("too_many") : (body.refused ?? String(response.status)));
}

export async function post(path, body = {}) {
  const headers = { "content-type": "application/json", "x-railbird": "1" };
  return answerOf(await fetch(path, { method: "POST", headers, body: JSON.stringify(body) }));
}

export const get = async (path) => answerOf(await fetch(path));

export async function ask(command) {
  try {
    const answer = await post("/api/do", command);
    return answer ?? {};
  } catch (error) {
    toast(error.message, true);
    return null;
  }
}

let toasting = 0;
export function toast(text, bad = false) {
  document.querySelector(".toast")?.remove();
  const element = make("div", { class: bad ? "toast bad" : "toast", role: "status" }, text);
  document.body.append(element);
  clearTimeout(toasting);
  toasting = setTimeout(() => element.remove(), bad ? 6000 : 2500);
}

// -- the socket ---------------------------------------------------------------------------------------------------
export function listen({ state, balls, spoken, away }) {
  let wait = 500;
  let socket = null;
  let heard = Date.now();
  const open = () => {
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/socket`);
    socket.onmessage = (event) => {
      heard = Date.now();
      wait = 500;
      offline(false);
      const message = JSON.parse(event.data);
      if (message.type === "state") state?.(message);
      else if (message.type === "balls") balls?.(message);
      else if (message.type === "say") spoken?.(message);
    };
    socket.onclose = async (event) => {
      offline(true);
      if (event.code === 4403 || event.code === 1006) {
        // Refused before it opened: perhaps the evening's cookie has run out.
        try {
          const me = await get("/api/me");
          if (me.role === null) {
            away?.();
            return;
          }
        } catch {
          /* the machine is off; keep trying */
        }
      }
      setTimeout(open, wait * (0.7 + 0.6 * Math.random()));
      wait = Math.min(8000, wait * 1.7);
    };
  };
  open();
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && socket?.readyState === WebSocket.OPEN && Date.now() - heard > 60000) socket.close();
  });
}

function offline(is) {
  let bar = document.querySelector(".offline");
  if (is && !bar && !document.body.classList.contains("overlay")) {
    bar = make("div", { class: "offline", role: "alert" }, say("offline"));
    document.body.append(bar);
  } else if (!is && bar) bar.remove();
}

export function toJoin() {
  location.href = `/join?to=${encodeURIComponent(location.pathname.slice(1))}`;
}

// -- light and dark -----------------------------------------------------------------------------------------------
export function theme() {
  let chosen = null;
  try {
    chosen = localStorage.getItem("light");
  } catch {
    /* private windows may forbid it */
  }
  const bright = chosen === null ? matchMedia("(prefers-color-scheme: light)").matches : chosen === "1";
  document.documentElement.classList.toggle("light", bright);
}

export function turnTheme() {
  const bright = document.documentElement.classList.toggle("light");
  try {
    localStorage.setItem("light", bright ? "1" : "0");
  } catch {
    /* it holds for this visit */
  }
}

export function clockText(clock, at) {
  if (!clock) return "";
  const gone = clock.runs ? (Date.now() - at) / 1000 : 0;
  return String(Math.max(0, Math.ceil(clock.left_s - gone)));
}

// A link that ends in #CODE joins by itself: the wall's QR code, a browser source.
export async function joinByLink() {
  if (location.hash.length < 2) return;
  const code = location.hash.slice(1);
  history.replaceState(null, "", location.pathname + location.search);
  try {
    await post("/api/join", { code });
  } catch {
    /* the page will ask for a code */
  }
}
