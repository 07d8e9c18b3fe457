import {
  type Address,
  assertIsSendableTransaction,
  assertIsTransactionWithBlockhashLifetime,
  generateKeyPairSigner,
  type Instruction,
  type KeyPairSigner,
  sendAndConfirmTransactionFactory,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system';
import {
  AuthorityType,
  fetchMint,
  fetchToken,
  findAssociatedTokenPda,
  getApproveInstruction,
  getBurnInstruction,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getCreateAssociatedTokenInstruction,
  getFreezeAccountInstruction,
  getInitializeMint2Instruction,
  getMintSize,
  getMintToCheckedInstruction,
  getMintToInstruction,
  getRevokeInstruction,
  getSetAuthorityInstruction,
  getSyncNativeInstruction,
  getThawAccountInstruction,
  getTransferCheckedInstruction,
  getTransferInstruction,
} from '@solana-program/token';
import { expect } from 'vitest';
import { messageOf } from './kit-transactions.ts';
import { calls, type Scene } from './scene.ts';

const TOKENS = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;
const TOKEN_2022 = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' as Address;
const WRAPPED_SOL = 'So11111111111111111111111111111111111111112' as Address;

async function land(scene: Scene, ...instructions: Instruction[]): Promise<void> {
  const transaction = await signTransactionMessageWithSigners(await messageOf(scene, instructions));
  assertIsSendableTransaction(transaction);
  assertIsTransactionWithBlockhashLifetime(transaction);
  const { rpc, subscriptions: rpcSubscriptions } = scene;
  await sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions })(transaction, { commitment: 'confirmed' });
}

/** A token of alice's own, by the rules of either token program, and an account of hers with a thousand of it. */
async function issued(scene: Scene, tokenProgram = TOKENS) {
  const { signer, rpc } = scene;
  const mint: KeyPairSigner = await generateKeyPairSigner();
  const at = { programAddress: tokenProgram };
  const space = BigInt(getMintSize());
  const [account] = await findAssociatedTokenPda({ owner: signer.address, mint: mint.address, tokenProgram });
  await land(
    scene,
    getCreateAccountInstruction({
      ...{ payer: signer, newAccount: mint, space, programAddress: tokenProgram },
      lamports: await rpc.getMinimumBalanceForRentExemption(space).send(),
    }),
    getInitializeMint2Instruction(
      { mint: mint.address, decimals: 2, mintAuthority: signer.address, freezeAuthority: signer.address },
      at,
    ),
    getCreateAssociatedTokenInstruction({
      ...{ payer: signer, owner: signer.address, mint: mint.address, ata: account, tokenProgram },
    }),
    getMintToInstruction({ mint: mint.address, token: account, mintAuthority: signer, amount: 1_000n }, at),
  );
  return { mint: mint.address, account, at };
}

async function other(scene: Scene, mint: Address, tokenProgram = TOKENS) {
  const owner = await generateKeyPairSigner();
  const [account] = await findAssociatedTokenPda({ owner: owner.address, mint, tokenProgram });
  const create = getCreateAssociatedTokenIdempotentInstruction({
    ...{ payer: scene.signer, owner: owner.address, mint, ata: account, tokenProgram },
  });
  return { owner, account, create };
}

const amountOf = async ({ rpc }: Scene, account: Address) =>
  (await rpc.getTokenAccountBalance(account).send()).value.amount;

