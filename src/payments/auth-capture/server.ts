import type { Address } from '@solana/kit';
import type {
  AssetAmount,
  DeepReadonly,
  Network,
  PaymentPayload,
  PaymentRequirements,
  Price,
  SchemeNetworkServer,
  SettleContext,
  SettleResponse,
} from '@x402/core/types';
import { consentInstruction } from '../../escrow/index.ts';
import { computeBudget, type Signer, usdcMintOf } from '../../solana/index.ts';
import {
  consentTo,
  operationInstruction,
  placeOf,
  Refusal,
  readCollect,
  readRequirements,
  SCHEME,
  type Wanted,
} from '../auth-capture-terms.ts';
import { blockhashFor, signed } from './client.ts';
import type { Store } from './store.ts';

export interface AuthCaptureServerOptions {
  /** Consents to each capture, void and refund: a key that holds no money. */
  readonly authorizer: Signer;
  /** Keeps holds. `memoryStore()` suffices if each request captures before its answer, and nothing is refunded. */
  readonly store: Store;
  /** Settles operations after the request: the same facilitator client that the resource server was given. */
  readonly facilitator?: {
    settle(payload: PaymentPayload, requirements: PaymentRequirements): Promise<SettleResponse>;
  };
  /** Seconds from each challenge. Default: an hour to capture, a day to refund. */
  readonly captureSeconds?: number;
  readonly refundSeconds?: number;
  /** How long a consent is valid, in seconds (default 300). */
  readonly consentSeconds?: number;
  /** The cluster's JSON-RPC, for the blockhash of refunds; or set `latestBlockhash`. */
  readonly rpcUrl?: string;
  readonly latestBlockhash?: () => Promise<{ readonly blockhash: string; readonly lastValidBlockHeight: bigint }>;
  readonly now?: () => number;
}

/** A payment's hold, as the server keeps it. */
export interface Hold {
  readonly network: Network;
  readonly accepted: PaymentRequirements;
  readonly payer: Address;
  readonly nonce: string;
  readonly salt: string;
  /** `claimed`: its settlement may be under way; `held`: the money is on chain; `done`: its request was answered. */
  readonly state: 'claimed' | 'held' | 'done';
  /** Until this time (epoch ms) the request that claimed the hold may be at work. */
  readonly busyUntilMs: number;
  readonly transaction?: string;
  readonly escrow?: string;
  readonly openedAt?: number;
  readonly capturable?: string;
  readonly refundable?: string;
}

export interface AuthCaptureLifecycle {
  hold(network: string, salt: string): Promise<Hold | null>;
  /** Captures `amount`; `release` sends the rest back in the same transaction, and ends the hold. */
  capture(network: string, salt: string, part: { amount: bigint; release: boolean }): Promise<SettleResponse>;
  void(network: string, salt: string): Promise<SettleResponse>;
  /** Refunds `amount` from the associated token account of `funder`. */
  refund(network: string, salt: string, part: { amount: bigint; funder: Signer }): Promise<SettleResponse>;
}

const HOUR_S = 3600;
const USED = 'invalid_auth_capture_svm_already_authorized';

type Change = Partial<Hold>;

/** Reads the amounts on chain after a settlement, which the next consent has to expect. */
function amountsIn({ extra }: DeepReadonly<SettleResponse>): Change {
  const { escrow, openedAt, capturable, refundable } = (extra ?? {}) as Change;
  return capturable === undefined ? {} : ({ escrow, openedAt, capturable, refundable } as Change);
}

function createHolds({ store, now = Date.now }: AuthCaptureServerOptions) {
  const keyOf = (network: string, salt: string) => `${SCHEME}:server:${network}:${salt}`;
  return {
    find: (network: string, salt: string) =>
      store.update(keyOf(network, salt), (row) => ({ row, result: row as Hold | null })),
    /** Claims a hold for one request. If that fails or its process dies, the next request can claim it. */
    claim: (hold: Hold): Promise<boolean> =>
      store.update(keyOf(hold.network, hold.salt), (row) => {
        const there = row as Hold | null;
        const free = !there || (there.state !== 'done' && there.busyUntilMs <= now());
        return { row: free ? { ...hold, ...there, busyUntilMs: hold.busyUntilMs } : there, result: free };
      }),
    change: (network: string, salt: string, change: Change) =>
      store.update(keyOf(network, salt), (row) => ({ row: row && { ...row, ...change }, result: undefined })),
  };
}

