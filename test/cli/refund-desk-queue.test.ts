import { expect, test } from 'vitest';
import { createQueue, type DeskState } from '../../src/cli/commands/refund/desk-queue.ts';
import { problem } from '../../src/kernel/problems.ts';
import type { QueueQueryInput, RefundCase } from '../../src/wire/flights/index.ts';

/** The live desk's queue before a service of which others decide, and that answers late. */

const idOf = (at: number) => `ref_${String(at).padStart(4, '0')}`;
const caseOf = (at: number, fields: Partial<RefundCase> = {}) =>
  ({
    request_id: idOf(at),
    intent_id: `int_${at}`,
    status: 'received',
    route: 'LIS-BER',
    booking_reference: `REF${at}`,
    journey_date: '2026-12-20',
    requested_at: new Date(at * 1000).toISOString(),
    refund_rule: { kind: 'refundable', payout_amount: 1, penalty_amount: 0 },
    payout_amount: null,
    claimed_by: null,
    reason: null,
    decision: null,
    notes: [],
    ...fields,
  }) as unknown as RefundCase;

function open(count: number) {
  const waiting = new Map(Array.from({ length: count }, (_, at) => [idOf(at), caseOf(at)]));
  let nowMs = 1_000_000;
  let hold: Promise<void> | null = null;
  const asked: (string | undefined)[] = [];
  const operator = {
    async queue({ cursor, limit = 200 }: QueueQueryInput) {
      asked.push(cursor);
      const all = [...waiting.values()].sort((a, b) => (a.request_id < b.request_id ? -1 : 1));
      const page = all.filter((one) => one.request_id > (cursor ?? '')).slice(0, Number(limit));
      const last = page.at(-1)?.request_id;
      const next_cursor = last && last !== all.at(-1)?.request_id ? last : null;
      const answer = { refund_requests: page, next_cursor, total: waiting.size, operator: 'ana' };
      await hold;
      return answer;
    },
    show: async (id: string) => waiting.get(id) ?? Promise.reject(problem('refund_request_not_found')),
  };
  const desk = {
    cases: [],
    total: null,
    search: '',
    filters: new Set(),
    sort: 'age',
    isRead: false,
    selected: null,
    shown: null,
    away: null,
    mode: { kind: 'browsing' },
    said: () => [],
  } as unknown as DeskState;
  const ports = {
    operator,
    session: { work: async () => undefined },
    clock: { now: () => nowMs, sleep: async () => undefined },
    signal: new AbortController().signal,
    controls: {
      redraw: () => undefined,
      fail: (error: unknown) => {
        throw error;
      },
    },
  };
  const queue = createQueue(ports as never, desk);
  const listed = () => desk.cases.map((one) => one.request_id);
  return {
    waiting,
    desk,
    queue,
    asked,
    listed,
    pass: (ms: number) => {
      nowMs += ms;
    },
    holdAnswers: (until: Promise<void> | null) => {
      hold = until;
    },
    /** What the list has to be. */
    whole: () => [...waiting.keys()].sort(),
  };
}

test('450 requests are read in three pages; after that one page at a time, and all once their number has changed', async () => {
  const { waiting, desk, queue, asked, listed, whole, pass } = open(450);
  await queue.refresh();
  expect([asked.length, listed(), desk.total]).toEqual([3, whole(), 450]);
  await queue.refresh();
  expect(asked).toHaveLength(4);
  // Others decide on the page of the mark, and on another one.
  waiting.delete(idOf(7));
  await queue.refresh();
  expect([asked.length, listed()]).toEqual([5, whole()]);
  waiting.delete(idOf(300));
  await queue.refresh();
  expect(desk.total).toBe(448);
  expect(listed()).toContain(idOf(300));
  pass(31_000);
  await queue.refresh();
  expect(listed()).toEqual(whole());
});

test('new requests are listed, on a last page and between others', async () => {
  const { waiting, queue, listed, whole, desk } = open(450);
  await queue.refresh();
  queue.select(idOf(449));
  waiting.set(idOf(450), caseOf(450));
  await queue.refresh();
  expect(listed()).toEqual(whole());
  queue.select(idOf(3));
  waiting.set('ref_0003b', { ...caseOf(3), request_id: 'ref_0003b' });
  await queue.refresh();
  expect(listed()).toEqual(whole());
  expect(desk.selected).toBe(idOf(3));
});

test('an answer from before a decision does not bring its case back', async () => {
  const { waiting, queue, listed, holdAnswers, desk } = open(3);
  await queue.refresh();
  let answer: () => void = () => undefined;
  holdAnswers(new Promise((resolve) => (answer = resolve)));
  const late = queue.refresh();
  await Promise.resolve();
  await Promise.resolve();
  desk.mode = { kind: 'busy', doing: 'Rejecting' };
  waiting.delete(idOf(0));
  queue.take(caseOf(0, { status: 'rejected' }), true);
  answer();
  await late;
  expect(listed()).toEqual([idOf(1), idOf(2)]);
});

test('after a decision the next request that waits and that no other operator has is marked', async () => {
  const { waiting, queue, desk } = open(5);
  waiting.set(idOf(2), caseOf(2, { claimed_by: 'cleo' }));
  waiting.set(idOf(3), caseOf(3, { status: 'stuck' }));
  await queue.refresh();
  queue.select(idOf(1));
  desk.mode = { kind: 'busy', doing: 'Rejecting' };
  queue.take(caseOf(1, { status: 'rejected' }), true);
  expect([desk.selected, queue.hasJustMoved()]).toEqual([idOf(4), false]);
  queue.take(caseOf(4, { status: 'approved' }), true);
  expect(desk.selected).toBe(idOf(0));
});

test('a mark that another operator’s decision moves takes no decision for a second', async () => {
  const { waiting, queue, desk, pass } = open(3);
  await queue.refresh();
  waiting.delete(idOf(0));
  await queue.refresh();
  expect([desk.selected, desk.said(80), queue.hasJustMoved()]).toEqual([
    idOf(1),
    ['Another operator has decided that case. This is the next one.'],
    true,
  ]);
  pass(1000);
  expect(queue.hasJustMoved()).toBe(false);
});

test('"leaving within 48 h" counts in the time of any airport', async () => {
  const { waiting, desk, queue, listed, pass } = open(4);
  pass(Date.parse('2026-12-01T12:00:00Z') - 1_000_000);
  // At 12:00 UTC of the 1st it is the 2nd in Kiritimati, where the 4th begins within 48 h; in Baker Island it is the 1st.
  for (const [at, day] of ['2026-11-30', '2026-12-01', '2026-12-04', '2026-12-05'].entries())
    waiting.set(idOf(at), caseOf(at, { journey_date: day }));
  Object.assign(desk, { filters: new Set(['leaving within 48 h']) });
  await queue.refresh();
  expect(listed()).toEqual([idOf(1), idOf(2)]);
});
