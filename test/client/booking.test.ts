import type { Address } from '@solana/kit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { NO_LIMITS, type PaymentRequest, type SpendingPolicy } from '../../src/client/base/spending.ts';
import type { IntentTerms } from '../../src/client/base/types.ts';
import { ESCROW_PROGRAM_ID, escrowAddress } from '../../src/escrow/address.ts';
import { escrowElf } from '../../src/escrow/elf.ts';
import { openInstructions } from '../../src/escrow/program.ts';
import { DEVNET_USDC } from '../../src/solana/cluster.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import type { Intent } from '../../src/wire/flights/index.ts';
import { newWallet, openShop, openWorld, type Shop, type World } from '../payments/world.ts';
import type { WebFetch as Fetch } from '../web.ts';
import { openClient } from './world.ts';

const AMOUNT = 5_000_000n;
let world: World;
let shop: Shop;
let intent: Intent;
let intents = 0;
let clients = 0;

beforeAll(async () => {
  world = await openWorld({ programs: [{ address: ESCROW_PROGRAM_ID, elf: escrowElf }] });
});
afterAll(() => world.close());

const atAgreed: SpendingPolicy = { limits: NO_LIMITS, agreed: { kind: 'booking', amount: AMOUNT, isTyped: false } };

beforeEach(async () => {
  await opened({ refundOwner: world.wallet.address });
});

/** An escrow on chain, the record that tells the same, and a shop that asks for its money. */
async function opened({ refundOwner }: { refundOwner: Intent['refund_wallet'] }): Promise<Intent> {
  const intentId = `int_${++intents}`;
  const refundAfter = (await world.cluster.unixTime()) + 86_400;
  const { address, vault } = await escrowAddress(intentId, { mint: DEVNET_USDC, programId: ESCROW_PROGRAM_ID });
  const { wire } = buildTransaction({
    feePayer: world.feePayer,
    instructions: await openInstructions({
      programId: ESCROW_PROGRAM_ID,
      authority: world.feePayer.address,
      payer: world.feePayer.address,
      mint: DEVNET_USDC,
      intentId,
      amount: AMOUNT,
      refundAfter: BigInt(refundAfter),
      treasury: world.treasury.address,
      refundOwner: refundOwner as Address,
    }),
    blockhash: await world.cluster.latestBlockhash(),
  });
  await world.cluster.send(wire);
  await world.cluster.airdropUsdc(world.wallet.address, AMOUNT);
  const at = new Date().toISOString();
  intent = {
    intent_id: intentId,
    status: 'active',
    offer_id: 'off_1',
    passenger_count: 1,
    funding_wallet: world.wallet.address,
    refund_wallet: refundOwner,
    escrow: {
      address,
      vault_address: vault,
      mint: DEVNET_USDC,
      amount: Number(AMOUNT),
      program_id: ESCROW_PROGRAM_ID,
      refund_after: new Date(refundAfter * 1000).toISOString(),
      observed_amount: 0,
    },
    expected_ticket_amount: 5_000_000,
    expected_ticket_amount_decimal: '5.00',
    expected_ticket_currency: 'USD',
    fee_amount: 0,
    order_id: null,
    booking_requested_at: null,
    ticketed_at: null,
    captured_at: null,
    capture_tx_hash: null,
    refund_reason: null,
    refunded_at: null,
    refund_tx_hash: null,
    refund_request: null,
    operator_review_since: null,
    booking_held_up_by: null,
    expires_at: at,
    created_at: at,
    updated_at: at,
  };
  shop = openShop(world);
  shop.terms = { amount: AMOUNT, payTo: address, asset: DEVNET_USDC, description: 'The escrow.' };
  shop.perform = async () => ({
    status: 200,
    body: { intent_id: intentId, status: 'active', booking: { state: 'queued', requested_at: at } },
  });
  return intent;
}

const fetchBook: Fetch = (request) => shop.fetch(new Request(request.url.replace('/air/book', '/book'), request));

async function book(
  policy = atAgreed,
  told: Intent = intent,
  { terms, refundWallet }: { terms?: IntentTerms; refundWallet?: string } = {},
) {
  const { client, store } = await openClient(world, fetchBook, { policy, file: `client-${intents}-${++clients}.db` });
  if (terms) {
    await store.remember({ intentId: told.intent_id, baseUrl: 'http://shop.test', supportCode: 'FLK-1', terms });
  }
  return client.book(told, [], { refundWallet }).finally(() => store.shut());
}

const held = () => world.usdc(intent.escrow.address);

test('a booking funds the escrow that the chain confirms, with exactly its amount', async () => {
  const { value, payment } = await book();
  expect(value).toMatchObject({ intent_id: intent.intent_id, booking: { state: 'queued' } });
  expect(payment?.amount).toBe('5.00');
  expect(await held()).toBe(AMOUNT);
});

