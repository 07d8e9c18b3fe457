import { HOUR_MS, instant } from '../../kernel/clock.ts';
import { journeyEndMs } from '../../kernel/domain/ics.ts';
import { asInteger, atomic, formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { Affiliate, AffiliateCredit, Offer } from '../../wire/flights/index.ts';
import { checkWallet, type FlightsPorts, takeShare } from '../base/index.ts';

// Affiliate codes (spec/flight-service.md, POST /affiliates; CONTRACT, section 8). Their credit: affiliate-credit.ts.

const CODE_LENGTH = 10;

/** Registers a wallet (201), or finds its code (200). @throws Problem `invalid_wallet`, `too_many_attempts` */
export async function registerAffiliate(
  ports: FlightsPorts,
  wallet: string,
  client: string,
): Promise<{ status: 200 | 201; body: Affiliate }> {
  const { store, clock, ids, options } = ports;
  const byWallet = () => store.selectFrom('affiliates').selectAll().where('wallet', '=', wallet).executeTakeFirst();
  await checkWallet('wallet', wallet);
  const known = await byWallet();
  if (known) return { status: 200, body: affiliateOf(known) };
  const nowMs = clock.now();
  const recent = await store
    .selectFrom('affiliates')
    .select((column) => column.fn.countAll().as('made'))
    .where('created_at_ms', '>', nowMs - HOUR_MS)
    .executeTakeFirst();
  if (Number(recent?.made ?? 0) >= options.affiliatesPerHour) throw tooMany();
  const share = { of: 'affiliates', client, most: options.affiliatesPerClient, withinMs: HOUR_MS };
  if (!(await takeShare(ports, share))) throw tooMany();
  const made = await store
    .insertInto('affiliates')
    // 50 random bits from the end of an id; its time is at the beginning.
    .values({ code: ids.next('aff').slice(-CODE_LENGTH).toUpperCase(), wallet, created_at_ms: nowMs })
    .onConflict((conflict) => conflict.column('wallet').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (made) return { status: 201, body: affiliateOf(made) };
  const other = await byWallet();
  if (!other) throw new Error('an affiliate was neither made nor found');
  return { status: 200, body: affiliateOf(other) };
}

/** Shows a code's earnings, and nothing about its travellers. @throws Problem `affiliate_not_found` */
export async function showAffiliate({ store }: FlightsPorts, text: string): Promise<AffiliateCredit> {
  const affiliate = await byCode(store, text);
  if (!affiliate) throw problem('affiliate_not_found');
  // Captured and not refunded, whether the journey is flown yet or not.
  const earned = await store
    .selectFrom('intents')
    .select((column) => [column.fn.sum('affiliate_amount').as('amount'), column.fn.countAll().as('bookings')])
    .where('referrer', '=', affiliate.code)
    .where('status', '=', 'booked')
    .where('captured_at_ms', 'is not', null)
    .executeTakeFirst();
  const payouts = await store
    .selectFrom('affiliate_payouts')
    .select((column) => column.fn.sum('amount').as('amount'))
    .where('code', '=', affiliate.code)
    .where('state', '=', 'paid')
    .executeTakeFirst();
  const paid = atomic(payouts?.amount ?? 0);
  const open = atomic(earned?.amount ?? 0) - paid;
  const amounts = { pending: open > 0n ? open : 0n, paid, owed: open < 0n ? -open : 0n };
  return {
    ...affiliateOf(affiliate),
    bookings_count: Number(earned?.bookings ?? 0),
    pending_amount: asInteger(amounts.pending),
    pending_amount_decimal: formatUsdc(amounts.pending),
    paid_amount: asInteger(amounts.paid),
    paid_amount_decimal: formatUsdc(amounts.paid),
    owed_amount: asInteger(amounts.owed),
    owed_amount_decimal: formatUsdc(amounts.owed),
  };
}

/** Finds the affiliate of a new intent, and its share of the fee (atomic units); null if unknown or self-referred. */
export async function resolveReferrer(
  { store, options }: FlightsPorts,
  referrer: string,
  wallets: readonly string[],
  fee: bigint,
  offer: Offer,
) {
  const known = await byCode(store, referrer);
  if (!known || wallets.includes(known.wallet)) return null;
  const amount = (fee * BigInt(options.affiliateShareBasisPoints)) / 10_000n;
  return { code: known.code, wallet: known.wallet, amount, creditDueAtMs: journeyEndMs(offer.slices) };
}

/** Finds a code by Crockford's rules for what people type: case, hyphens, and the letters that look like digits. */
function byCode(store: FlightsPorts['store'], text: string) {
  const code = text.trim().toUpperCase().replaceAll('-', '').replaceAll('O', '0').replace(/[IL]/g, '1');
  return store.selectFrom('affiliates').selectAll().where('code', '=', code).executeTakeFirst();
}

const tooMany = () =>
  problem('too_many_attempts', {
    message: 'Too many affiliate codes were requested in the last hour.',
    retryAfter: HOUR_MS / 1000,
  });

const affiliateOf = (row: { code: string; wallet: string; created_at_ms: number }): Affiliate => ({
  code: row.code,
  wallet: row.wallet,
  created_at: instant(row.created_at_ms),
});
