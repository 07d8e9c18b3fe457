import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { isProblem, problem } from '../kernel/problems.ts';
import { associatedTokenAddress, type Cluster, tokenIn } from '../solana/index.ts';
import { inspectAuthorize } from './auth-capture-layout.ts';
import {
  insist,
  insistSimulated,
  LEAST_LEAD_S,
  placeOf,
  Refusal,
  readCollect,
  readRequirements,
  SCHEME,
} from './auth-capture-terms.ts';
import type { Demand, SentAuthorization, SentPayment } from './protocol.ts';
import type { AuthorizationAsked } from './terms.ts';

/** The scheme `auth-capture` at our own paywall: quotes, journal and replay work as for `exact`. */

const TRANSACTION_LIFE_S = 60;

/** Builds the requirements of a payment by an authorization, which we capture later. */
export function requirementsToAuthorize({ quote, network, feePayer }: Demand, terms: AuthorizationAsked) {
  return {
    scheme: SCHEME,
    network,
    asset: quote.asset,
    amount: String(quote.amount),
    payTo: terms.payTo,
    maxTimeoutSeconds: TRANSACTION_LIFE_S,
    extra: {
      captureMode: 'deferred',
      program: terms.programId,
      genesis: terms.genesis,
      feePayer,
      captureAuthorizer: terms.operator,
      receiverAuthorizer: terms.receiverAuthorizer,
      captureDeadline: Number(terms.captureDeadline),
      refundDeadline: Number(terms.refundDeadline),
      nonce: Buffer.from(terms.nonce).toString('hex'),
      memo: quote.memo,
      quote: quote.quote_id,
    },
  };
}

/** @throws Problem `invalid_payment_signature` */
export async function readAuthorization(
  accepted: PaymentRequirements,
  payload: PaymentPayload['payload'],
): Promise<SentAuthorization> {
  try {
    const wanted = readRequirements(accepted, 'accepted');
    return { accepted: wanted, place: await placeOf(wanted, readCollect(payload)) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw problem('invalid_payment_signature', {
      message: `PAYMENT-SIGNATURE cannot be read: ${error.reason}: ${error.message}.`,
    });
  }
}

/** Finds why an authorization cannot be opened. The caller checks that its terms are those of the call. */
export async function whyNotAuthorizable(
  cluster: Cluster,
  { transaction, authorization }: SentPayment & { readonly authorization: SentAuthorization },
  demand: Demand,
): Promise<string | null> {
  const { accepted, place } = authorization;
  const { payTo, mint, captureDeadline } = place.terms;
  try {
    insist(accepted.extra.feePayer === demand.feePayer, 'terms_mismatch', 'the fee payer is not that of the challenge');
    const latest = captureDeadline - BigInt(LEAST_LEAD_S);
    insist(BigInt(await cluster.unixTime()) <= latest, 'deadline_order', 'the capture deadline is too near');
    const wire = await inspectAuthorize(transaction, accepted, place);
    const [state, receiving] = await cluster.accounts([place.escrow, await associatedTokenAddress(payTo, mint)]);
    insist(!state || state.data.length === 0, 'already_authorized', 'there is an authorization of these terms');
    insist(tokenIn(receiving)?.state === 'initialized', 'simulation', 'payTo has no token account that can be paid');
    await insistSimulated(cluster, wire);
    return null;
  } catch (error) {
    if (error instanceof Refusal) return `${error.reason}: ${error.message}`;
    if (isProblem(error, 'transaction_failed')) return error.message;
    throw error;
  }
}
