import { type Address, isSolanaError, type Signature, signature as signatureOf } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { expect } from 'vitest';
import { messageOf, signedBy, wireOf } from './kit-transactions.ts';
import { type Call, calls, type Scene } from './scene.ts';

const TOKENS = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;
const slot = (s: Scene) => BigInt(s.slot);
const toAlice = (s: Scene) =>
  getTransferSolInstruction({ source: s.signer, destination: s.signer.address, amount: 1n });
const signature = (s: Scene): Signature => signatureOf(s.signature);

/** What kit reads: every method of its RPC. */
export const kitReads: Call[] = [
  ...calls('kit', {
    getAccountInfo: async ({ rpc, usdc }) =>
      expect((await rpc.getAccountInfo(usdc, { encoding: 'jsonParsed' }).send()).value?.space).toBe(82n),
    getAgGenesisCert: async ({ rpc }) => expect(await rpc.getAgGenesisCert().send()).toBeNull(),
    getBalance: async ({ rpc, signer }) =>
      expect((await rpc.getBalance(signer.address).send()).value).toBeGreaterThan(0n),
    getBlock: async (s) => {
      const whole = await s.rpc.getBlock(slot(s), { encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 }).send();
      expect(whole?.transactions).toHaveLength(1);
      const accounts = await s.rpc
        .getBlock(slot(s), { transactionDetails: 'accounts', maxSupportedTransactionVersion: 0, rewards: false })
        .send();
      expect(accounts?.transactions[0]?.transaction.accountKeys[0]).toMatchObject({ signer: true });
      expect(accounts).not.toHaveProperty('rewards');
      const none = await s.rpc.getBlock(slot(s) - 1n, { transactionDetails: 'none' }).send();
      expect([none?.blockhash, none]).toEqual([
        whole?.previousBlockhash,
        expect.not.objectContaining({ transactions: expect.anything() }),
      ]);
    },
    getBlockCommitment: async (s) =>
      expect(await s.rpc.getBlockCommitment(slot(s)).send()).toEqual({ commitment: null, totalStake: 0n }),
    getBlockHeight: async (s) => expect(await s.rpc.getBlockHeight().send()).toBeGreaterThanOrEqual(slot(s)),
    getBlockProduction: async ({ rpc }) =>
      expect((await rpc.getBlockProduction().send()).value.range.firstSlot).toBe(0n),
    getBlockTime: async (s) => expect(await s.rpc.getBlockTime(slot(s)).send()).toBeGreaterThan(0n),
    getBlocks: async (s) => expect(await s.rpc.getBlocks(slot(s), slot(s)).send()).toEqual([slot(s)]),
    getBlocksWithLimit: async (s) =>
      expect(await s.rpc.getBlocksWithLimit(slot(s) - 1n, 2).send()).toEqual([slot(s) - 1n, slot(s)]),
    getClusterNodes: async ({ rpc }) => expect(await rpc.getClusterNodes().send()).toHaveLength(1),
    getEpochInfo: async ({ rpc }) => expect((await rpc.getEpochInfo().send()).slotsInEpoch).toBe(432_000n),
    getEpochSchedule: async ({ rpc }) =>
      expect(await rpc.getEpochSchedule().send()).toMatchObject({ warmup: false, firstNormalSlot: 0n }),
    getFeeForMessage: async (s) => {
      const { wire } = await wireOf(s, toAlice(s));
      const message = Buffer.from(wire, 'base64').subarray(65).toString('base64');
      expect((await s.rpc.getFeeForMessage(message as never).send()).value).toBe(5000n);
    },
    getFirstAvailableBlock: async ({ rpc }) => expect(await rpc.getFirstAvailableBlock().send()).toBe(0n),
    getGenesisHash: async ({ rpc }) => expect(await rpc.getGenesisHash().send()).toMatch(/^EtWTRABZaYq6/),
    getHealth: async ({ rpc }) => expect(await rpc.getHealth().send()).toBe('ok'),
    'getHighestSnapshotSlot, of a node without one': async ({ rpc }) => {
      const answered = await rpc
        .getHighestSnapshotSlot()
        .send()
        .catch((error: unknown) => error);
      expect(isSolanaError(answered) && answered.context.__code).toBe(-32008);
    },
    getIdentity: async ({ rpc }) => expect((await rpc.getIdentity().send()).identity).toMatch(/^\w{32,44}$/),
    getInflationGovernor: async ({ rpc }) => expect((await rpc.getInflationGovernor().send()).initial).toBe(0),
    getInflationRate: async ({ rpc }) => expect((await rpc.getInflationRate().send()).epoch).toBe(0n),
    getInflationReward: async ({ rpc, signer }) =>
      expect(await rpc.getInflationReward([signer.address]).send()).toEqual([null]),
    getLargestAccounts: async ({ rpc }) =>
      expect((await rpc.getLargestAccounts({ filter: 'nonCirculating' }).send()).value).toEqual([]),
    getLatestBlockhash: async ({ rpc }) =>
      expect((await rpc.getLatestBlockhash().send()).value.lastValidBlockHeight).toBeGreaterThan(150n),
    getLeaderSchedule: async ({ rpc }) => {
      const { identity } = await rpc.getIdentity().send();
      expect(await rpc.getLeaderSchedule(432_000n * 9n).send()).toBeNull();
      // Last: kit takes long to read so many slots, and a connection is not kept for as long.
      expect((await rpc.getLeaderSchedule(0n).send())?.[identity]).toHaveLength(432_000);
    },
    getMaxRetransmitSlot: async (s) =>
      expect(await s.rpc.getMaxRetransmitSlot().send()).toBeGreaterThanOrEqual(slot(s)),
    getMaxShredInsertSlot: async (s) =>
      expect(await s.rpc.getMaxShredInsertSlot().send()).toBeGreaterThanOrEqual(slot(s)),
    getMinimumBalanceForRentExemption: async ({ rpc }) =>
      expect(await rpc.getMinimumBalanceForRentExemption(0n).send()).toBe(890_880n),
    getMultipleAccounts: async ({ rpc, usdc }) =>
      expect((await rpc.getMultipleAccounts([usdc]).send()).value[0]?.space).toBe(82n),
    getProgramAccounts: async ({ rpc }) =>
      expect(
        await rpc.getProgramAccounts(TOKENS, { encoding: 'base64', filters: [{ dataSize: 165n }] }).send(),
      ).not.toHaveLength(0),
    getRecentPerformanceSamples: async ({ rpc }) =>
      expect((await rpc.getRecentPerformanceSamples(1).send())[0]?.samplePeriodSecs).toBeGreaterThan(0),
    getRecentPrioritizationFees: async ({ rpc, signer }) =>
      expect(await rpc.getRecentPrioritizationFees([signer.address]).send()).not.toHaveLength(0),
    getSignatureStatuses: async (s) =>
      expect((await s.rpc.getSignatureStatuses([signature(s)]).send()).value[0]?.slot).toBe(slot(s)),
    getSignaturesForAddress: async (s) =>
      expect(await s.rpc.getSignaturesForAddress(s.signer.address, { limit: 1 }).send()).toHaveLength(1),
    getSlot: async (s) => expect(await s.rpc.getSlot().send()).toBeGreaterThanOrEqual(slot(s)),
    getSlotLeader: async ({ rpc }) => expect(await rpc.getSlotLeader().send()).toMatch(/^\w+$/),
    getSlotLeaders: async ({ rpc }) => expect(await rpc.getSlotLeaders(0n, 2).send()).toHaveLength(2),
    getStakeMinimumDelegation: async ({ rpc }) =>
      expect((await rpc.getStakeMinimumDelegation().send()).value).toBe(1_000_000_000n),
    getSupply: async ({ rpc }) =>
      expect((await rpc.getSupply({ excludeNonCirculatingAccountsList: true }).send()).value.nonCirculating).toBe(0n),
    getTokenAccountBalance: async ({ rpc, usdcAccount }) =>
      expect((await rpc.getTokenAccountBalance(usdcAccount).send()).value.decimals).toBe(6),
    getTokenAccountsByDelegate: async ({ rpc, signer }) =>
      expect(
        (await rpc.getTokenAccountsByDelegate(signer.address, { programId: TOKENS }, { encoding: 'base64' }).send())
          .value,
      ).toEqual([]),
    getTokenAccountsByOwner: async ({ rpc, signer, usdc }) =>
      expect(
        (await rpc.getTokenAccountsByOwner(signer.address, { mint: usdc }, { encoding: 'jsonParsed' }).send()).value,
      ).toHaveLength(1),
    getTokenLargestAccounts: async ({ rpc, usdc }) =>
      expect((await rpc.getTokenLargestAccounts(usdc).send()).value).not.toHaveLength(0),
    getTokenSupply: async ({ rpc, usdc }) => expect((await rpc.getTokenSupply(usdc).send()).value.decimals).toBe(6),
    getTransaction: async (s) =>
      expect((await s.rpc.getTransaction(signature(s), { encoding: 'json' }).send())?.slot).toBe(slot(s)),
    getTransactionCount: async ({ rpc }) => expect(await rpc.getTransactionCount().send()).toBeGreaterThan(1n),
    getVersion: async ({ rpc }) => expect(await rpc.getVersion().send()).toHaveProperty('solana-core'),
    getVoteAccounts: async ({ rpc }) =>
      expect(await rpc.getVoteAccounts().send()).toEqual({ current: [], delinquent: [] }),
    isBlockhashValid: async ({ rpc }) => {
      const { value } = await rpc.getLatestBlockhash().send();
      expect((await rpc.isBlockhashValid(value.blockhash).send()).value).toBe(true);
    },
    minimumLedgerSlot: async ({ rpc }) => expect(await rpc.minimumLedgerSlot().send()).toBe(0n),
    requestAirdrop: async ({ rpc, signer }) =>
      expect(await rpc.requestAirdrop(signer.address, 1_000_000n as never).send()).toMatch(/^\w+$/),
    sendTransaction: async (s) => {
      const { wire } = await signedBy(s, await messageOf(s, []));
      expect(await s.rpc.sendTransaction(wire, { encoding: 'base64' }).send()).toMatch(/^\w+$/);
    },
    simulateTransaction: async (s) => {
      const { wire } = await wireOf(s, toAlice(s));
      expect((await s.rpc.simulateTransaction(wire, { encoding: 'base64' }).send()).value.err).toBeNull();
    },
  }),
  {
    client: 'kit',
    name: 'getTransactionsForAddress',
    refused: 'an addition of some providers, which no young validator has (-32601): getSignaturesForAddress',
    run: async ({ rpc, signer }) => rpc.getTransactionsForAddress(signer.address, {}).send(),
  },
];
