import { expect } from 'vitest';
import { type Answered, openWorld, PASSENGER, TRIP } from './world.ts';

/** The challenge of each paid call, in a world in which each can be asked. */

interface Discovery {
  info: { input: Record<string, unknown> & { body?: object } };
  schema: { properties: { input: { properties: { body?: { properties: object } } } } };
}
export interface Required {
  resource: { url: string };
  accepts: { scheme: string }[];
  extensions: { bazaar: Discovery };
}

export async function openPaidCalls() {
  const world = await openWorld({ airline: 'scripted' });
  const intent = await world.intent('off_1');
  const booked = await world.intent('off_2');
  await world.book(booked);
  await world.work();
  const { order_id } = await world.show(booked);
  const code = { 'X-Customer-Support-Code': booked.customer_support_code };
  const owner = { ...code, 'X-Passenger-Family-Name': PASSENGER.family_name };
  const asks: [route: string, path: string, body: unknown, headers: Record<string, string>][] = [
    ['POST /air/search', '/air/search', TRIP, {}],
    ['POST /air/offer-details', '/air/offer-details', { offer_id: 'off_3' }, {}],
    ['POST /air/intents', '/air/intents', { offer_id: 'off_3' }, {}],
    ['POST /air/book', '/air/book', { intent_id: intent.intent_id, passengers: [PASSENGER] }, {}],
    ['GET /air/orders/{order_id}', `/air/orders/${order_id}`, undefined, code],
    ['POST /air/refund-requests', '/air/refund-requests', { intent_id: booked.intent_id, reason: 'Ill.' }, owner],
  ];
  /** @returns each with its route, as the documents name it */
  async function challenges(more: Record<string, string> = {}) {
    const answers: Record<string, Answered<Required>> = {};
    for (const [route, path, body, headers] of asks) {
      answers[route] = await world.call<Required>(path, body, { headers: { ...headers, ...more } });
      expect(answers[route].status, route).toBe(402);
    }
    return Object.entries(answers);
  }
  return { world, asks, challenges };
}
