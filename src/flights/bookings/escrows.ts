import { hostname } from 'node:os';
import type { Address, Instruction } from '@solana/kit';
import type { ChainEffect } from '../../effects/index.ts';
import { type EscrowAccount, loadAccount, loadAddress, loadProgram } from '../../escrow/index.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { type AuthorizationAsked, authoritiesOf } from '../../payments/index.ts';
import { genesisHashOf, type Signer } from '../../solana/index.ts';
import { type EscrowKindName, type FlightsPorts, type IntentRow, pageOnce, pageWhile } from '../base/index.ts';
import { KINDS, type Parties } from './escrow-kinds.ts';

/** The terms of an escrow, and the subject of its effects. */
export type EscrowTerms = Pick<
  IntentRow,
  | 'intent_id'
  | 'escrow_kind'
  | 'escrow_address'
  | 'vault_address'
  | 'mint'
  | 'program_id'
  | 'authority'
  | 'refund_wallet'
  | 'amount'
  | 'refund_after_ms'
> & {
  /** The subject of its effects, if it is not the intent id. */
  readonly subject?: string | undefined;
};

/** The columns of an intent that locate its money. */
export const placeOf = ({ escrow_kind, escrow_address, vault_address }: EscrowTerms) => ({
  ...{ escrow_kind, escrow_address, vault_address },
});

/** The checks that stop an effect after a lost lease. */
type Guard = Pick<ChainEffect, 'fence' | 'held' | 'agreed'>;

/** Retry-After of a refund whose token account is missing: the owner may take days. */
const ACCOUNT_RETRY_S = 600;

type EscrowPorts = Pick<
  FlightsPorts,
  'cluster' | 'effects' | 'authority' | 'authorities' | 'treasury' | 'mint' | 'escrowProgram'
> &
  Parameters<typeof pageOnce>[0];

/** The authority under which an intent's escrow was opened, even if it is retired by now. */
const authorityOf = (ports: EscrowPorts, { authority }: EscrowTerms): Address =>
  (authority as Address | null) ?? authoritiesOf(ports).first;

/** The escrow of an intent: each step is an effect that happens once, at the program that the intent was opened at. */
export function createEscrows(ports: EscrowPorts) {
  const held = async (intent: EscrowTerms): Promise<bigint> =>
    (await ports.cluster.tokenBalance(intent.vault_address as Address)) ?? 0n;

  return {
    read: (intent: EscrowTerms) => read(ports, intent),
    held,
    /** `isNew`: the caller has just written the intent. */
    open: (intent: EscrowTerms, how?: Opening) => open(ports, intent, how),

    async place(intentId: string) {
      const { mint, escrowProgram: programId } = ports;
      const { escrowAddress } = await loadAddress();
      return { ...(await escrowAddress(intentId, { mint, programId })), programId };
    },

    /** Reads the escrow. Reopens it if nothing of it is on chain because its block was dropped. */
    async readOrReopen(intent: EscrowTerms): Promise<EscrowAccount | null> {
      const escrow = await read(ports, intent);
      if (escrow) return escrow;
      const [account] = await ports.cluster.accounts([intent.escrow_address as Address]);
      if (account) return null;
      await open(ports, intent, { isGone: true });
      return read(ports, intent);
    },

    /** Pays the treasury the amount, or `takes` of it; the rest goes to the refund wallet, in the same transaction. */
    capture: (intent: EscrowTerms, guard?: Guard, takes?: bigint) => capture(ports, intent, guard, takes),

    /** How a refund now would end the escrow of a ticket, or how it has ended. */
    async outcome(intent: EscrowTerms) {
      const { escrow, refundAccount } = (await parties(ports, intent)).observed;
      if (escrow?.state === 'open') return refundAccount === 'usable' ? ('releases' as const) : ('captures' as const);
      return escrow && escrow.captured < escrow.amount ? ('released' as const) : ('captured' as const);
    },

    /** Pays the vault back and closes it; `closes` also closes an unpaid escrow. @throws `refund_account_missing` */
    refund: (intent: EscrowTerms, guard?: Guard, how?: { closes?: boolean }) => refund(ports, intent, guard, how),

    /** Pays back a surplus; after the end, everything, closing the vault. @returns false if no account can take it */
    async sweep(intent: EscrowTerms, guard?: Guard): Promise<boolean> {
      const { observed } = await parties(ports, intent);
      if (observed.excess > 0n && observed.refundAccount !== 'usable') return false;
      await act(ports, intent, 'sweep', {
        ...guard,
        already: async () => {
          const { observed } = await parties(ports, intent);
          return observed.escrow?.state === 'open' ? observed.excess === 0n : !observed.hasVault;
        },
        instructions: async () => (await loadProgram()).sweepInstructions(await parties(ports, intent)),
      });
      return true;
    },

    /** Pays a closed escrow's vault to the owner that the intent id names. @returns false if no account can take it */
    async recover(intent: EscrowTerms): Promise<boolean> {
      const now = await parties(ports, intent);
      if (now.observed.refundAccount !== 'usable') return false;
      await act(ports, intent, 'sweep', {
        already: async () => !(await parties(ports, intent)).observed.hasVault,
        instructions: async (kind) => kind.recover(now, await identityOf(ports, intent)),
      });
      return true;
    },

    close: (intent: EscrowTerms) => close(ports, intent),

    /** The authorization that its refund wallet may open instead of paying into the escrow. */
    authorization: (intent: EscrowTerms) => authorizationOf(ports, intent),

    /** The intent's escrow of the other kind. Its address, which is different, is the subject of its effects. */
    async other(intent: EscrowTerms): Promise<EscrowTerms> {
      const escrow_kind = intent.escrow_kind === 'opened' ? 'authorized' : 'opened';
      const { address, vault } = await KINDS[escrow_kind].place(await identityOf(ports, intent));
      return { ...intent, escrow_kind, escrow_address: address, vault_address: vault, subject: address };
    },

    async holdsPrice(intent: EscrowTerms): Promise<boolean> {
      return (await read(ports, intent))?.state === 'open' && (await held(intent)) >= BigInt(intent.amount);
    },

    /** Ends an unused escrow and closes it. @returns when to call again (epoch ms), or null once it is closed */
    clear: (intent: EscrowTerms) => clear(ports, intent),
  };
}