/** What spl-token's helpers do, by the token client of kit: @solana/spl-token is not among our packages. */
export const tokenClient = calls('token client', {
  'createMint, createAssociatedTokenAccount, mintTo': async (s) => {
    const { mint, account } = await issued(s);
    expect((await fetchMint(s.rpc, mint)).data).toMatchObject({ supply: 1_000n, decimals: 2 });
    expect((await fetchToken(s.rpc, account)).data.amount).toBe(1_000n);
  },
  'getOrCreateAssociatedTokenAccount, transfer': async (s) => {
    const { mint, account } = await issued(s);
    const { account: destination, create } = await other(s, mint);
    await land(s, create, getTransferInstruction({ source: account, destination, authority: s.signer, amount: 7n }));
    expect([await amountOf(s, account), await amountOf(s, destination)]).toEqual(['993', '7']);
  },
  'transferChecked, mintToChecked': async (s) => {
    const { mint, account } = await issued(s);
    const { account: destination, create } = await other(s, mint);
    await land(
      s,
      create,
      getMintToCheckedInstruction({ mint, token: account, mintAuthority: s.signer, amount: 5n, decimals: 2 }),
      getTransferCheckedInstruction({
        source: account,
        mint,
        destination,
        authority: s.signer,
        amount: 5n,
        decimals: 2,
      }),
    );
    expect(await amountOf(s, destination)).toBe('5');
  },
  'approve, getTokenAccountsByDelegate, revoke': async (s) => {
    const { account } = await issued(s);
    const { address: delegate } = await generateKeyPairSigner();
    const delegated = async () =>
      (await s.rpc.getTokenAccountsByDelegate(delegate, { programId: TOKENS }, { encoding: 'base64' }).send()).value;
    await land(s, getApproveInstruction({ source: account, delegate, owner: s.signer, amount: 3n }));
    expect(await delegated()).toMatchObject([{ pubkey: account }]);
    await land(s, getRevokeInstruction({ source: account, owner: s.signer }));
    expect(await delegated()).toEqual([]);
  },
  'burn, closeAccount': async (s) => {
    const { mint, account } = await issued(s);
    await land(
      s,
      getBurnInstruction({ account, mint, authority: s.signer, amount: 1_000n }),
      getCloseAccountInstruction({ account, destination: s.signer.address, owner: s.signer }),
    );
    expect((await s.rpc.getAccountInfo(account, { encoding: 'base64' }).send()).value).toBeNull();
  },
  'freezeAccount, thawAccount, setAuthority': async (s) => {
    const { mint, account } = await issued(s);
    const owner = s.signer;
    await land(s, getFreezeAccountInstruction({ account, mint, owner }));
    const frozen = land(
      s,
      getTransferInstruction({ source: account, destination: account, authority: owner, amount: 1n }),
    );
    await expect(frozen).rejects.toThrow();
    await land(
      s,
      getThawAccountInstruction({ account, mint, owner }),
      getSetAuthorityInstruction({
        owned: mint,
        owner,
        authorityType: AuthorityType.FreezeAccount,
        newAuthority: null,
      }),
    );
    expect((await fetchMint(s.rpc, mint)).data.freezeAuthority).toEqual({ __option: 'None' });
  },
  'createWrappedNativeAccount, syncNative': async (s) => {
    const { account, create } = await other(s, WRAPPED_SOL);
    await land(
      s,
      create,
      getTransferSolInstruction({ source: s.signer, destination: account, amount: 5_000n }),
      getSyncNativeInstruction({ account }),
    );
    expect(await amountOf(s, account)).toBe('5000');
  },
  'Token-2022: a mint, an account, a transfer': async (s) => {
    const { mint, account, at } = await issued(s, TOKEN_2022);
    const { account: destination, owner, create } = await other(s, mint, TOKEN_2022);
    await land(
      s,
      create,
      getTransferCheckedInstruction(
        { source: account, mint, destination, authority: s.signer, amount: 4n, decimals: 2 },
        at,
      ),
    );
    expect(await amountOf(s, destination)).toBe('4');
    const owned = await s.rpc
      .getTokenAccountsByOwner(owner.address, { programId: TOKEN_2022 }, { encoding: 'jsonParsed' })
      .send();
    expect(owned.value).toMatchObject([
      {
        pubkey: destination,
        account: {
          data: { program: 'spl-token-2022', parsed: { info: { extensions: [{ extension: 'immutableOwner' }] } } },
        },
      },
    ]);
    expect((await s.rpc.getTokenLargestAccounts(mint).send()).value).toHaveLength(2);
  },
});
