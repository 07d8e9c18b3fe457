import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { serviceMigrations } from '../../src/service/migrations.ts';
import { filesIn } from '../house.mjs';

/** Digest of a step's statements, as they were released. */
const digestOf = (statements: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(statements)).digest('hex').slice(0, 16);

test('the steps that were released keep their names, their order and every word', () => {
  const steps = serviceMigrations.map(({ name, statements }) => `${name} ${digestOf(statements)}`);
  expect(steps).toMatchInlineSnapshot(`
    [
      "001_flight_service 61616bb0a68e232b",
      "002_intent_payments bb80e614bc8f0a15",
      "012_refund_requests df0bfb6328422db0",
      "010_notify c25f8dd29c881a93",
      "011_lowcost f5f04ea5fb35c3b3",
      "013_affiliates 3dc7e5a7327a5dbd",
      "014_sponsored_previews 32a8e01fd122f03a",
      "015_stuck fe9329a5f37c0ef2",
      "016_creations d4fb6c8e60c15135",
      "020_partner_service b638c4181cc51504",
      "021_compliance 76e9a78e34158e2f",
      "022_outbound a637464031f4bb58",
      "023_partner_retention edb3f0b7293e6aaf",
      "030_bounded_work 21fbbd29bf6067b0",
      "040_open_bookings 8119cb7744392ab0",
      "050_intents_by_age f309b0e8aae468ba",
      "060_paid_answers a236218f9e16e821",
      "070_lists 4dd19e7467458578",
      "080_browser aa991f813a491d40",
      "080_duffel de3c4b63879b5080",
      "090_real_airlines 881fbb2db1e514b5",
      "110_sale_keys 52ddcf18ade41844",
      "130_browser_cards 49b10d7f9151af2c",
      "150_partner_doubts 619164cdba0edb60",
      "120_locks 5d86e544a1cbdbdd",
      "151_partner_rotation 4e9fb5093d0f18c8",
      "100_agreements 502854acafdce144",
      "230_partner_platforms c05a4e1c7a4aa160",
      "250_operator_keys cfe32e5e6edd5673",
      "280_payment_ids 581fc87028bdd326",
      "290_bags 292476801b8b59a4",
      "290_authorizations 6349cd1e7e778b22",
      "300_seats 1f9ce542f6adb46f",
      "300_passenger_refunds 983a22ac60849578",
    ]
  `);
});

test('the store names no table of a service', () => {
  const made = serviceMigrations.flatMap(({ statements }) =>
    statements.flatMap((statement) => /^create table (\w+)/.exec(statement)?.[1] ?? []),
  );
  const tables = made.filter((name) => name !== 'meta').join('|');
  const names = new RegExp(`(?:from|join|into|update|table) (?:${tables})\\b|'(?:${tables})'`);
  const wrong = filesIn('src/store').filter((file) => names.test(readFileSync(file, 'utf8')));
  expect(made.length).toBeGreaterThan(30);
  expect(wrong).toEqual([]);
});
