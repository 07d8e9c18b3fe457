import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Address } from '@solana/kit';
import { getTransferInstruction } from '@solana-program/token';
import bs58 from 'bs58';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/kernel/clock.ts';
import { payoutMemo } from '../../src/kernel/domain/payout-names.ts';
import { type Cluster, DEVNET_USDC } from '../../src/solana/cluster.ts';
import { openRpcCluster } from '../../src/solana/rpc/index.ts';
import { type Signer, signerFromSeed } from '../../src/solana/signer.ts';
import { associatedTokenAddress } from '../../src/solana/token.ts';
import { buildTransaction } from '../../src/solana/transaction.ts';
import type { CreatedIntent, Intent, Offer, RefundCase, Stuck } from '../../src/wire/flights/index.ts';
import { type RpcCall, said, sentSignature, told } from '../solana/lying-rpc.ts';
import { signedCall } from './signed-call.ts';
import { asked, type Between, isRefundable, openStage, payOutOf, type Stage } from './stage.ts';

/**
 * The built service is killed (kill -9) around one transaction: before it reaches the cluster, after it landed and
 * before the answer, and after the answer when it asks what became of it. The next process ends what was begun.
 */

const MOMENTS = ['before it is sent', 'once it has landed', 'after the answer'] as const;
type Moment = (typeof MOMENTS)[number];

const MINUTE_MS = 60_000;
const FEE = 100_000n;
/** Two transactions of the operator, signed twice at most. */
const MOST_FEES = 50_000;

let stage: Stage;
let cluster: Cluster;
let offers: Offer[];
beforeAll(async () => {
  stage = await openStage(20);
  cluster = await openRpcCluster({ urls: [stage.rpcUrl], clock: systemClock });
}, 120_000);
afterAll(() => stage?.close());
beforeEach(async () => {
  stage.between.answer = (_call, honest) => honest();
  offers = await stage.offers();
});

/** Kills the service around the first transaction that `isIt`; then says so. `otherwise` answers all else. */
function killing(moment: Moment, isIt: (call: RpcCall) => boolean, otherwise: Between = (_call, honest) => honest()) {
  let signature: string | null = null;
  let isDead = false;
  const die = () => {
    isDead = true;
    stage.kill();
    return null;
  };
  stage.between.answer = async (call, honest) => {
    if (isDead) return otherwise(call, honest);
    if (signature !== null && call.method === 'getSignatureStatuses') return die();
    if (signature !== null || call.method !== 'sendTransaction' || !isIt(call)) return otherwise(call, honest);
    signature = sentSignature(call);
    if (moment === 'before it is sent') return die();
    const answer = await honest();
    // On a slow machine a blockhash may be too old by now: that one never lands, and another one is signed.
    if (isRefused(answer)) {
      signature = null;
      return answer;
    }
    return moment === 'once it has landed' ? die() : answer;
  };
  return { signature: () => signature, died: () => expect.poll(() => isDead, { timeout: 30_000 }).toBe(true) };
}

const isRefused = (answer: unknown): boolean => typeof answer === 'object' && answer !== null && 'error' in answer;

/** True when a transaction names an account. */
const isNamedIn = ({ params }: RpcCall, account: string): boolean =>
  Buffer.from(String(params[0]), 'base64').includes(Buffer.from(bs58.decode(account)));

const nothingStuck = async () => {
  const { bookings, effects, refund_requests, affiliate_payouts } = await stage.desk<Stuck>('/stuck');
  expect([bookings, effects, refund_requests, affiliate_payouts].flat()).toEqual([]);
};
const caseOf = (id: string) => stage.desk<RefundCase>(`/refund-requests/${id}`);
const approve = (id: string) => stage.desk<RefundCase>(`/refund-requests/${id}/approve`, {});

async function requested(): Promise<string> {
  const offer = offers.filter(isRefundable).pop();
  if (!offer) throw new Error('no fare is paid back');
  offers.splice(offers.indexOf(offer), 1);
  return stage.requested(offer);
}

test.each(MOMENTS)(
  'a pay-out that is killed %s is made once, and the refund ends',
  async (moment) => {
    const id = await requested();
    const before = await stage.usdc();
    const killed = killing(moment, (call) => payOutOf(call) === payoutMemo(id));
    await approve(id).catch(() => undefined);
    await killed.died();
    await stage.start();
    await expect.poll(async () => (await caseOf(id)).status, { timeout: 30_000 }).toBe('refunded');
    const { decision, payout_tx_hash: signature } = await caseOf(id);
    expect(signature).toBe(killed.signature());
    expect(await stage.paidOut(id)).toBe(1);
    expect((await stage.usdc()) - before).toBe(decision?.payout_amount);
    await nothingStuck();
  },
  120_000,
);