export type Escrows = ReturnType<typeof createEscrows>;

type Opening = Pick<ChainEffect, 'isGone' | 'isNew'>;

interface Act extends Pick<ChainEffect, 'already' | 'reference'>, Guard, Opening {
  instructions(kind: (typeof KINDS)[EscrowKindName]): Promise<readonly Instruction[]>;
}

/** The terms of an intent's authorization. The refund wallet pays it, and its address follows from the intent. */
async function authorizationOf(ports: EscrowPorts, intent: EscrowTerms): Promise<AuthorizationAsked> {
  const { intentHashOf } = await loadAddress();
  const authority = authorityOf(ports, intent);
  const deadline = BigInt(Math.floor(intent.refund_after_ms / 1000));
  return {
    programId: intent.program_id as Address,
    genesis: genesisHashOf(ports.cluster),
    nonce: intentHashOf(intent.intent_id),
    payer: intent.refund_wallet as Address,
    mint: intent.mint as Address,
    amount: BigInt(intent.amount),
    captureDeadline: deadline,
    // Refunds of a captured price come from the treasury, so the account need not outlive the capture.
    refundDeadline: deadline,
    operator: authority,
    payTo: ports.treasury,
    receiverAuthorizer: authority,
  };
}

const identityOf = async (ports: EscrowPorts, intent: EscrowTerms) => ({
  intentId: intent.intent_id,
  mint: intent.mint as Address,
  programId: intent.program_id as Address,
  terms: await authorizationOf(ports, intent),
});

const act = async (...of: Parameters<typeof landed>) => (await landed(...of)).signature;

async function landed(
  ports: EscrowPorts,
  intent: EscrowTerms,
  kind: ChainEffect['kind'],
  { instructions, ...step }: Act,
) {
  const { effects, authority: feePayer } = ports;
  const plan = async () => ({
    feePayer,
    signers: kind === 'sweep' ? [] : await signersOf(ports, intent),
    instructions: await instructions(KINDS[intent.escrow_kind]),
  });
  return effects.chain({ kind, subject: intent.subject ?? intent.intent_id, ...step, plan });
}

/**
 * Ends the escrow of a ticket that exists, or was cancelled for a refund. Captures and releases are attempts at one
 * effect, so only one lands. @returns its signature, and the amount that the treasury really got
 */
