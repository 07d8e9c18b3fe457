import type { Address } from '@solana/kit';
import * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { shownUrl } from '../../kernel/shown-url.ts';
import type { ChainAccount, Cluster, SignatureStatus, SolanaNetwork } from '../cluster.ts';
import { networkOfGenesis, rpcUrl } from '../monikers.ts';
import { decodeTokenAccount, TOKEN_PROGRAM } from '../token.ts';
import { blockhashOf } from '../transaction.ts';
import {
  accountsAnswer,
  booleanAnswer,
  latestBlockhashAnswer,
  simulationAnswer,
  statusesAnswer,
  transactionAnswer,
} from './answers.ts';
import { createCaller, integer, RpcRefusal, silent } from './caller.ts';
import { isAbsent } from './history.ts';
import { refusal, sendAndConfirm } from './send.ts';

const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111' as Address;
const MOST_ACCOUNTS = 100;
/** Five minutes. Nodes that are restored or fall behind have forgotten what they knew for about as long. */
const DOUBT_BLOCKS = 750n;

/**
 * A real cluster, by the address of its JSON-RPC or a moniker (`mainnet`, `devnet`, `testnet`, `localhost`).
 * Unless `network` says otherwise, the network is read from the genesis hash.
 * @throws Problem `cluster_failed` when the address is none, nobody answers, or the cluster is a private one and
 *   `network` was not given.
 */
export async function openRpcCluster(options: {
  readonly url: string;
  readonly clock: Clock;
  readonly network?: SolanaNetwork;
  /** How certain a read must be; nothing less than `confirmed` is ever trusted. */
  readonly commitment?: 'confirmed' | 'finalized';
  readonly fetch?: typeof fetch;
}): Promise<Cluster> {
  const url = rpcUrl(options.url);
  if (!url) {
    throw problem('cluster_failed', {
      message: `"${shownUrl(options.url)}" is neither an http address nor a known cluster.`,
      fix: 'Give the address of a Solana RPC node, or mainnet, devnet, testnet or localhost.',
    });
  }
  const { clock, commitment = 'confirmed' } = options;
  const certain = { commitment };
  const caller = createCaller({ url, clock, fetch: options.fetch ?? fetch });
  const { call, read } = caller;
  const network = options.network ?? networkBehind(url, await read('getGenesisHash', [], z.string()));

  const accounts: Cluster['accounts'] = async (addresses, { finalized = false } = {}) => {
    const found: (ChainAccount | null)[] = [];
    for (let at = 0; at < addresses.length; at += MOST_ACCOUNTS) {
      const asked = addresses.slice(at, at + MOST_ACCOUNTS);
      const params = [asked, { commitment: finalized ? 'finalized' : commitment, encoding: 'base64' }];
      const answer = await read('getMultipleAccounts', params, accountsAnswer);
      if (answer.length !== asked.length) throw silent('getMultipleAccounts', 'it left accounts out');
      asked.forEach((address, index) => {
        const account = answer[index];
        found.push(account ? { address, ...fieldsOf(account) } : null);
      });
    }
    return found;
  };
  const signatureStatus: Cluster['signatureStatus'] = async (signature) => {
    const params = [[signature], { searchTransactionHistory: true }];
    const [status] = await read('getSignatureStatuses', params, statusesAnswer);
    // Below confirmed nothing exists, for anybody here: its fork may be dropped.
    if (!status || status.confirmationStatus === 'processed') return null;
    const confirmation: SignatureStatus['confirmation'] = status.confirmationStatus ?? 'finalized';
    return { slot: status.slot, err: status.err ?? null, confirmation };
  };

  const isBlockhashValid = (blockhash: string) =>
    read('isBlockhashValid', [blockhash, certain], booleanAnswer);

  return {
    network,
    accounts,
    signatureStatus,
    latestBlockhash: () => read('getLatestBlockhash', [certain], latestBlockhashAnswer),
    blockHeight: () => read('getBlockHeight', [certain], integer),
    finalizedBlockHeight: () => read('getBlockHeight', [{ commitment: 'finalized' }], integer),
    async unixTime() {
      const [sysvar] = await accounts([CLOCK_SYSVAR]);
      if (sysvar?.data.length !== 40) throw silent('getMultipleAccounts', 'it has no clock');
      // slot, epoch start, epoch, leader schedule epoch, unix timestamp: eight bytes each.
      return Number(Buffer.from(sysvar.data).readBigInt64LE(32));
    },
    async tokenBalance(tokenAccount) {
      const [account] = await accounts([tokenAccount]);
      if (account?.owner !== TOKEN_PROGRAM) return null;
      return decodeTokenAccount(account.data)?.amount ?? null;
    },
    minimumRent: (dataLength) => read('getMinimumBalanceForRentExemption', [dataLength, certain], integer),
    async simulate(wire, { verifySignatures = false } = {}) {
      const how = { ...certain, encoding: 'base64', sigVerify: verifySignatures };
      const params = [Buffer.from(wire).toString('base64'), how];
      try {
        const { err, logs, unitsConsumed } = await call('simulateTransaction', params, simulationAnswer);
        if (err === 'BlockhashNotFound' && (await isBlockhashValid(blockhashOf(wire)))) {
          throw silent('simulateTransaction', 'it does not know a blockhash that is valid');
        }
        return { err: err ?? null, logs: logs ?? [], unitsConsumed: unitsConsumed ?? 0n };
      } catch (error) {
        if (!(error instanceof RpcRefusal)) throw error;
        // A transaction that cannot even be tried is a result of the simulation too.
        return { err: refusal(error).detail?.error, logs: [], unitsConsumed: 0n };
      }
    },
    send: (wire) => sendAndConfirm(wire, { caller, clock, status: signatureStatus }),
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
    isAbsent: (signature, from) => isAbsent(caller, signature, from),
    doubtBlocks: DOUBT_BLOCKS,
    close: async () => undefined,
  };
}

const fieldsOf = (account: Omit<ChainAccount, 'address'>): Omit<ChainAccount, 'address'> => ({
  lamports: account.lamports,
  owner: account.owner,
  data: account.data,
  executable: account.executable,
});

function networkBehind(url: string, genesisHash: string): SolanaNetwork {
  const network = networkOfGenesis(genesisHash);
  if (network) return network;
  throw problem('cluster_failed', {
    message: `The cluster at ${new URL(url).host} is a private one (genesis ${genesisHash}).`,
    fix: 'Use mainnet, devnet, testnet, or a Farelock server.',
  });
}
