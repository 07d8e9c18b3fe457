// The cells of a terminal emulator as SVG: what the still picture and the recordings share.

const CELL = { width: 8.4, height: 18 };
const EDGE = 16;
const BAR = 34;
const TEXT = '#c9d1d9';
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

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

function styleOf(cell) {
  const palette = cell.isFgPalette() ? cell.getFgColor() : -1;
  const colour = cell.isFgRGB() ? `#${cell.getFgColor().toString(16).padStart(6, '0')}` : (PALETTE[palette] ?? TEXT);
  const fill = colour === TEXT ? '' : ` fill="${colour}"`;
  return `${fill}${cell.isBold() ? ' font-weight="bold"' : ''}${cell.isDim() ? ' opacity="0.6"' : ''}`;
}

/** The runs of cells of one line that look alike, without blanks between columns. */
function runsOf(line, columns) {
  const runs = [];
  for (let x = 0; x < columns; x++) {
    const cell = line.getCell(x);
    const text = cell?.getChars() ?? '';
    if (text.trim() === '') continue;
    const style = styleOf(cell);
    const last = runs.at(-1);
    if (last?.style === style && x - last.end <= 1) {
      last.text += ' '.repeat(x - last.end) + text;
      last.end = x + cell.getWidth();
    } else runs.push({ x, end: x + cell.getWidth(), style, text });
  }
  return runs;
}

/** One line of the emulator as text elements, `row` lines below the title bar; '' for an empty one. */
export const lineMarkup = (line, columns, row = 0) =>
  runsOf(line, columns)
    .map(({ x, end, style, text }) => {
      const at = `x="${(EDGE + x * CELL.width).toFixed(1)}" y="${topOf(row) + 12}"`;
      return `<text ${at} textLength="${((end - x) * CELL.width).toFixed(1)}" lengthAdjust="spacingAndGlyphs"${style}>${escaped(text)}</text>`;
    })
    .join('\n');

const topOf = (row) => BAR + EDGE + row * CELL.height;

/** How far a line moves down to stand `row` lines lower. */
export const offsetOf = (row) => row * CELL.height;

/** A line of the title bar, such as what is done at the moment. */
export const captionMarkup = (columns, text) =>
  `<text x="${EDGE + columns * CELL.width}" y="21" text-anchor="end" fill="#8b949e">${escaped(text)}</text>`;

/** The window around `body`: text of `columns` by `rows` cells, under a title bar. */
export function windowOf({ columns, rows, label, style = '', body }) {
  const width = Math.ceil(columns * CELL.width + 2 * EDGE);
  const height = Math.ceil(rows * CELL.height + BAR + 2 * EDGE);
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, index) => `<circle cx="${20 + index * 18}" cy="17" r="5.5" fill="${colour}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(label)}">`,
    ...(style === '' ? [] : [`<style>${style}</style>`]),
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...dots,
    `<g font-family="ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="${TEXT}" xml:space="preserve">`,
    ...body,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}
