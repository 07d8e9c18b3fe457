import * as z from 'zod';
import { type EmbeddedLedger, epochOf, type LandedTransaction, SLOT_MS, SLOTS_PER_EPOCH } from '../embedded/index.ts';
import { createMeter, type Turns } from './cost.ts';
import { encodeAccounts, encodeInBlock, type TransactionEncoding } from './encode-transaction.ts';
import { shownVersioned, transactionEncoding } from './transaction-methods.ts';
import {
  addressParam,
  answered,
  commitment,
  config,
  integerParam,
  JsonRpcError,
  type Method,
  method,
  requireConfirmed,
  toJson,
  WrittenJson,
} from './wire.ts';

const MOST_BLOCKS = 500_000;
const PAGE = 20;
/** Slots of a performance sample: a minute. */
const SAMPLE_SLOTS = 150;
const MOST_SAMPLES = 720;
const NO_BLOCKHASH = '11111111111111111111111111111111';

const blockConfig = z.looseObject({
  commitment,
  encoding: transactionEncoding.nullish(),
  transactionDetails: z.enum(['full', 'accounts', 'signatures', 'none']).nullish(),
  rewards: z.boolean().nullish(),
  maxSupportedTransactionVersion: integerParam.nullish(),
});
type BlockConfig = z.infer<typeof blockConfig>;

/** Every slot has a block, never skipped or forgotten; the current slot's block is incomplete. */
export function blockMethods(ledger: EmbeddedLedger, turns: Turns, identity: string): Record<string, Method> {
  const newest = () => ledger.now().slot - 1;
  return {
    getBlock: getBlock(ledger, turns),
    getBlocks: method(
      z.tuple([integerParam, z.union([integerParam.nullable(), config.unwrap()]).optional(), config]),
      (first, second, third) => {
        requireConfirmed(third ?? (typeof second === 'object' ? second : undefined));
        const last = typeof second === 'number' ? Math.min(second, newest()) : newest();
        if (typeof second === 'number' && second < first) return [];
        return slotsFrom(first, last);
      },
    ),
    getBlocksWithLimit: method(z.tuple([integerParam, integerParam, config]), (first, limit, options) => {
      requireConfirmed(options);
      if (limit > MOST_BLOCKS) throw tooLarge();
      return slotsFrom(first, Math.min(first + limit - 1, newest()));
    }),
    getBlockTime: method(z.tuple([integerParam]), (slot) => {
      if (slot > ledger.now().slot) throw notAvailable(slot);
      return ledger.timeOfSlot(slot);
    }),
    // There are no votes, and a final block waits for none.
    getBlockCommitment: method(z.tuple([integerParam]), () => ({ commitment: null, totalStake: 0 })),
    getFirstAvailableBlock: method(z.tuple([]), () => 0),
    minimumLedgerSlot: method(z.tuple([]), () => 0),
    getMaxRetransmitSlot: method(z.tuple([]), () => ledger.now().slot),
    getMaxShredInsertSlot: method(z.tuple([]), () => ledger.now().slot),
    getBlockProduction: getBlockProduction(ledger, identity),
    getRecentPerformanceSamples: method(z.tuple([integerParam.optional()]), (limit = MOST_SAMPLES) => {
      if (limit > MOST_SAMPLES) throw new JsonRpcError('invalid_params', `Invalid limit; max ${MOST_SAMPLES}`);
      return samples(ledger, limit);
    }),
  };
}

