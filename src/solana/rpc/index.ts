import type { Address, Signature } from '@solana/kit';
import * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { type Log, silentLog } from '../../kernel/log.ts';
import { type Meter, noMeter } from '../../kernel/meter.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { shownUrl } from '../../kernel/shown-url.ts';
import {
  type ChainAccount,
  CLOCK_SYSVAR,
  type Cluster,
  type HistorySince,
  type PriorityFee,
  type SignatureStatus,
  type Trace,
  usdcMintOf,
} from '../cluster.ts';
import type { ClusterSettings } from '../cluster-settings.ts';
import { checkMint, nameOf, networkHeldTo, networkOfGenesis, rpcUrl } from '../cluster-settings.ts';
import { tokenBalanceIn } from '../token.ts';
import { memoStands } from '../transaction.ts';
import {
  accountsAnswer,
  historyAnswer,
  integerAnswer,
  prioritizationFeesAnswer,
  statusesAnswer,
  transactionAnswer,
  versionAnswer,
} from './answers.ts';
import { createCaller, type RpcCaller, type Said, silent } from './caller.ts';
import { createFreshness, createMember, type Genesis } from './member.ts';
import { createLifetimes, sendAndConfirm, tryOut } from './send.ts';

/** Lamports per transaction: 0.0001 SOL. */
const USUAL_FEE_CAP = 100_000n;

/** Micro-lamports per compute unit: leaders may ignore lower bids. */
const LEAST_PRICE = 1_000n;

/** The limit of getRecentPrioritizationFees. */
const MOST_ACCOUNTS = 128;

/** Five minutes: about as much as a restored node may lack. */
const DOUBT_BLOCKS = 750n;

/** A lone address with a network and no genesis is not checked. */
interface RpcOptions
  extends Partial<Pick<ClusterSettings, 'network' | 'genesis' | 'usdcMint' | 'commitment' | 'priorityFeeCap'>> {
  /** Addresses or monikers of one cluster's JSON-RPC, the preferred one first. */
  readonly urls: readonly string[];
  readonly clock: Clock;
  readonly log?: Log | undefined;
  readonly meter?: Meter | undefined;
  readonly fetch?: typeof fetch;
}

/** Opens a cluster by RPC. @throws Problem `cluster_failed`, `genesis_unexpected`, `cluster_settings_invalid` */
export async function openRpcCluster(options: RpcOptions): Promise<Cluster & { readonly genesis: string | null }> {
  const { clock, commitment = 'confirmed', log = silentLog, meter = noMeter } = options;
  const freshness = createFreshness(clock.now);
  const genesis: Genesis = { hash: null };
  const closing = new AbortController();
  const shared = { clock, genesis, log, meter, closing: closing.signal, fetch: options.fetch ?? fetch };
  const urls = addressesOf(options.urls);
  const caller = createCaller(
    urls.map((url) => createMember({ url, standing: freshness.join(), ...shared })),
    clock,
  );
  const isTaken = options.network && options.genesis === undefined && urls.length === 1;
  if (!isTaken) genesis.hash = await commonGenesis(caller, urls);
  const { hash: first } = genesis;
  const network =
    first === null && options.network ? options.network : networkHeldTo(urls[0] ?? '', first ?? '', options);
  checkMint(network, options.usdcMint ?? null);

  const lifetimes = createLifetimes(caller);
  const reads = createReads(caller, commitment);
  const ports = { caller, clock, lifetimes };
  return {
    network,
    usdcMint: options.usdcMint ?? usdcMintOf(network),
    genesis: first,
    ...reads,
    latestBlockhash: lifetimes.latest,
    blockHeight: () => lifetimes.blockHeight(commitment),
    finalizedBlockHeight: () => lifetimes.blockHeight('finalized'),
    simulate: (wire, { verifySignatures = false } = {}) => tryOut(ports, wire, { verifySignatures }),
    send: (wire) => sendAndConfirm(wire, { ...ports, status: reads.signatureStatus }),
    isAbsent: (trace, from) => isAbsent(caller, trace, from),
    signaturesWithMemo: (memo, account) => signaturesWithMemo(caller, memo, account),
    async history(account, from) {
      const page = await historyPage(caller, account, from);
      return page.map(({ signature, err, blockTime }) => ({
        ...{ signature: signature as Signature, err: err ?? null, blockTime: blockTime ?? null },
      }));
    },
    priorityFee: (writable) => bid(caller, writable, options.priorityFeeCap ?? USUAL_FEE_CAP),
    doubtBlocks: DOUBT_BLOCKS,
    nodeVersion: async () => (await caller.read('getVersion', [], versionAnswer))['solana-core'] ?? null,
    close: async () => closing.abort(),
  };
}

