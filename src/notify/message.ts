/** What is told to people outside: a page to the operator, a mail to a traveller. */
export type Message = PageMessage | MailMessage;

interface Common {
  /**
   * Names the happening, such as `mail:booked:int_1`. A second message with the same key is not written, so that a
   * step which runs again after a crash tells nobody twice.
   */
  readonly dedupKey: string;
  /** The intent that it is about; what was written about an intent is forgotten with its personal data. */
  readonly intentId: string | null;
}

/** To the operator's channel. Names, contacts and customers' words stay out of it: ids and amounts are enough. */
export interface PageMessage extends Common {
  readonly kind: 'page';
  /** What happened, in a word: `refund_requested`, `booking_stuck`. */
  readonly event: string;
  /** One sentence for a person. */
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

/** A message that is being delivered. Its id stays the same over every try, so that a receiver can tell a repeat. */
export interface Delivery {
  /** `msg_…` */
  readonly id: string;
  readonly createdAtMs: number;
  /** From 1; above 1 an earlier try may have arrived. */
  readonly attempt: number;
}

/** Where pages and mails go. What isn't set goes to files under the home. */
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

/** A way out. Throws when it is not certain that the receiver took the message. */
export interface Transports {
  page(message: PageMessage, delivery: Delivery, signal: AbortSignal): Promise<void>;
  mail(message: MailMessage, delivery: Delivery, signal: AbortSignal): Promise<void>;
  /** Removes what a transport keeps of a message itself (mails written to files); again is harmless. */
  forget(messageId: string): Promise<void>;
}

/** The receiver could not be reached, or could not take anything at the moment: others of its kind need not be tried. */
export class ReceiverUnreachable extends Error {
  override readonly name = 'ReceiverUnreachable';
}

/** The receiver took this message for wrong, rather than being out of reach: others may still pass. */
export class DeliveryRefused extends Error {
  override readonly name = 'DeliveryRefused';
}
