"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const runs = JSON.parse(document.getElementById("runs").textContent);
  const $ = (id) => document.getElementById(id);

  // Text only ever enters the page as text nodes and attribute values, never as markup.
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const shape = (name, attributes = {}, text) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  const counted = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;

  const unpack = async (number) => {
    const packed = Uint8Array.from(atob($(`d-${number}`).textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  };

  const W = 320, H = 170, L = 34, R = 8, T = 8, B = 22;
  const chart = (label) => {
    const svg = shape("svg", { viewBox: `0 0 ${W} ${H}`, class: "chart", role: "img", "aria-label": label });
    svg.append(shape("path", { class: "frame", d: `M${L},${T}V${H - B}H${W - R}` }));
    return svg;
  };
  const short = (value) => Number(value.toPrecision(3)).toString();
  const scale = (low, high) => (v) => L + (W - L - R) * Math.min(1, Math.max(0, (v - low) / (high - low)));
  const height = (top) => (v) => H - B - (H - B - T) * Math.min(1, v / top);
  const labels = (svg, low, high, top) => {
    const y = H - 7;
    svg.append(shape("text", { x: L, y }, short(low)),
      shape("text", { x: (L + W - R) / 2, y, "text-anchor": "middle" }, short((low + high) / 2)),
      shape("text", { x: W - R, y, "text-anchor": "end" }, short(high)),
      shape("text", { x: L - 4, y: T + 8, "text-anchor": "end" }, top),
      shape("text", { x: L - 4, y: H - B, "text-anchor": "end" }, "0"));
  };
  const path = (points) => `M${points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join("L")}`;

  const interpolated = (data, at, side) => {
    const { x, y } = data;
    if (at < x[0]) return y[0];
    for (let i = 1; i < x.length; i++) {
      if (x[i] === at && x[i - 1] === at) return side < 0 ? y[i - 1] : y[i];
      if (x[i] > at) return x[i] === x[i - 1] ? y[i] : y[i - 1] + (y[i] - y[i - 1]) * (at - x[i - 1]) / (x[i] - x[i - 1]);
    }
    return y[y.length - 1];
  };

  const ecdf = (data, run) => {
    const x = scale(data.lo, data.hi), y = height(1);
    const valid = run.c.reduce((a, b) => a + b, 0), n = run.w ? run.n : valid;
    const say = run.d === null ? "" : `, largest distance ${run.d.toFixed(3)}`;
    const svg = chart(`Cumulated share of the answers against the law${say}`);
    const low = [[L, y(0)]], high = [[L, y(run.w / n)]];
    let sum = 0;
    run.v.forEach((value, i) => {
      const px = x(value);
      low.push([px, y(sum / n)], [px, y((sum + run.c[i]) / n)]);
      high.push([px, y((sum + run.w) / n)], [px, y((sum + run.c[i] + run.w) / n)]);
      sum += run.c[i];
    });
    low.push([W - R, y(sum / n)]);
    high.push([W - R, y((sum + run.w) / n)]);
    if (run.w) svg.append(shape("path", { class: "band", d: path([...low, ...high.reverse()]) + "Z" }));
    svg.append(shape("path", { class: "law", d: path(data.x.map((v, i) => [x(v), y(data.y[i])])) }));
    if (valid) svg.append(shape("path", { class: "line", d: path(low) }));
    if (run.at !== null && run.d !== null) {
      const px = x(run.at), law = interpolated(data, run.at, run.sign);
      const other = Math.min(1, Math.max(0, law + (run.sign < 0 ? -run.d : run.d)));
      svg.append(shape("path", { class: "gap", d: `M${px},${y(law)}V${y(other)}` }));
      const right = px < W * 0.6;
      svg.append(shape("text", { class: "gaptext", x: right ? px + 6 : px - 6, y: (y(law) + y(other)) / 2 + 4, "text-anchor": right ? "start" : "end" }, `D = ${run.d.toFixed(2)}`));
    }
    labels(svg, data.lo, data.hi, "1");
    return svg;
  };

  const histogram = (data, run) => {
    const n = Math.max(1, run.c.reduce((a, b) => a + b, 0));
    const top = Math.max(1e-9, ...data.mass, ...run.h.map((c) => c / n));
    const x = scale(data.edges[0], data.edges[data.edges.length - 1]), y = height(top);
    const svg = chart("Histogram of the answers; the outline is what the law expects");
    const outline = [];
    run.h.forEach((count, i) => {
      const left = x(data.edges[i]), right = x(data.edges[i + 1]);
      svg.append(shape("rect", { class: "bar", x: left, width: Math.max(0.5, right - left - 0.5), y: y(count / n), height: H - B - y(count / n) }));
      outline.push([left, y(data.mass[i])], [right, y(data.mass[i])]);
    });
    svg.append(shape("path", { class: "expected", d: path(outline) }));
    labels(svg, data.edges[0], data.edges[data.edges.length - 1], short(top));
    return svg;
  };

  const pit = (run) => {
    const top = Math.max(0.2, ...run.pit), x = scale(0, 1), y = height(top);
    const svg = chart(`PIT histogram, shares in tenths of the law: ${run.pit.map((s) => s.toFixed(2)).join(", ")}`);
    run.pit.forEach((share, i) => {
      const left = x(i / run.pit.length);
      svg.append(shape("rect", { class: "bar", x: left, width: (W - L - R) / run.pit.length - 1, y: y(share), height: H - B - y(share) }));
    });
    svg.append(shape("path", { class: "expected", d: `M${L},${y(1 / run.pit.length)}H${W - R}` }));
    labels(svg, 0, 1, short(top));
    return svg;
  };

  const cell = (name, text, attributes = {}) => make(name, attributes, String(text));
  const table = (caption, heads, rows, attributes = {}) => make("table", attributes,
    cell("caption", caption),
    make("thead", {}, make("tr", {}, ...heads.map((head) => cell("th", head, { scope: "col", class: head === "Times" || head === "Answers" || head === "Law" || head.endsWith(".") ? "num" : "" })))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row))));
  const heat = (share) => `num h${Math.round(Math.min(1, Math.max(0, share)) * 10)}`;
  const percent = (share) => (100 * share).toFixed(0);

  const outcomes = (data, run) => {
    const n = Math.max(1, run.n);
    const rows = data.o.map((name, i) => [make("th", { scope: "row" }, make("bdi", {}, name)),
      cell("td", percent(run.k[i] / n), { class: heat(run.k[i] / n) }),
      cell("td", (100 * data.p[i]).toFixed(1), { class: "num" })]);
    const rest = data.rest ? `, and ${data.rest} others not shown` : "";
    return table(`Outcomes in % of all answers${rest}`, ["Outcome", "Answers", "Law"], rows, { class: "outcomes" });
  };
  const positions = (data, run) => {
    const n = Math.max(1, run.places[0].reduce((a, b) => a + b, 0));
    const rows = run.places.map((row, i) => [make("th", { scope: "row" }, make("bdi", {}, data.items[i])),
      ...row.map((count) => cell("td", percent(count / n), { class: heat(count / n) }))]);
    return table(`Item by position, % of valid answers (even: ${percent(1 / run.places.length)}); ${run.used[0]} of ${run.used[1]} orders used`,
      ["Item", ...run.places.map((_, i) => `${i + 1}.`)], rows);
  };

  const answers = (run) => {
    const rows = run.a.map(([text, count, status, value, reason]) => [
      make("td", {}, text === null || text === "" ? make("em", {}, text === null ? "no text" : "empty") : make("bdi", {}, text)),
      cell("td", count, { class: "num" }),
      make("td", {}, status + " ", make("bdi", {}, value), make("small", {}, reason))]);
    const more = run.more ? `, ${run.more} rarer ones not shown` : "";
    return make("div", { class: "long", tabindex: "0", role: "region", "aria-label": "Answers" },
      table(`${counted(run.a.length + run.more, "different answer")}${more}`, ["Answer", "Times", "Read as"], rows, { class: "answers" }));
  };

  const card = (data, run, i) => {
    const box = make("article", { class: `card s${i % 8}` },
      make("h3", {}, cell("span", runs[i].key, { class: `key s${i % 8}` }), ` ${runs[i].label}`));
    if (run === null) {
      box.append(cell("p", "No answers stored here."));
      return box;
    }
    box.append(cell("p", run.say));
    if (run.word) box.append(cell("p", `Diagnosis: ${run.word}`));
    if (data.kind === "number") {
      const out = run.out[0] + run.out[1];
      box.append(cell("h4", "Answers (colour) against the law (line)"), ecdf(data, run),
        cell("h4", `Histogram${out ? `, ${counted(run.out[0], "answer")} below and ${run.out[1]} above` : ""}`), histogram(data, run),
        cell("h4", "PIT"), pit(run));
    } else {
      if (run.places) box.append(positions(data, run));
      box.append(outcomes(data, run));
    }
    box.append(answers(run));
    return box;
  };

  const draw = async (task) => {
    if (task.dataset.drawn) return;
    task.dataset.drawn = "yes";
    const data = await unpack(task.id.slice(2));
    const detail = make("div", { class: "detail" }, make("p", {}, `Law: ${data.law}`), make("pre", { class: "prompt" }, data.q));
    if (data.why) detail.append(make("p", { class: "sub" }, data.why));
    detail.append(make("div", { class: "cards" }, ...data.runs.map((run, i) => card(data, run, i))));
    task.append(detail);
    task.dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
  };

  const list = $("list"), tasks = [...list.children];
  const rates = new Map(tasks.map((task) => [task, task.dataset.rates.split(",").map((v) => (v === "" ? null : Number(v)))]));
  const matches = (task) => {
    const rate = rates.get(task)[Number($("run").value)] ?? null, result = $("result").value;
    const words = $("search").value.toLowerCase().split(/\s+/);
    return ["category", "support"].every((key) => !$(key).value || task.dataset[key] === $(key).value)
      && words.every((word) => task.dataset.search.includes(word))
      && (!result || (result === "none" ? rate === null : rate !== null && (rate >= 50) === (result === "pass")));
  };
  const gap = (task) => {
    const known = rates.get(task).filter((v) => v !== null);
    return known.length ? Math.max(...known) - Math.min(...known) : -1;
  };
  const sorted = () => {
    const order = $("order").value, run = Number($("run").value);
    if (order === "gap") return [...tasks].sort((a, b) => gap(b) - gap(a));
    if (order === "low") return [...tasks].sort((a, b) => (rates.get(a)[run] ?? 101) - (rates.get(b)[run] ?? 101));
    return tasks;
  };
  const filter = () => {
    let shown = 0;
    for (const task of tasks) {
      task.hidden = !matches(task);
      shown += !task.hidden;
    }
    $("count").textContent = `${shown} of ${tasks.length} tasks`;
  };
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  $("filters").addEventListener("input", (event) => {
    if (["order", "run"].includes(event.target.id)) list.append(...sorted());
    filter();
  });
  // "toggle" does not bubble; capturing sees it.
  list.addEventListener("toggle", (event) => {
    if (event.target.open && event.target.classList.contains("task")) draw(event.target);
  }, true);
  $("theme").addEventListener("change", (event) => {
    document.documentElement.dataset.theme = event.target.value;
  });
  const follow = () => {
    const target = /^#t-\d+$/.test(location.hash) ? $(location.hash.slice(1)) : null;
    if (target) {
      target.hidden = false;
      target.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", follow);
  follow();
})();
