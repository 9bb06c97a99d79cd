// The browser's own voice. Sentences wait for one another; when people cannot keep up, old ones are left out.

let on = remembered();
let foulsOnly = false;
const waiting = [];
let speaking = false;

function remembered() {
  try {
    return localStorage.getItem("voice") !== "0";
  } catch {
    return true;
  }
}

export const voiceOn = () => on && "speechSynthesis" in window;

export function startVoice(wanted) {
  on = wanted;
  try {
    localStorage.setItem("voice", on ? "1" : "0");
  } catch {
    /* it holds for this visit */
  }
  if (!on) {
    waiting.length = 0;
    window.speechSynthesis?.cancel();
  } else if (window.speechSynthesis) window.speechSynthesis.speak(new SpeechSynthesisUtterance("")); // the tap unlocks the voice
}

export function setFoulsOnly(only) {
  foulsOnly = only;
}

export function speak(message) {
  if (!voiceOn() || (foulsOnly && !message.foul) || !message.volume) return;
  waiting.push(message);
  while (waiting.length > 3) waiting.shift();
  if (!speaking) next();
}

function next() {
  const message = waiting.shift();
  if (!message) return;
  speaking = true;
  const sentence = new SpeechSynthesisUtterance(message.text);
  sentence.lang = { en: "en-GB", hu: "hu-HU", et: "et-EE" }[message.language] ?? message.language;
  sentence.volume = message.volume / 100;
  const voice = window.speechSynthesis.getVoices().find((v) => v.lang.toLowerCase().startsWith(message.language));
  if (voice) sentence.voice = voice;
  let done = false;
  const finish = () => {
    if (done) return;
    done = true;
    speaking = false;
    next();
  };
  sentence.onend = finish;
  sentence.onerror = finish;
  setTimeout(finish, 12000); // some browsers forget to say that they are done
  window.speechSynthesis.speak(sentence);
}
