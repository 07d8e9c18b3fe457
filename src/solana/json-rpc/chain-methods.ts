import { type Address, getBase64Encoder } from '@solana/kit';
import * as z from 'zod';
import { isProblem } from '../../kernel/problems.ts';
import type { EmbeddedCluster, EmbeddedLedger } from '../embedded/index.ts';
import { epochOf, feeOf, parseMessage, SLOTS_PER_EPOCH } from '../embedded/index.ts';
import { MOST_TRANSACTION_BYTES } from '../transaction.ts';
import { eachPage, type Turns } from './cost.ts';
import {
  API_VERSION,
  addressParam,
  answered,
  commitment,
  config,
  contextOf,
  integerParam,
  invalidParams,
  JsonRpcError,
  type Method,
  method,
  WrittenJson,
} from './wire.ts';

const none = z.tuple([]);
const optionsOnly = z.tuple([config]);
const MOST_AIRDROP_LAMPORTS = 100_000n * 1_000_000_000n;
const MOST_AIRDROP_USDC = 1_000_000_000n * 1_000_000n;

export function chainMethods(cluster: EmbeddedCluster, genesis: string): Record<string, Method> {
  const { ledger } = cluster;
  const slotNow = method(optionsOnly, (options) => {
    contextOf(ledger, options);
    return ledger.now().slot;
  });

  return {
    getHealth: method(none, () => 'ok'),
    getVersion: method(none, () => ({ 'feature-set': 0, 'solana-core': API_VERSION })),
    getGenesisHash: method(none, () => genesis),
    getSlot: slotNow,
    getBlockHeight: slotNow,
    getTransactionCount: method(optionsOnly, () => ledger.transactionCount()),
    getEpochInfo: method(optionsOnly, (options) => {
      contextOf(ledger, options);
      const { slot } = ledger.now();
      return {
        absoluteSlot: slot,
        blockHeight: slot,
        epoch: epochOf(slot),
        slotIndex: slot % SLOTS_PER_EPOCH,
        slotsInEpoch: SLOTS_PER_EPOCH,
        transactionCount: ledger.transactionCount(),
      };
    }),
    getLatestBlockhash: method(optionsOnly, (options) => {
      const { blockhash, lastValidBlockHeight } = ledger.latest();
      return answered(ledger, options, { blockhash, lastValidBlockHeight });
    }),
    isBlockhashValid: method(z.tuple([addressParam, config]), (blockhash, options) => {
      const isValid = ledger.isBlockhashValid(blockhash);
      return answered(ledger, options, isValid);
    }),
    getFeeForMessage: method(z.tuple([z.base64().max(MOST_TRANSACTION_BYTES * 2), config]), (message, options) => {
      const context = contextOf(ledger, options);
      const parsed = readMessage(message);
      // The validator returns null for an unknown blockhash.
      return { context, value: ledger.isBlockhashValid(parsed.blockhash) ? feeOf(parsed) : null };
    }),
    getRecentPrioritizationFees: method(z.tuple([z.array(addressParam).max(128).optional()]), () => [
      { slot: ledger.peek().slot, prioritizationFee: 0 },
    ]),
    requestAirdrop: method(z.tuple([addressParam, integerParam, config]), (to, lamports) => {
      if (BigInt(lamports) > MOST_AIRDROP_LAMPORTS) throw invalidParams('more than the faucet gives at once');
      return airdrop(() => cluster.airdropSol(to, BigInt(lamports)));
    }),
    farelock_airdropUsdc: method(z.tuple([addressParam, integerParam]), (owner, amountAtomic) => {
      if (BigInt(amountAtomic) > MOST_AIRDROP_USDC) throw invalidParams('more than the faucet gives at once');
      return airdrop(() => cluster.airdropUsdc(owner, BigInt(amountAtomic)));
    }),
  };
}

async function airdrop(send: () => Promise<string>): Promise<string> {
  try {
    return await send();
  } catch (error) {
    if (!isProblem(error, 'transaction_failed')) throw error;
    throw new JsonRpcError('internal_error', `airdrop request failed: ${error.message}`, error.detail);
  }
}

function readMessage(base64: string) {
  try {
    return parseMessage(new Uint8Array(getBase64Encoder().encode(base64)));
  } catch (error) {
    if (!isProblem(error)) throw error;
    throw invalidParams(error.message);
  }
}

const MOST_LEADERS = 5_000;
const MOST_REWARDS = 100;
const MOST_LARGEST = 20;

const PAGE = 1_000;

