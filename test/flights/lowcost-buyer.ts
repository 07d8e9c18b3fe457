// Run as a process of its own by lowcost-crash.test.ts: goes through one purchase, says when it has come to the moment
// at which it is to die, and waits there for its end.
import { writeSync } from 'node:fs';
import type { Purchase } from '../../src/airlines/fulfiller.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createSandboxLowcost } from '../../src/sandbox/lowcost/index.ts';
import { openSales } from '../../src/sandbox/lowcost/sales.ts';

const [orders = '', moment = ''] = process.argv.slice(2);
let text = '';
for await (const chunk of process.stdin) text += String(chunk);
const { nowMs, purchase } = JSON.parse(text) as { nowMs: number; purchase: Purchase };

if (moment === 'begun') {
  // The visit is on record and the form is being filled in.
  const sales = await openSales(orders);
  await sales.begin({
    reference: purchase.reference,
    offerId: purchase.offerId,
    passengerCount: purchase.passengers.length,
    nowMs,
  });
} else {
  const clock = { ...systemClock, now: () => nowMs };
  const lowcost = createSandboxLowcost({
    seed: 'test',
    clock,
    scenario: undefined,
    ticketingMs: 0,
    quotingMs: 60_000,
    orders,
  });
  await lowcost.book(purchase);
}
writeSync(1, moment);
setInterval(() => undefined, 60_000);
