import { expect, test } from 'vitest';
import * as z from 'zod';
import { silentLog } from '../../src/kernel/log.ts';
import type { Meter } from '../../src/kernel/meter.ts';
import { createFreshness, createMember } from '../../src/solana/rpc/member.ts';

const clock = { now: () => 1_800_000_000_000, sleep: async () => undefined };

/** Addresses that answer of these slots; a null: not at all. */
function members(slots: readonly (readonly [host: string, slot: number | null])[]) {
  const measured: unknown[] = [];
  const meter: Meter = (what, labels, amount) => measured.push(what === 'rpc' ? labels : { ...labels, lag: amount });
  const freshness = createFreshness(clock.now);
  const made = slots.map(([host, slot]) =>
    createMember({
      url: `http://${host}/v2/SECRETKEY`,
      ...{ standing: freshness.join(), clock, genesis: { hash: null }, log: silentLog, meter },
      closing: new AbortController().signal,
      fetch: async (_url, init) => {
        const { id } = JSON.parse(String(init?.body)) as { id: number };
        if (slot === null) throw new TypeError('fetch failed');
        return Response.json({ jsonrpc: '2.0', id, result: { context: { slot }, value: null } });
      },
    }),
  );
  const ask = async () => {
    for (const one of made) await one.ask('getBalance', ['x', { commitment: 'confirmed' }], z.unknown()).catch(() => 0);
  };
  return { measured, ask };
}

test('calls are measured by host, without the key in the address, and a node that lags by its slots', async () => {
  const { measured, ask } = members([
    ['ahead.test', 1_000],
    ['behind.test', 960],
    ['away.test', null],
  ]);
  await ask();
  expect(measured).toEqual([
    { endpoint: 'ahead.test', method: 'getBalance', result: 'ok' },
    { endpoint: 'ahead.test', lag: 0 },
    { endpoint: 'behind.test', method: 'getBalance', result: 'ok' },
    { endpoint: 'behind.test', lag: 40 },
    { endpoint: 'away.test', method: 'getBalance', result: 'no_answer' },
  ]);
});

test('an only address lags behind nothing', async () => {
  const { measured, ask } = members([['only.test', 1_000]]);
  await ask();
  expect(measured).toHaveLength(1);
});
