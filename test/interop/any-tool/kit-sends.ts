import {
  type Address,
  airdropFactory,
  appendTransactionMessageInstructions,
  assertIsSendableTransaction,
  assertIsTransactionWithBlockhashLifetime,
  assertIsTransactionWithDurableNonceLifetime,
  createTransactionMessage,
  estimateResourceLimitsFactory,
  fetchAddressesForLookupTables,
  fetchEncodedAccount,
  fetchEncodedAccounts,
  fetchJsonParsedAccount,
  generateKeyPairSigner,
  lamports,
  type Nonce,
  pipe,
  sendAndConfirmDurableNonceTransactionFactory,
  sendAndConfirmTransactionFactory,
  sendTransactionWithoutConfirmingFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingDurableNonce,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { AddressLookupTableProgram, PublicKey, sendAndConfirmTransaction, Transaction } from '@solana/web3.js';
import {
  fetchNonce,
  getCreateAccountInstruction,
  getInitializeNonceAccountInstruction,
  getNonceSize,
  getTransferSolInstruction,
  SYSTEM_PROGRAM_ADDRESS,
} from '@solana-program/system';
import { expect } from 'vitest';
import { messageOf, wireOf } from './kit-transactions.ts';
import { type Call, calls, type Scene } from './scene.ts';

const SOL = lamports(1_000_000_000n);

async function transfer(scene: Scene, amount = 1_000_000n) {
  const { address } = await generateKeyPairSigner();
  return getTransferSolInstruction({ source: scene.signer, destination: address, amount });
}

const sendAndConfirm =
  (commitment: 'processed' | 'confirmed' | 'finalized') =>
  async (scene: Scene): Promise<void> => {
    const { transaction } = await wireOf(scene, await transfer(scene));
    assertIsSendableTransaction(transaction);
    assertIsTransactionWithBlockhashLifetime(transaction);
    const { rpc, subscriptions } = scene;
    await sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions: subscriptions })(transaction, { commitment });
  };

/** The first notification, while `cause` makes it happen. */
async function first<T>(
  request: { subscribe(options: { abortSignal: AbortSignal }): Promise<AsyncIterable<T>> },
  cause: () => Promise<unknown> = async () => undefined,
): Promise<T> {
  const stop = new AbortController();
  const notifications = (await request.subscribe({ abortSignal: stop.signal }))[Symbol.asyncIterator]();
  const next = notifications.next();
  await cause();
  const { value } = await next;
  stop.abort();
  return value as T;
}

const aDrop = (scene: Scene, to: Address) => () => scene.rpc.requestAirdrop(to, SOL).send();

async function nonceOf(scene: Scene): Promise<{ account: Address; nonce: Nonce }> {
  const nonceAccount = await generateKeyPairSigner();
  const { signer, rpc } = scene;
  const space = BigInt(getNonceSize());
  const message = await messageOf(scene, [
    getCreateAccountInstruction({
      ...{ payer: signer, newAccount: nonceAccount, space, programAddress: SYSTEM_PROGRAM_ADDRESS },
      lamports: await rpc.getMinimumBalanceForRentExemption(space).send(),
    }),
    getInitializeNonceAccountInstruction({ nonceAccount: nonceAccount.address, nonceAuthority: signer.address }),
  ]);
  const created = await signTransactionMessageWithSigners(message);
  assertIsSendableTransaction(created);
  assertIsTransactionWithBlockhashLifetime(created);
  const given = { rpc, rpcSubscriptions: scene.subscriptions };
  await sendAndConfirmTransactionFactory(given)(created, { commitment: 'confirmed' });
  const { data } = await fetchNonce(rpc, nonceAccount.address);
  return { account: nonceAccount.address, nonce: data.blockhash as string as Nonce };
}

