import { beforeAll, describe, expect, test } from 'vitest';
import { deskKeys } from '../../src/cli/commands/refund/desk.ts';
import { caseLines, withLines } from '../../src/cli/view/flights/refund.ts';
import { DESK_KEYS, type DeskShown, deskLines } from '../../src/cli/view/flights/refund-desk.ts';
import { retyped } from '../../src/terminal/board.ts';
import { plainPaint } from '../../src/terminal/paint.ts';
import { clustersOf, harmlessDocument, readyFor, textWidth, unpainted } from '../../src/terminal/text.ts';
import type { RefundCase } from '../../src/wire/flights/index.ts';

const HAN =
  '天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽雲騰致雨露結為霜金生麗水玉出崑岡劍號巨闕珠稱夜光果珍李柰菜重芥薑海';
const REASONS = {
  'Han without blanks': HAN,
  Japanese: 'フライトが欠航になったため、ホテルも予約をキャンセルしました。払い戻しをお願いいたします。',
  Arabic: 'أُلغيت رحلتي بسبب المرض، وأرجو ردّ المبلغ كاملاً إلى حسابي في أقرب وقت ممكن.',
  emoji: '👨‍👩‍👧‍👦🇯🇵👍🏽🏳️‍🌈❤️‍🔥'.repeat(6),
};
const NOW = Date.UTC(2026, 10, 22);

const caseOf = (reason: string, fields: Partial<RefundCase> = {}) =>
  ({
    request_id: 'ref_1',
    intent_id: 'int_1',
    order_id: 'ord_1',
    status: 'received',
    route: 'LIS-BER',
    booking_reference: 'A6XS2H',
    journey_date: '2026-12-20',
    passenger_count: 1,
    requested_at: '2026-11-19T09:00:00Z',
    claimed_by: null,
    fare: { owner_name: 'TAP', fare_brand_name: null },
    refund_rule: { kind: 'refundable', payout_amount: 149_910_000, penalty_amount: 0 },
    captured_amount: 149_910_000,
    payout_amount: null,
    airline_quote: null,
    refund_wallet: 'wallet',
    decision: null,
    last_error: null,
    contact: null,
    reason,
    notes: [],
    payout_tx_hash: null,
    timeline: [],
    ...fields,
  }) as unknown as RefundCase;

const deskOf = (cases: readonly RefundCase[], fields: Partial<DeskShown> = {}): DeskShown => ({
  cases,
  loaded: cases.length,
  total: cases.length,
  operator: 'ana',
  search: '',
  filters: new Set(),
  sort: 'age',
  isRead: true,
  readAtMs: NOW,
  selected: cases[0]?.request_id ?? null,
  shown: cases[0] ?? null,
  unread: null,
  pane: 'queue',
  scroll: 0,
  said: () => [],
  away: null,
  mode: { kind: 'browsing' },
  ...fields,
});

const drawn = (desk: DeskShown, columns = 80, rows = 24, nowMs = NOW) =>
  deskLines(desk, { columns, rows }, nowMs, plainPaint);

beforeAll(() => readyFor(HAN));

describe.each(Object.entries(REASONS))('%s', (_name, text) => {
  test('every letter of a reason is on the desk, and none is cut in two', () => {
    const clusters = clustersOf(text);
    for (let columns = 40; columns <= 160; columns += 5) {
      const lines = drawn(deskOf([caseOf(text)], { pane: 'case' }), columns, 80);
      const pane = lines.map((line) => line.split('│').at(-1) ?? '').join('\n');
      expect(lines.filter((line) => textWidth(line) >= columns)).toEqual([]);
      // In their order, with nothing but the ends of lines between them.
      expect(clustersOf(pane.replace(/\s/g, '')).join('|'), `${columns} columns`).toContain(
        clusters.filter((cluster) => cluster.trim()).join('|'),
      );
    }
  });

  test('it is typed, passed and removed by what a terminal draws as one', () => {
    const clusters = clustersOf(text);
    let typed = retyped({ before: '', after: '' }, { name: 'paste', text });
    typed = retyped(typed, { name: 'left', text: '' });
    expect(typed).toEqual({ before: clusters.slice(0, -1).join(''), after: clusters.at(-1) });
    typed = retyped(typed, { name: 'backspace', text: '' });
    expect(typed.before).toBe(clusters.slice(0, -2).join(''));
    const writing = { kind: 'writing', question: 'Note', typed: { before: text, after: '' }, hint: 'Enter saves it' };
    for (let columns = 40; columns <= 100; columns += 3) {
      const lines = drawn(deskOf([caseOf('–')], { mode: writing as DeskShown['mode'] }), columns);
      expect(lines.length).toBe(24);
      expect(lines.filter((line) => textWidth(line) >= columns)).toEqual([]);
      expect(lines.join('').replace(/\s/g, '')).toContain(text.replace(/\s/g, ''));
    }
  });
});

