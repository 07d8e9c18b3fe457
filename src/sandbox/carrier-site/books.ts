import { createHash } from 'node:crypto';
import { openSqlite } from '../../store/libsql/index.ts';
import { decimalOf } from '../airline/index.ts';

/** The pay button as it was pressed. */
export interface NewPress {
  /** The site's own, in the page with the button: the second press of it is none. */
  readonly payToken: string;
  /** "Your reference" of the passengers page; empty where none was given. */
  readonly reference: string;
  readonly scenario: string;
  readonly amountCents: number;
  readonly cardDigest: string;
  readonly atMs: number;
}

export interface NewSale {
  /** What confirmations name. */
  readonly shownCents: number;
  readonly flights: string;
  readonly fare: string;
  readonly passengerCount: number;
  readonly familyNames: readonly string[];
  /** Given back when it is cancelled; null: it can't be. */
  readonly refundCents: number | null;
  /** When the booking is confirmed; null: never. */
  readonly confirmsAtMs: number | null;
}

export interface Sale {
  readonly locator: string;
  readonly pressId: number;
  readonly flights: string;
  readonly fare: string;
  readonly passengerCount: number;
  readonly paidCents: number;
  readonly shownCents: number;
  readonly refundCents: number | null;
  readonly confirmsAtMs: number | null;
  readonly cancelledAtMs: number | null;
}

