import { randomBytes, randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Address, Instruction, Signature } from '@solana/kit';
import type { Clock } from '../../kernel/clock.ts';
import { once } from '../../kernel/once.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { OnTrouble } from '../../store/libsql/index.ts';
import { type ChainTransaction, type Cluster, DEVNET_USDC, type Faucet, SOLANA_NETWORKS } from '../cluster.ts';
import { type Signer, signerFromSeed } from '../signer.ts';
import { associatedTokenAddress, MEMO_PROGRAM, tokenBalanceIn } from '../token.ts';
import { buildTransaction, memoStands, minimumRent, refused } from '../transaction.ts';
import { ensureGenesis, type GenesisProgram, hasGenesis } from './genesis.ts';
import { createLedger, type EmbeddedLedger, explain } from './ledger.ts';
import { type LandedTransaction, openLedgerFile } from './ledger-file.ts';
import { identityOf, ledgerIdOf, openSlotClock } from './slot-clock.ts';

const HISTORY_PAGE = 500;

export interface EmbeddedCluster extends Cluster, Faucet {
  readonly ledger: EmbeddedLedger;
  readonly ledgerId: string;
  /** The only validator, which leads every slot. */
  readonly identity: Address;
  probe(): void;
}

/** Opens or makes the cluster of a libsql file, which processes may share; LiteSVM is loaded by the first execution. */
export async function openEmbeddedCluster(options: {
  readonly path: string;
  readonly clock: Clock;
  readonly programs?: readonly GenesisProgram[];
  readonly onTrouble?: OnTrouble;
  /** Throws to forbid making a ledger. */
  readonly ifMissing?: (() => void) | undefined;
}): Promise<EmbeddedCluster> {
  const { path, ifMissing, onTrouble } = options;
  if (!existsSync(path)) ifMissing?.();
  const file = openLedgerFile(path, onTrouble);
  try {
    if (!hasGenesis(file)) ifMissing?.();
    await ensureGenesis(file, options.clock, options.programs ?? []);
  } catch (error) {
    await file.close();
    throw error;
  }
  file.waitBeside();
  const keys = file.database.prepare('select seed, faucet_seed from ledger').get() as {
    seed: Uint8Array;
    faucet_seed: Uint8Array;
  };
  const ledger = createLedger(file, openSlotClock(file, keys.seed, options.clock));

  const told = async <T>(read: () => T): Promise<T> => {
    const result = read();
    await ledger.onDisk();
    return result;
  };
  const cluster: Cluster = {
    network: SOLANA_NETWORKS.devnet,
    usdcMint: DEVNET_USDC,
    latestBlockhash: async () => {
      const { blockhash, lastValidBlockHeight, slot } = ledger.latest();
      return { blockhash, lastValidBlockHeight: BigInt(lastValidBlockHeight), slot: BigInt(slot) };
    },
    // There are no forks: what has landed is final.
    blockHeight: async () => BigInt(ledger.now().slot),
    finalizedBlockHeight: async () => BigInt(ledger.now().slot),
    unixTime: async () => ledger.now().unixTime,
    accounts: (addresses) => told(() => file.snapshot(() => addresses.map(ledger.account))),
    tokenBalance: async (tokenAccount) => tokenBalanceIn(await told(() => ledger.account(tokenAccount))),
    minimumRent: async (dataLength) => minimumRent(dataLength),
    async simulate(wire, { verifySignatures = false } = {}) {
      try {
        const { err, logs, unitsConsumed } = await ledger.tryOut(wire, { verifySignatures });
        return { err, logs, unitsConsumed: BigInt(unitsConsumed) };
      } catch (error) {
        // An unreadable transaction is a result of the simulation too.
        if (!isProblem(error, 'transaction_failed')) throw error;
        return { err: error.detail?.error, logs: [], unitsConsumed: 0n };
      }
    },
    async send(wire) {
      const { signature, err, meta } = await ledger.submit(wire);
      if (err !== null) throw refused(err, explain(err), meta.logs);
      return signature;
    },
    signatureStatus: async (signature) => {
      const landed = await told(() => ledger.landing(signature));
      return landed && { slot: BigInt(landed.slot), err: landed.err, confirmation: 'finalized' };
    },
    transaction: async (signature) => {
      const landed = await told(() => ledger.landed(signature));
      return landed && chainTransaction(landed);
    },
    // The ledger file forgets nothing.
    isAbsent: (trace, { account }) =>
      told(() =>
        'signature' in trace
          ? ledger.landed(trace.signature) === null
          : historyWithMemo(ledger, account, trace.memo).every(({ err }) => err !== null),
      ),
    signaturesWithMemo: (memo, account) =>
      told(() => historyWithMemo(ledger, account, memo).map(({ signature }) => signature)),
    history: (account, { before, limit = HISTORY_PAGE } = {}) =>
      told(() => {
        const beforeSeq = before === undefined ? Number.MAX_SAFE_INTEGER : (ledger.landing(before)?.seq ?? 0);
        const page = ledger.transactionsNaming(account, { beforeSeq, untilSeq: 0, limit });
        return page.map(({ signature, err, blockTime }) => ({ signature, err, blockTime }));
      }),
    doubtBlocks: 0n,
    close: () => file.close(),
  };
  return {
    ...cluster,
    ...createFaucet(
      cluster,
      once(async () => signerFromSeed(keys.faucet_seed)),
    ),
    ledger,
    ledgerId: ledgerIdOf(keys.seed),
    identity: identityOf(keys.seed),
    // Writes a random value, because an unchanged one would not be written.
    probe: () => void file.database.exec(`pragma application_id = ${1 + randomInt(1_000_000)}`),
  };
}

