// Takes a join code, by hand or from the link of the wall's QR code, and goes on.
import { $, post, speakIn, theme, toast } from "/static/common.js";

theme();
const browser = navigator.language.slice(0, 2);
await speakIn(["en", "hu", "et"].includes(browser) ? browser : "en");
const pages = ["wall", "phone", "overlay", "setup", "matches"];
const wanted = new URLSearchParams(location.search).get("to");
const goal = pages.includes(wanted) ? wanted : "phone";

async function join(code) {
  try {
    await post("/api/join", { code });
    location.replace(`/${goal}`);
  } catch (error) {
    toast(error.message, true);
  }
}

$("form").addEventListener("submit", (event) => {
  event.preventDefault();
  join($("code").value);
});
if (location.hash.length > 1) {
  const code = location.hash.slice(1);
  history.replaceState(null, "", location.pathname + location.search);
  join(code);
}
$("code").focus();
