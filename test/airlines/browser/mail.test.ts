import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { dkimSign } from 'mailauth/lib/dkim/sign.js';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { codesFor, lookForMail } from '../../../src/airlines/browser/mail.ts';
import { recipeOf } from '../../../src/airlines/browser/recipes/index.ts';

/** A carrier's mail is believed where the carrier's own domain has signed what is relied on, and for nobody else's sake. */

const DOMAIN = 'carrier.sandbox.farelock.invalid';
const ADDRESS = 'bookings+int_1.0123456789@example.com';
const recipe = recipeOf(
  JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../docs/recipes/sandbox-hopper.json'), 'utf8')),
  'sandbox-hopper.json',
);
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const record = `v=DKIM1; k=rsa; p=${publicKey.export({ type: 'spki', format: 'der' }).toString('base64')}`;

interface Written {
  readonly from?: string;
  readonly to?: string;
  readonly subject?: string;
  readonly text?: string;
  readonly more?: string;
}

const written = ({ from = `tickets@${DOMAIN}`, to = ADDRESS, more = '', ...mail }: Written = {}): string =>
  [
    `From: Sandbox Hopper <${from}>`,
    `To: <${to}>`,
    `Subject: ${mail.subject ?? 'Your booking ABC123 is confirmed'}`,
    `Date: Sat, 21 Nov 2026 09:00:00 +0000`,
    `Message-ID: <1@${DOMAIN}>`,
    `${more}MIME-Version: 1.0`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    mail.text ?? 'Booking reference: ABC123\r\nAmount paid: 1.054,30 US$\r\n',
  ].join('\r\n');

/** One signature of some hundreds is folded so that it can't be read back: then a second later is signed for. */
async function signed(
  mail: string,
  by: { signingDomain?: string; headerList?: string; maxBodyLength?: number } = {},
  signTime = Date.UTC(2026, 10, 21, 9),
): Promise<string> {
  const { signatures } = await dkimSign(mail, {
    signTime: new Date(signTime),
    canonicalization: 'relaxed/relaxed',
    ...(by.headerList && { headerList: by.headerList }),
    signatureData: [
      {
        signingDomain: by.signingDomain ?? DOMAIN,
        selector: 's1',
        privateKey: pem,
        algorithm: 'rsa-sha256',
        ...(by.maxBodyLength !== undefined && { maxBodyLength: by.maxBodyLength }),
      },
    ],
  });
  const whole = signatures + mail;
  const { results } = await dkimVerify(Buffer.from(whole), { resolver: async () => [[record]] });
  return results.some(({ status }) => status.result === 'pass') ? whole : signed(mail, by, signTime + 1000);
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'farelock-mails-'));
  for (const part of ['new', 'cur', 'tmp']) mkdirSync(join(folder, part));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function found(mail: string, keyOf: (name: string) => string[][] = () => [[record]]) {
  writeFileSync(join(folder, 'new', '1.mail'), mail);
  const flaws: string[] = [];
  const mailbox = { folder, resolver: async (name: string) => keyOf(name) };
  const confirmed = await lookForMail(mailbox, recipe, ADDRESS, (why) => flaws.push(why));
  return { confirmed, flaws };
}

const none = (...flaws: string[]) => ({ confirmed: null, flaws });

test('one that its domain has signed is read', async () => {
  expect(await found(await signed(written()))).toEqual({
    confirmed: { bookingReference: 'ABC123', paid: { decimal: '1054.30', currency: 'USD' } },
    flaws: [],
  });
});

test('one that nobody signed, or that was changed since, is not believed', async () => {
  expect(await found(written())).toEqual(none('unsigned'));
  const changed = (await signed(written())).replaceAll('ABC123', 'XYZ789');
  expect(await found(changed)).toEqual(none('signature_wrong'));
  expect(await found((await signed(written())).replace('1.054,30', '1.000,00'))).toEqual(none('signature_wrong'));
});

