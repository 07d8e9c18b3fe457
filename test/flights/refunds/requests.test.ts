import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CreatedIntent } from '../../../src/wire/flights/index.ts';
import { type Answered, openWorld, PASSENGER, type World } from '../world.ts';

/** POST /air/refund-requests: who may ask, what is refused free of charge, and that a request is recorded once. */

const FEE = 100_000n;
let world: World;
let offers = 0;
beforeAll(async () => {
  world = await openWorld({ airline: 'scripted' });
});
afterEach(() => {
  // A new day: no wrong try of one test slows the next one down.
  world.clock.advance(25 * 3_600_000);
});
afterAll(() => world.close());

const bookedIntent = async (passengers = [PASSENGER]): Promise<CreatedIntent> => {
  const made = await world.intent(`off_refund_${offers++}`);
  await world.book(made, passengers);
  await world.work();
  expect((await world.show(made)).status).toBe('booked');
  return made;
};

const headersOf = (made: CreatedIntent, familyName = 'Lovelace') => ({
  'X-Customer-Support-Code': made.customer_support_code,
  'X-Passenger-Family-Name': familyName,
});

const ask = (made: Pick<CreatedIntent, 'intent_id'>, headers: Record<string, string>, body: object = {}) =>
  world.paid('/air/refund-requests', { intent_id: made.intent_id, reason: 'I am ill.', ...body }, { headers });

const refusedFree = async (act: () => Promise<Answered>, status: number, code: string) => {
  const before = await world.usdc(world.wallet.address);
  const answer = await act();
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(await world.usdc(world.wallet.address)).toBe(before);
};

describe('a refund request', () => {
  test('is recorded for 0.10, with its words sealed, a page to the operator and a mail, in one step', async () => {
    const made = await bookedIntent();
    const before = await world.sums();
    const answer = await ask(made, headersOf(made), { contact: 'ada@elsewhere.example' });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      intent_id: made.intent_id,
      requested_at: expect.stringMatching(/^\d{4}-.*Z$/),
      status: 'received',
    });
    expect(answer.headers.get('payment-response')).not.toBeNull();
    const after = await world.sums();
    expect(before.wallet - after.wallet).toBe(FEE);
    expect(after.treasury - before.treasury).toBe(FEE);
    expect((await world.show(made)).status).toBe('booked');

    const rows = await world.store.selectFrom('refund_requests').selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toMatch(/I am ill|elsewhere|Lovelace/);
    const written = await world.store
      .selectFrom('outbox')
      .select(['kind', 'dedup_key'])
      .where('intent_id', '=', made.intent_id)
      .where('dedup_key', 'like', '%refund_request%')
      .execute();
    expect(written.map((row) => row.kind).sort()).toEqual(['email', 'page']);
  });

  test.each([
    ['case', 'loVELace'],
    ['surrounding white space', '  Lovelace\t'],
  ])('compares the family name without regard to %s', async (_what, name) => {
    const made = await bookedIntent();
    expect((await ask(made, headersOf(made, name))).status).toBe(202);
  });

  test('knows a name beyond ASCII however it was composed and however its bytes were written', async () => {
    const bytes = (text: string) => Buffer.from(text, 'utf8').toString('latin1');
    for (const header of ['PEÑA ', bytes('peña'), bytes('pen\u0303a'), bytes('PEN\u0303A')]) {
      const made = await bookedIntent([{ ...PASSENGER, family_name: 'Peña' }]);
      expect((await ask(made, headersOf(made, header))).status, header).toBe(202);
    }
  });

  test('is replayed, not repeated, for the same payment', async () => {
    const made = await bookedIntent();
    const body = { intent_id: made.intent_id, reason: 'x' };
    const asked = await world.call('/air/refund-requests', body, { headers: headersOf(made) });
    const headers = { ...headersOf(made), 'PAYMENT-SIGNATURE': await world.sign(asked) };
    const first = await world.call('/air/refund-requests', body, { headers });
    world.clock.advance(60_000);
    const second = await world.call('/air/refund-requests', body, { headers });
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.body).toEqual(first.body);
  });

  test('exists once for an intent, however many payments arrive at the same moment; the others are not charged', async () => {
    const made = await bookedIntent();
    const before = await world.usdc(world.wallet.address);
    const services = [world.service(), world.service(), world.service(), world.service()];
    const bodies = services.map((_one, index) => ({ intent_id: made.intent_id, reason: `because ${index}` }));
    const signed = await Promise.all(
      bodies.map(async (body) => {
        const asked = await world.call('/air/refund-requests', body, { headers: headersOf(made) });
        return { ...headersOf(made), 'PAYMENT-SIGNATURE': await world.sign(asked) };
      }),
    );
    const answers = await Promise.all(
      services.map((service, index) =>
        service.call('/air/refund-requests', bodies[index], { headers: signed[index] ?? {} }),
      ),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([202, 409, 409, 409]);
    expect(before - (await world.usdc(world.wallet.address))).toBe(FEE);
  });

  test('that was paid and never answered is received by the worker', async () => {
    const made = await bookedIntent();
    const body = { intent_id: made.intent_id, reason: 'x' };
    const broken = world.service(({ store, ...ports }) => ({
      ...ports,
      store: store.withPlugin({
        transformQuery: ({ node }) => {
          if (JSON.stringify(node).includes('"received"')) throw new Error('dead');
          return node;
        },
        transformResult: async ({ result }) => result,
      }),
    }));
    const asked = await broken.call('/air/refund-requests', body, { headers: headersOf(made) });
    const headers = { ...headersOf(made), 'PAYMENT-SIGNATURE': await world.sign(asked) };
    expect((await broken.call('/air/refund-requests', body, { headers })).status).toBe(500);
    world.clock.advance(120_000);
    await world.work();
    const row = await world.store
      .selectFrom('refund_requests')
      .select('state')
      .where('intent_id', '=', made.intent_id)
      .executeTakeFirst();
    expect(row?.state).toBe('received');
  });
});

