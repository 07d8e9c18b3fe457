import { closeSync, existsSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { instant } from '../kernel/clock.ts';
import { makeFolder, onFile, writeWhole } from '../kernel/storage.ts';
import {
  DEFAULT_SENDER,
  type Delivery,
  DeliveryRefused,
  isLoopback,
  type MailMessage,
  type NotifySettings,
  type PageMessage,
  ReceiverUnreachable,
  type Transports,
} from './message.ts';

/**
 * Pages go to the webhook, else to Telegram, else to a line in `outbox/pages.ndjson`. Mails go to SMTP, else each to a
 * file under `outbox/mail/`, written whole or not at all, and readable by its owner only.
 * @param home FARELOCK_HOME
 * @param settings checked by `checkSettings`
 */
export function createTransports(home: string, settings: NotifySettings = {}): Transports {
  const pages = join(home, 'outbox', 'pages.ndjson');
  const mailFile = (messageId: string) => join(home, 'outbox', 'mail', `${messageId}.eml`);
  return {
    async page(message, delivery, signal) {
      const { pageUrl, telegramToken: token, telegramChat: chat, telegramOrigin: origin } = settings;
      if (pageUrl !== undefined) return postPage(pageUrl, message, delivery, signal);
      if (token !== undefined && chat !== undefined) return sendTelegram({ token, chat, origin }, message, signal);
      appendPage(pages, message, delivery);
    },

    async mail(message, delivery, signal) {
      const mail = await composeMail(message, delivery, settings.mailFrom);
      if (settings.smtpUrl !== undefined) return sendSmtp(settings.smtpUrl, mail, signal);
      writeWhole(mailFile(delivery.id), mail.raw);
    },

    async forget(messageId) {
      rmSync(mailFile(messageId), { force: true });
    },
  };
}

/** Appends a page as one line of JSON. A later try first looks for the line, in case a crash came after it. */
function appendPage(path: string, message: PageMessage, delivery: Delivery): void {
  const { event, text, fields } = message;
  const line = JSON.stringify({ id: delivery.id, at: instant(delivery.createdAtMs), event, text, fields });
  onFile(path, () => {
    makeFolder(dirname(path));
    if (delivery.attempt > 1 && existsSync(path) && readFileSync(path, 'utf8').includes(`${line}\n`)) return;
    const file = openSync(path, 'a', 0o600);
    try {
      writeSync(file, `${line}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  });
}

/** Posts a page: `text` for Slack and the like, and fields. Each try has the message id, also as `Idempotency-Key`. */
function postPage(url: string, message: PageMessage, delivery: Delivery, signal: AbortSignal): Promise<void> {
  const { text, event, fields } = message;
  const body = { text, id: delivery.id, event, at: instant(delivery.createdAtMs), fields };
  return post(url, body, { 'idempotency-key': delivery.id }, signal);
}

/** Telegram has no idempotency key, so a page can arrive twice if an answer was lost. */
function sendTelegram(
  { token, chat, origin = 'https://api.telegram.org' }: { token: string; chat: string; origin?: string | undefined },
  message: PageMessage,
  signal: AbortSignal,
): Promise<void> {
  const fields = Object.entries(message.fields).map(([name, value]) => `${name}: ${value ?? '-'}`);
  return post(
    `${origin}/bot${token}/sendMessage`,
    { chat_id: chat, text: [message.text, ...fields].join('\n'), link_preview_options: { is_disabled: true } },
    {},
    signal,
  );
}

/** Posts JSON. No error repeats the address, which holds a secret. Follows no redirect: it would pass the page on. */
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

/**
 * Composes a mail; the same bytes go over SMTP or into a file. Message-ID and Date come from the outbox row and are the
 * same for every try, so that a receiver can tell a repeat. Names and subject lose line breaks, which begin headers.
 */
async function composeMail(message: MailMessage, delivery: Delivery, sender = DEFAULT_SENDER) {
  const { createTransport } = await import('nodemailer');
  const from = senderOf(sender);
  const composer = createTransport({
    streamTransport: true,
    buffer: true,
    newline: 'windows',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const to = { name: oneLine(message.to.name), address: oneAddress(message.to.address) };
  const { message: raw } = await composer.sendMail({
    messageId: `<${delivery.id}@${from.address.split('@')[1] ?? 'farelock'}>`,
    date: new Date(delivery.createdAtMs),
    from,
    to,
    subject: oneLine(message.subject),
    text: message.text,
    headers: { 'Auto-Submitted': 'auto-generated' },
    attachments: (message.attachments ?? []).map(({ filename, contentType, content }) => ({
      filename: oneLine(filename),
      contentType,
      content,
    })),
  });
  if (!Buffer.isBuffer(raw)) throw new Error('the mail was not composed');
  return { envelope: { from: from.address, to: [to.address] }, raw };
}

const oneLine = (text: string): string => text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();

/** Refuses anything but a single address: a list, a group or a comment could send the mail to others. */
function oneAddress(address: string): string {
  if (!/^[^\s<>()[\],;:"\\@\p{Cc}]+@[^\s<>()[\],;:"\\@\p{Cc}]+$/u.test(address)) {
    throw new DeliveryRefused('not a mail address');
  }
  return address;
}

function senderOf(text: string): { name: string; address: string } {
  const match = /^(.*)<([^<>]+)>$/.exec(text);
  return match
    ? { name: oneLine((match[1] ?? '').replaceAll('"', '')), address: oneAddress((match[2] ?? '').trim()) }
    : { name: '', address: oneAddress(text.trim()) };
}

const CONNECT_MS = 5_000;
const SILENCE_MS = 10_000;

/** Sends a mail to an SMTP server, over TLS unless that is this machine, because mails hold names and itineraries. */
export async function sendSmtp(
  smtpUrl: string,
  mail: Pick<Awaited<ReturnType<typeof composeMail>>, 'envelope' | 'raw'>,
  signal: AbortSignal,
): Promise<void> {
  const { createTransport } = await import('nodemailer');
  const url = new URL(smtpUrl);
  const secure = url.protocol === 'smtps:';
  const transport = createTransport({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || (secure ? 465 : 587)),
    secure,
    ...(secure || isLoopback(url.hostname) ? {} : { requireTLS: true }),
    ...(url.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    await Promise.race([transport.sendMail(mail), aborted(signal)]);
  } catch (error) {
    throw refusedOrUnreachable(error);
  } finally {
    transport.close();
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(new ReceiverUnreachable('no answer in time'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/** Keeps only the code, because server texts name recipients. A 5xx for this mail says nothing about the next one. */
function refusedOrUnreachable(error: unknown): Error {
  if (error instanceof ReceiverUnreachable) return error;
  const { code, responseCode } = error as { code?: unknown; responseCode?: unknown };
  const permanent = typeof responseCode === 'number' && responseCode >= 500;
  if (permanent && (code === 'EENVELOPE' || code === 'EMESSAGE')) return new DeliveryRefused(`status ${responseCode}`);
  return new ReceiverUnreachable(typeof code === 'string' ? code : 'unknown');
}