test.each([true, false])(
  'a pay-out that landed unrecorded, and is forgotten, ends by an operator who retries it (forgotten then: %s)',
  async (isForgottenThen) => {
    const id = await requested();
    const before = await stage.usdc();
    let forgets = true;
    const killed = killing(
      'once it has landed',
      (call) => payOutOf(call) === payoutMemo(id),
      async (call, honest) => {
        const gone = killed.signature();
        if (!forgets || gone === null) return honest();
        if (call.method === 'getTransaction' && call.params[0] === gone) return said(call, null);
        if (call.method === 'sendTransaction' && sentSignature(call) === gone) return said(call, gone);
        const answer = await honest();
        if (call.method === 'getSignaturesForAddress') answer.result = [];
        if (call.method === 'getSignatureStatuses') {
          const { value } = told(answer);
          told(answer).value = value.map((one, n) => ((call.params[0] as string[])[n] === gone ? null : one));
        }
        return answer;
      },
    );
    await approve(id).catch(() => undefined);
    await killed.died();
    // Longer than an outcome may stay unknown.
    await stage.start(13 * MINUTE_MS);
    const waiting = async () => (await stage.desk<Stuck>('/stuck')).effects.filter((one) => one.subject === id);
    await expect.poll(waiting, { timeout: 60_000 }).toMatchObject([{ kind: 'payout', state: 'stuck' }]);
    const [effect] = await waiting();
    forgets = isForgottenThen;
    const resolved = await stage.operator.run(['stuck', 'resolve', effect?.effect_id ?? '', 'retry', '--yes']);
    // Where the cluster remembers, the worker may have ended it a moment before.
    expect(isForgottenThen ? [0] : [0, 5], resolved.stderr).toContain(resolved.exitCode);
    await sleep(1000);
    expect(await stage.paidOut(id)).toBe(1);
    await approve(id);
    forgets = false;
    for (let round = 0; round < 30 && (await approve(id)).status !== 'refunded'; round++) await sleep(500);
    expect(await caseOf(id)).toMatchObject({ status: 'refunded', payout_tx_hash: killed.signature() });
    expect(await stage.paidOut(id)).toBe(1);
    expect((await stage.usdc()) - before).toBe((await caseOf(id)).decision?.payout_amount);
    await nothingStuck();
  },
  180_000,
);

const lamports = async () => Number((await cluster.accounts([stage.key('authority').address]))[0]?.lamports);

async function payerWith(usdc: bigint) {
  const signer: Signer = signerFromSeed(randomBytes(32));
  await asked(stage.rpcUrl, 'farelock_airdropUsdc', [signer.address, Number(usdc)]);
  const account = await associatedTokenAddress(signer.address, DEVNET_USDC);
  const holds = async () => (await cluster.tokenBalance(account)) ?? 0n;
  const pay = async (destination: Address, amount: bigint) => {
    const instruction = getTransferInstruction({ source: account, destination, authority: signer, amount });
    const feePayer = stage.key('facilitator');
    const blockhash = await cluster.latestBlockhash();
    const { wire } = buildTransaction({ feePayer, signers: [signer], instructions: [instruction], blockhash });
    await cluster.send(wire);
  };
  const create = async () => {
    const body = { offer_id: offers.pop()?.offer_id };
    return signedCall<CreatedIntent>(`${stage.flightsUrl()}/air/intents`, body, signer, cluster);
  };
  return { signer, account, holds, pay, create };
}

test.each(MOMENTS)(
  'an unpaid escrow whose refund and close is killed %s is gone, and its payer is free',
  async (moment) => {
    const [payer, friend] = [await payerWith(FEE), await payerWith(0n)];
    const before = await lamports();
    let sends = 0;
    const killed = killing(
      moment,
      // The opening, the payment, and what gives the rent back.
      () => sends === 3,
      async (call, honest) => {
        // The money goes elsewhere once the payment was verified and the escrow is open.
        if (call.method === 'sendTransaction' && sends === 2) await payer.pay(friend.account, FEE);
        return honest();
      },
    );
    const counted = stage.between.answer;
    stage.between.answer = (call, honest) => {
      if (call.method === 'sendTransaction') sends++;
      return counted(call, honest);
    };
    const creation = await payer.create();
    await creation().catch(() => undefined);
    await killed.died();
    await stage.start();
    await expect.poll(async () => before - (await lamports()), { timeout: 60_000 }).toBeLessThan(MOST_FEES);
    expect(await payer.holds()).toBe(0n);
    await friend.pay(payer.account, FEE);
    await expect
      .poll(async () => (await (await payer.create())()).status, { timeout: 30_000, interval: 2000 })
      .toBe(201);
    await nothingStuck();
  },
  180_000,
);

test.each(MOMENTS)(
  'an escrow that expired with dust in it, killed %s, gives it back once',
  async (moment) => {
    const payer = await payerWith(FEE + 1n);
    const before = await lamports();
    const { status, body: made } = await (await payer.create())();
    expect(status).toBe(201);
    await payer.pay(made.escrow.vault_address as Address, 1n);
    stage.kill();
    // Other intents run out at the same time.
    const killed = killing(moment, (call) => isNamedIn(call, made.escrow.address));
    await stage.start(31 * MINUTE_MS).catch(() => undefined);
    await killed.died();
    await stage.start();
    const shown = async () =>
      (await (await fetch(`${stage.flightsUrl()}/air/intents/${made.intent_id}`)).json()) as Intent;
    await expect
      .poll(shown, { timeout: 60_000 })
      .toMatchObject({ status: 'refunded', refund_reason: 'intent_expired', refund_tx_hash: killed.signature() });
    expect(await payer.holds()).toBe(1n);
    expect(await cluster.accounts([made.escrow.address, made.escrow.vault_address] as Address[])).toEqual([null, null]);
    expect(before - (await lamports())).toBeLessThan(MOST_FEES);
    await nothingStuck();
  },
  180_000,
);
