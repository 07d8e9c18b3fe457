import { type Address, type Instruction, isAddress } from '@solana/kit';
import * as z from 'zod';
import {
  type AuthorizationTerms,
  authorizationPlace,
  capturePartInstruction,
  consentMessage,
  refundCapturedInstruction,
  voidInstruction,
} from '../escrow/index.ts';
import { associatedTokenAddress, type Cluster, genesisOf } from '../solana/index.ts';

export { genesisOf };

/** The scheme's messages, and the instructions that they become on chain (docs/auth-capture-svm.md). */

export const SCHEME = 'auth-capture';
const PREFIX = 'invalid_auth_capture_svm_';
/** The seconds that a transaction needs to land: nearer deadlines are refused. */
export const LEAST_LEAD_S = 6;

export const REASONS = [
  ...['payload_format', 'terms_mismatch', 'deadline_order', 'salt_mismatch', 'transaction_layout', 'signers'],
  ...['fee_payer_used', 'compute_budget', 'already_authorized', 'too_many_holds', 'lifecycle_not_relayed'],
  ...[
    'deadline_passed',
    'balance_mismatch',
    'capture_exceeds',
    'refund_exceeds',
    'consent',
    'refund_source',
    'simulation',
  ],
] as const;
type Reason = (typeof REASONS)[number];

/** A refusal with a code of the scheme. */
export class Refusal extends Error {
  constructor(
    readonly why: Reason,
    message: string,
  ) {
    super(message);
  }

  get reason(): string {
    return PREFIX + this.why;
  }
}

export function insist(holds: unknown, why: Reason, message: string): asserts holds {
  if (!holds) throw new Refusal(why, message);
}

const address = z
  .string()
  .refine(isAddress)
  .transform((text) => text as string as Address);
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const seconds = z
  .int()
  .min(1)
  .max(2 ** 40);
const MOST_U64 = 2n ** 64n - 1n;
const amount = z
  .string()
  .regex(/^(0|[1-9]\d{0,19})$/)
  .transform(BigInt)
  .refine((value) => value <= MOST_U64);
const base64 = z.base64().min(4).max(1644);

const requirements = z.looseObject({
  scheme: z.literal(SCHEME),
  network: z.string(),
  asset: address,
  payTo: address,
  amount,
  maxTimeoutSeconds: z.int().min(1),
  extra: z.looseObject({
    paymentFlow: z.literal('escrow').optional(),
    captureMode: z.enum(['sync', 'deferred']).optional(),
    program: address,
    genesis: address,
    feePayer: address,
    captureAuthorizer: address,
    receiverAuthorizer: address,
    captureDeadline: seconds,
    refundDeadline: seconds,
    memo: z.string().min(1).max(256).optional(),
    nonce: hash.optional(),
  }),
});

export type Accepted = z.infer<typeof requirements>;

const identity = { payer: address, nonce: hash, salt: hash };

const collect = z.looseObject({ ...identity, transaction: base64 });

/** In every lifecycle payload. Within the paying request the server adds these to the client's fields. */
const consented = {
  ...identity,
  openedAt: z.int().min(0),
  expectedCapturable: amount,
  expectedRefundable: amount,
  validUntil: seconds,
  authorizerSignature: base64,
};
const lifecycle = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('capture'), ...consented, amount, release: z.boolean() }),
  z.looseObject({ type: z.literal('void'), ...consented }),
  z.looseObject({ type: z.literal('refund'), ...consented, amount, funder: address, transaction: base64 }),
]);

export type Collect = z.infer<typeof collect>;
export type Lifecycle = z.infer<typeof lifecycle>;
export type Operation = Lifecycle['type'];

function read<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Refusal('payload_format', `${what}: ${issue?.path.join('.') || 'it'} cannot be read`);
}

export const readRequirements = (value: unknown, what = 'the requirements'): Accepted =>
  read(requirements, value, what);
export const readCollect = (value: unknown): Collect => read(collect, value, 'the payload');
export const readLifecycle = (value: unknown): Lifecycle => read(lifecycle, value, 'the payload');

export function termsOf(accepted: Accepted, { payer, nonce }: Pick<Collect, 'payer' | 'nonce'>): AuthorizationTerms {
  const { extra, asset, payTo } = accepted;
  return {
    genesis: extra.genesis,
    nonce: new Uint8Array(Buffer.from(nonce, 'hex')),
    payer,
    mint: asset,
    amount: accepted.amount,
    captureDeadline: BigInt(extra.captureDeadline),
    refundDeadline: BigInt(extra.refundDeadline),
    operator: extra.captureAuthorizer,
    payTo,
    receiverAuthorizer: extra.receiverAuthorizer,
  };
}

