import {
  type Address,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Signature,
} from '@solana/kit';
import { loadAddress, loadAuthorization, loadProgram } from '../../escrow/index.ts';
import { problem } from '../../kernel/problems.ts';
import { authoritiesOf } from '../../payments/index.ts';
import { type ChainTransaction, type HistoryEntry, MEMO_PROGRAM, TOKEN_PROGRAM } from '../../solana/index.ts';
import type { FlightsPorts } from '../base/index.ts';
import type { ChainAct, EscrowActKind, LandedPayment, SeenAuthorization } from './types.ts';

const AT_ONCE = 8;
const PAYOUT = /^farelock payout /;
const PAYMENT = /^pay_/;
const TRANSFER_CHECKED = 12;

/** Fetches the transactions of entries. @throws Problem `cluster_failed` if the node lists one but does not show it */
export async function transactionsOf({ cluster }: FlightsPorts, entries: readonly HistoryEntry[]) {
  const found: ChainTransaction[] = [];
  for (let at = 0; at < entries.length; at += AT_ONCE) {
    const asked = entries.slice(at, at + AT_ONCE).map(async ({ signature }) => {
      const transaction = await cluster.transaction(signature);
      if (transaction) return transaction;
      throw problem('cluster_failed', { message: `The cluster lists ${signature}, and does not show it.` });
    });
    found.push(...(await Promise.all(asked)));
  }
  return found;
}

/** Successful entries of an account's history since `sinceMs`, newest first. */
export async function historySince({ cluster }: FlightsPorts, account: Address, sinceMs: number) {
  const found: HistoryEntry[] = [];
  for (let before: Signature | undefined; ; ) {
    const page = await cluster.history(account, before === undefined ? {} : { before });
    const isOld = ({ blockTime }: HistoryEntry) => blockTime !== null && blockTime * 1000 < sinceMs;
    found.push(...page.filter((entry) => entry.err === null && !isOld(entry)));
    before = page.at(-1)?.signature;
    if (before === undefined || page.some(isOld)) return found;
  }
}

/** Successful entries whose signature no effect has. @param fromId the first effect id to search from */
export async function withoutEffects({ store }: FlightsPorts, entries: readonly HistoryEntry[], fromId = '') {
  const left: HistoryEntry[] = [];
  for (const some of chunks(entries)) {
    const rows = await store
      .selectFrom('effects')
      .select('signature')
      .where('effect_id', '>=', fromId)
      .where('signature', 'in', signaturesOf(some))
      .execute();
    const known = new Set(rows.map(({ signature }) => signature));
    left.push(...some.filter(({ signature, err }) => err === null && !known.has(signature)));
  }
  return left;
}

/** Entries whose signature no payment has. */
export async function withoutPayments({ store }: FlightsPorts, entries: readonly HistoryEntry[]) {
  const left: HistoryEntry[] = [];
  for (const some of chunks(entries)) {
    const rows = await store
      .selectFrom('settlements')
      .select('signature')
      .where('signature', 'in', signaturesOf(some))
      .execute();
    const known = new Set(rows.map(({ signature }) => signature));
    left.push(...some.filter(({ signature }) => !known.has(signature)));
  }
  return left;
}

const signaturesOf = (entries: readonly HistoryEntry[]): string[] => entries.map(({ signature }) => signature);

/** Slices that fit in one statement. */
export function chunks<T>(all: readonly T[], size = 500): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
}

/** Finds our acts: transactions that an authority pays for, and that touch an escrow or pay out. */
export async function actsIn(ports: FlightsPorts, transactions: readonly ChainTransaction[]) {
  const { escrowActOf } = await loadProgram();
  const { all } = authoritiesOf(ports).seen();
  return transactions.flatMap((one) => actOf(all, escrowActOf, one) ?? []);
}

/** Finds authorizations that payers opened in transactions that an authority paid for. */
export async function authorizationsIn(ports: FlightsPorts, transactions: readonly ChainTransaction[]) {
  const { authorizedIn } = await loadAuthorization();
  const { escrowPlace } = await loadAddress();
  const { all } = authoritiesOf(ports).seen();
  const found: SeenAuthorization[] = [];
  for (const { signers, instructions } of transactions.map(read)) {
    if (!signers[0] || !all.includes(signers[0])) continue;
    for (const { escrow, nonce, program } of instructions.flatMap((one) => authorizedIn(one) ?? [])) {
      found.push({ escrow, opened: (await escrowPlace(nonce, program)).address });
    }
  }
  return found;
}

type Reader = Awaited<ReturnType<typeof loadProgram>>['escrowActOf'];

function actOf(authorities: readonly Address[], escrowActOf: Reader, transaction: ChainTransaction): ChainAct | null {
  const { signers, instructions, memo } = read(transaction);
  const at = { signature: transaction.signature, atMs: transaction.blockTime * 1000 };
  if (!signers[0] || !authorities.includes(signers[0])) return null;
  const transfer = instructions.map(transferIn).find((one) => one !== null);
  if (memo !== null && PAYOUT.test(memo) && transfer) {
    return { ...at, kind: 'payout', memo, account: transfer.to, amount: transfer.amount };
  }
  const acts = instructions.flatMap((one) => escrowActOf(one) ?? []);
  // One effect may have several instructions: a refund may also close, and a close may also sweep.
  for (const kind of ORDER) {
    const act = acts.find((one) => one.kind === kind);
    if (act) return { ...at, ...act };
  }
  return null;
}

const ORDER: readonly EscrowActKind[] = ['capture', 'refund', 'close_escrow', 'open_escrow', 'sweep'];

/** Reads an x402 payment into a token account; null for any other transaction. */
export function paymentInto(account: Address, transaction: ChainTransaction): LandedPayment | null {
  const { signers, signatures, instructions, memo } = read(transaction);
  const [, payer] = signers;
  const transfer = instructions.map(transferIn).find((one) => one?.to === account);
  const key = payer && signatures[payer];
  if (!transfer || !payer || !key || memo === null || !PAYMENT.test(memo)) return null;
  const { signature, blockTime } = transaction;
  const { amount } = transfer;
  return { signature, payer, memo, amount, key: getBase58Decoder().decode(key), atMs: blockTime * 1000 };
}

interface ReadInstruction {
  readonly program: Address;
  readonly accounts: readonly Address[];
  readonly data: Uint8Array;
}

function read({ transaction }: ChainTransaction) {
  const { messageBytes, signatures } = getTransactionDecoder().decode(transaction);
  const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
  const all = message.staticAccounts;
  const at = (index: number): Address => all[index] ?? ('' as Address);
  const sent = 'instructions' in message ? message.instructions : [];
  const instructions = sent.map(
    (one): ReadInstruction => ({
      program: at(one.programAddressIndex),
      accounts: (one.accountIndices ?? []).map(at),
      data: new Uint8Array(one.data ?? []),
    }),
  );
  const memo = instructions.find(({ program }) => program === MEMO_PROGRAM);
  return {
    signers: all.slice(0, message.header.numSignerAccounts),
    signatures: signatures as Readonly<Record<string, Uint8Array | null>>,
    instructions,
    memo: memo ? Buffer.from(memo.data).toString('utf8') : null,
  };
}

function transferIn({ program, accounts, data }: ReadInstruction) {
  const [, , to] = accounts;
  if (program !== TOKEN_PROGRAM || data[0] !== TRANSFER_CHECKED || data.length < 10 || !to) return null;
  return { to, amount: Buffer.from(data).readBigUInt64LE(1) };
}
