import type { AccountMeta, Address, Instruction } from '@solana/kit';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
import {
  authorizeInstruction,
  capturePartInstruction,
  recoverAuthorizationInstruction,
  refundCapturedInstruction,
  voidInstruction,
} from '../../../src/escrow/authorization.ts';
import { consentInstruction, consentMessage, INSTRUCTIONS_SYSVAR } from '../../../src/escrow/consent.ts';
import {
  captureInstruction,
  closeInstruction,
  openInstruction,
  recoverInstruction,
  refundInstruction,
  sweepInstruction,
} from '../../../src/escrow/program.ts';
import { SYSTEM_PROGRAM } from '../program-world.ts';
import { closeAccount, freeze, gift, giveAway, makeAccount, transfer } from './below.ts';
import { type Cast, INTENTS, NAMES, type Name, type Place, SOUND } from './cast.ts';
import { capturable, type Escrow, entryAt, refundable, type State } from './state.ts';

/** What somebody tries, in words that can be printed; it becomes instructions in the state that it is tried in. */

export const CALLS = ['capture', 'captureAndLeave', 'refund', 'refundByAnyone', 'sweep', 'close', 'recover'] as const;
export type CallName = (typeof CALLS)[number];

/** One thing that is wrong with an instruction. */
export type Flaw =
  | { readonly wrong: 'account'; readonly at: number; readonly by: number }
  | { readonly wrong: 'role'; readonly at: number; readonly without: 1 | 2 }
  | { readonly wrong: 'accounts'; readonly change: number }
  | { readonly wrong: 'length'; readonly change: number }
  | { readonly wrong: 'byte'; readonly at: number; readonly to: number };

export type Coin = 'usdc' | 'other';

export interface OpenAct {
  readonly do: 'open';
  readonly which: number;
  readonly by: Name;
  /** Pays the rent; `by` where it is not said. */
  readonly payer?: Name;
  readonly amount: bigint;
  /** Seconds from now, or the moment itself. */
  readonly dueIn?: bigint;
  readonly dueAt?: bigint;
  /** `theirs`: the stranger refunds himself; `cross`: refunds go to the address of the next escrow. */
  readonly terms?: 'usual' | 'theirs' | 'equal' | 'nobody' | 'itself' | 'vault' | 'cross';
  readonly coin?: Coin;
  /** The vault is made in the same transaction, unless this is false. */
  readonly vault?: boolean;
  readonly flaw?: Flaw | undefined;
}

export interface AuthorizeAct {
  readonly do: 'authorize';
  readonly which: number;
  /** Signs as the payer: whom the terms name, or somebody else. */
  readonly by: Name | 'payer';
  /** Pays the rents, and signs. */
  readonly payer: Name;
  readonly source?: 'own' | 'second' | 'vault' | 'treasury' | 'otherCoin';
  readonly vault?: boolean;
  readonly flaw?: Flaw | undefined;
}

/** How the receiver consents: by a signature of the transaction, by one before the instruction, or in ways that are none. */
export const WAYS = ['signs', 'signed', 'missing', 'other', 'earlier', 'apart', 'forged', 'none'] as const;

export interface ConsentedAct {
  readonly do: 'part' | 'refundCaptured' | 'void';
  readonly which: number;
  readonly by: Name | 'operator';
  readonly amount: bigint;
  readonly release: boolean;
  readonly leaves?: boolean | undefined;
  readonly second?: boolean | undefined;
  readonly consent: (typeof WAYS)[number];
  readonly consentBy: Name | 'authorizer of it';
  /** Added to the expected pair. */
  readonly off?: readonly [bigint, bigint] | undefined;
  /** Seconds from now. */
  readonly validFor?: bigint | undefined;
  readonly funder?: Name | undefined;
  readonly funderSigns?: boolean | undefined;
  readonly source?: 'own' | 'vault' | 'otherCoin' | 'treasury' | undefined;
  readonly flaw?: Flaw | undefined;
}

