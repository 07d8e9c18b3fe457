import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { liveKey } from '../../effects/index.ts';
import { asInteger, formatUsdc, parseUsdc } from '../../kernel/money.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { type FlightsPorts, pageOnce, type Store, unlessSilent } from '../base/index.ts';
import { OPEN_BOOKINGS, UNORDERED } from './machine.ts';

interface ShortWallet {
  readonly wallet: 'authority' | 'facilitator' | 'treasury';
  readonly address: string;
  readonly asset: 'SOL' | 'USDC';
  /** Lamports, or atomic USDC. */
  readonly holds: bigint;
  readonly needs: bigint;
}

/** Rent-exempt minimum: a fee-paying wallet must keep it, or lose its account. */
const LEAST_LAMPORTS = 890_880n;
/** A transaction of one or two signatures, with room for a priority fee. */
const FEE = 20_000n;
/** Rents of an escrow's state account and vault, and the fee that opens it. */
const CREATION = 2_784_000n + 2_039_280n + FEE;
/** Rents of an authorization and its vault, and the fee of the transaction that makes both. */
const AUTHORIZATION = 3_229_440n + 2_039_280n + FEE;
const FEES_PER_ESCROW = 4n * FEE;
/** Payments that the facilitator keeps fees for, beyond those of open work. */
const PAYMENTS = 100n;
/** How many more locks the SOL still covers when an operator is paged that it runs out. */
const LOCKS_LEFT = 50n;
const LOOK_EVERY_MS = 15_000;
const RETRY_S = 60;

/** `isPaid`: the call carries a payment, so a shortage for its ticket pages. `except`: the ticket's own intent. */
interface Ticket {
  readonly isPaid?: boolean;
  readonly except?: string;
}

/**
 * Watches the operator's wallets. A wallet is short if it holds less than open work needs: escrow fees, rents of
 * creations, granted pay-outs. Then no intent is created, so that paid work can finish, and an operator is paged once
 * until recovery. An operator is also paged before unpaid locks, which tie up SOL, prevent new ones.
 */
export function createFunds(ports: FlightsPorts) {
  const { clock, log, wallets } = ports;
  const balance = createAirlineBalance(ports);
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  const look = async (except?: string) => readNeeds(ports, await balance.held(), except);

  async function short(given?: Needs): Promise<ShortWallet[]> {
    const held = await wallets.holdings();
    const now = given ?? (await look());
    const needed = walletsNeed(ports, now);
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
    await tell(ports, now, found, ending);
    return found;
  }

  /** @throws Problem `operator_funds_low`: the airline could not be paid for this ticket (micro-dollars) */
  async function checkBalance(ticket: bigint, { isPaid = false, except }: Ticket = {}, given?: Needs): Promise<void> {
    if (!(await balance.short(ticket, given ?? (await look(except)), isPaid))) return;
    throw problem('operator_funds_low', {
      message: "The seller's balance with the airline is too low for this ticket.",
      fix: 'Choose a cheaper one, or try again later.',
      charged: 'nothing',
      retryAfter: RETRY_S,
    });
  }

  return {
    short,
    /** The seller's balance with the airline if it is too low for the cheapest ticket on sale, else null. */
    shortBalance: async () => balance.short(ports.options.leastTicket, await look()),

    checkBalance,

    /** True if the authority has the rents of an authorization on top of what open work needs. */
    async canLend(): Promise<boolean> {
      const { authority } = await wallets.holdings();
      return authority === null || authority >= walletsNeed(ports, await look()).authority + AUTHORIZATION;
    },

    /** Checks funds for a ticket (micro-dollars). A silent cluster refuses nothing. @throws `operator_funds_low` */
    async check(ticket = 0n, isPaid = false): Promise<void> {
      const now = await look();
      await checkBalance(ticket, { isPaid }, now);
      const found = await unlessSilent(short(now), () => []);
      if (found.length > 0) throw problem('operator_funds_low', { retryAfter: RETRY_S });
    },

    async watch(): Promise<void> {
      if (!wallets.isFilled() || Math.abs(clock.now() - lookedAtMs) < LOOK_EVERY_MS) return;
      const now = await look();
      await balance.short(0n, now);
      await unlessSilent(short(now), ({ code }) => log('warn', 'operator_wallets_unread', { error_code: code }));
    },
  };
}

export type Funds = ReturnType<typeof createFunds>;

type Needs = Awaited<ReturnType<typeof readNeeds>>;

/**
 * Reads what open work needs, and what was paged, in one query that joins one-row tables.
 * @param holds the balance with the airline, if known @param except an intent whose ticket is not counted
 */
