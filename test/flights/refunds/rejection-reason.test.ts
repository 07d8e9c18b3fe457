import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { CreatedIntent, Intent } from '../../../src/wire/flights/index.ts';
import { openDesk } from '../refund-desk.ts';

/** The operator's words on a rejected refund at GET /air/intents/{intent_id}: for the support code alone. */

const WORDS = 'Your fare keeps everything: see the conditions you agreed to.';
const WRONG = 'FLK-0000-0000-0000-0000';

let desk: Awaited<ReturnType<typeof openDesk>>;
beforeAll(async () => {
  desk = await openDesk();
});
afterEach(() => desk.world.clock.advance(25 * 3_600_000));
afterAll(() => desk.world.close());

async function ask(made: CreatedIntent, code?: string, clientAddress = '198.51.100.1') {
  const request = new Request(`http://flights.test/air/intents/${made.intent_id}`, {
    headers: code === undefined ? {} : { 'X-Customer-Support-Code': code },
  });
  const response = await desk.world.app.fetch(request, { clientAddress });
  const text = await response.text();
  return {
    status: response.status,
    text,
    body: JSON.parse(text) as Intent & { readonly code?: string },
    after: response.headers.get('retry-after'),
  };
}

async function rejected(): Promise<CreatedIntent> {
  const made = await desk.requested();
  const answer = await desk.ask(`/refund-requests/${made.intent_id}/reject`, { reason: WORDS });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return made;
}

test('the support code of an intent shows why its refund was rejected; without it the record is as it was', async () => {
  const made = await rejected();
  const open = await ask(made);
  expect(open.body.refund_request?.state).toBe('rejected');
  expect(open.body).not.toHaveProperty('refund_rejection_reason');
  expect(open.body).not.toHaveProperty('booking_reference');
  expect(open.text).not.toContain(WORDS);
  const own = await ask(made, ` ${made.customer_support_code.toLowerCase()} `);
  expect(own.body).toEqual({
    ...open.body,
    refund_rejection_reason: WORDS,
    booking_reference: expect.stringMatching(/^[A-Z0-9]{6}$/),
  });
  // An empty header proves nothing, and is no try.
  expect((await ask(made, ' ')).body).toEqual(open.body);
});

test('the words of the rejection before are not those of a new request; a note for the record is never shown', async () => {
  const made = await rejected();
  const again = await desk.world.paid(
    '/air/refund-requests',
    { intent_id: made.intent_id, reason: 'New facts.' },
    { headers: { 'X-Customer-Support-Code': made.customer_support_code, 'X-Passenger-Family-Name': 'Lovelace' } },
  );
  expect(again.status).toBe(202);
  expect((await ask(made, made.customer_support_code)).body.refund_rejection_reason).toBeNull();
  const approved = await desk.ask(`/refund-requests/${made.intent_id}/approve`, { note: 'A regular.' });
  expect(approved.status, JSON.stringify(approved.body)).toBe(200);
  const own = await ask(made, made.customer_support_code);
  expect(own.body.refund_rejection_reason).toBeNull();
  expect(own.text).not.toContain('A regular.');
});

test('403 support_code_mismatch: a wrong code, whether there are words to show or not, and never with any', async () => {
  const [withWords, without] = [await rejected(), await desk.requested()];
  for (const made of [withWords, without]) {
    const wrong = await ask(made, WRONG);
    expect([wrong.status, wrong.body.code]).toEqual([403, 'support_code_mismatch']);
    expect(wrong.text).not.toContain(WORDS);
    expect(wrong.text).not.toContain(WRONG);
  }
  // The code of another intent is as wrong as any.
  expect((await ask(withWords, without.customer_support_code)).status).toBe(403);
});

test('429 too_many_attempts: five wrong codes stop a guesser, not the owner and not the polling', async () => {
  const made = await rejected();
  const guesser = '198.51.100.66';
  for (let tries = 0; tries < 5; tries++) expect((await ask(made, WRONG, guesser)).status).toBe(403);
  const stopped = await ask(made, WRONG, guesser);
  expect([stopped.status, stopped.body.code, Number(stopped.after)]).toEqual([429, 'too_many_attempts', 900]);
  expect((await ask(made, made.customer_support_code, guesser)).status).toBe(429);
  expect((await ask(made, undefined, guesser)).status).toBe(200);
  const owner = await ask(made, made.customer_support_code);
  expect(owner.body.refund_rejection_reason).toBe(WORDS);
});
