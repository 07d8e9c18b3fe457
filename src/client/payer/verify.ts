import type { Address, Signature } from '@solana/kit';
import { formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { parseTransaction } from '../../solana/embedded/index.ts';
import {
  associatedTokenAddress,
  type Cluster,
  isSignatureText,
  MEMO_PROGRAM,
  TOKEN_PROGRAM,
} from '../../solana/index.ts';
import type { SignedPayment } from '../journal/index.ts';

/**
 * `landed`: exactly as signed. `mismatch`: journal and cluster differ. `not_landed`: absent, and can't land. `waiting`:
 * may still land.
 */
export type Verdict = 'landed' | 'mismatch' | 'not_landed' | 'waiting';

export interface PaymentVerification {
  readonly payment_id: string;
  readonly verdict: Verdict;
  readonly transaction: string | null;
  readonly memo: string | null;
  readonly checks: readonly PaymentCheck[];
}

interface PaymentCheck {
  readonly check: 'landed' | 'succeeded' | 'signed_here' | 'amount' | 'destination' | 'memo' | 'payer';
  readonly expected: string;
  readonly found: string;
  readonly ok: boolean;
}

/** The payment by the journal's signed bytes, not by the service's words. */
type SignedContent = ReturnType<typeof contentOfWire>;

export function contentOfPayload(payload: string): SignedContent {
  const decoded = JSON.parse(Buffer.from(payload, 'base64').toString('utf8')) as { payload: { transaction: string } };
  return contentOfWire(new Uint8Array(Buffer.from(decoded.payload.transaction, 'base64')));
}

const TRANSFER_CHECKED = 12;

function contentOfWire(wire: Uint8Array) {
  const { messageBytes, accountKeys, instructions } = parseTransaction(wire);
  const key = (index: number | undefined): string => (index === undefined ? '' : (accountKeys[index] ?? ''));
  const of = (program: string) => instructions.filter((one) => key(one.programIdIndex) === program);
  const transfers = of(TOKEN_PROGRAM)
    .filter(({ data }) => data[0] === TRANSFER_CHECKED && data.length >= 10)
    .map(({ accounts, data }) => ({
      source: key(accounts[0]),
      destination: key(accounts[2]),
      authority: key(accounts[3]),
      amount: Buffer.from(data).readBigUInt64LE(1),
    }));
  const [memo] = of(MEMO_PROGRAM).map(({ data }) => Buffer.from(data).toString('utf8'));
  return { message: messageBytes, memo: memo ?? null, feePayer: key(0), transfers };
}

/**
 * Compares amount, destination and memo of a payment with the cluster: with the transaction that the service named,
 * else with the one of its memo. Other bytes than those signed here are a mismatch.
 * @param findByMemo finds a transaction by memo in a token account's history
 * @throws Problem `cluster_failed`
 */
export async function verifyPayment(
  {
    cluster,
    findByMemo,
  }: {
    readonly cluster: Cluster;
    readonly findByMemo: (tokenAccount: Address, memo: string) => Promise<string | null>;
  },
  { record, payment }: SignedPayment,
): Promise<PaymentVerification> {
  const content = contentOfPayload(payment.payload);
  const source = await associatedTokenAddress(record.wallet as Address, record.asset as Address);
  // Read before the search: a transaction that is absent after that height never lands.
  const expired = (await cluster.blockHeight()) > payment.lastValidBlockHeight;
  const told = isSignatureText(record.transaction) ? record.transaction : null;
  const transaction = told ?? (content.memo && (await findByMemo(source, content.memo)));
  const about = { payment_id: record.payment_id, transaction: transaction || null, memo: content.memo };
  const landed = transaction ? await cluster.transaction(transaction as Signature) : null;
  if (!landed) {
    const isPaid = record.state === 'answered' && record.transaction !== null;
    const checks = [check('landed', 'yes', 'no', false)];
    if (isPaid) return { ...about, verdict: 'mismatch', checks };
    return { ...about, verdict: expired ? 'not_landed' : 'waiting', checks };
  }
  const onChain = contentOfWire(landed.transaction);
  const destination = await associatedTokenAddress(record.pay_to as Address, record.asset as Address);
  const [transfer] = onChain.transfers;
  const isSame = Buffer.compare(content.message, onChain.message) === 0;
  const expected = formatUsdc(parseUsdc(record.amount));
  const found = onChain.transfers.reduce((sum, one) => sum + one.amount, 0n);
  const checks = [
    check('landed', 'yes', `slot ${landed.slot}`, true),
    check('succeeded', 'yes', landed.err === null ? 'yes' : 'no', landed.err === null),
    check('amount', expected, formatUsdc(found), formatUsdc(found) === expected),
    check('destination', destination, transfer?.destination ?? 'none', transfer?.destination === destination),
    check('memo', content.memo ?? '', onChain.memo ?? 'none', onChain.memo === content.memo),
    check('payer', record.wallet, transfer?.authority ?? 'none', transfer?.authority === record.wallet),
    check('signed_here', 'the signed bytes', isSame ? 'the signed bytes' : 'other bytes', isSame),
  ];
  return { ...about, verdict: checks.every((one) => one.ok) ? 'landed' : 'mismatch', checks };
}

const check = (name: PaymentCheck['check'], expected: string, found: string, ok: boolean): PaymentCheck => ({
  check: name,
  expected,
  found,
  ok,
});
