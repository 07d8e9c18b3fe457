import { type Address, getTransactionDecoder, getTransactionEncoder } from '@solana/kit';
import { ExactSvmScheme } from '@x402/svm/exact/facilitator';
import type { Clock } from '../kernel/clock.ts';
import { asInteger } from '../kernel/money.ts';
import { isProblem } from '../kernel/problems.ts';
import { type Cluster, landingOf, type SignedBytes, type Signer, signatureOf } from '../solana/index.ts';
import { MOST_COMPUTE_UNITS, MOST_PRICE_MICROLAMPORTS, MOST_SIGNATURES, whyNotPayable } from './inspection.ts';
import type { Settlement } from './journal.ts';
import type { OperatorKeys } from './operator-keys.ts';
import type { Demand, SentPayment } from './protocol.ts';
import type { Facilitator, Outcome, Verdict } from './settling.ts';
import { requirementsOf } from './x402.ts';

/** Verifies by the x402 package but settles by our journal: the package's `settle` calls a lost answer unpaid. */
export function createSvmFacilitator(ports: {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly feePayer: Signer;
  readonly feePayers?: OperatorKeys | undefined;
  readonly lender?: Signer | undefined;
  readonly lenders?: OperatorKeys | undefined;
}): Facilitator {
  const { cluster } = ports;
  const signerOf = ({ feePayer }: Demand, { authorization }: SentPayment): Signer =>
    authorization
      ? (ports.lenders?.signer(feePayer as Address) ?? ports.lender ?? ports.feePayer)
      : (ports.feePayers?.signer(feePayer as Address) ?? ports.feePayer);

  /** Two payments of one call could both land, so "never landed" needs every proof. */
  const outcomeOf = async (row: Settlement): Promise<Outcome | 'open'> => {
    const landing = await landingOf(ports, signed(row), { exclusive: false });
    if (landing.kind === 'landed') return { kind: 'settled', transaction: signatureOf(signed(row).wire) };
    // Until it is final, the same bytes can still succeed on another fork.
    if (landing.kind === 'failed' && landing.final)
      return { kind: 'failed', reason: `it failed on chain: ${describe(landing.err)}` };
    if (landing.kind === 'dead') return { kind: 'failed', reason: 'its blockhash expired before it landed' };
    return landing.kind === 'open' ? 'open' : { kind: 'unknown' };
  };

  return {
    verify: (sent, demand) => verify(cluster, signerOf(demand, sent), sent, demand),
    seal(sent, demand) {
      const wire = countersign(signerOf(demand, sent), sent.transaction);
      return { transaction: Buffer.from(wire).toString('base64'), signature: signatureOf(wire) };
    },
    async send(row) {
      try {
        return { kind: 'settled', transaction: await cluster.send(signed(row).wire) };
      } catch (error) {
        return unlessUnknown(async () => {
          const known = await outcomeOf(row);
          if (known !== 'open') return known;
          // Never sent before, refused by the first node, and not on chain. Only we have our signature, so it can't
          // land later.
          if (isProblem(error, 'transaction_failed'))
            return { kind: 'failed', reason: describe(error.detail?.error ?? error.message) };
          throw error;
        });
      }
    },
    resolve: (row) =>
      unlessUnknown(async () => {
        const known = await outcomeOf(row);
        if (known !== 'open') return known;
        try {
          return { kind: 'settled', transaction: await cluster.send(signed(row).wire) };
        } catch (error) {
          // A refusal proves nothing here: an earlier send may have landed, and spent the money that is missing now.
          const late = await outcomeOf(row);
          if (late !== 'open') return late;
          throw error;
        }
      }),
  };
}

/** Turns a cluster's error or silence into an unknown outcome; any other error is a bug of ours. */
async function unlessUnknown(ask: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await ask();
  } catch (error) {
    if (isProblem(error, 'cluster_failed', 'transaction_failed')) return { kind: 'unknown' };
    throw error;
  }
}

