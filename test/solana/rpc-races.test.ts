import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { silentLog } from '../../src/kernel/log.ts';
import { createFreshness, createMember, NoAnswer } from '../../src/solana/rpc/member.ts';
import { createLifetimes } from '../../src/solana/rpc/send.ts';
import { racing, turn } from '../racing.ts';

const ANSWER = z.looseObject({ context: z.looseObject({ slot: z.int() }) }).transform(({ context }) => context.slot);
const clock = { now: () => 1_800_000_000_000, sleep: async () => undefined };

/** Nodes behind two addresses: each answers of the slot that is its turn. */
function members(s: fc.Scheduler, slots: readonly number[]) {
  const freshness = createFreshness(clock.now);
  const left = [...slots];
  const fetching: typeof fetch = async (_url, init) => {
    const { id } = JSON.parse(String(init?.body)) as { id: number };
    const slot = left.pop() ?? 0;
    await turn(s, `a node answers of slot ${slot}`);
    return Response.json({ jsonrpc: '2.0', id, result: { context: { slot }, value: null } });
  };
  const shared = { clock, genesis: { hash: null }, log: silentLog, fetch: fetching };
  const closing = new AbortController().signal;
  return ['a', 'b'].map((name) =>
    createMember({ url: `http://${name}.test/`, standing: freshness.join(), closing, ...shared }),
  );
}

test('what was asked after an answer is never answered of an older slot than that, by whichever address', () =>
  racing(
    fc.tuple(
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 8 }),
      fc.constantFrom('confirmed', 'finalized'),
    ),
    async (s, [slots, commitment]) => {
      const both = members(s, slots);
      const heard: { atStep: number; slot: number }[] = [];
      let step = 0;
      const asks = slots.map(async (_slot, number) => {
        await turn(s, `${number} asks`);
        const askedAt = step++;
        try {
          const answer = await both[number % 2]?.ask('getBalance', ['x', { commitment }], ANSWER);
          const before = heard.filter(({ atStep }) => atStep < askedAt);
          for (const one of before) expect(answer).toBeGreaterThanOrEqual(one.slot);
          heard.push({ atStep: step++, slot: answer ?? 0 });
        } catch (error) {
          // A node that lags is no answer, and only when it does.
          if (!(error instanceof NoAnswer)) throw error;
          expect(heard.length).toBeGreaterThan(0);
        }
      });
      await s.waitFor(Promise.all(asks));
      expect(heard.length).toBeGreaterThan(0);
    },
  ));

test('a blockhash of ours is over from the height on that it was given out with, whatever came between', () =>
  racing(fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 6 }), async (s, steps) => {
    let height = 100n;
    const caller = {
      async read(method: string) {
        await turn(s, method);
        if (method === 'getEpochInfo') return { absoluteSlot: height, blockHeight: height };
        if (method === 'getLatestBlockhash') return { blockhash: `hash ${height}`, lastValidBlockHeight: height + 3n };
        return true;
      },
    };
    const lifetimes = createLifetimes(caller as unknown as Parameters<typeof createLifetimes>[0]);
    const given = new Map<string, bigint>();
    const act = async (blocks: number, number: number) => {
      await turn(s, `${number} comes`);
      const { blockhash, lastValidBlockHeight } = await lifetimes.latest();
      given.set(blockhash, lastValidBlockHeight);
      height += BigInt(blocks);
      for (const [hash, last] of given) {
        const before = height;
        const life = await lifetimes.of(hash);
        if (before > last) expect(life).toBe('over');
        if (height <= last) expect(life).toBe('alive');
      }
    };
    await s.waitFor(Promise.all(steps.map(act)));
  }));