export type Act =
  | OpenAct
  | AuthorizeAct
  | ConsentedAct
  | {
      readonly do: CallName;
      readonly which: number;
      readonly by: Name;
      /** `by` is named as the authority, whoever it is. */
      readonly asOwn?: boolean;
      /** To the second account of the refund owner instead. */
      readonly second?: boolean;
      readonly coin?: Coin;
      readonly flaw?: Flaw | undefined;
    }
  | { readonly do: 'makeVault'; readonly which: number; readonly by: Name; readonly coin?: Coin }
  | { readonly do: 'pay'; readonly which: number; readonly by: Name; readonly amount: bigint; readonly coin?: Coin }
  | { readonly do: 'gift'; readonly which: number; readonly to: 'escrow' | 'vault'; readonly lamports: bigint }
  | { readonly do: 'freeze' | 'thaw'; readonly what: 'vault' | 'account'; readonly which: number; readonly of: Name }
  | { readonly do: 'spend' | 'closeAccount' | 'makeAccount' | 'giveAway'; readonly of: Name; readonly to: Name }
  | { readonly do: 'wait'; readonly seconds: bigint }
  /** In one transaction. */
  | { readonly do: 'together'; readonly acts: readonly Act[] };

export const textOf = (act: Act): string =>
  JSON.stringify(act, (_key, value) => (typeof value === 'bigint' ? `${value}` : value));

const coinOf = (cast: Cast, coin: Coin | undefined): Address => (coin === 'other' ? cast.other : cast.usdc);

function placeOf(cast: Cast, which: number): Place {
  const place = cast.places[which % cast.places.length];
  if (!place) throw new Error('there is no such escrow');
  return place;
}

const accountOf = (cast: Cast, owner: Address, mint: Address): Address => cast.accountOf(owner, mint) ?? SYSTEM_PROGRAM;

/** He signs for himself alone, whoever the instruction wants. */
const signedBy = (instruction: Instruction, ...signers: Address[]): Instruction => ({
  ...instruction,
  accounts: (instruction.accounts ?? []).map(({ address, role }) => ({
    address,
    role: signers.includes(address) ? role : role & 1,
  })),
});

/** The instructions of an act; `wait` has none. */
export function instructionsOf(cast: Cast, state: State, act: Act): Instruction[] {
  switch (act.do) {
    case 'together':
      return act.acts.flatMap((each) => instructionsOf(cast, state, each));
    case 'wait':
      return [];
    case 'open':
      return opening(cast, state, act);
    case 'authorize':
      return authorizing(cast, act);
    case 'part':
    case 'refundCaptured':
    case 'void':
      return consenting(cast, state, act);
    case 'makeVault': {
      const { escrow } = placeOf(cast, act.which);
      const mint = coinOf(cast, act.coin);
      return [makeAccount(cast.named[act.by], accountOf(cast, escrow, mint), escrow, mint)];
    }
    case 'pay': {
      const mint = coinOf(cast, act.coin);
      const to = accountOf(cast, placeOf(cast, act.which).escrow, mint);
      const by = cast.named[act.by];
      return [transfer(accountOf(cast, by, mint), to, by, act.amount)];
    }
    case 'gift': {
      const { escrow } = placeOf(cast, act.which);
      const to = act.to === 'escrow' ? escrow : accountOf(cast, escrow, cast.usdc);
      return [gift(cast.named.stranger, to, act.lamports)];
    }
    case 'freeze':
    case 'thaw': {
      const owner = act.what === 'vault' ? placeOf(cast, act.which).escrow : cast.named[act.of];
      return [freeze(accountOf(cast, owner, cast.usdc), cast.usdc, cast.bank, act.do === 'thaw')];
    }
    case 'spend':
    case 'closeAccount':
    case 'makeAccount':
    case 'giveAway':
      return [ofAnAccount(cast, state, act)];
    default:
      return [calling(cast, state, act)];
  }
}

