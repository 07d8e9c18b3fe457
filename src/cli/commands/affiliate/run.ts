import { quoted } from '../../../kernel/shell-word.ts';
import { fieldLines, type Screen, utcTime } from '../../../terminal/index.ts';
import type { Affiliate, AffiliateCredit } from '../../../wire/flights/index.ts';
import type { Run } from '../../spec/index.ts';
import { nextLines, printPlan } from '../../view/index.ts';
import type * as spec from './spec.ts';

export const affiliateCreate: Run<typeof spec.affiliateCreate> = async (context, options) => {
  const { terminal, session, signal } = context;
  const wallet = options.wallet ?? (await session.wallet()).address;
  if (context.globals.dryRun)
    return printPlan(terminal, ['Create the affiliate code of the wallet, or show the one it has. Free.'], {
      request: { wallet },
    });
  const flights = await session.flights();
  const made = await flights.createAffiliate(wallet, { signal });
  terminal.result(made, { lines: affiliateLines, rows: (shown) => Object.entries(shown) });
  terminal.aside([
    '',
    'People who book with it pay the same price; the wallet is paid after they fly.',
    ...nextLines(`farelock affiliate show ${quoted(made.code)}`),
  ]);
  return 0;
};

export const affiliateShow: Run<typeof spec.affiliateShow> = async ({ terminal, session, signal }, { code }) => {
  await session.work();
  const flights = await session.flights();
  const credit = await flights.affiliate(code, { signal });
  const rows = (shown: AffiliateCredit) => Object.entries(shown).map(([key, value]) => [key, String(value)]);
  terminal.result(credit, { lines: affiliateCreditLines, rows });
  return 0;
};

const affiliateLines = (affiliate: Affiliate, { paint }: Screen): string[] => [
  paint.bold(affiliate.code),
  ...fieldLines(paint.dim, [
    ['Pays to', affiliate.wallet],
    ['Since', utcTime(affiliate.created_at)],
  ]),
];

const affiliateCreditLines = (credit: AffiliateCredit, screen: Screen): string[] => [
  ...affiliateLines(credit, screen),
  ...fieldLines(screen.paint.dim, [
    ['Bookings', String(credit.bookings_count)],
    ['Pending', screen.paint.usdc(credit.pending_amount_decimal)],
    ['Paid', screen.paint.usdc(credit.paid_amount_decimal)],
    [
      'Owed',
      credit.owed_amount > 0 ? `${screen.paint.usdc(credit.owed_amount_decimal)}  refunded after it was paid` : null,
    ],
  ]),
];
