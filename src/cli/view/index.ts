import type { PaymentReceipt } from '../../client/base/index.ts';
import { type Text, textOf } from '../../kernel/problems.ts';
import { farelock, lineOf, type NextStep } from '../../kernel/shell-word.ts';
import { mainnetUsdc, plainUsdc } from '../../kernel/usdc.ts';
import { SOLANA_NETWORKS } from '../../solana/index.ts';
import { harmless, type Terminal, wrapBehind } from '../../terminal/index.ts';

export { quoted } from '../../kernel/shell-word.ts';

/** Links a text to a transaction, where the terminal opens links. */
export type Linked = (text: string, transaction: string, network: string) => string;

const unlinked: Linked = (text) => text;

/** The payment and its shortened transaction (`payments` shows it in full); no lines if nothing was paid. */
export function costLines(payment: PaymentReceipt | null, linked: Linked = unlinked): string[] {
  if (!payment) return [];
  const { transaction: id, network } = payment;
  const transaction = id ? ` · ${linked(shortened(id), id, network)}` : '';
  const usdc = network === SOLANA_NETWORKS.mainnet ? mainnetUsdc : plainUsdc;
  return [`Paid ${usdc(money(payment.amount))}${transaction}`];
}

/** The next command, to copy. */
export const nextLines = (...commands: readonly (string | NextStep)[]): string[] =>
  commands.map((one, index) => `${index === 0 ? 'Next:' : '     '} ${typeof one === 'string' ? one : lineOf(one)}`);

/** Adds the payment beside the service's own fields, for --json. */
export const withPayment = <T extends object>(
  value: T,
  payment: PaymentReceipt | null,
): T & { payment?: PaymentReceipt } => (payment ? { ...value, payment } : { ...value });

/** A signature or an address, short but recognisable. */
export const shortened = (text: string): string => (text.length > 20 ? `${text.slice(0, 8)}…${text.slice(-8)}` : text);

/** The shortest command that locks an offer, by its id or its number. */
export const lockCommand = (offer: string, bags: readonly string[] = []) => farelock`intent ${offer} ${[...bags]}`;

/** The next command for an offer; an offer of the lowcost tier first has a fare menu to choose from. */
export const offerCommand = (
  offerId: string,
  /** The id or number to type. */
  short = offerId,
) => (isMenuOffer(offerId) ? farelock`offer ${short}` : lockCommand(short));

/** True for a price in US dollars, the currency of all escrows. */
export const isLockable = ({ total_currency }: { readonly total_currency: string }): boolean =>
  total_currency === 'USD';

/** The next step for a list: its first offer in US dollars, which can be locked. */
export function firstOfferLines(
  offers: readonly { readonly offer_id: string; readonly total_currency: string }[],
  shortOf: (offerId: string) => string,
): string[] {
  const first = offers.find(isLockable);
  if (first) {
    const short = shortOf(first.offer_id);
    // A row of a low-cost flight is locked by its number too.
    return nextLines(short === first.offer_id ? offerCommand(short) : lockCommand(short));
  }
  return [`Next: try another day${offers.length > 0 ? ': only offers in USD can be locked' : ', or fewer filters'}`];
}

/** A lowcost offer whose fare is still to be chosen. */
export const isMenuOffer = (offerId: string): boolean => offerId.startsWith('lowcost:') && !offerId.includes('##');

/** The command that books an intent: on a terminal it asks for the passengers. */
export const bookCommand = (intentId: string, canAsk: boolean) =>
  farelock`book ${intentId} ${canAsk ? [] : ['--passengers', 'passengers.json']}`;

/** A decimal string with at least two decimals, and no more zeros than that. */
export function money(decimal: string): string {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return `${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}

/** The numbered steps of a plan, in lines that fit. */
export const stepLines = (steps: readonly string[], width: number): string[] =>
  steps.flatMap((step, index) => wrapBehind(`  ${index + 1}. `, step, width));

export const DRY_RUN = 'Dry run. This command would:';

/** Prints what the real run would do, for --dry-run. */
export function printPlan(terminal: Terminal, steps: readonly Text[], facts: Record<string, unknown> = {}): 0 {
  terminal.result(
    { dry_run: true, plan: steps.map((step) => textOf(step)), ...facts },
    {
      lines: (_, { paint, width }) => {
        const plan = steps.map((step) => harmless(textOf(step, paint.usdc)));
        return [paint.bold(DRY_RUN), ...stepLines(plan, width)];
      },
    },
  );
  return 0;
}

export * from './problem.ts';
