import { HTTPFacilitatorClient } from '@x402/core/http';
import { asInteger } from '../kernel/money.ts';
import { problem } from '../kernel/problems.ts';
import { shownUrl } from '../kernel/shown-url.ts';
import type { Cluster } from '../solana/cluster.ts';
import type { Requirements } from './challenge.ts';
import type { Facilitator, Outcome } from './facilitator.ts';
import { whyNotPayable } from './inspection.ts';
import type { Settlement } from './journal.ts';
import { readPayment, type SentPayment } from './payload.ts';

const TIMEOUT_MS = 20_000;

/** The account that the facilitator pays network fees from: part of every challenge. */
export async function feePayerOf(url: string, network: string): Promise<string> {
  const { kinds } = await pendingUnless(() => client(url).getSupported());
  const kind = kinds.find(
    (one) => one.x402Version === 2 && one.scheme === 'exact' && one.network === network,
  );
  const feePayer = kind?.extra?.feePayer;
  if (typeof feePayer === 'string') return feePayer;
  throw problem('internal_error', {
    cause: new Error(`${shownUrl(url)} does not settle exact payments on ${network}`),
  });
}

/**
 * A facilitator somewhere else, over x402's HTTP interface. Weaker than the one in our process, in two ways:
 *
 * - Its signature is not known before it answers, so after a lost answer the chain can't be asked for it. The same
 *   payload is sent to it again; one that keeps its own journal then says what happened. A payment of which nothing
 *   certain is learned stays `settling`: it is never charged again and never answered, and an operator has to look.
 * - Whether a refusal is final is its word. Only refusals that it gives before sending are taken for certain.
 *
 * Our own checks of the transaction, the quote and the journal are the same.
 */
export function createRemoteFacilitator(ports: { url: string; cluster: Cluster }): Facilitator {
  const { url, cluster } = ports;
  const settle = async (row: Settlement, mayHaveBeenSent: boolean): Promise<Outcome> => {
    if (row.transaction === null) throw new Error(`the payment ${row.payment_key} was never kept`);
    const kept = JSON.parse(row.transaction) as { header: string; requirements: Requirements };
    const { payload } = readPayment(kept.header);
    try {
      const answer = await client(url).settle(asPayload(payload, kept.requirements), kept.requirements);
      if (answer.success) return { kind: 'settled', transaction: answer.transaction };
      return !mayHaveBeenSent && REFUSED_BEFORE_SENDING.test(answer.errorReason ?? '')
        ? { kind: 'failed', reason: answer.errorReason ?? 'refused' }
        : { kind: 'unknown' };
    } catch {
      // Every error of a settle call leaves its outcome open: it may have been carried out all the same.
      return { kind: 'unknown' };
    }
  };
  return {
    async verify(sent, requirements) {
      const fault = await whyNotPayable(sent, {
        feePayer: requirements.extra.feePayer,
        asset: requirements.asset,
        payTo: requirements.payTo,
        amount: BigInt(requirements.amount),
        memo: requirements.extra.memo,
      });
      if (fault) return { valid: false, reason: fault };
      const [verdict, latest] = await pendingUnless(() =>
        Promise.all([
          client(url).verify(asPayload(sent.payload, requirements), requirements),
          cluster.latestBlockhash(),
        ]),
      );
      if (!verdict.isValid) return { valid: false, reason: verdict.invalidReason ?? 'verification failed' };
      return {
        valid: true,
        payer: sent.signers[1] ?? '',
        lastValidBlockHeight: asInteger(latest.lastValidBlockHeight),
      };
    },
    seal: (sent, requirements) => ({
      transaction: JSON.stringify({ header: sent.header, requirements }),
      signature: null,
    }),
    send: (row) => settle(row, false),
    resolve: (row) => settle(row, true),
  };
}

/** Reasons that x402's own facilitators give for what they read in a payload, before they send anything. */
const REFUSED_BEFORE_SENDING = /^invalid_exact_svm_(payload(?!.*simulation)|unsupported|network|fee_payer)/;

const client = (url: string) => new HTTPFacilitatorClient({ url, timeoutMs: TIMEOUT_MS });

const asPayload = (payload: SentPayment['payload'], requirements: Requirements) => ({
  x402Version: 2,
  accepted: { ...requirements },
  payload: payload.payload,
});

async function pendingUnless<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    throw problem('payment_pending', {
      message: 'The payment facilitator does not answer.',
      retryAfter: 5,
      cause,
    });
  }
}
