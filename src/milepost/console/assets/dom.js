// Small ways to build and keep elements. Text goes in as text, always: nothing here ever parses markup.

const SVG = "http://www.w3.org/2000/svg";

export function el(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

export function shape(id) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  svg.append(use);
  setShape(svg, id);
  return svg;
}

export function setShape(svg, id) {
  const use = svg.firstElementChild;
  if (use.getAttribute("href") !== `#${id}`) use.setAttribute("href", `#${id}`);
}

export function bar() {
  const track = el("span", "track", el("span", "fill"));
  track.setAttribute("role", "progressbar");
  track.setAttribute("aria-valuemin", "0");
  track.setAttribute("aria-valuemax", "100");
  return track;
}

export function setBar(track, percent, label) {
  track.hidden = percent === null;
  if (percent === null) return;
  track.firstElementChild.style.setProperty("--done", `${percent}%`);
  track.setAttribute("aria-valuenow", String(Math.round(percent)));
  track.setAttribute("aria-label", label);
}

export function hide(element, hidden) {
  if (element.hidden !== hidden) element.hidden = hidden;
}

// Keeps one element for each key, in the order of the items, and touches only what moved.
export function keyed(parent, items, keyOf, make, update) {
  const kept = (parent.kept ??= new Map());
  const wanted = new Set();
  let at = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    wanted.add(key);
    let row = kept.get(key);
    if (row === undefined) {
      row = make(item);
      kept.set(key, row);
    }
    update(row, item);
    if (row.element === at) at = at.nextElementSibling;
    else parent.insertBefore(row.element, at);
  }
  for (const [key, row] of kept) {
    if (wanted.has(key)) continue;
    row.element.remove();
    kept.delete(key);
  }
}
