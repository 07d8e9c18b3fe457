import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Email } from 'postal-mime';
import { readBounded } from '../../kernel/bounded-file.ts';
import { onFile } from '../../kernel/storage.ts';
import type { BrowserSettings } from './ports.ts';
import type { Confirmed } from './purchases.ts';
import { installed, partOf, type Recipe, readMoneyText, Unreadable } from './recipes/index.ts';

const MOST_MAILS = 500;
const MOST_BYTES = 2_000_000;

type Resolver = BrowserSettings['dnsTexts'];

/**
 * Looks for a purchase's confirmation, believed only if the carrier's own domain signed it.
 * @param mailbox a Maildir
 * @param address the one given to the carrier for this purchase
 * @param tell reports a disbelieved mail
 */
export async function lookForMail(
  mailbox: { readonly folder: string; readonly resolver: Resolver },
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

/** Headers that we rely on, which the signature must cover. */
const SIGNED = ['from', 'to', 'subject'];

/** The reason to disbelieve a mail; null: none. */
async function flawOf(raw: Buffer, { headers }: Email, domain: string, resolver: Resolver): Promise<string | null> {
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

/** Reads the text of a mail without a plain part. */
const textOf = (html: string): string =>
  html
    .replace(/<(style|script)[\s\S]*?<\/\1>/gi, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&nbsp;/g, ' ')
    .replace(/&amp;/g, '&');
