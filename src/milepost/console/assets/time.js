// Timers tick here, from the monotonic clock and one shared interval: no request, push or write for a second to pass.

const running = new Map();

setInterval(() => {
  for (const [element, since] of running) {
    if (element.isConnected) show(element, since);
    else running.delete(element);
  }
}, 250);

// `elapsedMs` was counted by the server when the state was made, which was at `seen` on our monotonic clock.
export function tick(element, elapsedMs, seen) {
  const since = seen - elapsedMs;
  running.set(element, since);
  show(element, since);
}

export function still(element, text) {
  running.delete(element);
  write(element, text);
}

function show(element, since) {
  write(element, clock(performance.now() - since));
}

export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// 0:07, 12:40, 1:02:03
export function clock(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (n) => String(n).padStart(2, "0");
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

// An exact duration that is over: 840 ms, 12.4 s, 3:07
export function span(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1000) return `${ms} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : clock(ms);
}

export function between(from, to) {
  return from && to ? Math.max(0, Date.parse(to) - Date.parse(from)) : null;
}

export function timeOfDay(instant) {
  if (!instant) return "–";
  return new Date(instant).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
}

export function dayAndTime(instant) {
  const at = new Date(instant);
  const today = new Date().toDateString() === at.toDateString();
  const day = today ? "" : `${at.toLocaleDateString(undefined, { month: "short", day: "numeric" })}, `;
  return day + timeOfDay(instant);
}
