import type { Address } from '@solana/kit';
import * as z from 'zod';
import type { EmbeddedLedger } from '../embedded/ledger.ts';
import { epochOf, SLOTS_PER_EPOCH } from '../embedded/slot-clock.ts';
import { API_VERSION, addressParam, commitment, config, contextOf, integerParam } from './params.ts';
import type { Turns } from './turns.ts';
import { INVALID_PARAMS, JsonRpcError, type Method, method, NO_SNAPSHOT, WrittenJson } from './wire.ts';

const MOST_LEADERS = 5_000;
const MOST_REWARDS = 100;
const MOST_LARGEST = 20;
/** Balances that are read at once. */
const PAGE = 1_000;

const none = z.tuple([]);
const optionsOnly = z.tuple([config]);

/** The validator and its economy: one node, which leads every slot; no stake, no votes, no inflation. */
export function validatorMethods(
  ledger: EmbeddedLedger,
  turns: Turns,
  identity: Address,
): Record<string, Method> {
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
        throw new JsonRpcError(INVALID_PARAMS, `Invalid limit; max ${MOST_LEADERS}`);
      return Array.from({ length: limit }, () => identity);
    }),
    getLeaderSchedule: getLeaderSchedule(ledger, identity),
    getEpochSchedule: method(none, () => ({
      firstNormalEpoch: 0,
      firstNormalSlot: 0,
      leaderScheduleSlotOffset: SLOTS_PER_EPOCH,
      slotsPerEpoch: SLOTS_PER_EPOCH,
      warmup: false,
    })),
    getInflationGovernor: method(optionsOnly, () => ({
      foundation: 0,
      foundationTerm: 0,
      initial: 0,
      taper: 0,
      terminal: 0,
    })),
    getInflationRate: method(none, () => ({
      epoch: epochOf(ledger.peek().slot),
      foundation: 0,
      total: 0,
      validator: 0,
    })),
    getInflationReward: method(
      z.tuple([z.array(addressParam).max(MOST_REWARDS), z.looseObject({}).optional()]),
      (addresses) => addresses.map(() => null),
    ),
    getStakeMinimumDelegation: method(optionsOnly, (options) => ({
      context: contextOf(ledger, options),
      value: 1_000_000_000,
    })),
    // Alpenglow's certificate of its first block: it has not begun here.
    getAgGenesisCert: method(none, () => null),
    getHighestSnapshotSlot: method(none, () => {
      throw new JsonRpcError(NO_SNAPSHOT, 'No snapshot');
    }),
  };
}

/** Ports are null: there is no gossip, and whoever asks knows where this answer came from. */
const nodeOf = (pubkey: Address) => ({
  pubkey,
  featureSet: null,
  gossip: null,
  pubsub: null,
  rpc: null,
  serveRepair: null,
  shredVersion: 0,
  tpu: null,
  tpuForwards: null,
  tpuForwardsQuic: null,
  tpuQuic: null,
  tpuVote: null,
  tvu: null,
  version: API_VERSION,
});

function getLeaderSchedule(ledger: EmbeddedLedger, identity: Address): Method {
  const options = z.looseObject({ commitment: commitment.nullish(), identity: addressParam.nullish() });
  // Three megabytes, the same in every answer: written once.
  let everySlot: WrittenJson | null = null;
  return method(
    z.tuple([z.union([integerParam.nullable(), options]).optional(), options.optional()]),
    (first, second) => {
      const { slot } = ledger.now();
      const asked = typeof first === 'number' ? first : slot;
      // Like any validator, it knows the schedule of this epoch and of the next one.
      if (epochOf(asked) > epochOf(slot) + 1n) return null;
      const wanted = (typeof first === 'object' ? first : second)?.identity ?? identity;
      if (wanted !== identity) return {};
      everySlot ??= new WrittenJson(
        JSON.stringify(Array.from({ length: SLOTS_PER_EPOCH }, (_, index) => index)),
      );
      return { [identity]: everySlot };
    },
  );
}

interface Held {
  readonly address: Address;
  readonly lamports: bigint;
}

function supplyMethods(ledger: EmbeddedLedger, turns: Turns): Record<string, Method> {
  /** Looks at what every account holds, a page at a time. */
  const scan = async (look: (held: Held) => void) => {
    for (let after = ''; ; ) {
      const page = ledger.lamportsPage(after, PAGE);
      for (const held of page) look(held);
      const last = page.at(-1);
      if (!last || page.length < PAGE) return;
      after = last.address;
      await turns.breathe();
    }
  };
  return {
    getSupply: method(z.tuple([z.looseObject({ commitment: commitment.nullish() }).optional()]), async () => {
      let total = 0n;
      await scan(({ lamports }) => {
        total += lamports;
      });
      const value = { circulating: total, nonCirculating: 0, nonCirculatingAccounts: [], total };
      return { context: contextOf(ledger), value };
    }),
    getLargestAccounts: method(
      z.tuple([
        z
          .looseObject({
            commitment: commitment.nullish(),
            filter: z.enum(['circulating', 'nonCirculating']).nullish(),
          })
          .optional(),
      ]),
      async (options) => {
        let largest: Held[] = [];
        const isShown = options?.filter !== 'nonCirculating';
        if (isShown)
          await scan((held) => {
            if (largest.length === MOST_LARGEST && held.lamports <= (largest.at(-1)?.lamports ?? 0n)) return;
            largest = [...largest, held].sort(byMost).slice(0, MOST_LARGEST);
          });
        return { context: contextOf(ledger), value: largest };
      },
    ),
  };
}

const byMost = (a: Held, b: Held): number => (a.lamports < b.lamports ? 1 : a.lamports > b.lamports ? -1 : 0);
