import { beforeAll, describe, expect, test } from 'vitest';
import { linkText, supportsLinks } from '../../src/terminal/paint.ts';
import { tableLines } from '../../src/terminal/table.ts';
import { createTurns, isLong, pagerCommand } from '../../src/terminal/terminal.ts';
import { brokenLine, cut, padEnd, readyFor, textWidth, unpainted, wrap } from '../../src/terminal/text.ts';

/** Widths of the world's text, links and pages. */

const FAMILY = '👨‍👩‍👧‍👦';
const FLAG = '🇵🇹';
const asIs = (text: string) => text;

beforeAll(async () => {
  await readyFor('東京');
});

describe('widths', () => {
  test.each([
    ['plain', 5],
    ['━╌→✓●', 5],
    ['東京', 4],
    ['ｶﾞ', 2],
    ['한국', 4],
    ['e\u0301a\u0323', 2],
    ['ก็ไม่', 3],
    [FAMILY, 2],
    [FLAG, 2],
    ['👍🏽', 2],
    ['❤️', 2],
    ['\u001b[1m東\u001b[22m', 2],
    [linkText('ab', 'https://example.com/x'), 2],
  ])('%s takes %i cells', (text, cells) => {
    expect(textWidth(text)).toBe(cells);
  });

  test.each([
    [
      'Support code  FLK-ADJ5-F4WS-7WBY-BCFH  shown once; saved here',
      'Support code  FLK-ADJ5-F4WS-7WBY-BCFH  shown\n              once; saved here',
    ],
    [
      '✓ funded  133.38 USDC in escrow HD5WZ37QrwYkhMpbcTNi8gR2i27',
      '✓ funded  133.38 USDC in escrow\n          HD5WZ37QrwYkhMpbcTNi8gR2i27',
    ],
    [
      '\u001b[1mA sentence that\u001b[22m goes on and on, and on and on again',
      '\u001b[1mA sentence that\u001b[22m goes on and on, and on and on\nagain',
    ],
    ['  $ farelock search LIS BER --depart 2026-12-22', '  $ farelock search LIS BER --depart 2026-12-22'],
    ['Next: farelock order int_8tvj81r6qdw6s0v4df6x1qk51d', 'Next: farelock order int_8tvj81r6qdw6s0v4df6x1qk51d'],
  ])('%j is broken at words, under its own text; a command is not', (line, broken) => {
    expect(brokenLine(line, 45)).toBe(broken);
  });

  test('a number is never parted from its unit where a line ends', () => {
    const line = 'Paid out 150.30 USDC, which landed on the cluster 1 s later than 2 days ago; see row 7 again.';
    for (let width = 14; width < line.length; width++) {
      for (const lines of [brokenLine(line, width).split('\n'), wrap(line, width)]) {
        expect(lines.join(' ').replace(/ +/g, ' ')).toBe(line);
        expect(lines.filter((one) => /\d$/.test(one) && !/row 7$/.test(one))).toEqual([]);
        expect(lines.filter((one) => textWidth(one) > width)).toEqual([]);
      }
    }
  });

  test('a cut never splits what is drawn as one character, and never takes more than its room', () => {
    for (const text of ['東京国際空港', `${FAMILY}${FLAG}${FAMILY}`, 'e\u0301e\u0301e\u0301e\u0301', `a${FAMILY}b`]) {
      for (let width = 1; width <= 6; width++) {
        const kept = cut(text, width);
        expect(textWidth(kept)).toBeLessThanOrEqual(width);
        if (kept !== text) expect(kept.endsWith('…')).toBe(true);
        const whole = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
        const parts = Array.from(new Intl.Segmenter().segment(kept.replace(/…$/, '')), ({ segment }) => segment);
        expect(whole.slice(0, parts.length)).toEqual(parts);
      }
    }
  });

  test('colours and links that a cut goes through are ended', () => {
    expect(cut('\u001b[1mZephyr Atlantic\u001b[22m', 8)).toBe('\u001b[1mZephyr…\u001b[22m');
    const link = cut(linkText('東京国際空港', 'https://example.com/'), 5);
    expect(unpainted(link)).toBe('東京…');
    expect(link.endsWith('\u001b]8;;\u001b\\')).toBe(true);
  });

  test('columns line up whatever is in them', () => {
    const lines = tableLines(
      [{ title: 'Name' }, { title: 'Price', align: 'right' }],
      [
        ['全日本空輸', '1.00'],
        [`Ana ${FAMILY}`, '20.00'],
        ['Zoe\u0308', '300.00'],
      ],
      asIs,
    );
    expect(new Set(lines.map(textWidth)).size).toBe(1);
  });

  test('a table that is wider than the screen cuts its free text, the widest first', () => {
    const rows = [['int_1', '国'.repeat(60), 'x'.repeat(50), '1.00']];
    const columns = [{ title: 'Id' }, { title: 'Why', cuts: true }, { title: 'Who', cuts: true }, { title: 'USDC' }];
    const lines = tableLines(columns, rows, asIs, 80);
    expect(lines.map(textWidth).every((cells) => cells <= 80)).toBe(true);
    expect(lines[1]).toMatch(/^int_1 .*国….*x… {2}1\.00$/);
  });

  test('padding counts cells', () => {
    expect(padEnd('東', 4)).toBe('東  ');
  });
});

