import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { runInMemory } from '../cli/memory.ts';
import { isHere } from '../needs.mjs';
import { ROOT } from './packed.ts';

/** What a company starts it with: a container, compose, systemd. */

const DEPLOY = join(ROOT, 'deploy');
const text = (name: string) => readFileSync(join(DEPLOY, name), 'utf8');
const units = readdirSync(DEPLOY).filter((name) => name.endsWith('.service'));

interface Compose {
  readonly services: Readonly<Record<string, { readonly command?: readonly string[]; readonly image: string }>>;
}

function commandLines(): string[][] {
  const { services } = parse(text('compose.yaml'), { merge: true }) as Compose;
  const composed = Object.values(services).flatMap(({ command }) => (command ? [[...command]] : []));
  const [, contained = ''] = /^CMD (\[.*\])$/m.exec(text('Containerfile')) ?? [];
  const started = units.map((name) => /^ExecStart=\S+\/farelock (.*)$/m.exec(text(name))?.[1]?.split(' ') ?? []);
  return [...composed, JSON.parse(contained) as string[], ...started];
}

test('every command there is one of the tool, with options that it has', async () => {
  const lines = commandLines();
  expect(lines.map(([first]) => first)).toEqual(expect.arrayContaining(['serve', 'worker', 'db']));
  for (const line of lines) {
    const words = line.slice(
      0,
      line.findIndex((word) => word.startsWith('-')),
    );
    const { stdout, exitCode } = await runInMemory([...words, '--help']);
    expect(exitCode, line.join(' ')).toBe(0);
    for (const option of line.filter((word) => word.startsWith('--'))) expect(stdout, line.join(' ')).toContain(option);
  }
});

test('every variable there is a setting', () => {
  const known = readFileSync(join(ROOT, 'docs/settings.md'), 'utf8');
  const named = readdirSync(DEPLOY).flatMap((name) => text(name).match(/\bFARELOCK_[A-Z_]+/g) ?? []);
  expect(named.length).toBeGreaterThan(5);
  for (const name of named) expect(known, name).toContain(`\`${name}\``);
});

test.runIf(spawnSync('systemd-analyze', ['--version']).status === 0)(
  'systemd finds nothing wrong with the units',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'farelock-units-'));
    for (const name of units)
      writeFileSync(join(folder, name), text(name).replace('/usr/local/bin/farelock', process.execPath));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', ...units.map((name) => join(folder, name))]);
    rmSync(folder, { recursive: true });
    expect([status, String(stderr)]).toEqual([0, '']);
  },
);

const modules = join(ROOT, 'dist/modules.json');
test.runIf(isHere('the built tool', existsSync(modules)))('the terms of every package inside are beside it', () => {
  const ids = Object.values(JSON.parse(readFileSync(modules, 'utf8')) as Record<string, string[]>).flat();
  const packages = new Set(ids.flatMap((id) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? []));
  const terms = readFileSync(join(ROOT, 'dist/licences.txt'), 'utf8');
  expect(packages.size).toBeGreaterThan(50);
  for (const name of packages) expect(terms, name).toContain(`\n${name} `);
  expect(terms).not.toMatch(/GPL|unknown\)/);
});
