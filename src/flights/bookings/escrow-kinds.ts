import type { Address, Instruction } from '@solana/kit';
import {
  createTokenAccount,
  type EscrowAccount,
  loadAddress,
  loadAuthorization,
  loadProgram,
  type ObservedEscrow,
} from '../../escrow/index.ts';
import type { AuthorizationAsked } from '../../payments/index.ts';
import { associatedTokenAddress } from '../../solana/index.ts';
import type { EscrowKindName } from '../base/index.ts';

/** The accounts and keys of an escrow, and its state on chain now. */
export interface Parties {
  readonly programId: Address;
  readonly escrow: Address;
  readonly mint: Address;
  readonly refundOwner: Address;
  readonly authority: Address;
  readonly payer: Address;
  readonly rentPayer: Address | undefined;
  readonly treasury: Address;
  readonly observed: ObservedEscrow;
  readonly opensRefundAccount: false;
}

interface Identity {
  readonly intentId: string;
  readonly mint: Address;
  readonly programId: Address;
  /** The terms of the intent's authorization. */
  readonly terms: AuthorizationAsked;
}

/** The two kinds of escrow: one that we open for an intent, and one that its payer authorizes (docs/escrow.md). */
interface EscrowKind {
  readonly layout: EscrowAccount['kind'];
  place(of: Identity): Promise<{ readonly address: Address; readonly vault: Address }>;
  /** Pays the treasury `takes` of `total`, and the refund owner the rest. */
  capture(all: Parties, takes: bigint, total: bigint): Promise<readonly Instruction[]>;
  /** Pays the refund owner everything. `closes` also closes the escrow, which was never paid. */
  giveBack(all: Parties, closes: boolean): Promise<readonly Instruction[]>;
  close(all: Parties): Promise<readonly Instruction[]>;
  /** Sends the money in a closed escrow's vault to its refund owner. */
  recover(all: Parties, of: Identity): Promise<readonly Instruction[]>;
  /** When the program lets an ended escrow be closed (epoch seconds). */
  closesAtS(escrow: EscrowAccount): bigint;
}

const CLOSE_AFTER_S = 30n * 86_400n;

const opened: EscrowKind = {
  layout: 'intent',
  place: async ({ intentId, mint, programId }) => (await loadAddress()).escrowAddress(intentId, { mint, programId }),
  async capture(all, takes, total) {
    const { captureInstructions, refundInstructions } = await loadProgram();
    if (takes === total) return captureInstructions(all);
    return takes === 0n ? refundInstructions(all) : captureInstructions({ ...all, part: { amount: takes, total } });
  },
  giveBack: async (all, closes) => (await loadProgram()).refundInstructions({ ...all, closes }),
  close: async (all) => (await loadProgram()).closeInstructions(all),
  recover: async (all, { intentId }) => (await loadProgram()).recoverInstructions({ ...all, intentId }),
  closesAtS: ({ neverFunded, endedAt }) => (neverFunded ? 0n : endedAt + CLOSE_AFTER_S),
};

/** The authority is operator and authorizer: it signs its own consent. We never open the refund account. */
const authorized: EscrowKind = {
  layout: 'authorization',
  async place({ terms }) {
    const { escrow, vault } = await (await loadAuthorization()).authorizationPlace(terms, terms.programId);
    return { address: escrow, vault };
  },
  async capture(all, takes, total) {
    if (takes === 0n) return authorized.giveBack(all, false);
    const { capturePartInstruction } = await loadAuthorization();
    const { payer, treasury, mint, observed } = all;
    const accounts = await accountsOf(all);
    const treasuryAccount = await associatedTokenAddress(treasury, mint);
    const pays = observed.refundAccount === 'usable' && (takes < total || observed.excess > 0n);
    const refundAccount = pays ? accounts.refundAccount : null;
    return [
      createTokenAccount(payer, treasuryAccount, treasury, mint),
      capturePartInstruction({ ...accounts, treasuryAccount, refundAccount, amount: takes, release: true }),
    ];
  },
  async giveBack(all) {
    const { voidInstruction } = await loadAuthorization();
    return [voidInstruction(await accountsOf(all))];
  },
  async close(all) {
    const { closeAuthorizationInstructions } = await loadAuthorization();
    const { authorization, refundAccount, authority } = await accountsOf(all);
    const sweeps = all.observed.hasVault;
    return closeAuthorizationInstructions({
      authorization,
      feePayer: all.payer,
      refundAccount,
      closer: authority,
      sweeps,
    });
  },
  async recover(all, { terms }) {
    const { recoverAuthorizationInstruction } = await loadAuthorization();
    const vault = await associatedTokenAddress(all.escrow, all.mint);
    const refundAccount = await associatedTokenAddress(all.refundOwner, all.mint);
    return [recoverAuthorizationInstruction({ ...terms, escrow: all.escrow, vault, refundAccount })];
  },
  closesAtS: (escrow) =>
    escrow.kind === 'authorization' && escrow.captured > 0n ? escrow.refundDeadline : (escrow.openedAt ?? 0n) + 1n,
};

export const KINDS: Readonly<Record<EscrowKindName, EscrowKind>> = { opened, authorized };

async function accountsOf({ observed: { escrow }, authority, refundOwner, mint }: Parties) {
  if (escrow?.kind !== 'authorization') throw new Error('the authorization is gone');
  const { expectedOf } = await loadAuthorization();
  return {
    authorization: escrow,
    programId: escrow.programId,
    authority,
    escrow: escrow.address,
    vault: escrow.vault,
    rentPayer: escrow.rentPayer,
    refundAccount: await associatedTokenAddress(refundOwner, mint),
    consentBy: authority,
    expected: expectedOf(escrow),
  };
}