function ofAnAccount(
  cast: Cast,
  state: State,
  act: Extract<Act, { readonly do: 'spend' | 'closeAccount' | 'makeAccount' | 'giveAway' }>,
): Instruction {
  const [of, to] = [cast.named[act.of], cast.named[act.to]];
  const account = accountOf(cast, of, cast.usdc);
  switch (act.do) {
    case 'spend': {
      // All of it, so that the account can be closed.
      const held = entryAt(state, account);
      const target = accountOf(cast, to, cast.usdc);
      return transfer(account, target, of, held.kind === 'token' ? held.amount : 0n);
    }
    case 'closeAccount':
      return closeAccount(account, of, of);
    case 'makeAccount':
      return makeAccount(to, account, of, cast.usdc);
    case 'giveAway':
      return giveAway(account, of, to);
  }
}

function opening(cast: Cast, state: State, act: OpenAct): Instruction[] {
  const { escrow, hash: intentHash } = placeOf(cast, act.which);
  const { named } = cast;
  const mint = coinOf(cast, act.coin);
  const vault = accountOf(cast, escrow, mint);
  const parties: Record<NonNullable<OpenAct['terms']>, readonly [treasury: Address, refundOwner: Address]> = {
    usual: [named.treasury, named.traveller],
    theirs: [named.traveller, named.stranger],
    equal: [named.traveller, named.traveller],
    nobody: [SYSTEM_PROGRAM, named.traveller],
    itself: [named.treasury, escrow],
    vault: [vault, named.traveller],
    cross: [named.treasury, placeOf(cast, act.which + 1).escrow],
  };
  const [treasury, refundOwner] = parties[act.terms ?? 'usual'];
  const authority = named[act.by];
  const payer = named[act.payer ?? act.by];
  const refundAfter = act.dueAt ?? state.now + (act.dueIn ?? 0n);
  const { amount, flaw } = act;
  const programId = ESCROW_PROGRAM_ID;
  const terms = { programId, authority, payer, escrow, vault, mint, intentHash, amount, refundAfter };
  const open = flawed(cast, openInstruction({ ...terms, treasury, refundOwner }), flaw);
  return act.vault === false ? [open] : [makeAccount(payer, vault, escrow, mint), open];
}

function authorizing(cast: Cast, act: AuthorizeAct): Instruction[] {
  const { escrow, terms } = placeOf(cast, Math.max(act.which, INTENTS));
  if (!terms) throw new Error('that is an intent');
  const payer = act.by === 'payer' ? terms.payer : cast.named[act.by];
  const rentPayer = cast.named[act.payer];
  const vault = accountOf(cast, escrow, terms.mint);
  const source = {
    own: accountOf(cast, terms.payer, terms.mint),
    second: cast.second,
    vault,
    treasury: accountOf(cast, cast.named.treasury, terms.mint),
    otherCoin: accountOf(cast, terms.payer, terms.mint === cast.usdc ? cast.other : cast.usdc),
  }[act.source ?? 'own'];
  const made = authorizeInstruction({ programId: ESCROW_PROGRAM_ID, ...terms, escrow, vault, rentPayer, source });
  const authorize = flawed(cast, signedBy(made, payer, rentPayer), act.flaw);
  return act.vault === false ? [authorize] : [makeAccount(rentPayer, vault, escrow, terms.mint), authorize];
}

/** The escrow at a place, or one as it might be there. */
function escrowAt(cast: Cast, state: State, { escrow, terms }: Place) {
  const found = entryAt(state, escrow);
  if (found.kind === 'escrow') return found;
  const { authority, treasury, traveller, authorizer } = cast.named;
  return {
    authority: terms?.operator ?? authority,
    treasury: terms?.payTo ?? treasury,
    refundOwner: terms?.payer ?? traveller,
    rentPayer: authority,
    mint: terms?.mint ?? cast.usdc,
    openedAt: state.now,
    authorization: terms && { receiverAuthorizer: authorizer },
  };
}

