import { formatUsdc } from '../../../kernel/money.ts';
import { counted, fieldLines, fromNow, type Screen, utcTime } from '../../../terminal/index.ts';
import type { CreatedIntent, Intent, Offer, SearchResponse } from '../../../wire/flights/index.ts';
import { fareFamilies, fareOfOffer } from './fares.ts';
import type { NumberedFare } from './search-columns.ts';
import { moneyStage, stageText } from './status.ts';

export const usdc = (atomicAmount: number | bigint): string => `${formatUsdc(BigInt(atomicAmount))} USDC`;

/** A new intent: its escrow, what is to be paid and until when, and the code that is shown once. */
export function createdIntentLines(intent: CreatedIntent, nowMs: number, { paint }: Screen): string[] {
  return [
    `${paint.bold(intent.intent_id)}  ${counted(intent.passenger_count, 'passenger')}`,
    ...fieldLines(
      [
        ['To pay', paint.bold(usdc(intent.escrow.amount))],
        ['Escrow', intent.escrow.address],
        ['Vault', intent.escrow.vault_address],
        ['Book until', `${utcTime(intent.expires_at)} (${fromNow(intent.expires_at, nowMs)})`],
        ['Refunds to', intent.refund_wallet],
        ['Support code', `${paint.bold(intent.customer_support_code)}  shown once; saved here`],
      ],
      paint.dim,
    ),
  ];
}

export function intentLines(intent: Intent, nowMs: number, { paint }: Screen): string[] {
  const { escrow } = intent;
  return [
    `${paint.bold(intent.intent_id)}  ${stageText(moneyStage(intent, nowMs), paint)}`,
    ...fieldLines(
      [
        ['Offer', intent.offer_id],
        ['Passengers', String(intent.passenger_count)],
        ['Amount', usdc(escrow.amount)],
        ['In the vault', escrow.observed_amount === null ? '–' : usdc(escrow.observed_amount)],
        ['Escrow', escrow.address],
        ['Vault', escrow.vault_address || '–'],
        ['Program', escrow.program_id || '–'],
        ['Paid by', intent.funding_wallet],
        ['Refunds to', intent.refund_wallet],
        ['Referrer', intent.referrer],
        ['Order', intent.order_id],
        ['Created', utcTime(intent.created_at)],
        ['Book until', `${utcTime(intent.expires_at)} (${fromNow(intent.expires_at, nowMs)})`],
        ['Anyone can refund', escrow.refund_after === '' ? '–' : `from ${utcTime(escrow.refund_after)}`],
      ],
      paint.dim,
    ),
  ];
}

/** An itinerary of a list, with those of its fares that are shown. */
export interface ListRow {
  readonly offer: Offer;
  readonly fares: readonly NumberedFare[];
  /** Pricier fares like those, from other sellers. */
  readonly sameForMore: number;
}

export const rowsOf = (offers: readonly Offer[], grouped: boolean): ListRow[] =>
  offers.map((offer, index) => {
    const { fares, sameForMore } = grouped ? fareFamilies(offer) : { fares: [fareOfOffer(offer)], sameForMore: 0 };
    const numbered = fares.map((fare, family) => ({
      ...fare,
      number: family === 0 ? `${index + 1}` : `${index + 1}.${family + 1}`,
    }));
    return { offer, fares: numbered, sameForMore };
  });

/** The offers that `1` and `1.2` on the screen stand for, so that nobody needs to copy an id. */
export const numberedOffers = (response: SearchResponse, grouped: boolean): Record<string, string> =>
  Object.fromEntries(
    rowsOf(response.offers, grouped).flatMap(({ fares }) => fares.map(({ number, offerId }) => [number, offerId])),
  );