const getBlock = (ledger: EmbeddedLedger, turns: Turns) =>
  method(z.tuple([integerParam, z.union([transactionEncoding, blockConfig]).optional()]), async (slot, option) => {
    const options: BlockConfig = typeof option === 'string' ? { encoding: option } : (option ?? {});
    requireConfirmed(options);
    // Waits for the slot to end, since clients ask at once for the block of a new transaction.
    if (slot === ledger.now().slot) await turns.rest(SLOT_MS);
    if (slot >= ledger.now().slot) throw notAvailable(slot);
    const parentSlot = Math.max(0, slot - 1);
    return {
      blockHeight: slot,
      blockTime: ledger.timeOfSlot(slot),
      blockhash: ledger.blockhash(slot),
      parentSlot,
      previousBlockhash: slot === 0 ? NO_BLOCKHASH : ledger.blockhash(parentSlot),
      ...(await contentOf(ledger, turns, slot, options)),
      ...(options.rewards === false ? {} : { rewards: [] }),
    };
  });

async function contentOf(ledger: EmbeddedLedger, turns: Turns, slot: number, options: BlockConfig) {
  const details = options.transactionDetails ?? 'full';
  if (details === 'none') return {};
  const meter = createMeter();
  const shown: WrittenJson[] = [];
  for (let after = 0; ; ) {
    const page = ledger.transactionsOfSlot(slot, after, PAGE);
    for (const landed of page) {
      const text = toJson(encoded(landed, details, options));
      meter(text.length);
      shown.push(new WrittenJson(text));
      await turns.breathe();
    }
    after = page.at(-1)?.seq ?? 0;
    if (page.length < PAGE) break;
  }
  return details === 'signatures' ? { signatures: shown } : { transactions: shown };
}

function encoded(landed: LandedTransaction, details: 'full' | 'accounts' | 'signatures', options: BlockConfig) {
  if (details === 'signatures') return landed.signature;
  const encoding: TransactionEncoding = options.encoding ?? 'json';
  const shown = details === 'full' ? encodeInBlock(landed, encoding) : encodeAccounts(landed);
  return shownVersioned(shown, options.maxSupportedTransactionVersion);
}

function getBlockProduction(ledger: EmbeddedLedger, identity: string): Method {
  const range = z.object({ firstSlot: integerParam, lastSlot: integerParam.nullish() }).nullish();
  const asked = z.looseObject({ commitment, identity: addressParam.nullish(), range }).optional();
  return method(z.tuple([asked]), (options) => {
    const { slot } = ledger.now();
    const firstSlot = options?.range?.firstSlot ?? Number(epochOf(slot)) * SLOTS_PER_EPOCH;
    const lastSlot = options?.range?.lastSlot ?? slot;
    if (firstSlot > lastSlot || lastSlot > slot)
      throw new JsonRpcError('invalid_params', `lastSlot, ${lastSlot}, is out of range; max ${slot}`);
    const led = lastSlot - firstSlot + 1;
    const isOther = (options?.identity ?? identity) !== identity;
    const byIdentity = isOther ? {} : { [identity]: [led, led] };
    return answered(ledger, {}, { byIdentity, range: { firstSlot, lastSlot } });
  });
}

function slotsFrom(first: number, last: number): number[] {
  const count = Math.max(0, last - first + 1);
  if (count > MOST_BLOCKS) throw tooLarge();
  return Array.from({ length: count }, (_, index) => first + index);
}

/** Counts the transactions of each minute, newest first. */
function samples(ledger: EmbeddedLedger, limit: number) {
  const found: object[] = [];
  let slot = ledger.now().slot - 1;
  for (let upTo = ledger.transactionCount(slot); found.length < limit && slot > 0; ) {
    const numSlots = Math.min(SAMPLE_SLOTS, slot);
    const before = ledger.transactionCount(slot - numSlots);
    const numTransactions = upTo - before;
    const samplePeriodSecs = Math.max(1, Math.round((numSlots * SLOT_MS) / 1000));
    found.push({ slot, numSlots, numTransactions, numNonVoteTransactions: numTransactions, samplePeriodSecs });
    [slot, upTo] = [slot - numSlots, before];
  }
  return found;
}

const notAvailable = (slot: number) => new JsonRpcError('block_not_available', `Block not available for slot ${slot}`);
const tooLarge = () => new JsonRpcError('invalid_params', `Slot range too large; max ${MOST_BLOCKS}`);
