import { createHash } from 'node:crypto';
import { type Address, getAddressEncoder, getBase58Encoder, type Instruction } from '@solana/kit';
import { associatedTokenAddress, derivedAddress, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../solana/index.ts';
import type { AuthorizationEscrow } from './account.ts';
import { INSTRUCTIONS_SYSVAR } from './consent.ts';
import {
  createTokenAccount,
  type Expected,
  expectedBytes,
  instruction,
  type Of,
  payingSigner,
  readonly,
  signer,
  TAG,
  writable,
} from './instruction.ts';
import { closeInstruction, refundInstruction, type SeenInstruction, sweepInstruction } from './program.ts';

/**
 * Authorizations: escrows that the payer opens and funds in one transaction, at an address made of the terms
 * (docs/escrow.md, Authorizations). Instructions only name their signers; the caller has the keys.
 */

/** The terms, from which the address is made. Deadlines are seconds since the epoch, `amount` is in atomic units. */
export interface AuthorizationTerms {
  /** Genesis hash of the cluster, base58. The program cannot see it: compare it with the cluster's before accepting. */
  readonly genesis: string;
  /** 32 random bytes, new for each authorization. */
  readonly nonce: Uint8Array;
  /** Owner of the money, gets back what is not captured. */
  readonly payer: Address;
  readonly mint: Address;
  /** The most that can be captured. */
  readonly amount: bigint;
  /** Captures and voids end here; from then on anybody may send the rest back to the payer. */
  readonly captureDeadline: bigint;
  /** Refunds of what was captured end here. */
  readonly refundDeadline: bigint;
  /** Sends captures, refunds and voids. */
  readonly operator: Address;
  /** Owner of the token account that captures pay. */
  readonly payTo: Address;
  /** Consents to each capture, refund and void. */
  readonly receiverAuthorizer: Address;
}

const TERMS_BYTES = 184;
const HASH_BYTES = 32;

/** Encodes the terms as in the data of Authorize. */
function termsBytes(terms: AuthorizationTerms): Uint8Array {
  const address = getAddressEncoder();
  const genesis = getBase58Encoder().encode(terms.genesis);
  if (genesis.length !== HASH_BYTES) throw new TypeError('the genesis hash is not 32 bytes in base58');
  if (terms.nonce.length !== HASH_BYTES) throw new TypeError('the nonce is not 32 bytes');
  const data = new Uint8Array(TERMS_BYTES);
  const view = new DataView(data.buffer);
  data.set(genesis, 0);
  data.set(terms.nonce, 32);
  view.setBigUint64(64, terms.amount, true);
  view.setBigInt64(72, terms.captureDeadline, true);
  view.setBigInt64(80, terms.refundDeadline, true);
  data.set(address.encode(terms.operator), 88);
  data.set(address.encode(terms.payTo), 120);
  data.set(address.encode(terms.receiverAuthorizer), 152);
  return data;
}

/** sha256 of payer, mint and terms: the seed of the address. */
export function authorizationSalt(terms: AuthorizationTerms): Uint8Array {
  const address = getAddressEncoder();
  const hash = createHash('sha256')
    .update(Buffer.from(address.encode(terms.payer)))
    .update(Buffer.from(address.encode(terms.mint)));
  return new Uint8Array(hash.update(termsBytes(terms)).digest());
}

/** The state account of an authorization, PDA of `["auth", salt]`, and its vault. */
export async function authorizationPlace(terms: AuthorizationTerms, programId: Address) {
  const salt = authorizationSalt(terms);
  const key = `auth ${Buffer.from(salt).toString('hex')}`;
  const [escrow, bump] = await derivedAddress(programId, key, () => ['auth', salt]);
  return { escrow, bump, salt, vault: await associatedTokenAddress(escrow, terms.mint) };
}

/** Returns the terms that an authorization's account shows; nonce and genesis hash are in its address alone. */
export const termsOnChain = (
  { refundOwner, mint, amount, refundAfter, refundDeadline, authority, treasury, receiverAuthorizer }: Shown,
  nonce: Uint8Array,
  genesis: string,
): AuthorizationTerms => ({
  ...{ genesis, nonce, payer: refundOwner, mint, amount, captureDeadline: refundAfter, refundDeadline },
  ...{ operator: authority, payTo: treasury, receiverAuthorizer },
});

type Shown = Pick<
  AuthorizationEscrow,
  'refundOwner' | 'mint' | 'amount' | 'refundAfter' | 'refundDeadline' | 'authority' | 'treasury' | 'receiverAuthorizer'
>;

/** Opens and funds an authorization. The vault must exist. Signers: the payer, `rentPayer`. */
export const authorizeInstruction = (
  authorize: AuthorizationTerms & Of<'escrow' | 'vault' | 'rentPayer' | 'source'>,
): Instruction =>
  instruction(authorize, Uint8Array.of(TAG.authorize, ...termsBytes(authorize)), [
    signer(authorize.payer),
    payingSigner(authorize.rentPayer),
    writable(authorize.escrow),
    writable(authorize.vault),
    writable(authorize.source),
    readonly(authorize.mint),
    readonly(TOKEN_PROGRAM),
    readonly(SYSTEM_PROGRAM),
  ]);

/** Finds the escrow that an Authorize of any escrow program opens; null for an instruction of another form. */
export function authorizedIn({ program, accounts, data }: SeenInstruction) {
  const escrow = accounts[2];
  if (data[0] !== TAG.authorize || data.length !== 1 + TERMS_BYTES || !escrow) return null;
  return { program, escrow, nonce: data.slice(1 + HASH_BYTES, 1 + 2 * HASH_BYTES) };
}

/**
 * Creates the vault, then authorizes. Signers: the payer, and `rentPayer`, who gets both rents back at the end.
 * `source` is a token account of the payer, by default the associated one.
 */
export async function authorizeInstructions(
  terms: AuthorizationTerms & Of<'rentPayer'> & { readonly source?: Address | undefined },
): Promise<Instruction[]> {
  const { escrow, vault } = await authorizationPlace(terms, terms.programId);
  const source = terms.source ?? (await associatedTokenAddress(terms.payer, terms.mint));
  return [
    createTokenAccount(terms.rentPayer, vault, escrow, terms.mint),
    authorizeInstruction({ ...terms, escrow, vault, source }),
  ];
}

/** A consent: the authorizer signs the transaction, or a consent instruction comes directly before (consent.ts). */
interface Consented {
  /** The authorizer, if it signs the transaction itself; null for a consent instruction. */
  readonly consentBy: Address | null;
  readonly expected: Expected;
}

const consentAccount = ({ consentBy }: Consented) =>
  consentBy === null ? readonly(INSTRUCTIONS_SYSVAR) : signer(consentBy);

function amountBytes(tag: number, amount: bigint): Uint8Array {
  const data = new Uint8Array(9);
  data[0] = tag;
  new DataView(data.buffer).setBigUint64(1, amount, true);
  return data;
}

type Part = Consented &
  Of<'authority' | 'escrow' | 'vault' | 'treasuryAccount' | 'rentPayer'> & {
    /** Atomic units, at most what is capturable. */
    readonly amount: bigint;
    /** Sends the rest back to the payer and ends the authorization. A capture of the whole rest always ends it. */
    readonly release: boolean;
    /** A token account of the payer, or null: the rest then stays in the vault for a sweep. */
    readonly refundAccount: Address | null;
  };

/** Captures before the capture deadline. Signers: the operator, and `consentBy`. */
export const capturePartInstruction = (part: Part): Instruction =>
  instruction(
    part,
    Uint8Array.of(...amountBytes(TAG.capturePart, part.amount), part.release ? 1 : 0, ...expectedBytes(part.expected)),
    [
      signer(part.authority),
      writable(part.escrow),
      writable(part.vault),
      writable(part.treasuryAccount),
      part.refundAccount === null ? readonly(part.programId) : writable(part.refundAccount),
      writable(part.rentPayer),
      readonly(TOKEN_PROGRAM),
      consentAccount(part),
    ],
  );

/** Refunds what was captured, before the refund deadline. Signers: the operator, `funder` and `consentBy`. */
export const refundCapturedInstruction = (
  refund: Consented &
    Of<'authority' | 'escrow' | 'refundAccount'> & {
      /** A token account of `funder`, who is not the payer. */
      readonly source: Address;
      readonly funder: Address;
      /** Atomic units, at most what is refundable. */
      readonly amount: bigint;
    },
): Instruction =>
  instruction(
    refund,
    Uint8Array.of(...amountBytes(TAG.refundCaptured, refund.amount), ...expectedBytes(refund.expected)),
    [
      signer(refund.authority),
      writable(refund.escrow),
      writable(refund.source),
      signer(refund.funder),
      writable(refund.refundAccount),
      readonly(TOKEN_PROGRAM),
      consentAccount(refund),
    ],
  );

type Ending = Of<'authority' | 'escrow' | 'vault' | 'refundAccount' | 'rentPayer'>;

/** Returns the rest to the payer before the capture deadline. Signers: the operator, and `consentBy`. */
export function voidInstruction(ending: Ending & Consented): Instruction {
  const { accounts = [] } = refundInstruction({ ...ending, byAuthority: true });
  const data = Uint8Array.of(TAG.refund, ...expectedBytes(ending.expected));
  return instruction(ending, data, [...accounts, consentAccount(ending)]);
}

/** Returns the rest to the payer from the capture deadline on. Anybody may send it. */
export const reclaimInstruction = (ending: Ending): Instruction => refundInstruction({ ...ending, byAuthority: false });

/** An authorization as it is on chain (account.ts). */
interface OnChain extends Of<'mint'> {
  readonly address: Address;
  readonly authority: Address;
  /** payTo. */
  readonly treasury: Address;
  /** The payer. */
  readonly refundOwner: Address;
  readonly rentPayer: Address;
  readonly vault: Address;
  readonly captured: bigint;
  readonly refunded: bigint;
  readonly amount: bigint;
  readonly state: 'open' | 'captured' | 'refunded';
}

interface Sent {
  readonly authorization: OnChain;
  /** Pays the rent of token accounts that are missing. */
  readonly feePayer: Address;
  /** Default: the associated token account of the payer, made where it is missing. */
  readonly refundAccount?: Address | undefined;
}

type Consents = Omit<Consented, 'expected'> & { readonly validUntil?: bigint | undefined };

/** Returns the amounts that can be captured and refunded now, which the next instruction has to expect. */
export const expectedOf = ({ state, amount, captured, refunded }: Omit<OnChain, 'address'>) => ({
  capturable: state === 'open' ? amount - captured : 0n,
  refundable: captured - refunded,
});

/** Collects the accounts, and the instruction that creates the payer's token account if it may be missing. */
async function ground({ authorization, feePayer, refundAccount }: Sent) {
  const { refundOwner, mint } = authorization;
  const account = refundAccount ?? (await associatedTokenAddress(refundOwner, mint));
  return {
    accounts: { ...authorization, escrow: authorization.address, refundAccount: account },
    makesRefundAccount: refundAccount === undefined ? [createTokenAccount(feePayer, account, refundOwner, mint)] : [],
  };
}

const expecting = (authorization: OnChain, { validUntil }: Consents): Expected => ({
  ...expectedOf(authorization),
  validUntil,
});

/**
 * Captures `amount`. The capture is the last instruction: a consent instruction goes right before it. `leaves`: the
 * rest stays in the vault for a sweep, so that a payer without a usable token account cannot stop the capture.
 */
export async function capturePartInstructions(
  capture: Sent & Consents & { readonly amount: bigint; readonly release: boolean; readonly leaves?: boolean },
): Promise<Instruction[]> {
  const { authorization, feePayer, amount, release, consentBy } = capture;
  const { treasury, mint } = authorization;
  const { accounts, makesRefundAccount } = await ground(capture);
  const treasuryAccount = await associatedTokenAddress(treasury, mint);
  const expected = expecting(authorization, capture);
  const pays = release && amount < expected.capturable && capture.leaves !== true;
  return [
    createTokenAccount(feePayer, treasuryAccount, treasury, mint),
    ...(pays ? makesRefundAccount : []),
    capturePartInstruction({
      ...{ ...accounts, treasuryAccount, consentBy, expected, amount, release },
      refundAccount: pays ? accounts.refundAccount : null,
    }),
  ];
}

/** Refunds `amount` of what was captured; `source` is by default the associated token account of `funder`. */
export async function refundCapturedInstructions(
  refund: Sent & Consents & { readonly amount: bigint; readonly funder: Address; readonly source?: Address },
): Promise<Instruction[]> {
  const { authorization, amount, funder, consentBy } = refund;
  const { accounts, makesRefundAccount } = await ground(refund);
  const source = refund.source ?? (await associatedTokenAddress(funder, authorization.mint));
  const expected = expecting(authorization, refund);
  return [
    ...makesRefundAccount,
    refundCapturedInstruction({ ...accounts, source, funder, amount, consentBy, expected }),
  ];
}

/** Voids: returns the rest to the payer. */
export async function voidInstructions(ending: Sent & Consents): Promise<Instruction[]> {
  const { accounts, makesRefundAccount } = await ground(ending);
  const expected = expecting(ending.authorization, ending);
  return [...makesRefundAccount, voidInstruction({ ...accounts, consentBy: ending.consentBy, expected })];
}

/** Returns the rest to the payer, from the capture deadline on. No signer but the fee payer. */
export async function reclaimInstructions(ending: Sent): Promise<Instruction[]> {
  const { accounts, makesRefundAccount } = await ground(ending);
  return [...makesRefundAccount, reclaimInstruction(accounts)];
}

/**
 * Closes an ended authorization: without captures at once, else from the refund deadline on. Signer: `closer`, which is
 * the operator or the rent payer. `sweeps`: a vault that was created again is emptied first.
 */
export async function closeAuthorizationInstructions(
  closing: Sent & { readonly closer: Address; readonly sweeps?: boolean | undefined },
): Promise<Instruction[]> {
  const { accounts, makesRefundAccount } = await ground(closing);
  return [
    ...(closing.sweeps ? [...makesRefundAccount, sweepInstruction(accounts)] : []),
    closeInstruction({ ...accounts, authority: closing.closer }),
  ];
}

/** Sends money at the address of a closed, or never opened, authorization to the payer of its terms. */
export const recoverAuthorizationInstruction = (
  recover: AuthorizationTerms & Of<'escrow' | 'vault' | 'refundAccount'>,
): Instruction =>
  instruction(
    recover,
    Uint8Array.of(TAG.recover, ...getAddressEncoder().encode(recover.mint), ...termsBytes(recover)),
    [
      readonly(recover.escrow),
      writable(recover.vault),
      writable(recover.refundAccount),
      writable(recover.payer),
      readonly(TOKEN_PROGRAM),
    ],
  );
