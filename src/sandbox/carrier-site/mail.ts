import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DueMail, Sale, SiteBooks } from './books.ts';
import DKIM from './dkim.json' with { type: 'json' };
import { shownMoney } from './page.ts';

/** The sender's domain, which cannot exist, and its key (PKCS #8), public on purpose. */
export const SANDBOX_MAIL_DOMAIN = DKIM.domain;
export const SANDBOX_DKIM_SELECTOR = DKIM.selector;

const privateKey = () =>
  createPrivateKey({ key: Buffer.from(DKIM.privateKey, 'base64'), format: 'der', type: 'pkcs8' });

/** The TXT record of `sandbox._domainkey.carrier.sandbox.farelock.invalid`. */
export const sandboxDkimRecord = (): string =>
  `v=DKIM1; k=rsa; p=${createPublicKey(privateKey()).export({ format: 'der', type: 'spki' }).toString('base64')}`;

/** Names no traveller. */
export const confirmationMail = (
  recipient: string,
  { locator, flights, shownCents }: Pick<Sale, 'locator' | 'flights' | 'shownCents'>,
  reference: string,
): Pick<DueMail, 'recipient' | 'subject' | 'text'> => ({
  recipient,
  subject: `Your booking ${locator} is confirmed`,
  text: [
    'Thank you for booking with Sandbox Hopper, a pretend carrier. Nothing in this mail can be flown.',
    '',
    `Booking reference: ${locator}`,
    `Flights: ${flights}`,
    `Amount paid: ${shownMoney(shownCents)}`,
    ...(reference === '' ? [] : [`Your reference: ${reference}`]),
    '',
    'Manage your booking on our site with this reference and a last name.',
    '',
  ].join('\n'),
});

/** Signs with the domain's key, unless the mail is forged. */
async function composeMail(mail: DueMail, nowMs: number): Promise<Buffer> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const pem = privateKey().export({ format: 'pem', type: 'pkcs8' }).toString();
  const dkim = { domainName: SANDBOX_MAIL_DOMAIN, keySelector: SANDBOX_DKIM_SELECTOR, privateKey: pem };
  const { message } = await transport.sendMail({
    from: { name: 'Sandbox Hopper', address: `bookings@${SANDBOX_MAIL_DOMAIN}` },
    to: mail.recipient,
    subject: mail.subject,
    date: new Date(nowMs),
    messageId: `<${mail.mailId}.${randomBytes(6).toString('hex')}@${SANDBOX_MAIL_DOMAIN}>`,
    text: mail.text,
    ...(mail.kind === 'signed' && { dkim }),
  });
  if (!Buffer.isBuffer(message)) throw new TypeError('a mail that is no buffer');
  return message;
}

/** Writes a mail aside and moves it, so that no half mail is read. */
async function deliver(folder: string, bytes: Buffer, nowMs: number): Promise<void> {
  await Promise.all(['tmp', 'new', 'cur'].map((name) => mkdir(join(folder, name), { recursive: true, mode: 0o700 })));
  const name = `${Math.floor(nowMs / 1000)}.M${randomBytes(8).toString('hex')}.sandbox`;
  await writeFile(join(folder, 'tmp', name), bytes, { mode: 0o600 });
  await rename(join(folder, 'tmp', name), join(folder, 'new', name));
}

/** Delivers due mails, or drops them if there is no folder. */
export async function deliverDue(books: SiteBooks, folder: string | null, nowMs: number): Promise<number> {
  const due = books.dueMails(nowMs);
  for (const mail of due) {
    if (folder !== null) await deliver(folder, await composeMail(mail, nowMs), nowMs);
    books.mailSent(mail.mailId);
  }
  return due.length;
}
