import type { Address } from '@solana/kit';
import { epochOf, type LedgerTime, type SlotClock } from './slot-clock.ts';

export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111' as Address;
const SLOT_HASHES_SYSVAR = 'SysvarS1otHashes111111111111111111111111111' as Address;
const RECENT_BLOCKHASHES_SYSVAR = 'SysvarRecentB1ockHashes11111111111111111111' as Address;

/** Those that change with every slot, and that the runtime does not keep by itself. */
export const MOVING_SYSVARS: readonly Address[] = [SLOT_HASHES_SYSVAR, RECENT_BLOCKHASHES_SYSVAR];

const MOST_SLOT_HASHES = 512;
const MOST_BLOCKHASHES = 150;
const ENTRY_BYTES = 40;
const LAMPORTS_PER_SIGNATURE = 5000n;

/** The data of the sysvars that move with the clock, as programs and clients read it; null for any other account. */
export function createSysvars(clock: Pick<SlotClock, 'hash'>) {
  return (address: Address, time: LedgerTime): Uint8Array | null => {
    switch (address) {
      case CLOCK_SYSVAR:
        return clockData(time);
      case SLOT_HASHES_SYSVAR:
        return slotHashes(clock, time.slot);
      case RECENT_BLOCKHASHES_SYSVAR:
        return recentBlockhashes(clock, time.slot);
      default:
        return null;
    }
  };
}

/** The hashes of the slots before this one, newest first. */
function slotHashes(clock: Pick<SlotClock, 'hash'>, slot: number): Uint8Array {
  const data = Buffer.alloc(8 + MOST_SLOT_HASHES * ENTRY_BYTES);
  const count = Math.min(MOST_SLOT_HASHES, slot);
  data.writeBigUInt64LE(BigInt(count), 0);
  for (let index = 0; index < count; index++) {
    const at = 8 + index * ENTRY_BYTES;
    data.writeBigUInt64LE(BigInt(slot - 1 - index), at);
    data.set(clock.hash(slot - 1 - index), at + 8);
  }
  return new Uint8Array(data);
}

/** The blockhashes that are good, newest first, each with what a signature costs. */
function recentBlockhashes(clock: Pick<SlotClock, 'hash'>, slot: number): Uint8Array {
  const data = Buffer.alloc(8 + MOST_BLOCKHASHES * ENTRY_BYTES);
  const count = Math.min(MOST_BLOCKHASHES, slot + 1);
  data.writeBigUInt64LE(BigInt(count), 0);
  for (let index = 0; index < count; index++) {
    const at = 8 + index * ENTRY_BYTES;
    data.set(clock.hash(slot - index), at);
    data.writeBigUInt64LE(LAMPORTS_PER_SIGNATURE, at + 32);
  }
  return new Uint8Array(data);
}

function clockData({ slot, unixTime }: LedgerTime): Uint8Array {
  const data = Buffer.alloc(40);
  data.writeBigUInt64LE(BigInt(slot), 0);
  data.writeBigUInt64LE(epochOf(slot), 16);
  data.writeBigUInt64LE(epochOf(slot) + 1n, 24);
  data.writeBigInt64LE(BigInt(unixTime), 32);
  return new Uint8Array(data);
}
