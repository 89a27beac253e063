"use strict";
// Draws a story (see story.rs) into an element. Texts of programs are only ever set as text, never as markup.
const Allways = (() => {
  const WINDOW = 400;

  // An element with attributes and children; a string among these becomes text.
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== false && value != null) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter((child) => child != null));
    return element;
  }

  function drawn(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  const plural = (count, thing) => `${count} ${thing}${count === 1 ? "" : "s"}`;

  function header(story) {
    return make("header", {},
      make("h1", {}, make("span", { class: `verdict ${story.verdict}` }, story.verdict), story.file),
      make("p", { id: "sentence" }, story.sentence),
      make("p", { class: "quiet" }, [...story.details, story.time].join(" · ")));
  }

  // What was assumed, and what is not followed.
  function remarks(story) {
    return make("section", { "aria-label": "Warnings" }, make("h2", {}, "Warnings"),
      make("ul", {}, ...story.warnings.map((warning) => make("li", {}, warning))));
  }

  // The program, line by line. `here` marks a line, `wrong` the one that is violated.
  function sourceView(text, wrong) {
    const list = make("ol", { class: "source" });
    const rows = text.replace(/\r?\n$/, "").split(/\r?\n/).map((line, index) => {
      const row = make("li", { id: `line-${index + 1}` },
        make("span", { class: "number", "aria-hidden": "true" }, String(index + 1)), make("span", {}, line || " "));
      if (index + 1 === wrong) row.classList.add("wrong");
      return row;
    });
    list.append(...rows);
    const box = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Program text" }, list);
    let last = null;
    function mark(line) {
      if (last) { last.classList.remove("here"); last.removeAttribute("aria-current"); }
      last = rows[line - 1] || null;
      if (!last) return;
      last.classList.add("here");
      last.setAttribute("aria-current", "true");
      reveal(box, last);
    }
    return { section: make("section", {}, make("h2", {}, "Program"), box), mark };
  }

  // Scrolls a box, and nothing else, until a row in it is seen, and a cell of the row.
  function reveal(box, row, cell) {
    const outer = box.getBoundingClientRect(), inner = row.getBoundingClientRect();
    let { scrollTop: top, scrollLeft: left } = box;
    const margin = Math.min(60, box.clientHeight / 4);
    const above = inner.top - outer.top + box.scrollTop;
    if (above < top + margin) top = Math.max(0, above - margin);
    else if (above + inner.height > top + box.clientHeight - margin) top = above + inner.height - box.clientHeight + margin;
    if (cell) {
      const { left: start, width } = cell.getBoundingClientRect();
      // The number of the step stays where it is.
      const before = start - outer.left + box.scrollLeft - row.cells[0].offsetWidth;
      if (before < left) left = before;
      else {
        const room = box.clientWidth - row.cells[0].offsetWidth;
        if (before + width > left + room) left = Math.min(before, before + width - room);
      }
    }
    // Both at once: one would end the other, where boxes scroll smoothly.
    box.scrollTo({ top, left });
  }

  // All states of a run; what does not change is shared between them.
  function statesOf(run) {
    const states = [{ shared: run.start.shared, threads: run.start.threads }];
    for (const step of run.steps) {
      const before = states[states.length - 1];
      const shared = Object.keys(step.shared).length === 0 ? before.shared
        : before.shared.map((pair, index) => index in step.shared ? [pair[0], step.shared[index]] : pair);
      const threads = Object.keys(step.threads).length === 0 ? before.threads
        : before.threads.map((thread, index) => index in step.threads ? step.threads[index] : thread);
      states.push({ shared, threads });
    }
    return states;
  }

  function runView(story) {
    const run = story.run;
    const states = statesOf(run);
    const last = run.steps.length;
    const moving = [...new Set(run.steps.map((step) => step.thread))].filter((thread) => thread != null).sort((a, b) => a - b);
    const lanes = moving.length > 0 ? moving : [null];
    const source = sourceView(story.source, run.line);
    let current = -1, from = 0, to = 0;
    let rows = new Map();

    const head = make("tr", {}, make("th", { scope: "col" }, "step"), make("th", { scope: "col" }, "line"),
      ...lanes.map((thread) => make("th", { scope: "col", class: "lane" }, thread == null ? "rule" : run.threads[thread])));
    const body = make("tbody");
    const table = make("table", { class: lanes.length > 6 ? "lanes crowded" : "lanes" },
      make("thead", {}, head), body);
    const legend = make("p", { class: "quiet", id: "legend" }, "One column for each thread that moves; a dashed line is a context switch.");
    const lanesBox = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Interleaving", "aria-describedby": "legend" }, table);

    function row(index) {
      const step = index > 0 ? run.steps[index - 1] : null;
      const cells = lanes.map((thread) => {
        const moves = step != null && step.thread === thread;
        return make("td", { class: moves ? "lane moves" : "lane" }, step == null || !moves ? "" : step.text);
      });
      if (step == null) cells[0].textContent = "(start)";
      const element = make("tr", { onclick: () => go(index) },
        make("td", { class: "number" }, String(index)), make("td", { class: "number" }, step && step.line ? String(step.line) : ""), ...cells);
      if (step && step.switch) element.classList.add("switch");
      return element;
    }

    function fill(center) {
      from = Math.max(0, Math.min(center - WINDOW / 2, last + 1 - WINDOW));
      to = Math.min(last + 1, from + WINDOW);
      rows = new Map();
      const drawnRows = [];
      if (from > 0) drawnRows.push(make("tr", {}, make("td", { colspan: lanes.length + 2, class: "quiet" }, `… ${plural(from, "row")} before`)));
      for (let index = from; index < to; index++) {
        const element = row(index);
        rows.set(index, element);
        drawnRows.push(element);
      }
      if (to <= last) drawnRows.push(make("tr", {}, make("td", { colspan: lanes.length + 2, class: "quiet" }, `… ${plural(last + 1 - to, "row")} more`)));
      else drawnRows.push(make("tr", { class: "end" }, make("td", { colspan: lanes.length + 2 }, run.end)));
      body.replaceChildren(...drawnRows);
    }

    const slider = make("input", { type: "range", min: "0", max: String(last), step: "1", value: "0", id: "slider", "aria-label": "Step" });
    slider.addEventListener("input", () => go(Number(slider.value)));
    const count = make("span", { class: "count", id: "count" });
    const button = (text, label, act) => make("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
    const switchFrom = (index, by) => {
      for (let at = index + by; at > 0 && at <= last; at += by) if (run.steps[at - 1].switch) return at;
      return by < 0 ? 0 : last;
    };
    const first = button("|◀", "First step (Home)", () => go(0));
    const back = button("◀", "Step back (left arrow)", () => go(current - 1));
    const on = button("▶", "Step on (right arrow)", () => go(current + 1));
    const end = button("▶|", "Last step (End)", () => go(last));
    const next = button("⇄", "Next context switch (Page Down)", () => go(switchFrom(current, 1)));
    const controls = make("div", { class: "controls", role: "group", "aria-label": "Stepping" }, first, back, on, end, next, slider, count);

    const what = make("p", { id: "what", "aria-live": "polite" });
    const changed = make("p", { id: "changed" });
    const shared = make("table", { class: "values", id: "shared" });
    const threads = make("div", { class: "threads", id: "threads" });

    function showState(index) {
      const state = states[index], step = index > 0 ? run.steps[index - 1] : null;
      if (step == null) {
        what.textContent = "At the start.";
        changed.textContent = "";
      } else {
        const who = step.thread == null ? "" : `${run.threads[step.thread]}, `;
        what.textContent = `Step ${index} of ${last}: ${who}line ${step.line}: ${step.text}`;
        changed.textContent = step.changed.length ? `Changed: ${step.changed.join(", ")}` : "Nothing changed.";
      }
      shared.replaceChildren(...state.shared.map(([name, value], number) =>
        make("tr", { class: step && number in step.shared ? "changed" : false },
          make("th", { scope: "row" }, make("code", {}, name)), make("td", {}, make("code", {}, value)))));
      threads.replaceChildren(...state.threads.map((thread, number) => threadView(thread, number, step)));
    }

    function threadView(thread, number, step) {
      const box = make("div", { class: "thread" }, make("h3", {}, run.threads[number]));
      if (step && step.thread === number) {
        box.classList.add("moved");
        box.firstChild.append(make("span", { class: "quiet" }, " moved"));
      }
      if (thread == null) box.append(make("p", { class: "quiet" }, "not started"));
      else if (thread.frames.length === 0) box.append(make("p", { class: "quiet" }, "empty stack"));
      else {
        const list = make("ol", { "aria-label": "Call stack, innermost first" });
        thread.frames.forEach((frame, depth) => {
          const where = frame.line === 0 ? "" : depth === 0 ? (thread.ended ? ", ended" : `, at line ${frame.line}`) : `, returns to line ${frame.line}`;
          const locals = frame.locals.map(([name, value]) => `${name} = ${value}`).join(", ");
          const item = make("li", {}, make("code", {}, frame.name), where);
          if (locals) item.append(make("br"), make("code", {}, locals));
          list.append(item);
          if (thread.left_out && depth === thread.frames.length / 2 - 1) list.append(make("li", { class: "quiet" }, `… ${plural(thread.left_out, "frame")} more`));
        });
        box.append(list);
      }
      return box;
    }

    function go(index) {
      index = Math.max(0, Math.min(last, index));
      if (index === current) return;
      if (current < 0 || index < from || index >= to) fill(index);
      const old = rows.get(current), fresh = rows.get(index);
      if (old) old.removeAttribute("aria-current");
      current = index;
      fresh.setAttribute("aria-current", "step");
      slider.value = String(index);
      slider.setAttribute("aria-valuetext", `step ${index} of ${last}`);
      count.textContent = `${index} / ${last}`;
      first.disabled = back.disabled = index === 0;
      on.disabled = end.disabled = next.disabled = index === last;
      showState(index);
      source.mark(index > 0 ? run.steps[index - 1].line : 0);
      reveal(lanesBox, fresh, fresh.querySelector(".moves"));
    }

    function key(event) {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const target = event.target;
      if (target.closest && target.closest("textarea, select, input:not([type=range]), [contenteditable]")) return;
      const moves = { ArrowLeft: () => current - 1, ArrowRight: () => current + 1, Home: () => 0, End: () => last,
        PageDown: () => switchFrom(current, 1), PageUp: () => switchFrom(current, -1) };
      if (!(event.key in moves)) return;
      event.preventDefault();
      go(moves[event.key]());
    }

    const still = run.threads.filter((_, thread) => !moving.includes(thread));
    const interleaving = make("section", { "aria-label": "Interleaving" }, make("h2", {}, "Interleaving"), controls, legend, lanesBox,
      still.length && moving.length ? make("p", { class: "quiet" }, `Not moving: ${still.join(", ")}`) : null,
      run.notes.length ? make("div", { class: "end" }, ...run.notes.map((note) => make("p", {}, note))) : null);
    const state = make("section", { "aria-label": "State" }, make("h2", {}, "State"), what, changed,
      make("h3", {}, "Shared"), state_is_empty(run) ? make("p", { class: "quiet" }, "no shared variables") : shared,
      run.threads.length ? make("h3", {}, "Threads") : null, threads);
    const grid = make("div", { class: "grid" },
      make("div", { class: "left" }, interleaving, source.section), make("div", { class: "right" }, state));
    return { element: grid, key, start: () => go(0) };
  }

  const state_is_empty = (run) => run.start.shared.length === 0;

  function proofView(story) {
    const proof = story.proof;
    const source = story.source ? sourceView(story.source, null) : null;
    const facts = [["holds for", proof.threads], ["certificate", `${proof.kind}, ${proof.size}`]];
    if (proof.against) facts.push(["checked against", `the ${proof.against}`]);
    const list = make("dl", {}, ...facts.flatMap(([term, text]) => [make("dt", {}, term), make("dd", {}, text)]));
    const cards = proof.places.map((place) => {
      const title = make("h3", {}, place.name);
      const card = make("div", { class: "place" }, title);
      if (place.line && source) {
        title.append(" ", make("button", { type: "button", "aria-label": `Show line ${place.line}`, onclick: () => source.mark(place.line) }, "↦"));
      }
      if (place.holds.length) card.append(make("ul", {}, ...place.holds.map((fact) => make("li", {}, make("code", {}, fact)))));
      else card.append(make("p", { class: "quiet" }, "nothing is known of the values"));
      if (place.others) {
        const others = place.others.length ? `Others may be at: ${place.others.join("; ")}` : "There is no other thread.";
        card.append(make("p", { class: "quiet" }, others));
      }
      return card;
    });
    const joined = ["invariant", "products", "counted"].includes(proof.kind);
    const proved = make("section", { "aria-label": "Proof" }, make("h2", {}, "What was proved"), list, make("p", {}, proof.meaning),
      joined ? make("p", { class: "quiet" }, "Steps of a thread that no other can tell apart count as one: what follows is about the states between them.") : null,
      cards.length ? make("h2", {}, "While a thread is at …") : null, make("div", { class: "places", id: "places" }, ...cards),
      proof.cut ? make("p", { class: "quiet" }, "There is more than is shown here; --evidence writes all of it.") : null);
    const grid = make("div", { class: "grid" }, proved, source ? source.section : null);
    return grid;
  }

  const seconds = (value) => value < 0.1 ? `${(value * 1000).toFixed(1)} ms` : `${value.toFixed(2)} s`;

  function enginesView(story) {
    const section = make("section", { "aria-label": "Engines" }, make("h2", {}, "Which engines ran"));
    if (story.engines.length) {
      const end = Math.max(...story.engines.map((run) => run.started + run.seconds), 1e-9);
      const rows = story.engines.map((run) => {
        const bar = drawn("svg", { viewBox: "0 0 200 12", width: "200", height: "12", role: "img", "aria-label": `from ${seconds(run.started)} for ${seconds(run.seconds)}` },
          drawn("rect", { class: "bar", x: 200 * run.started / end, y: 1, width: Math.max(2, 200 * run.seconds / end), height: 10 }));
        return make("tr", {}, make("td", {}, run.engine), make("td", {}, run.threads), make("td", { class: "figure" }, seconds(run.started)),
          make("td", { class: "figure" }, seconds(run.seconds)), make("td", {}, bar), make("td", {}, run.outcome));
      });
      const titles = ["engine", "threads", "after", "for", "when", "outcome"];
      section.append(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Runs of engines" }, make("table", { class: "engines" },
        make("thead", {}, make("tr", {}, ...titles.map((title) => make("th", { scope: "col", class: title === "after" || title === "for" ? "figure" : false }, title)))),
        make("tbody", {}, ...rows))));
    } else section.append(make("p", { class: "quiet" }, "None was needed."));
    if (story.growth.length > 1) {
      section.append(make("h3", {}, "States stored, over time"),
        plot([story.growth], seconds, `${story.growth[story.growth.length - 1][1]} states at the end`));
    }
    if (story.walk.length > 1) {
      const visible = story.walk.map((cell, index) => [index, cell.visible]);
      const abstract = story.walk.map((cell, index) => [index, cell.abstract]);
      const name = (index) => { const cell = story.walk[Math.round(index)]; return `${plural(cell.rounds, "round")}, ${plural(cell.delays, "delay")}`; };
      section.append(make("h3", {}, "Visible states, bound by bound (dashed: the bound from above)"),
        plot([visible, abstract], name, `from ${name(0)} to ${name(story.walk.length - 1)}`));
    }
    if (story.explanation) section.append(make("p", {}, story.explanation));
    return section;
  }

  // Lines over a common axis; the first and last values are named.
  function plot(lines, nameOf, label) {
    const [width, height, left, bottom] = [480, 180, 70, 24];
    const points = lines.flat();
    const x0 = Math.min(...points.map(([x]) => x)), x1 = Math.max(...points.map(([x]) => x));
    const most = Math.max(1, ...points.map(([, y]) => y));
    const x = (value) => left + (width - left - 10) * (x1 === x0 ? 0 : (value - x0) / (x1 - x0));
    const y = (value) => height - bottom - (height - bottom - 12) * value / most;
    const svg = drawn("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label },
      drawn("line", { class: "axis", x1: left, x2: width, y1: height - bottom, y2: height - bottom }),
      drawn("line", { class: "axis", x1: left, x2: left, y1: 0, y2: height - bottom }),
      drawn("text", { x: left - 6, y: 16, "text-anchor": "end" }, String(most)),
      drawn("text", { x: left - 6, y: height - bottom, "text-anchor": "end" }, "0"),
      drawn("text", { x: left, y: height - 6 }, nameOf(x0)),
      drawn("text", { x: width - 2, y: height - 6, "text-anchor": "end" }, nameOf(x1)));
    lines.forEach((line, index) => svg.append(drawn("polyline", { class: index ? "line second" : "line", points: line.map(([a, b]) => `${x(a).toFixed(1)},${y(b).toFixed(1)}`).join(" ") })));
    return svg;
  }

  let listener = null;

  function show(root, story) {
    if (listener) document.removeEventListener("keydown", listener);
    listener = null;
    const parts = [header(story)];
    if (story.warnings.length) parts.push(remarks(story));
    let start = null;
    if (story.run) {
      const view = runView(story);
      parts.push(view.element);
      start = view.start;
      listener = view.key;
      document.addEventListener("keydown", listener);
    } else if (story.proof) parts.push(proofView(story));
    else if (story.source) parts.push(sourceView(story.source, null).section);
    parts.push(enginesView(story));
    parts.push(make("footer", { class: "quiet" }, `allways ${story.version}`));
    root.replaceChildren(...parts);
    if (start) start();
  }

  return { show, make };
})();
if (document.getElementById("story")) {
  Allways.show(document.getElementById("report"), JSON.parse(document.getElementById("story").textContent));
}
