import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

/** The picture of the README, and the script that makes it from a real session. */

const ROOT = resolve(import.meta.dirname, '../..');
const SCRIPT = join(ROOT, 'docs/pictures/make.mjs');
const folder = mkdtempSync(join(tmpdir(), 'farelock-drawn-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The lines of a terminal, as the picture shows them. */
function linesOf(svg: string): string[] {
  const lines = new Map<string, string>();
  for (const [, x = '', y = '', text = ''] of svg.matchAll(/<text x="([\d.]+)" y="(\d+)"[^>]*>([^<]*)</g)) {
    const column = Math.round((Number(x) - 16) / 8.4);
    lines.set(y, (lines.get(y) ?? '').padEnd(column) + text.replaceAll('&lt;', '<').replaceAll('&amp;', '&'));
  }
  return [...lines.values()];
}

function check(svg: string): void {
  const lines = linesOf(svg);
  expect(lines).toContain('$ farelock search LIS JFK --depart +30d --limit 3');
  expect(lines.join('\n')).toMatch(/\d\d:\d\d–\d\d:\d\d +[━╌]+.* +1 [A-Z]/);
  expect(lines.join('\n')).toMatch(/\$ farelock intent \d\.2\n/);
  expect(lines.join('\n')).toMatch(/Pay [\d.]+ USDC and book\? y/);
  expect(lines.join('\n')).toMatch(/✓ captured +[\d.]+ USDC to the operator, vault closed/);
  for (const place of [ROOT, homedir(), tmpdir()]) expect(lines.join('\n')).not.toContain(`${place}/`);
  expect(svg).not.toMatch(/<script|<image|href=/);
}

test('the picture shows a search, an intent and a booking, and names no path of a machine', () => {
  check(readFileSync(join(ROOT, 'docs/pictures/session.svg'), 'utf8'));
  expect(readFileSync(join(ROOT, 'README.md'), 'utf8')).toContain('](docs/pictures/session.svg)');
});

describe.runIf(existsSync(join(ROOT, 'dist/main.cjs')))('the script', () => {
  test('makes the picture again from a session of the built tool', () => {
    const file = join(folder, 'session.svg');
    execFileSync(process.execPath, [SCRIPT, file], { stdio: 'pipe', timeout: 60_000 });
    check(readFileSync(file, 'utf8'));
  });
});
