import { domainToASCII } from 'node:url';
import { normal, type Verdict, wrong } from './verdict.ts';

const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN =
  /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{2,59})$/;

/**
 * An e-mail address (RFC 5321, without quoted parts and address literals): kept with its domain in lower case and
 * in ASCII; the part before the @ belongs to the receiving host and stays as it is.
 */
export function emailAddress(text: string): Verdict {
  const address = text.trim();
  const at = address.lastIndexOf('@');
  const local = address.slice(0, Math.max(at, 0));
  // Only a name that is not ASCII needs translating, and that function reads numbers as addresses of hosts.
  const host = address.slice(at + 1);
  const domain = /^[\x21-\x7e]*$/.test(host) ? host.toLowerCase() : domainToASCII(host);
  const fits = at > 0 && local.length <= 64 && LOCAL_PART.test(local) && DOMAIN.test(domain);
  return fits && address.length <= 254 ? normal(`${local}@${domain}`) : wrong('is not an e-mail address.');
}
