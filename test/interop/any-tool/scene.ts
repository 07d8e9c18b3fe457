import {
  type Address,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  type KeyPairSigner,
  type Rpc,
  type RpcSubscriptions,
  type SolanaRpcApi,
  type SolanaRpcApiDevnet,
  type SolanaRpcSubscriptionsApi,
  type SolanaRpcSubscriptionsApiUnstable,
} from '@solana/kit';
import {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  SystemProgram,
  sendAndConfirmTransaction,
  Transaction,
} from '@solana/web3.js';
import type { Served } from '../../e2e/farelock.ts';

/** What the stock clients work with: a served cluster, a wallet with money, and something that has happened. */
export interface Scene {
  readonly served: Served;
  readonly web3: Connection;
  readonly rpc: Rpc<SolanaRpcApi & SolanaRpcApiDevnet>;
  readonly subscriptions: RpcSubscriptions<SolanaRpcSubscriptionsApi & SolanaRpcSubscriptionsApiUnstable>;
  readonly alice: Keypair;
  /** The same wallet, as kit holds it. */
  readonly signer: KeyPairSigner;
  /** A transfer that has landed, of the old form, and its slot. */
  readonly signature: string;
  readonly slot: number;
  /** Test USDC, and what alice holds of it. */
  readonly usdc: Address;
  readonly usdcAccount: Address;
}

/** One call of a client. @throws when it does not give what it should */
export interface Call {
  readonly client: string;
  readonly name: string;
  readonly run: (scene: Scene) => Promise<unknown>;
  /** Why it is refused here; then `run` has to fail. */
  readonly refused?: string;
}

export const calls = (client: string, table: Record<string, Call['run']>): Call[] =>
  Object.entries(table).map(([name, run]) => ({ client, name, run }));

export const transferOf = (from: Keypair, lamports = 1_000_000) =>
  new Transaction().add(
    SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: Keypair.generate().publicKey, lamports }),
  );

export async function setScene(served: Served, wsUrl: string): Promise<Scene> {
  const web3 = new Connection(served.rpcUrl, 'confirmed');
  const seed = crypto.getRandomValues(new Uint8Array(32));
  const alice = Keypair.fromSeed(seed);
  const signer = await createKeyPairSignerFromPrivateKeyBytes(seed);
  const airdrop = await web3.requestAirdrop(alice.publicKey, 100 * LAMPORTS_PER_SOL);
  await web3.confirmTransaction({ signature: airdrop, ...(await web3.getLatestBlockhash()) });
  await fetch(served.rpcUrl, {
    method: 'POST',
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 1, method: 'farelock_airdropUsdc' },
      params: [signer.address, 50_000_000],
    }),
  });
  // A block with nothing but the transfer, which clients of the old form can read.
  const { slot: airdropped } = (await web3.getSignatureStatus(airdrop)).value ?? { slot: 0 };
  while ((await web3.getSlot()) <= airdropped + 2) await new Promise((wake) => setTimeout(wake, 50));
  const signature = await sendAndConfirmTransaction(web3, transferOf(alice), [alice]);
  const { value } = await web3.getSignatureStatus(signature);
  const rpc = createSolanaRpc(served.rpcUrl) as Scene['rpc'];
  const usdc = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' as Address;
  const held = await rpc.getTokenAccountsByOwner(signer.address, { mint: usdc }, { encoding: 'base64' }).send();
  const [account] = held.value;
  if (!account || !value) throw new Error('the scene could not be set');
  return {
    ...{ served, web3, rpc, alice, signer, signature, usdc },
    slot: value.slot,
    usdcAccount: account.pubkey,
    subscriptions: createSolanaRpcSubscriptions(wsUrl) as unknown as Scene['subscriptions'],
  };
}
