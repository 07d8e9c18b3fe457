import {
  type Address,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
} from '@solana/kit';
import { PaymentPayloadV2Schema } from '@x402/core/schemas';
import { problem } from '../kernel/problems.ts';
import { decodeHeader } from './headers.ts';

type Accepted = ReturnType<typeof PaymentPayloadV2Schema.parse>['accepted'];

/** A PAYMENT-SIGNATURE that could be read. Nothing of it has been verified. */
export interface SentPayment {
  readonly header: string;
  readonly accepted: Accepted;
  /** The decoded header, as the package's schema let it pass. */
  readonly payload: ReturnType<typeof PaymentPayloadV2Schema.parse>;
  /** Wire bytes of the transaction, base64. */
  readonly transaction: string;
  readonly messageBytes: Uint8Array;
  readonly usesLookupTables: boolean;
  /** The accounts that must sign, in order: the fee payer first. */
  readonly signers: readonly Address[];
  readonly accounts: readonly Address[];
  readonly instructions: readonly SentInstruction[];
  /** The second signer's signature, null when it is missing. */
  readonly payerSignature: Uint8Array | null;
  /** `payerSignature` in base58: the key of the payment. */
  readonly key: string | null;
}

export interface SentInstruction {
  readonly program: Address | undefined;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
}

const MOST_HEADER_CHARACTERS = 8192;
const MOST_TRANSACTION_BYTES = 1232;

/** @throws Problem `invalid_payment_signature` for anything that is not a version 2 payload with a transaction. */
export function readPayment(header: string): SentPayment {
  if (header.length > MOST_HEADER_CHARACTERS) throw unreadable('it is too long');
  const decoded = decodeHeader(header);
  if (decoded === undefined) throw unreadable('it is not base64 of JSON');
  const parsed = PaymentPayloadV2Schema.safeParse(decoded);
  if (!parsed.success) throw unreadable('it is not an x402 version 2 payment');
  const { transaction } = parsed.data.payload;
  if (typeof transaction !== 'string') throw unreadable('it has no payload.transaction');
  const wire = Buffer.from(transaction, 'base64');
  if (wire.length === 0 || wire.length > MOST_TRANSACTION_BYTES || wire.toString('base64') !== transaction) {
    throw unreadable('payload.transaction is not a Solana transaction in base64');
  }
  return { ...readTransaction(wire), header, transaction, accepted: parsed.data.accepted, payload: parsed.data };
}

function readTransaction(wire: Uint8Array) {
  try {
    const { messageBytes, signatures } = getTransactionDecoder().decode(wire);
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
    if (message.version !== 'legacy' && message.version !== 0) throw unreadable('its version is not supported');
    const accounts = message.staticAccounts;
    const signers = accounts.slice(0, message.header.numSignerAccounts);
    const [, payer] = signers;
    const payerSignature = payer ? (signatures[payer] ?? null) : null;
    return {
      messageBytes: new Uint8Array(messageBytes),
      usesLookupTables: 'addressTableLookups' in message && (message.addressTableLookups?.length ?? 0) > 0,
      signers,
      accounts,
      instructions: message.instructions.map((one) => ({
        program: accounts[one.programAddressIndex],
        accounts: one.accountIndices ?? [],
        data: new Uint8Array(one.data ?? []),
      })),
      payerSignature: payerSignature && new Uint8Array(payerSignature),
      key: payerSignature && getBase58Decoder().decode(payerSignature),
    };
  } catch {
    throw unreadable('payload.transaction is not a Solana transaction');
  }
}

const unreadable = (why: string) =>
  problem('invalid_payment_signature', { message: `PAYMENT-SIGNATURE cannot be read: ${why}.` });
