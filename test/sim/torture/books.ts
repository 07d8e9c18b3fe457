import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Sqlite from 'libsql';
import { readOwnKeypair } from '../../../src/solana/keypair.ts';
import type { Purchases } from './life.ts';
import type { Place } from './places.ts';

/**
 * Reads the files that everybody has left behind: the ledger, the services' database, the airlines', the platform's and
 * the tool's own. Together they have to be one story, to the unit.
 */

type Row = Readonly<Record<string, unknown>>;
export interface Book {
  /** `select` statements over all four files: `ledger.`, `airline.`, `client.`, `platform.` before a table's name. */
  all(query: string): Row[];
  count(query: string): number;
}

const OTHERS = { ledger: 'ledger.db', airline: 'sandbox-airline.db', platform: 'sandbox-platform.db' };

/** Only to read: whoever closes a file as its last user moves its journal into it, and the disk would not see that. */
const readOnly = (path: string): string => `${pathToFileURL(path).href}?mode=ro`;

function withBook<T>(serviceHome: string, clientHome: string, read: (book: Book) => T): T {
  const database = new Sqlite(readOnly(join(serviceHome, 'service.db')), { timeout: 10_000 });
  try {
    const attach = (name: string, path: string) => {
      if (existsSync(path)) database.exec(`attach '${readOnly(path)}' as ${name}`);
    };
    for (const [name, file] of Object.entries(OTHERS)) attach(name, join(serviceHome, file));
    attach('client', join(clientHome, 'client.db'));
    const all = (query: string) => database.prepare(query).all() as Row[];
    const count = (query: string) => Number(Object.values(all(query)[0] ?? {})[0]);
    return read({ all, count });
  } finally {
    database.close();
  }
}

const LEFT_OPEN = [
  `select intent_id from bookings where state not in ('booked', 'refunded', 'stuck')`,
  `select request_id from refund_requests where state in ('settling', 'approved')`,
  `select payout_id from affiliate_payouts where state = 'open'`,
  `select effect_id from effects where state in ('planned', 'sent')`,
  `select payment_key from settlements where state in ('claimed', 'performed', 'settling')`,
  `select order_id from partner_orders where creation = 'creating'`,
];

const NOT_CREDITED = `select intent_id from intents where credit_due_at_ms is not null and status = 'booked'`;

/** True while somebody has something to do that does not wait for the clock or for a person. */
export const isLeftOpen = (serviceHome: string, isJourneyOver = false): boolean =>
  withBook(serviceHome, serviceHome, ({ all }) =>
    [...LEFT_OPEN, ...(isJourneyOver ? [NOT_CREDITED] : [])].some((query) => all(query).length > 0),
  );

const TOKEN_AMOUNT_AT = 64;
const SUPPLY_AT = 36;
const amountAt = ({ data }: Row, at: number): bigint => Buffer.from(data as Uint8Array).readBigUInt64LE(at);

/** What does not add up, in words. */
export function audit(place: Place, purchases: Purchases): string[] {
  const wrong: string[] = [];
  const expect = (holds: boolean, what: string) => {
    if (!holds) wrong.push(what);
  };
  const key = (name: string) => readOwnKeypair(join(place.serviceHome, 'keys', `${name}.json`)).address;
  withBook(place.serviceHome, place.clientHome, (book) => {
    const none = (query: string, what: string) => {
      const found = book.all(query);
      expect(found.length === 0, `${what}: ${JSON.stringify(found.slice(0, 3))}`);
    };
    for (const query of LEFT_OPEN) none(query, 'is left open');
    intentsEndOnce(none);
    if (purchases.size > 0) {
      moneyAddsUp(book, key('treasury'), expect);
      eachPaidOnce(book, purchases, key('treasury'), expect, none);
    }
    partnersAgree(none);
  });
  return wrong;
}

type None = (query: string, what: string) => void;
type Expect = (holds: boolean, what: string) => void;

/** Captured only with a ticket, refunded only without one, or by an operator; each effect once. */
function intentsEndOnce(none: None): void {
  none(
    `select intent_id from intents where status = 'booked' and
      (order_id is null or ticketed_at_ms is null or capture_tx_hash is null or refunded_at_ms is not null)`,
    'booked without a ticket or a capture',
  );
  none(
    `select intent_id, refund_reason from intents where status = 'refunded' and refund_reason is not 'refund_request_approved'
      and (ticketed_at_ms is not null or capture_tx_hash is not null)`,
    'refunded with a ticket',
  );
  none(
    `select i.intent_id from intents i where refund_reason = 'refund_request_approved' and not exists
      (select 1 from refund_requests r where r.intent_id = i.intent_id and r.state = 'refunded')`,
    'refunded by nobody',
  );
  none(
    `select kind, subject, count(*) as times from effects where state = 'done' and
      kind in ('capture', 'refund', 'payout', 'airline_order') group by kind, subject having times > 1`,
    'done twice',
  );
  none(
    `select kind, subject from effects where kind = 'capture' and state = 'done' and subject in
      (select subject from effects where kind = 'refund' and state = 'done')`,
    'captured and refunded',
  );
  none(`select state, count(*) as many from effects where state = 'stuck' group by state`, 'effects are stuck');
  none(
    `select memo, count(*) as times from ledger.transactions where err is null and memo like '%payout%'
      group by memo having times > 1`,
    'paid out twice on the cluster',
  );
  none(
    `select subject from effects where kind = 'payout' and state = 'done' and not exists
      (select 1 from ledger.transactions t where t.signature = effects.signature and t.err is null)`,
    'paid out, and not on the cluster',
  );
}

