// Draws the curves of a run; asks the server for more detail where the reader zooms in.
"use strict";
(() => {
  const section = document.querySelector("[data-curves]");
  if (!section || typeof uPlot === "undefined") return;
  const room = section.querySelector(".curves");
  const remark = section.querySelector(".curves-remark");
  const colours = { light: ["#0072b2", "#d55e00", "#009e73", "#b0548a", "#8a6100", "#555b63", "#3c78d8"],
    dark: ["#56b4e9", "#ff9e5e", "#3fd0a4", "#e39ac6", "#e3b341", "#aab2bb", "#9fc1ff"] };
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let plots = [], shown = null, asked = 0, hidden = new Set();

  const ink = name => {
    // Canvas knows no light-dark(): let an element resolve it.
    const probe = document.createElement("i");
    probe.className = "ink-" + name;
    room.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const digits = value => Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
  const amount = (value, unit) => {
    if (value == null) return "-";
    if (unit === "cores") return digits(value) + (value === 1 ? " core" : " cores");
    for (const [size, prefix] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]])
      if (value >= size) return digits(value / size) + " " + prefix + unit;
    return digits(value) + " " + unit;
  };
  const moment = (value, fine) => {
    if (value == null) return "-";
    if (value < 120 || fine < 1) return Number(value.toPrecision(fine < 1 ? 8 : 5)) + " s";
    const whole = Math.round(value), pad = number => String(number).padStart(2, "0");
    const hours = Math.floor(whole / 3600), minutes = Math.floor(whole / 60) % 60;
    return (hours ? hours + ":" + pad(minutes) : minutes) + ":" + pad(whole % 60);
  };

  // Bands of the steps behind the curves, with their numbers, and of phases at the foot.
  const bands = {
    hooks: { drawClear: [plot => {
      const { ctx, bbox } = plot, left = at => plot.valToPos(at, "x", true);
      const box = (one, top, height, least) => {
        const from = Math.max(left(one.start_s), bbox.left);
        const to = Math.min(left(one.end_s ?? plot.scales.x.max), bbox.left + bbox.width);
        if (to >= bbox.left && from <= bbox.left + bbox.width) ctx.fillRect(from, top, Math.max(to - from, least), height);
        return [from, to];
      };
      ctx.save();
      ctx.font = `${Math.round(10 * devicePixelRatio)}px system-ui, sans-serif`;
      ctx.textAlign = "center"; ctx.textBaseline = "top";
      for (const step of shown.steps) {
        const good = ["completed", "tolerated", "under way"].includes(step.outcome);
        ctx.fillStyle = good ? colour("step") : colour("bad");
        ctx.globalAlpha = good ? (step.index % 2 ? .06 : .13) : .3;
        const [from, to] = box(step, bbox.top, bbox.height, 1);
        if (to - from > 16 * devicePixelRatio) {
          ctx.globalAlpha = 1; ctx.fillStyle = colour("quiet");
          ctx.fillText(step.index, (from + to) / 2, bbox.top + 2);
        }
      }
      ctx.globalAlpha = .5; ctx.fillStyle = colour("quiet");
      const thick = 3 * devicePixelRatio;
      for (const phase of shown.phases) box(phase, bbox.top + bbox.height - thick, thick, 1);
      ctx.restore();
    }] } };
  let inks = {};
  // Round steps of the time axis, from microseconds to days.
  const times = [-6, -5, -4, -3, -2, -1].flatMap(power => [1, 2, 5].map(one => one * 10 ** power)).concat(
    [1, 2, 5, 10, 15, 30], [1, 2, 5, 10, 15, 30].map(one => one * 60), [1, 2, 3, 6, 12, 24, 48, 120, 240].map(one => one * 3600),
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map(one => one * 864000));
  const colour = name => inks[name] ??= ink(name);
  const faint = (hex) => hex + "38";

  const options = (panel, width) => {
    const series = [{ label: "time", value: (_, at) => moment(at, shown.to_s - shown.from_s) }], fills = [];
    panel.lines.forEach((line, place) => {
      const stroke = colours[dark.matches ? "dark" : "light"][place % 7];
      const show = !hidden.has(panel.name + line.name);
      series.push({ label: line.name, stroke, width: 1.25, spanGaps: true, show, points: { show: shown.exact && shown.at_s.length < 60 },
        value: (_, value) => amount(value, panel.unit) });
      if (line.most) {
        const edge = { class: "u-edge", stroke: "transparent", width: 0, points: { show: false }, show };
        fills.push({ series: [series.length, series.length + 1], fill: faint(stroke) });
        series.push({ ...edge, label: line.name + ", most" }, { ...edge, label: line.name + ", least" });
      }
    });
    const axis = { stroke: colour("quiet"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 } };
    return {
      width, height: 190, series, bands: fills, plugins: [bands],
      scales: { x: { time: false, range: () => [shown.from_s, shown.to_s] }, y: { range: (_, least, most) => [0, most > 0 ? most * 1.08 : 1] } },
      axes: [{ ...axis, space: shown.to_s > 3600 ? 90 : 60, incrs: times, values: (_, ticks) => ticks.map(at => moment(at, ticks.length > 1 ? ticks[1] - ticks[0] : 1)) },
        { ...axis, size: 78, values: (_, ticks) => ticks.map(value => value ? amount(value, panel.unit) : "0") }],
      cursor: { sync: { key: "run", scales: ["x", null] }, drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => load(null, null) } },
      hooks: {
        setSelect: [plot => {
          if (plot.select.width < 4) return;
          const from = plot.posToVal(plot.select.left, "x"), to = plot.posToVal(plot.select.left + plot.select.width, "x");
          plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          load(from, to);
        }],
        setSeries: [(plot, place, set) => {
          if (place == null || set.show == null || plot.series[place].class) return;
          const key = panel.name + plot.series[place].label;
          set.show ? hidden.delete(key) : hidden.add(key);
          for (const edge of [place + 1, place + 2])
            if (plot.series[edge]?.class && plot.series[edge].label.startsWith(plot.series[place].label + ","))
              plot.setSeries(edge, { show: set.show });
        }],
      },
    };
  };
  const columns = panel => [shown.at_s, ...panel.lines.flatMap(line => line.most ? [line.mean, line.most, line.least] : [line.mean])];
  const width = () => Math.max(260, room.clientWidth);
  const layout = panel => panel.name + panel.lines.map(line => line.name + (line.most ? "+" : "")).join("|");

  const draw = () => {
    inks = {};
    const busy = shown.panels.filter(panel => panel.lines.some(line => (line.most ?? line.mean).some(value => value > 0)));
    const wanted = busy.map(layout).join("/") + dark.matches;
    if (wanted !== room.dataset.layout) {
      plots.forEach(plot => plot.destroy());
      room.replaceChildren();
      plots = busy.map(panel => {
        const block = document.createElement("div"), head = document.createElement("h3");
        head.textContent = panel.name[0].toUpperCase() + panel.name.slice(1);
        block.append(head);
        room.append(block);
        return new uPlot(options(panel, width()), columns(panel), block);
      });
      room.dataset.layout = wanted;
    } else plots.forEach((plot, place) => plot.setData(columns(busy[place])));
    const span = (shown.to_s - shown.from_s) / Math.max(1, shown.at_s.length);
    const quiet = shown.panels.filter(panel => !busy.includes(panel)).map(panel => panel.name);
    remark.textContent = `${shown.samples.toLocaleString("en")} samples; ` +
      (shown.exact ? "each is a point" : `a point is the mean of ${digits(span)} s, the shade reaches from the least to the most`) +
      (quiet.length ? `; nothing on ${quiet.join(" and ")}` : "") + ".";
    section.dataset.drawn = performance.now();
  };
  const show = document_ => { shown = document_; draw(); };

  const load = async (from, to) => {
    const mine = ++asked, query = new URLSearchParams({ points: Math.min(2000, Math.max(200, width())) });
    if (from != null) { query.set("from", Math.max(0, from)); query.set("to", to); }
    if (!shown) remark.textContent = "The samples are being read.";
    try {
      const answer = await fetch(section.dataset.curves + "?" + query);
      if (!answer.ok) throw new Error((await answer.json()).error ?? answer.status);
      const told = await answer.json();
      if (mine === asked) show(told);
    } catch (error) {
      if (mine !== asked) return;
      remark.textContent = "The curves cannot be shown: " + error.message;
    }
  };
  const zoom = (factor, shift) => {
    if (!shown) return;
    const length = (shown.to_s - shown.from_s) * factor, middle = (shown.from_s + shown.to_s) / 2 + shift * length;
    const from = Math.max(0, Math.min(middle - length / 2, shown.length_s - length));
    length >= shown.length_s ? load(null, null) : load(from, from + length);
  };
  section.querySelector(".curves-tools").addEventListener("click", event => {
    const { zoom: factor, shift } = event.target.dataset;
    if (factor) zoom(Number(factor), Number(shift ?? 0));
    else if ("whole" in event.target.dataset) load(null, null);
  });
  section.classList.add("drawn");
  new ResizeObserver(() => plots.forEach(plot => plot.width !== width() && plot.setSize({ width: width(), height: 190 }))).observe(room);
  dark.addEventListener("change", () => shown && draw());
  section.addEventListener("curves", event => show(event.detail));
  if (!("live" in section.dataset)) load(null, null);
})();
