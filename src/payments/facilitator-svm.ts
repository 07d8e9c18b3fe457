import { type Address, getTransactionDecoder, getTransactionEncoder, type Signature } from '@solana/kit';
import { ExactSvmScheme } from '@x402/svm/exact/facilitator';
import { asInteger } from '../kernel/money.ts';
import { isProblem, problem } from '../kernel/problems.ts';
import type { Cluster } from '../solana/cluster.ts';
import type { Signer } from '../solana/signer.ts';
import { signatureOf } from '../solana/transaction.ts';
import type { Requirements } from './challenge.ts';
import type { Facilitator, Outcome, Verdict } from './facilitator.ts';
import {
  MOST_COMPUTE_UNITS,
  MOST_PRICE_MICROLAMPORTS,
  MOST_SIGNATURES,
  whyNotPayable,
} from './inspection.ts';
import type { Settlement } from './journal.ts';
import type { SentPayment } from './payload.ts';

/** Blocks to wait beyond the last valid one before "unknown" becomes "never": nodes lag behind each other. */
const MARGIN_BLOCKS = 32n;

/**
 * The facilitator in our own process: the package's `exact` scheme verifies, over the Cluster port. Settling is done
 * here rather than by its `settle`, which takes any error of sending for a failure: a payment whose answer was lost
 * would be called unpaid. The journal takes the place of its in-memory pending store and settlement cache.
 */
export function createSvmFacilitator(ports: { cluster: Cluster; feePayer: Signer }): Facilitator {
  const { cluster, feePayer } = ports;
  return {
    verify: (sent, requirements) => verify(cluster, feePayer, sent, requirements),
    seal(sent) {
      const wire = countersign(feePayer, sent.transaction);
      return { transaction: Buffer.from(wire).toString('base64'), signature: signatureOf(wire) };
    },
    async send(row) {
      const { wire, signature } = signed(row);
      try {
        return { kind: 'settled', transaction: await cluster.send(wire) };
      } catch (error) {
        const known = await landed(cluster, signature);
        if (known) return known;
        // Never sent before, refused, and not on chain: nobody else has our signature, so it can't land later.
        if (isProblem(error, 'transaction_failed')) return { kind: 'failed', reason: reasonOf(error) };
        return unknownIf(error);
      }
    },
    async resolve(row) {
      const { wire, signature, lastValidBlockHeight } = signed(row);
      const known = await landed(cluster, signature);
      if (known) return known;
      const height = await heightOf(cluster);
      if (height === null) return { kind: 'unknown' };
      if (height > lastValidBlockHeight + MARGIN_BLOCKS) {
        // Asked again after the height: it may have landed in its last block, between the two questions.
        const late = (await landed(cluster, signature)) ?? (await inHistory(cluster, signature));
        return late ?? { kind: 'failed', reason: 'its blockhash expired before it landed' };
      }
      try {
        return { kind: 'settled', transaction: await cluster.send(wire) };
      } catch (error) {
        // A refusal says nothing here: an earlier send may have landed, and spent the very money it now lacks.
        return (await landed(cluster, signature)) ?? unknownIf(error);
      }
    },
  };
}

