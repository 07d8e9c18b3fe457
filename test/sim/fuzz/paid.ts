import fc from 'fast-check';
import type { Answered, World } from '../../flights/world.ts';
import { textOf } from './broken.ts';
import type { Operation, ServedDocument } from './document.ts';
import type { Ask } from './requests.ts';
import type { Scene } from './scene.ts';
import { validOf } from './valid.ts';

/** What a paid call came to. `challenge` is what it asked for, `spent` what left the wallet. Atomic USDC. */
export interface Paid {
  readonly ask: Ask;
  readonly challenge: bigint;
  readonly answer: Answered<unknown>;
  readonly spent: bigint;
}

type Made = (scene: Scene) => Promise<Paid>;

/** Calls of every paid operation, made so that most are worth paying for. */
export function paidCalls(document: ServedDocument): fc.Arbitrary<Made> {
  const { SearchRequest, ...rest } = document.components.schemas;
  if (!SearchRequest) throw new Error('the document does not say what a search is');
  // A few of the many fields that may be left out: all together find nothing, and several exclude each other.
  const trip = { origin_iata: 'LIS', destination_iata: 'BER', depart_date: '2026-12-20' };
  const search = validOf(SearchRequest, rest).chain((body) =>
    fc
      .shuffledSubarray(Object.entries(body as object), { maxLength: 2 })
      .map((some) => ({ ...Object.fromEntries(some), ...trip })),
  );
  const offer = fc.constantFrom('$offer', '$dearest');
  return fc.oneof(
    { arbitrary: search.map((body) => posting('POST /air/search', () => body)), weight: 5 },
    { arbitrary: offer.map((id) => posting('POST /air/offer-details', () => ({ offer_id: id }))), weight: 3 },
    { arbitrary: fc.tuple(offer, fc.boolean()).map(([id, own]) => locking(id, own)), weight: 3 },
    { arbitrary: passenger.map(booking), weight: 3 },
    { arbitrary: fc.constantFrom<Made>(readingOrder, readingOrder), weight: 2 },
    ...('/air/refund-requests' in document.paths ? [{ arbitrary: reason.map(requesting), weight: 2 }] : []),
  );
}

const name = fc.stringMatching(/^[A-Za-zÀ-ÖØ-öø-ÿ]{1,20}([ '-][A-Za-zÀ-ÖØ-öø-ÿ]{1,15})?$/);
const passenger = fc.record({
  given_name: name,
  family_name: name,
  born_on: fc
    .tuple(fc.integer({ min: 1930, max: 2013 }), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 28 }))
    .map((parts) => parts.map((one) => String(one).padStart(2, '0')).join('-')),
  title: fc.constantFrom('mr', 'mrs', 'ms', 'miss', 'dr'),
  gender: fc.constantFrom('m', 'f'),
  email: fc.constant('ada@example.org'),
  phone_number: fc.constantFrom('+351912345678', '+442079460958'),
});
const reason = fc.string({ minLength: 1, maxLength: 1000 }).filter((text) => text.trim() !== '');

const posting = (operation: string, body: (scene: Scene) => object, headers: object = {}): Made => {
  return (scene) => pay(scene, asking(scene.find(operation), body(scene), headers));
};

/** Every intent with a wallet of its own, so that no pair is taken. */
const locking =
  (offerId: string, withRefundWallet: boolean): Made =>
  async (scene) => {
    const { world } = scene;
    const payer = world.newWallet();
    await world.cluster.airdropUsdc(payer.address, 1_000_000n);
    const body = {
      ...(withRefundWallet ? { refund_wallet: world.refundWallet.address } : { funding_wallet: payer.address }),
      offer_id: offerId,
    };
    return pay(scene, asking(scene.find('POST /air/intents'), body, {}), payer);
  };

const booking =
  (traveller: object): Made =>
  async (scene) => {
    const made = await locking('$offer', false)(scene);
    const { intent_id } = made.answer.body as { intent_id: string };
    return posting('POST /air/book', () => ({ intent_id, passengers: [traveller] }))(scene);
  };

const readingOrder: Made = (scene) => {
  const operation = scene.find('GET /air/orders/{order_id}');
  const ask = asking(operation, null, { 'x-customer-support-code': '$code' });
  return pay(scene, { ...ask, path: '/air/orders/$order' });
};

const requesting = (text: string): Made =>
  posting('POST /air/refund-requests', () => ({ intent_id: '$booked', reason: text }), {
    'x-customer-support-code': '$code',
    'x-passenger-family-name': ' lovelace ',
  });

const asking = (operation: Operation, body: object | null, headers: object): Ask => ({
  operation,
  method: operation.method,
  path: operation.path,
  headers: { ...(body === null ? {} : { 'content-type': 'application/json' }), ...headers },
  body: body === null ? null : textOf(body),
});

async function pay(scene: Scene, ask: Ask, payer = scene.world.wallet): Promise<Paid> {
  const { world } = scene;
  const asked = await scene.send(ask);
  if (asked.status !== 402) return { ask, challenge: 0n, answer: asked, spent: 0n };
  const before = await world.usdc(payer.address);
  const payment = await world.sign(asked as Parameters<World['sign']>[0], payer);
  const headers = { ...ask.headers, 'payment-signature': payment };
  const answer = await scene.send({ ...ask, headers });
  const { accepts } = asked.body as { accepts: { amount: string }[] };
  const spent = before - (await world.usdc(payer.address));
  return { ask, challenge: BigInt(accepts[0]?.amount ?? 0), answer, spent };
}