export const kitSends = calls('kit', {
  airdropFactory: async (s) => {
    const { address } = await generateKeyPairSigner();
    const airdrop = airdropFactory({ rpc: s.rpc, rpcSubscriptions: s.subscriptions });
    await airdrop({ recipientAddress: address, lamports: SOL, commitment: 'confirmed' });
    expect((await s.rpc.getBalance(address).send()).value).toBe(SOL);
  },
  'sendAndConfirmTransactionFactory at processed': sendAndConfirm('processed'),
  'sendAndConfirmTransactionFactory at confirmed': sendAndConfirm('confirmed'),
  'sendAndConfirmTransactionFactory at finalized': sendAndConfirm('finalized'),
  sendTransactionWithoutConfirmingFactory: async (s) => {
    const { transaction, signature } = await wireOf(s, await transfer(s));
    assertIsSendableTransaction(transaction);
    await sendTransactionWithoutConfirmingFactory({ rpc: s.rpc })(transaction, { commitment: 'confirmed' });
    expect((await s.rpc.getSignatureStatuses([signature]).send()).value[0]?.err).toBeNull();
  },
  sendAndConfirmDurableNonceTransactionFactory: async (s) => {
    const { account, nonce } = await nonceOf(s);
    const before = await s.rpc.getSlot().send();
    await expect.poll(() => s.rpc.getSlot().send()).toBeGreaterThan(before);
    const instruction = await transfer(s);
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (m) => setTransactionMessageFeePayerSigner(s.signer, m),
      (m) =>
        setTransactionMessageLifetimeUsingDurableNonce(
          { nonce, nonceAccountAddress: account, nonceAuthorityAddress: s.signer.address },
          m,
        ),
      (m) => appendTransactionMessageInstructions([instruction], m),
    );
    const transaction = await signTransactionMessageWithSigners(message);
    assertIsSendableTransaction(transaction);
    assertIsTransactionWithDurableNonceLifetime(transaction);
    const given = { rpc: s.rpc, rpcSubscriptions: s.subscriptions };
    await sendAndConfirmDurableNonceTransactionFactory(given)(transaction, { commitment: 'confirmed' });
    expect((await fetchNonce(s.rpc, account)).data.blockhash).not.toBe(nonce);
  },
  estimateResourceLimitsFactory: async (s) => {
    const message = await messageOf(s, [await transfer(s)]);
    const { computeUnitLimit } = await estimateResourceLimitsFactory({ rpc: s.rpc })(message);
    expect(computeUnitLimit).toBeGreaterThan(100);
  },
  fetchEncodedAccount: async (s) => expect((await fetchEncodedAccount(s.rpc, s.usdc)).exists).toBe(true),
  fetchEncodedAccounts: async (s) => expect(await fetchEncodedAccounts(s.rpc, [s.usdc, s.usdcAccount])).toHaveLength(2),
  fetchJsonParsedAccount: async (s) =>
    expect(await fetchJsonParsedAccount(s.rpc, s.usdc)).toMatchObject({ data: { decimals: 6 } }),
  fetchAddressesForLookupTables: async (s) => {
    const who = { authority: s.alice.publicKey, payer: s.alice.publicKey };
    const before = await s.web3.getSlot();
    await expect.poll(() => s.web3.getSlot()).toBeGreaterThan(before);
    const [create, lookupTable] = AddressLookupTableProgram.createLookupTable({ ...who, recentSlot: before });
    const extend = AddressLookupTableProgram.extendLookupTable({
      ...who,
      lookupTable,
      addresses: [new PublicKey(s.usdc)],
    });
    await sendAndConfirmTransaction(s.web3, new Transaction().add(create, extend), [s.alice]);
    const table = lookupTable.toBase58() as Address;
    expect(await fetchAddressesForLookupTables([table], s.rpc)).toEqual({ [table]: [s.usdc] });
  },
});

export const kitHears: Call[] = [
  ...calls('kit', {
    accountNotifications: async (s) => {
      const { address } = await generateKeyPairSigner();
      const request = s.subscriptions.accountNotifications(address, { commitment: 'confirmed', encoding: 'base64' });
      expect((await first(request, aDrop(s, address))).value.lamports).toBe(SOL);
    },
    programNotifications: async (s) => {
      const { address } = await generateKeyPairSigner();
      const request = s.subscriptions.programNotifications(SYSTEM_PROGRAM_ADDRESS, { encoding: 'base64' });
      expect((await first(request, aDrop(s, address))).value.account.owner).toBe(SYSTEM_PROGRAM_ADDRESS);
    },
    logsNotifications: async (s) => {
      const { address } = await generateKeyPairSigner();
      const request = s.subscriptions.logsNotifications({ mentions: [address] });
      expect((await first(request, aDrop(s, address))).value.err).toBeNull();
    },
    signatureNotifications: async (s) => {
      const { wire, signature } = await wireOf(s, await transfer(s));
      const request = s.subscriptions.signatureNotifications(signature);
      const told = await first(request, () => s.rpc.sendTransaction(wire, { encoding: 'base64' }).send());
      expect(told.value).toEqual({ err: null });
    },
    slotNotifications: async (s) => {
      const { slot, root } = await first(s.subscriptions.slotNotifications());
      expect(slot).toBe(root + 1n);
    },
    rootNotifications: async (s) => expect(await first(s.subscriptions.rootNotifications())).toBeGreaterThan(0n),
    slotsUpdatesNotifications: async (s) =>
      expect((await first(s.subscriptions.slotsUpdatesNotifications())).slot).toBeGreaterThan(0n),
  }),
  {
    client: 'kit',
    name: 'blockNotifications',
    refused: 'unstable, and off on most validators (-32601): slotNotifications, and getBlock',
    run: async (s) => first(s.subscriptions.blockNotifications('all')),
  },
  {
    client: 'kit',
    name: 'voteNotifications',
    refused: 'unstable, and there are no votes here (-32601)',
    run: async (s) => first(s.subscriptions.voteNotifications()),
  },
];
