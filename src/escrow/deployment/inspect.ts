import { createHash } from 'node:crypto';
import type { Address } from '@solana/kit';
import { type Cluster, programDataOf, readProgram } from '../../solana/index.ts';
import { escrowElf, PREVIOUS_ESCROW } from '../elf.ts';

export type InspectedProgram =
  | { readonly kind: 'absent' }
  | { readonly kind: 'not_a_program' }
  | {
      readonly kind: 'present';
      /** True if its bytes are those of program/escrow.so. */
      readonly isShipped: boolean;
      /** True if its bytes are those of the version before: enough for intents, but not for authorizations. */
      readonly isPrevious: boolean;
      /** The key that may replace it; null if it is final. */
      readonly upgradeAuthority: Address | null;
      /** The slot of its last deploy or upgrade; 0 if the loader does not say. */
      readonly slot: bigint;
      readonly size: number;
    };

/** Compares the program at an address with the shipped one, or another. @throws Problem `cluster_failed` */
export async function inspectProgram(
  cluster: Pick<Cluster, 'accounts'>,
  address: Address,
  elf: Uint8Array = escrowElf(),
): Promise<InspectedProgram> {
  const [account, programData] = await cluster.accounts([address, await programDataOf(address)]);
  if (!account) return { kind: 'absent' };
  const program = readProgram(account, programData);
  if (!program) return { kind: 'not_a_program' };
  return {
    kind: 'present',
    isShipped: holds(program.code, elf),
    isPrevious: isPrevious(program.code),
    upgradeAuthority: program.authority,
    slot: program.slot,
    size: program.code.length,
  };
}

export async function isShippedAt(cluster: Pick<Cluster, 'accounts'>, address: Address, elf: Uint8Array) {
  const found = await inspectProgram(cluster, address, elf);
  return found.kind === 'present' && found.isShipped;
}

/** True for the bytes of `elf`, then zeros only: other code after them could be jumped to. */
const holds = (code: Uint8Array, elf: Uint8Array): boolean =>
  Buffer.compare(code.subarray(0, elf.length), elf) === 0 && endsAt(code, elf.length);

const endsAt = (code: Uint8Array, length: number): boolean => code.subarray(length).every((byte) => byte === 0);

function isPrevious(code: Uint8Array): boolean {
  const { sha256, bytes } = PREVIOUS_ESCROW;
  return endsAt(code, bytes) && createHash('sha256').update(code.subarray(0, bytes)).digest('hex') === sha256;
}
