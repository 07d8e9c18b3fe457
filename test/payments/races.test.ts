import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isProblem } from '../../src/kernel/problems.ts';
import { clockInTurn, heardInTurn, inTurn, racing, turn } from '../racing.ts';
import { openShop, openWorld, pay, request, type World } from './world.ts';

const time = { nowMs: 1_800_000_000_000 };
let world: World;
beforeAll(async () => {
  world = await openWorld({ clock: { now: () => time.nowMs, sleep: async () => undefined } });
});
afterAll(() => world.close());

test('copies of one payment at processes of any speed, beside recovery: charged once, and one answer', () =>
  racing(
    fc.record({
      path: fc.constantFrom('/search', '/book'),
      copies: fc.integer({ min: 2, max: 3 }),
      recovers: fc.boolean(),
    }),
    async (s, { path, copies, recovers }) => {
      time.nowMs += 5_000;
      await world.cluster.airdropUsdc(world.wallet.address, 100_000n);
      const healthy = openShop(world);
      const body = { at: time.nowMs };
      const payment = await pay(world, healthy, path, body);
      const before = await world.usdc(world.treasury);
      const ports = (who: string) => ({
        store: world.store.withPlugin(heardInTurn(s, who)),
        cluster: inTurn(s, who, world.cluster),
        clock: clockInTurn(s, time),
      });
      const heard: (readonly [status: number, text: string])[] = [];
      const send = async (who: string) => {
        await turn(s, `${who} comes`);
        const shop = openShop(world, ports(who));
        shop.perform = async (_payment, given) => ({ status: 200, body: { who, given } });
        try {
          const answer = await shop.fetch(request(path, body, payment));
          heard.push([answer.status, await answer.text()]);
        } catch (error) {
          if (!isProblem(error, 'payment_pending')) throw error;
        }
      };
      const recover = async () => {
        await turn(s, 'recovery comes');
        await openShop(world, ports('recovery')).paywall.recover();
      };
      const all = Array.from({ length: copies }, (_, copy) => send(`copy ${copy}`));
      await s.waitFor(Promise.all([...all, ...(recovers ? [recover()] : [])]));
      time.nowMs += 5_000;
      const last = await healthy.fetch(request(path, body, payment));
      const end = [last.status, await last.text()] as const;
      const charged = (await world.usdc(world.treasury)) - before;
      if (end[0] === 200) {
        expect(charged).toBe(100_000n);
        for (const one of heard) expect(one).toEqual(end);
      } else {
        // Everybody was so slow that the challenge died: nobody was charged, and nobody was told so.
        expect([end[0], charged]).toEqual([402, 0n]);
        expect(heard.filter(([status]) => status === 200)).toEqual([]);
      }
    },
    { short: 25, long: 1_000 },
  ));
