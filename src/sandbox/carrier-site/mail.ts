import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DueMail, Sale, SiteBooks } from './books.ts';
import { shownMoney } from './page.ts';

/** The domain that the site's mails come from. No DNS knows it: its key is `sandboxDkimRecord`. */
export const SANDBOX_MAIL_DOMAIN = 'carrier.sandbox.farelock.invalid';

export const SANDBOX_DKIM_SELECTOR = 'sandbox';

/** Published on purpose, as PKCS #8: it signs the mails of a pretend carrier, whose domain can't exist. */
const KEY = `
MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQC7G7lUyQeBPMBpndpDaGcAdtKohJ0KWtbR8BYvx+urv65ft9vR
rESxmMluzko9DKqHuueuXGP0tLm2TF3MvG3Yki/StyoeLXLk0Ggh+KJal8b22wneFyGbsNw980dgOlu20DySQdekHwX0d7TdlxZR
vZMoltwV06NWza4K/1dP9+WeS7gb3acSArj/i0+5YnqQuJDN3Ut6zZqnmqMY2c4gVhGctABhM5OC4GuhdutrDK3PLKHPvpeLf+sT
oEo5Jg6fvK77vTZU7Tj9GwtpeUWHe0nLVw6v88aSF7fTtaUSdkj5nRAEESFxzeorwNm+hVvTcl7w42L4zOb4o5tNBTTpAgMBAAEC
ggEAB2eJ9oZ8Ewu165gRFqDPjq+lF4Ej+9BrduRi5GIre+D6hBQxEUOZdlO/CPEF9BOHvhZR688BL6JlRQcRoTQFvs/OL68K7iXL
Sa3LqSh/OEmQWJ2DbvQIYvJlTNhPR0oX7gygkQMlBvwpTqrcD/bWLcbsR2ts6zo0WQ+LpyjCqknqKcoAtBaFwAtNNNqcyZrgs+tb
b70s0cc8/7+0TA/Ga/pZLS4XSR9fbfkBytvPV8eoYbg7GaxJ1m/xw0KwmFMchRwR3P5xenDq49HvtFzNbXQoCX5mv9nNq4dAxVbh
mMtEJwWvWPzwBWoqBN6XW7reGe138FRaKo6elhFlBvUZ5wKBgQD37+IxWge7+lOcu10Bd3MxqqhxMPja4PoCDAZNh5f5TEV0B3Ue
rgKzZtQIFDULQj9V3rLG5t3gIZ6nr6UIuQyDGbKYamTEZpHErD2nYzkytgWnHUYocyEIkEkq2GIgZiOammRwno0xXevuSxec9AII
9fj/XUTy9+UrPlX/7hHQEwKBgQDBMW5dJIWJULt5O/TkkaAXHtB4iiBy4DMq8a6vUP2sxvWahS3bm7toSv2OdCzhVcOBjph483/7
NDRB1yEf8CmmWbXkhC/g8KNIBZFIwF02kx3vHV2e/qG7QoSKD4vjEgGMVqZM6J8IRpm8Z6JBi/V/G07X32Xta+B2z5OhjgWekwKB
gFaEYcTg6rQAvS6C/whk+1CIgbDF6wDN4s/WDFj/iNuYbt/3PjpPdGfP6QtMqdnc6yb2yCG6LBBrCubu1sL9d81DqVugPLuAIzui
8vy3Fh2JAN34zCOPUSag2rdVvKAbpC7t00CtQw3H/W0wzPOa/h7MXnAVxtqWAGUfonjlRVf7AoGAU3fi4fU0iKZLyU5hORu92h9j
HKE48cjx8nzm5zIL18lCNdeSf45iQuYbdJ+3AEhIpsIQGDnEMqlUZpnm4uClbgzWbHu8H+h381cMdS0/WKPpS/UZDOegwsIzd17O
JnYSGysYwKPEihPOujrgPIeWsqr+vn/zjseL/GkktKkivmcCgYBNi+DSVlOpyjNGmHjk2XMGvli9RoVjwot+GKdFmOxroFdoJeLt
GnUhp0LolYTrONUF2hOxwaZzF6/uuEmlJBB12PFShgiRebvXuhyFtNLMJudaOY+bev+JGecQvtPJz+UpQrWrwuRagYENl1C3+rQF
r5lNB7sFH8fybOT7JEjKew==
`;

const privateKey = () =>
  createPrivateKey({ key: Buffer.from(KEY.replaceAll('\n', ''), 'base64'), format: 'der', type: 'pkcs8' });

const sandboxDkimKey = (): string => privateKey().export({ format: 'pem', type: 'pkcs8' }).toString();

/** The TXT record of `sandbox._domainkey.carrier.sandbox.farelock.invalid`. */
export const sandboxDkimRecord = (): string =>
  `v=DKIM1; k=rsa; p=${createPublicKey(privateKey()).export({ format: 'der', type: 'spki' }).toString('base64')}`;

/** The confirmation of a booking. It names no traveller. */
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

/** A mail as bytes, signed with the key of the site's domain unless it is forged. */
async function composeMail(mail: DueMail, nowMs: number): Promise<Buffer> {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const { message } = await transport.sendMail({
    from: { name: 'Sandbox Hopper', address: `bookings@${SANDBOX_MAIL_DOMAIN}` },
    to: mail.recipient,
    subject: mail.subject,
    date: new Date(nowMs),
    messageId: `<${mail.mailId}.${randomBytes(6).toString('hex')}@${SANDBOX_MAIL_DOMAIN}>`,
    text: mail.text,
    ...(mail.kind === 'signed' && {
      dkim: { domainName: SANDBOX_MAIL_DOMAIN, keySelector: SANDBOX_DKIM_SELECTOR, privateKey: sandboxDkimKey() },
    }),
  });
  return Buffer.isBuffer(message) ? message : Buffer.from(await textOf(message));
}

async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}

/** Puts a mail into a Maildir: written beside, then moved, so that none is read by half. */
async function deliver(folder: string, bytes: Buffer, nowMs: number): Promise<void> {
  await Promise.all(['tmp', 'new', 'cur'].map((name) => mkdir(join(folder, name), { recursive: true, mode: 0o700 })));
  const name = `${Math.floor(nowMs / 1000)}.M${randomBytes(8).toString('hex')}.sandbox`;
  await writeFile(join(folder, 'tmp', name), bytes, { mode: 0o600 });
  await rename(join(folder, 'tmp', name), join(folder, 'new', name));
}

/** Delivers the mails that are due. Without a folder they are not sent, and go nowhere. */
export async function deliverDue(books: SiteBooks, folder: string | null, nowMs: number): Promise<number> {
  const due = books.dueMails(nowMs);
  for (const mail of due) {
    if (folder !== null) await deliver(folder, await composeMail(mail, nowMs), nowMs);
    books.mailSent(mail.mailId);
  }
  return due.length;
}