/** Every unit of the mint has an owner who should have it. */
function moneyAddsUp(book: Book, treasury: string, expect: Expect): void {
  const accounts = book.all(
    `select token_owner, data from ledger.accounts where token_owner is not null and mint =
      (select mint from intents limit 1)`,
  );
  const held = new Map<string, bigint>();
  for (const row of accounts) {
    const owner = String(row.token_owner);
    held.set(owner, (held.get(owner) ?? 0n) + amountAt(row, TOKEN_AMOUNT_AT));
  }
  for (const { escrow_address, intent_id, status } of book.all(
    `select i.intent_id, i.status, i.escrow_address from intents i left join bookings b using (intent_id)
      where coalesce(b.state, '') != 'stuck'`,
  )) {
    const left = held.get(String(escrow_address)) ?? 0n;
    expect(left === 0n, `${String(intent_id)} is ${String(status)}, and ${left} lie in its escrow`);
  }
  const sum = (query: string) => BigInt(book.count(query));
  const captured = sum(`select coalesce(sum(amount), 0) from intents where capture_tx_hash is not null`);
  const fees = sum(
    `select coalesce(sum(amount), 0) from client.payments where state = 'answered' and pay_to = '${treasury}'`,
  );
  const paidBack = sum(`select coalesce(sum(payout_amount), 0) from refund_requests where state = 'refunded'`);
  const shared = sum(`select coalesce(sum(amount), 0) from affiliate_payouts where state = 'paid'`);
  const should = captured + fees - paidBack - shared;
  expect(
    (held.get(treasury) ?? 0n) === should,
    `the treasury has ${held.get(treasury)}, not ${captured} + ${fees} - ${paidBack} - ${shared} = ${should}`,
  );
  const given = sum(`select coalesce(sum(amount), 0) from affiliate_payouts where state = 'paid'`);
  const affiliates = book
    .all('select distinct wallet from affiliate_payouts')
    .reduce((total, { wallet }) => total + (held.get(String(wallet)) ?? 0n), 0n);
  expect(affiliates === given, `affiliates have ${affiliates}, and were paid ${given}`);
  const [mint] = book.all('select data from ledger.accounts where address = (select mint from intents limit 1)');
  const supply = mint ? amountAt(mint, SUPPLY_AT) : 0n;
  const everybody = [...held.values()].reduce((total, one) => total + one, 0n);
  const wallets = book.all('select distinct wallet from client.payments').map(({ wallet }) => String(wallet));
  const known = [treasury, ...wallets].reduce((total, one) => total + (held.get(one) ?? 0n), affiliates);
  expect(everybody === supply, `${everybody} are held of a supply of ${supply}`);
  const inReview = sum(
    `select coalesce(sum(amount), 0) from intents join bookings using (intent_id) where state = 'stuck'`,
  );
  expect(known + inReview === supply, `of ${supply} nobody knows who has ${supply - known - inReview}`);
}

/** One payment for each thing that was asked for, and the tool's journal tells the same as the service's. */
function eachPaidOnce(book: Book, purchases: Purchases, treasury: string, expect: Expect, none: None): void {
  none(
    `select payment_id, state, resource from client.payments where state in ('signed', 'sent')`,
    'a payment that nobody knows the end of',
  );
  none(
    `select pay_to, count(*) as times from client.payments where state = 'answered' and pay_to != '${treasury}'
      group by pay_to having times > 1`,
    'an escrow that was paid twice',
  );
  none(
    `select s.payment_key from settlements s where state in ('settled', 'answered') and signature is not null and
      not exists (select 1 from ledger.transactions t where t.signature = s.signature and t.err is null)`,
    'settled, and not on the cluster',
  );
  for (const [resource, { least, most }] of purchases) {
    const times = book.count(
      `select count(*) from client.payments where state = 'answered' and resource like '${resource}%'`,
    );
    expect(times >= least && times <= most, `${resource}: bought ${times} times, not ${least} to ${most}`);
  }
}

/** An order here for each at the platform, each change in its history once. */
function partnersAgree(none: None): void {
  none(
    `select order_id, count(*) as changes, max(version) as last from partner_order_changes group by order_id
      having changes != last`,
    'an order with a change too few or too many',
  );
  none(
    `select order_id from partner_orders o where creation = 'created' and creation_key is not null and version !=
      (select max(version) from partner_order_changes c where c.order_id = o.order_id)`,
    'an order that is not where its history says',
  );
  none(
    `select attestation_id from attestation_runs where (state = 'running') != (live_key is not null)`,
    'an attestation that holds its place',
  );
}