test('lines of a note stay lines, and what a terminal acts on does not', () => {
  const shown = caseOf('First.\r\n\nThird \u001b[2J.');
  const lines = caseLines(withLines(shown, harmlessDocument(shown)), NOW, { paint: plainPaint, width: 60 });
  expect(lines.join('\n')).toContain('Reason\n  First.\n\n  Third \ufffd[2J.\n');
});

test('80 columns show booking reference, route, departure, pay-out and age of each request', () => {
  const cases = Array.from({ length: 60 }, (_, at) =>
    caseOf('–', { request_id: `ref_${at}`, claimed_by: at === 1 ? 'ana' : at === 2 ? 'cleo' : null }),
  );
  const lines = drawn(deskOf(cases, { selected: 'ref_30' }));
  expect(lines[0]).toBe('Refund desk  22-40 of 60');
  expect(lines[2]).toMatch(/^ {2}Ref {4}Route {3}Leaves {4}Pay-out {3}Age │/);
  expect(lines.find((line) => line.startsWith('▸'))).toMatch(/^▸ A6XS2H LIS→BER 20 Dec {5}149\.91 {3}3 d │/);
  const top = drawn(deskOf(cases, { selected: 'ref_0' }));
  expect(top.slice(3, 6).map((line) => line.slice(0, 3))).toEqual(['▸ A', ' •A', ' ○A']);
});

test('the first line says what is shown, of how many, and how old it is when the service is silent', () => {
  const titleOf = (fields: Partial<DeskShown>, columns = 80, afterMs = 0) =>
    drawn(deskOf([caseOf('–')], { loaded: 3060, total: 3060, ...fields }), columns, 24, NOW + afterMs)[0];
  const filters = new Set(['mine', 'leaving within 48 h'] as const);
  expect(titleOf({ filters, sort: 'departure' }, 120)).toBe(
    'Refund desk  1-1 of 1 (3,060 waiting) · mine, leaving within 48 h · by departure',
  );
  expect(titleOf({ filters, sort: 'departure' })).toBe(
    'Refund desk  1-1 of 1 (3,060 waiting) · 2 filters · by departure',
  );
  expect(titleOf({ search: 'leg', total: 31_000, loaded: 10_000 })).toBe(
    'Refund desk  1-1 of 1 (31,000 waiting, 10,000 read) · “leg”',
  );
  expect(titleOf({ total: 1 }, 80, 34_000)).toBe('Refund desk  1-1 of 1 ✗ as of 34 s ago: the service is silent');
  expect(titleOf({ total: 1, away: 'desk.example could not be reached.' }, 100, 3_000)).toBe(
    'Refund desk  1-1 of 1 ✗ as of 3 s ago: desk.example could not be reached.',
  );
  // Whole words in any width.
  expect(titleOf({ total: 1, away: 'desk.example could not be reached.' }, 70, 3_000)).toBe(
    'Refund desk  1-1 of 1 ✗ as of 3 s ago: the service is silent',
  );
  expect(titleOf({ away: 'desk.example could not be reached.', sort: 'departure' }, 69, 3_000)).toBe(
    'Refund desk  1-1 of 1 (3,060 waiting) · by departure ✗ as of 3 s ago',
  );
});

