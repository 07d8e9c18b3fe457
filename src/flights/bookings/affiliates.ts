import { HOUR_MS, instant } from '../../kernel/clock.ts';
import { asInteger, atomic, formatUsdc } from '../../kernel/money.ts';
import { problem } from '../../kernel/problems.ts';
import type { Affiliate, AffiliateCredit } from '../../wire/flights/index.ts';
import { checkWallet, type FlightsPorts, takeShare } from '../base/index.ts';

const CODE_LENGTH = 10;

/** Affiliate codes (spec/flight-service.md, POST /affiliates; CONTRACT, section 8). What they earn: affiliate-credit.ts. */
export function createAffiliates(ports: FlightsPorts) {
  const { store, clock, ids, options } = ports;
  const byWallet = (wallet: string) =>
    store.selectFrom('affiliates').selectAll().where('wallet', '=', wallet).executeTakeFirst();

  return {
    /**
     * The code of a wallet: a new one (201), or the one that it has (200). One row a wallet, and not more than
     * `affiliatesPerHour` new ones altogether, of which a client has a share: the call is free, and must not fill the
     * disk.
     * @param client as `clientOf` has it
     * @throws Problem `invalid_wallet`, `too_many_attempts`
     */
    async register(wallet: string, client: string): Promise<{ status: 200 | 201; body: Affiliate }> {
      await checkWallet('wallet', wallet);
      const known = await byWallet(wallet);
      if (known) return { status: 200, body: affiliateOf(known) };
      const nowMs = clock.now();
      await checkRoom(nowMs);
      const share = { of: 'affiliates', client, most: options.affiliatesPerClient, withinMs: HOUR_MS };
      if (!(await takeShare(ports, share))) throw tooMany();
      const made = await store
        .insertInto('affiliates')
        .values({ code: newCode(ids), wallet, created_at_ms: nowMs, credited_at_ms: null })
        .onConflict((conflict) => conflict.column('wallet').doNothing())
        .returningAll()
        .executeTakeFirst();
      if (made) return { status: 201, body: affiliateOf(made) };
      const other = await byWallet(wallet);
      if (!other) throw new Error('an affiliate was neither made nor found');
      return { status: 200, body: affiliateOf(other) };
    },

    /**
     * What a code has earned. Nothing of who travelled, or where.
     * @throws Problem `affiliate_not_found`
     */
    async show(text: string): Promise<AffiliateCredit> {
      const code = canonicalCode(text);
      const affiliate = await store.selectFrom('affiliates').selectAll().where('code', '=', code).executeTakeFirst();
      if (!affiliate) throw problem('affiliate_not_found');
      const { earned, bookings } = await earnings(code);
      const { paid } = await payouts(code);
      const open = earned - paid;
      const amounts = { pending: open > 0n ? open : 0n, paid, owed: open < 0n ? -open : 0n };
      return {
        ...affiliateOf(affiliate),
        bookings_count: bookings,
        pending_amount: asInteger(amounts.pending),
        pending_amount_decimal: formatUsdc(amounts.pending),
        paid_amount: asInteger(amounts.paid),
        paid_amount_decimal: formatUsdc(amounts.paid),
        owed_amount: asInteger(amounts.owed),
        owed_amount_decimal: formatUsdc(amounts.owed),
      };
    },
  };

  async function checkRoom(nowMs: number): Promise<void> {
    const recent = await store
      .selectFrom('affiliates')
      .select((column) => column.fn.countAll().as('made'))
      .where('created_at_ms', '>', nowMs - HOUR_MS)
      .executeTakeFirst();
    if (Number(recent?.made ?? 0) < options.affiliatesPerHour) return;
    throw tooMany();
  }

  /** Captured and not refunded: what counts, whether the journey is flown yet or not. */
  async function earnings(code: string): Promise<{ earned: bigint; bookings: number }> {
    const row = await store
      .selectFrom('intents')
      .select((column) => [column.fn.sum('affiliate_amount').as('earned'), column.fn.countAll().as('bookings')])
      .where('referrer', '=', code)
      .where('status', '=', 'booked')
      .where('captured_at_ms', 'is not', null)
      .executeTakeFirst();
    return { earned: atomic(row?.earned ?? 0), bookings: Number(row?.bookings ?? 0) };
  }

  async function payouts(code: string): Promise<{ paid: bigint }> {
    const row = await store
      .selectFrom('affiliate_payouts')
      .select((column) => column.fn.sum('amount').as('paid'))
      .where('code', '=', code)
      .where('state', '=', 'paid')
      .executeTakeFirst();
    return { paid: atomic(row?.paid ?? 0) };
  }
}

const tooMany = () =>
  problem('too_many_attempts', {
    message: 'Too many affiliate codes were asked for in the last hour.',
    retryAfter: HOUR_MS / 1000,
  });

/** The affiliate that an intent freezes, and what its share of the platform fee comes to. */
interface Referral {
  readonly code: string;
  readonly wallet: string;
  /** Atomic units. */
  readonly amount: bigint;
}

/**
 * Resolves the `referrer` of an intent. Unknown codes and one's own are ignored in silence (spec/flight-service.md,
 * Booking intent): null.
 * @param wallets the wallets of the intent: an affiliate who is one of them refers itself
 * @param fee the platform fee inside the ticket total, atomic units
 */
export async function resolveReferrer(
  { store, options }: Pick<FlightsPorts, 'store' | 'options'>,
  referrer: string | undefined,
  wallets: readonly string[],
  fee: bigint,
): Promise<Referral | null> {
  if (referrer === undefined) return null;
  const known = await store
    .selectFrom('affiliates')
    .selectAll()
    .where('code', '=', canonicalCode(referrer))
    .executeTakeFirst();
  if (!known || wallets.includes(known.wallet)) return null;
  const amount = (fee * BigInt(options.affiliateShareBasisPoints)) / 10_000n;
  return { code: known.code, wallet: known.wallet, amount };
}

/** Crockford's rules for what people type: case, hyphens, and the letters that look like digits. */
const canonicalCode = (text: string): string =>
  text.trim().toUpperCase().replaceAll('-', '').replaceAll('O', '0').replace(/[IL]/g, '1');

/** 50 random bits, from the end of an id, where its time is not. */
const newCode = (ids: FlightsPorts['ids']): string => ids.next('aff').slice(-CODE_LENGTH).toUpperCase();

const affiliateOf = (row: { code: string; wallet: string; created_at_ms: number }): Affiliate => ({
  code: row.code,
  wallet: row.wallet,
  created_at: instant(row.created_at_ms),
});
