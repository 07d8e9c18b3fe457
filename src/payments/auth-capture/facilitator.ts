import { type Address, getAddressEncoder, getTransactionDecoder, getTransactionEncoder } from '@solana/kit';
import type {
  PaymentPayload,
  PaymentRequirements,
  SchemeNetworkFacilitator,
  SettleResponse,
  VerifyResponse,
} from '@x402/core/types';
import { consentInstruction, expectedOf, readEscrow, verifyAuthorization } from '../../escrow/index.ts';
import { type Clock, systemClock } from '../../kernel/clock.ts';
import {
  associatedTokenAddress,
  type Cluster,
  type Signer,
  signPriced,
  tokenIn,
  verifyEd25519,
} from '../../solana/index.ts';
import { inspectAuthorize, inspectRefund } from '../auth-capture-layout.ts';
import {
  consentTo,
  genesisOf,
  insist,
  insistAccepted,
  insistRecent,
  insistSimulated,
  LEAST_LEAD_S,
  operationInstruction,
  type Place,
  placeOf,
  Refusal,
  readCollect,
  readLifecycle,
  readRequirements,
  SCHEME,
} from '../auth-capture-terms.ts';
import { createHolds } from './holds.ts';
import { createRelay } from './relay.ts';
import type { Store } from './store.ts';

export interface AuthCaptureFacilitatorOptions {
  /** The chain: `rpcCluster` opens one by JSON-RPC. */
  readonly cluster: Cluster;
  /** Pays fees and rents; gets the rents back when a hold ends. */
  readonly feePayer: Signer;
  /** Keys that servers may name as `captureAuthorizer`, the advertised one first. Default: the fee payer. */
  readonly operators?: readonly Signer[];
  /** Escrow programs whose transactions are relayed, the advertised one first. */
  readonly programs: readonly Address[];
  readonly store: Store;
  /** Genesis hash of a private cluster; default: that of the network. */
  readonly genesis?: string;
  readonly clock?: Clock;
  /** The most open holds of one payer, whose rent is lent (default 20). */
  readonly mostHoldsPerPayer?: number;
  /** Lets refunds come from this facilitator's own keys: for servers that are their own facilitator. */
  readonly fundsRefunds?: boolean;
}

const MOST_HOLDS = 20;
const PENDING = 'settlement_pending';

type Context = ReturnType<typeof contextOf>;

function contextOf(options: AuthCaptureFacilitatorOptions) {
  const { cluster, feePayer, operators = [feePayer], clock = systemClock, programs, store } = options;
  const genesis = options.genesis ?? genesisOf(cluster.network);
  const [program] = programs;
  const [operator] = operators;
  if (genesis === undefined || program === undefined || !operator)
    throw new TypeError('genesis, program or operator is missing');
  const own = new Set([feePayer, ...operators].map(({ address }) => address));
  return {
    ...{ cluster, feePayer, operators, operator, programs, program, genesis, own, clock, store },
    fundsRefunds: options.fundsRefunds ?? false,
    mostHolds: options.mostHoldsPerPayer ?? MOST_HOLDS,
    holds: createHolds({ cluster, clock, store, feePayer }),
    relay: createRelay({ cluster, clock, store }),
  };
}

/** Makes the facilitator's plug-in. `tidy` reclaims overdue holds and closes ended ones, for the lent rent. */
export function authCaptureFacilitator(
  options: AuthCaptureFacilitatorOptions,
): SchemeNetworkFacilitator & { tidy(): Promise<{ reclaimed: number; closed: number; failed: number }> } {
  const context = contextOf(options);
  const { feePayer, own, operator, program, genesis } = context;
  return {
    scheme: SCHEME,
    caipFamily: 'solana:*',
    getExtra: () => ({ feePayer: feePayer.address, captureAuthorizer: operator.address, program, genesis }),
    getSigners: () => [...own],
    async verify(payload, requirements): Promise<VerifyResponse> {
      const payer = payerOf(payload);
      try {
        if (payload.payload.type === undefined) await verifyCollect(context, payload, requirements);
        else await verifyLifecycle(context, payload, requirements);
        return { isValid: true, payer };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        return { isValid: false, invalidReason: error.reason, invalidMessage: error.message, payer };
      }
    },
    async settle(payload, requirements): Promise<SettleResponse> {
      const { network } = requirements;
      try {
        return payload.payload.type === undefined
          ? await settleCollect(context, payload, requirements)
          : await settleLifecycle(context, payload, requirements);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const failed = { success: false, errorReason: error.reason, errorMessage: error.message };
        return { ...failed, transaction: '', network, payer: payerOf(payload) };
      }
    },
    tidy: () => context.holds.tidy(),
  };
}

const payerOf = ({ payload }: PaymentPayload): string => (typeof payload.payer === 'string' ? payload.payer : '');

