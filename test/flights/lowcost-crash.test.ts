import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Fulfiller, Purchase } from '../../src/airlines/fulfiller.ts';
import { buildProgram, type Program } from '../built.ts';
import { everyNth } from '../rounds.ts';
import { lowcostIntent, TRAVELLER } from './lowcost-journey.ts';
import { Died, mortal } from './mortal.ts';
import { openWorld, type World } from './world.ts';

/** The process that drives the carrier's website is killed in the middle of a purchase. The ticket is bought once. */

let world: World;
let program: Program;
beforeAll(async () => {
  world = await openWorld({ lowcostMs: 60_000, ticketingMs: 0 });
  await world.cluster.airdropUsdc(world.wallet.address, 1_000_000_000_000n);
  program = await buildProgram('flights/lowcost-buyer.ts');
});
afterAll(async () => {
  await world.close();
  program.remove();
});

/** Buys in a process of its own, which is killed when it says that it has come to a moment. */
async function buyAndDie(purchase: Purchase, moment: string): Promise<void> {
  const child = spawn(process.execPath, [program.path, join(world.home, 'airline.db'), moment], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify({ nowMs: world.clock.now(), purchase }));
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test.each([
  ['before the pay button', 'begun'],
  ['after it, with the answer lost', 'pressed'],
])('killed %s: asked about, bought once, captured once', async (_when, moment) => {
  const made = await lowcostIntent(world, 'LIS', 'BER');
  const before = await world.sums();
  await world.book(made, [TRAVELLER]);
  let bought = 0;
  const service = world.service((ports) => ({
    ...ports,
    lowcost: ports.lowcost && {
      ...ports.lowcost,
      async book(purchase: Purchase) {
        if (++bought > 1) return (ports.lowcost as Fulfiller).book(purchase);
        await buyAndDie(purchase, moment);
        throw new Error('the browser is gone');
      },
    },
  }));
  await world.work(300_000, service.worker);
  expect(await world.show(made)).toMatchObject({ status: 'booked' });
  // Only where the button was never pressed is it gone through again.
  expect(bought).toBe(moment === 'begun' ? 2 : 1);
  const amount = BigInt(made.escrow.amount);
  const after = await world.sums(made);
  expect([before.wallet - after.wallet, after.treasury - before.treasury, after.vault]).toEqual([amount, amount, 0n]);
});

test('a worker that dies at any moment of a purchase buys once, and captures once', async () => {
  const STRIDE = everyNth(23);
  let deaths = 0;
  for (let diesAt = 1 + Math.floor(Math.random() * STRIDE); ; diesAt += STRIDE) {
    const made = await lowcostIntent(world, 'LIS', 'BER');
    const before = await world.sums();
    await world.book(made, [TRAVELLER]);
    const { wrap, died } = mortal(diesAt);
    await world
      .service(wrap)
      .worker.runDue()
      .catch((error: unknown) => {
        if (!(error instanceof Died)) throw error;
      });
    world.clock.advance(61_000);
    await world.work(300_000);
    const amount = BigInt(made.escrow.amount);
    const after = await world.sums(made);
    expect(
      [(await world.show(made)).status, before.wallet - after.wallet, after.treasury - before.treasury],
      `died at moment ${diesAt}`,
    ).toEqual(['booked', amount, amount]);
    if (!died()) break;
    deaths++;
  }
  expect(deaths).toBeGreaterThan(1);
}, 120_000);
