import { type Issue, refuse } from '../../http/index.ts';
import { type ExchangeCodes, FIAT, sideIssues, withNear } from '../../kernel/domain/exchange-codes.ts';
import { compareDecimals, unitsOf } from '../../kernel/money.ts';
import type {
  GetAvailablePartnersRequest,
  GetAvailablePartnersResponse,
  PartnerOffer,
} from '../../wire/partner/offers.ts';
import { quoteOf, railsOf } from '../../wire/partner/offers.ts';
import type { PartnerPorts } from '../base/index.ts';
import { createBreaker } from './breaker.ts';

interface Ranked {
  readonly offer: PartnerOffer;
  readonly reliability: number;
}

/**
 * Lists the partners that sell an exchange, by country, currencies, method and limits (spec/partner-service.md,
 * GetAvailablePartners; CONTRACT, section 12). Sorts by the customer's amount, then the partner's reliability and name.
 */
export async function availablePartners(
  { store, clock, environment, log }: PartnerPorts,
  input: GetAvailablePartnersRequest,
): Promise<GetAvailablePartnersResponse> {
  refuseZero(input);
  const [rows, reliability] = await Promise.all([
    store.selectFrom('partners').selectAll().where('environment', '=', environment).execute(),
    createBreaker({ store, clock }).reliability(),
  ]);
  refuseUnknownCodes(rows, input);
  const types = (input.partnerTypes ?? []).filter((type) => type !== 'TYPE_UNDEFINED');
  const ranked: Ranked[] = [];
  for (const row of rows) {
    if (row.enabled !== 1 || (types.length > 0 && !types.includes(row.type))) continue;
    const offering = railsOf(row.offering);
    if (!offering.isWhole) log('error', 'offering_invalid', { partner_id: row.partner_id });
    const quote = quoteOf(offering, input);
    if (quote.kind !== 'quote') continue;
    ranked.push({
      offer: {
        partnerId: row.partner_id,
        partnerName: row.name,
        toAmount: quote.toAmount,
        icon: row.icon,
        type: row.type,
        termsUrl: row.terms_url,
        privacyPolicyUrl: row.privacy_policy_url,
      },
      // A partner that was never called is neither preferred nor passed over.
      reliability: reliability.get(row.partner_id) ?? 0.5,
    });
  }
  return { partners: ranked.sort(byRank).map(({ offer }) => offer) };
}

function byRank(a: Ranked, b: Ranked): number {
  const byAmount = compareDecimals(b.offer.toAmount, a.offer.toAmount);
  if (byAmount !== 0) return byAmount;
  if (a.reliability !== b.reliability) return b.reliability - a.reliability;
  if (a.offer.partnerName !== b.offer.partnerName) return a.offer.partnerName < b.offer.partnerName ? -1 : 1;
  return a.offer.partnerId < b.offer.partnerId ? -1 : 1;
}

/** @throws Problem `invalid_request` */
export function refuseZero({ fromAmount }: { readonly fromAmount: string }): void {
  if (unitsOf(fromAmount) === 0n) refuse([{ path: 'fromAmount', message: 'must be more than zero.' }]);
}

/**
 * Checks the codes of an exchange: its sides, the currencies of ISO 4217, and the crypto currencies and payment methods
 * that the partners of this environment offer. Without any offering, only the format of codes is checked.
 * @param rows every partner of the environment
 * @throws Problem `invalid_request`, naming each field, with codes that are close
 */
export function refuseUnknownCodes(
  rows: readonly { readonly offering: string }[],
  given: ExchangeCodes & { readonly paymentMethod: string },
): void {
  // Includes disabled partners: switching a partner off must not make its codes unknown.
  const rails = rows.flatMap(({ offering }) => railsOf(offering).rails);
  const currencies = new Set(rails.flatMap(({ fromCurrency, toCurrency }) => [fromCurrency, toCurrency]));
  const methods = new Set(rails.flatMap(({ paymentMethods }) => paymentMethods));
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
  if (issues.length > 0) refuse(issues);
}