async function verify(
  cluster: Cluster,
  feePayer: Signer,
  sent: SentPayment,
  requirements: Requirements,
): Promise<Verdict> {
  const fault = await whyNotPayable(sent, {
    feePayer: feePayer.address,
    asset: requirements.asset,
    amount: BigInt(requirements.amount),
    memo: requirements.extra.memo,
  });
  if (fault) return { valid: false, reason: fault };
  // The package reports any error of the simulation as an invalid payment; ours to tell an outage apart.
  let outage: unknown;
  const scheme = new ExactSvmScheme(
    {
      getAddresses: () => [feePayer.address],
      signTransaction: async (transaction) =>
        Buffer.from(countersign(feePayer, transaction)).toString('base64'),
      async simulateTransaction(transaction) {
        const wire = new Uint8Array(Buffer.from(transaction, 'base64'));
        const simulation = await cluster
          .simulate(wire, { verifySignatures: false })
          .catch((error: unknown) => {
            if (!isProblem(error, 'transaction_failed')) outage = error;
            throw error;
          });
        if (simulation.err !== null) throw new Error(inWords(simulation.err));
      },
      sendTransaction: () => Promise.reject(new Error('payments are sent by the settlement journal')),
      confirmTransaction: () => Promise.reject(new Error('payments are confirmed by the settlement journal')),
    },
    undefined,
    {
      maxComputeUnits: MOST_COMPUTE_UNITS,
      maxPriorityFeeMicroLamports: MOST_PRICE_MICROLAMPORTS,
      maxRequiredSignatures: MOST_SIGNATURES,
    },
  );
  const verdict = await scheme.verify(
    {
      x402Version: 2,
      accepted: { ...requirements },
      payload: { transaction: sent.transaction },
    },
    { ...requirements },
  );
  if (outage !== undefined) throw pendingFor(outage);
  if (!verdict.isValid) {
    return { valid: false, reason: verdict.invalidMessage ?? verdict.invalidReason ?? 'verification failed' };
  }
  // The blockhash of the transaction is not newer than the newest one, so it does not outlive it either.
  const latest = await cluster.latestBlockhash().catch((error: unknown) => {
    throw pendingFor(error);
  });
  return {
    valid: true,
    payer: verdict.payer ?? '',
    lastValidBlockHeight: asInteger(latest.lastValidBlockHeight),
  };
}

/** A cluster that does not answer now says nothing about the payment, which can be sent again as it is. */
const pendingFor = (error: unknown): unknown =>
  isProblem(error, 'cluster_failed') ? problem('payment_pending', { retryAfter: 2, cause: error }) : error;

/** The wire bytes with the fee payer's signature in its place. */
function countersign(feePayer: Signer, transaction: string): Uint8Array {
  const decoded = getTransactionDecoder().decode(Buffer.from(transaction, 'base64'));
  const signature = feePayer.sign(new Uint8Array(decoded.messageBytes));
  const signatures = { ...decoded.signatures, [feePayer.address as Address]: signature };
  return new Uint8Array(getTransactionEncoder().encode({ ...decoded, signatures }));
}

function signed(row: Settlement) {
  if (row.transaction === null || row.signature === null || row.last_valid_block_height === null) {
    throw new Error(`the payment ${row.payment_key} was never signed`);
  }
  return {
    wire: new Uint8Array(Buffer.from(row.transaction, 'base64')),
    signature: row.signature as Signature,
    lastValidBlockHeight: BigInt(row.last_valid_block_height),
  };
}

/** null: the cluster does not know it. An outage is `unknown`, never "not landed". */
async function landed(cluster: Cluster, signature: Signature): Promise<Outcome | null> {
  try {
    const status = await cluster.signatureStatus(signature);
    return status && outcomeOf(signature, status.err);
  } catch (error) {
    return unknownIf(error);
  }
}

/** A cluster forgets statuses sooner than transactions. */
async function inHistory(cluster: Cluster, signature: Signature): Promise<Outcome | null> {
  try {
    const transaction = await cluster.transaction(signature);
    return transaction && outcomeOf(signature, transaction.err);
  } catch (error) {
    return unknownIf(error);
  }
}

async function heightOf(cluster: Cluster): Promise<bigint | null> {
  try {
    return await cluster.blockHeight();
  } catch (error) {
    return isProblem(error, 'cluster_failed') ? null : Promise.reject(error);
  }
}

const outcomeOf = (signature: Signature, err: unknown): Outcome =>
  err === null
    ? { kind: 'settled', transaction: signature }
    : { kind: 'failed', reason: `it failed on chain: ${describe(err)}` };

/** Only what the cluster said, or didn't, leaves the outcome open; anything else is a fault of ours. */
function unknownIf(error: unknown): Outcome {
  if (isProblem(error, 'cluster_failed', 'transaction_failed')) return { kind: 'unknown' };
  throw error;
}

function reasonOf(error: unknown): string {
  return isProblem(error) ? describe(error.detail?.error ?? error.message) : 'refused';
}

/** The token program's first error, in the transfer: not enough money. */
const inWords = (err: unknown): string =>
  describe(err) === '{"InstructionError":[2,{"Custom":1}]}'
    ? 'the payer does not hold enough'
    : describe(err);

const describe = (err: unknown): string =>
  typeof err === 'string'
    ? err
    : JSON.stringify(err, (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
