import { domainToASCII } from 'node:url';
import { alpha3Of } from '../../kernel/domain/countries.ts';
import type { CustomerData } from './schema.ts';

/** A rule's verdict on a text: its normal form, or its fault, which does not repeat the text. */
export type Verdict = { readonly normal: string } | { readonly wrong: string };

export const normal = (text: string): Verdict => ({ normal: text });
export const wrong = (message: string): Verdict => ({ wrong: message });
export const isWrong = (verdict: Verdict): verdict is { readonly wrong: string } => 'wrong' in verdict;

export interface DataContext {
  readonly nowMs: number;
  /** Accepts addresses of test networks; a live service never does. */
  readonly testNetworks?: boolean;
}

/** Rules by the dotted paths of their fields, in the order in which issues are listed. */
export type Rules = Readonly<Record<string, (text: string, data: CustomerData, context: DataContext) => Verdict>>;

/** Messages about absent fields, by dotted path; false if the field may be absent. */
export type Missing = Readonly<Record<string, (data: CustomerData) => string | false>>;

/** Capitalises a code. Returns null for mixed case, which suggests a typing error that no check digit would catch. */
export const upperCase = (text: string): string | null =>
  /[a-z]/.test(text) && /[A-Z]/.test(text) ? null : text.toUpperCase();

/** Removes the spaces, dots, hyphens and slashes that group numbers. */
export const ungrouped = (text: string): string => text.replace(/[\s.\-/]/g, '');

/** Removes the brackets around a check digit at the end, as in the identity numbers of Hong Kong: `A123456(3)`. */
export const withoutBracket = (text: string): string => text.replace(/\(([0-9A-Za-z])\)$/, '$1');

/** Tidies a line of text (NFC). Refuses control and direction characters, not joiners: Persian and Indic use them. */
export function line(text: string, most: number): Verdict {
  const tidy = text.normalize('NFC').trim().replace(/\s+/gu, ' ');
  if (/[\p{Cc}\p{Co}\p{Cn}\p{Cs}]|(?![\u200c\u200d])\p{Cf}/u.test(tidy)) {
    return wrong('has characters that cannot be printed.');
  }
  if (!/[\p{L}\p{N}]/u.test(tidy)) return wrong('must have a letter or a digit.');
  return [...tidy].length > most ? wrong(`has more than ${most} characters.`) : normal(tidy);
}

const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;

const DOMAIN = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{2,59})$/;

/**
 * An e-mail address (RFC 5321, without quoted parts and address literals). The domain is kept in lower-case ASCII; the
 * part before the @ stays, as its case may matter to the host.
 */
export function emailAddress(text: string): Verdict {
  const address = text.trim();
  const at = address.lastIndexOf('@');
  const local = address.slice(0, Math.max(at, 0));
  // domainToASCII would turn numbers into IP addresses.
  const host = address.slice(at + 1);
  const domain = /^[\x21-\x7e]*$/.test(host) ? host.toLowerCase() : domainToASCII(host);
  const fits = at > 0 && local.length <= 64 && LOCAL_PART.test(local) && DOMAIN.test(domain);
  return fits && address.length <= 254 ? normal(`${local}@${domain}`) : wrong('is not an e-mail address.');
}

/** A country where the specification requires alpha-3. */
export const countryAlpha3 = (text: string): Verdict =>
  text.length === 3 && alpha3Of(text) !== null
    ? normal(text)
    : wrong('must be an ISO 3166-1 alpha-3 code, such as PRT.');

/** Today in UTC, as YYYY-MM-DD. */
export const todayOf = ({ nowMs }: DataContext): string => new Date(nowMs).toISOString().slice(0, 10);
