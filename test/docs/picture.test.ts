import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { isHere } from '../needs.mjs';
import { proofDescribe } from '../proof-only.ts';

/** The pictures of the pages, and the script that makes them from real sessions. */

const ROOT = resolve(import.meta.dirname, '../..');
const SCRIPT = join(ROOT, 'docs/pictures/make.mjs');
const folder = mkdtempSync(join(tmpdir(), 'farelock-drawn-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The lines of a terminal, as text elements show them `top` below their place. */
function linesOf(svg: string, top = 0, lines = new Map<number, string>()): Map<number, string> {
  for (const [, x = '', y = '', text = ''] of svg.matchAll(/<text x="([\d.]+)" y="(\d+)"[^>]*>([^<]*)</g)) {
    const column = Math.round((Number(x) - 16) / 8.4);
    const line = (lines.get(top + Number(y)) ?? '').padEnd(column);
    lines.set(top + Number(y), line + text.replaceAll('&lt;', '<').replaceAll('&amp;', '&'));
  }
  return lines;
}

/** The screen that stands still where no motion is wanted: the last one. */
function lastScreenOf(svg: string): string {
  const defined = new Map([...svg.matchAll(/<g id="(l\d+)">(.*?)<\/g>/g)].map(([, id = '', text = '']) => [id, text]));
  const lines = new Map<number, string>();
  for (const [, id = '', , top = '0', , classes = 'last'] of svg.matchAll(
    /<use href="#(l\d+)"( y="(\d+)")?( class="([^"]*)")?\/>/g,
  )) {
    expect(defined.has(id), `#${id} is defined`).toBe(true);
    if (classes.split(' ').includes('last')) linesOf(defined.get(id) ?? '', Number(top), lines);
  }
  return [...lines]
    .sort(([one], [other]) => one - other)
    .map(([, text]) => text)
    .join('\n');
}

function checkSession(svg: string): void {
  const lines = [...linesOf(svg).values()];
  expect(lines).toContain('$ farelock search LIS JFK --depart +30d --limit 3');
  expect(lines.join('\n')).toMatch(/\d\d:\d\d–\d\d:\d\d +[━╌]+.* +1 [A-Z]/);
  expect(lines.join('\n')).toMatch(/\$ farelock intent \d\.2\n/);
  expect(lines.join('\n')).toMatch(/Pay [\d.]+ USDC and book\? Yes\n/);
  expect(lines.join('\n')).toMatch(/✓ captured +[\d.]+ USDC to the operator(, \d+ s later)?\n/);
}

/** A recording runs by CSS alone, and each moment of it shows something. */
function checkRecording(svg: string): void {
  expect(Buffer.byteLength(svg)).toBeLessThan(300_000);
  expect(svg).toContain('@media (prefers-reduced-motion: no-preference)');
  const named = new Set([...svg.matchAll(/@keyframes (t\d+)\{/g)].map(([, name]) => name));
  const used = new Set([...svg.matchAll(/class="t (t\d+)/g)].map(([, name]) => name));
  expect(used).toEqual(named);
  expect(named.size).toBeGreaterThan(20);
}

const PICTURES: Readonly<Record<string, (svg: string) => void>> = {
  session: checkSession,
  guided(svg) {
    checkRecording(svg);
    for (const said of ['From: ', 'Which flight?', 'with a bag: on', 'search: lorelei', 'Review', 'Mr Ben Okafor'])
      expect(svg, said).toContain(said);
    expect(lastScreenOf(svg)).toMatch(/✓ Paid [\d.]+ USDC into the escrow[\s\S]* booked\n[\s\S]*✓ captured/);
  },
  desk(svg) {
    checkRecording(svg);
    for (const said of ['1-5 of 5', 'note written', 'Approving it would:', 'I broke a leg', 'Pay out '])
      expect(svg, said).toContain(said);
    expect(lastScreenOf(svg)).toMatch(/^.*x: reject\nRefund desk {2}1-3 of 3[\s\S]*✓ .*rejected/);
  },
};

function check(name: string, svg: string): void {
  PICTURES[name]?.(svg);
  for (const place of [ROOT, homedir(), tmpdir()]) expect(svg).not.toContain(`${place}/`);
  // Nothing from elsewhere, and nothing that an image on a page may not do.
  expect(svg).not.toMatch(/<script|<image|href="(?!#)|url\(|@import|foreignObject/);
}

test.each(Object.keys(PICTURES))('the %s picture tells its story, and names no path of a machine', (name) => {
  check(name, readFileSync(join(ROOT, `docs/pictures/${name}.svg`), 'utf8'));
  const shown = ['README.md', 'docs/searching.md', 'docs/operators.md'].filter((page) =>
    readFileSync(join(ROOT, page), 'utf8').includes(`pictures/${name}.svg)`),
  );
  expect(shown).toHaveLength(1);
});

proofDescribe.runIf(isHere('the built tool', existsSync(join(ROOT, 'dist/main.cjs'))))('the script', () => {
  // Side by side: most of a recording is waiting for a person.
  test.concurrent.each(Object.keys(PICTURES))(
    'makes the %s picture again from the built tool',
    async (name) => {
      await promisify(execFile)(process.execPath, [SCRIPT, folder, name], { timeout: 110_000 });
      check(name, readFileSync(join(folder, `${name}.svg`), 'utf8'));
    },
    120_000,
  );
});
