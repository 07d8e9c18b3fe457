import { manualClock } from '../../../src/kernel/clock.ts';
import { createSandboxProvider } from '../../../src/sandbox/airline/index.ts';
import { NOW_MS, passenger, query } from './world.ts';

/** A process of its own: orders the same references as another one, at once, and prints what it was given. */
const [orders = '', count = '0'] = process.argv.slice(2);
const provider = createSandboxProvider({ seed: 'test', clock: manualClock(NOW_MS), ticketingMs: 0, orders });
const offers = await provider.search(query('LHR', 'JFK'));
const made = await Promise.all(
  offers.slice(0, Number(count)).map(async (offer, i) => {
    const order = await provider.createOrder({
      reference: `ref-${i}`,
      offerId: offer.offer_id,
      expectedAmountDecimal: offer.total_amount_decimal,
      passengers: [passenger()],
    });
    return `${order.reference} ${order.providerOrderId} ${order.bookingReference} ${order.totalAmountDecimal}`;
  }),
);
await provider.close();
process.stdout.write(JSON.stringify({ ids: offers.map((offer) => offer.offer_id), made }));
