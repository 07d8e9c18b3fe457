import type { Address, Signature } from '@solana/kit';
import type { ChainAccount, Cluster, SignatureStatus } from '../cluster.ts';
import { decodeTokenAccount, TOKEN_PROGRAM } from '../token.ts';
import { accountsAnswer, integerAnswer, statusesAnswer, transactionAnswer } from './answers.ts';
import { type RpcCaller, silent } from './caller.ts';

const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111' as Address;
const MOST_ACCOUNTS = 100;

/** What is read of a cluster, at `commitment`. */
export function createReads(
  caller: RpcCaller,
  commitment: 'confirmed' | 'finalized',
): Pick<
  Cluster,
  'accounts' | 'signatureStatus' | 'unixTime' | 'tokenBalance' | 'minimumRent' | 'transaction'
> {
  const { read } = caller;
  const certain = { commitment };

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

  return {
    accounts,
    signatureStatus: (signature) => signatureStatus(caller, signature),
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
    minimumRent: (dataLength) =>
      read('getMinimumBalanceForRentExemption', [dataLength, certain], integerAnswer),
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

/** The surest word of those that can be asked now; null when none of them knows the signature. */
async function signatureStatus(caller: RpcCaller, signature: Signature): Promise<SignatureStatus | null> {
  const params = [[signature], { searchTransactionHistory: true }];
  const said = await caller.fromEach('getSignatureStatuses', params, statusesAnswer);
  const answers = said.flatMap((one) => (one.kind === 'answer' ? [one.answer] : []));
  if (answers.length === 0) answers.push(await caller.read('getSignatureStatuses', params, statusesAnswer));
  const known = answers.flatMap(([status]): SignatureStatus[] => {
    // Below confirmed nothing exists, for anybody here: its fork may be dropped.
    if (!status || status.confirmationStatus === 'processed') return [];
    const confirmation = status.confirmationStatus ?? 'finalized';
    return [{ slot: status.slot, err: status.err ?? null, confirmation }];
  });
  return known.find(({ confirmation }) => confirmation === 'finalized') ?? known[0] ?? null;
}

const fieldsOf = (account: Omit<ChainAccount, 'address'>): Omit<ChainAccount, 'address'> => ({
  lamports: account.lamports,
  owner: account.owner,
  data: account.data,
  executable: account.executable,
});
