// The list of tasks: a row each, newest first.

import { bar, el, hide, keyed, setBar, setShape, shape } from "./dom.js";
import { clock, span, still, tick, write } from "./time.js";
import { ended, icon, lifecycle, readable } from "./words.js";

export function showList(parent, tasks, selected, seen) {
  keyed(parent, tasks, (task) => task.id, make, (row, task) => update(row, task, task.id === selected, seen.get(task)));
}

function make(task) {
  const row = {
    shape: shape("i-unknown"),
    title: el("bdi", "title"),
    state: el("span", "state"),
    timer: el("span", "timer"),
    sub: el("span", "sub"),
    bar: bar(),
    percent: el("span", "percent"),
    warning: shape("i-warning"),
  };
  row.warning.classList.add("warning");
  row.link = el("a", "row", row.shape, row.title, row.warning, row.state, row.timer, row.sub, row.bar, row.percent);
  row.link.href = `#task=${encodeURIComponent(task.id)}`;
  row.element = el("li", "", row.link);
  return row;
}

function update(row, task, selected, seen) {
  if (row.task !== task) {
    row.task = task;
    draw(row, task, seen);
  }
  if (selected) row.link.setAttribute("aria-current", "true");
  else row.link.removeAttribute("aria-current");
}

function draw(row, task, seen) {
  row.link.dataset.state = task.lifecycleStatus;
  row.link.dataset.health = task.health;
  setShape(row.shape, icon(task));
  write(row.title, task.title || task.id);
  row.title.title = task.title;
  const asked = task.cancelRequestedAt && !ended(task) ? ", cancel requested" : "";
  write(row.state, lifecycle(task) + asked);
  write(row.sub, subtitle(task));
  row.warning.toggleAttribute("hidden", task.health !== "DEGRADED");
  const percent = task.progress?.percent ?? null;
  setBar(row.bar, percent, `Progress of ${task.title}`);
  hide(row.percent, percent === null);
  write(row.percent, percent === null ? "" : `${percent} %`);
  total(row.timer, task, seen);
}

function subtitle(task) {
  const parts = [task.projectId, task.ownerId].filter(Boolean).map(readable);
  if (task.failure) parts.push(task.failure.code);
  else if (task.currentStep) parts.push(task.currentStep);
  else if (task.progress?.stage) parts.push(task.progress.stage);
  return parts.join(" · ");
}

// From creation to the end, or to now.
export function total(element, task, seen) {
  if (ended(task)) still(element, task.totalDurationMs === null ? "–" : span(task.totalDurationMs));
  else tick(element, Math.max(0, Date.parse(task.asOf) - Date.parse(task.createdAt)), seen ?? performance.now());
}

export { clock };
