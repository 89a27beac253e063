"use strict";
// The page of `allways serve`: an editor whose program is checked by the server; what comes back is drawn by report.js.
(() => {
  const by = (id) => document.getElementById(id);
  const [program, numbers, status, errors, report] = ["program", "numbers", "status", "errors", "report"].map(by);
  const session = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  let running = false;

  function number() {
    const count = program.value.split("\n").length;
    numbers.textContent = Array.from({ length: count }, (_, index) => index + 1).join("\n") + "\n\n";
    numbers.scrollTop = program.scrollTop;
  }

  async function ask(path, body) {
    const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    return answer.json();
  }

  function busy(now) {
    running = now;
    by("check").disabled = now;
    by("cancel").disabled = !now;
  }

  // Puts the cursor at a line and column of the program.
  function jump(line, column) {
    const before = program.value.split("\n").slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    program.focus();
    program.setSelectionRange(before + column - 1, before + column);
    program.scrollTop = Math.max(0, (line - 4) * 1.5 * parseFloat(getComputedStyle(program).fontSize));
    number();
  }

  function complain(error) {
    const item = Allways.make("li", {});
    if (error.line) {
      item.append(Allways.make("button", { type: "button", onclick: () => jump(error.line, error.column) }, `line ${error.line}, column ${error.column}`), " ");
    }
    item.append(error.message);
    if (error.help) item.append(Allways.make("div", { class: "quiet" }, error.help));
    return item;
  }

  async function check() {
    if (running) return;
    busy(true);
    errors.replaceChildren();
    report.replaceChildren();
    status.textContent = "Checking …";
    try {
      const seconds = Number(by("seconds").value);
      const rules = hasRules();
      const answer = await ask("check", { session, program: program.value, notation: by("notation").value,
        threads: by("threads").value.trim(), init: rules ? by("init").value : "", never: rules ? by("never").value : "",
        deadlock: by("deadlock").checked, timeout: seconds > 0 ? seconds : null });
      if (answer.verdict === "error") {
        errors.replaceChildren(...answer.errors.map(complain));
        status.textContent = "Not checked: the program has errors.";
      } else if (answer.verdict === "cancelled") status.textContent = "Cancelled.";
      else if (answer.verdict === "refused") status.textContent = `Not checked: ${answer.reason}.`;
      else {
        status.textContent = `${answer.verdict}, after ${answer.time}`;
        // What the server hears of it is its text, without a name.
        answer.sentence = answer.sentence.replaceAll("standard input", "this program");
        answer.file = "this program";
        Allways.show(report, answer);
      }
    } catch (failure) {
      status.textContent = `The server does not answer: ${failure.message}`;
    }
    busy(false);
  }

  function encode(text) {
    const bytes = new TextEncoder().encode(text);
    let binary = "";
    for (const byte of bytes) binary += String.fromCharCode(byte);
    return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  }

  function decode(text) {
    const binary = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
  }

  // Rules start somewhere, and must avoid something, that is not in their text.
  const hasRules = () => ["pds", "tts"].includes(by("notation").value);

  function noted() {
    by("rules").hidden = !hasRules();
  }

  function choose(notation) {
    by("notation").value = notation;
    if (!by("notation").value) by("notation").value = "aw";
    noted();
  }

  function share() {
    const parts = { program: encode(program.value) };
    if (by("notation").value !== "aw") parts.notation = by("notation").value;
    if (hasRules()) Object.assign(parts, { init: encode(by("init").value), never: encode(by("never").value) });
    location.hash = Object.entries(parts).map(([name, value]) => `${name}=${value}`).join("&");
    const told = () => { status.textContent = "The link is in the address bar, and copied."; };
    const kept = () => { status.textContent = "The link is in the address bar."; };
    if (navigator.clipboard) navigator.clipboard.writeText(location.href).then(told, kept);
    else kept();
  }

  function open() {
    const parts = Object.fromEntries(location.hash.slice(1).split("&").map((part) => part.split("=")));
    if (parts.program === undefined) return false;
    try {
      program.value = decode(parts.program);
      by("init").value = decode(parts.init || "");
      by("never").value = decode(parts.never || "");
      choose(parts.notation || "aw");
    } catch {
      status.textContent = "The link has no program.";
      return false;
    }
    number();
    return true;
  }

  program.addEventListener("input", number);
  program.addEventListener("scroll", () => { numbers.scrollTop = program.scrollTop; });
  by("check").addEventListener("click", check);
  by("cancel").addEventListener("click", () => ask("cancel", { session }).catch(() => {}));
  by("share").addEventListener("click", share);
  window.addEventListener("hashchange", open);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); check(); }
  });
  by("notation").addEventListener("change", noted);
  fetch("examples").then((answer) => answer.json()).then(({ examples, notations, seconds }) => {
    by("notation").append(...notations.map(([value, name]) => Allways.make("option", { value }, name)));
    const show = ({ name, text, init, never }) => {
      program.value = text;
      by("init").value = init;
      by("never").value = never;
      choose(name.split(".").pop());
      number();
    };
    by("seconds").max = String(seconds);
    by("seconds").value = String(Math.min(10, seconds));
    by("examples").append(...examples.map(({ name }) => Allways.make("option", { value: name }, name)));
    by("examples").addEventListener("change", () => {
      const chosen = examples.find(({ name }) => name === by("examples").value);
      if (chosen) show(chosen);
    });
    if (!open() && !program.value) {
      show(examples[0]);
      by("examples").value = examples[0].name;
    }
    number();
    document.body.dataset.ready = "yes";
  });
})();
