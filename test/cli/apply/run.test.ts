import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CheckedRow, OrderUpdate } from '../../../src/cli/apply/check.ts';
import { journalPath, openJournal, type RowResult, readProgress } from '../../../src/cli/apply/journal.ts';
import { type RunPorts, runRows } from '../../../src/cli/apply/run.ts';
import { problem } from '../../../src/kernel/problems.ts';
import { manualClock } from '../../clock.ts';

/** A run that can be cut off anywhere, and goes on without repeating a row. */

let folder: string;
let resultsFile: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-apply-'));
  resultsFile = join(folder, 'updates.csv.results.ndjson');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const DIGEST = 'd'.repeat(64);
const place = (digest = DIGEST, environment = 'demo') => ({ resultsFile, digest, environment });
const rowsOf = (...orders: string[]): CheckedRow[] =>
  orders.map((orderId, index) => ({ row: index + 1, line: index + 2, update: { orderId, toAmount: '1' } }));
const results = (): RowResult[] =>
  readFileSync(resultsFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RowResult);

type Update = (update: OrderUpdate, key: string) => Promise<string>;

async function run(rows: readonly CheckedRow[], update: Update, more: Partial<RunMore> = {}) {
  const journal = await openJournal(place());
  const clock = manualClock();
  const signal = more.signal ?? new AbortController().signal;
  // Pauses between tries pass by themselves.
  const restless = { ...clock, sleep: async () => clock.advance(1) };
  const ports: RunPorts = { update, journal, clock: restless, signal, onRow: more.onRow };
  const task = { rows, digest: DIGEST, concurrency: 4, statuses: new Map(), retryFailed: false, ...more };
  try {
    const end = await runRows(task, ports);
    if (readProgress(place()).results.size === rows.length && end.stopped === null) await journal.finish();
    return end;
  } finally {
    await journal.close();
  }
}
interface RunMore {
  signal: AbortSignal;
  retryFailed: boolean;
  concurrency: number;
  onRow: (result: RowResult) => void;
}

test('each row is sent once under its own key, and has one line in the order of the file', async () => {
  const keys: string[] = [];
  await run(rowsOf('a', 'b', 'a', 'c'), async (_update, key) => {
    keys.push(key);
    return 'FUNDS_RECEIVED';
  });
  expect(new Set(keys).size).toBe(4);
  expect(results().map(({ row, outcome }) => `${row} ${outcome}`)).toEqual([
    '1 applied',
    '2 applied',
    '3 applied',
    '4 applied',
  ]);
});

test('rows of one order never overtake each other; as many orders as asked for go at once', async () => {
  const under = new Set<string>();
  const order: string[] = [];
  let most = 0;
  await run(
    rowsOf('a', 'b', 'c', 'a', 'b', 'c', 'a', 'd', 'e'),
    async ({ orderId }, key) => {
      expect(under.has(orderId)).toBe(false);
      under.add(orderId);
      most = Math.max(most, under.size);
      await new Promise((resolve) => setImmediate(resolve));
      under.delete(orderId);
      if (orderId === 'a') order.push(key.split('-').at(-1) ?? '');
      return 'OK';
    },
    { concurrency: 3 },
  );
  expect(order).toEqual(['1', '4', '7']);
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(3);
});

test('after a refused row the rows of its order are held, also by the next run', async () => {
  const refuse: Update = async ({ orderId }) => {
    if (orderId === 'a') throw problem('invalid_request', { message: 'Refused.' });
    return 'OK';
  };
  await run(rowsOf('a', 'b', 'a'), refuse);
  expect(results().map(({ outcome }) => outcome)).toEqual(['refused', 'applied', 'held']);
  expect(results()[0]?.error).toEqual({ code: 'invalid_request', message: 'Refused.' });

  // The run was killed right after the refusal: the row behind it has no line yet.
  const [first] = results();
  writeFileSync(resultsFile, `${JSON.stringify(first)}\n`);
  const sent: string[] = [];
  await run(rowsOf('a', 'b', 'a'), async ({ orderId }) => {
    sent.push(orderId);
    return 'OK';
  });
  expect(sent).toEqual(['b']);
  expect(results().map(({ outcome }) => outcome)).toEqual(['refused', 'applied', 'held']);
});

test('--retry-failed sends refused and held rows again, under new keys', async () => {
  const keys: string[] = [];
  const rows = rowsOf('a', 'b', 'a');
  await run(rows, async ({ orderId }, key) => {
    keys.push(key);
    if (orderId === 'a') throw problem('invalid_request');
    return 'OK';
  });
  await run(
    rows,
    async (_update, key) => {
      keys.push(key);
      return 'OK';
    },
    { retryFailed: true },
  );
  expect(keys.map((key) => key.replace(/^apply-d+-/, ''))).toEqual(['1', '2', '1-2', '3-2']);
  expect(results().map(({ row, outcome }) => `${row} ${outcome}`)).toEqual(['1 applied', '2 applied', '3 applied']);
});

