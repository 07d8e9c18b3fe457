/**
 * Why the escrow program refuses, by custom error code: the table of program/errors.h in words. Codes below 101 come
 * from the programs that it calls (the token program's 17 is a frozen account).
 */
export const ESCROW_REFUSALS = {
  101: ['unknown_instruction', 'The first byte of the instruction names no instruction.'],
  102: ['wrong_data_length', 'The instruction data is too short or too long.'],
  103: ['too_few_accounts', 'An account is missing.'],
  104: ['too_many_accounts', 'There are more accounts than the instruction takes.'],
  105: ['missing_signature', 'An account that has to sign did not.'],
  106: ['not_writable', 'An account that would change is not writable.'],
  107: ['wrong_system_program', 'The system program is not the one given.'],
  108: ['wrong_token_program', 'The token program is not the SPL Token program.'],
  109: ['wrong_state_address', 'The state account is not at the address of this intent.'],
  110: ['already_open', 'There is an escrow at this address already.'],
  111: ['state_not_ours', 'The state account belongs to another program, or there is none.'],
  112: ['state_unreadable', 'The state account has no layout that is known.'],
  113: ['not_open', 'The escrow has ended.'],
  114: ['not_ended', 'The escrow has not ended.'],
  115: ['wrong_authority', 'That is not the authority of this escrow.'],
  116: ['amount_zero', 'The amount is zero.'],
  117: ['deadline_not_ahead', 'refund_after is not ahead of the cluster clock.'],
  118: ['party_invalid', 'The treasury or the refund owner is the zero address, or the escrow itself.'],
  119: ['parties_equal', 'The treasury and the refund owner are the same.'],
  120: ['wrong_mint', 'The mint is not a mint of the SPL Token program.'],
  121: ['wrong_vault', 'That is not the vault of this escrow.'],
  122: ['vault_unusable', 'The vault is not a plain token account of this escrow and mint.'],
  123: ['vault_not_empty', 'The vault held tokens before the escrow was opened.'],
  124: ['underfunded', 'The vault holds less than the amount.'],
  125: ['refund_not_due', 'Before refund_after only the authority may refund.'],
  126: ['wrong_rent_payer', 'That is not who paid the rent.'],
  127: ['destination_is_vault', 'The money would go back to the vault.'],
  128: ['destination_not_token_account', 'The destination is not a token account.'],
  129: ['destination_wrong_mint', 'The destination is for another mint.'],
  130: ['destination_wrong_owner', 'The destination does not belong to the one frozen at Open.'],
  131: ['nothing_to_sweep', 'There is nothing to sweep.'],
  132: ['vault_still_there', 'The vault was made again; sweep it first.'],
  133: ['close_too_early', 'An escrow that was paid is closed 30 days after its end at the soonest.'],
  134: ['rent_unknown', "The cluster's rent rule is not one that is known."],
  135: ['escrow_still_there', 'There is an escrow at this address: refund or sweep it.'],
  136: ['owner_not_committed', 'The intent id does not name this refund owner.'],
  137: ['wrong_layout', 'The instruction is not for an escrow of this kind.'],
  138: ['deadlines_reversed', 'The refund deadline is before the capture deadline.'],
  139: ['deadline_passed', 'The deadline for this has passed.'],
  140: ['balances_differ', 'What can be captured or refunded is not what the instruction expects.'],
  141: ['amount_exceeds', 'That is more than can be captured or refunded.'],
  142: ['part_invalid', 'Of an intent less than the amount is captured in part, and the rest released.'],
  143: ['not_consented', "The receiver's authorizer did not consent to this."],
  144: ['consent_expired', 'The last second for this instruction has passed.'],
  145: [
    'source_unusable',
    'The money does not come from a token account of its signing owner, or comes from the payer.',
  ],
} as const satisfies Record<number, readonly [name: string, sentence: string]>;

export type EscrowRefusalCode = keyof typeof ESCROW_REFUSALS;
export type EscrowRefusalName = (typeof ESCROW_REFUSALS)[EscrowRefusalCode][0];

export interface EscrowRefusal {
  readonly code: EscrowRefusalCode;
  readonly name: EscrowRefusalName;
  readonly sentence: string;
}

const isRefusalCode = (code: number): code is EscrowRefusalCode => Object.hasOwn(ESCROW_REFUSALS, code);

/** The refusal behind a custom error code; null for a code that is not the escrow program's. */
export function escrowRefusal(code: number): EscrowRefusal | null {
  if (!isRefusalCode(code)) return null;
  const [name, sentence] = ESCROW_REFUSALS[code];
  return { code, name, sentence };
}

/** The refusal in a runtime error of JSON-RPC form, `{ InstructionError: [index, { Custom: code }] }`, or null. */
export function escrowRefusalIn(error: unknown): EscrowRefusal | null {
  if (typeof error !== 'object' || error === null || !('InstructionError' in error)) return null;
  const failure = error.InstructionError;
  const reason: unknown = Array.isArray(failure) ? failure[1] : null;
  if (typeof reason !== 'object' || reason === null || !('Custom' in reason)) return null;
  return escrowRefusal(Number(reason.Custom));
}