const pairOf = (escrow: ReturnType<typeof escrowAt>): readonly [bigint, bigint] =>
  'amount' in escrow ? [capturable(escrow as Escrow), refundable(escrow as Escrow)] : [0n, 0n];

function consenting(cast: Cast, state: State, act: ConsentedAct): Instruction[] {
  const place = placeOf(cast, act.which);
  const escrow = escrowAt(cast, state, place);
  const { mint, openedAt } = escrow;
  const authorizer = escrow.authorization?.receiverAuthorizer ?? null;
  const [, nameOfAuthorizer] = NAMES.map((name) => [cast.named[name], name] as const).find(
    ([address]) => address === authorizer,
  ) ?? [null, 'authorizer' as const];
  const by = act.by === 'operator' ? escrow.authority : cast.named[act.by];
  const consenter = act.consentBy === 'authorizer of it' ? nameOfAuthorizer : act.consentBy;
  const bySignature = act.consent === 'signs';
  const consentBy = bySignature ? cast.named[consenter] : null;
  const [capturableNow, refundableNow] = pairOf(escrow);
  const [more, again] = act.off ?? [0n, 0n];
  const positive = (value: bigint) => (value < 0n ? 0n : BigInt.asUintN(64, value));
  const expected = {
    capturable: positive(capturableNow + more),
    refundable: positive(refundableNow + again),
    validUntil: state.now + (act.validFor ?? 0n),
  };
  const funder = cast.named[act.funder ?? 'treasury'];
  const vault = accountOf(cast, place.escrow, mint);
  const accounts = {
    programId: ESCROW_PROGRAM_ID,
    authority: escrow.authority,
    escrow: place.escrow,
    vault,
    treasuryAccount: accountOf(cast, escrow.treasury, mint),
    refundAccount: act.second ? cast.second : accountOf(cast, escrow.refundOwner, mint),
    rentPayer: escrow.rentPayer,
    consentBy,
    expected,
    amount: act.amount,
    release: act.release,
    funder,
    source: {
      own: accountOf(cast, funder, mint),
      vault,
      otherCoin: accountOf(cast, funder, mint === cast.usdc ? cast.other : cast.usdc),
      treasury: accountOf(cast, cast.named.treasury, mint),
    }[act.source ?? 'own'],
  };
  const make = (amount: bigint): Instruction => {
    if (act.do === 'void') return voidInstruction(accounts);
    if (act.do === 'refundCaptured') return refundCapturedInstruction({ ...accounts, amount });
    const refundAccount = act.leaves ? null : accounts.refundAccount;
    return capturePartInstruction({ ...accounts, amount, refundAccount });
  };
  const signers = [by, ...(bySignature ? [cast.named[consenter]] : []), ...(act.funderSigns === false ? [] : [funder])];
  const whole = flawed(cast, signedBy(make(act.amount), ...signers), act.flaw);
  // An intent knows no consent.
  const isIntent = place.terms === null && act.do === 'part';
  if (act.consent === 'none' || (isIntent && act.consent === 'signed')) {
    const without = (whole.accounts ?? []).filter(({ address }) => address !== INSTRUCTIONS_SYSVAR);
    return [{ ...whole, accounts: without }];
  }
  if (bySignature || act.consent === 'missing') return [whole];
  const allowed = act.consent === 'other' ? make(act.amount + 1n > 2n ** 64n - 1n ? 0n : act.amount + 1n) : whole;
  if (!allowed.accounts?.[1]) return [whole];
  const message = consentMessage(allowed, openedAt - (act.consent === 'earlier' ? 1n : 0n));
  const signature = cast.sign(act.consent === 'forged' ? 'pauper' : consenter, message);
  const consent = consentInstruction({ authorizer: cast.named[consenter], message, signature });
  return act.consent === 'apart'
    ? [consent, gift(cast.named.stranger, cast.named.pauper, 1n), whole]
    : [consent, whole];
}

