import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Secrets } from '../kernel/secrets.ts';

/** Answers as the journal keeps them: compressed, for a search is long, and sealed, for some hold a support code. */

const place = (paymentId: string) => `payments.answer_sealed.${paymentId}`;

export const sealedAnswer = (secrets: Secrets, paymentId: string, body: unknown): string =>
  secrets.encrypt(
    place(paymentId),
    deflateRawSync(JSON.stringify(body ?? null), { level: 1 }).toString('base64'),
  );

export const openedAnswer = (secrets: Secrets, paymentId: string, sealed: string): unknown =>
  JSON.parse(
    inflateRawSync(Buffer.from(secrets.decrypt(place(paymentId), sealed), 'base64')).toString('utf8'),
  );