test('a lost answer is asked for again under the same key, and a service that is away stops the run', async () => {
  const keys: string[] = [];
  let failures = 2;
  const flaky: Update = async (_update, key) => {
    keys.push(key);
    if (failures-- > 0) throw problem('network_unreachable');
    return 'OK';
  };
  await run(rowsOf('a'), flaky);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);

  rmSync(resultsFile);
  const { stopped } = await run(
    rowsOf('a', 'b'),
    async () => {
      throw problem('network_unreachable');
    },
    { concurrency: 1 },
  );
  expect(stopped?.code).toBe('network_unreachable');
  expect(readProgress(place())).toMatchObject({ results: new Map(), sent: new Map([[1, expect.anything()]]) });
  const again: string[] = [];
  await run(rowsOf('a', 'b'), async (_update, key) => {
    again.push(key);
    return 'OK';
  });
  expect(again).toHaveLength(2);
  expect(again).toContain(keys[0]);
});

test('Ctrl-C sends nothing new, and the next run sends the rest', async () => {
  const interruption = new AbortController();
  const sent: string[] = [];
  const orders = Array.from({ length: 20 }, (_, index) => `o${index}`);
  const update: Update = async ({ orderId }) => {
    sent.push(orderId);
    if (sent.length === 5) interruption.abort(problem('interrupted'));
    return 'OK';
  };
  const { stopped } = await run(rowsOf(...orders), update, { signal: interruption.signal });
  expect(stopped).toBeNull();
  expect(sent.length).toBeLessThan(10);
  expect(results()).toHaveLength(sent.length);
  await run(rowsOf(...orders), update);
  expect([...sent].sort()).toEqual([...orders].sort());
});

test('a row is on the disk before it is sent, and its result before the next row of the order', async () => {
  const file = await open(join(folder, 'any'), 'w');
  const told: string[] = [];
  const prototype = Object.getPrototypeOf(file) as typeof file;
  const synced = vi.spyOn(prototype, 'datasync').mockImplementation(async function (this: typeof file) {
    told.push('synced');
    await this.sync();
  });
  try {
    await run(rowsOf('a', 'a'), async () => {
      told.push('sent');
      return 'OK';
    });
  } finally {
    synced.mockRestore();
    await file.close();
  }
  // The head of the journal comes first.
  expect(told).toEqual(['synced', 'synced', 'sent', 'synced', 'synced', 'sent', 'synced']);
});

describe('what a crash leaves', () => {
  test('a torn last line is dropped and its row settled again', async () => {
    const keys: string[] = [];
    const update: Update = async (_update, key) => {
      keys.push(key);
      return 'OK';
    };
    const interruption = new AbortController();
    await run(rowsOf('a', 'b', 'c'), update, {
      concurrency: 1,
      signal: interruption.signal,
      onRow: ({ row }) => row === 2 && interruption.abort(problem('interrupted')),
    });
    truncateSync(resultsFile, readFileSync(resultsFile).length - 7);
    appendFileSync(journalPath(resultsFile), '{"row":3,"att');
    await run(rowsOf('a', 'b', 'c'), update);
    expect(keys.map((key) => key.split('-').at(-1))).toEqual(['1', '2', '2', '3']);
    expect(results().map(({ row }) => row)).toEqual([1, 2, 3]);
  });

  test('its lock is free, while a run that lives keeps all others out, also those with its pid', async () => {
    const running = await openJournal(place());
    await expect(openJournal(place())).rejects.toMatchObject({ code: 'apply_conflict' });
    const left = join(folder, 'left');
    for (const end of ['', '.journal', '.locked']) cpSync(`${resultsFile}${end}`, `${left}${end}`);
    await (await openJournal({ ...place(), resultsFile: left })).finish();
    expect(readdirSync(folder).filter((name) => name.startsWith('left'))).toEqual(['left']);
    await running.close();
    await (await openJournal(place())).close();
  });
});

test('a result file of another file, or of another environment, is left alone', async () => {
  await run(rowsOf('a'), async () => 'OK');
  await expect(openJournal(place('e'.repeat(64)))).rejects.toMatchObject({ code: 'apply_conflict' });
  rmSync(resultsFile);
  await (await openJournal(place())).close();
  await expect(openJournal(place(DIGEST, 'live'))).rejects.toMatchObject({ code: 'apply_conflict' });
  writeFileSync(resultsFile, 'my notes\n');
  await expect(openJournal(place())).rejects.toMatchObject({ code: 'apply_conflict' });
  expect(readFileSync(resultsFile, 'utf8')).toBe('my notes\n');
});
