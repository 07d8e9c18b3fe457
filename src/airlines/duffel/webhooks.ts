import { createHmac, timingSafeEqual } from 'node:crypto';
import { problem } from '../../kernel/problems.ts';
import type { AirlineMessage } from '../provider.ts';
import { type Attempt, type Attempts, CREATION_FAILED } from './creations.ts';
import { type Fields, flag, object, offerId, orderId, parsed, text } from './read.ts';
import type { DuffelPorts } from './transport.ts';

/** The greatest age of a message, including any difference of clocks. */
const TOLERANCE_MS = 5 * 60_000;

interface WebhookPorts extends Pick<DuffelPorts, 'attempts' | 'clock' | 'log'> {
  readonly secret: string | undefined;
  /** Messages of the other mode are ignored. */
  readonly isLive: boolean;
}

/**
 * Takes in a webhook, which is a reason to look. Only two of its facts are believed, as it is signed and the order
 * can't show them: that a pending order failed (`order.creation_failed`), and which order to read. Repeats change
 * nothing.
 * @returns references to look at
 * @throws Problem `unauthorized`
 */
export async function receiveWebhook(ports: WebhookPorts, { body, headers }: AirlineMessage): Promise<string[]> {
  if (!ports.secret || !isSigned(ports.secret, headers['x-duffel-signature'], body, ports.clock.now())) {
    throw problem('unauthorized');
  }
  const event = parsed(new TextDecoder().decode(body));
  if (!event || (flag(event.live_mode) ?? ports.isLive) !== ports.isLive) return [];
  const about = namesOf(event);
  const rows = await rowsOf(ports.attempts, about);
  if (event.type === 'order.creation_failed') await creationFailed(ports, about, rows);
  if (event.type === 'order.created') await created(ports, about, rows);
  return [...new Set(rows.map(({ reference }) => reference))];
}

/** Checks `t=1616202842,v1=<hex>` over time, dot and body. Tries every v1, as a secret may rotate. */
function isSigned(secret: string, header: string | undefined, body: Uint8Array, nowMs: number): boolean {
  const parts = (header ?? '').split(',').map((part) => part.trim().split('='));
  const time = parts.find(([name]) => name === 't')?.[1];
  if (!time || !/^\d{1,12}$/.test(time)) return false;
  if (Math.abs(nowMs - Number(time) * 1000) > TOLERANCE_MS) return false;
  const expected = createHmac('sha256', secret).update(`${time}.`).update(body).digest();
  return parts.some(([name, mac]) => {
    if (name !== 'v1' || !mac || !/^[0-9a-f]{64}$/i.test(mac)) return false;
    return timingSafeEqual(Buffer.from(mac, 'hex'), expected);
  });
}

type Names = ReturnType<typeof namesOf>;

/** Reads the ids in an event of an order, or of its change, cancellation or payment. */
function namesOf(event: Fields) {
  const about = object(object(event.data)?.object);
  const order = object(about?.order);
  return {
    order: orderId(about?.id) ?? orderId(about?.order_id) ?? orderId(order?.id) ?? orderId(event.idempotency_key),
    offer: offerId(about?.offer_id) ?? offerId(order?.offer_id),
    reference: text(object(about?.metadata)?.reference) ?? text(object(order?.metadata)?.reference),
  };
}

async function rowsOf(attempts: Attempts, { order, offer, reference }: Names): Promise<Attempt[]> {
  if (reference !== null) {
    const named = await attempts.of(reference);
    if (named.length > 0) return named;
  }
  const byOrder = order === null ? [] : await attempts.byOrder(order);
  if (byOrder.length > 0) return byOrder;
  return offer === null ? [] : attempts.byOffer(offer);
}

/**
 * Ends an attempt if the message can only mean that one: the only open one on its offer, which has no order. The
 * reference is never sent again, so a late repeat of the message frees nothing.
 */
async function creationFailed({ attempts, log }: WebhookPorts, about: Names, rows: readonly Attempt[]) {
  const onOffer = about.offer === null ? rows : await attempts.byOffer(about.offer);
  const open = onOffer.filter(({ verdict }) => verdict === 'open');
  const [attempt] = open;
  const isCertain =
    open.length === 1 &&
    onOffer.every(({ verdict }) => verdict !== 'ordered') &&
    (about.reference === null || attempt?.reference === about.reference);
  if (!attempt || !isCertain || (about.offer === null && about.reference === null)) return;
  await attempts.endInNone(attempt, { code: CREATION_FAILED });
  log('info', 'duffel_order_failed', { reference: attempt.reference });
}

/** Notes the order to read for an open attempt; logs one that contradicts our verdict. */
async function created({ attempts, log }: WebhookPorts, about: Names, rows: readonly Attempt[]) {
  if (about.order === null || rows.some(({ verdict }) => verdict === 'ordered')) return;
  const open = rows.find(({ verdict }) => verdict === 'open');
  if (open) return attempts.note(open, { order_id: about.order });
  const [last] = rows.slice(-1);
  if (!last) return;
  log('error', 'duffel_order_against_verdict', { reference: last.reference, order_id: about.order });
  // With our reference the message means this very attempt: its order is read by id from now on.
  if (about.reference === last.reference) await attempts.endInOrder(last, about.order, {});
}
