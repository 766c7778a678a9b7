// Shows what happens in a run that goes on, as the server tells it.
"use strict";
(() => {
  const curves = document.querySelector("[data-live]"), state = document.querySelector("#live-state");
  const steps = document.querySelector("#live-steps"), log = document.querySelector("#log-end");
  const length = value => value < 120 ? value.toFixed(2) + " s" : `${Math.floor(value / 60)} min ${String(Math.round(value % 60)).padStart(2, "0")} s`;
  const cell = (text, kind = "") => {
    const made = document.createElement("td");
    made.textContent = text;
    made.className = kind;
    return made;
  };
  const marks = { completed: "good", tolerated: "doubtful", failed: "bad", timed_out: "bad", skipped: "quiet", cancelled: "quiet" };
  const showSteps = told => {
    if (!steps.querySelector("tbody")) { location.reload(); return; }
    steps.querySelector("tbody").replaceChildren(...told.map(step => {
      const row = document.createElement("tr");
      row.append(cell(step.index, "figure"), cell(step.name), cell(step.outcome.replace("_", " "), marks[step.outcome] ?? ""),
        cell(length(step.start_s), "figure"), cell(step.failed_attempts, "figure"));
      return row;
    }));
  };
  const source = new EventSource(curves.dataset.live);
  const hear = (name, show) => source.addEventListener(name, event => show(JSON.parse(event.data)));
  hear("curves", told => curves.dispatchEvent(new CustomEvent("curves", { detail: told })));
  hear("steps", told => told.length && showSteps(told));
  hear("log", told => {
    const follows = log.scrollTop + log.clientHeight >= log.scrollHeight - 20;
    log.textContent = told.lines.join("\n");
    if (follows) log.scrollTop = log.scrollHeight;
  });
  hear("end", told => {
    source.close();
    const link = document.createElement("a");
    link.href = location.href.split("#")[0];
    link.textContent = "Show the whole run";
    state.replaceChildren(`The run ended: ${(told.outcome ?? told.reason).replace("_", " ")}. `, link);
    state.dataset.ended = told.outcome ?? "";
  });
})();
