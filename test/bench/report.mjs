/** The report as a person reads it. */

const number = (value) =>
  value === null || !Number.isFinite(value)
    ? '–'
    : Math.abs(value) >= 1000
      ? Math.round(value).toLocaleString('en-US')
      : Math.abs(value) >= 100
        ? value.toFixed(0)
        : Math.abs(value) >= 10
          ? value.toFixed(1)
          : value.toFixed(2);

const spreadText = (spread) =>
  spread?.rounds ? `${number(spread.median)} (${number(spread.q1)}–${number(spread.q3)})` : '–';

const HEAD = ['', '', 'median (quartiles)', 'ratio (quartiles)', 'to', 'to the smallest', 'over', 'goal'];

const cells = ({ name, store, unit, value, ratio, beside, over, goal }) => [
  name,
  store ?? '',
  value ? `${spreadText(value)} ${unit}` : '–',
  ratio ? spreadText(ratio) : '',
  ratio?.to ?? '',
  beside ? number(beside.median) : '',
  over ? `${over.median >= 0 ? '+' : ''}${number(over.median)}` : '',
  goal ?? '',
];

export function reportText({ node, cpu, stores, missing, parts }) {
  const lines = [];
  for (const { title, rounds, seconds, lines: measured } of parts) {
    lines.push('', `${title} (${rounds} rounds, ${seconds} s; ${stores.join(', ')}; Node ${node}, ${cpu})`, '');
    const table = [HEAD, ...measured.map(cells)];
    const used = HEAD.map((_, column) => column === 0 || table.slice(1).some((row) => row[column] !== ''));
    const widths = HEAD.map((_, column) => Math.max(...table.map((row) => row[column].length)));
    for (const row of table) {
      const shown = row.flatMap((cell, column) =>
        used[column] ? [column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])] : [],
      );
      lines.push(shown.join('  ').trimEnd());
    }
  }
  if (missing.length > 0) lines.push('', `Not measured, since it is not installed: ${missing.join(', ')}`);
  return `${lines.join('\n')}\n`;
}
