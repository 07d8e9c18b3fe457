// A recording: the screens of a session, one after the other, as one SVG that runs by CSS alone. A line of text is in it
// once, however often and wherever it is seen; where motion is not wanted, the last screen stands still.
import { captionMarkup, lineMarkup, offsetOf, windowOf } from './cells.mjs';

const WAIT_MS = 60_000;
const QUIET_MS = 250;
const KEY_MS = 90;
const LAST_MS = 5000;

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Records `terminal`, in which `command` runs, screen by screen. */
export function record(terminal, command) {
  const screens = [];
  let caption = '';
  const take = (ms) =>
    screens.push({ ms, caption, lines: terminal.lines().map((line) => lineMarkup(line, terminal.columns)) });
  const settled = async (quietMs) => {
    while (terminal.quietMs() < quietMs) await pause(20);
  };
  return {
    screens,
    caption(text) {
      caption = text;
    },
    /** Waits for a screen that matches, and keeps it for `ms`. */
    async shows(wanted, ms) {
      const giveUp = Date.now() + WAIT_MS;
      while (!wanted.test(terminal.text())) {
        if (Date.now() > giveUp) throw new Error(`${wanted} never showed:\n${terminal.text()}`);
        await pause(20);
      }
      await settled(QUIET_MS);
      take(ms);
    },
    /** A text, key by key. */
    async type(text) {
      for (const key of text) {
        command.type(key);
        await pause(30);
        await settled(60);
        take(KEY_MS);
      }
    },
    /** A key whose effect is waited for by the next `shows`. */
    press: (key) => command.type(key),
  };
}

/** The SVG of what was recorded. */
export function recordingOf(terminal, screens, label) {
  const columns = terminal.columns;
  const starts = [0];
  for (const [at, { ms }] of screens.entries())
    starts.push((starts[at] ?? 0) + (at + 1 < screens.length ? ms : LAST_MS));
  const total = starts.at(-1);
  const lines = new Map();
  const seen = new Map();
  const see = (markup, top, at) => {
    if (markup === '') return;
    if (!lines.has(markup)) lines.set(markup, `l${lines.size}`);
    const use = `<use href="#${lines.get(markup)}"${top > 0 ? ` y="${top}"` : ''}`;
    seen.set(use, [...(seen.get(use) ?? []), at]);
  };
  for (const [at, screen] of screens.entries()) {
    see(screen.caption === '' ? '' : captionMarkup(columns, screen.caption), 0, at);
    for (const [row, markup] of screen.lines.entries()) see(markup, offsetOf(row), at);
  }

  const times = new Map();
  const body = ['<defs>'];
  for (const [markup, id] of lines) body.push(`<g id="${id}">${markup.replaceAll('\n', '')}</g>`);
  body.push('</defs>');
  for (const [use, ats] of seen) {
    if (ats.length === screens.length) {
      body.push(`${use}/>`);
      continue;
    }
    const key = ats.join(' ');
    if (!times.has(key)) times.set(key, `t${times.size}`);
    const last = ats.at(-1) === screens.length - 1;
    body.push(`${use} class="t ${times.get(key)}${last ? ' last' : ''}"/>`);
  }
  const frames = [...times].map(([key, name]) => keyframes(name, key.split(' ').map(Number), starts, total));
  const running = [...times.values()].map((name) => `.${name}{animation-name:${name}}`).join('');
  const style = [
    '.t{visibility:hidden}.last{visibility:visible}',
    `@media (prefers-reduced-motion: no-preference){.t{animation:${(total / 1000).toFixed(2)}s step-end infinite}${running}}`,
    ...frames,
  ].join('\n');
  return windowOf({ columns, rows: terminal.rows, label, style, body });
}

/** When the lines of these screens are seen. */
function keyframes(name, ats, starts, total) {
  const percent = (ms) => `${((100 * ms) / total).toFixed(3).replace(/\.?0+$/, '')}%`;
  const steps = new Map([[percent(0), 'hidden']]);
  for (const at of ats) {
    steps.set(percent(starts[at]), 'visible');
    if (!ats.includes(at + 1)) steps.set(percent(starts[at + 1]), 'hidden');
  }
  return `@keyframes ${name}{${[...steps].map(([at, is]) => `${at}{visibility:${is}}`).join('')}}`;
}