async function capture(ports: EscrowPorts, intent: EscrowTerms, guard?: Guard, takes = BigInt(intent.amount)) {
  const total = BigInt(intent.amount);
  const isAll = takes === total;
  const { signature, reference } = await landed(ports, intent, 'capture', {
    ...guard,
    reference: isAll ? undefined : String(takes),
    async already() {
      if (isAll) return hasEnded(ports, intent, 'captured');
      const escrow = await read(ports, intent);
      if (escrow === null) throw new EscrowEndedOtherwise('missing');
      return escrow.state !== 'open';
    },
    async instructions(kind) {
      const all = await parties(ports, intent);
      if (!isAll) checkRefundAccount(intent, all);
      await checkCapturable(ports, all);
      return kind.capture(all, takes, total);
    },
  });
  return { signature, captured: await capturedBy(ports, intent, { signature, reference }) };
}

/** Refuses a capture after an authorization's deadline, when anybody can return it: a person has to decide. */
async function checkCapturable({ cluster }: EscrowPorts, { observed: { escrow } }: Parties): Promise<void> {
  if (escrow?.kind !== 'authorization' || BigInt(await cluster.unixTime()) < escrow.refundAfter) return;
  throw new EscrowEndedOtherwise('past its capture deadline');
}

/** @throws Problem `cluster_failed` while a node is behind, EscrowEndedOtherwise if the escrow is gone */
async function capturedBy(
  ports: EscrowPorts,
  intent: EscrowTerms,
  { signature, reference }: Awaited<ReturnType<typeof landed>>,
) {
  if (signature !== null) return BigInt(reference ?? intent.amount);
  const escrow = await read(ports, intent);
  if (escrow?.state === 'open') throw problem('cluster_failed');
  if (escrow === null) throw new EscrowEndedOtherwise('missing');
  return escrow.captured;
}

/** The escrow's authority, unless it pays the fee. @throws `operator_key_unusable`: other processes may have its key */
async function signersOf(ports: EscrowPorts, intent: EscrowTerms): Promise<Signer[]> {
  const authority = authorityOf(ports, intent);
  if (authority === ports.authority.address) return [];
  try {
    return [authoritiesOf(ports).signer(authority)];
  } catch (error) {
    if (isProblem(error, 'operator_key_unusable')) {
      const machine = hostname();
      await pageOnce(ports, {
        key: `operator_key_unusable:${machine}:${authority}`,
        event: 'operator_key_unusable',
        text: `A process on ${machine} lacks the key of ${authority}, under which escrows are open: ${(error.cause as Error | undefined)?.message ?? error.message}`,
        fields: { machine, authority },
      });
    }
    throw error;
  }
}

/** Reads the escrow if it has our terms: a stranger could open one first, as its address follows from the id alone. */
async function read(ports: EscrowPorts, intent: EscrowTerms): Promise<EscrowAccount | null> {
  const { cluster, treasury } = ports;
  const { readEscrow } = await loadAccount();
  const escrow = await readEscrow(cluster, intent.escrow_address as Address, [intent.program_id as Address]);
  const isOurs =
    escrow?.kind === KINDS[intent.escrow_kind].layout &&
    escrow.authority === authorityOf(ports, intent) &&
    escrow.treasury === treasury &&
    escrow.mint === intent.mint &&
    escrow.amount === BigInt(intent.amount) &&
    escrow.refundOwner === intent.refund_wallet;
  return isOurs ? escrow : null;
}

async function parties(ports: EscrowPorts, intent: EscrowTerms): Promise<Parties> {
  const { cluster, treasury } = ports;
  const { observeEscrow } = await loadAccount();
  const at = {
    programId: intent.program_id as Address,
    escrow: intent.escrow_address as Address,
    mint: intent.mint as Address,
    refundOwner: intent.refund_wallet as Address,
  };
  const observed = await observeEscrow(cluster, at);
  const payer = ports.authority.address;
  const rentPayer = observed.escrow?.rentPayer;
  // We open no refund account: its owner could close it, keep the rent and ask again.
  return {
    ...at,
    authority: authorityOf(ports, intent),
    payer,
    rentPayer,
    treasury,
    observed,
    opensRefundAccount: false,
  };
}

/** @throws Problem `refund_account_missing`: the token account is closed, frozen or given away */
function checkRefundAccount(intent: EscrowTerms, { observed }: Parties): void {
  if (observed.refundAccount === 'usable') return;
  throw problem('refund_account_missing', {
    retryAfter: ACCOUNT_RETRY_S,
    detail: { refund_wallet: intent.refund_wallet, mint: intent.mint },
  });
}