/** One node leads every slot: no stake, no votes, no inflation. */
export function validatorMethods(ledger: EmbeddedLedger, turns: Turns, identity: Address): Record<string, Method> {
  return {
    ...supplyMethods(ledger, turns),
    getIdentity: method(none, () => ({ identity })),
    getClusterNodes: method(none, () => [nodeOf(identity)]),
    getVoteAccounts: method(z.tuple([z.looseObject({}).optional()]), () => ({ current: [], delinquent: [] })),
    getSlotLeader: method(optionsOnly, (options) => {
      contextOf(ledger, options);
      return identity;
    }),
    getSlotLeaders: method(z.tuple([integerParam, integerParam]), (_first, limit) => {
      if (limit < 1 || limit > MOST_LEADERS)
        throw new JsonRpcError('invalid_params', `Invalid limit; max ${MOST_LEADERS}`);
      return Array.from({ length: limit }, () => identity);
    }),
    getLeaderSchedule: getLeaderSchedule(ledger, identity),
    getEpochSchedule: method(none, () => EPOCH_SCHEDULE),
    getInflationGovernor: method(optionsOnly, () => NO_INFLATION),
    getInflationRate: method(none, () => ({ epoch: epochOf(ledger.peek().slot), ...NO_INFLATION_RATE })),
    getInflationReward: method(
      z.tuple([z.array(addressParam).max(MOST_REWARDS), z.looseObject({}).optional()]),
      (addresses) => addresses.map(() => null),
    ),
    getStakeMinimumDelegation: method(optionsOnly, (options) => answered(ledger, options, 1_000_000_000)),
    // Alpenglow has not begun here.
    getAgGenesisCert: method(none, () => null),
    getHighestSnapshotSlot: method(none, () => {
      throw new JsonRpcError('no_snapshot', 'No snapshot');
    }),
  };
}

const NO_INFLATION = { foundation: 0, foundationTerm: 0, initial: 0, taper: 0, terminal: 0 };
const NO_INFLATION_RATE = { foundation: 0, total: 0, validator: 0 };
const EPOCH_SCHEDULE = {
  ...{ firstNormalEpoch: 0, firstNormalSlot: 0, leaderScheduleSlotOffset: SLOTS_PER_EPOCH },
  ...{ slotsPerEpoch: SLOTS_PER_EPOCH, warmup: false },
};

/** Ports are null: there is no gossip. */
const nodeOf = (pubkey: Address) => ({
  ...{ pubkey, featureSet: null, gossip: null, pubsub: null, rpc: null, serveRepair: null, shredVersion: 0 },
  ...{ tpu: null, tpuForwards: null, tpuForwardsQuic: null, tpuQuic: null, tpuVote: null, tvu: null },
  version: API_VERSION,
});

function getLeaderSchedule(ledger: EmbeddedLedger, identity: Address): Method {
  const options = z.looseObject({ commitment, identity: addressParam.nullish() });
  const params = z.tuple([z.union([integerParam.nullable(), options]).optional(), options.optional()]);
  // Three megabytes, equal in every answer: written once.
  let everySlot: WrittenJson | null = null;
  return method(params, (first, second) => {
    const { slot } = ledger.now();
    const asked = typeof first === 'number' ? first : slot;
    // Validators know the schedule of this epoch and the next.
    if (epochOf(asked) > epochOf(slot) + 1n) return null;
    const wanted = (typeof first === 'object' ? first : second)?.identity ?? identity;
    if (wanted !== identity) return {};
    everySlot ??= new WrittenJson(JSON.stringify(Array.from({ length: SLOTS_PER_EPOCH }, (_, index) => index)));
    return { [identity]: everySlot };
  });
}

type Held = ReturnType<EmbeddedLedger['lamportsPage']>[number];

function supplyMethods(ledger: EmbeddedLedger, turns: Turns): Record<string, Method> {
  const scan = (look: (held: Held) => void) =>
    eachPage(turns, PAGE, (last) => ledger.lamportsPage(last?.address ?? '', PAGE), look);
  const filter = z.enum(['circulating', 'nonCirculating']).nullish();
  return {
    getSupply: method(z.tuple([z.looseObject({ commitment }).optional()]), async () => {
      let total = 0n;
      await scan(({ lamports }) => {
        total += lamports;
      });
      return answered(ledger, {}, { circulating: total, nonCirculating: 0, nonCirculatingAccounts: [], total });
    }),
    getLargestAccounts: method(z.tuple([z.looseObject({ commitment, filter }).optional()]), async (options) => {
      let largest: Held[] = [];
      const isShown = options?.filter !== 'nonCirculating';
      if (isShown)
        await scan((held) => {
          if (largest.length === MOST_LARGEST && held.lamports <= (largest.at(-1)?.lamports ?? 0n)) return;
          largest = [...largest, held].sort(byMost).slice(0, MOST_LARGEST);
        });
      return answered(ledger, {}, largest);
    }),
  };
}

const byMost = (a: Held, b: Held): number => (a.lamports < b.lamports ? 1 : a.lamports > b.lamports ? -1 : 0);
