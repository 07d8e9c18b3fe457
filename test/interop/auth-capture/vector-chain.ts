import { readFileSync } from 'node:fs';
import { type Address, getAddressEncoder, getTransactionDecoder, lamports } from '@solana/kit';
import { Clock, FailedTransactionMetadata, LiteSVM } from 'litesvm';
import { escrowElf } from '../../../src/escrow/index.ts';
import { problem } from '../../../src/kernel/problems.ts';
import { authCaptureFacilitator, memoryStore } from '../../../src/payments/auth-capture/index.ts';
import {
  type Cluster,
  DEVNET_USDC,
  encodeMint,
  type SolanaNetwork,
  SYSTEM_PROGRAM,
  signatureOf,
  signerFromSeed,
  tokenIn,
  verifyEd25519,
} from '../../../src/solana/index.ts';

/** Plays a vector of docs/vectors/auth-capture-svm.json: a machine with its accounts and its time, and our facilitator. */

const TOKEN = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;

export interface Vector {
  readonly name: string;
  /** Seconds since the epoch, by the chain's clock. */
  readonly now: number;
  /** `frozen` where it is; 0 is an account without tokens. */
  readonly tokens: readonly {
    readonly address: string;
    readonly owner: string;
    readonly amount: string;
    readonly frozen?: true;
  }[];
  /** The escrow account, in base64; absent: there is none. */
  readonly escrow?: { readonly address: string; readonly data: string };
  readonly facilitator?: { readonly mostHoldsPerPayer: number };
  readonly calls: readonly ('verify' | 'settle')[];
  readonly paymentPayload: { readonly [name: string]: unknown };
  readonly paymentRequirements: { readonly [name: string]: unknown };
  readonly expect: {
    readonly reason: string | null;
    readonly amount?: string;
    readonly extra?: Readonly<Record<string, unknown>>;
    /** Every account of `tokens`, and the vault: null where it is closed. */
    readonly tokensAfter: Readonly<Record<string, string | null>>;
  };
}

export interface Vectors {
  readonly network: SolanaNetwork;
  readonly genesis: string;
  readonly program: Address;
  readonly mint: string;
  readonly blockhash: string;
  readonly keys: Readonly<
    Record<'feePayer' | 'operator' | 'authorizer' | 'payer' | 'payTo' | 'stranger', { seed: string; address: string }>
  >;
  readonly vectors: readonly Vector[];
}

export const readVectors = (): Vectors =>
  JSON.parse(readFileSync('docs/vectors/auth-capture-svm.json', 'utf8')) as Vectors;

const addressBytes = (address: string) => new Uint8Array(getAddressEncoder().encode(address as Address));

function tokenBytes({ owner, amount, frozen }: Vector['tokens'][number]): Uint8Array {
  const data = new Uint8Array(165);
  data.set(addressBytes(DEVNET_USDC), 0);
  data.set(addressBytes(owner), 32);
  new DataView(data.buffer).setBigUint64(64, BigInt(amount), true);
  data[108] = frozen ? 2 : 1;
  return data;
}

type Head = Omit<Vectors, 'vectors'>;
export type Machine = ReturnType<typeof createMachine>;

/** A machine with the program, for one vector after the other: compiling it takes longer than they do. */
export function createMachine(all: Head) {
  const svm = new LiteSVM().withSigverify(false).withBlockhashCheck(false);
  svm.addProgram(all.program, escrowElf());
  return { svm, used: new Set<string>() };
}