/** Creates the escrow's state account and vault. Its terms never change after that. */
async function open(ports: EscrowPorts, intent: EscrowTerms, how: Opening = {}): Promise<void> {
  await act(ports, intent, 'open_escrow', {
    ...how,
    already: async () => (await read(ports, intent)) !== null,
    instructions: async () =>
      (await loadProgram()).openInstructions({
        programId: intent.program_id as Address,
        authority: authorityOf(ports, intent),
        payer: ports.authority.address,
        mint: intent.mint as Address,
        treasury: ports.treasury,
        refundOwner: intent.refund_wallet as Address,
        intentId: intent.intent_id,
        amount: BigInt(intent.amount),
        refundAfter: BigInt(Math.floor(intent.refund_after_ms / 1000)),
      }),
  });
}

const refund = (ports: EscrowPorts, intent: EscrowTerms, guard?: Guard, { closes = false } = {}) =>
  act(ports, intent, 'refund', {
    ...guard,
    already: () => hasEnded(ports, intent, 'refunded', closes),
    async instructions(kind) {
      const all = await parties(ports, intent);
      if (all.observed.held > 0n) checkRefundAccount(intent, all);
      const wasPaid = all.observed.held >= BigInt(intent.amount);
      return kind.giveBack(all, closes && !wasPaid);
    },
  });

async function clear(ports: EscrowPorts, intent: EscrowTerms): Promise<number | null> {
  const before = await read(ports, intent);
  if (before?.state === 'open') await refund(ports, intent, undefined, { closes: true });
  const escrow = before && (await read(ports, intent));
  if (escrow === null) return null;
  const closesAtMs = Number(KINDS[intent.escrow_kind].closesAtS(escrow)) * 1000;
  if ((await ports.cluster.unixTime()) * 1000 < closesAtMs) return closesAtMs;
  await close(ports, intent);
  return null;
}

/** Closes an ended escrow and a recreated vault. Returns false while it is open. @throws `refund_account_missing` */
async function close(ports: EscrowPorts, intent: EscrowTerms): Promise<boolean> {
  const escrow = await read(ports, intent);
  if (!escrow) return true;
  if (escrow.state === 'open') return false;
  await act(ports, intent, 'close_escrow', {
    already: async () => (await read(ports, intent)) === null,
    async instructions(kind) {
      const all = await parties(ports, intent);
      if (all.observed.excess > 0n) checkRefundAccount(intent, all);
      return kind.close(all);
    },
  });
  return true;
}

/** True once the escrow has ended as asked. @throws EscrowEndedOtherwise for a person if it ended the other way */
async function hasEnded(ports: EscrowPorts, intent: EscrowTerms, as: 'captured' | 'refunded', closes = false) {
  const escrow = await read(ports, intent);
  if (escrow?.state === 'open') return false;
  if (escrow?.state === as || (escrow === null && closes)) return true;
  throw new EscrowEndedOtherwise(escrow?.state ?? 'missing');
}

/** The escrow ended in a way that the service did not order. No code repairs that: it waits for a person. */
export class EscrowEndedOtherwise extends Error {
  override readonly name = 'EscrowEndedOtherwise';
  constructor(found: string) {
    super(`the escrow is ${found}`);
  }
}

const PROGRAM_RETRY_S = 300;
const CHANGED = 'escrow_program_changed';

/** Returns what is wrong with the program of new escrows, or null. Pages an operator once. */
export async function programTrouble(ports: FlightsPorts): Promise<string | null> {
  if (!ports.programTrouble) return null;
  const trouble = await ports.programTrouble();
  await pageProgram(ports, trouble);
  return trouble;
}

export const pageProgram = (ports: FlightsPorts, trouble: string | null): Promise<void> =>
  pageWhile(ports, {
    key: CHANGED,
    event: CHANGED,
    restored: 'escrow_program_restored',
    text: trouble && `${trouble} No new intents and bookings are taken until it is the shipped one again.`,
    fields: { program: ports.escrowProgram },
  });

/** Refuses new money while the program is changed. Paid escrows still end. @throws `escrow_program_changed` */
export async function checkProgram(ports: FlightsPorts): Promise<void> {
  // The worker notices when the program is restored.
  const trouble = (await ports.programTrouble?.()) ?? null;
  if (trouble !== null) {
    await pageProgram(ports, trouble);
    throw problem('escrow_program_changed', { message: trouble, retryAfter: PROGRAM_RETRY_S });
  }
}