export interface DueMail {
  readonly mailId: number;
  readonly kind: 'signed' | 'forged';
  readonly recipient: string;
  readonly subject: string;
  readonly text: string;
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

/** The record locator of a press: six characters that look thrown, and never the same twice in one set of books. */
export function locatorOf(seed: string, pressId: number): string {
  const start = createHash('sha256').update(`locator ${seed}`).digest().readUInt32BE(0);
  // An odd factor makes it a permutation of 30 bits, which are six letters.
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

/** Runs a statement and reads every row of its answer: one that writes is done only then. */
type Rows = <T>(query: string, ...values: unknown[]) => T[];

/**
 * The pretend carrier's own books: buttons pressed, seats sold and cancelled. They hold no traveller: a family name
 * only as a digest, and the address of a mail until it was sent.
 */
export function openSiteBooks(path: string, seed: string) {
  const database = openSqlite(path);
  database.exec(TABLES);
  const rows: Rows = <T>(query: string, ...values: unknown[]) => database.prepare(query).all(...values) as T[];
  return {
    ...pressesOf(rows),
    ...salesOf(rows, seed),
    ...mailsOf(rows),
    ...reportOf(rows),
    close: () => database.close(),
  };
}

const pressesOf = (rows: Rows) => ({
  /**
   * Writes that the button was pressed, and takes the card: null when this page's button was pressed before.
   * `declined`: the card is not one of the bank's, holds another amount, or was used.
   */
  press(press: NewPress, cardHolds: number | null): { pressId: number; outcome: 'taken' | 'declined' } | null {
    const [row] = rows<{ press_id: number }>(
      `insert into presses (pay_token, reference, scenario, amount_cents, card_digest, outcome, at_ms)
       values (?, ?, ?, ?, ?, 'declined', ?) on conflict (pay_token) do nothing returning press_id`,
      press.payToken,
      press.reference,
      press.scenario,
      press.amountCents,
      press.cardDigest,
      press.atMs,
    );
    if (!row) return null;
    const pressId = Number(row.press_id);
    const isTaken =
      cardHolds === press.amountCents &&
      rows(
        'insert into cards (card_digest, press_id) values (?, ?) on conflict do nothing returning press_id',
        press.cardDigest,
        pressId,
      ).length > 0;
    if (!isTaken) return { pressId, outcome: 'declined' };
    rows("update presses set outcome = 'nothing' where press_id = ? returning press_id", pressId);
    return { pressId, outcome: 'taken' };
  },
});

function salesOf(rows: Rows, seed: string) {
  const sales = (query: string, ...values: unknown[]) => rows<SaleRow>(query, ...values).map(saleOf);
  const saleOfPress = (pressId: number): Sale | null =>
    sales('select * from sales where press_id = ?', pressId)[0] ?? null;
  return {
    /** Sells what a press paid for. */
    sell(pressId: number, sale: NewSale): Sale {
      const locator = locatorOf(seed, pressId);
      rows(
        `insert into sales (locator, press_id, flights, fare, passenger_count, family_digests, paid_cents,
           shown_cents, refund_cents, confirms_at_ms)
         select ?, press_id, ?, ?, ?, ?, amount_cents, ?, ?, ? from presses where press_id = ? returning locator`,
        locator,
        sale.flights,
        sale.fare,
        sale.passengerCount,
        JSON.stringify(sale.familyNames.map((name) => nameDigest(locator, name))),
        sale.shownCents,
        sale.refundCents,
        sale.confirmsAtMs,
        pressId,
      );
      rows("update presses set outcome = 'sold' where press_id = ? returning press_id", pressId);
      const sold = saleOfPress(pressId);
      if (!sold) throw new Error('a sale was written and is not there');
      return sold;
    },

    saleOfPress,

    /** A booking for somebody who knows its reference and a family name in it. */
    saleFor(locator: string, familyName: string): Sale | null {
      const [row] = rows<SaleRow>('select * from sales where locator = ?', locator.trim().toUpperCase());
      const isHis = row && (JSON.parse(row.family_digests) as string[]).includes(nameDigest(row.locator, familyName));
      return isHis ? saleOf(row) : null;
    },

    cancel(locator: string, nowMs: number): void {
      rows(
        `update sales set cancelled_at_ms = ? where locator = ? and cancelled_at_ms is null
           and refund_cents is not null returning locator`,
        nowMs,
        locator,
      );
    },
  };
}

const mailsOf = (rows: Rows) => ({
  queueMail(mail: Omit<DueMail, 'mailId'>, dueAtMs: number): void {
    rows(
      'insert into mails (kind, recipient, subject, text, due_at_ms) values (?, ?, ?, ?, ?) returning mail_id',
      mail.kind,
      mail.recipient,
      mail.subject,
      mail.text,
      dueAtMs,
    );
  },

  dueMails: (nowMs: number): DueMail[] =>
    rows<{ mail_id: number; kind: DueMail['kind']; recipient: string; subject: string; text: string }>(
      'select * from mails where due_at_ms <= ? order by due_at_ms limit 20',
      nowMs,
    ).map(({ mail_id, kind, recipient, subject, text }) => ({
      mailId: Number(mail_id),
      kind,
      recipient,
      subject,
      text,
    })),

  /** Once a mail was delivered, its address is nobody's business. */
  mailSent(mailId: number): void {
    rows('delete from mails where mail_id = ? returning mail_id', mailId);
  },
});

const reportOf = (rows: Rows) => ({
  /** Something reached the pretend till of another host. */
  noteElsewhere(what: string, nowMs: number): void {
    rows('insert into elsewhere (at_ms, what) values (?, ?) returning at_ms', nowMs, what);
  },

  /** Everything, for who checks a purchase against it. */
  report(nowMs: number) {
    const presses = rows<PressRow>('select * from presses order by press_id');
    return {
      presses: presses.map((row) => ({
        press_id: Number(row.press_id),
        reference: row.reference,
        scenario: row.scenario,
        amount_decimal: decimalOf(Number(row.amount_cents)),
        outcome: row.outcome,
        at: new Date(Number(row.at_ms)).toISOString(),
      })),
      sales: rows<SaleRow>('select * from sales order by press_id')
        .map(saleOf)
        .map((sale) => ({
          booking_reference: sale.locator,
          press_id: sale.pressId,
          reference: presses.find(({ press_id }) => Number(press_id) === sale.pressId)?.reference ?? '',
          flights: sale.flights,
          fare: sale.fare,
          passenger_count: sale.passengerCount,
          paid_amount_decimal: decimalOf(sale.paidCents),
          confirmed: sale.confirmsAtMs !== null && sale.confirmsAtMs <= nowMs,
          cancelled: sale.cancelledAtMs !== null,
        })),
      elsewhere: rows<{ what: string }>('select what from elsewhere order by at_ms').map(({ what }) => what),
    };
  },
});

export type SiteBooks = ReturnType<typeof openSiteBooks>;

interface PressRow {
  press_id: number;
  reference: string;
  scenario: string;
  amount_cents: number;
  outcome: 'declined' | 'nothing' | 'sold';
  at_ms: number;
}

interface SaleRow {
  locator: string;
  press_id: number;
  flights: string;
  fare: string;
  passenger_count: number;
  family_digests: string;
  paid_cents: number;
  shown_cents: number;
  refund_cents: number | null;
  confirms_at_ms: number | null;
  cancelled_at_ms: number | null;
}

const orNull = (value: number | null): number | null => (value === null ? null : Number(value));

const saleOf = (row: SaleRow): Sale => ({
  locator: row.locator,
  pressId: Number(row.press_id),
  flights: row.flights,
  fare: row.fare,
  passengerCount: Number(row.passenger_count),
  paidCents: Number(row.paid_cents),
  shownCents: Number(row.shown_cents),
  refundCents: orNull(row.refund_cents),
  confirmsAtMs: orNull(row.confirms_at_ms),
  cancelledAtMs: orNull(row.cancelled_at_ms),
});