describe('links', () => {
  const KITTY = { TERM: 'xterm-kitty', KITTY_WINDOW_ID: '1' };
  test.each<[string, Record<string, string>, boolean, boolean]>([
    ['a terminal that says it knows them', KITTY, true, true],
    ['off a terminal', KITTY, false, false],
    ['without colour', { ...KITTY, NO_COLOR: '1' }, true, false],
    ['on CI', { ...KITTY, CI: 'true' }, true, false],
    ['on a dumb terminal', { ...KITTY, TERM: 'dumb' }, true, false],
    ['in tmux', { TERM: 'tmux-256color', VTE_VERSION: '7000' }, true, false],
    ['an old VTE', { TERM: 'xterm-256color', VTE_VERSION: '4800' }, true, false],
    ['an unknown one', { TERM: 'xterm-256color' }, true, false],
    ['iTerm 3.4', { TERM: 'xterm-256color', TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.4.1' }, true, true],
    ['FORCE_HYPERLINK', { FORCE_HYPERLINK: '1' }, false, true],
    ['FORCE_HYPERLINK=0', { ...KITTY, FORCE_HYPERLINK: '0' }, true, false],
  ])('%s', (_name, environment, isTerminal, expected) => {
    expect(supportsLinks(environment, isTerminal, true)).toBe(expected);
  });

  test('an address that could break out of the sequence is not a link', () => {
    expect(linkText('x', 'https://a.example/\u001b]0;t\u0007')).toBe('x');
    expect(linkText('x', 'javascript:alert(1)')).toBe('x');
  });
});

describe('pages', () => {
  test('PAGER=cat, an empty one and a dumb terminal mean none', () => {
    expect(pagerCommand({})).toBe('less');
    expect(pagerCommand({ PAGER: 'more -d' })).toBe('more -d');
    expect(pagerCommand({ PAGER: 'more', FARELOCK_PAGER: 'most' })).toBe('most');
    for (const environment of [{ PAGER: 'cat' }, { PAGER: '' }, { TERM: 'dumb' }]) {
      expect(pagerCommand(environment)).toBeNull();
    }
  });

  test('text is long when its lines, wrapped, fill the terminal', () => {
    expect(isLong('a\n'.repeat(22), 24, 80)).toBe(false);
    expect(isLong('a\n'.repeat(24), 24, 80)).toBe(true);
    expect(isLong(`${'a'.repeat(80 * 24)}\n`, 24, 80)).toBe(true);
  });

  test('what is written waits for the pager that is open', async () => {
    const turns = createTurns();
    const said: string[] = [];
    let close = () => {};
    turns.take(() => void said.push('first'));
    turns.take(() => new Promise<void>((resolve) => (close = resolve)));
    turns.take(() => void said.push('last'));
    expect([said, turns.isBusy]).toEqual([['first'], true]);
    close();
    await turns.settled();
    expect([said, turns.isBusy]).toEqual([['first', 'last'], false]);
  });

  test('a step that fails is heard of at the end', async () => {
    const turns = createTurns();
    const said: string[] = [];
    turns.take(() => Promise.reject(new Error('no pager')));
    turns.take(() => void said.push('after it'));
    await new Promise((resolve) => setImmediate(resolve));
    expect([said, turns.isBusy]).toEqual([['after it'], false]);
    await expect(turns.settled()).rejects.toThrow('no pager');
  });
});
