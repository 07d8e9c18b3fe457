import { type Address, getAddressEncoder, type Instruction } from '@solana/kit';
import { authorizeInstructions, createTokenAccount } from '../escrow/index.ts';
import { MEMO_PROGRAM, verifyEd25519 } from '../solana/index.ts';
import { type Accepted, insist, type Place, Refusal } from './auth-capture-terms.ts';
import { computeFault, LIGHTHOUSE_PROGRAM, readTransaction, type SentTransaction } from './inspection.ts';

/** The only transaction layouts that a facilitator signs as fee payer. */

type SentInstruction = SentTransaction['instructions'][number];

const MOST_REST = 4;

function readSent(base64: string): SentTransaction {
  const sent = readTransaction(base64);
  if (typeof sent === 'string') throw new Refusal('payload_format', sent);
  return sent;
}

/** Checks that exactly the accounts `wanted` sign, the fee payer first, and that `by` has signed. */
function insistSigners(sent: SentTransaction, wanted: readonly Address[], by: Address): void {
  insist(!sent.usesLookupTables, 'transaction_layout', 'address lookup tables are not accepted');
  insist(sent.signers[0] === wanted[0], 'signers', 'the fee payer is not the one of the requirements');
  const exact = new Set(sent.signers).size === wanted.length && wanted.every((one) => sent.signers.includes(one));
  insist(exact && sent.signers.length === wanted.length, 'signers', `exactly ${wanted.join(' and ')} must sign`);
  const signature = sent.signatures[by];
  insist(signature, 'signers', `${by} has not signed`);
  const key = new Uint8Array(getAddressEncoder().encode(by));
  insist(verifyEd25519(key, sent.messageBytes, signature), 'signers', `the signature of ${by} is not valid`);
}

/** The instructions after the two compute budget instructions, which come first in either order. */
function insistBudget({ instructions }: SentTransaction): SentInstruction[] {
  const [first, second, ...rest] = instructions;
  const fault = computeFault(first, second);
  insist(fault === null, 'compute_budget', `${fault}`);
  return rest;
}

const isSame = (sent: SentTransaction, found: SentInstruction | undefined, wanted: Instruction): boolean =>
  found?.program === wanted.programAddress &&
  Buffer.compare(found.data, Buffer.from(wanted.data ?? [])) === 0 &&
  found.accounts.length === (wanted.accounts?.length ?? 0) &&
  found.accounts.every((index, at) => sent.accounts[index] === wanted.accounts?.[at]?.address);

/** Checks whether the fee payer is named anywhere but at `at`: its signature would authorise that, too. */
const namesFeePayer = (one: SentInstruction | undefined, at: number | null): boolean =>
  one?.accounts.some((index, place) => index === 0 && place !== at) ?? false;

/** Inspects a collect transaction: budget, creation of the vault (optional), Authorize, memos and assertions. */
export async function inspectAuthorize(transaction: string, accepted: Accepted, place: Place): Promise<Uint8Array> {
  const { feePayer, memo } = accepted.extra;
  const { terms, escrow, vault, programId } = place;
  const sent = readSent(transaction);
  insistSigners(sent, [feePayer, terms.payer], terms.payer);
  const [first, ...others] = insistBudget(sent);
  const makesVault = first?.program !== programId;
  const [authorize, ...rest] = makesVault ? others : [first, ...others];
  const isLayout = authorize?.program === programId && rest.length <= MOST_REST;
  insist(
    isLayout,
    'transaction_layout',
    'the instructions are not budget, vault, Authorize, and up to four memos or assertions',
  );

  const known = rest.every((one) => one.program === MEMO_PROGRAM || one.program === LIGHTHOUSE_PROGRAM);
  insist(known, 'transaction_layout', 'an instruction does not belong to an authorization');
  const touches =
    (makesVault && namesFeePayer(first, 0)) ||
    namesFeePayer(authorize, 1) ||
    rest.some((one) => namesFeePayer(one, null));
  insist(!touches, 'fee_payer_used', 'an instruction uses the fee payer');
  const isVault = !makesVault || isSame(sent, first, createTokenAccount(feePayer, vault, escrow, terms.mint));
  insist(isVault, 'transaction_layout', 'only the vault may be created');
  const source = sent.accounts[authorize.accounts[4] ?? -1];
  const [, wanted] = await authorizeInstructions({ ...terms, programId, rentPayer: feePayer, source });
  insist(wanted && isSame(sent, authorize, wanted), 'terms_mismatch', 'Authorize is not of the terms');
  const memos = rest.filter((one) => one.program === MEMO_PROGRAM).map((one) => Buffer.from(one.data).toString('utf8'));
  const isNoted = memo === undefined || (memos.length === 1 && memos[0] === memo);
  insist(isNoted, 'transaction_layout', 'the memo is not that of the requirements');
  return new Uint8Array(Buffer.from(transaction, 'base64'));
}

/** Inspects a refund transaction that its funder has signed: budget, consent, RefundCaptured. */
export function inspectRefund(
  transaction: string,
  wanted: {
    readonly signers: readonly Address[];
    readonly funder: Address;
    readonly instructions: readonly Instruction[];
  },
): Uint8Array {
  const sent = readSent(transaction);
  insistSigners(sent, wanted.signers, wanted.funder);
  const rest = insistBudget(sent);
  const exact = rest.length === wanted.instructions.length;
  const isRefund = exact && wanted.instructions.every((one, at) => isSame(sent, rest[at], one));
  insist(isRefund, 'transaction_layout', 'the instructions are not budget, consent and RefundCaptured of these terms');
  return new Uint8Array(Buffer.from(transaction, 'base64'));
}
