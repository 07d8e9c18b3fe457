import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { TOOL } from '../../src/cli/commands/index.ts';
import { describeTool } from '../../src/cli/spec/description.ts';
import { PROBLEMS } from '../../src/kernel/problems.ts';
import { solanaCallsPage } from '../interop/any-tool/all.ts';
import { manPages } from './man.ts';
import { callsPage, commandsPage, errorsPage, operationsPage, settingsPage } from './pages.ts';

/** `npm run docs` runs this file with `--update`, which writes the pages. */

const DOCS = resolve(import.meta.dirname, '../../docs');
const tool = describeTool(TOOL, '0.0.0');

test('docs/commands.md is the command tree', async () => {
  await expect(commandsPage(tool)).toMatchFileSnapshot(`${DOCS}/commands.md`);
});

test('docs/calls.md is the route tables of both services', async () => {
  await expect(callsPage()).toMatchFileSnapshot(`${DOCS}/calls.md`);
});

test('docs/errors.md is the catalogue of problems and exit codes', async () => {
  await expect(errorsPage()).toMatchFileSnapshot(`${DOCS}/errors.md`);
});

test('docs/settings.md has the table of settings', async () => {
  const page = readFileSync(`${DOCS}/settings.md`, 'utf8');
  await expect(settingsPage(page)).toMatchFileSnapshot(`${DOCS}/settings.md`);
});

test('docs/operations.md has the table of metrics', async () => {
  const page = readFileSync(`${DOCS}/operations.md`, 'utf8');
  await expect(operationsPage(page)).toMatchFileSnapshot(`${DOCS}/operations.md`);
});

describe('man pages', () => {
  const MAN = resolve(DOCS, '../man');
  const pages = manPages(tool, TOOL);

  test.each(Object.entries(pages))('%s is made from the specs', async (file, page) => {
    await expect(page).toMatchFileSnapshot(`${MAN}/${file}`);
  });

  test('there is none beside those', () => {
    expect(readdirSync(MAN).filter((file) => !(file in pages))).toEqual([]);
  });

  test('groff renders them without a warning, options as they are typed', async () => {
    if ((await execa('groff', ['--version'], { reject: false })).exitCode !== 0) return;
    const files = Object.keys(pages).map((file) => join(MAN, file));
    const rendered = await execa('groff', ['-man', '-ww', '-Tascii', '-P-c', ...files]);
    expect(rendered.stderr).toBe('');
    const text = rendered.stdout.replace(/.[\b]/g, '');
    expect(text).toContain('--max-stops');
    expect(text).toContain('farelock search <from> <to>');
  });
});

test('docs/solana-calls.md is what stock clients call', async () => {
  await expect(solanaCallsPage()).toMatchFileSnapshot(`${DOCS}/solana-calls.md`);
});

test('every error code has a place of its own to link to', () => {
  const page = errorsPage();
  for (const code of Object.keys(PROBLEMS)) expect(page).toContain(`\n### ${code}\n`);
});
