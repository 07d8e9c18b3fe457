import { createHash } from 'node:crypto';
import {
  type Address,
  address,
  appendTransactionMessageInstructions,
  compileTransaction,
  createKeyPairFromPrivateKeyBytes,
  createTransactionMessage,
  type EncodedAccount,
  getAddressFromPublicKey,
  type Instruction,
  lamports,
  pipe,
  setTransactionMessageFeePayer,
  signTransaction,
} from '@solana/kit';
import {
  AccountState,
  getMintEncoder,
  getTokenDecoder,
  getTokenEncoder,
  getTransferInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token';
import { Clock, FailedTransactionMetadata, type FeatureSet, LiteSVM } from 'litesvm';
import type { AccountReader } from '../../src/escrow/account.ts';
import { ESCROW_PROGRAM_ID } from '../../src/escrow/address.ts';
import { escrowElf } from '../../src/escrow/elf.ts';
import { associatedTokenAddress } from '../../src/solana/token.ts';

/** A cluster in memory with the escrow program, a mint and a few people: nothing of src/solana runs it. */

export const START = 1_800_000_000n;
export const DAY = 86_400n;
export const STATE_RENT = 2_784_000n;
export const AUTHORIZATION_RENT = 3_229_440n;
export const TOKEN_RENT = 2_039_280n;
export const SYSTEM_PROGRAM = address('11111111111111111111111111111111');

export interface Person {
  readonly address: Address;
  readonly keys: Awaited<ReturnType<typeof createKeyPairFromPrivateKeyBytes>>;
}

export interface Outcome {
  /** `ok`, the number of a custom error, or the runtime's words. */
  readonly result: 'ok' | number | string;
  readonly units: bigint;
  readonly logs: readonly string[];
}

export async function person(name: string): Promise<Person> {
  const keys = await createKeyPairFromPrivateKeyBytes(createHash('sha256').update(name).digest());
  return { keys, address: await getAddressFromPublicKey(keys.publicKey) };
}

export const mintData = (authority: Address) =>
  new Uint8Array(
    getMintEncoder().encode({
      mintAuthority: authority,
      supply: 1_000_000_000_000n,
      decimals: 6,
      isInitialized: true,
      freezeAuthority: authority,
    }),
  );

export const tokenData = (
  mint: Address,
  owner: Address,
  amount: bigint,
  more: { state?: AccountState; closeAuthority?: Address; delegate?: Address } = {},
) =>
  new Uint8Array(
    getTokenEncoder().encode({
      mint,
      owner,
      amount,
      delegate: more.delegate ?? null,
      state: more.state ?? AccountState.Initialized,
      isNative: null,
      delegatedAmount: more.delegate ? amount : 0n,
      closeAuthority: more.closeAuthority ?? null,
    }),
  );

export async function createWorld(options: { features?: FeatureSet } = {}) {
  const svm = options.features
    ? LiteSVM.default()
        .withFeatureSet(options.features)
        .withBuiltins()
        .withLamports(1_000_000_000_000_000n)
        .withSysvars()
        .withDefaultPrograms()
        .withSigverify(true)
        .withBlockhashCheck(true)
    : new LiteSVM();
  svm.addProgram(ESCROW_PROGRAM_ID, escrowElf());
  const bank = await person('bank');
  const authority = await person('authority');
  const treasury = await person('treasury');
  const traveller = await person('traveller');
  const stranger = await person('stranger');
  for (const { address: to } of [bank, authority, traveller, stranger]) svm.airdrop(to, lamports(10_000_000_000n));

  const mint = (await person('usdc')).address;
  const otherMint = (await person('other')).address;
  const put = (at: Address, owner: Address, data: Uint8Array, balance = 10_000_000n) =>
    svm.setAccount({
      address: at,
      programAddress: owner,
      data,
      lamports: lamports(balance),
      executable: false,
      space: BigInt(data.length),
    });
  const putToken = (at: Address, owner: Address, amount: bigint, of = mint) =>
    put(at, TOKEN_PROGRAM_ADDRESS, tokenData(of, owner, amount), TOKEN_RENT);
  for (const each of [mint, otherMint]) put(each, TOKEN_PROGRAM_ADDRESS, mintData(bank.address));
  const walletOf = (owner: Address, of = mint) => associatedTokenAddress(owner, of);
  putToken(await walletOf(traveller.address), traveller.address, 1_000_000_000n);
  putToken(await walletOf(stranger.address), stranger.address, 1_000_000_000n);

  const at = (seconds: bigint) => {
    const { slot, epoch } = svm.getClock();
    svm.setClock(new Clock(slot, START, epoch, epoch, seconds));
  };
  at(START);

  const found = (of: Address) => {
    const account = svm.getAccount(of);
    return account.exists ? account : null;
  };

  /** The bank pays the fee, so that everybody else's lamports show rents and nothing else. */
  async function send(instructions: readonly Instruction[], ...signers: Person[]): Promise<Outcome> {
    svm.expireBlockhash();
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (empty) => setTransactionMessageFeePayer(bank.address, empty),
      (paid) => svm.setTransactionMessageLifetimeUsingLatestBlockhash(paid),
      (living) => appendTransactionMessageInstructions(instructions, living),
    );
    const unsigned = compileTransaction(message);
    const keys = [...new Set([bank, ...signers])].filter((signer) => signer.address in unsigned.signatures);
    const signed = await signTransaction(
      keys.map((signer) => signer.keys),
      unsigned,
    );
    const sent = svm.sendTransaction(signed);
    const failed = sent instanceof FailedTransactionMetadata;
    const meta = failed ? sent.meta() : sent;
    return { result: failed ? reasonOf(sent) : 'ok', units: meta.computeUnitsConsumed(), logs: meta.logs() };
  }

  return {
    svm,
    bank,
    authority,
    treasury,
    traveller,
    stranger,
    mint,
    otherMint,
    put,
    putToken,
    walletOf,
    at,
    found,
    send,
    cluster: reader(found),
    lamportsOf: (of: Address): bigint => svm.getBalance(of) ?? 0n,
    tokensOf: (of: Address): bigint | null => {
      const account = found(of);
      return account?.programAddress === TOKEN_PROGRAM_ADDRESS ? getTokenDecoder().decode(account.data).amount : null;
    },
    async pay(from: Person, vault: Address, amount: bigint): Promise<Outcome> {
      const transfer = getTransferInstruction({
        source: await walletOf(from.address),
        destination: vault,
        authority: from.address,
        amount,
      });
      return send([signing(transfer, from.address)], from);
    },
    /** Everything that an instruction could have changed, to be compared. */
    snapshot: (of: readonly Address[]): string =>
      JSON.stringify(
        of.map((each) => {
          const account = found(each);
          return account && [account.programAddress, `${account.lamports}`, Buffer.from(account.data).toString('hex')];
        }),
      ),
  };
}

/** What the reading half of src/escrow asks a cluster for. */
const reader = (found: (of: Address) => EncodedAccount | null): AccountReader => ({
  accounts: async (addresses) =>
    addresses.map((each) => {
      const account = found(each);
      if (!account) return null;
      const { address: at, lamports: held, programAddress: owner, data, executable } = account;
      return { address: at, lamports: held, owner, data: new Uint8Array(data), executable };
    }),
});

export type World = Awaited<ReturnType<typeof createWorld>>;

/** The same instruction with `signer` marked as one (2 is a read-only signer, 3 a writable one). */
export const signing = (instruction: Instruction, signer: Address): Instruction => ({
  ...instruction,
  accounts: (instruction.accounts ?? []).map(({ address: each, role }) => ({
    address: each,
    role: each === signer ? role | 2 : role,
  })),
});

/** `${error}` of the native classes names them only; the custom code hides two calls deep. */
function reasonOf(failed: FailedTransactionMetadata): number | string {
  const error = failed.err();
  const inner = typeof error === 'object' && 'err' in error ? error.err() : error;
  return typeof inner === 'object' && 'code' in inner ? Number(inner.code) : failed.toString();
}