test('one that somebody else has signed, or with a key that the domain has not, is not believed', async () => {
  expect(await found(await signed(written(), { signingDomain: 'evil.example' }))).toEqual(none('signature_foreign'));
  const noKey = () => {
    throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  };
  expect(await found(await signed(written()), noKey)).toEqual(none('signature_wrong'));
  // Somebody else's mail doesn't come from the carrier, whoever has signed it.
  const other = written({ from: 'tickets@evil.example' });
  expect(await found(await signed(other, { signingDomain: 'evil.example' }))).toEqual(none());
});

test('a signature of less than what is relied on is none', async () => {
  expect(await found(await signed(written(), { headerList: 'From:Subject' }))).toEqual(none('signature_weak'));
  const partly = await signed(written(), { maxBodyLength: 10 });
  expect(await found(partly)).toEqual(none('signature_weak'));
  const twoNames = await signed(written({ more: `From: tickets@${DOMAIN}\r\n` }));
  expect((await found(twoNames)).confirmed).toBeNull();
});

test('of another purchase, of another subject, and one that says no price, it confirms nothing', async () => {
  expect(await found(await signed(written({ to: 'bookings+int_2.0123456789@example.com' })))).toEqual(none());
  // Nor where it only names this one's address.
  const other = written({ to: 'bookings+int_2.0123456789@example.com', more: `Cc: ${ADDRESS}\r\n` });
  expect(await found(await signed(other))).toEqual(none());
  expect(await found(await signed(written({ subject: 'Your booking ABC123 is cancelled' })))).toEqual(none());
  const silent = written({ text: 'Booking reference: ABC123\r\n' });
  expect(await found(await signed(silent))).toEqual(none('unreadable'));
});

test('of two that fit the newer one counts, in whichever folder it is', async () => {
  const lines = (reference: string) => `Booking reference: ${reference}\r\nAmount paid: 1.054,30 US$\r\n`;
  for (const [place, reference, atS] of [
    ['new/0.mail', 'OLD111', 1_000],
    ['cur/2.mail', 'NEW222', 3_000],
  ] as const) {
    const path = join(folder, place);
    writeFileSync(path, await signed(written({ text: lines(reference) })));
    utimesSync(path, atS, atS);
  }
  const mailbox = { folder, resolver: async () => [[record]] };
  const confirmed = await lookForMail(mailbox, recipe, ADDRESS, () => undefined);
  expect(confirmed?.bookingReference).toBe('NEW222');
});

test('a bank’s code is of a signed mail that came since the card was given, about this very amount', async () => {
  const code = {
    from: 'mail',
    domain: DOMAIN,
    subject: 'code',
    code: 'Code: (\\d{6})',
    paid: 'Amount: ([0-9.,]+ US\\$)',
  } as const;
  const asking = {
    ...recipe,
    confirmation: { ...recipe.confirmation, challenge: { seen: { css: 'p' }, steps: [], code } },
  };
  const settings = { mailFolder: folder, dnsTexts: async () => [[record]] };
  const codes = codesFor({ settings, log: () => undefined } as never, asking, {
    reference: 'r',
    amountDecimal: '54.30',
  } as never);
  const mail = (digits: string, amount: string) =>
    written({ to: 'cards@example.com', subject: 'Your code', text: `Code: ${digits}\r\nAmount: ${amount} US$\r\n` });
  writeFileSync(join(folder, 'new', '1'), await signed(mail('111111', '54,30')));
  codes.begin();
  expect(await codes.look()).toBe(null);
  writeFileSync(join(folder, 'new', '2'), await signed(mail('222222', '99,00')));
  writeFileSync(join(folder, 'new', '3'), mail('333333', '54,30'));
  expect(await codes.look()).toBe(null);
  writeFileSync(join(folder, 'new', '4'), await signed(mail('444444', '54,30')));
  expect(await codes.look()).toBe('444444');
});
