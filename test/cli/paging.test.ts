import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runPager } from '../../src/terminal/pager-process.ts';
import { runInMemory, temporaryHome } from './memory.ts';

/** Long results go through a pager on a terminal, and everything after them waits. */

const place = temporaryHome();
const environment = { FARELOCK_HOME: place.home };
afterAll(() => place.close());

describe('a long result', () => {
  const shown = async (line: string, terminal = true) => {
    const pages: string[] = [];
    const events: string[] = [];
    const ran = await runInMemory(line.split(' '), {
      environment,
      terminal,
      rows: 12,
      pager: async (text) => {
        pages.push(text);
        await new Promise((resolve) => setTimeout(resolve, 20));
        events.push('closed');
      },
      onStderr: (text) => {
        if (/^(Paid|Next)/.test(text)) events.push('said');
      },
    });
    return { ran, pages, events };
  };

  test('is given to the pager on a terminal; what comes after it is said when it is closed', async () => {
    const { ran, pages, events } = await shown('search LIS BER --depart +30d --no-wait');
    expect(ran.exitCode).toBe(0);
    expect(pages).toHaveLength(1);
    expect(pages[0]).toMatch(/^LIS → BER/);
    expect([ran.stdout, events[0], events.slice(1).every((event) => event === 'said')]).toEqual(['', 'closed', true]);
    expect(ran.stderr).toMatch(/Next: farelock/);
  });

  test('is printed off a terminal, under --no-pager and with --json; a short one always', async () => {
    for (const [line, terminal] of [
      ['search LIS BER --depart +30d --no-wait', false],
      ['search LIS BER --depart +30d --no-wait --no-pager', true],
      ['search LIS BER --depart +30d --no-wait --json', true],
      ['wallet show', true],
    ] as const) {
      const { ran, pages } = await shown(line, terminal);
      expect([line, pages.length, ran.stdout.length > 0]).toEqual([line, 0, true]);
    }
  });
});

describe('the pager', () => {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-pager-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const paged = async (command: string, text = 'a line\n'.repeat(100_000)) => {
    let written = '';
    await runPager(command, text, { PATH: process.env.PATH }, (whole) => {
      written += whole;
    });
    return written;
  };

  test('reads the text; who quits early has seen enough', async () => {
    expect(await paged(`cat > ${join(folder, 'seen')}`)).toBe('');
    expect(await paged('head -1 > /dev/null')).toBe('');
    expect(await paged('exit 3')).toBe('');
  });

  test('says at its foot how to go on, unless the user has chosen other options', async () => {
    const at = join(folder, 'options');
    await paged(`printf %s "$LESS" > ${at}`);
    expect(readFileSync(at, 'utf8')).toMatch(/^FRX.*Space for more, q to leave/);
    await runPager(`printf %s "$LESS" > ${at}`, 'text', { PATH: process.env.PATH, LESS: 'S' }, () => undefined);
    expect(readFileSync(at, 'utf8')).toBe('S');
  });

  test('that is not there leaves the text to be printed', async () => {
    expect(await paged('no-such-pager-anywhere 2>/dev/null', 'text\n')).toBe('text\n');
  });
});