type Holds = ReturnType<typeof createHolds>;

const saltOf = ({ paymentPayload }: Pick<SettleContext, 'paymentPayload'>): string => `${paymentPayload.payload.salt}`;

/** Makes the server's plug-in for the `escrow` flow. Its `lifecycle` acts on holds after their request. */
export function authCaptureServer(
  options: AuthCaptureServerOptions,
): SchemeNetworkServer & { lifecycle: AuthCaptureLifecycle } {
  const { captureSeconds = HOUR_S, refundSeconds = 24 * HOUR_S, now = Date.now } = options;
  const holds = createHolds(options);
  const consent = consentOf(options);
  return {
    scheme: SCHEME,
    defaultAssetTransferMethod: 'default',
    paymentFlows: { default: { supported: ['escrow'], default: 'escrow' } },
    dynamicExtraFields: ['captureDeadline', 'refundDeadline'],
    parsePrice: async (price, network) => amountOf(price, network),
    getAssetDecimals: (asset, network) => (asset === usdcMintOf(network as never) ? 6 : undefined),
    async enhancePaymentRequirements(requirements, { extra = {} }) {
      const nowS = Math.floor(now() / 1000);
      const { feePayer, program, genesis, captureAuthorizer } = extra;
      return {
        ...requirements,
        extra: {
          ...{ program, genesis, feePayer, captureAuthorizer, receiverAuthorizer: options.authorizer.address },
          ...{ captureDeadline: nowS + captureSeconds, refundDeadline: nowS + Math.max(captureSeconds, refundSeconds) },
          ...requirements.extra,
        },
      };
    },
    schemeHooks: hooksOf(holds, now),
    async enrichSettlementPayload(settle) {
      if (settle.phase === 'before-handler') return undefined;
      const hold = await holds.find(settle.requirements.network, saltOf(settle));
      if (!hold) throw new Error('the hold of this payment is not known here');
      const owed = settle.phase === 'cancel' ? 0n : BigInt(settle.requirements.amount);
      return consent(hold, owed === 0n ? { type: 'void' } : { type: 'capture', amount: owed, release: true });
    },
    settleOnCancel: ({ requirements }) => requirements as PaymentRequirements,
    lifecycle: lifecycleOf(options, holds, consent),
  };
}

function hooksOf(holds: Holds, now: () => number): NonNullable<SchemeNetworkServer['schemeHooks']> {
  return {
    async onBeforeSettle(settle) {
      const { paymentPayload, requirements, phase } = settle;
      const { network } = requirements;
      if (phase === 'after-handler' && paymentPayload.accepted.extra.captureMode === 'deferred') {
        const { transaction = '', payer = '', escrow } = (await holds.find(network, saltOf(settle))) ?? {};
        return { skip: true, result: { success: true, transaction, network, payer, amount: '0', extra: { escrow } } };
      }
      if (phase !== 'before-handler') return undefined;
      const abort = { abort: true, reason: USED, message: 'this authorization was used, or is in use' } as const;
      try {
        const { payer, nonce, salt } = readCollect(paymentPayload.payload);
        const accepted = structuredClone(paymentPayload.accepted) as PaymentRequirements;
        const busyUntilMs = now() + requirements.maxTimeoutSeconds * 1000;
        const hold = { network, accepted, payer, nonce, salt, busyUntilMs };
        return (await holds.claim({ ...hold, state: 'claimed' })) ? undefined : abort;
      } catch (error) {
        // Aborts, as the core goes on after a hook that throws: without its row a payment could be used twice.
        if (error instanceof Refusal) return { ...abort, reason: error.reason, message: error.message };
        return { ...abort, reason: 'unexpected_settle_error', message: 'the hold could not be written down' };
      }
    },
    async onAfterSettle({ result, ...settle }) {
      const phase =
        settle.phase === 'before-handler'
          ? { state: 'held' as const, transaction: result.transaction }
          : { state: 'done' as const, busyUntilMs: 0 };
      await holds.change(settle.requirements.network, saltOf(settle), { ...amountsIn(result), ...phase });
    },
    async onSettleFailure(settle) {
      await holds.change(settle.requirements.network, saltOf(settle), { busyUntilMs: 0 });
      return undefined;
    },
  };
}