function addressesOf(named: readonly string[]): string[] {
  const urls = named.map((one) => {
    const url = rpcUrl(one);
    if (url) return url;
    throw problem('cluster_failed', {
      message: `"${shownUrl(one)}" is neither an http address nor a known cluster.`,
      fix: 'Use the address of a Solana RPC node, or mainnet, devnet, testnet or localhost.',
    });
  });
  return [...new Set(urls)];
}

/** Slower addresses are compared before their first use. */
const LATE_MS = 100;

/** The first block's hash, equal at all addresses that answer soon. */
async function commonGenesis(caller: RpcCaller, urls: readonly string[]): Promise<string> {
  // A single address has nothing to compare; if all are silent, `read` retries for seconds.
  const said: readonly Said<string>[] =
    urls.length > 1 ? await caller.fromEach('getGenesisHash', [], z.string(), LATE_MS) : [];
  const told = said.flatMap((one) => (one.kind === 'answer' ? [one] : []));
  const hash = told[0]?.answer ?? (await caller.read('getGenesisHash', [], z.string()));
  const other = told.find(({ answer }) => answer !== hash);
  if (!other) return hash;
  throw problem('cluster_failed', {
    message: `The RPC addresses lead to different clusters: ${told[0]?.host} to ${clusterOf(hash)}, ${other.host} to ${clusterOf(other.answer)}.`,
    fix: 'Name addresses of one cluster only.',
  });
}

const clusterOf = (genesisHash: string): string => {
  const network = networkOfGenesis(genesisHash);
  return network ? nameOf(network) : `a private one (genesis ${genesisHash})`;
};

/** Bids what three of four recent blocks took for the same accounts, or the least: a low bid only delays. */
async function bid(caller: RpcCaller, writable: readonly Address[], mostLamports: bigint): Promise<PriorityFee> {
  const price = await caller
    .read('getRecentPrioritizationFees', [writable.slice(0, MOST_ACCOUNTS)], prioritizationFeesAnswer)
    .then((recent) => threeQuarters(recent.map((one) => one.prioritizationFee)))
    .catch((error: unknown) => {
      if (isProblem(error, 'cluster_failed')) return 0n;
      throw error;
    });
  return { microLamportsPerUnit: price > LEAST_PRICE ? price : LEAST_PRICE, mostLamports };
}

function threeQuarters(prices: readonly bigint[]): bigint {
  const sorted = prices.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted[Math.ceil(sorted.length * 0.75) - 1] ?? 0n;
}

const MOST_IN_ONE_READ = 100;

function createReads(
  caller: RpcCaller,
  commitment: 'confirmed' | 'finalized',
): Pick<Cluster, 'accounts' | 'signatureStatus' | 'unixTime' | 'tokenBalance' | 'minimumRent' | 'transaction'> {
  const { read } = caller;
  const certain = { commitment };

  const accounts: Cluster['accounts'] = async (addresses, { finalized = false } = {}) => {
    const found: (ChainAccount | null)[] = [];
    for (let at = 0; at < addresses.length; at += MOST_IN_ONE_READ) {
      const asked = addresses.slice(at, at + MOST_IN_ONE_READ);
      const params = [asked, { commitment: finalized ? 'finalized' : commitment, encoding: 'base64' }];
      const answer = await read('getMultipleAccounts', params, accountsAnswer);
      if (answer.length !== asked.length) throw silent('getMultipleAccounts', 'it left accounts out');
      const accounts = asked.map((address, index): ChainAccount | null => {
        const account = answer[index];
        if (!account) return null;
        const { lamports, owner, data, executable } = account;
        return { address, lamports, owner, data, executable };
      });
      found.push(...accounts);
    }
    return found;
  };

  return {
    accounts,
    signatureStatus: (signature) => signatureStatus(caller, signature),
    async unixTime() {
      const [sysvar] = await accounts([CLOCK_SYSVAR]);
      if (sysvar?.data.length !== 40) throw silent('getMultipleAccounts', 'it has no clock');
      // Clock layout: slot, epoch start, epoch, leader schedule epoch, unix timestamp, eight bytes each.
      return Number(Buffer.from(sysvar.data).readBigInt64LE(32));
    },
    async tokenBalance(tokenAccount) {
      const [account] = await accounts([tokenAccount]);
      return tokenBalanceIn(account);
    },
    minimumRent: (dataLength) => read('getMinimumBalanceForRentExemption', [dataLength, certain], integerAnswer),
    async transaction(signature) {
      const how = { ...certain, encoding: 'base64', maxSupportedTransactionVersion: 0 };
      const found = await read('getTransaction', [signature, how], transactionAnswer);
      if (!found?.meta) return null;
      return {
        signature,
        slot: found.slot,
        blockTime: found.blockTime ?? 0,
        err: found.meta.err ?? null,
        logs: found.meta.logMessages ?? [],
        transaction: found.transaction,
      };
    },
  };
}

