import { didYouMeanOneOf, nearest } from '../nearest.ts';
import currencies from './currencies.json' with { type: 'json' };

/**
 * ISO 4217 currencies in use, with their decimals: no metals, bond units, funds, test or former codes. `Intl` lists
 * those too, and varies with the build of Node.
 */
const DECIMALS: Readonly<Record<string, number>> = currencies;
export const FIAT: ReadonlySet<string> = new Set(Object.keys(DECIMALS));

/** Null for a code that is not fiat. */
export const minorUnitsOf = (code: string): number | null => (FIAT.has(code) ? (DECIMALS[code] ?? null) : null);

/** Customers' wallet networks (spec/partner-service.md, Data types). */
export const WALLET_TYPES = [
  'SOLANA',
  'BITCOIN',
  'ETHEREUM',
  'BSC',
  'POLYGON',
  'ARBITRUM',
  'BASE',
  'OPTIMISM',
  'AVALANCHEC',
  'AVALANCHEX',
  'TRON',
  'TON',
] as const;

export type WalletType = (typeof WALLET_TYPES)[number];

/** Other common names of these networks. */
const ALIASES: Readonly<Record<string, WalletType>> = {
  SOL: 'SOLANA',
  BTC: 'BITCOIN',
  ETH: 'ETHEREUM',
  ERC20: 'ETHEREUM',
  BNB: 'BSC',
  BEP20: 'BSC',
  MATIC: 'POLYGON',
  POL: 'POLYGON',
  ARB: 'ARBITRUM',
  OP: 'OPTIMISM',
  AVAX: 'AVALANCHEC',
  AVAXC: 'AVALANCHEC',
  AVALANCHE: 'AVALANCHEC',
  AVAXX: 'AVALANCHEX',
  TRX: 'TRON',
  TRC20: 'TRON',
};

/** Finds a wallet network by name or alias; null if we do not serve it. */
export const networkNamed = (name: string): WalletType | null =>
  WALLET_TYPES.find((type) => type === name) ?? (Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? null) : null);

/** Splits `SOLANA_USDC`; returns null for another form. */
function partsOf(code: string): { readonly network: string; readonly asset: string } | null {
  const [, network, asset] = /^([A-Z0-9]+)_([A-Z0-9.]*[A-Z0-9])$/.exec(code) ?? [];
  return network === undefined || asset === undefined ? null : { network, asset };
}

/** The network of a crypto currency; null for other codes, or if we do not serve it. */
export function networkOfCurrency(code: string): WalletType | null {
  const parts = partsOf(code);
  return parts && networkNamed(parts.network);
}

export interface ExchangeCodes {
  readonly rampType: 'ONRAMP' | 'OFFRAMP';
  readonly fromCurrency: string;
  readonly toCurrency: string;
}

export const cryptoSideOf = ({ rampType, fromCurrency, toCurrency }: ExchangeCodes) =>
  rampType === 'ONRAMP'
    ? ({ path: 'toCurrency', code: toCurrency } as const)
    : ({ path: 'fromCurrency', code: fromCurrency } as const);

/**
 * Lists the faults in an exchange's currencies: ONRAMP is fiat to crypto, OFFRAMP crypto to fiat
 * (spec/partner-service.md, Create Order Request), on a network that we serve. @param offered codes to suggest
 */
export function sideIssues(given: ExchangeCodes, offered: readonly string[] = []): { path: string; message: string }[] {
  const crypto = cryptoSideOf(given);
  const fiat =
    crypto.path === 'toCurrency'
      ? { path: 'fromCurrency', code: given.fromCurrency }
      : { path: 'toCurrency', code: given.toCurrency };
  const issues: { path: string; message: string }[] = [];
  if (!FIAT.has(fiat.code)) {
    const words = `is fiat for ${given.rampType}: an ISO 4217 code such as EUR.`;
    issues.push({ path: fiat.path, message: withNear(words, fiat.code, [...FIAT]) });
  }
  if (networkOfCurrency(crypto.code) === null) {
    const words = partsOf(crypto.code)
      ? `is on a network that is not served; those that are: ${WALLET_TYPES.join(', ')}.`
      : `is crypto for ${given.rampType}, with its network, such as SOLANA_USDC.`;
    issues.push({ path: crypto.path, message: withNear(words, crypto.code, offered) });
  }
  return issues;
}

export function withNear(words: string, given: string, known: readonly string[]): string {
  const near = didYouMeanOneOf(codesNear(given, known));
  return near === '' ? words : `${words} ${near}`;
}

/** Suggests `SOLANA_USDC` for a bare `USDC`, else similar codes. */
function codesNear(given: string, known: readonly string[], limit = 3): string[] {
  const code = given.trim().toUpperCase();
  const onNetworks = known.filter((one) => one.endsWith(`_${code}`));
  return onNetworks.length > 0 ? onNetworks.slice(0, limit) : nearest(code, known, limit);
}

/** Suggests codes for an unknown one; null if it is fiat, or crypto on a network we serve. */
export function currencyIssue(code: string): { readonly near: readonly string[] } | null {
  if (FIAT.has(code) || networkOfCurrency(code) !== null) return null;
  return { near: codesNear(code, ['SOLANA_USDC', ...FIAT]) };
}

/** Suggests networks for a misspelt one; null for other rails (`SEPA`). */
export function networkIssue(name: string): { readonly near: readonly string[] } | null {
  if (networkNamed(name) !== null) return null;
  const near = nearest(name, WALLET_TYPES);
  return near.length > 0 ? { near } : null;
}
