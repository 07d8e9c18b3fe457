import { PaymentPayloadV2Schema } from '@x402/core/schemas';
import { problem } from '../kernel/problems.ts';
import { readTransaction } from './inspection.ts';

const MOST_HEADER_CHARACTERS = 8192;

/** @throws Problem `invalid_payment_signature` for anything but a version 2 payload with a transaction */
export function readPayload(header: string) {
  if (header.length > MOST_HEADER_CHARACTERS) throw unreadable('it is too long');
  const decoded = decodedHeader(header);
  if (decoded === undefined) throw unreadable('it is not base64 of JSON');
  const parsed = PaymentPayloadV2Schema.safeParse(decoded);
  if (!parsed.success) throw unreadable('it is not an x402 version 2 payment');
  const { payload, accepted, extensions } = parsed.data;
  if (typeof payload.transaction !== 'string') throw unreadable('it has no payload.transaction');
  const transaction = readTransaction(payload.transaction);
  if (typeof transaction === 'string') throw unreadable(transaction);
  return { ...transaction, header, payload, accepted, paymentId: paymentIdIn(extensions ?? {}) };
}

/** Reads the id of `payment-identifier`, and checks its form. */
function paymentIdIn(extensions: Readonly<Record<string, unknown>>): string | null {
  const { id } = (extensions['payment-identifier'] as { info?: { id?: unknown } } | null)?.info ?? {};
  if (id === undefined) return null;
  if (typeof id === 'string' && /^[\w-]{16,128}$/.test(id)) return id;
  throw unreadable('the id of payment-identifier has to be 16 to 128 letters, digits, hyphens and underscores');
}

const unreadable = (why: string) =>
  problem('invalid_payment_signature', { message: `PAYMENT-SIGNATURE cannot be read: ${why}.` });

function decodedHeader(header: string): unknown {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(header)) return undefined;
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}
