import { type Dirent, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Email } from 'postal-mime';
import { readBounded } from '../../kernel/bounded-file.ts';
import { parseUsdc } from '../../kernel/money.ts';
import { onFile } from '../../kernel/storage.ts';
import type { Purchase } from '../fulfiller.ts';
import type { BrowserSettings, Shop } from './ports.ts';
import type { Confirmed } from './purchases.ts';
import { installed, partOf, type Recipe, readMoneyText, Unreadable } from './recipes/index.ts';

const MOST_MAILS = 500;
const MOST_BYTES = 2_000_000;

type Resolver = BrowserSettings['dnsTexts'];

/**
 * Looks for the mail that confirms a purchase. Only one signed by the carrier's own domain is believed.
 * @param mailbox a Maildir
 * @param address our address for this purchase
 */
export async function lookForMail(
  mailbox: { readonly folder: string; readonly resolver: Resolver },
  recipe: Recipe,
  address: string,
  tell: (why: string) => void,
): Promise<Confirmed | null> {
  const { mail, site } = recipe;
  if (!mail) return null;
  return firstRead(mailbox, { ...mail, address, tell }, (text) => ({
    bookingReference: partOf(text, mail.booking_reference),
    paid: mail.paid === undefined ? null : readMoneyText(partOf(text, mail.paid), site),
  }));
}

interface Mailbox {
  readonly folder: string;
  readonly resolver: Resolver;
  readonly old?: ReadonlySet<string>;
}

interface Wanted {
  readonly domain: string;
  readonly subject: string;
  /** Null for any address. */
  readonly address: string | null;
  tell(why: string): void;
}

/** Reads the newest mail that is believed and readable. @param read throws Unreadable if it is another one */
async function firstRead<T>(mailbox: Mailbox, wanted: Wanted, read: (text: string) => T): Promise<T | null> {
  const { domain, subject, tell } = wanted;
  const address = wanted.address?.toLowerCase() ?? null;
  for (const raw of mailsIn(mailbox)) {
    const head = raw.subarray(0, 64_000).toString('latin1').toLowerCase();
    if ((address !== null && !head.includes(address)) || !head.includes(domain)) continue;
    const email = await installed('postal-mime').default.parse(raw);
    const isTo = address === null || email.to?.some((one) => one.address?.toLowerCase() === address);
    if (domainOf(email) !== domain || !isTo) continue;
    if (!new RegExp(subject, 'u').test(email.subject ?? '')) continue;
    const flaw = await flawOf(raw, email, domain, mailbox.resolver);
    if (flaw !== null) {
      tell(flaw);
      continue;
    }
    try {
      return read(email.text ?? textOf(email.html ?? ''));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      tell('unreadable');
    }
  }
  return null;
}

/** A mail's file name without its flags. */
const nameOf = (name: string): string => name.replace(/:.*$/, '');

const namesIn = (folder: string): Set<string> =>
  new Set(['new', 'cur'].flatMap((part) => entriesOf(join(folder, part)).map(({ name }) => nameOf(name))));

/**
 * Finds the code that the bank asks for: in a mail that came since the card was issued, or in a file that a person
 * writes into the operator's folder, named by the reference and removed once read.
 */
export function codesFor({ settings, log }: Shop, recipe: Recipe, { reference, amountDecimal }: Purchase) {
  const { code } = recipe.confirmation.challenge ?? {};
  const { mailFolder, codeFolder } = settings;
  const file = code?.from === 'person' && codeFolder ? join(codeFolder, reference.replace(/[^\w-]/g, '')) : null;
  let old: ReadonlySet<string> = new Set();
  let isAsked = false;
  return {
    /** Removes an old file, and skips mails that are there already. */
    begin(): void {
      if (file !== null) rmSync(file, { force: true });
      if (code?.from === 'mail' && mailFolder) old = namesIn(mailFolder);
    },
    async look(): Promise<string | null> {
      if (code?.from === 'mail') {
        if (!mailFolder) return null;
        const tell = (why: string) => log('warn', 'browser_mail_not_believed', { subject: reference, why });
        return firstRead(
          { folder: mailFolder, resolver: settings.dnsTexts, old },
          { ...code, address: null, tell },
          (text) => {
            const paid = code.paid === undefined ? null : readMoneyText(partOf(text, code.paid), recipe.site);
            if (paid && parseUsdc(paid.decimal) !== parseUsdc(amountDecimal)) throw new Unreadable('another amount');
            return partOf(text, code.code);
          },
        );
      }
      if (file === null) return null;
      if (!isAsked) log('warn', 'browser_code_wanted', { subject: reference, carrier: recipe.carrier.code, file });
      isAsked = true;
      return takenFrom(file);
    },
  };
}

/** Reads the code in a file and removes the file; null if there is none yet. */
function takenFrom(file: string): string | null {
  let text: string | undefined;
  try {
    text = readBounded(file, { mostBytes: 200, isRegular: true })?.toString('utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  if (!text || !/^[\w-]{1,40}$/.test(text)) return null;
  rmSync(file, { force: true });
  return text;
}

function* mailsIn({ folder, old }: Mailbox): Generator<Buffer> {
  const files = ['new', 'cur'].flatMap((part) =>
    entriesOf(join(folder, part)).flatMap((entry) => {
      if (!entry.isFile() || entry.name.startsWith('.') || old?.has(nameOf(entry.name))) return [];
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

/** The reason not to believe a mail; null if there is none. */
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
