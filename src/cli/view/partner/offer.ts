import { tableLines } from '../../../terminal/table.ts';
import type { Screen, View } from '../../../terminal/terminal.ts';
import type { CreateOrderResponse, PartnerOffer } from '../../../wire/partner/index.ts';
import { alignedAmounts, orderLines } from './order.ts';

interface ShownOffers {
  readonly partners: readonly PartnerOffer[];
}

/** Offers of partners, best first. */
export const offersView = (currency: string): View<ShownOffers> => ({
  list: 'partners',
  lines({ partners }, { paint, width }) {
    if (partners.length === 0) return ['No partner offers match.'];
    const roomy = width >= 110;
    const amounts = alignedAmounts(partners.map((offer) => offer.toAmount));
    return tableLines(
      [
        { title: `Receives ${currency}`, align: 'right' },
        { title: 'Partner', cuts: true },
        { title: 'Partner id' },
        { title: 'Kind' },
        ...(roomy ? [{ title: 'Terms', cuts: true }] : []),
      ],
      partners.map((offer, index) => [
        amounts[index] ?? '',
        offer.partnerName,
        offer.partnerId,
        kindWords(offer.type),
        ...(roomy ? [offer.termsUrl] : []),
      ]),
      paint.dim,
      width,
    );
  },
  rows: ({ partners }) =>
    partners.map((offer) => [offer.partnerId, offer.partnerName, offer.toAmount, offer.type, offer.termsUrl]),
});

const kindWords = (type: string): string =>
  type === 'REDIRECT' ? 'at the partner' : type === 'INTEGRATION' ? 'here' : '–';

/** The outcome of CreateOrder: an order, or the address where the customer continues. */
export function createdLines(
  created: CreateOrderResponse,
  screen: Screen,
  qr: readonly string[] | null = null,
): string[] {
  const { order, redirectUrl, toAmount, orderId } = created;
  if (order) return orderLines(order, screen);
  const { paint } = screen;
  return [
    `${paint.good('✓')} The customer continues at the partner${toAmount ? `, and receives ${toAmount}` : ''}:`,
    redirectUrl === undefined ? '–' : paint.accent(paint.link(redirectUrl, redirectUrl)),
    ...(orderId === undefined ? [] : [paint.dim(`Redirection ${orderId}`)]),
    ...(qr === null ? [] : ['', ...qr]),
  ];
}
