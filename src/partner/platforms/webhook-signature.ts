import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { HttpHeaders } from '../../kernel/http.ts';

/** How far apart the two clocks may be, as in Standard Webhooks libraries. */
const SIGNATURE_TOLERANCE_SECONDS = 5 * 60;

const PREFIX = 'whsec_';

/** Makes a secret in the format that Standard Webhooks libraries read. */
export const newWebhookSecret = (): string => `${PREFIX}${randomBytes(32).toString('base64')}`;

/**
 * Makes the three headers of Standard Webhooks for `body`, signed with each secret (two during a rotation). `id` stays
 * the same for retries, so that a receiver recognises a repetition; the timestamp is that of this try.
 */
export function signWebhook(
  secrets: readonly string[],
  { id, atMs, body }: { readonly id: string; readonly atMs: number; readonly body: string },
) {
  const timestamp = String(Math.floor(atMs / 1000));
  const signatures = secrets.map((secret) => `v1,${macOf(secret, id, timestamp, body).toString('base64')}`);
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}

/** Checks that one of a message's signatures was made with one of these secrets, at about `nowMs`. */
export function verifyWebhook(secrets: readonly string[], headers: HttpHeaders, body: string, nowMs: number): boolean {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const given = headers['webhook-signature'];
  if (!id || !given || !timestamp || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > SIGNATURE_TOLERANCE_SECONDS) return false;
  return given.split(' ').some((one) => {
    const [version, mac] = one.split(',', 2);
    if (version !== 'v1' || mac === undefined) return false;
    const bytes = Buffer.from(mac, 'base64');
    return secrets.some((secret) => {
      const expected = macOf(secret, id, timestamp, body);
      return bytes.length === expected.length && timingSafeEqual(bytes, expected);
    });
  });
}

const macOf = (secret: string, id: string, timestamp: string, body: string): Buffer =>
  createHmac('sha256', Buffer.from(secret.replace(PREFIX, ''), 'base64'))
    .update(`${id}.${timestamp}.${body}`)
    .digest();