function historyWithMemo(ledger: EmbeddedLedger, account: Address, memo: string) {
  const found: { readonly signature: Signature; readonly err: unknown }[] = [];
  for (let beforeSeq = Number.MAX_SAFE_INTEGER; ; ) {
    const page = ledger.transactionsNaming(account, { beforeSeq, untilSeq: 0, limit: HISTORY_PAGE });
    found.push(...page.filter((one) => memoStands(one.memo, memo)));
    const last = page.at(-1);
    if (!last || page.length < HISTORY_PAGE) return found;
    beforeSeq = last.seq;
  }
}

const chainTransaction = (landed: LandedTransaction): ChainTransaction => ({
  signature: landed.signature,
  slot: BigInt(landed.slot),
  blockTime: landed.blockTime,
  err: landed.err,
  logs: landed.meta.logs,
  transaction: landed.wire,
});

/** Sends airdrops signed by the faucet's key, so they appear in the history. */
function createFaucet(cluster: Pick<Cluster, 'latestBlockhash' | 'send'>, faucetKey: () => Promise<Signer>): Faucet {
  const send = async (key: Signer, ...instructions: Instruction[]) => {
    const blockhash = await cluster.latestBlockhash();
    // A random memo keeps equal airdrops of one slot apart: one transaction lands once.
    const memo = { programAddress: MEMO_PROGRAM, data: Buffer.from(randomBytes(8).toString('hex')) };
    const { wire } = buildTransaction({ feePayer: key, instructions: [...instructions, memo], blockhash });
    return cluster.send(wire);
  };
  return {
    async airdropSol(to, lamports) {
      const { getTransferSolInstruction } = await import('@solana-program/system');
      const key = await faucetKey();
      return send(key, getTransferSolInstruction({ source: key, destination: to, amount: lamports }));
    },
    async airdropUsdc(owner, amount) {
      const { getCreateAssociatedTokenIdempotentInstruction, getMintToInstruction } = await import(
        '@solana-program/token'
      );
      const ata = await associatedTokenAddress(owner, DEVNET_USDC);
      const key = await faucetKey();
      return send(
        key,
        getCreateAssociatedTokenIdempotentInstruction({ payer: key, ata, owner, mint: DEVNET_USDC }),
        getMintToInstruction({ mint: DEVNET_USDC, token: ata, mintAuthority: key, amount }),
      );
    },
  };
}
