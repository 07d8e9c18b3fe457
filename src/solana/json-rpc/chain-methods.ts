import { getBase64Encoder } from '@solana/kit';
import * as z from 'zod';
import { isProblem } from '../../kernel/problems.ts';
import { type EmbeddedCluster, epochOf, feeOf, parseMessage, SLOTS_PER_EPOCH } from '../embedded/index.ts';
import { MOST_TRANSACTION_BYTES } from '../transaction.ts';
import {
  API_VERSION,
  addressParam,
  answered,
  config,
  contextOf,
  integerParam,
  invalidParams,
  JsonRpcError,
  type Method,
  method,
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
