import type { Signature } from '@solana/kit';
import { HTTPFacilitatorClient } from '@x402/core/http';
import type { Clock } from '../kernel/clock.ts';
import { asInteger } from '../kernel/money.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import { shownUrl } from '../kernel/shown-url.ts';
import { type Cluster, hasLandedAs, landingOfMessage } from '../solana/index.ts';
import { whyNotPayable } from './inspection.ts';
import type { Settlement } from './journal.ts';
import type { Facilitator, Outcome } from './settling.ts';
import { type Requirements, requirementsOf } from './x402.ts';
import { readPayload } from './x402-payload.ts';

const TIMEOUT_MS = 20_000;

/** Asks the facilitator for its fee payer, which every challenge names. */
export async function feePayerOf(url: string, network: string): Promise<string> {
  const { kinds } = await pendingUnless(() => client(url).getSupported());
  const kind = kinds.find((one) => one.x402Version === 2 && one.scheme === 'exact' && one.network === network);
  const feePayer = kind?.extra?.feePayer;
  if (typeof feePayer === 'string') return feePayer;
  throw problem('internal_error', {
    cause: new Error(`${shownUrl(url)} does not settle exact payments on ${network}`),
  });
}

/**
 * Settles by a remote facilitator over x402's HTTP interface. Its signature comes with its answer, and it may refuse a
 * repeated request although the payment settled. So after a lost answer we look for the signed message on chain first,
 * and send the payload again only while it can land. Only refusals before sending are certain. Our own checks run too.
 */
export function createRemoteFacilitator(ports: {
  readonly url: string;
  readonly cluster: Cluster;
  readonly clock: Clock;
}): Facilitator {
  const { url, cluster } = ports;
  const settle = async (row: Settlement, mayHaveBeenSent: boolean): Promise<Outcome> => {
    const kept = keptOf(row);
    const { payload, messageBytes } = readPayload(kept.header);
    try {
      const answer = await client(url).settle(asPayload(payload, kept.requirements), kept.requirements);
      if (answer.success) return { kind: 'settled', transaction: answer.transaction };
      if (!mayHaveBeenSent && REFUSED_BEFORE_SENDING.test(answer.errorReason ?? ''))
        return { kind: 'failed', reason: answer.errorReason ?? 'refused' };
      // `settlement_pending` names the sent transaction: quicker to check than to search a history for it.
      const named = answer.transaction as Signature;
      return named && (await hasLandedAs(cluster, named, messageBytes))
        ? { kind: 'settled', transaction: named }
        : { kind: 'unknown' };
    } catch {
      // After any error of the settle call the payment may still have settled.
      return { kind: 'unknown' };
    }
  };
  return {
    async verify(sent, demand) {
      const { asset, amount, pay_to, memo } = demand.quote;
      const wanted = { feePayer: demand.feePayer, asset, payTo: pay_to, amount: BigInt(amount), memo };
      const fault = await whyNotPayable(sent, wanted);
      if (fault) return { valid: false, reason: fault };
      const requirements = requirementsOf(demand);
      const { payload } = readPayload(sent.header);
      const [verdict, latest] = await pendingUnless(() =>
        Promise.all([client(url).verify(asPayload(payload, requirements), requirements), cluster.latestBlockhash()]),
      );
      if (!verdict.isValid) return { valid: false, reason: verdict.invalidReason ?? 'verification failed' };
      return {
        valid: true,
        payer: sent.signers[1] ?? '',
        lastValidBlockHeight: asInteger(latest.lastValidBlockHeight),
      };
    },
    seal: (sent, demand) => ({
      transaction: JSON.stringify({ header: sent.header, requirements: requirementsOf(demand) }),
      signature: null,
    }),
    send: (row) => settle(row, false),
    async resolve(row) {
      const known = await outcomeOnChain(ports, row);
      return known === 'open' ? settle(row, true) : known;
    },
  };
}

function keptOf(row: Settlement): { readonly header: string; readonly requirements: Requirements } {
  if (row.transaction === null) throw new Error(`the payment ${row.payment_key} was never kept`);
  return JSON.parse(row.transaction) as { header: string; requirements: Requirements };
}

/** Looks for a payment on chain; `open` while it may still land, or if the chain can't be asked now. */
async function outcomeOnChain(
  ports: { readonly cluster: Cluster; readonly clock: Clock },
  row: Settlement,
): Promise<Outcome | 'open'> {
  const { header, requirements } = keptOf(row);
  const { messageBytes: message, accounts, instructions } = readPayload(header);
  // The account that pays has a shorter history than the one that is paid.
  const source = accounts[instructions[2]?.accounts[0] ?? 0];
  if (source === undefined) return 'open';
  try {
    const { landing, signature } = await landingOfMessage(ports, {
      message,
      memo: requirements.extra.memo,
      account: source,
      lastValidBlockHeight: BigInt(row.last_valid_block_height ?? 0),
      signedAtMs: row.created_at_ms,
    });
    if (landing.kind === 'landed' && signature !== null) return { kind: 'settled', transaction: signature };
    if (landing.kind === 'failed' && landing.final) return { kind: 'failed', reason: 'it failed on chain' };
    if (landing.kind === 'dead') return { kind: 'failed', reason: 'its blockhash expired before it landed' };
    return landing.kind === 'open' ? 'open' : { kind: 'unknown' };
  } catch (error) {
    if (isProblem(error, 'cluster_failed')) return 'open';
    throw error;
  }
}

/** Reasons for which x402's own facilitators refuse a payload before they send anything. */
const REFUSED_BEFORE_SENDING = /^invalid_exact_svm_(payload(?!.*simulation)|unsupported|network|fee_payer)/;

const client = (url: string) => new HTTPFacilitatorClient({ url, timeoutMs: TIMEOUT_MS });

const asPayload = (payload: Record<string, unknown>, requirements: Requirements) => ({
  x402Version: 2,
  accepted: { ...requirements },
  payload,
});

async function pendingUnless<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    throw problem('payment_pending', { message: 'The payment facilitator does not answer.', retryAfter: 5, cause });
  }
}