async function amountOf(price: Price, network: Network): Promise<AssetAmount> {
  if (typeof price === 'object') return price;
  const text = /^\$?(\d+)(?:\.(\d{1,6}))?( USDC)?$/.exec(`${price}`);
  if (!text) throw new TypeError(`${price} is not a price in USDC`);
  const atomic = BigInt(text[1] ?? '') * 1_000_000n + BigInt((text[2] ?? '').padEnd(6, '0'));
  return { asset: usdcMintOf(network as never), amount: `${atomic}` };
}

type By = Pick<Wanted, 'type' | 'amount' | 'release'> & { readonly funder?: Signer };
type Consent = (hold: Hold, by: By) => Promise<Record<string, unknown>>;

/** Builds and consents to an operation's payload. That of a refund has the transaction that its funder signed. */
const consentOf = (options: AuthCaptureServerOptions): Consent => {
  const { authorizer, consentSeconds = 300, now = Date.now } = options;
  return async (hold, { funder, ...by }) => {
    const { openedAt, capturable = '', refundable = '' } = hold;
    if (openedAt === undefined) throw new Error('the hold was not opened yet');
    const accepted = readRequirements(hold.accepted);
    const { captureDeadline, refundDeadline, feePayer } = accepted.extra;
    const deadline = by.type === 'refund' ? refundDeadline : captureDeadline;
    const validUntil = Math.min(Math.floor(now() / 1000) + consentSeconds, deadline);
    const expected = { expectedCapturable: BigInt(capturable), expectedRefundable: BigInt(refundable) };
    const wanted = { ...by, ...expected, validUntil, ...(funder && { funder: funder.address }) };
    const allowed = await operationInstruction(await placeOf(accepted, hold), wanted, { rentPayer: feePayer });
    const message = consentTo(allowed, openedAt);
    const signature = authorizer.sign(message);
    const fields = {
      ...{ ...wanted, openedAt, expectedCapturable: capturable, expectedRefundable: refundable },
      ...(by.amount !== undefined && { amount: `${by.amount}` }),
      authorizerSignature: Buffer.from(signature).toString('base64'),
    };
    if (!funder) return fields;
    const consent = consentInstruction({ authorizer: authorizer.address, message, signature });
    const instructions = [...computeBudget(REFUND_UNITS, 1n), consent, allowed];
    return { ...fields, transaction: await signed(funder, feePayer, await blockhashFor(options), instructions) };
  };
};

const REFUND_UNITS = 60_000;

function lifecycleOf({ facilitator }: AuthCaptureServerOptions, holds: Holds, consent: Consent): AuthCaptureLifecycle {
  const settle = async (network: string, salt: string, by: By): Promise<SettleResponse> => {
    if (!facilitator) throw new TypeError('auth-capture needs a facilitator for what is done after the request');
    const hold = await holds.find(network, salt);
    if (!hold) throw new Error('there is no hold of this salt');
    const { accepted, payer, nonce } = hold;
    const payload = { payer, nonce, salt, ...(await consent(hold, by)) };
    const result = await facilitator.settle({ x402Version: 2, accepted, payload }, accepted);
    await holds.change(network, salt, amountsIn(result));
    return result;
  };
  return {
    hold: holds.find,
    capture: (network, salt, part) => settle(network, salt, { type: 'capture', ...part }),
    void: (network, salt) => settle(network, salt, { type: 'void' }),
    refund: (network, salt, part) => settle(network, salt, { type: 'refund', ...part }),
  };
}
