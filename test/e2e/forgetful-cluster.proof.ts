import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { payoutMemo } from '../../src/kernel/domain/payout-names.ts';
import type { RefundCase } from '../../src/wire/flights/index.ts';
import { rounds } from '../rounds.ts';
import { said, sentSignature, told } from '../solana/lying-rpc.ts';
import { type Between, isRefundable, openStage, payOutOf, type Stage } from './stage.ts';

/**
 * The built service over a cluster that forgets: an approved refund's pay-out lands, its answer is lost, and for 110 s
 * every question about the transaction is answered as if it had never been, while blocks go on and whatever is sent
 * again is swallowed.
 */

const ROUNDS = rounds(0, 20);
/** One run goes by a clock that runs fast; many take the time that they take, all of them at once. */
const RATE = ROUNDS > 1 ? 1 : 20;
const FORGETS_MS = 110_000 / RATE;

let stage: Stage;
afterEach(() => stage?.close());

interface PayOut {
  readonly signature: string;
  readonly untilMs: number;
  /** Of what a kind the forgetting is. */
  readonly seed: number;
}

/** Forgets the first pay-out that is sent for each intent; `payouts` holds them by their memos. */
function forgetful() {
  const payouts = new Map<string, PayOut>();
  const forgotten = () => [...payouts.values()].filter(({ untilMs }) => performance.now() < untilMs);

  /** What is sent in place of a pay-out that is forgotten reaches the cluster. */
  const pay = async (memo: string, [call, honest]: Parameters<Between>) => {
    const signature = sentSignature(call);
    const known = payouts.get(memo);
    if (known?.signature === signature && performance.now() < known.untilMs) return said(call, signature);
    const answer = await honest();
    if (known) return answer;
    const seed = payouts.size;
    payouts.set(memo, { signature, untilMs: performance.now() + FORGETS_MS, seed });
    return seed % 3 === 2 ? answer : null;
  };

  const answer: Between = async (call, honest) => {
    const memo = payOutOf(call);
    if (memo !== null) return pay(memo, [call, honest]);
    const gone = forgotten();
    const isGone = (signature: unknown) => gone.some((one) => one.signature === signature);
    if (call.method === 'getTransaction' && isGone(call.params[0])) return said(call, null);
    const answer = await honest();
    if (call.method === 'getSignatureStatuses') {
      const { value } = told(answer);
      told(answer).value = value.map((status, n) => (isGone((call.params[0] as string[])[n]) ? null : status));
    }
    if (call.method === 'getSignaturesForAddress' && gone.length > 0) {
      const named = answer.result as { signature: string }[];
      // All of it is lost, or what is asked about.
      answer.result = gone.some(({ seed }) => seed % 2 === 0)
        ? []
        : named.filter(({ signature }) => !isGone(signature));
    }
    if (call.method === 'getMultipleAccounts' && gone.some(({ seed }) => seed % 5 === 4)) {
      const accounts = told<({ space?: number } | null)[]>(answer);
      accounts.value = accounts.value.map((account) => (account?.space === 1 ? null : account));
    }
    return answer;
  };
  return { answer, payouts, isForgetting: () => forgotten().length > 0 };
}

test('a pay-out that the cluster forgets for 110 s reaches the customer exactly once', async () => {
  stage = await openStage(RATE);
  const { desk, between, paidOut } = stage;
  const liar = forgetful();
  between.answer = liar.answer;
  const offers = (await stage.offers()).filter(isRefundable);
  const intents: string[] = [];
  for (let n = 0; n < ROUNDS; n++) {
    const offer = offers[n % offers.length];
    if (!offer) throw new Error('no fare is paid back');
    intents.push(await stage.requested(offer));
  }
  const before = await stage.usdc();

  const approve = (id: string) => desk<RefundCase>(`/refund-requests/${id}/approve`, {});
  const first = Promise.all(intents.map(approve));
  await expect.poll(() => liar.payouts.size, { timeout: 20_000 }).toBe(ROUNDS);
  const open = new Set(intents);
  for (const untilMs = performance.now() + 3 * FORGETS_MS; open.size > 0 && performance.now() < untilMs; ) {
    // An operator who sees no end of it presses again.
    for (const id of open) if ((await approve(id)).status === 'refunded') open.delete(id);
    await sleep(10_000 / RATE);
    if (liar.isForgetting()) expect(await paidOut(intents[0] ?? '')).toBe(1);
  }
  await first;
  expect([...open]).toEqual([]);
  let due = 0;
  for (const id of intents) {
    expect([id, await paidOut(id)]).toEqual([id, 1]);
    const { decision, payout_tx_hash: signature } = await desk<RefundCase>(`/refund-requests/${id}`);
    due += decision?.payout_amount ?? Number.NaN;
    expect(signature).toBe(liar.payouts.get(payoutMemo(id))?.signature);
  }
  expect((await stage.usdc()) - before).toBe(due);
}, 900_000);