/** Reads the requirements, and checks that they fit this facilitator and that the client accepted them. */
async function read(context: Context, payload: PaymentPayload, requirements: PaymentRequirements) {
  const accepted = readRequirements(payload.accepted, 'accepted');
  const wanted = readRequirements(requirements);
  const { extra } = wanted;
  insistAccepted(accepted, wanted);
  insist(wanted.network === context.cluster.network, 'terms_mismatch', 'the network is another one');
  insist(extra.genesis === context.genesis, 'terms_mismatch', 'the genesis hash is that of another cluster');
  insist(context.programs.includes(extra.program), 'terms_mismatch', 'the escrow program is not known here');
  insist(
    extra.feePayer === context.feePayer.address,
    'terms_mismatch',
    'the fee payer is not the one of this facilitator',
  );
  return { accepted, wanted };
}

async function readCollectOf(context: Context, payload: PaymentPayload, requirements: PaymentRequirements) {
  const { accepted, wanted } = await read(context, payload, requirements);
  insist(accepted.amount === wanted.amount, 'terms_mismatch', 'amount differs from the requirements');
  insist(accepted.amount > 0n, 'terms_mismatch', 'the amount is zero');
  const collect = readCollect(payload.payload);
  insist(!context.own.has(collect.payer), 'signers', 'the payer is a key of this facilitator');
  return { accepted, wanted, collect, place: await placeOf(accepted, collect) };
}

async function verifyCollect(context: Context, payload: PaymentPayload, requirements: PaymentRequirements) {
  const { cluster } = context;
  const { accepted, wanted, collect, place } = await readCollectOf(context, payload, requirements);
  insistRecent(accepted, wanted);
  const { captureDeadline, refundDeadline } = accepted.extra;
  const nowS = await cluster.unixTime();
  insist(captureDeadline >= nowS + LEAST_LEAD_S, 'deadline_order', 'the capture deadline is too near');
  insist(refundDeadline >= captureDeadline, 'deadline_order', 'the refund deadline is before the capture deadline');
  const wire = await inspectAuthorize(collect.transaction, accepted, place);
  const { payTo, mint } = place.terms;
  const [state, receiving] = await cluster.accounts([place.escrow, await associatedTokenAddress(payTo, mint)]);
  insist(!state || state.data.length === 0, 'already_authorized', 'there is an authorization of these terms');
  insist(tokenIn(receiving)?.state === 'initialized', 'simulation', 'payTo has no token account that can be paid');
  await insistSimulated(cluster, wire);
}

async function settleCollect(context: Context, payload: PaymentPayload, requirements: PaymentRequirements) {
  const { cluster, feePayer, genesis, relay, holds } = context;
  const { accepted, collect, place } = await readCollectOf(context, payload, requirements);
  const { network } = requirements;
  const { payer, transaction } = collect;
  const base = { network, payer, amount: `${accepted.amount}` } as const;
  const key = `${SCHEME}:authorize:${network}:${place.escrow}`;
  const of = `authorize ${transaction}`;
  if (!(await relay.knows(key, of))) {
    await verifyCollect(context, payload, requirements);
    await holds.lend(payer, place, context.mostHolds);
  }
  return relay.settle({
    ...{ key, of },
    sign: async () => ({
      wire: countersigned(Buffer.from(transaction, 'base64'), [feePayer]),
      // The transaction's blockhash expires no later than the latest one.
      lastValidBlockHeight: (await cluster.latestBlockhash()).lastValidBlockHeight,
    }),
    pending: (signature) => pendingAnswer(base, signature),
    async answer(signature) {
      const { terms, programId } = place;
      const expected = { captured: 0n, refunded: 0n };
      const checks = await verifyAuthorization({ cluster, terms, programId, genesis, ...expected });
      const wrong = checks.filter((one) => !one.ok).map((one) => one.check);
      insist(wrong.length === 0, 'terms_mismatch', `the chain holds something else: ${wrong.join(', ')}`);
      return { success: true, ...base, transaction: signature, extra: await stateOf(context, place) };
    },
  });
}

type Base = Pick<SettleResponse, 'network' | 'payer' | 'amount'>;

const pendingAnswer = (base: Base, transaction: string): SettleResponse => ({
  ...{ success: false, ...base, transaction, errorReason: PENDING },
  errorMessage: 'the transaction was sent; ask again with the same payload',
});

function countersigned(wire: Uint8Array, signers: readonly Signer[]): Uint8Array {
  const decoded = getTransactionDecoder().decode(wire);
  const message = new Uint8Array(decoded.messageBytes);
  const own = Object.fromEntries(signers.map((one) => [one.address, one.sign(message)]));
  return new Uint8Array(getTransactionEncoder().encode({ ...decoded, signatures: { ...decoded.signatures, ...own } }));
}

/** The state that the next consent has to expect. */
async function stateOf({ cluster }: Context, { escrow, salt, programId }: Place) {
  const found = await readEscrow(cluster, escrow, [programId]);
  const identity = { escrow, salt: Buffer.from(salt).toString('hex') };
  if (found?.kind !== 'authorization') return { ...identity, state: 'closed' };
  const { capturable, refundable } = expectedOf(found);
  const amounts = { capturable: `${capturable}`, refundable: `${refundable}` };
  return { ...identity, state: found.state, openedAt: Number(found.openedAt), ...amounts };
}

