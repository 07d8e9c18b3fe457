import { FIAT } from '../../domain/currency-table.ts';
import { type ExchangeCodes, sideIssues, withNear } from '../../domain/exchange-codes.ts';
import type { Issue } from '../../http/body.ts';
import { problem } from '../../kernel/problems.ts';
import { type Rail, railsOf } from '../../wire/partner/offering.ts';

/** The codes that partners sell with. */
interface OfferedCodes {
  readonly currencies: ReadonlySet<string>;
  readonly methods: ReadonlySet<string>;
}

/** Of partners that take no orders at the moment too: what a code is does not change with a switch. */
function offeredCodes(rails: readonly Rail[]): OfferedCodes {
  return {
    currencies: new Set(rails.flatMap(({ fromCurrency, toCurrency }) => [fromCurrency, toCurrency])),
    methods: new Set(rails.flatMap(({ paymentMethods }) => paymentMethods)),
  };
}

/**
 * Holds what is asked for to the codes that there are: its sides, the currencies of ISO 4217, and the crypto currencies
 * and payment methods that the partners of this environment offer. Where none says what it offers, forms alone count.
 * @param rows every partner of the environment
 * @throws Problem `invalid_request`, naming each field, with codes that are close
 */
export function refuseUnknownCodes(
  rows: readonly { readonly offering: string }[],
  given: ExchangeCodes & { readonly paymentMethod: string },
): void {
  const { currencies, methods } = offeredCodes(rows.flatMap(({ offering }) => railsOf(offering).rails));
  const cryptos = [...currencies].filter((code) => !FIAT.has(code));
  const issues: Issue[] = sideIssues(given, cryptos);
  const fields = new Set(issues.map(({ path }) => path));
  for (const path of ['fromCurrency', 'toCurrency'] as const) {
    const code = given[path];
    if (fields.has(path) || currencies.size === 0 || FIAT.has(code) || currencies.has(code)) continue;
    issues.push({ path, message: withNear('is a currency that no partner offers.', code, cryptos) });
  }
  if (methods.size > 0 && !methods.has(given.paymentMethod)) {
    const words = 'is a payment method that no partner offers.';
    issues.push({ path: 'paymentMethod', message: withNear(words, given.paymentMethod, [...methods]) });
  }
  if (issues.length > 0) throw problem('invalid_request', { detail: { issues } });
}
