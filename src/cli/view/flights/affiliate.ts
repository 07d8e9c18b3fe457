import { fieldLines } from '../../../terminal/table.ts';
import type { Screen } from '../../../terminal/terminal.ts';
import { utcTime } from '../../../terminal/times.ts';
import type { Affiliate, AffiliateCredit } from '../../../wire/flights/index.ts';

/** A code, and who is paid for it. */
export const affiliateLines = (affiliate: Affiliate, { paint }: Screen): string[] => [
  paint.bold(affiliate.code),
  ...fieldLines(
    [
      ['Pays to', affiliate.wallet],
      ['Since', utcTime(affiliate.created_at)],
    ],
    paint.dim,
  ),
];

/** The code's earnings. A debt is shown only where there is one. */
export const affiliateCreditLines = (credit: AffiliateCredit, screen: Screen): string[] => [
  ...affiliateLines(credit, screen),
  ...fieldLines(
    [
      ['Bookings', String(credit.bookings_count)],
      ['Pending', `${credit.pending_amount_decimal} USDC`],
      ['Paid', `${credit.paid_amount_decimal} USDC`],
      ...(credit.owed_amount > 0
        ? [['Owed', `${credit.owed_amount_decimal} USDC  refunded after it was paid`] as const]
        : []),
    ],
    screen.paint.dim,
  ),
];