/** Finds the terms that a payload names, and their addresses. @throws Refusal `salt_mismatch`, `terms_mismatch` */
export async function placeOf(accepted: Accepted, payload: Pick<Collect, 'payer' | 'nonce' | 'salt'>) {
  const { nonce = payload.nonce } = accepted.extra;
  insist(payload.nonce === nonce, 'terms_mismatch', 'the nonce is not that of the requirements');
  const terms = termsOf(accepted, payload);
  const place = await authorizationPlace(terms, accepted.extra.program);
  insist(
    Buffer.from(place.salt).toString('hex') === payload.salt,
    'salt_mismatch',
    'the salt is not that of the terms',
  );
  return { terms, ...place, programId: accepted.extra.program };
}

export type Place = Awaited<ReturnType<typeof placeOf>>;

/** Fields that must be equal in the requirements and in what the client accepted. */
const FIXED = ['program', 'genesis', 'feePayer', 'captureAuthorizer', 'receiverAuthorizer', 'memo', 'nonce'] as const;

/** Compares all that the client accepted, but amount and deadlines, with what is required. @throws Refusal */
export function insistAccepted(accepted: Accepted, wanted: Accepted): void {
  for (const name of ['network', 'asset', 'payTo'] as const)
    insist(accepted[name] === wanted[name], 'terms_mismatch', `${name} differs from the requirements`);
  for (const name of FIXED)
    insist(
      accepted.extra[name] === wanted.extra[name],
      'terms_mismatch',
      `extra.${name} differs from the requirements`,
    );
}

/** Accepts deadlines up to `maxTimeoutSeconds` older: a server may count them from each answer. */
export function insistRecent(accepted: Accepted, wanted: Accepted): void {
  for (const name of ['captureDeadline', 'refundDeadline'] as const) {
    const behind = wanted.extra[name] - accepted.extra[name];
    const near = behind >= 0 && behind <= wanted.maxTimeoutSeconds;
    insist(near, 'terms_mismatch', `extra.${name} is not that of a recent challenge`);
  }
}

/** An operation, as the receiver consents to it. */
export interface Wanted {
  readonly type: Operation;
  /** For a capture or a refund. */
  readonly amount?: bigint;
  readonly release?: boolean;
  readonly funder?: Address;
  readonly expectedCapturable: bigint;
  readonly expectedRefundable: bigint;
  readonly validUntil: number;
}

/**
 * Builds the instruction of an operation. Its data, to which the receiver consents, does not depend on `on`.
 * @param on `rentPayer` as in the escrow account; `leaves`: the rest stays in the vault for a sweep, because the payer
 * has no usable token account
 */
export async function operationInstruction(
  { terms, escrow, vault, programId }: Place,
  { type, amount = 0n, release = false, funder, ...wanted }: Wanted,
  on: { readonly rentPayer: Address; readonly leaves?: boolean },
): Promise<Instruction> {
  const { expectedCapturable: capturable, expectedRefundable: refundable } = wanted;
  const refundAccount = await associatedTokenAddress(terms.payer, terms.mint);
  const base = {
    ...{ programId, authority: terms.operator, escrow, vault, rentPayer: on.rentPayer, refundAccount, consentBy: null },
    expected: { capturable, refundable, validUntil: BigInt(wanted.validUntil) },
  };
  if (type === 'void') return voidInstruction(base);
  if (type === 'refund') {
    if (!funder) throw new TypeError('a refund needs a funder');
    const source = await associatedTokenAddress(funder, terms.mint);
    return refundCapturedInstruction({ ...base, amount, funder, source });
  }
  const pays = release && amount < capturable && !on.leaves;
  const treasuryAccount = await associatedTokenAddress(terms.payTo, terms.mint);
  return capturePartInstruction({
    ...base,
    amount,
    release,
    treasuryAccount,
    refundAccount: pays ? refundAccount : null,
  });
}

/** The bytes that the receiver's authorizer signs. */
export const consentTo = (allowed: Instruction, openedAt: number): Uint8Array =>
  consentMessage(allowed, BigInt(openedAt));

/** @throws Refusal `simulation` if the cluster would refuse the transaction */
export async function insistSimulated(cluster: Pick<Cluster, 'simulate'>, wire: Uint8Array): Promise<void> {
  const { err, logs } = await cluster.simulate(wire, { verifySignatures: false });
  const why = JSON.stringify(err, (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
  insist(err === null, 'simulation', `the cluster would refuse it: ${why} ${logs.at(-1) ?? ''}`.trim());
}
