// npm run picture: the picture of the README, from a real session of the built tool. Each command runs in a terminal
// (a PTY), a terminal emulator draws what it prints, and the cells of the emulator become an SVG.
//   node docs/pictures/make.mjs [file.svg]
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import pty from '@lydell/node-pty';
import xterm from '@xterm/headless';

const COLUMNS = 108;
const ROWS = 400;
const CELL = { width: 8.4, height: 18 };
const EDGE = 16;
const BAR = 34;
const PALETTE = [
  '#484f58',
  '#ff7b72',
  '#3fb950',
  '#d29922',
  '#58a6ff',
  '#bc8cff',
  '#39c5cf',
  '#b1bac4',
  '#6e7681',
  '#ffa198',
  '#56d364',
  '#e3b341',
  '#79c0ff',
  '#d2a8ff',
  '#56d4dd',
  '#f0f6fc',
];
const QUESTION = 'and book?';
const TEXT = '#c9d1d9';
const PASSENGER = {
  given_name: 'Ana',
  family_name: 'Moreira',
  born_on: '1990-04-12',
  title: 'ms',
  gender: 'f',
  email: 'ana@example.com',
  phone_number: '+351912345678',
};

const bin = resolve(import.meta.dirname, '../../bin/farelock.js');
const home = mkdtempSync(join(tmpdir(), 'farelock-picture-'));
const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true, scrollback: 0 });
const write = (text) => new Promise((done) => terminal.write(text, done));

/** Runs one command as it would be typed, and answers its question with yes; gives what it printed. */
async function type(line, { draws = true } = {}) {
  if (draws) await write(`\x1b[1;32m$\x1b[0m \x1b[1m${line}\x1b[0m\r\n`);
  const [, ...args] = line.split(' ');
  const env = {
    PATH: process.env.PATH,
    TERM: 'xterm-256color',
    COLORTERM: '',
    FARELOCK_HOME: home,
    FARELOCK_SEED: 'farelock',
    FARELOCK_TICKETING_MS: '200',
    FARELOCK_LOWCOST_MS: '200',
    FARELOCK_PAGER: '',
  };
  const child = pty.spawn(process.execPath, [bin, ...args], {
    cols: COLUMNS,
    rows: ROWS,
    cwd: home,
    env,
  });
  let printed = '';
  let drawn = Promise.resolve();
  child.onData((text) => {
    if (!printed.includes(QUESTION) && (printed + text).includes(QUESTION)) child.write('y\r');
    printed += text;
    if (draws) drawn = drawn.then(() => write(text));
  });
  const { exitCode } = await new Promise((ended) => child.onExit(ended));
  await drawn;
  if (exitCode !== 0) throw new Error(`${line} ended with ${exitCode}:\n${printed}`);
  if (draws) await write('\r\n');
  return printed;
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function styleOf(cell) {
  const palette = cell.isFgPalette() ? cell.getFgColor() : -1;
  const colour = cell.isFgRGB()
    ? `#${cell.getFgColor().toString(16).padStart(6, '0')}`
    : (PALETTE[palette] ?? TEXT);
  return `fill="${colour}"${cell.isBold() ? ' font-weight="bold"' : ''}${cell.isDim() ? ' opacity="0.6"' : ''}`;
}

/** The runs of cells of one line that look alike, blanks left out. */
function runsOf(line) {
  const runs = [];
  for (let x = 0; x < COLUMNS; x++) {
    const cell = line.getCell(x);
    const text = cell?.getChars() ?? '';
    if (text.trim() === '') continue;
    const style = styleOf(cell);
    const last = runs.at(-1);
    if (last?.style === style && last.end === x) {
      last.text += text;
      last.end = x + cell.getWidth();
    } else runs.push({ x, end: x + cell.getWidth(), style, text });
  }
  return runs;
}

function picture() {
  const buffer = terminal.buffer.active;
  const lines = Array.from({ length: ROWS }, (_, y) => runsOf(buffer.getLine(y)));
  const last = lines.findLastIndex((runs) => runs.length > 0);
  const width = Math.ceil(COLUMNS * CELL.width + 2 * EDGE);
  const height = Math.ceil((last + 1) * CELL.height + BAR + 2 * EDGE);
  const text = lines.slice(0, last + 1).flatMap((runs, y) =>
    runs.map(({ x, end, style, text }) => {
      const at = `x="${(EDGE + x * CELL.width).toFixed(1)}" y="${BAR + EDGE + y * CELL.height + 12}"`;
      return `<text ${at} textLength="${((end - x) * CELL.width).toFixed(1)}" lengthAdjust="spacingAndGlyphs" ${style}>${escaped(text)}</text>`;
    }),
  );
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, index) => `<circle cx="${20 + index * 18}" cy="17" r="5.5" fill="${colour}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A search, an intent and a booking in a terminal">`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...dots,
    `<g font-family="ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" xml:space="preserve">`,
    ...text,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

try {
  writeFileSync(join(home, 'passengers.json'), JSON.stringify([PASSENGER]));
  // The first command of a home says where it made the wallet: a path of this machine.
  await type('farelock wallet show', { draws: false });
  await type('farelock search LIS JFK --depart +30d --limit 3');
  const made = await type('farelock intent 1.2');
  const intent = /int_[0-9a-z]+/.exec(made)?.[0] ?? '';
  await type(`farelock book ${intent} --passengers passengers.json`);
  writeFileSync(resolve(process.argv[2] ?? join(import.meta.dirname, 'session.svg')), picture());
} finally {
  rmSync(home, { recursive: true, force: true });
}
