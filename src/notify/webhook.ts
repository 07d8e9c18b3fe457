import { instant } from '../kernel/clock.ts';
import { type Delivery, DeliveryRefused, type PageMessage, ReceiverUnreachable } from './message.ts';

/**
 * Posts a page. `text` is what Slack and its likes show; the rest is for receivers that read fields. The message id
 * stands in the body and in `Idempotency-Key`, the same over every try.
 */
export const postPage = (url: string, message: PageMessage, delivery: Delivery, signal: AbortSignal): Promise<void> =>
  post(
    url,
    {
      text: message.text,
      id: delivery.id,
      event: message.event,
      at: instant(delivery.createdAtMs),
      fields: message.fields,
    },
    { 'idempotency-key': delivery.id },
    signal,
  );

interface TelegramChat {
  readonly token: string;
  readonly chat: string;
  readonly origin?: string | undefined;
}

/** Telegram knows no idempotency key: a page whose answer was lost can come twice. */
export const sendTelegram = (to: TelegramChat, message: PageMessage, signal: AbortSignal): Promise<void> => {
  const fields = Object.entries(message.fields).map(([name, value]) => `${name}: ${value ?? '-'}`);
  return post(
    `${to.origin ?? 'https://api.telegram.org'}/bot${to.token}/sendMessage`,
    { chat_id: to.chat, text: [message.text, ...fields].join('\n'), link_preview_options: { is_disabled: true } },
    {},
    signal,
  );
};

/** The address holds a secret: no error of ours repeats it. No redirect is followed, for it would carry the page along. */
async function post(url: string, body: object, headers: Record<string, string>, signal: AbortSignal): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'user-agent': 'farelock', ...headers },
    body: JSON.stringify(body),
    redirect: 'manual',
    signal,
  }).catch((error: unknown) => {
    throw new ReceiverUnreachable(error instanceof Error ? error.name : 'unknown');
  });
  await response.body?.cancel();
  if (response.ok) return;
  const passing = response.status >= 500 || [408, 425, 429].includes(response.status);
  throw passing
    ? new ReceiverUnreachable(`status ${response.status}`)
    : new DeliveryRefused(`status ${response.status}`);
}
