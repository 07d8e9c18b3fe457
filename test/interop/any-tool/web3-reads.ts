import { Keypair, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import { expect } from 'vitest';
import { calls, type Scene, transferOf } from './scene.ts';

const TOKENS = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const usdc = ({ usdc: mint }: Scene) => new PublicKey(mint);
const held = ({ usdcAccount }: Scene) => new PublicKey(usdcAccount);
const v0 = { maxSupportedTransactionVersion: 0 } as const;

/** What web3.js reads: every method of `Connection` that a wallet or a dApp calls. */
export const web3Reads = calls('web3.js', {
  getAccountInfo: async (s) => expect(await s.web3.getAccountInfo(usdc(s))).toHaveProperty('lamports'),
  getAccountInfoAndContext: async (s) =>
    expect((await s.web3.getAccountInfoAndContext(usdc(s))).context.slot).toBeGreaterThanOrEqual(s.slot),
  getBalance: async (s) => expect(await s.web3.getBalance(s.alice.publicKey)).toBeGreaterThan(0),
  getBalanceAndContext: async (s) =>
    expect((await s.web3.getBalanceAndContext(s.alice.publicKey)).value).toBeGreaterThan(0),
  getBlock: async (s) => {
    const block = await s.web3.getBlock(s.slot);
    expect(block?.transactions.map(({ transaction }) => transaction.signatures[0])).toEqual([s.signature]);
    expect(block).toMatchObject({ parentSlot: s.slot - 1, rewards: [] });
  },
  getBlockHeight: async (s) => expect(await s.web3.getBlockHeight()).toBeGreaterThanOrEqual(s.slot),
  getBlockProduction: async (s) =>
    expect(Object.keys((await s.web3.getBlockProduction()).value.byIdentity)).toHaveLength(1),
  getBlockSignatures: async (s) => expect((await s.web3.getBlockSignatures(s.slot)).signatures).toEqual([s.signature]),
  getBlockTime: async (s) => expect(await s.web3.getBlockTime(s.slot)).toBeGreaterThan(0),
  getBlocks: async (s) => expect(await s.web3.getBlocks(s.slot, s.slot)).toEqual([s.slot]),
  getClusterNodes: async (s) => expect(await s.web3.getClusterNodes()).toHaveLength(1),
  getEpochInfo: async (s) => expect((await s.web3.getEpochInfo()).slotsInEpoch).toBe(432_000),
  getEpochSchedule: async (s) => expect((await s.web3.getEpochSchedule()).getFirstSlotInEpoch(1)).toBe(432_000),
  getFeeForMessage: async (s) => {
    const { blockhash } = await s.web3.getLatestBlockhash();
    const transfer = transferOf(s.alice);
    transfer.recentBlockhash = blockhash;
    transfer.feePayer = s.alice.publicKey;
    expect((await s.web3.getFeeForMessage(transfer.compileMessage())).value).toBe(5000);
  },
  getFirstAvailableBlock: async (s) => expect(await s.web3.getFirstAvailableBlock()).toBe(0),
  getGenesisHash: async (s) => expect(await s.web3.getGenesisHash()).toMatch(/^EtWTRABZaYq6/),
  getInflationGovernor: async (s) => expect((await s.web3.getInflationGovernor()).initial).toBe(0),
  getInflationRate: async (s) => expect((await s.web3.getInflationRate()).total).toBe(0),
  getInflationReward: async (s) => expect(await s.web3.getInflationReward([s.alice.publicKey])).toEqual([null]),
  getLargestAccounts: async (s) => expect((await s.web3.getLargestAccounts()).value).toHaveLength(20),
  getLatestBlockhash: async (s) => expect((await s.web3.getLatestBlockhash()).blockhash).toMatch(/^\w{32,44}$/),
  getLatestBlockhashAndContext: async (s) =>
    expect((await s.web3.getLatestBlockhashAndContext()).context.slot).toBeGreaterThanOrEqual(s.slot),
  getLeaderSchedule: async (s) => expect(Object.keys(await s.web3.getLeaderSchedule())).toHaveLength(1),
  getMinimumBalanceForRentExemption: async (s) =>
    expect(await s.web3.getMinimumBalanceForRentExemption(165)).toBe(2_039_280),
  getMinimumLedgerSlot: async (s) => expect(await s.web3.getMinimumLedgerSlot()).toBe(0),
  getMultipleAccountsInfo: async (s) =>
    expect(await s.web3.getMultipleAccountsInfo([usdc(s), Keypair.generate().publicKey])).toMatchObject([
      { executable: false },
      null,
    ]),
  getMultipleAccountsInfoAndContext: async (s) =>
    expect((await s.web3.getMultipleAccountsInfoAndContext([usdc(s)])).value).toHaveLength(1),
  getMultipleParsedAccounts: async (s) =>
    expect((await s.web3.getMultipleParsedAccounts([usdc(s)])).value[0]?.data).toMatchObject({
      parsed: { type: 'mint' },
    }),
  getParsedAccountInfo: async (s) =>
    expect((await s.web3.getParsedAccountInfo(held(s))).value?.data).toMatchObject({ parsed: { type: 'account' } }),
  getParsedBlock: async (s) =>
    expect((await s.web3.getParsedBlock(s.slot)).transactions[0]?.transaction).toMatchObject({
      message: { instructions: [{ program: 'system', parsed: { type: 'transfer' } }] },
    }),
  getParsedProgramAccounts: async (s) => {
    const filters = [{ dataSize: 165 }, { memcmp: { offset: 32, bytes: s.alice.publicKey.toBase58() } }];
    expect(await s.web3.getParsedProgramAccounts(TOKENS, { filters })).toHaveLength(1);
  },
  getParsedTokenAccountsByOwner: async (s) =>
    expect((await s.web3.getParsedTokenAccountsByOwner(s.alice.publicKey, { mint: usdc(s) })).value).toHaveLength(1),
  getParsedTransaction: async (s) => expect((await s.web3.getParsedTransaction(s.signature, v0))?.slot).toBe(s.slot),
  getParsedTransactions: async (s) =>
    expect(await s.web3.getParsedTransactions([s.signature], v0)).toMatchObject([{ slot: s.slot }]),
  getProgramAccounts: async (s) =>
    expect(await s.web3.getProgramAccounts(TOKENS, { filters: [{ dataSize: 165 }] })).not.toHaveLength(0),
  getRecentPerformanceSamples: async (s) => {
    const [first] = await s.web3.getRecentPerformanceSamples(2);
    expect(first?.numSlots).toBeGreaterThan(0);
    expect(first?.numTransactions).toBeGreaterThan(0);
  },
  getRecentPrioritizationFees: async (s) => expect(await s.web3.getRecentPrioritizationFees()).not.toHaveLength(0),
  getSignatureStatus: async (s) =>
    expect((await s.web3.getSignatureStatus(s.signature)).value).toMatchObject({
      slot: s.slot,
      confirmationStatus: 'finalized',
    }),
  getSignatureStatuses: async (s) =>
    expect((await s.web3.getSignatureStatuses([s.signature])).value).toMatchObject([{ err: null }]),
  getSignaturesForAddress: async (s) =>
    expect(await s.web3.getSignaturesForAddress(s.alice.publicKey, { limit: 1000 })).toContainEqual(
      expect.objectContaining({ signature: s.signature }),
    ),
  getSlot: async (s) => expect(await s.web3.getSlot()).toBeGreaterThanOrEqual(s.slot),
  getSlotLeader: async (s) => expect(await s.web3.getSlotLeader()).toMatch(/^\w{32,44}$/),
  getSlotLeaders: async (s) => expect(await s.web3.getSlotLeaders(0, 3)).toHaveLength(3),
  getStakeMinimumDelegation: async (s) => expect((await s.web3.getStakeMinimumDelegation()).value).toBe(1_000_000_000),
  getSupply: async (s) => {
    const { total, circulating } = (await s.web3.getSupply()).value;
    expect([total > 0, circulating === total]).toEqual([true, true]);
  },
  getTokenAccountBalance: async (s) => expect((await s.web3.getTokenAccountBalance(held(s))).value.decimals).toBe(6),
  getTokenAccountsByOwner: async (s) =>
    expect((await s.web3.getTokenAccountsByOwner(s.alice.publicKey, { programId: TOKENS })).value).not.toHaveLength(0),
  getTokenLargestAccounts: async (s) =>
    expect((await s.web3.getTokenLargestAccounts(usdc(s))).value).not.toHaveLength(0),
  getTokenSupply: async (s) => expect((await s.web3.getTokenSupply(usdc(s))).value.decimals).toBe(6),
  getTransaction: async (s) => expect((await s.web3.getTransaction(s.signature, v0))?.slot).toBe(s.slot),
  getTransactionCount: async (s) => expect(await s.web3.getTransactionCount()).toBeGreaterThan(1),
  getTransactions: async (s) =>
    expect(await s.web3.getTransactions([s.signature], v0)).toMatchObject([{ slot: s.slot }]),
  getVersion: async (s) => expect(await s.web3.getVersion()).toHaveProperty('solana-core'),
  getVoteAccounts: async (s) => expect(await s.web3.getVoteAccounts()).toEqual({ current: [], delinquent: [] }),
  isBlockhashValid: async (s) => {
    const { blockhash } = await s.web3.getLatestBlockhash();
    expect((await s.web3.isBlockhashValid(blockhash)).value).toBe(true);
  },
  simulateTransaction: async (s) => {
    const { blockhash } = await s.web3.getLatestBlockhash();
    const message = new TransactionMessage({
      payerKey: s.alice.publicKey,
      recentBlockhash: blockhash,
      instructions: transferOf(s.alice).instructions,
    });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    expect((await s.web3.simulateTransaction(transaction)).value).toMatchObject({ err: null });
  },
});

/** Old names, which web3.js still has. */
export const web3Old = [
  ...calls('web3.js, deprecated', {
    getConfirmedBlock: async (s) => expect((await s.web3.getConfirmedBlock(s.slot)).transactions).toHaveLength(1),
    getConfirmedBlockSignatures: async (s) =>
      expect((await s.web3.getConfirmedBlockSignatures(s.slot)).signatures).toEqual([s.signature]),
    getConfirmedTransaction: async (s) =>
      expect((await s.web3.getConfirmedTransaction(s.signature))?.slot).toBe(s.slot),
    getParsedConfirmedTransaction: async (s) =>
      expect((await s.web3.getParsedConfirmedTransaction(s.signature))?.slot).toBe(s.slot),
    getParsedConfirmedTransactions: async (s) =>
      expect(await s.web3.getParsedConfirmedTransactions([s.signature])).toHaveLength(1),
    getRecentBlockhash: async (s) => expect((await s.web3.getRecentBlockhash()).blockhash).toMatch(/^\w+$/),
    getTotalSupply: async (s) => expect(await s.web3.getTotalSupply()).toBeGreaterThan(0),
  }),
  {
    client: 'web3.js, deprecated',
    name: 'getConfirmedSignaturesForAddress2',
    refused: 'validators no longer have the method (-32601): getSignaturesForAddress',
    run: async (s: Scene) => s.web3.getConfirmedSignaturesForAddress2(s.alice.publicKey),
  },
  {
    client: 'web3.js, deprecated',
    name: 'getFeeCalculatorForBlockhash',
    refused: 'validators no longer have the method (-32601): getFeeForMessage',
    run: async (s: Scene) => s.web3.getFeeCalculatorForBlockhash((await s.web3.getLatestBlockhash()).blockhash),
  },
];
