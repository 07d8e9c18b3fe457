import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { liveKey } from '../../effects/index.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import type { FlightsPorts } from '../base/index.ts';
import { createAirlineBalance } from './airline-balance.ts';
import { OPEN_BOOKINGS } from './machine.ts';

/** One of the operator's wallets that holds less than what is open needs. */
interface ShortWallet {
  readonly wallet: 'authority' | 'facilitator' | 'treasury';
  readonly address: string;
  readonly asset: 'SOL' | 'USDC';
  /** Lamports, or atomic USDC. */
  readonly holds: bigint;
  readonly needs: bigint;
}

/** An account below this is taken away with what it holds; a wallet that pays fees keeps it. */
const LEAST_LAMPORTS = 890_880n;
/** A transaction of one or two signatures, with room for a priority fee. */
const FEE = 20_000n;
/** Rents of an escrow's state account and vault, and the fee that opens it. */
const CREATION = 2_784_000n + 2_039_280n + FEE;
/** What may still be sent for one escrow: capture or refund, a sweep, close. */
const FEES_PER_ESCROW = 4n * FEE;
/** Payments that the facilitator keeps fees for, beyond those of what is open. */
const PAYMENTS = 100n;
/** Locks that may still begin when an operator is paged that the SOL for them runs out. */
const LOCKS_LEFT = 50n;
const LOOK_EVERY_MS = 15_000;
const RETRY_S = 60;

/**
 * Watches the operator's wallets. A wallet is short when it holds less than what is open needs: fees of every escrow that
 * is to be captured or refunded, rents of the creations that may begin, pay-outs that were granted. Then no new intent is
 * created, so that what customers paid for is still finished; an operator is paged once, and again only after recovery.
 * Locks that nobody pays for tie up SOL until they expire: a page comes before that stops others.
 */
export function createFunds(ports: FlightsPorts) {
  const { clock, log, wallets } = ports;
  const airline = createAirlineBalance(ports);
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  /** The wallets that are short at this moment. Tells it once. */
  async function short(): Promise<ShortWallet[]> {
    const [held, needed] = [await wallets.holdings(), await needs(ports)];
    lookedAtMs = clock.now();
    const names = ['authority', 'facilitator', 'treasury'] as const;
    const all = names.flatMap((wallet): ShortWallet[] => {
      const [holds, address] = [held[wallet], wallets.addresses[wallet]];
      if (holds === null || address === null) return [];
      const asset = wallet === 'treasury' ? 'USDC' : 'SOL';
      return [{ wallet, address, asset, holds, needs: needed[wallet] }];
    });
    const found = all.filter(({ holds, needs }) => holds < needs);
    const ending = all.filter(
      ({ wallet, holds, needs }) => wallet === 'authority' && holds < needs + LOCKS_LEFT * CREATION,
    );
    await tell(ports, [...found.map(lowMark), ...ending.map(endingMark)]);
    return found;
  }

  /** @throws Problem `operator_funds_low`: the airline could not be paid for this ticket (micro-dollars) */
  async function checkBalance(ticket: bigint, how?: Parameters<typeof airline.short>[1]): Promise<void> {
    if (!(await airline.short(ticket, how))) return;
    throw problem('operator_funds_low', {
      message: "The seller's balance with the airline is too low for this ticket.",
      fix: 'Choose a cheaper one, or try again later.',
      charged: 'nothing',
      retryAfter: RETRY_S,
    });
  }

  return {
    short,
    /** The seller's balance with the airline, where it is too low for the cheapest ticket that is sold. */
    shortBalance: () => airline.short(ports.options.leastTicket),

    checkBalance,

    /**
     * @param ticket what an intent adds to the tickets that the airline is to be paid for (micro-dollars)
     * @param isPaid somebody pays for it
     * @throws Problem `operator_funds_low`. A cluster that does not answer keeps nobody from asking for a price.
     */
    async check(ticket = 0n, isPaid = false): Promise<void> {
      await checkBalance(ticket, { isPaid });
      let found: readonly ShortWallet[];
      try {
        found = await short();
      } catch (error) {
        if (!isProblem(error, 'cluster_failed')) throw error;
        return;
      }
      if (found.length > 0) throw problem('operator_funds_low', { retryAfter: RETRY_S });
    },

    /** Looks every quarter of a minute, whoever asks for what: the worker's part. */
    async watch(): Promise<void> {
      if (!wallets.isFilled() || Math.abs(clock.now() - lookedAtMs) < LOOK_EVERY_MS) return;
      await airline.short(0n);
      try {
        await short();
      } catch (error) {
        if (!isProblem(error, 'cluster_failed')) throw error;
        log('warn', 'operator_wallets_unread', { error_code: error.code });
      }
    },
  };
}

export type Funds = ReturnType<typeof createFunds>;

