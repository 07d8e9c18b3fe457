import type { Address } from '@solana/kit';
import { type EscrowAccount, loadAccount, loadAddress, loadObserve, loadProgram } from '../../escrow/index.ts';
import { problem } from '../../kernel/problems.ts';
import type { FlightsPorts, IntentRow } from '../base/index.ts';

type Intent = Pick<
  IntentRow,
  | 'intent_id'
  | 'escrow_address'
  | 'vault_address'
  | 'refund_wallet'
  | 'amount'
  | 'refund_after_ms'
  | 'mint'
  | 'program_id'
>;
type Fence = (() => Promise<void>) | undefined;

/** How soon a refund that waits for its token account is tried again: the owner may take days. */
const ACCOUNT_RETRY_S = 600;

type EscrowPorts = Pick<FlightsPorts, 'cluster' | 'effects' | 'authority' | 'treasury' | 'mint' | 'escrowProgram'>;

const program = () => loadProgram();

interface Place {
  readonly address: Address;
  readonly vault: Address;
  readonly programId: Address;
}

/**
 * The escrow of an intent: each step is an effect that happens once. A new one is opened at the program of the
 * settings; every later step is taken at the program that the intent was opened at, which may be an earlier one. The
 * program and the transaction builder are loaded when a step needs them, not before.
 */
export function createEscrows(ports: EscrowPorts) {
  return {
    read: (intent: Intent) => read(ports, intent),
    held: (intent: Pick<Intent, 'vault_address'>) => held(ports, intent),
    place: (intentId: string) => place(ports, intentId),
    open: (intent: Intent) => open(ports, intent),
    readOrReopen: (intent: Intent) => readOrReopen(ports, intent),
    capture: (intent: Intent, fence: Fence) => capture(ports, intent, fence),
    refund: (intent: Intent, fence: Fence, how?: { readonly closes: boolean }) => refund(ports, intent, fence, how),
    sweep: (intent: Intent, fence?: Fence) => sweep(ports, intent, fence),
    recover: (intent: Intent) => recover(ports, intent),
    close: (intent: Intent) => close(ports, intent),
  };
}

export type Escrows = ReturnType<typeof createEscrows>;

/**
 * The escrow as we opened it. The address follows from the intent id alone: whoever saw our transaction on its way
 * could have opened it first, on terms of their own. Such an account is not the intent's escrow.
 */
async function read({ cluster, authority, treasury }: EscrowPorts, intent: Intent): Promise<EscrowAccount | null> {
  const { readEscrow } = await loadAccount();
  const escrow = await readEscrow(cluster, intent.escrow_address as Address, [intent.program_id as Address]);
  const isOurs =
    escrow?.authority === authority.address &&
    escrow.treasury === treasury &&
    escrow.mint === intent.mint &&
    escrow.amount === BigInt(intent.amount) &&
    escrow.refundOwner === intent.refund_wallet;
  return isOurs ? escrow : null;
}

/** The same. An escrow of which nothing is on chain, because the block that opened it was dropped, is opened again. */
async function readOrReopen(ports: EscrowPorts, intent: Intent): Promise<EscrowAccount | null> {
  const escrow = await read(ports, intent);
  if (escrow) return escrow;
  const [account] = await ports.cluster.accounts([intent.escrow_address as Address]);
  if (account) return null;
  await open(ports, intent, true);
  return read(ports, intent);
}

/** Atomic units in the vault; a vault that doesn't exist holds nothing. */
const held = async ({ cluster }: EscrowPorts, intent: Pick<Intent, 'vault_address'>): Promise<bigint> =>
  (await cluster.tokenBalance(intent.vault_address as Address)) ?? 0n;

/** Everybody who has to do with the escrow, and how its accounts stand at this moment. */
async function parties({ cluster, authority, treasury }: EscrowPorts, intent: Intent) {
  const { observeEscrow } = await loadObserve();
  const at = {
    programId: intent.program_id as Address,
    escrow: intent.escrow_address as Address,
    mint: intent.mint as Address,
    refundOwner: intent.refund_wallet as Address,
  };
  const observed = await observeEscrow(cluster, at);
  const payer = authority.address;
  // The rent of somebody else's token account would be a gift that he can take home and ask for again.
  return { ...at, authority: payer, payer, treasury, observed, opensRefundAccount: false };
}

/** Throws where money would go to a token account that is closed, frozen or given away. */
function checkRefundAccount(intent: Intent, { observed }: Awaited<ReturnType<typeof parties>>): void {
  if (observed.refundAccount === 'usable') return;
  throw problem('refund_account_missing', {
    retryAfter: ACCOUNT_RETRY_S,
    detail: { refund_wallet: intent.refund_wallet, mint: intent.mint },
  });
}

/** Where the escrow of an intent will be: known before anything is on chain. */
async function place({ mint, escrowProgram: programId }: EscrowPorts, intentId: string): Promise<Place> {
  const { escrowAddress } = await loadAddress();
  const { address, vault } = await escrowAddress(intentId, { mint, programId });
  return { address, vault, programId };
}

