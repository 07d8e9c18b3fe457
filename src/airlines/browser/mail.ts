import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Email } from 'postal-mime';
import { readBounded } from '../../kernel/bounded-file.ts';
import { onFile } from '../../kernel/storage.ts';
import type { Confirmed } from './purchases.ts';
import { installed, partOf, type Recipe, readMoneyText, Unreadable } from './recipes/index.ts';

/** A carrier's confirmation by mail: believed only where its own domain has signed it, for this very purchase. */

export type DnsTexts = (name: string, type: string) => Promise<string[][]>;

const MOST_MAILS = 500;
const MOST_BYTES = 2_000_000;

/**
 * Looks for the mail that confirms a purchase.
 * @param mailbox a Maildir
 * @param address the one that the carrier was given for this purchase
 * @param tell says which mails were not believed, and why
 */
export async function lookForMail(
  mailbox: { readonly folder: string; readonly resolver: DnsTexts | undefined },
  recipe: Recipe,
  address: string,
  tell: (why: string) => void,
): Promise<Confirmed | null> {
  const { mail, site } = recipe;
  if (!mail) return null;
  const wanted = address.toLowerCase();
  for (const raw of mailsIn(mailbox.folder)) {
    const head = raw.subarray(0, 64_000).toString('latin1').toLowerCase();
    if (!head.includes(wanted) || !head.includes(mail.domain)) continue;
    const email = await installed('postal-mime').default.parse(raw);
    if (domainOf(email) !== mail.domain || !email.to?.some((one) => one.address?.toLowerCase() === wanted)) continue;
    if (!new RegExp(mail.subject, 'u').test(email.subject ?? '')) continue;
    const flaw = await flawOf(raw, email, mail.domain, mailbox.resolver);
    if (flaw !== null) {
      tell(flaw);
      continue;
    }
    try {
      const text = email.text ?? textOf(email.html ?? '');
      return {
        bookingReference: partOf(text, mail.booking_reference),
        paid: mail.paid === undefined ? null : readMoneyText(partOf(text, mail.paid), site),
      };
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      tell('unreadable');
    }
  }
  return null;
}

function* mailsIn(folder: string): Generator<Buffer> {
  const files = ['new', 'cur'].flatMap((part) =>
    entriesOf(join(folder, part)).flatMap((entry) => {
      if (!entry.isFile() || entry.name.startsWith('.')) return [];
      const path = join(folder, part, entry.name);
      const { mtimeMs, size } = onFile(path, () => statSync(path));
      return size > MOST_BYTES ? [] : [{ path, mtimeMs }];
    }),
  );
  files.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.path < b.path ? 1 : -1));
  for (const { path } of files.slice(0, MOST_MAILS)) {
    const mail = onFile(path, () => readBounded(path, { mostBytes: MOST_BYTES, isRegular: true }));
    if (mail) yield mail;
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

const domainOf = ({ from }: Email): string | null =>
  from?.address?.slice(from.address.lastIndexOf('@') + 1).toLowerCase() ?? null;

/** Headers that the signature has to cover, because we rely on them. */
const SIGNED = ['from', 'to', 'subject'];

/** Why a mail is not believed; null: it is believed. */
async function flawOf(
  raw: Buffer,
  { headers }: Email,
  domain: string,
  resolver: DnsTexts | undefined,
): Promise<string | null> {
  const times = (name: string) => headers.filter(({ key }) => key.toLowerCase() === name).length;
  if (SIGNED.some((name) => times(name) !== 1)) return 'headers_repeated';
  const { dkimVerify } = installed('mailauth/lib/dkim/verify.js');
  const { results } = await dkimVerify(raw, { resolver });
  const flaws = results.map(({ status, signingDomain = '', signingHeaders, algo, canonBodyLengthLimited }) => {
    if (status.result === 'none') return 'unsigned';
    if (status.result !== 'pass') return 'signature_wrong';
    const isOwn = domain === signingDomain.toLowerCase() || domain.endsWith(`.${signingDomain.toLowerCase()}`);
    if (!isOwn) return 'signature_foreign';
    if (canonBodyLengthLimited || /sha1$/i.test(algo ?? '')) return 'signature_weak';
    const keys = (signingHeaders?.keys ?? '').toLowerCase().split(/[\s:]+/);
    return SIGNED.every((name) => keys.includes(name)) ? null : 'signature_weak';
  });
  return flaws.includes(null) ? null : (flaws[0] ?? 'unsigned');
}

/** The text of a mail without a plain part. */
const textOf = (html: string): string =>
  html
    .replace(/<(style|script)[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&nbsp;/g, ' ')
    .replace(/&amp;/g, '&');
