import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PaymentRecord } from '../../../src/client/journal/index.ts';
import { type ClientTables, clientMigrations } from '../../../src/client/journal/store-schema.ts';
import { openDatabase } from '../../../src/store/open.ts';
import type { Offer, OfferDetailsResponse } from '../../../src/wire/flights/index.ts';
import { proofTest } from '../../proof-only.ts';
import { ANA, runInMemory, temporaryHome } from '../memory.ts';

/** A booking whose tool died between sending its payment and the answer: the journal is settled by who looks next. */

const place = temporaryHome();
const run = (line: string, environment: Record<string, string> = {}) =>
  runInMemory(line.split(' '), {
    environment: { FARELOCK_HOME: place.home, FARELOCK_TICKETING_MS: '20', ...environment },
  });
const bookingPayments = async () => {
  const { payments } = (await run('payments list --json')).json() as unknown as { payments: PaymentRecord[] };
  return payments.filter((one) => one.resource === 'POST /air/book');
};

/** As the kill leaves it: signed and written, sent, and never answered. */
async function unanswered(paymentId: string): Promise<void> {
  const db = await openDatabase<ClientTables>(join(place.home, 'client.db'), clientMigrations);
  await db
    .updateTable('payments')
    .set({ state: 'signed', transaction: null, live_key: `killed:${paymentId}` })
    .where('payment_id', '=', paymentId)
    .execute();
  await db.destroy();
}

beforeAll(async () => {
  await run('wallet show');
  writeFileSync(join(place.home, 'p.json'), JSON.stringify([ANA]));
});
afterAll(() => place.close());

test.each(['status ID', 'book ID --json'])(
  '%s settles the payment that the kill left signed, and pays nothing',
  async (command) => {
    const found = await run('search LIS BER --depart +30d --no-wait --all-fares --limit 500 --json');
    const offers = (found.json().offers as Offer[]).filter((one) => one.total_currency === 'USD');
    const offer = offers[command.startsWith('book') ? 1 : 0];
    const made = (await run(`intent create ${offer?.offer_id} --json`)).json();
    const booked = await run(`book ${made.intent_id} --passengers ${join(place.home, 'p.json')} --yes --json`);
    expect(booked.exitCode, booked.stdout + booked.stderr).toBe(0);
    const [before] = await bookingPayments();
    await unanswered(before?.payment_id ?? '');
    expect((await bookingPayments())[0]).toMatchObject({ state: 'signed', transaction: null });
    const held = (await run('wallet balance --json')).json().usdc_atomic;

    expect((await run(command.replace('ID', String(made.intent_id)))).exitCode).toBe(0);
    expect((await bookingPayments())[0]).toMatchObject({
      payment_id: before?.payment_id,
      state: 'answered',
      transaction: before?.transaction,
    });
    expect((await run('wallet balance --json')).json().usdc_atomic).toBe(held);
  },
);

proofTest(
  'so does a booking that waits for the operator, which ends the command before anything is decided',
  async () => {
    const environment = { FARELOCK_SCENARIO: 'pay_pressed_no_confirmation', FARELOCK_LOWCOST_MS: '20' };
    const documented = { ...ANA, nationality: 'PT', passport_number: 'CB123456', passport_expiry: '2099-05-01' };
    writeFileSync(join(place.home, 'documented.json'), JSON.stringify([documented]));
    const found = await run('search LIS BER --depart +30d --all-fares --limit 500 --wait --json', environment);
    const offers = found.json().offers as Offer[];
    const offer = offers.find((one) => one.offer_id.startsWith('lowcost:'));
    const opened = await run(`offer ${offer?.offer_id} --json`, environment);
    const [fare] = (opened.json() as unknown as OfferDetailsResponse).fare_menu?.fares ?? [];
    const made = (await run(`intent create ${fare?.offer_id} --json`, environment)).json();
    const book = `book ${made.intent_id} --passengers ${join(place.home, 'documented.json')} --yes --json`;
    const inReview = { exitCode: 5, code: 'booking_in_review' };
    const booked = async () => {
      const { exitCode, json } = await run(book, environment);
      return { exitCode, code: (json().error as { code: string } | undefined)?.code };
    };
    expect(await booked()).toEqual(inReview);
    const [before] = await bookingPayments();
    await unanswered(before?.payment_id ?? '');
    expect(await booked()).toEqual(inReview);
    expect((await bookingPayments())[0]).toMatchObject({
      payment_id: before?.payment_id,
      state: 'answered',
      transaction: before?.transaction,
    });
  },
);
