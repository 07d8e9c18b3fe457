import { createHash } from 'node:crypto';
import { decimalOf } from '../airline/index.ts';
import { type Book, openBook } from '../base/index.ts';

interface Press {
  readonly pressId: number;
  /** The pay page's token: a second press with it is ignored. */
  readonly payToken: string;
  /** "Your reference" on the passengers page, perhaps empty. */
  readonly reference: string;
  readonly scenario: string;
  readonly amountCents: number;
  readonly cardDigest: string;
  readonly outcome: 'declined' | 'nothing' | 'sold';
  readonly atMs: number;
}

export interface Sale {
  readonly locator: string;
  readonly pressId: number;
  readonly flights: string;
  readonly fare: string;
  readonly passengerCount: number;
  readonly familyDigests: string;
  readonly paidCents: number;
  /** The amount that confirmations show. */
  readonly shownCents: number;
  /** The refund at a cancellation; null if there is none. */
  readonly refundCents: number | null;
  /** Null if it is never confirmed. */
  readonly confirmsAtMs: number | null;
  readonly cancelledAtMs: number | null;
}

export interface DueMail {
  readonly mailId: number;
  readonly kind: 'signed' | 'forged';
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
  readonly dueAtMs: number;
}

const TABLES = `
  create table if not exists presses (
    press_id integer primary key autoincrement, pay_token text not null unique, reference text not null,
    scenario text not null, amount_cents integer not null, card_digest text not null, outcome text not null,
    at_ms integer not null);
  create table if not exists cards (card_digest text primary key, press_id integer not null);
  create table if not exists sales (
    locator text primary key, press_id integer not null unique, flights text not null, fare text not null,
    passenger_count integer not null, family_digests text not null, paid_cents integer not null,
    shown_cents integer not null, refund_cents integer, confirms_at_ms integer, cancelled_at_ms integer);
  create table if not exists mails (
    mail_id integer primary key autoincrement, kind text not null, recipient text not null, subject text not null,
    text text not null, due_at_ms integer not null);
  create table if not exists elsewhere (at_ms integer not null, what text not null);
`;

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** Makes a press's locator: six random-looking characters, unique in these books. */
export function locatorOf(seed: string, pressId: number): string {
  const start = createHash('sha256').update(`locator ${seed}`).digest().readUInt32BE(0);
  // An odd factor permutes 30 bits, six letters: none repeats.
  let left = (Math.imul(pressId, 0x2545f491) + start) & 0x3fffffff;
  let locator = '';
  for (let i = 0; i < 6; i++) {
    locator += LETTERS[left % 32];
    left = Math.floor(left / 32);
  }
  return locator;
}

const nameDigest = (locator: string, familyName: string): string =>
  createHash('sha256')
    .update(`${locator} ${familyName.normalize('NFC').trim().toUpperCase()}`)
    .digest('hex');

/** Opens the carrier's books. Family names are stored as digests, mail addresses only until the mail is sent. */
export function openSiteBooks(path: string, seed: string) {
  const { close, insert, rows, run } = openBook(path, TABLES);
  return {
    close,

    /**
     * Records a press and charges the card; null for a repeated press. `declined`: another bank's card, another amount,
     * or a used card.
     */
    press(pressed: Omit<Press, 'pressId' | 'outcome'>, cardHolds: number | null) {
      const written = insert<Press>(
        'presses',
        { ...pressed, outcome: 'declined' },
        'on conflict (pay_token) do nothing',
      );
      if (!written) return null;
      const { pressId, cardDigest } = written;
      const isTaken =
        cardHolds === pressed.amountCents && insert('cards', { cardDigest, pressId }, 'on conflict do nothing');
      if (!isTaken) return { pressId, outcome: 'declined' as const };
      run("update presses set outcome = 'nothing' where press_id = ?", pressId);
      return { pressId, outcome: 'taken' as const };
    },

    sell(
      pressId: number,
      {
        familyNames,
        ...sale
      }: Omit<Sale, 'locator' | 'pressId' | 'familyDigests' | 'paidCents' | 'cancelledAtMs'> & {
        readonly familyNames: readonly string[];
      },
    ): Sale {
      const locator = locatorOf(seed, pressId);
      const [press] = rows<Press>('select * from presses where press_id = ?', pressId);
      const familyDigests = JSON.stringify(familyNames.map((name) => nameDigest(locator, name)));
      const sold =
        press && insert<Sale>('sales', { ...sale, locator, pressId, familyDigests, paidCents: press.amountCents });
      if (!sold) throw new Error('a sale without its press');
      run("update presses set outcome = 'sold' where press_id = ?", pressId);
      return sold;
    },

    saleOfPress: (pressId: number): Sale | null =>
      rows<Sale>('select * from sales where press_id = ?', pressId)[0] ?? null,

    saleFor(locator: string, familyName: string): Sale | null {
      const [sale] = rows<Sale>('select * from sales where locator = ?', locator.trim().toUpperCase());
      if (!sale) return null;
      return (JSON.parse(sale.familyDigests) as string[]).includes(nameDigest(sale.locator, familyName)) ? sale : null;
    },

    cancel(locator: string, nowMs: number): void {
      const open = 'cancelled_at_ms is null and refund_cents is not null';
      run(`update sales set cancelled_at_ms = ? where locator = ? and ${open}`, nowMs, locator);
    },

    queueMail(mail: Omit<DueMail, 'mailId'>): void {
      insert('mails', mail);
    },

    dueMails: (nowMs: number): DueMail[] =>
      rows('select * from mails where due_at_ms <= ? order by due_at_ms limit 20', nowMs),

    /** Deletes a delivered mail with its address. */
    mailSent: (mailId: number): void => run('delete from mails where mail_id = ?', mailId),

    /** Records a visit to the pretend till on another host. */
    noteElsewhere(what: string, atMs: number): void {
      insert('elsewhere', { atMs, what });
    },

    report: (nowMs: number) => reportOf(rows, nowMs),
  };
}

export type SiteBooks = ReturnType<typeof openSiteBooks>;

function reportOf(rows: Book['rows'], nowMs: number) {
  const presses = rows<Press>('select * from presses order by press_id');
  return {
    presses: presses.map((press) => ({
      press_id: press.pressId,
      reference: press.reference,
      scenario: press.scenario,
      amount_decimal: decimalOf(press.amountCents),
      outcome: press.outcome,
      at: new Date(press.atMs).toISOString(),
    })),
    sales: rows<Sale>('select * from sales order by press_id').map((sale) => ({
      booking_reference: sale.locator,
      press_id: sale.pressId,
      reference: presses.find(({ pressId }) => pressId === sale.pressId)?.reference ?? '',
      flights: sale.flights,
      fare: sale.fare,
      passenger_count: sale.passengerCount,
      paid_amount_decimal: decimalOf(sale.paidCents),
      confirmed: sale.confirmsAtMs !== null && sale.confirmsAtMs <= nowMs,
      cancelled: sale.cancelledAtMs !== null,
    })),
    elsewhere: rows<{ what: string }>('select what from elsewhere order by at_ms').map(({ what }) => what),
  };
}
