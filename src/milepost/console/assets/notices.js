// Alerts as they happen, and how many of the kept ones were not read. Each is shown once, and none that was sent again.

import { hide } from "./dom.js";
import { write } from "./time.js";

const SHOWN = 8000;
const REMEMBERED = 2000;

export class Notices {
  // `call` and `post` are the page's requests; `toast`, `unread` and `mark` its elements.
  constructor({ call, post, toast, unread, mark }) {
    Object.assign(this, { call, post, toast, unread, mark });
    this.seen = new Set();
    this.wanted = null;
    this.timer = 0;
    this.counting = 0;
    mark.onclick = () => this.read();
  }

  heard(kind, message) {
    if (kind === "notice.read") return this.count();
    const alert = kind === "task.summary" ? message.notice : kind.startsWith("broadcast.") ? message : null;
    if (!alert) return;
    const first = !this.seen.has(alert.id);
    this.seen.add(alert.id);
    if (this.seen.size > REMEMBERED) this.seen.delete(this.seen.values().next().value);
    if (first && !message.replayed && this.wants(alert)) this.show(alert);
    if (kind === "task.summary") this.count();
  }

  wants(alert) {
    const levels = ["INFO", "WARNING", "ERROR"];
    const wish = this.wanted;
    if (alert.type === undefined || wish === null) return true;
    return levels.indexOf(alert.level) >= levels.indexOf(wish.minLevel) && !wish.muted.includes(alert.type);
  }

  show(alert) {
    clearTimeout(this.timer);
    this.toast.dataset.level = alert.level;
    write(this.toast, alert.message ? `${alert.title}: ${alert.message}` : alert.title);
    hide(this.toast, false);
    this.timer = setTimeout(() => hide(this.toast, true), SHOWN);
  }

  // One request for many alerts that come together.
  count() {
    clearTimeout(this.counting);
    this.counting = setTimeout(() => this.load(), 300);
  }

  async load() {
    try {
      this.wanted ??= await this.call("/api/notification-preferences");
      const page = await this.call("/api/notifications?unread=true&limit=1");
      this.cursor = page.streamCursor;
      hide(this.unread, page.unreadCount === 0);
      write(this.mark, `${page.unreadCount} unread`);
    } catch {
      // The next alert counts again.
    }
  }

  async read() {
    await this.post("/api/notifications:markRead", { upTo: this.cursor }).catch(() => {});
    this.count();
  }

  clear() {
    clearTimeout(this.counting);
    this.wanted = null;
    hide(this.toast, true);
    hide(this.unread, true);
  }
}
