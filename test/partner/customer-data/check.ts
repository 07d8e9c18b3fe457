import { type CustomerData, validateCustomerData } from '../../../src/partner/customer-data/index.ts';

/** 2026-11-21, noon. */
export const NOW_MS = Date.UTC(2026, 10, 21, 12);

/** The kept form, or the issues as `path message` lines. */
export async function check(value: unknown, testNetworks = false): Promise<CustomerData | string[]> {
  const checked = await validateCustomerData(value, { nowMs: NOW_MS, testNetworks });
  return 'issues' in checked ? checked.issues.map(({ path, message }) => `${path} ${message}`) : checked.data;
}

export const isTaken = async (value: unknown, testNetworks = false): Promise<boolean> =>
  !Array.isArray(await check(value, testNetworks));

export const bank = (bankAccount: unknown) => ({ bankAccount });
export const wallet = (type: string, address: string) => ({ cryptoWallet: { address, type } });

export const DIGITS = '0123456789';
export const CAPITALS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
export const SMALL = CAPITALS.toLowerCase();

/** Every text that differs from this one in one character, taken from the alphabet. */
export function* corruptions(text: string, alphabet: string | ((old: string) => string)): Generator<string> {
  for (let place = 0; place < text.length; place += 1) {
    const old = text.charAt(place);
    for (const other of typeof alphabet === 'string' ? alphabet : alphabet(old)) {
      if (other !== old) yield text.slice(0, place) + other + text.slice(place + 1);
    }
  }
}

/** Every text with two different neighbours swapped. */
export function* transpositions(text: string): Generator<string> {
  for (let place = 0; place + 1 < text.length; place += 1) {
    const [one, two] = [text.charAt(place), text.charAt(place + 1)];
    if (one !== two) yield text.slice(0, place) + two + one + text.slice(place + 2);
  }
}

/** Those of the texts that the check takes: nothing, where the check digits do their work. */
export async function taken(texts: Iterable<string>, isGood: (text: string) => boolean | Promise<boolean>) {
  const through: string[] = [];
  for (const text of texts) if (await isGood(text)) through.push(text);
  return through;
}