describe('is refused free of charge:', () => {
  let made: CreatedIntent;
  beforeAll(async () => {
    made = await bookedIntent();
  });

  test('401 support_code_required, 401 family_name_required', async () => {
    const { 'X-Customer-Support-Code': code, 'X-Passenger-Family-Name': name } = headersOf(made);
    await refusedFree(() => ask(made, { 'X-Passenger-Family-Name': name }), 401, 'support_code_required');
    await refusedFree(() => ask(made, { 'X-Customer-Support-Code': code }), 401, 'family_name_required');
  });

  test('404 intent_not_found', () =>
    refusedFree(() => ask({ intent_id: 'int_none' }, headersOf(made)), 404, 'intent_not_found'));

  test('403 identity_mismatch, with the same words whichever was wrong', async () => {
    const wrongCode = { ...headersOf(made), 'X-Customer-Support-Code': 'FLK-0000-0000-0000-0000' };
    const answers = [
      await ask(made, wrongCode),
      await ask(made, headersOf(made, 'Byron')),
      await ask(made, { ...wrongCode, 'X-Passenger-Family-Name': 'Byron' }),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.body.code]).toEqual([403, 'identity_mismatch']);
      expect(answer.body).toEqual(answers[0]?.body);
    }
  });

  test.each([
    ['no reason', {}, 'reason'],
    ['an empty reason', { reason: '   ' }, 'reason'],
    ['a reason of 1001 characters', { reason: 'x'.repeat(1001) }, 'reason'],
    ['a contact of 321 characters', { reason: 'x', contact: 'x'.repeat(321) }, 'contact'],
    ['an unknown field', { reason: 'x', urgent: true }, 'urgent'],
  ])('400 invalid_request: %s', async (_title, fields, path) => {
    const answer = await world.call(
      '/air/refund-requests',
      { intent_id: made.intent_id, ...fields },
      { headers: headersOf(made) },
    );
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    expect(JSON.stringify(answer.body.detail)).toContain(`"path":"${path}"`);
  });

  test('a reason of 1000 and a contact of 320 characters are taken', async () => {
    const other = await bookedIntent();
    const body = { reason: 'x'.repeat(1000), contact: 'y'.repeat(320) };
    expect((await ask(other, headersOf(other), body)).status).toBe(202);
  });

  test('409 use_automatic_refund: the intent is active', async () => {
    const active = await world.intent(`off_refund_${offers++}`);
    await refusedFree(() => ask(active, headersOf(active)), 409, 'use_automatic_refund');
  });

  test('409 already_refunded', async () => {
    const refunded = await world.intent(`off_refund_${offers++}`);
    world.airline.script.status = 'failed';
    await world.book(refunded);
    await world.work();
    world.airline.script.status = 'ticketed';
    await refusedFree(() => ask(refunded, headersOf(refunded)), 409, 'already_refunded');
  });

  test('409 refund_already_requested', async () => {
    const other = await bookedIntent();
    expect((await ask(other, headersOf(other))).status).toBe(202);
    await refusedFree(() => ask(other, headersOf(other)), 409, 'refund_already_requested');
  });

  test('409 family_name_unavailable once personal data is purged, and only for the right code', async () => {
    const other = await bookedIntent();
    await world.store
      .updateTable('bookings')
      .set({ passengers_sealed: '' })
      .where('intent_id', '=', other.intent_id)
      .execute();
    await refusedFree(() => ask(other, headersOf(other)), 409, 'family_name_unavailable');
    const wrong = { ...headersOf(other), 'X-Customer-Support-Code': 'FLK-0000-0000-0000-0000' };
    await refusedFree(() => ask(other, wrong), 403, 'identity_mismatch');
  });

  test('400 invalid_payment_signature', async () => {
    const headers = { ...headersOf(made), 'PAYMENT-SIGNATURE': 'no payment' };
    const answer = await world.call('/air/refund-requests', { intent_id: made.intent_id, reason: 'x' }, { headers });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_payment_signature']);
  });

  test('a payment made for one family name does not pay for another', async () => {
    const other = await bookedIntent();
    const body = { intent_id: other.intent_id, reason: 'x' };
    const asked = await world.call('/air/refund-requests', body, { headers: headersOf(other) });
    const headers = { ...headersOf(other, 'LOVELACE'), 'PAYMENT-SIGNATURE': await world.sign(asked) };
    expect((await world.call('/air/refund-requests', body, { headers })).status).toBe(402);
  });
});
