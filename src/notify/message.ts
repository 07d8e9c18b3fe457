import { problem } from '../kernel/problems.ts';

export type Message = PageMessage | MailMessage;

interface Common {
  /** Names the event, such as `mail:booked:int_1`. A step that runs again after a crash writes no second message. */
  readonly dedupKey: string;
  /** The message is emptied together with the personal data of this intent. */
  readonly intentId: string | null;
}

/** A page for the operator's channel: ids and amounts, but never names, contacts or customers' words. */
export interface PageMessage extends Common {
  readonly kind: 'page';
  readonly event: string;
  readonly text: string;
  readonly fields: Readonly<Record<string, string | number | null>>;
}

export interface MailMessage extends Common {
  readonly kind: 'email';
  readonly to: { readonly name: string; readonly address: string };
  readonly subject: string;
  /** Plain text; lines end with `\n`. */
  readonly text: string;
  readonly attachments?: readonly Attachment[] | undefined;
}

export interface Attachment {
  readonly filename: string;
  readonly contentType: string;
  readonly content: string;
}

/** A try to deliver a message. The id is the same for every try, so that a receiver recognises a repeat. */
export interface Delivery {
  /** `msg_…` */
  readonly id: string;
  readonly createdAtMs: number;
  /** From 1; above 1 an earlier try may have arrived. */
  readonly attempt: number;
}

/** The receivers of pages and mails. Without them, both go to files under the home. */
export interface NotifySettings {
  /** `smtp://user:password@host:587` or `smtps://…`. */
  readonly smtpUrl?: string | undefined;
  /** The sender, `name@host` or `Some Name <name@host>`. */
  readonly mailFrom?: string | undefined;
  /** A webhook: https, or http to this machine. */
  readonly pageUrl?: string | undefined;
  readonly telegramToken?: string | undefined;
  readonly telegramChat?: string | undefined;
  /** Default: https://api.telegram.org. */
  readonly telegramOrigin?: string | undefined;
}

/** Deliver pages and mails. They throw unless the receiver certainly took the message. */
export interface Transports {
  page(message: PageMessage, delivery: Delivery, signal: AbortSignal): Promise<void>;
  mail(message: MailMessage, delivery: Delivery, signal: AbortSignal): Promise<void>;
  /** Removes a mail that was written to a file; harmless to repeat. */
  forget(messageId: string): Promise<void>;
}

/** Thrown if the receiver is down or busy: its other messages need not be tried now. */
export class ReceiverUnreachable extends Error {
  override readonly name = 'ReceiverUnreachable';
}

/** Thrown if the receiver refused this message; others may still pass. */
export class DeliveryRefused extends Error {
  override readonly name = 'DeliveryRefused';
}

export const DEFAULT_SENDER = 'Farelock <farelock@localhost>';

/** Refuses settings that cannot work. Names the variable, but not its secret value. @throws Problem `usage` */
export function checkSettings(settings: NotifySettings): void {
  const { smtpUrl, mailFrom, pageUrl, telegramToken, telegramChat } = settings;
  if (smtpUrl !== undefined) {
    const url = parsed(smtpUrl);
    if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
      throw wrong('FARELOCK_SMTP_URL', 'is not an smtp:// or smtps:// address.');
    if (mailFrom === undefined) throw wrong('FARELOCK_MAIL_FROM', 'is missing: e-mails need a sender.');
  }
  if (mailFrom !== undefined && !/^[^\r\n]*[^\s<>@]+@[^\s<>@]+>?$/.test(mailFrom))
    throw wrong('FARELOCK_MAIL_FROM', 'is not an e-mail address.');
  if (pageUrl !== undefined) {
    const url = parsed(pageUrl);
    const ok = url && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)));
    if (!ok) throw wrong('FARELOCK_PAGE_URL', 'must be https, or http to this machine.');
  }
  if ((telegramToken === undefined) !== (telegramChat === undefined))
    throw wrong('FARELOCK_TELEGRAM_TOKEN', 'and FARELOCK_TELEGRAM_CHAT belong together; one is missing.');
  if (telegramToken !== undefined && !/^\d+:[\w-]+$/.test(telegramToken))
    throw wrong('FARELOCK_TELEGRAM_TOKEN', 'is not a bot token.');
}

export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || hostname === '::1' || /^127(\.\d{1,3}){3}$/.test(hostname);

const parsed = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);

const wrong = (name: string, fault: string) =>
  problem('usage', { message: `${name} ${fault}`, fix: `Correct ${name}, or unset it.` });