test('every booking asks that nobody has agreed to, and is refused where nobody can be asked', async () => {
  await expect(book({ limits: NO_LIMITS })).rejects.toMatchObject({ code: 'payment_above_cap' });
  const asked: PaymentRequest[] = [];
  const ask = async (request: PaymentRequest) => {
    asked.push(request);
    return true;
  };
  await book({ limits: NO_LIMITS, canAsk: true, ask });
  expect(asked).toMatchObject([{ kind: 'booking', amount: AMOUNT, payTo: intent.escrow.address }]);
});

test.each([
  ['another payee', () => ({ payTo: world.treasury.address })],
  ['more money', () => ({ amount: AMOUNT + 1n })],
])('a challenge for %s than the intent says is refused', async (_name, change) => {
  shop.terms = { ...shop.terms, ...change() };
  await expect(book(atAgreed)).rejects.toMatchObject({ code: 'challenge_refused' });
  expect(await held()).toBe(0n);
});

test('an intent that tells another story than the chain is not paid', async () => {
  const stories: Partial<Intent>[] = [
    { intent_id: 'int_other' },
    { escrow: { ...intent.escrow, refund_after: new Date(Date.now() + 3_600_000).toISOString() } },
    { escrow: { ...intent.escrow, vault_address: newWallet().address } },
  ];
  for (const story of stories) {
    await expect(book(atAgreed, { ...intent, ...story })).rejects.toMatchObject({ code: 'escrow_mismatch' });
  }
  expect(await held()).toBe(0n);
});

test('an escrow that refunds somebody else is not paid, though record and chain agree, until that wallet is named', async () => {
  const thief = newWallet().address;
  const told = await opened({ refundOwner: thief });
  await expect(book(atAgreed, told)).rejects.toMatchObject({
    code: 'terms_not_agreed',
    message: expect.stringContaining(thief),
  });
  const other = newWallet().address;
  await expect(book(atAgreed, told, { refundWallet: other })).rejects.toMatchObject({ code: 'terms_not_agreed' });
  expect(await held()).toBe(0n);
  await book(atAgreed, told, { refundWallet: thief });
  expect(await held()).toBe(AMOUNT);
});

test('what was agreed to at creation is what is paid: refund wallet, amount, coin, offer and escrow', async () => {
  const mine = newWallet().address;
  const told = await opened({ refundOwner: mine });
  const escrow = { address: told.escrow.address, mint: told.escrow.mint, amount: told.escrow.amount };
  const terms = { offerId: 'off_1', refundOwner: mine, escrow };
  const changed = [
    { ...terms, refundOwner: newWallet().address },
    { ...terms, offerId: 'off_2' },
    { ...terms, escrow: { ...escrow, amount: escrow.amount - 1 } },
    { ...terms, escrow: { ...escrow, mint: newWallet().address } },
    { ...terms, escrow: { ...escrow, address: newWallet().address } },
  ];
  for (const wrong of changed) {
    await expect(book(atAgreed, told, { terms: wrong })).rejects.toMatchObject({ code: 'terms_not_agreed' });
  }
  expect(await held()).toBe(0n);
  await book(atAgreed, told, { terms });
  expect(await held()).toBe(AMOUNT);
});

test('a deadline that cannot be read stops a payment; one that is not said is not compared', async () => {
  const of = (refundAfter: string) => ({ ...intent, escrow: { ...intent.escrow, refund_after: refundAfter } });
  await expect(book(atAgreed, of('soon'))).rejects.toMatchObject({ code: 'escrow_mismatch' });
  expect(await held()).toBe(0n);
  await book(atAgreed, of(''));
  expect(await held()).toBe(AMOUNT);
});

test('an escrow that holds the money already is never paid again', async () => {
  await world.cluster.airdropUsdc(intent.escrow.address as never, AMOUNT);
  await expect(book()).rejects.toMatchObject({ code: 'escrow_mismatch', message: expect.stringMatching(/already/) });
  expect(await held()).toBe(AMOUNT);
});

test("a stranger's dust in the vault stops no booking", async () => {
  await world.cluster.airdropUsdc(intent.escrow.address as never, 1n);
  await book();
  expect(await held()).toBe(AMOUNT + 1n);
});

test('an escrow of an unknown program always asks, and says why', async () => {
  const elsewhere = { ...intent, escrow: { ...intent.escrow, program_id: '' } };
  await expect(book(atAgreed, elsewhere)).rejects.toMatchObject({ code: 'escrow_mismatch' });
  const asked: PaymentRequest[] = [];
  const ask = async (request: PaymentRequest) => {
    asked.push(request);
    return true;
  };
  await book({ ...atAgreed, canAsk: true, ask }, elsewhere);
  expect(asked[0]?.warning).toMatch(/names no program.*can't be verified/);
});
