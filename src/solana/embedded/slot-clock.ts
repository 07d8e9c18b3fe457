import { createHash } from 'node:crypto';
import type { Address } from '@solana/kit';
import bs58 from 'bs58';
import type { Clock } from '../../kernel/clock.ts';
import type { LedgerFile } from './ledger-file.ts';

export const SLOT_MS = 400;
/** A blockhash is good for this many slots, as on a real cluster. */
export const BLOCKHASH_SLOTS = 150;
/** Hashes of slots that are not made anew each time: the recent ones are asked for again and again. */
const MOST_HASHES_KEPT = 2_000;
export const SLOTS_PER_EPOCH = 432_000;

export const epochOf = (slot: number): bigint => BigInt(Math.floor(slot / SLOTS_PER_EPOCH));

/** A hash of the seed: the seed itself foretells every blockhash. */
export const ledgerIdOf = (seed: Uint8Array): string =>
  createHash('sha256').update('ledger id').update(seed).digest('hex').slice(0, 32);

/** The address of the one validator. Nobody has its key: it signs nothing. */
export const identityOf = (seed: Uint8Array): Address =>
  bs58.encode(createHash('sha256').update('validator').update(seed).digest()) as Address;

export interface LedgerTime {
  readonly slot: number;
  /** Seconds since the epoch. */
  readonly unixTime: number;
}

/**
 * The ledger's time. It follows the machine's clock and never goes back: after the machine's clock was set back it
 * runs on at half speed until that clock has caught up, so that blockhashes still change and expire. Every time
 * that was told to anybody is written down first: a transaction once said to be expired can never land, whichever
 * process is asked and whatever clock it has. A failure of the power may take the last of them, but only together with
 * a clock that is set back after it would that be seen: no time waits for the disk by itself.
 */
export interface SlotClock {
  /** The time now, kept. Takes the write lock when the slot or the second has changed. */
  advance(): LedgerTime;
  /** The time now, not kept: for what only describes an answer. */
  peek(): LedgerTime;
  blockhash(slot: number): string;
  /** The same, 32 bytes. */
  hash(slot: number): Uint8Array;
  /** The slot of a blockhash that is still good at `slot`, else null. */
  slotOfBlockhash(blockhash: string, slot: number): number | null;
  timeOfSlot(slot: number): number;
}

interface TimeRow {
  genesis_ms: number;
  wall_ms: number;
  ledger_ms: number;
}

export function openSlotClock(
  { database, changes }: Pick<LedgerFile, 'database' | 'changes'>,
  seed: Uint8Array,
  clock: Clock,
): SlotClock {
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
    advance() {
      const { time, wallMs, ledgerMs, changed } = now();
      if (changed) write(wallMs, ledgerMs);
      return time;
    },
    peek: () => now().time,
    blockhash: (slot) => bs58.encode(hashOf(slot)),
    hash: hashOf,
    slotOfBlockhash(blockhash, slot) {
      const wanted = bs58.decode(blockhash);
      for (let candidate = slot; candidate >= Math.max(0, slot - BLOCKHASH_SLOTS); candidate--) {
        if (hashOf(candidate).equals(wanted)) return candidate;
      }
      return null;
    },
    timeOfSlot: (slot) => Math.floor((rowNow().genesis_ms + slot * SLOT_MS) / 1000),
  };
}
