import { type Delivery, DeliveryRefused, type MailMessage } from './message.ts';
import { DEFAULT_SENDER } from './settings.ts';

/** A mail ready to be sent: the same bytes go over SMTP and into a file. */
export interface ComposedMail {
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  readonly raw: Buffer;
}

/**
 * Composes a mail. Message-ID and Date are the outbox row's: they stay the same over every try, so that a receiver
 * can tell a repeat. What could begin a header of its own is taken out of names and subject before they get near one.
 */
export async function composeMail(
  message: MailMessage,
  delivery: Delivery,
  sender = DEFAULT_SENDER,
): Promise<ComposedMail> {
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

/** One address and nothing else: a list, a group or a comment in it would send the mail to others. */
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
