import { createHash } from 'node:crypto';
import type { Address } from '@solana/kit';
import bs58 from 'bs58';
import type { Clock } from '../../kernel/clock.ts';
import type { SqliteDatabase } from '../../store/libsql/index.ts';
import { CLOCK_SYSVAR, LAMPORTS_PER_SIGNATURE } from '../cluster.ts';

export const SLOT_MS = 400;
/** A blockhash is good for this many slots, as on a real cluster. */
export const BLOCKHASH_SLOTS = 150;
const MOST_HASHES_KEPT = 2_000;
export const SLOTS_PER_EPOCH = 432_000;

export const epochOf = (slot: number): bigint => BigInt(Math.floor(slot / SLOTS_PER_EPOCH));

export const ledgerIdOf = (seed: Uint8Array): string =>
  createHash('sha256').update('ledger id').update(seed).digest('hex').slice(0, 32);

/** The validator's address, without a key: it signs nothing. */
export const identityOf = (seed: Uint8Array): Address =>
  bs58.encode(createHash('sha256').update('validator').update(seed).digest()) as Address;

export interface LedgerTime {
  readonly slot: number;
  readonly unixTime: number;
}

export type SlotClock = ReturnType<typeof openSlotClock>;

interface TimeRow {
  genesis_ms: number;
  wall_ms: number;
  ledger_ms: number;
}

/**
 * The ledger's time, which never goes back: if the machine's clock is set back, it runs at half speed until that has
 * caught up. `advance` writes a time before it returns it, so an expired transaction can never land, in any process. No
 * time waits for the disk: losing the last ones to a power cut matters only if the clock is set back, too.
 */
export function openSlotClock(
  { database, changes }: { readonly database: Pick<SqliteDatabase, 'prepare'>; readonly changes: Changes },
  seed: Uint8Array,
  clock: Clock,
) {
  const read = database.prepare('select genesis_ms, wall_ms, ledger_ms from ledger');
  const keep = database.prepare('update ledger set wall_ms = ?, ledger_ms = ? where ledger_ms <= ?');
  let known: { readonly row: TimeRow; readonly seen: number } | null = null;
  const rowNow = (): TimeRow => {
    const seen = changes.seen();
    if (known?.seen !== seen) known = { row: read.get() as TimeRow, seen };
    return known.row;
  };
  const write = (wallMs: number, ledgerMs: number) => {
    keep.run(wallMs, ledgerMs, ledgerMs);
    // Another process may be ahead of us.
    known = null;
  };
  const now = () => {
    const row = rowNow();
    const wallMs = Math.floor(clock.now());
    const elapsedMs = Math.max(0, wallMs - row.wall_ms);
    const ledgerMs = Math.max(wallMs, row.ledger_ms + Math.floor(elapsedMs / 2));
    const timeAt = (ms: number): LedgerTime => ({
      slot: Math.floor((ms - row.genesis_ms) / SLOT_MS),
      unixTime: Math.floor(ms / 1000),
    });
    const [kept, time] = [timeAt(row.ledger_ms), timeAt(ledgerMs)];
    const changed = time.slot > kept.slot || time.unixTime > kept.unixTime || wallMs < row.wall_ms;
    return { time, wallMs, ledgerMs, changed };
  };
  const hashes = new Map<number, Buffer>();
  const hashOf = (slot: number): Buffer => {
    const known = hashes.get(slot) ?? newHash(slot);
    if (hashes.size > MOST_HASHES_KEPT) hashes.clear();
    hashes.set(slot, known);
    return known;
  };
  const newHash = (slot: number): Buffer => {
    const slotBytes = Buffer.alloc(8);
    slotBytes.writeBigUInt64LE(BigInt(slot));
    return createHash('sha256').update(seed).update(slotBytes).digest();
  };
  return {
    advance(): LedgerTime {
      const { time, wallMs, ledgerMs, changed } = now();
      if (changed) write(wallMs, ledgerMs);
      return time;
    },
    /** Reads the time without keeping it, for the context of an answer. */
    peek: () => now().time,
    blockhash: (slot: number) => bs58.encode(hashOf(slot)),
    /** The blockhash as 32 bytes. */
    hash: hashOf,
    /** Finds the slot of a blockhash that is still valid at `slot`. */
    slotOfBlockhash(blockhash: string, slot: number): number | null {
      const wanted = bs58.decode(blockhash);
      for (let candidate = slot; candidate >= Math.max(0, slot - BLOCKHASH_SLOTS); candidate--) {
        if (hashOf(candidate).equals(wanted)) return candidate;
      }
      return null;
    },
    timeOfSlot: (slot: number) => Math.floor((rowNow().genesis_ms + slot * SLOT_MS) / 1000),
  };
}

export const SYSVAR_OWNER = 'Sysvar1111111111111111111111111111111111111' as Address;
const SLOT_HASHES_SYSVAR = 'SysvarS1otHashes111111111111111111111111111' as Address;
const RECENT_BLOCKHASHES_SYSVAR = 'SysvarRecentB1ockHashes11111111111111111111' as Address;

/** Sysvars that change with every slot and that the runtime does not keep. */
export const MOVING_SYSVARS: readonly Address[] = [SLOT_HASHES_SYSVAR, RECENT_BLOCKHASHES_SYSVAR];

const MOST_SLOT_HASHES = 512;
const ENTRY_BYTES = 40;

/** Makes the data of the moving sysvars; null for any other account. */
export function createSysvars(clock: Pick<SlotClock, 'hash'>) {
  return (address: Address, time: LedgerTime): Uint8Array | null => {
    if (address === CLOCK_SYSVAR) return clockData(time);
    if (address === SLOT_HASHES_SYSVAR) return slotHashes(clock, time.slot);
    return address === RECENT_BLOCKHASHES_SYSVAR ? recentBlockhashes(clock, time.slot) : null;
  };
}

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

/** The valid blockhashes, newest first, with the fee per signature. */
function recentBlockhashes(clock: Pick<SlotClock, 'hash'>, slot: number): Uint8Array {
  const data = Buffer.alloc(8 + BLOCKHASH_SLOTS * ENTRY_BYTES);
  const count = Math.min(BLOCKHASH_SLOTS, slot + 1);
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

export type Changes = ReturnType<typeof watchChanges>;

/** Counts changes by others and rollbacks here: what was read at the same count is still right. */
export function watchChanges(database: Pick<SqliteDatabase, 'prepare'>) {
  // `data_version` changes when another connection has committed.
  const asked = database.prepare('pragma data_version');
  let count = 0;
  let version: number | null = null;
  let isWithin = false;
  const look = () => {
    const { data_version } = asked.get() as { data_version: number };
    if (data_version !== version) count += 1;
    version = data_version;
  };
  return {
    seen(): number {
      if (!isWithin) look();
      return count;
    },
    /** The count inside `within`, without a query; null outside. */
    seenWithin: () => (isWithin ? count : null),
    /** Runs `work` at one count: a transaction does not see others' changes. */
    within<T>(work: () => T): T {
      look();
      isWithin = true;
      try {
        return work();
      } finally {
        isWithin = false;
      }
    },
    rolledBack: () => {
      count += 1;
    },
  };
}