/** Reads the most certain status of all addresses; null if none knows the signature. */
async function signatureStatus(caller: RpcCaller, signature: Signature): Promise<SignatureStatus | null> {
  const params = [[signature], { searchTransactionHistory: true }];
  const said = await caller.fromEach('getSignatureStatuses', params, statusesAnswer);
  const answers = said.flatMap((one) => (one.kind === 'answer' ? [one.answer] : []));
  if (answers.length === 0) answers.push(await caller.read('getSignatureStatuses', params, statusesAnswer));
  const known = answers.flatMap(([status]): SignatureStatus[] => {
    // Below confirmed a fork may be dropped.
    if (!status || status.confirmationStatus === 'processed') return [];
    const confirmation = status.confirmationStatus ?? 'finalized';
    return [{ slot: status.slot, err: status.err ?? null, confirmation }];
  });
  return known.find(({ confirmation }) => confirmation === 'finalized') ?? known[0] ?? null;
}

const PAGE = 1000;
const MOST_PAGES = 50;

/** With several addresses, two have to confirm. */
const WITNESSES = 2;

/**
 * Proves that an account's history reaches back far enough without the transaction, at two addresses where there are
 * two. Short, overlong or unreachable histories prove nothing. @throws Problem `cluster_failed` when none can be asked
 */
async function isAbsent(caller: RpcCaller, trace: Trace, from: HistorySince): Promise<boolean> {
  const alone = caller.alone();
  const needed = Math.min(WITNESSES, alone.length);
  const words = await Promise.allSettled(alone.map((one) => isAbsentBy(one, trace, from)));
  const heard = words.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const [silence] = words.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  if (heard.length === 0) throw silence;
  return heard.length >= needed && heard.every(Boolean);
}

async function isAbsentBy(
  caller: RpcCaller,
  trace: Trace,
  { account, sinceS, sinceSlot = null }: HistorySince,
): Promise<boolean> {
  if ('signature' in trace) {
    const params = [[trace.signature], { searchTransactionHistory: true }];
    const [status] = await caller.read('getSignatureStatuses', params, statusesAnswer);
    if (status) return false;
  }
  let before: string | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const entries = await historyPage(caller, account, { before });
    const isNamed = entries.some((entry) =>
      'signature' in trace
        ? entry.signature === trace.signature
        : (entry.err ?? null) === null && memoStands(entry.memo, trace.memo),
    );
    if (isNamed) return false;
    const reachesBack = entries.some(
      ({ blockTime, slot }) =>
        (typeof blockTime === 'number' && blockTime < sinceS) || (sinceSlot !== null && slot < sinceSlot),
    );
    if (reachesBack) return true;
    before = entries.at(-1)?.signature;
    if (before === undefined) return false;
  }
  return false;
}

/** Reads a page of an account's history. A node that lags cannot know the newest: it refuses and is retried. */
function historyPage(caller: RpcCaller, account: Address, from: { before?: string | undefined; limit?: number } = {}) {
  const { before, limit = PAGE } = from;
  const options = { commitment: 'confirmed', limit, ...(before === undefined ? {} : { before }) };
  return caller.read('getSignaturesForAddress', [account, options], historyAnswer);
}

/** Searches the newest thousand transactions of an account. */
async function signaturesWithMemo(caller: RpcCaller, memo: string, account: Address): Promise<Signature[]> {
  const entries = await historyPage(caller, account);
  return entries.filter((entry) => memoStands(entry.memo, memo)).map(({ signature }) => signature as Signature);
}