async function readNeeds({ store }: Pick<FlightsPorts, 'store'>, holds: bigint | null, except = '') {
  const marks = store.selectFrom('meta').where('key', 'in', [...EVERY_MARK, BALANCE_MARK]);
  const { bookings, intents, refunds, affiliates, marked, ...tickets } = await store
    .selectFrom([
      store
        .selectFrom('bookings')
        .select((column) => column.fn.countAll().as('bookings'))
        .where(OPEN_BOOKINGS)
        .as('open_bookings'),
      store
        .selectFrom('intents')
        .select((column) => [
          column.fn.countAll().as('intents'),
          sql<Sum>`sum(case when ${IS_ITS_OWN} and not exists
            (select 1 from bookings where bookings.intent_id = intents.intent_id) then amount end)`.as('locked'),
        ])
        .where('active_key', 'is not', null)
        .as('live_intents'),
      store
        .selectFrom('refund_requests')
        .select((column) => column.fn.sum('payout_amount').as('refunds'))
        // Repeats the condition of a partial index.
        .where(sql<SqlBool>`state in ('approved', 'stuck')`)
        .where('payout_tx_hash', 'is', null)
        // Other prices are still in escrow.
        .where(sql<SqlBool>`exists (select 1 from intents
          where intents.intent_id = refund_requests.intent_id and captured_at_ms is not null)`)
        .where(isUnsent(sql.ref('intent_id')))
        .as('granted'),
      store
        .selectFrom('affiliate_payouts')
        .select((column) => column.fn.sum('amount').as('affiliates'))
        .where(sql<SqlBool>`state = 'open'`)
        .where(isUnsent(sql.ref('payout_id')))
        .as('earned'),
      ticketsToOrder(store, holds, except).as('tickets'),
      marks
        .select([MARKED.as('marked'), sql<Sum>`max(case when key = ${BALANCE_MARK} then value end)`.as('low')])
        .as('marks'),
    ])
    .selectAll()
    .executeTakeFirstOrThrow();
  const { all_of_them, payable, refused, locked, low } = tickets;
  const sum = (value: Sum | bigint | undefined) => BigInt(value ?? 0);
  return {
    open: sum(bookings) + sum(intents),
    due: sum(refunds) + sum(affiliates),
    holds,
    /** Sums of the tickets paid and not ordered, of those that the balance covers one by one, and of the locks. */
    all: sum(all_of_them),
    payable: sum(payable),
    locked: sum(locked),
    /** The cheapest order that the airline refused for lack of funds. */
    refused: refused == null ? null : BigInt(refused),
    marked: EVERY_MARK.filter((_key, place) => (Number(marked ?? 0) >> place) % 2 === 1),
    /** The balance that an operator was paged about. */
    low: low == null ? null : BigInt(low),
  };
}

/** A sum or a count, as the driver returns it. */
type Sum = number | string | null;

const walletsNeed = ({ options }: FlightsPorts, { open, due }: Needs): Record<ShortWallet['wallet'], bigint> => ({
  authority: LEAST_LAMPORTS + open * FEES_PER_ESCROW + BigInt(options.mostUnpaidCreations) * CREATION,
  facilitator: LEAST_LAMPORTS + (open + PAYMENTS) * FEE,
  treasury: due,
});

/** True if no pay-out was sent. A sent one has left the treasury, or is about to; if it fails, it is due again. */
const isUnsent = (subject: RawBuilder<unknown>) =>
  sql<SqlBool>`not exists (select 1 from effects where live_key = ${liveKey('payout', '')} || ${subject} and state in ('sent', 'done'))`;

const LOW = 'operator_funds_low';
const ENDING = 'operator_funds_ending';
const EVERY_MARK = [`${LOW}:authority`, `${LOW}:facilitator`, `${LOW}:treasury`, `${ENDING}:authority`];
/** Bit mask of the marks that are set. */
const MARKED = sql<Sum>`sum(case ${sql.join(
  EVERY_MARK.map((key, place) => sql`when key = ${sql.lit(key)} then ${sql.lit(2 ** place)}`),
  sql` `,
)} else 0 end)`;

