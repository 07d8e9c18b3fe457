import { randomBytes } from 'node:crypto';
import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getTransactionEncoder,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  type TransactionPartialSigner,
} from '@solana/kit';
import type { SchemeNetworkClient } from '@x402/core/types';
import { authorizationPlace, authorizeInstructions } from '../../escrow/index.ts';
import { computeBudget, MEMO_PROGRAM, usdcMintOf } from '../../solana/index.ts';
import { genesisOf, insist, LEAST_LEAD_S, readRequirements, SCHEME, termsOf } from '../auth-capture-terms.ts';

export interface AuthCaptureClientOptions {
  /** The wallet: any signer of @solana/kit. */
  readonly signer: TransactionPartialSigner;
  /** Escrow programs that this client trusts with its money. */
  readonly programs: readonly string[];
  /** The cluster's JSON-RPC, for a blockhash; or set `latestBlockhash`. */
  readonly rpcUrl?: string;
  readonly latestBlockhash?: () => Promise<{ readonly blockhash: string; readonly lastValidBlockHeight: bigint }>;
  /** Genesis hash of a private cluster; default: that of the network. */
  readonly genesis?: string;
  readonly now?: () => number;
}

/** About twice what creating the vault and Authorize take. */
const COMPUTE_UNITS = 150_000;
const PRICE_MICROLAMPORTS = 1n;

/** Makes the client's plug-in: one signature opens and funds an authorization at an address derived from the terms. */
export function authCaptureClient(options: AuthCaptureClientOptions): SchemeNetworkClient {
  const { signer, programs, now = Date.now } = options;
  return {
    scheme: SCHEME,
    findDefaultAsset: (asset, network) =>
      genesisOf(network) && asset === usdcMintOf(network as never) ? { asset, decimals: 6, symbol: 'USDC' } : undefined,
    async createPaymentPayload(x402Version, requirements, context) {
      const accepted = readRequirements(requirements);
      const { extra } = accepted;
      insist(
        programs.includes(extra.program),
        'terms_mismatch',
        `the escrow program ${extra.program} is not known here`,
      );
      const genesis = options.genesis ?? genesisOf(accepted.network);
      insist(extra.genesis === genesis, 'terms_mismatch', 'the genesis hash is that of another cluster');
      insist(
        extra.captureDeadline >= now() / 1000 + LEAST_LEAD_S,
        'deadline_order',
        'the capture deadline is too near',
      );
      insist(
        extra.refundDeadline >= extra.captureDeadline,
        'deadline_order',
        'the refund deadline is before the capture deadline',
      );
      const most = context?.maxAmountPerPayment;
      insist(most === undefined || accepted.amount <= BigInt(most), 'terms_mismatch', `more than ${most} is asked for`);

      const nonce = extra.nonce ?? randomBytes(32).toString('hex');
      const terms = termsOf(accepted, { payer: signer.address, nonce });
      const { salt } = await authorizationPlace(terms, extra.program);
      const parts = { ...terms, programId: extra.program, rentPayer: extra.feePayer };
      const memo = extra.memo === undefined ? [] : [{ programAddress: MEMO_PROGRAM, data: Buffer.from(extra.memo) }];
      const transaction = await signed(signer, extra.feePayer, await blockhashFor(options), [
        ...computeBudget(COMPUTE_UNITS, PRICE_MICROLAMPORTS),
        ...(await authorizeInstructions(parts)),
        ...memo,
      ]);
      return {
        x402Version,
        payload: { transaction, payer: signer.address, nonce, salt: Buffer.from(salt).toString('hex') },
      };
    },
  };
}

type Lifetime = { readonly blockhash: string; readonly lastValidBlockHeight: bigint };

/** Signs with one of several signers; returns base64. */
export async function signed(
  signer: TransactionPartialSigner,
  feePayer: Address,
  { blockhash, lastValidBlockHeight }: Lifetime,
  instructions: Parameters<typeof appendTransactionMessageInstructions>[0],
): Promise<string> {
  const payer = setTransactionMessageFeePayer(feePayer, createTransactionMessage({ version: 0 }));
  const lifetime = { blockhash: blockhash as Blockhash, lastValidBlockHeight };
  const message = setTransactionMessageLifetimeUsingBlockhash(lifetime, payer);
  const compiled = compileTransaction(appendTransactionMessageInstructions(instructions, message));
  const [signatures] = await signer.signTransactions([compiled as never]);
  const both = { ...compiled, signatures: { ...compiled.signatures, ...signatures } };
  return Buffer.from(getTransactionEncoder().encode(both)).toString('base64');
}

export async function blockhashFor({
  rpcUrl,
  latestBlockhash,
}: Pick<AuthCaptureClientOptions, 'rpcUrl' | 'latestBlockhash'>) {
  if (latestBlockhash) return latestBlockhash();
  if (rpcUrl === undefined) throw new TypeError('auth-capture needs rpcUrl or latestBlockhash');
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'getLatestBlockhash',
      params: [{ commitment: 'confirmed' }],
    }),
  });
  const { result } = (await response.json()) as {
    result?: { value: { blockhash: string; lastValidBlockHeight: number } };
  };
  if (!result) throw new Error('the cluster gave no blockhash');
  return { blockhash: result.value.blockhash, lastValidBlockHeight: BigInt(result.value.lastValidBlockHeight) };
}
