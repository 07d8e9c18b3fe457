import {
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Keypair,
  LAMPORTS_PER_SOL,
  NONCE_ACCOUNT_LENGTH,
  type NonceAccount,
  type PublicKey,
  StakeProgram,
  SYSVAR_CLOCK_PUBKEY,
  SYSVAR_EPOCH_SCHEDULE_PUBKEY,
  SYSVAR_RECENT_BLOCKHASHES_PUBKEY,
  SYSVAR_RENT_PUBKEY,
  SYSVAR_SLOT_HASHES_PUBKEY,
  SYSVAR_STAKE_HISTORY_PUBKEY,
  SystemProgram,
  sendAndConfirmRawTransaction,
  sendAndConfirmTransaction,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { expect } from 'vitest';
import { calls, type Scene, transferOf } from './scene.ts';

export async function signedTransfer({ web3, alice }: Scene) {
  const latest = await web3.getLatestBlockhash();
  const transfer = transferOf(alice);
  transfer.feePayer = alice.publicKey;
  transfer.recentBlockhash = latest.blockhash;
  transfer.lastValidBlockHeight = latest.lastValidBlockHeight;
  transfer.sign(alice);
  return { transfer, latest, wire: transfer.serialize() };
}

const nextSlot = async ({ web3 }: Scene) => {
  const slot = await web3.getSlot();
  while ((await web3.getSlot()) <= slot) await new Promise((wake) => setTimeout(wake, 40));
};

async function nonceOf(scene: Scene, account: PublicKey): Promise<NonceAccount> {
  const nonce = await scene.web3.getNonce(account);
  if (!nonce) throw new Error('no nonce');
  return nonce;
}

async function createNonce(scene: Scene): Promise<Keypair> {
  const { web3, alice } = scene;
  const nonce = Keypair.generate();
  const create = SystemProgram.createNonceAccount({
    fromPubkey: alice.publicKey,
    noncePubkey: nonce.publicKey,
    authorizedPubkey: alice.publicKey,
    lamports: await web3.getMinimumBalanceForRentExemption(NONCE_ACCOUNT_LENGTH),
  });
  await sendAndConfirmTransaction(web3, create, [alice, nonce]);
  return nonce;
}

async function createTable(scene: Scene, addresses: PublicKey[]): Promise<PublicKey> {
  const { web3, alice } = scene;
  const who = { authority: alice.publicKey, payer: alice.publicKey };
  await nextSlot(scene);
  const [create, lookupTable] = AddressLookupTableProgram.createLookupTable({
    ...who,
    recentSlot: (await web3.getSlot()) - 1,
  });
  const extend = AddressLookupTableProgram.extendLookupTable({ ...who, lookupTable, addresses });
  await sendAndConfirmTransaction(web3, new Transaction().add(create, extend), [alice]);
  await nextSlot(scene);
  return lookupTable;
}

/** What web3.js sends, confirms, and is told of: over a WebSocket on the port after. */
export const web3Sends = calls('web3.js', {
  sendTransaction: async (s) => expect(await s.web3.sendTransaction(transferOf(s.alice), [s.alice])).toMatch(/^\w+$/),
  sendRawTransaction: async (s) =>
    expect(await s.web3.sendRawTransaction((await signedTransfer(s)).wire)).toMatch(/^\w+$/),
  sendEncodedTransaction: async (s) =>
    expect(await s.web3.sendEncodedTransaction((await signedTransfer(s)).wire.toString('base64'))).toMatch(/^\w+$/),
  requestAirdrop: async (s) =>
    expect(await s.web3.requestAirdrop(s.alice.publicKey, LAMPORTS_PER_SOL)).toMatch(/^\w+$/),
  confirmTransaction: async (s) => {
    const { wire, latest } = await signedTransfer(s);
    const signature = await s.web3.sendRawTransaction(wire);
    expect((await s.web3.confirmTransaction({ signature, ...latest })).value).toMatchObject({ err: null });
  },
  'confirmTransaction, of a signature alone': async (s) =>
    expect((await s.web3.confirmTransaction(s.signature)).value).toMatchObject({ err: null }),
  'sendAndConfirmTransaction at processed': async (s) =>
    sendAndConfirmTransaction(s.web3, transferOf(s.alice), [s.alice], { commitment: 'processed' }),
  'sendAndConfirmTransaction at confirmed': async (s) =>
    sendAndConfirmTransaction(s.web3, transferOf(s.alice), [s.alice], { commitment: 'confirmed' }),
  'sendAndConfirmTransaction at finalized': async (s) =>
    sendAndConfirmTransaction(s.web3, transferOf(s.alice), [s.alice], { commitment: 'finalized' }),
  'sendAndConfirmTransaction, of one that fails': async (s) => {
    const much = transferOf(s.alice, 900 * LAMPORTS_PER_SOL);
    const failed = sendAndConfirmTransaction(s.web3, much, [s.alice], { skipPreflight: true });
    // web3.js throws what it is told: as an error, or as it is.
    const told = await failed.catch((error: unknown) => error);
    expect(told instanceof Error ? told.message : JSON.stringify(told)).toContain('"Custom":1');
  },
  sendAndConfirmRawTransaction: async (s) => {
    const { wire, latest } = await signedTransfer(s);
    const signature = await s.web3.sendRawTransaction(wire);
    // What has landed is sent once more: a preflight would refuse it.
    await sendAndConfirmRawTransaction(s.web3, wire, { signature, ...latest }, { skipPreflight: true });
  },
  'a compute budget and a priority fee': async (s) => {
    const transfer = new Transaction().add(
      ComputeBudgetProgram.setComputeUnitLimit({ units: 10_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1_000_000 }),
      ...transferOf(s.alice).instructions,
    );
    const signature = await sendAndConfirmTransaction(s.web3, transfer, [s.alice]);
    const landed = await s.web3.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(landed?.meta?.fee).toBe(15_000);
  },
  'getNonce, getNonceAndContext': async (s) => {
    const nonce = await createNonce(s);
    expect((await nonceOf(s, nonce.publicKey)).authorizedPubkey.equals(s.alice.publicKey)).toBe(true);
    expect((await s.web3.getNonceAndContext(nonce.publicKey)).value?.nonce).toMatch(/^\w+$/);
  },
  'a transaction that lives by a durable nonce': async (s) => {
    const nonce = await createNonce(s);
    await nextSlot(s);
    const { nonce: value } = await nonceOf(s, nonce.publicKey);
    const transfer = transferOf(s.alice);
    const nonceInstruction = SystemProgram.nonceAdvance({
      noncePubkey: nonce.publicKey,
      authorizedPubkey: s.alice.publicKey,
    });
    transfer.nonceInfo = { nonce: value, nonceInstruction };
    transfer.minNonceContextSlot = await s.web3.getSlot();
    const signature = await sendAndConfirmTransaction(s.web3, transfer, [s.alice]);
    expect((await s.web3.getSignatureStatus(signature)).value?.err).toBeNull();
    expect((await nonceOf(s, nonce.publicKey)).nonce).not.toBe(value);
    // The same nonce once more, after it was used.
    const again = transferOf(s.alice);
    again.feePayer = s.alice.publicKey;
    again.nonceInfo = { nonce: value, nonceInstruction };
    again.sign(s.alice);
    await expect(s.web3.sendRawTransaction(again.serialize())).rejects.toThrow('Blockhash not found');
  },
  'getAddressLookupTable, and a transaction that loads addresses from it': async (s) => {
    const to = Keypair.generate().publicKey;
    const key = await createTable(s, [to, Keypair.generate().publicKey]);
    const table = (await s.web3.getAddressLookupTable(key)).value;
    if (!table) throw new Error('no table');
    expect(table.state.addresses).toHaveLength(2);
    const { blockhash, lastValidBlockHeight } = await s.web3.getLatestBlockhash();
    const message = new TransactionMessage({
      payerKey: s.alice.publicKey,
      recentBlockhash: blockhash,
      instructions: [SystemProgram.transfer({ fromPubkey: s.alice.publicKey, toPubkey: to, lamports: 5_000_000 })],
    }).compileToV0Message([table]);
    expect(message.addressTableLookups).toHaveLength(1);
    const transaction = new VersionedTransaction(message);
    transaction.sign([s.alice]);
    expect((await s.web3.simulateTransaction(transaction)).value.err).toBeNull();
    const signature = await s.web3.sendTransaction(transaction);
    await s.web3.confirmTransaction({ signature, blockhash, lastValidBlockHeight });
    expect(await s.web3.getBalance(to)).toBe(5_000_000);
    const landed = await s.web3.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
    expect(landed?.meta?.loadedAddresses?.writable.map(String)).toEqual([to.toBase58()]);
    expect(await s.web3.getSignaturesForAddress(to)).toMatchObject([{ signature }]);
  },
  'a stake account': async (s) => {
    const stake = Keypair.generate();
    const create = StakeProgram.createAccount({
      fromPubkey: s.alice.publicKey,
      stakePubkey: stake.publicKey,
      authorized: { staker: s.alice.publicKey, withdrawer: s.alice.publicKey },
      lamports: 2 * LAMPORTS_PER_SOL,
    });
    await sendAndConfirmTransaction(s.web3, create, [s.alice, stake]);
    const withdraw = StakeProgram.withdraw({
      stakePubkey: stake.publicKey,
      authorizedPubkey: s.alice.publicKey,
      toPubkey: s.alice.publicKey,
      lamports: 2 * LAMPORTS_PER_SOL,
    });
    await sendAndConfirmTransaction(s.web3, withdraw, [s.alice]);
    expect(await s.web3.getAccountInfo(stake.publicKey)).toBeNull();
  },
  'the sysvars that programs read': async (s) => {
    const sysvars = await s.web3.getMultipleAccountsInfo([
      ...[SYSVAR_CLOCK_PUBKEY, SYSVAR_RENT_PUBKEY, SYSVAR_EPOCH_SCHEDULE_PUBKEY],
      ...[SYSVAR_SLOT_HASHES_PUBKEY, SYSVAR_RECENT_BLOCKHASHES_PUBKEY, SYSVAR_STAKE_HISTORY_PUBKEY],
    ]);
    expect(sysvars.map((one) => one?.data.length)).toEqual([40, 17, 33, 20_488, 6_008, 8]);
  },
});
