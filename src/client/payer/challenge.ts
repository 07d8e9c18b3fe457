import { type Address, isAddress } from '@solana/kit';
import { headerOf } from '../../kernel/http.ts';
import { problem } from '../../kernel/problems.ts';
import { type HttpAnswer, isRecord } from '../base/index.ts';

/** A challenge whose fields were all checked. */
export type Challenge = Readonly<ReturnType<typeof readChallenge>>;

export interface Acceptable {
  readonly network: string;
  readonly asset: string;
  readonly wallet: string;
}

const MOST_MEMO_BYTES = 256;

/** The 402 header that names the escrow program before the first payment. */
const ESCROW_PROGRAM = 'FARELOCK-ESCROW-PROGRAM';

/**
 * Reads an untrusted 402, which could name another coin, another network or the wallet itself.
 * @throws Problem `challenge_refused`
 */
export function readChallenge(answer: HttpAnswer, acceptable: Acceptable) {
  const required = challengeOf(answer);
  if (!required) throw refused('it cannot be read');
  if (required.x402Version !== 2) throw refused('it is not x402 version 2');
  const offers = Array.isArray(required.accepts) ? required.accepts.filter(isRecord) : [];
  const exact = offers.filter((one) => one.scheme === 'exact');
  const here = exact.filter((one) => one.network === acceptable.network);
  const accepted = here.find((one) => one.asset === acceptable.asset);
  if (!accepted) {
    if (exact.length === 0) throw refused('it offers no exact payment');
    if (here.length === 0) throw refused(`it is not for the network of this profile, ${acceptable.network}`);
    throw refused(`it asks for another coin than the USDC of this profile, ${acceptable.asset}`);
  }
  const extra = isRecord(accepted.extra) ? accepted.extra : {};
  return {
    amount: amountOf(accepted.amount),
    asset: acceptable.asset as Address,
    payTo: addressOf(accepted.payTo, 'payTo', acceptable.wallet),
    feePayer: addressOf(extra.feePayer, 'feePayer', acceptable.wallet),
    network: acceptable.network,
    /** Null if a random memo is to be written. */
    memo: memoOf(extra.memo),
    /** The original fields, repeated in the payload. */
    accepted,
    resource: required.resource,
    /** The program of the service's new escrows, if named. */
    escrowProgram: headerOf(answer, ESCROW_PROGRAM),
    error: typeof required.error === 'string' ? required.error : null,
  };
}

/** Decodes a header's base64 JSON; null where missing or unreadable. */
export function headerJson(answer: HttpAnswer, name: string): unknown {
  try {
    return JSON.parse(Buffer.from(headerOf(answer, name) ?? '', 'base64').toString('utf8'));
  } catch {
    return null;
  }
}

/** The challenge of a 402's header, or of its body, which is the same, if a proxy dropped the header. */
export function challengeOf(answer: HttpAnswer): Record<string, unknown> | null {
  const isInHeader = headerOf(answer, 'PAYMENT-REQUIRED') !== null;
  const value = isInHeader ? headerJson(answer, 'PAYMENT-REQUIRED') : answer.body;
  return isRecord(value) ? value : null;
}

function amountOf(value: unknown): bigint {
  if (typeof value !== 'string' || !/^\d{1,15}$/.test(value) || BigInt(value) === 0n) {
    throw refused('its amount is not a number of atomic units');
  }
  return BigInt(value);
}

function addressOf(value: unknown, name: string, wallet: string): Address {
  if (typeof value !== 'string' || !isAddress(value)) throw refused(`its ${name} is not a Solana address`);
  // A fee-paying wallet would sign for more than the payment; paying oneself buys nothing.
  if (value === wallet) throw refused(`its ${name} is this wallet`);
  return value;
}

function memoOf(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value !== 'string' || Buffer.byteLength(value) > MOST_MEMO_BYTES) {
    throw refused(`its memo is not a text of at most ${MOST_MEMO_BYTES} bytes`);
  }
  return value;
}

const refused = (why: string) =>
  problem('challenge_refused', { message: `The payment challenge was refused: ${why}.`, detail: { reason: why } });
