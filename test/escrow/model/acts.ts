import type { AccountMeta, Address, Instruction } from '@solana/kit';
import { ESCROW_PROGRAM_ID } from '../../../src/escrow/address.ts';
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
import type { Cast, Name, Place } from './cast.ts';
import { entryAt, type State } from './state.ts';

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

export type Act =
  | OpenAct
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
  const { escrow, intentHash } = placeOf(cast, act.which);
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

function calling(cast: Cast, state: State, act: Extract<Act, { readonly do: CallName }>): Instruction {
  const place = placeOf(cast, act.which);
  const found = entryAt(state, place.escrow);
  const by = cast.named[act.by];
  const mint = act.coin === undefined && found.kind === 'escrow' ? found.mint : coinOf(cast, act.coin);
  const recorded =
    found.kind === 'escrow'
      ? found
      : {
          authority: cast.named.authority,
          treasury: cast.named.treasury,
          refundOwner: cast.named.traveller,
          rentPayer: cast.named.authority,
        };
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
    recover: () => recoverInstruction({ ...accounts, intentId: place.intentId, refundOwner: recorded.refundOwner }),
  }[act.do]();
  return flawed(cast, signedBy(made, by), act.flaw);
}

/** All that an account can be replaced by: everybody, everything of theirs, and what only looks like it. */
function decoysOf(cast: Cast): Address[] {
  const owners = [...Object.values(cast.named), ...cast.places.map(({ escrow }) => escrow)];
  const accounts = owners.flatMap((each) => [accountOf(cast, each, cast.usdc), accountOf(cast, each, cast.other)]);
  const { usdc, other, second } = cast;
  return [...owners, ...accounts, usdc, other, second, ESCROW_PROGRAM_ID, ...Object.values(cast.decoys)];
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
