import { type Address, getAddressEncoder, type Instruction } from '@solana/kit';

/** A receiver's consent, as an Ed25519 instruction directly before the instruction that it allows (docs/escrow.md). */

export const ED25519_PROGRAM = 'Ed25519SigVerify111111111111111111111111111' as Address;
export const INSTRUCTIONS_SYSVAR = 'Sysvar1nstructions1111111111111111111111111' as Address;

const DOMAIN = new TextEncoder().encode('x402-ac-svm-v1');
const KEY_AT = 16;
const SIGNATURE_AT = KEY_AT + 32;
const MESSAGE_AT = SIGNATURE_AT + 64;
/** Offsets that mean "in this very instruction". */
const HERE = 0xffff;

/**
 * Builds the message that the receiver's authorizer signs: domain, program, escrow, `opened_at`, instruction data.
 * @param allowed CapturePart, RefundCaptured or a void, as it will be sent
 * @param openedAt of the escrow account: a consent is for one life of an address
 */
export function consentMessage(allowed: Instruction, openedAt: bigint): Uint8Array {
  const escrow = allowed.accounts?.[1];
  if (!escrow || !allowed.data) throw new TypeError('only CapturePart, RefundCaptured and a void are consented to');
  const encoder = getAddressEncoder();
  const time = new Uint8Array(8);
  new DataView(time.buffer).setBigInt64(0, openedAt, true);
  return Uint8Array.of(
    ...DOMAIN,
    ...encoder.encode(allowed.programAddress),
    ...encoder.encode(escrow.address),
    ...time,
    ...allowed.data,
  );
}

/** Builds the Ed25519 instruction of a signed consent, which has to be directly before the one that it allows. */
export function consentInstruction(consent: {
  readonly authorizer: Address;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}): Instruction {
  const { authorizer, message, signature } = consent;
  const data = new Uint8Array(MESSAGE_AT + message.length);
  const view = new DataView(data.buffer);
  data[0] = 1;
  const offsets = [SIGNATURE_AT, HERE, KEY_AT, HERE, MESSAGE_AT, message.length, HERE];
  for (const [index, value] of offsets.entries()) view.setUint16(2 + 2 * index, value, true);
  data.set(getAddressEncoder().encode(authorizer), KEY_AT);
  data.set(signature, SIGNATURE_AT);
  data.set(message, MESSAGE_AT);
  return { programAddress: ED25519_PROGRAM, accounts: [], data };
}
