import { formatUsdc } from '../../../kernel/money.ts';
import {
  dayName,
  fieldLines,
  fromNow,
  harmless,
  harmlessDocument,
  type Screen,
  utcTime,
  wrap,
} from '../../../terminal/index.ts';
import type { Intent, Passenger } from '../../../wire/flights/index.ts';
import type { KnownFare } from '../../session/index.ts';
import { money } from '../index.ts';
import { fareFields, sliceLines } from './offer.ts';

/** What is about to be paid. */
export interface Review {
  readonly intent: Intent;
  /** null: neither a search nor an offer of this home showed it. */
  readonly fare: KnownFare | null;
  readonly passengers: readonly Passenger[];
  /** The wallet that pays; null: there is none yet. */
  readonly wallet: string | null;
  /** What a person should know first, a line each. */
  readonly warnings: readonly string[];
}

/** What is bought, for whom, what it costs, where the money goes and comes back to, and until when. */
export function reviewLines(
  { intent, fare: kept, passengers, wallet, warnings }: Review,
  nowMs: number,
  screen: Screen,
): string[] {
  const { paint } = screen;
  const fare = harmlessDocument(kept);
  const flights = fare?.slices.flatMap((slice) => sliceLines(slice, screen)) ?? [
    `The flights were not searched from here: farelock offer ${intent.offer_id} shows them for 0.01 USDC.`,
  ];
  return [
    ...flights,
    ...fieldLines(
      [
        ...(fare ? fareFields(fare) : []),
        ...passengers.map((passenger, index) => [index === 0 ? 'Passengers' : '', passengerText(passenger)] as const),
        ['Price', `${paint.bold(`${formatUsdc(BigInt(intent.escrow.amount))} USDC`)}${partsText(intent, fare)}`],
        ['Paid into', `the escrow ${intent.escrow.address}, until the ticket is issued`],
        ['Refunds to', refundText(intent, wallet)],
        ['Book until', `${utcTime(intent.expires_at)} (${fromNow(intent.expires_at, nowMs)})`],
      ],
      paint.dim,
      screen.width,
    ),
    ...warnings.flatMap((line) => wrap(line, screen.width)),
  ];
}

/** `Ms Ana Silva, born 4 Mar 1990` */
const passengerText = ({ title, given_name, family_name, born_on }: Passenger): string =>
  harmless(
    `${title.charAt(0).toUpperCase()}${title.slice(1)} ${given_name} ${family_name}, born ${dayName(born_on).slice(4)}`,
  );

/** What the price is made of, where it is the one that was shown. */
function partsText(intent: Intent, fare: KnownFare | null): string {
  const people = intent.passenger_count === 1 ? '' : ` for ${intent.passenger_count} passengers`;
  if (!fare?.base_amount_decimal || !fare.tax_amount_decimal) return `${people}, all included`;
  const isSame = money(fare.total_amount_decimal) === formatUsdc(BigInt(intent.escrow.amount));
  if (!isSame) return `${people}, all included`;
  return `${people}: base ${money(fare.base_amount_decimal)}, tax ${money(fare.tax_amount_decimal)}`;
}

/** True when a refund would go to somebody else than who pays. */
export const isRefundedElsewhere = ({ intent, wallet }: Pick<Review, 'intent' | 'wallet'>): boolean =>
  wallet !== null && intent.refund_wallet !== wallet;

const refundText = (intent: Intent, wallet: string | null): string =>
  isRefundedElsewhere({ intent, wallet })
    ? `! ${intent.refund_wallet}, which is not the wallet that pays`
    : `${intent.refund_wallet}${wallet === null ? '' : ', your wallet'}`;
