import { browserMigrations as browser } from '../airlines/browser/index.ts';
import { duffelMigrations as duffel } from '../airlines/duffel/index.ts';
import { effectsMigrations as effects } from '../effects/index.ts';
import { flightsMigrations as flights } from '../flights/index.ts';
import { notifyMigrations as notify } from '../notify/index.ts';
import { partnerMigrations as partner } from '../partner/index.ts';
import { paymentsMigrations as payments } from '../payments/index.ts';
import type { Migration } from '../store/base/index.ts';
import { CREATE_META } from '../store/index.ts';

/** Older versions can run beside this step until keys rotate: they know only one authority. */
export const ROTATION_STEP = '250_operator_keys';

/** The steps of the services' database. It remembers names and order, so steps are only added at the end. */
export const serviceMigrations: readonly Migration[] = [
  {
    name: '001_flight_service',
    statements: [
      CREATE_META,
      ...flights.searchCompletions,
      ...payments.create,
      ...flights.intentsAndBookings,
      ...effects.create,
    ],
  },
  { name: '002_intent_payments', statements: flights.intentPayments },
  { name: '012_refund_requests', statements: flights.refundRequests },
  { name: '010_notify', statements: [...notify.create, ...payments.settlementsByAge, ...flights.upkeep] },
  { name: '011_lowcost', statements: flights.lowcost },
  { name: '013_affiliates', statements: flights.affiliates },
  { name: '014_sponsored_previews', statements: flights.sponsoredPreviews },
  { name: '015_stuck', statements: flights.stuck },
  { name: '016_creations', statements: flights.creations },
  { name: '020_partner_service', statements: partner.create },
  { name: '021_compliance', statements: partner.compliance },
  { name: '022_outbound', statements: partner.outbound },
  { name: '023_partner_retention', statements: partner.retention },
  {
    // Every query of the worker and the sweeps has an index over exactly the rows that it is about, so finished rows
    // cost nothing, however many there are. A partial index is used only if the query has the same words (`open` of a
    // `Queue`); test/store/plans-*.test.ts check every statement.
    name: '030_bounded_work',
    statements: [
      ...payments.boundedWork,
      ...flights.boundedBookings,
      ...effects.boundedWork,
      ...notify.boundedWork,
      ...flights.boundedUpkeep,
      ...partner.boundedWork,
    ],
  },
  { name: '040_open_bookings', statements: flights.openBookings },
  { name: '050_intents_by_age', statements: flights.intentsByAge },
  { name: '060_paid_answers', statements: payments.answersApart },
  { name: '070_lists', statements: [...flights.lists, ...partner.lists, ...payments.newestSettled] },
  { name: '080_browser', statements: browser.create },
  { name: '080_duffel', statements: duffel.create },
  { name: '090_real_airlines', statements: [...effects.airlineDetail, ...flights.realAirlines] },
  { name: '110_sale_keys', statements: flights.saleKeys },
  { name: '130_browser_cards', statements: browser.cards },
  { name: '150_partner_doubts', statements: partner.doubts },
  { name: '120_locks', statements: flights.locks },
  { name: '151_partner_rotation', statements: partner.rotation },
  { name: '100_agreements', statements: flights.agreements },
  { name: '230_partner_platforms', statements: partner.platforms, rolls: true },
  { name: ROTATION_STEP, statements: flights.authorities, rolls: true },
  { name: '280_payment_ids', statements: payments.paymentIds, rolls: true },
  // An older version beside this step compares the locked total with the fare alone, and refuses it as repriced.
  { name: '290_bags', statements: flights.bags, rolls: true },
  // An older process cannot end an authorized escrow: the chain refuses, and a newer process goes on.
  { name: '290_authorizations', statements: flights.authorizations, rolls: true },
  // As with bags, an older version refuses seats as repriced.
  { name: '300_seats', statements: flights.seats, rolls: true },
  // An older process would cancel the whole order for a request about one of its travellers.
  { name: '300_passenger_refunds', statements: flights.passengerRefunds },
];
