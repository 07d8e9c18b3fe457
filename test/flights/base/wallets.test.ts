import { getCloseAccountInstruction } from '@solana-program/token';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import type { Signer } from '../../../src/solana/signer.ts';
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../../src/solana/token.ts';
import { buildTransaction } from '../../../src/solana/transaction.ts';
import type { CreatedIntent } from '../../../src/wire/flights/index.ts';
import { type Answered, openWorld, type World } from '../world.ts';

let world: World;
let offers = 0;
const nextOffer = () => `off_${++offers}`;
beforeAll(async () => {
  world = await openWorld({ airline: 'scripted' });
});
afterAll(() => world.close());

const create = (body: object, payer?: Signer) =>
  world.paid<CreatedIntent & { code?: string; detail?: unknown }>('/air/intents', body, payer && { payer });
const rich = async (): Promise<Signer> => {
  const wallet = world.newWallet();
  await world.cluster.airdropUsdc(wallet.address, 1_000_000_000n);
  return wallet;
};
const escrows = async () => (await world.store.selectFrom('intents').select('intent_id').execute()).length;

/** Runs a creation that has to be refused: nothing is charged, nothing opened. */
async function isFree(payer: Signer, act: () => Promise<Answered<{ code?: string }>>, code: string) {
  const before = [await world.usdc(payer.address), await escrows()];
  const answer = await act();
  expect([answer.status, answer.body.code]).toEqual([400, code]);
  expect([await world.usdc(payer.address), await escrows()]).toEqual(before);
}

async function closeAccount(owner: Signer): Promise<void> {
  const account = await associatedTokenAddress(owner.address, world.mint);
  await world.drain(owner);
  const { wire } = buildTransaction({
    feePayer: world.authority,
    signers: [owner],
    blockhash: await world.cluster.latestBlockhash(),
    instructions: [getCloseAccountInstruction({ account, destination: owner.address, owner })],
  });
  await world.cluster.send(wire);
}

describe('the funding wallet is the wallet that pays', () => {
  test("a stranger can't take somebody's (wallet, offer) pair and name his own refund wallet", async () => {
    const [thief, victim] = [await rich(), await rich()];
    const offer_id = nextOffer();
    const stolen = { offer_id, funding_wallet: victim.address, refund_wallet: thief.address };
    await isFree(thief, () => create(stolen, thief), 'funding_wallet_not_payer');
    const own = await create({ offer_id }, victim);
    expect([own.status, own.body.funding_wallet, own.body.refund_wallet]).toEqual([
      201,
      victim.address,
      victim.address,
    ]);
  });

  test('left out, it is taken from the payment, and blocks the pair of the payer alone', async () => {
    const [one, other] = [await rich(), await rich()];
    const offer_id = nextOffer();
    const made = await create({ offer_id, refund_wallet: world.refundWallet.address }, one);
    expect(made.body).toMatchObject({
      funding_wallet: one.address,
      refund_wallet: world.refundWallet.address,
      expected_ticket_amount: 151_200_000,
      expected_ticket_amount_decimal: '151.20',
      refund_request: null,
    });
    const again = await create({ offer_id }, one);
    expect([again.status, again.body.code, again.body.detail]).toEqual([
      409,
      'intent_already_exists',
      { intent_id: made.body.intent_id },
    ]);
    expect((await create({ offer_id }, other)).status).toBe(201);
  });

  test('the same payment says the same refusal again', async () => {
    const [thief, victim] = [await rich(), await rich()];
    const body = { offer_id: nextOffer(), funding_wallet: victim.address };
    const payment = await world.sign(await world.call('/air/intents', body), thief);
    const send = () => world.call('/air/intents', body, { headers: { 'PAYMENT-SIGNATURE': payment } });
    for (const answer of [await send(), await send()]) {
      expect([answer.status, answer.body.code]).toEqual([400, 'funding_wallet_not_payer']);
    }
  });
});

describe('the refund wallet can take a refund, and is nobody of ours', () => {
  test('one without a token account of the mint is refused before anything is charged', async () => {
    const payer = await rich();
    const poor = world.newWallet().address;
    const body = { offer_id: nextOffer(), refund_wallet: poor };
    const unpaid = await world.call('/air/intents', body);
    expect([unpaid.status, unpaid.body.code]).toEqual([400, 'refund_wallet_without_account']);
    await isFree(payer, () => create(body, payer), 'refund_wallet_without_account');
    await world.cluster.airdropUsdc(poor, 0n);
    expect((await create(body, payer)).status).toBe(201);
  });

  test('one whose account is closed between the challenge and the payment is refused, free of charge', async () => {
    const [payer, refund] = [await rich(), await rich()];
    const body = { offer_id: nextOffer(), refund_wallet: refund.address };
    const payment = await world.sign(await world.call('/air/intents', body), payer);
    await closeAccount(refund);
    const pay = () =>
      world.call<{ code?: string }>('/air/intents', body, { headers: { 'PAYMENT-SIGNATURE': payment } });
    await isFree(payer, pay, 'refund_wallet_without_account');
  });

  test("none of the operator's wallets, no mint and no program is one", async () => {
    const payer = await rich();
    const { escrow } = await world.intent(nextOffer());
    for (const wallet of [
      world.treasury.address,
      world.authority.address,
      world.facilitator.address,
      world.mint,
      ESCROW_PROGRAM_ID,
      TOKEN_PROGRAM,
      escrow.address,
      escrow.vault_address,
    ]) {
      const body = { offer_id: nextOffer(), refund_wallet: wallet };
      const unpaid = await world.call('/air/intents', body);
      expect([wallet, unpaid.status]).toEqual([wallet, 400]);
      expect(['refund_wallet_not_allowed', 'invalid_wallet']).toContain(unpaid.body.code);
      await isFree(payer, () => create(body, payer), String(unpaid.body.code));
    }
  });
});