test('an address is whole under a painted label', () => {
  const wallet = 'FB3u4x6wKAs8ABfGQpb8H7Z9hgAm8JSwbLtcJEYPXsD1';
  const painted = { ...plainPaint, dim: (text: string) => `\u001b[2m${text}\u001b[22m` };
  const lines = deskLines(deskOf([caseOf('–', { refund_wallet: wallet })]), { columns: 80, rows: 40 }, NOW, painted);
  const pane = lines.map((line) => unpainted(line).split('│')[1]?.trim() ?? '').join('');
  expect(pane).toContain(wallet);
});

test('a case that cannot be read says why, and what to do instead', () => {
  const unread = ['This refund request does not exist.', 'Look at the queue.'];
  const text = drawn(deskOf([caseOf('–')], { shown: null, unread })).join('\n');
  expect(text).toMatch(
    /✗ This case can’t be read\.[\s\S]*This refund request does not exist\.[\s\S]*Look at the queue/,
  );
  expect(text).not.toContain('Reading the case');
  const silent = drawn(deskOf([caseOf('–')], { shown: null }), 80, 24, NOW + 9_000).join('\n');
  expect(silent).toMatch(/as of 9 s ago: the service is silent[\s\S]*No answer yet\.[\s\S]*↓ goes to the next/);
});

test('? lists every key that does something', () => {
  const none = { queue: {}, controls: {} } as never;
  const signs: Record<string, string> = { up: '↑', down: '↓', pageup: 'PgUp', pagedown: 'PgDn', return: 'Enter' };
  Object.assign(signs, { right: 'Enter', left: '←', ' ': 'Space', home: 'Home', end: 'End', escape: 'Esc' });
  const listed = DESK_KEYS.map((row) => row.join('  ')).join('\n');
  const words = new Set(listed.split(/[^\p{L}\d?/←↑↓]+/u));
  const keys = Object.keys(deskKeys(none, none)).flatMap((key) => signs[key] ?? key);
  expect(keys.filter((key) => !words.has(key))).toEqual([]);
  expect(drawn(deskOf([caseOf('–')], { mode: { kind: 'help' } }), 100, 60).join('\n')).toContain(
    'sort by age, departure, pay-out',
  );
});

test('the timeline is told as a person would', () => {
  const at = '2026-11-20T10:00:00Z';
  const events: [string, string | null][] = [
    ['intent created', null],
    ['effect open_escrow done', '5sig'],
    ['effect airline_order done', 'ord_9'],
    ['captured', '6sig'],
    ['effect capture done', '6sig'],
    ['refund claim', 'cleo'],
    ['effect payout sent', '7sig'],
    ['effect airline_cancel stuck', 'no_answer'],
    ['something_new', null],
  ];
  const timeline = events.map(([event, detail]) => ({ at, event, detail }));
  const lines = caseLines(caseOf('–', { timeline }), NOW, { paint: plainPaint, width: 100 });
  expect(lines.slice(lines.indexOf('Timeline') + 1).map((line) => line.slice(27))).toEqual([
    'fare locked',
    'escrow opened  5sig',
    'airline order placed  ord_9',
    'payment captured  6sig',
    'claimed by cleo',
    'paying out: under way  7sig',
    'cancelling with the airline: stuck, needs an operator  no_answer',
    'something new',
  ]);
});

test('a narrow pane has each event of the timeline whole', () => {
  const hash = '5LpuQNkMoxbT4XzDdVSpmEwWnQ3Pi4G1sFvvHqwBeTpZ';
  const timeline = [
    { at: '2026-11-20T10:00:00Z', event: 'effect open_escrow done', detail: hash },
    { at: '2026-11-20T10:00:09Z', event: 'effect airline_cancel stuck', detail: null },
    { at: '2026-11-21T10:00:00Z', event: 'ticketed', detail: null },
  ];
  const lines = caseLines(caseOf('–', { timeline }), NOW, { paint: plainPaint, width: 36 });
  expect(lines.slice(lines.indexOf('Timeline') + 1)).toEqual([
    '  2026-11-20 UTC',
    '  10:00:00  escrow opened',
    `            ${hash.slice(0, 8)}…${hash.slice(-8)}`,
    '  10:00:09  cancelling with the',
    '            airline: stuck, needs an',
    '            operator',
    '  2026-11-21 UTC',
    '  10:00:00  ticket issued',
  ]);
});
