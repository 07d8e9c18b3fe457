import type { Address } from '@solana/kit';
import { signPayment } from '../../src/client/payer/transaction.ts';
import type { Cluster } from '../../src/solana/cluster.ts';
import type { Signer } from '../../src/solana/signer.ts';

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
}

const MOST_MS = 60_000;

interface Challenge {
  readonly resource: unknown;
  readonly accepts: { amount: string; payTo: Address; asset: Address; extra: { feePayer: Address; memo: string } }[];
}

/**
 * A paid call of a client with a key of its own: asks, signs what is asked for, covered or not, and leaves it to the
 * caller when it is sent, and to which address.
 */
export async function signedCall<T>(
  url: string,
  body: object,
  payer: Signer,
  cluster: Pick<Cluster, 'latestBlockhash'>,
  headers: Record<string, string> = {},
): Promise<((to?: string) => Promise<Answer<T>>) & { readonly amount: bigint }> {
  const post = async (payment: Record<string, string>, to = url): Promise<Answer<T>> => {
    const answer = await fetch(to, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...payment },
      body: JSON.stringify(body),
      // A cut line says nothing.
      signal: AbortSignal.timeout(MOST_MS),
    });
    return { status: answer.status, body: (await answer.json()) as T };
  };
  const challenged = await post({});
  if (challenged.status !== 402) return Object.assign(async () => challenged, { amount: 0n });
  const { resource, accepts } = challenged.body as unknown as Challenge;
  const [accepted] = accepts;
  if (!accepted) throw new Error('nothing to accept');
  const { amount, payTo, asset, extra } = accepted;
  const order = { ...extra, payTo, asset, amount: BigInt(amount) };
  const transaction = await signPayment(payer, order, await cluster.latestBlockhash());
  const payload = { x402Version: 2, resource, accepted, payload: { transaction } };
  const payment = Buffer.from(JSON.stringify(payload)).toString('base64');
  return Object.assign((to?: string) => post({ 'payment-signature': payment }, to), { amount: order.amount });
}