/** Pages about wallets that are low or ending, and clears the marks of those that are filled up again. */
async function tell(
  ports: FlightsPorts,
  { marked }: Needs,
  low: readonly ShortWallet[],
  ending: readonly ShortWallet[],
): Promise<void> {
  const { store, log } = ports;
  const marks = [
    ...low.map((one) => ({ event: LOW, key: `${LOW}:${one.wallet}`, one })),
    ...ending.map((one) => ({ event: ENDING, key: `${ENDING}:${one.wallet}`, one })),
  ];
  const over = marked.filter((key) => !marks.some((mark) => mark.key === key));
  if (over.length > 0) {
    await store.deleteFrom('meta').where('key', 'in', over).execute();
    log('info', 'operator_funds_restored', { wallets: over.map((key) => key.split(':')[1]).join(', ') });
  }
  for (const { event, key, one } of marks) {
    const isLow = low.some(({ address }) => address === one.address);
    if (marked.includes(key) || (event === ENDING && isLow)) continue;
    const fields = shown(one);
    const { wallet, address, asset, holds, needs } = fields;
    const text =
      event === LOW
        ? `The ${wallet} ${address} holds ${holds} ${asset} and needs ${needs}: no new intents are created until it is topped up.`
        : `The ${wallet} ${address} holds ${holds} ${asset}, enough for ${(one.holds - one.needs) / CREATION} more locks at once. Below ${needs} no new intents are created: top it up.`;
    await pageOnce(ports, { key, event, text, fields, level: event === LOW ? 'error' : 'warn' });
  }
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

interface ShortBalance {
  readonly provider: string;
  /** Micro-dollars; null if the airline does not disclose it, and has refused an order for lack of funds. */
  readonly holds: bigint | null;
  /** Micro-dollars: the price of the tickets that are not ordered yet, and of the ticket in question. */
  readonly needs: bigint;
}

const KEPT_MS = 60_000;
const PATIENCE_MS = 5_000;
const BALANCE_MARK = `${LOW}:airline`;
/** Stands for an unreadable balance in its mark; lower than any real balance. */
const UNREAD = -1n;

/**
 * Watches the balance with the airline. Refuses a ticket that it cannot cover on top of those paid and not ordered, or,
 * if the balance is hidden, one that costs as much as a refused order. Unpaid locks reserve nothing, but an operator is
 * paged once when locks and orders together need more than the balance.
 */
function createAirlineBalance(ports: FlightsPorts) {
  const { provider, clock, log } = ports;
  let last: { readonly atMs: number; readonly held: Promise<bigint | null> } | null = null;

  /** Returns null if the airline does not answer in time, or not in dollars. */
  async function read(): Promise<bigint | null> {
    const inTime = new AbortController();
    try {
      const slow = clock.sleep(PATIENCE_MS, inTime.signal).then(() => null);
      const balance = await Promise.race([provider?.balance?.() ?? null, slow]);
      if (balance?.currency === 'USD') return parseUsdc(balance.amountDecimal);
      log('warn', 'airline_balance_unread', { currency: balance?.currency ?? null });
    } catch (error) {
      log('warn', 'airline_balance_unread', { error_code: isProblem(error) ? error.code : 'unknown' });
    } finally {
      inTime.abort();
    }
    return null;
  }

  async function held(): Promise<bigint | null> {
    if (!provider?.balance) return null;
    const nowMs = clock.now();
    if (!last || Math.abs(nowMs - last.atMs) >= KEPT_MS) last = { atMs: nowMs, held: read() };
    return last.held;
  }

  /** Returns the balance if it is too low for a ticket, else null. `isPaid`: as in `Ticket`. */
  async function short(ticket: bigint, now: Needs, isPaid = false): Promise<ShortBalance | null> {
    if (!provider) return null;
    const { holds, all, payable, refused } = now;
    if (holds === null) {
      if (refused === null) {
        await forgetBalance(ports, now, 0n);
        return null;
      }
      await tellBalance(ports, { provider: provider.name, holds, needs: all });
      return ticket < refused ? null : { provider: provider.name, holds, needs: all + ticket };
    }
    const open = all + now.locked;
    const short = { provider: provider.name, holds, needs: payable + ticket };
    if (holds < open) await tellBalance(ports, { ...short, needs: open });
    else if (isPaid && holds < short.needs) await tellBalance(ports, short);
    else await forgetBalance(ports, now, holds);
    return holds < short.needs ? short : null;
  }

  return { held, short };
}

const IS_ITS_OWN = sql<SqlBool>`offer_id not like 'lowcost:%'`;

/** Sums of the tickets that are paid and not ordered, without that of one intent. */
const ticketsToOrder = (store: Store, holds: bigint | null, except: string) =>
  store
    .selectFrom('bookings')
    .innerJoin('intents', 'intents.intent_id', 'bookings.intent_id')
    .select([
      sql<Sum>`sum(intents.amount)`.as('all_of_them'),
      sql<Sum>`sum(case when intents.amount <= ${asInteger(holds ?? 0n)} then intents.amount end)`.as('payable'),
      sql<Sum>`min(case when state = 'ordering' and last_error = 'operator_funds_low'
        then intents.amount end)`.as('refused'),
    ])
    .where(OPEN_BOOKINGS)
    .where('state', 'in', UNORDERED)
    .where(IS_ITS_OWN)
    .where('bookings.intent_id', '<>', except);

function tellBalance(ports: FlightsPorts, short: ShortBalance): Promise<void> {
  const fields = shownBalance(short);
  return pageOnce(ports, {
    key: BALANCE_MARK,
    value: String(short.holds ?? UNREAD),
    event: LOW,
    text: `The balance with ${fields.provider} is ${fields.holds === null ? 'less than an order that it refused' : `${fields.holds} USD`}, and open tickets need ${fields.needs}: tickets that it does not cover are refused until it is topped up. What is paid for waits while its offer can be had.`,
    fields,
  });
}

/** Allows the next page once the balance has grown, but not when only an expensive lock has ended. */
async function forgetBalance({ store, log }: FlightsPorts, { low }: Needs, holds: bigint): Promise<void> {
  if (low === null || low >= holds) return;
  await store.deleteFrom('meta').where('key', '=', BALANCE_MARK).where('value', '=', String(low)).execute();
  log('info', 'operator_funds_restored', { wallets: 'airline' });
}

export const shownBalance = ({ provider, holds, needs }: ShortBalance) => ({
  provider,
  holds: holds === null ? null : formatUsdc(holds),
  needs: formatUsdc(needs),
  currency: 'USD',
});