/** Reads an operation and verifies its consent, without asking the chain. */
async function consented(context: Context, payload: PaymentPayload, requirements: PaymentRequirements) {
  const { accepted } = await read(context, payload, requirements);
  const operation = readLifecycle(payload.payload);
  const operator = context.operators.find((one) => one.address === accepted.extra.captureAuthorizer);
  insist(operator, 'lifecycle_not_relayed', 'captureAuthorizer is not a key of this facilitator');
  const place = await placeOf(accepted, operation);
  const allowed = await operationInstruction(place, operation, { rentPayer: context.feePayer.address });
  const message = consentTo(allowed, operation.openedAt);
  const authorizer = accepted.extra.receiverAuthorizer;
  const signature = new Uint8Array(Buffer.from(operation.authorizerSignature, 'base64'));
  const key = new Uint8Array(getAddressEncoder().encode(authorizer));
  insist(verifyEd25519(key, message, signature), 'consent', 'the receiver did not consent to this');
  if (operation.type === 'refund') {
    const isOwn = context.own.has(operation.funder) && !context.fundsRefunds;
    insist(!isOwn && operation.funder !== place.terms.payer, 'refund_source', 'refunds do not come from this account');
  }
  return { accepted, operation, operator, place, consent: consentInstruction({ authorizer, message, signature }) };
}

type Consented = Awaited<ReturnType<typeof consented>>;

async function verifyLifecycle(context: Context, payload: PaymentPayload, requirements: PaymentRequirements) {
  const one = await consented(context, payload, requirements);
  const wire = await built(context, one);
  await insistSimulated(context.cluster, wire.wire);
}

/** Checks the operation against the chain, and signs its transaction. */
async function built(context: Context, { accepted, operation, operator, place, consent }: Consented) {
  const { cluster, feePayer } = context;
  const { terms, escrow, programId } = place;
  const [found, nowS] = [await readEscrow(cluster, escrow, [programId]), await cluster.unixTime()];
  const { captureDeadline, refundDeadline } = accepted.extra;
  const isRefund = operation.type === 'refund';
  const deadline = Math.min(isRefund ? refundDeadline : captureDeadline, operation.validUntil + 1);
  insist(nowS < deadline, 'deadline_passed', 'the deadline for this has passed');
  insist(found?.kind === 'authorization', 'balance_mismatch', 'there is no authorization of these terms');
  insist(found.openedAt === BigInt(operation.openedAt), 'consent', 'the consent is for an earlier authorization');
  const is = expectedOf(found);
  const { expectedCapturable: capturable, expectedRefundable: refundable } = operation;
  insist(
    is.capturable === capturable && is.refundable === refundable,
    'balance_mismatch',
    'the amounts on chain have moved on',
  );
  insist(isRefund || found.state === 'open', 'balance_mismatch', 'the authorization has ended');
  const amount = operation.type === 'void' ? capturable : operation.amount;
  insist(amount > 0n, 'payload_format', 'the amount is zero');
  if (isRefund) insist(amount <= refundable, 'refund_exceeds', `only ${refundable} can be refunded`);
  else insist(amount <= capturable, 'capture_exceeds', `only ${capturable} can be captured`);

  const { rentPayer } = found;
  if (operation.type === 'refund') {
    const signers = [...new Set([feePayer.address, operator.address, operation.funder])];
    const instructions = [consent, await operationInstruction(place, operation, { rentPayer })];
    const wire = inspectRefund(operation.transaction, { signers, funder: operation.funder, instructions });
    const own = [feePayer, operator].filter((signer) => signer.address !== operation.funder);
    const { lastValidBlockHeight } = await cluster.latestBlockhash();
    return { wire: countersigned(wire, own), lastValidBlockHeight };
  }
  const [back] = await cluster.accounts([await associatedTokenAddress(terms.payer, terms.mint)]);
  const token = tokenIn(back);
  const leaves = token?.state !== 'initialized' || token.owner !== terms.payer;
  const instructions = [consent, await operationInstruction(place, operation, { rentPayer, leaves })];
  return signPriced(cluster, { feePayer, signers: [operator], instructions });
}

async function settleLifecycle(context: Context, payload: PaymentPayload, requirements: PaymentRequirements) {
  const one = await consented(context, payload, requirements);
  const { operation, place } = one;
  const { network } = requirements;
  const { openedAt, expectedCapturable: capturable, expectedRefundable: refundable, type } = operation;
  const key = `${SCHEME}:lifecycle:${network}:${place.escrow}:${openedAt}:${capturable}:${refundable}`;
  const amount = type === 'void' ? capturable : operation.amount;
  const of = `${type} ${amount} ${type === 'capture' && operation.release}`;
  const base = { network, payer: operation.payer, amount: `${amount}` } as const;
  return context.relay.settle({
    ...{ key, of },
    async sign() {
      const signed = await built(context, one);
      await insistSimulated(context.cluster, signed.wire);
      return signed;
    },
    pending: (signature) => pendingAnswer(base, signature),
    answer: async (signature) => ({
      ...{ success: true, ...base, transaction: signature, extra: await stateOf(context, place) },
    }),
  });
}
