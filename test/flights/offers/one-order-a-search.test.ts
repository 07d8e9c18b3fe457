import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Signer } from '../../../src/solana/signer.ts';
import type { CreatedIntent, OfferDetailsResponse } from '../../../src/wire/flights/index.ts';
import { proofTest } from '../../proof-only.ts';
import { searched } from '../../sandbox/duffel/served.ts';
import { openStage } from '../duffel-journeys.ts';
import { PASSENGER } from '../world.ts';

/** An airline that makes one order from a search: what is sold, or being ordered, is refused before anything is paid. */

let stage: Awaited<ReturnType<typeof openStage>>;
let service: ReturnType<typeof stage.service>;
let other: Signer;
beforeAll(async () => {
  stage = await openStage('one order a search');
  service = stage.service();
  other = stage.world.newWallet();
  await stage.world.cluster.airdropUsdc(other.address, 10_000_000_000n);
});
afterAll(() => stage.close());

let fares: readonly { readonly id: string }[];
let first: CreatedIntent;
let second: CreatedIntent;
beforeEach(async () => {
  fares = await searched(stage.duffel, 'VIE', 'LIS', '2027-01-20', {}, 'ZZ');
  first = await lock(0, stage.world.wallet);
  second = await lock(1, other);
});

// What a test left on its way uses up no behaviour of the next one's.
afterEach(async () => {
  await stage.duffel.admin('/behaviours', { order: 'normal' });
  await stage.world.work(undefined, service.worker);
});

const fare = (at: number): string => fares[at]?.id ?? '';
const paid = <T = Record<string, unknown>>(path: string, body: object, payer: Signer) =>
  stage.world.paid<T>(path, body, { call: service.call, payer });
const intentOf = (at: number, { address }: Signer) => ({
  funding_wallet: address,
  refund_wallet: stage.world.refundWallet.address,
  offer_id: fare(at),
});
async function lock(at: number, payer: Signer): Promise<CreatedIntent> {
  const answer = await paid<CreatedIntent>('/air/intents', intentOf(at, payer), payer);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}
const bookingOf = (made: CreatedIntent, familyName = 'Lovelace') => ({
  intent_id: made.intent_id,
  passengers: [{ ...PASSENGER, family_name: familyName }],
});

/** Everything that a second customer may try. */
async function everythingIsRefused(): Promise<void> {
  const before = await stage.world.usdc(other.address);
  for (const [path, body] of [
    ['/air/offer-details', { offer_id: fare(2) }],
    ['/air/intents', intentOf(2, other)],
    ['/air/book', bookingOf(second)],
  ] as const) {
    const answer = await paid(path, body, other);
    expect([path, answer.status, answer.body.code]).toEqual([path, 409, 'offer_unavailable']);
  }
  expect(await stage.world.usdc(other.address)).toBe(before);
}

test('paid for and not ordered yet: no other fare of the search is shown, locked or booked', async () => {
  expect((await paid('/air/book', bookingOf(first), stage.world.wallet)).status).toBe(200);
  await everythingIsRefused();
});

test('sold: no other fare of the search is shown, locked or booked', async () => {
  await paid('/air/book', bookingOf(first), stage.world.wallet);
  await stage.world.work(undefined, service.worker);
  expect((await stage.world.show(first)).status).toBe('booked');
  await everythingIsRefused();
});

proofTest('while nobody knows whether it was ordered, it is not sold again', async () => {
  await stage.duffel.admin('/behaviours', { order: ['unauthorized'] });
  await paid('/air/book', bookingOf(first), stage.world.wallet);
  await stage.world.work(60_000, service.worker);
  await everythingIsRefused();
});

test('of two that pay at the same moment one is booked, and the other keeps its money', async () => {
  const sum = async () =>
    (await stage.world.usdc(other.address)) + (await stage.world.usdc(stage.world.wallet.address));
  const calls = await Promise.all(
    (
      [
        [first, stage.world.wallet],
        [second, other],
      ] as const
    ).map(async ([made, payer], at) => {
      const body = bookingOf(made, `Lovelace${'ab'[at]}`);
      const challenge = await service.call('/air/book', body);
      expect(challenge.status).toBe(402);
      return { made, body, headers: { 'PAYMENT-SIGNATURE': await stage.world.sign(challenge, payer) } };
    }),
  );
  const before = await sum();
  const answers = await Promise.all(calls.map(({ body, headers }) => service.call('/air/book', body, { headers })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const winner = calls[answers.findIndex(({ status }) => status === 200)]?.made;
  expect(before - (await sum())).toBe(BigInt(winner?.escrow.amount ?? 0));
});

test('what the airline refused for certain frees the search', async () => {
  await stage.duffel.admin('/behaviours', { order: ['price_changed'] });
  await paid('/air/book', bookingOf(first), stage.world.wallet);
  await stage.world.work(undefined, service.worker);
  expect((await stage.world.show(first)).status).toBe('refunded');
  const details = await paid<OfferDetailsResponse>('/air/offer-details', { offer_id: fare(1) }, other);
  expect(details.status).toBe(200);
  expect((await paid('/air/book', bookingOf(second), other)).status).toBe(200);
  await stage.world.work(undefined, service.worker);
  expect((await stage.world.show(second)).status).toBe('booked');
});