async function verify(cluster: Cluster, feePayer: Signer, sent: SentPayment, demand: Demand): Promise<Verdict> {
  const fault = await whyNotValid(cluster, feePayer, sent, demand);
  if (fault !== null) return { valid: false, reason: fault };
  // The transaction's blockhash expires no later than the latest one.
  const latest = await cluster.latestBlockhash();
  return { valid: true, payer: sent.signers[1] ?? '', lastValidBlockHeight: asInteger(latest.lastValidBlockHeight) };
}

async function whyNotValid(cluster: Cluster, feePayer: Signer, sent: SentPayment, demand: Demand) {
  const { authorization } = sent;
  if (authorization) {
    if (feePayer.address !== demand.feePayer) return 'authorizations are not taken';
    const { whyNotAuthorizable } = await import('./authorizing.ts');
    return whyNotAuthorizable(cluster, { ...sent, authorization }, demand);
  }
  const { asset, amount, memo, pay_to } = demand.quote;
  const isX402 = sent.protocol.name === 'x402';
  const wanted = { feePayer: feePayer.address, asset, amount: BigInt(amount), memo };
  return (
    (await whyNotPayable(sent, isX402 ? wanted : { ...wanted, payTo: pay_to })) ??
    (await (isX402 ? whyNotByPackage : whyNotLanding)(cluster, feePayer, sent, demand))
  );
}

/** @throws Problem `cluster_failed` */
async function simulated(cluster: Cluster, wire: Uint8Array): Promise<string | null> {
  try {
    const { err } = await cluster.simulate(wire, { verifySignatures: false });
    return err === null ? null : inWords(err);
  } catch (error) {
    if (isProblem(error, 'transaction_failed')) return describe(error.detail?.error ?? error.message);
    throw error;
  }
}

const whyNotLanding = (cluster: Cluster, feePayer: Signer, sent: SentPayment): Promise<string | null> =>
  simulated(cluster, countersign(feePayer, sent.transaction));

/** Checks the form that x402 prescribes for the transaction, which its package knows. */
async function whyNotByPackage(
  cluster: Cluster,
  feePayer: Signer,
  sent: SentPayment,
  demand: Demand,
): Promise<string | null> {
  const requirements = requirementsOf(demand);
  // The package reports any error of the simulation as an invalid payment, so we keep an outage apart ourselves.
  let outage: unknown;
  const scheme = new ExactSvmScheme(
    {
      getAddresses: () => [feePayer.address],
      signTransaction: async (transaction) => Buffer.from(countersign(feePayer, transaction)).toString('base64'),
      async simulateTransaction(transaction) {
        const wire = new Uint8Array(Buffer.from(transaction, 'base64'));
        const fault = await simulated(cluster, wire).catch((error: unknown) => {
          outage = error;
          throw error;
        });
        if (fault !== null) throw new Error(fault);
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
  const { isValid, invalidMessage, invalidReason } = await scheme.verify(
    { x402Version: 2, accepted: { ...requirements }, payload: { transaction: sent.transaction } },
    { ...requirements },
  );
  if (outage !== undefined) throw outage;
  return isValid ? null : (invalidMessage ?? invalidReason ?? 'verification failed');
}

function countersign(feePayer: Signer, transaction: string): Uint8Array {
  const decoded = getTransactionDecoder().decode(Buffer.from(transaction, 'base64'));
  const signature = feePayer.sign(new Uint8Array(decoded.messageBytes));
  const signatures = { ...decoded.signatures, [feePayer.address as Address]: signature };
  return new Uint8Array(getTransactionEncoder().encode({ ...decoded, signatures }));
}

function signed(row: Settlement): SignedBytes {
  if (row.transaction === null || row.signature === null || row.last_valid_block_height === null) {
    throw new Error(`the payment ${row.payment_key} was never signed`);
  }
  return {
    wire: new Uint8Array(Buffer.from(row.transaction, 'base64')),
    lastValidBlockHeight: BigInt(row.last_valid_block_height),
    signedAtMs: row.created_at_ms,
  };
}

/** Custom error 1 of the third instruction, the transfer: the token program's `InsufficientFunds`. */
const inWords = (err: unknown): string =>
  describe(err) === '{"InstructionError":[2,{"Custom":1}]}' ? 'the payer does not hold enough' : describe(err);

const describe = (err: unknown): string =>
  typeof err === 'string'
    ? err
    : JSON.stringify(err, (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