/** Creates the state account and the vault; everything in it is frozen from then on. */
async function open(ports: EscrowPorts, intent: Intent, isGone = false): Promise<void> {
  await ports.effects.chain({
    kind: 'open_escrow',
    subject: intent.intent_id,
    isGone,
    already: async () => (await read(ports, intent)) !== null,
    plan: async () => ({
      feePayer: ports.authority,
      instructions: await (await program()).openInstructions({
        programId: intent.program_id as Address,
        authority: ports.authority.address,
        payer: ports.authority.address,
        mint: intent.mint as Address,
        treasury: ports.treasury,
        refundOwner: intent.refund_wallet as Address,
        intentId: intent.intent_id,
        amount: BigInt(intent.amount),
        refundAfter: BigInt(Math.floor(intent.refund_after_ms / 1000)),
      }),
    }),
  });
}

/** Pays the treasury exactly the amount; what is above it goes to the refund wallet. */
async function capture(ports: EscrowPorts, intent: Intent, fence: Fence): Promise<string | null> {
  const done = await ports.effects.chain({
    kind: 'capture',
    subject: intent.intent_id,
    fence,
    already: () => hasEnded(ports, intent, 'captured'),
    plan: async () => ({
      feePayer: ports.authority,
      instructions: await (await program()).captureInstructions(await parties(ports, intent)),
    }),
  });
  return done.signature;
}

/**
 * Gives the whole vault back and closes it; an empty one is only closed. With `closes`, an escrow that was never
 * paid is closed in the same transaction, and every rent is back.
 * @throws Problem `refund_account_missing`: what is in the vault waits for the refund owner's token account
 */
async function refund(
  ports: EscrowPorts,
  intent: Intent,
  fence: Fence,
  { closes = false } = {},
): Promise<string | null> {
  const done = await ports.effects.chain({
    kind: 'refund',
    subject: intent.intent_id,
    fence,
    already: () => hasEnded(ports, intent, 'refunded', closes),
    plan: async () => {
      const all = await parties(ports, intent);
      if (all.observed.held > 0n) checkRefundAccount(intent, all);
      const wasPaid = all.observed.held >= BigInt(intent.amount);
      return {
        feePayer: ports.authority,
        instructions: await (await program()).refundInstructions({ ...all, closes: closes && !wasPaid }),
      };
    },
  });
  return done.signature;
}

/**
 * Gives back what the vault holds above the amount; once the escrow has ended all of it, and closes the vault.
 * @returns false when it has to wait for the refund owner's token account
 */
async function sweep(ports: EscrowPorts, intent: Intent, fence?: Fence): Promise<boolean> {
  const now = await parties(ports, intent);
  if (now.observed.excess > 0n && now.observed.refundAccount !== 'usable') return false;
  await ports.effects.chain({
    kind: 'sweep',
    subject: intent.intent_id,
    fence,
    already: async () => {
      const { observed } = await parties(ports, intent);
      return observed.escrow?.state === 'open' ? observed.excess === 0n : !observed.hasVault;
    },
    plan: async () => ({
      feePayer: ports.authority,
      instructions: await (await program()).sweepInstructions(await parties(ports, intent)),
    }),
  });
  return true;
}

/**
 * Sends what lies in the vault of an escrow that was closed to the refund owner whom the intent id names.
 * @returns false when it has to wait for his token account
 */
async function recover(ports: EscrowPorts, intent: Intent): Promise<boolean> {
  const now = await parties(ports, intent);
  if (now.observed.refundAccount !== 'usable') return false;
  await ports.effects.chain({
    kind: 'sweep',
    subject: intent.intent_id,
    already: async () => !(await parties(ports, intent)).observed.hasVault,
    plan: async () => ({
      feePayer: ports.authority,
      instructions: await (await program()).recoverInstructions({ ...now, intentId: intent.intent_id }),
    }),
  });
  return true;
}

/**
 * Closes the state account of an ended escrow, and a vault that somebody made again with it.
 * @returns false while the escrow is open
 * @throws Problem `refund_account_missing`
 */
async function close(ports: EscrowPorts, intent: Intent): Promise<boolean> {
  const escrow = await read(ports, intent);
  if (!escrow) return true;
  if (escrow.state === 'open') return false;
  await ports.effects.chain({
    kind: 'close_escrow',
    subject: intent.intent_id,
    already: async () => (await read(ports, intent)) === null,
    plan: async () => {
      const all = await parties(ports, intent);
      if (all.observed.excess > 0n) checkRefundAccount(intent, all);
      return { feePayer: ports.authority, instructions: await (await program()).closeInstructions(all) };
    },
  });
  return true;
}

/** True once the escrow ended as asked. It ending the other way means that a person has to look. */
async function hasEnded(
  ports: EscrowPorts,
  intent: Intent,
  as: 'captured' | 'refunded',
  closes = false,
): Promise<boolean> {
  const escrow = await read(ports, intent);
  if (escrow?.state === 'open') return false;
  if (escrow?.state === as || (escrow === null && closes)) return true;
  throw new EscrowEndedOtherwise(escrow?.state ?? 'missing');
}

/** The chain shows the escrow ended in a way that the service did not order; never repaired by a program. */
export class EscrowEndedOtherwise extends Error {
  override readonly name = 'EscrowEndedOtherwise';
  constructor(readonly found: string) {
    super(`the escrow is ${found}`);
  }
}