async function needs({ store, options }: FlightsPorts): Promise<Record<ShortWallet['wallet'], bigint>> {
  const count = (text: number | string | bigint | null | undefined) => BigInt(text ?? 0);
  const [bookings, intents, refunds, affiliates] = await Promise.all([
    store
      .selectFrom('bookings')
      .select((column) => column.fn.countAll().as('open'))
      .where(OPEN_BOOKINGS)
      .executeTakeFirst(),
    store
      .selectFrom('intents')
      .select((column) => column.fn.countAll().as('open'))
      .where('active_key', 'is not', null)
      .executeTakeFirst(),
    store
      .selectFrom('refund_requests')
      .select((column) => column.fn.sum('payout_amount').as('due'))
      // In the words of an index over them.
      .where(sql<SqlBool>`state in ('approved', 'stuck')`)
      .where('payout_tx_hash', 'is', null)
      .where(isUnsent(sql.ref('intent_id')))
      .executeTakeFirst(),
    store
      .selectFrom('affiliate_payouts')
      .select((column) => column.fn.sum('amount').as('due'))
      .where(sql<SqlBool>`state = 'open'`)
      .where(isUnsent(sql.ref('payout_id')))
      .executeTakeFirst(),
  ]);
  const open = count(bookings?.open) + count(intents?.open);
  return {
    authority: LEAST_LAMPORTS + open * FEES_PER_ESCROW + BigInt(options.mostUnpaidCreations) * CREATION,
    facilitator: LEAST_LAMPORTS + (open + PAYMENTS) * FEE,
    treasury: count(refunds?.due) + count(affiliates?.due),
  };
}

/** Once sent, it has left the treasury, or is about to, long before it is final. A pay-out that fails for certain is due again. */
const isUnsent = (subject: RawBuilder<unknown>) =>
  sql<SqlBool>`not exists (select 1 from effects where live_key = ${liveKey('payout', '')} || ${subject} and state in ('sent', 'done'))`;

/** A row in `meta` while something is to be said of a wallet: whoever writes it pages, and its end makes room for the next. */
interface Mark {
  readonly event: 'operator_funds_low' | 'operator_funds_ending';
  readonly one: ShortWallet;
  readonly text: string;
}

const keyOf = ({ event, one }: Mark) => `${event}:${one.wallet}`;
const EVERY_KEY = [
  'operator_funds_low:authority',
  'operator_funds_low:facilitator',
  'operator_funds_low:treasury',
  'operator_funds_ending:authority',
];

function lowMark(one: ShortWallet): Mark {
  const { wallet, address, asset, holds, needs } = shown(one);
  const text = `The ${wallet} ${address} holds ${holds} ${asset} and needs ${needs}: no new intents are created until it is topped up.`;
  return { event: 'operator_funds_low', one, text };
}

function endingMark(one: ShortWallet): Mark {
  const { wallet, address, asset, holds, needs } = shown(one);
  const text = `The ${wallet} ${address} holds ${holds} ${asset}, enough for ${(one.holds - one.needs) / CREATION} more locks at once. Below ${needs} no new intents are created: top it up.`;
  return { event: 'operator_funds_ending', one, text };
}

async function tell(ports: FlightsPorts, found: readonly Mark[]): Promise<void> {
  const { store, log } = ports;
  const known = new Set(
    (await store.selectFrom('meta').select('key').where('key', 'in', EVERY_KEY).execute()).map((row) => row.key),
  );
  const over = [...known].filter((one) => !found.some((mark) => keyOf(mark) === one));
  const isLow = ({ address }: ShortWallet) =>
    found.some(({ event, one }) => event === 'operator_funds_low' && one.address === address);
  const fresh = found.filter(
    (mark) => !known.has(keyOf(mark)) && (mark.event === 'operator_funds_low' || !isLow(mark.one)),
  );
  if (over.length > 0) {
    await store.deleteFrom('meta').where('key', 'in', over).execute();
    log('info', 'operator_funds_restored', { wallets: over.map((one) => one.split(':')[1]).join(', ') });
  }
  for (const one of fresh) await page(ports, one);
}

async function page(ports: FlightsPorts, mark: Mark): Promise<void> {
  const { store, clock, log } = ports;
  const nowMs = clock.now();
  const fields = shown(mark.one);
  const isFirst = await store.transaction().execute(async (tx) => {
    const written = await tx
      .insertInto('meta')
      .values({ key: keyOf(mark), value: String(nowMs) })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .executeTakeFirst();
    if (!written.numInsertedOrUpdatedRows) return false;
    return ports.outbox.enqueue(tx, {
      kind: 'page',
      dedupKey: `page:${keyOf(mark)}:${nowMs}`,
      intentId: null,
      event: mark.event,
      text: mark.text,
      fields,
    });
  });
  if (isFirst) log(mark.event === 'operator_funds_low' ? 'error' : 'warn', mark.event, fields);
}

const DECIMALS = { SOL: 9, USDC: 6 } as const;

/** A short wallet as people and `/ready` read it: whole SOL or USDC. */
export function shown({ wallet, address, asset, holds, needs }: ShortWallet) {
  const text = (amount: bigint) => {
    const digits = amount.toString().padStart(DECIMALS[asset] + 1, '0');
    return `${digits.slice(0, -DECIMALS[asset])}.${digits.slice(-DECIMALS[asset])}`;
  };
  return { wallet, address, asset, holds: text(holds), needs: text(needs) };
}