function calling(cast: Cast, state: State, act: Extract<Act, { readonly do: CallName }>): Instruction {
  const place = placeOf(cast, act.which);
  const by = cast.named[act.by];
  const recorded = escrowAt(cast, state, place);
  const mint = act.coin === undefined ? recorded.mint : coinOf(cast, act.coin);
  const refundAccount = act.second ? cast.second : accountOf(cast, recorded.refundOwner, mint);
  const accounts = {
    programId: ESCROW_PROGRAM_ID,
    authority: act.asOwn ? by : recorded.authority,
    escrow: place.escrow,
    vault: accountOf(cast, place.escrow, mint),
    treasuryAccount: accountOf(cast, recorded.treasury, mint),
    refundAccount,
    rentPayer: recorded.rentPayer,
  };
  const made = {
    capture: () => captureInstruction(accounts),
    captureAndLeave: () => captureInstruction({ ...accounts, refundAccount: null }),
    refund: () => refundInstruction({ ...accounts, byAuthority: true }),
    refundByAnyone: () => refundInstruction({ ...accounts, byAuthority: false }),
    sweep: () => sweepInstruction(accounts),
    close: () => closeInstruction(accounts),
    recover: () =>
      place.terms
        ? recoverAuthorizationInstruction({ ...place.terms, ...accounts, payer: recorded.refundOwner })
        : recoverInstruction({ ...accounts, intentId: place.intentId, refundOwner: recorded.refundOwner }),
  }[act.do]();
  return flawed(cast, signedBy(made, by), act.flaw);
}

/** All that an account can be replaced by: everybody, everything of theirs, and what only looks like it. */
function decoysOf(cast: Cast): Address[] {
  const owners = [...Object.values(cast.named), ...cast.places.slice(0, INTENTS + SOUND).map(({ escrow }) => escrow)];
  const accounts = owners.flatMap((each) => [accountOf(cast, each, cast.usdc), accountOf(cast, each, cast.other)]);
  const { usdc, other, second } = cast;
  const others = [usdc, other, second, ESCROW_PROGRAM_ID, INSTRUCTIONS_SYSVAR, ...Object.values(cast.decoys)];
  return [...accounts, ...owners, ...others];
}

function flawed(cast: Cast, instruction: Instruction, flaw: Flaw | undefined): Instruction {
  if (!flaw) return instruction;
  const accounts: AccountMeta[] = [...(instruction.accounts ?? [])];
  const data = new Uint8Array(instruction.data ?? []);
  const decoys = decoysOf(cast);
  switch (flaw.wrong) {
    case 'account': {
      const at = flaw.at % accounts.length;
      const address = decoys[flaw.by % decoys.length] ?? SYSTEM_PROGRAM;
      // Nobody can sign for what has no key; the others are not asked whether they do.
      const role = (accounts[at]?.role ?? 0) & (Object.values(cast.named).includes(address) ? 3 : 1);
      return { ...instruction, accounts: accounts.with(at, { address, role }) };
    }
    case 'role': {
      const at = flaw.at % accounts.length;
      const { address, role } = accounts[at] ?? { address: SYSTEM_PROGRAM, role: 0 };
      return { ...instruction, accounts: accounts.with(at, { address, role: role & ~flaw.without }) };
    }
    case 'accounts': {
      if (flaw.change < 0) return { ...instruction, accounts: accounts.slice(0, flaw.change) };
      const more = decoys.slice(0, flaw.change).map((address) => ({ address, role: 0 }));
      return { ...instruction, accounts: [...accounts, ...more] };
    }
    case 'length': {
      const length = Math.max(0, data.length + flaw.change);
      const changed = new Uint8Array(length);
      changed.set(data.subarray(0, length));
      return { ...instruction, data: changed };
    }
    case 'byte':
      data[flaw.at % data.length] = flaw.to;
      return { ...instruction, data };
  }
}