/** Blockhashes are not looked at, so that a transaction signed once stays good. */
function openVectorChain(
  { svm, used }: Machine,
  all: Head,
  at: Pick<Vector, 'now' | 'tokens' | 'escrow'>,
  watched: readonly string[],
) {
  for (const address of used) {
    const nothing = { data: new Uint8Array(), executable: false, space: 0n, lamports: lamports(0n) };
    svm.setAccount({ address: address as Address, programAddress: SYSTEM_PROGRAM, ...nothing });
  }
  for (const address of [...watched, ...(at.escrow ? [at.escrow.address] : [])]) used.add(address);
  svm.airdrop(all.keys.feePayer.address as Address, lamports(1_000_000_000n));
  const { slot, epoch } = svm.getClock();
  svm.setClock(new Clock(slot, BigInt(at.now), epoch, epoch, BigInt(at.now)));
  const put = (address: string, owner: Address, data: Uint8Array) =>
    svm.setAccount({
      ...{ address: address as Address, programAddress: owner, data, executable: false, space: BigInt(data.length) },
      lamports: lamports((BigInt(data.length) + 128n) * 6960n),
    });
  put(
    DEVNET_USDC,
    TOKEN,
    encodeMint({ authority: all.keys.stranger.address as Address, decimals: 6, supply: 10n ** 12n }),
  );
  for (const token of at.tokens) put(token.address, TOKEN, tokenBytes(token));
  if (at.escrow) put(at.escrow.address, all.program, new Uint8Array(Buffer.from(at.escrow.data, 'base64')));

  const account = (address: Address) => {
    const found = svm.getAccount(address);
    if (!found.exists || found.lamports === 0n) return null;
    return { ...found, owner: found.programAddress, data: new Uint8Array(found.data) };
  };
  const failed = (result: FailedTransactionMetadata) => ({ failed: String(result) });
  const landed = new Set<string>();
  const decode = (wire: Uint8Array) => getTransactionDecoder().decode(wire) as never;
  const cluster = {
    network: all.network,
    usdcMint: DEVNET_USDC,
    doubtBlocks: 0n,
    latestBlockhash: async () => ({ blockhash: all.blockhash, lastValidBlockHeight: 1_000n, slot: 1n }),
    finalizedBlockHeight: async () => 1n,
    unixTime: async () => Number(svm.getClock().unixTimestamp),
    accounts: async (addresses: readonly Address[]) => addresses.map(account),
    async simulate(wire: Uint8Array) {
      const result = svm.simulateTransaction(decode(wire));
      const isFailed = result instanceof FailedTransactionMetadata;
      return { err: isFailed ? failed(result) : null, logs: [], unitsConsumed: 0n };
    },
    async send(wire: Uint8Array) {
      const { messageBytes, signatures } = getTransactionDecoder().decode(wire);
      for (const [address, signature] of Object.entries(signatures)) {
        const good =
          signature && verifyEd25519(addressBytes(address), new Uint8Array(messageBytes), new Uint8Array(signature));
        if (!good) throw problem('transaction_failed', { message: `${address} did not sign` });
      }
      const signature = signatureOf(wire);
      if (landed.has(signature)) return signature;
      const result = svm.sendTransaction(decode(wire));
      if (result instanceof FailedTransactionMetadata) throw problem('transaction_failed', { detail: failed(result) });
      landed.add(signature);
      return signature;
    },
    signatureStatus: async (signature: string) =>
      landed.has(signature) ? { slot: 1n, err: null, confirmation: 'finalized' } : null,
  } as unknown as Cluster;
  return {
    cluster,
    account,
    balance: (address: string): bigint | null => tokenIn(account(address as Address))?.amount ?? null,
  };
}

const keyOf = ({ seed }: { seed: string }) => signerFromSeed(new Uint8Array(Buffer.from(seed, 'hex')));

export function facilitatorOn(all: Omit<Vectors, 'vectors'>, cluster: Cluster, more: Vector['facilitator']) {
  return authCaptureFacilitator({
    ...{ cluster, store: memoryStore(), feePayer: keyOf(all.keys.feePayer), operators: [keyOf(all.keys.operator)] },
    ...{ programs: [all.program], genesis: all.genesis, ...more },
  });
}

/** What our facilitator says to the calls of a vector, and what the accounts then hold. */
export async function played(machine: Machine, all: Head, vector: Omit<Vector, 'expect'>, watched: readonly string[]) {
  const chain = openVectorChain(machine, all, vector, watched);
  const facilitator = facilitatorOn(all, chain.cluster, vector.facilitator);
  const asked = [
    structuredClone(vector.paymentPayload) as never,
    structuredClone(vector.paymentRequirements) as never,
  ] as const;
  const answers: { reason: string | null; amount?: string | undefined; extra?: Record<string, unknown> | undefined }[] =
    [];
  for (const call of vector.calls) {
    if (call === 'verify') answers.push({ reason: (await facilitator.verify(...asked)).invalidReason ?? null });
    else {
      const { errorReason = null, amount, extra } = await facilitator.settle(...asked);
      answers.push({ reason: errorReason, amount, extra });
    }
  }
  const tokensAfter = Object.fromEntries(watched.map((one) => [one, chain.balance(one)?.toString() ?? null]));
  return { answers, tokensAfter, chain };
}
