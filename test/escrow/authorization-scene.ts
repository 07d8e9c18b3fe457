import { createHash } from 'node:crypto';
import type { Instruction } from '@solana/kit';
import { type AuthorizationEscrow, decodeEscrow } from '../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import {
  type AuthorizationTerms,
  authorizationPlace,
  authorizeInstructions,
  capturePartInstructions,
  closeAuthorizationInstructions,
  reclaimInstructions,
  refundCapturedInstructions,
  voidInstructions,
} from '../../src/escrow/authorization.ts';
import { consentInstruction, consentMessage } from '../../src/escrow/consent.ts';
import { signerFromSeed } from '../../src/solana/signer.ts';
import { DAY, person, START, type World } from './program-world.ts';

/** An authorization of the traveller for the treasury, and what its operator, its receiver and others send. */

export const GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
export const AMOUNT = 149_370_000n;

export async function openAuthorization(world: World, change: Partial<AuthorizationTerms> = {}) {
  const authorizer = await person('authorizer');
  const keys = signerFromSeed(createHash('sha256').update('authorizer').digest());
  const { authority, treasury, traveller, bank } = world;
  const terms: AuthorizationTerms = {
    genesis: GENESIS,
    nonce: new Uint8Array(32).fill(7),
    payer: traveller.address,
    mint: world.mint,
    amount: AMOUNT,
    captureDeadline: START + DAY,
    refundDeadline: START + 3n * DAY,
    operator: authority.address,
    payTo: treasury.address,
    receiverAuthorizer: authorizer.address,
    ...change,
  };
  const programId = ESCROW_PROGRAM_ID;
  const place = await authorizationPlace(terms, programId);
  const rentPayer = world.stranger.address;
  const authorize = await authorizeInstructions({ ...terms, programId, rentPayer });

  const found = (): AuthorizationEscrow | null => {
    const account = world.found(place.escrow);
    if (account?.programAddress !== programId) return null;
    const escrow = decodeEscrow(place.escrow, programId, new Uint8Array(account.data));
    return escrow?.kind === 'authorization' ? escrow : null;
  };
  const read = (): AuthorizationEscrow => {
    const escrow = found();
    if (!escrow) throw new Error('there is no authorization');
    return escrow;
  };
  const sent = () => ({ authorization: read(), feePayer: bank.address });
  /** With the consent put directly before the last instruction. */
  const consented = (list: readonly Instruction[]): Instruction[] => {
    const last = list.at(-1);
    if (!last) throw new Error('nothing to consent to');
    const message = consentMessage(last, read().openedAt);
    return [
      ...list.slice(0, -1),
      consentInstruction({ authorizer: authorizer.address, message, signature: keys.sign(message) }),
      last,
    ];
  };
  const consentBy = null;
  type Capture = Parameters<typeof capturePartInstructions>[0];
  type Refund = Parameters<typeof refundCapturedInstructions>[0];
  return {
    terms,
    ...place,
    authorizer,
    sign: keys.sign,
    authorize,
    found,
    read,
    consented,
    open: () => world.send(authorize, traveller, world.stranger, ...(terms.payer === traveller.address ? [] : [bank])),
    part: (amount: bigint, release: boolean, more: Partial<Capture> = {}) =>
      capturePartInstructions({ ...sent(), amount, release, consentBy, ...more }),
    refund: (amount: bigint, more: Partial<Refund> = {}) =>
      refundCapturedInstructions({ ...sent(), amount, funder: treasury.address, consentBy, ...more }),
    void: (more: { consentBy?: typeof authorizer.address; validUntil?: bigint } = {}) =>
      voidInstructions({ ...sent(), consentBy, ...more }),
    reclaim: () => reclaimInstructions(sent()),
    close: (closer = authority.address, sweeps = false) =>
      closeAuthorizationInstructions({ ...sent(), closer, sweeps }),
  };
}

export type OpenAuthorization = Awaited<ReturnType<typeof openAuthorization>>;
