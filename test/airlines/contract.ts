import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LiveOffer, OrderRequest, Provider } from '../../src/airlines/provider.ts';
import { OrderRefused } from '../../src/airlines/provider.ts';
import { seatsOn } from '../../src/kernel/domain/seats.ts';
import { formatUsdc, parseUsdc } from '../../src/kernel/money.ts';
import { isProblem, type ProblemCode } from '../../src/kernel/problems.ts';
import type { Offer, Passenger } from '../../src/wire/flights/index.ts';
import * as schemas from '../../src/wire/flights/offers.ts';
import { queryOf } from './queries.ts';

/** What the airline itself has in its books, where a test may look into them. */
export interface AirlineBooks {
  /** Orders under a reference, cancelled ones included. */
  orders(reference: string): Promise<number>;
  /** Orders of all references. */
  all(): Promise<number>;
}

type Route = readonly [origin: string, destination: string];

/** An airline as it is put to the contract. What is absent can't be brought about there, and is not asked for. */
export interface Contracted {
  readonly provider: Provider;
  /** The same airline as another process sees it: the same database, another memory. */
  another(): Provider;
  /** Any journey that is sold, and a date for all of them. */
  readonly route: Route;
  readonly date: string;
  /** Of what is found, the offers that may be ordered. */
  isBookable(offer: Offer): boolean;
  /** Moves the airline's clock, or waits. */
  later(ms: number): Promise<void>;
  readonly books?: AirlineBooks;
  /** Orders on it are refused for certain. */
  readonly refusing?: Route;
  /** The price on it is higher when an order is made than it was when it was found. */
  readonly repricing?: Route;
  /** The next order that is made loses its answer. */
  readonly losing?: { readonly route: Route; begin(): Promise<unknown> };
  /** The next order ends without a word of what came of it, and none was made. */
  readonly unknowing?: { readonly route: Route; begin(): Promise<unknown> };
  /** The next quotes say nothing of the amount. */
  readonly quoteless?: () => Promise<unknown>;
  /** Lines of the log so far. */
  lines(): readonly string[];
  close(): Promise<void>;
}

const REFUSALS: ProblemCode[] = [
  'offer_not_found',
  'offer_unavailable',
  'offer_expired',
  'offer_repriced',
  'upstream_rate_limited',
];
const DECIMAL = /^\d+(\.\d+)?$/;

/** People whose names nobody else has in a test. */
const PEOPLE: readonly Passenger[] = [
  ['Wilhelmina', 'Quastenfloss', '1984-03-02', 'wq@example.org', '+442071838750'],
  ['Zebulon', 'Quastenfloss', '1981-11-30', 'zq@example.org', '+442071838751'],
].map(([given_name = '', family_name = '', born_on = '', email = '', phone_number = '']) => ({
  given_name,
  family_name,
  born_on,
  email,
  phone_number,
  title: 'ms',
  gender: 'f',
}));
const PRIVATE = /Wilhelmina|Zebulon|Quastenfloss|1984-03-02|1981-11-30|[wz]q@example|\+44207183875/i;

let references = 0;
const nextReference = (): string => `int_contract_${process.pid}_${Date.now()}_${++references}`;

/**
 * What every provider of flights promises (`src/airlines/provider.ts`), as one list. A new airline passes it
 * before anything is sold of it: `open` makes it, and says what can be brought about there.
 */
export function providerContract(name: string, open: () => Promise<Contracted>): void {
  describe(`the contract of providers, kept by ${name}`, () => {
    let airline: Contracted;
    beforeAll(async () => {
      airline = await open();
    });
    afterAll(() => airline.close());

    const search = (route: Route, adults = 1): Promise<Offer[]> =>
      airline.provider.search(queryOf({ origin: route[0], destination: route[1], departDate: airline.date, adults }));
    /** One that can be ordered, as it is now. */
    async function fresh(route: Route = airline.route, adults = 1): Promise<LiveOffer> {
      const found = (await search(route, adults)).find(
        (offer) => offer.total_currency === 'USD' && airline.isBookable(offer),
      );
      if (!found) throw new Error(`nothing to book from ${route.join(' to ')}`);
      return airline.provider.offer(found.offer_id);
    }
    const request = ({ offer }: LiveOffer, more: Partial<OrderRequest> = {}): OrderRequest => ({
      reference: nextReference(),
      offerId: offer.offer_id,
      expectedAmountDecimal: offer.total_amount_decimal,
      passengers: PEOPLE.slice(0, 1),
      ...more,
    });
    const failureOf = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => null,
        (error: unknown) => error,
      );
    const isRefusal = (error: unknown) => error instanceof OrderRefused || isProblem(error, ...REFUSALS);
    async function expectOrders(reference: string, count: number): Promise<void> {
      if (airline.books) expect(await airline.books.orders(reference)).toBe(count);
    }

    test('an airport that there is not is no failure of the airline', async () => {
      const { provider, route } = airline;
      expect(provider.airport('QQQ')).toBeNull();
      if (!provider.takesAnyAirport) return;
      for (const [path, wrong] of [
        ['origin_iata', ['QQQ', route[1]]],
        ['destination_iata', [route[0], 'QQQ']],
      ] as const) {
        await expect(search(wrong)).rejects.toMatchObject({ code: 'airport_unknown', detail: { issues: [{ path }] } });
      }
    });

    test('every offer is whole: the schema takes it, and its amounts are one amount', async () => {
      const offers = await search(airline.route, 2);
      expect(offers.length).toBeGreaterThan(0);
      for (const offer of offers) {
        const read = schemas.offer.safeParse(offer);
        expect(read.error?.issues ?? [], JSON.stringify(offer).slice(0, 300)).toEqual([]);
        expect(offer.total_amount).toBe(Math.round(Number(offer.total_amount_decimal) * 1e6));
        for (const amount of [offer.base_amount_decimal, offer.tax_amount_decimal])
          if (amount !== null) expect(amount).toMatch(DECIMAL);
      }
      expect(new Set(offers.map(({ offer_id }) => offer_id)).size).toBe(offers.length);
    });

    test('conditions that are not told are null, and a fee names its currency', async () => {
      for (const { conditions } of await search(airline.route)) {
        if (conditions === null) continue;
        for (const [allowed, amount, currency] of [
          [conditions.change_allowed, conditions.change_penalty_amount, conditions.change_penalty_currency],
          [conditions.refund_allowed, conditions.refund_penalty_amount, conditions.refund_penalty_currency],
        ]) {
          if (allowed !== true) expect(amount).toBeNull();
          if (typeof amount === 'string' && Number(amount) > 0) expect(currency).toMatch(/^[A-Z]{3}$/);
        }
      }
    });

    test('an offer that was found is read again: the same flights, for as many people, to the unit', async () => {
      const [found] = (await search(airline.route, 2)).filter(airline.isBookable);
      if (!found) throw new Error('nothing was found');
      const live = await airline.provider.offer(found.offer_id);
      expect(live.passengerCount).toBe(2);
      expect(live.offer).toMatchObject({
        offer_id: found.offer_id,
        comparison_key: found.comparison_key,
        total_amount: found.total_amount,
        total_currency: found.total_currency,
      });
      for (const service of live.availableServices) {
        expect(schemas.availableService.safeParse(service).error?.issues ?? []).toEqual([]);
        expect(service.total_amount_decimal).toMatch(DECIMAL);
      }
    });

    test('an offer that nobody made is not found', async () => {
      const failure = await failureOf(airline.provider.offer('off_0000AAAAAAAAAAAAAAAAAA'));
      expect(isProblem(failure, 'offer_not_found', 'offer_unavailable')).toBe(true);
    });

    test('a reference that was never ordered has no order, for certain', async () => {
      expect(await airline.provider.findOrder(nextReference(), 'off_1')).toBeNull();
    });

    test('an order costs what was escrowed, carries our reference, and is found by it', async () => {
      const wanted = request(await fresh());
      const order = await airline.provider.createOrder(wanted);
      expect(order.reference).toBe(wanted.reference);
      expect(Number(order.totalAmountDecimal)).toBe(Number(wanted.expectedAmountDecimal));
      expect(order.totalCurrency).toBe('USD');
      expect(['pending', 'confirmed', 'ticketed']).toContain(order.status);
      if (order.bookingReference !== null) expect(order.bookingReference).toMatch(/^[A-Z0-9]{5,13}$/);
      const found = await airline.another().findOrder(wanted.reference, wanted.offerId);
      expect(found).toMatchObject({
        providerOrderId: order.providerOrderId,
        reference: wanted.reference,
        totalAmountDecimal: order.totalAmountDecimal,
      });
      expect(await airline.provider.order(order.providerOrderId)).toMatchObject({ reference: wanted.reference });
      await expectOrders(wanted.reference, 1);
    });

    test('a reference is one order, however often it is asked for, and by whom', async () => {
      const wanted = request(await fresh());
      const first = await airline.provider.createOrder(wanted);
      expect((await airline.provider.createOrder(wanted)).providerOrderId).toBe(first.providerOrderId);
      expect((await airline.another().createOrder(wanted)).providerOrderId).toBe(first.providerOrderId);
      await expectOrders(wanted.reference, 1);
    });

    test('two processes that order at once make one order at most', async () => {
      const wanted = request(await fresh());
      const made = await Promise.allSettled(
        [airline.provider, airline.another()].map((provider) => provider.createOrder(wanted)),
      );
      // Who came too late may say that he can't know, never that there is none.
      for (const one of made) if (one.status === 'rejected') expect(isRefusal(one.reason)).toBe(false);
      expect(await airline.provider.findOrder(wanted.reference, wanted.offerId)).toMatchObject({
        reference: wanted.reference,
      });
      await expectOrders(wanted.reference, 1);
    });

    test('an order for several people has them all, at the price of all', async () => {
      const live = await fresh(airline.route, 2);
      const wanted = request(live, { passengers: PEOPLE });
      const order = await airline.provider.createOrder(wanted);
      expect(Number(order.totalAmountDecimal)).toBe(Number(live.offer.total_amount_decimal));
      if (order.status === 'ticketed' && order.documents.length > 0)
        expect(order.documents.length).toBeGreaterThanOrEqual(2);
    });

    test('an order at another price than the airline asks is refused, with the price of now', async () => {
      const live = await fresh();
      const wanted = request(live, { expectedAmountDecimal: '1' });
      const failure = await failureOf(airline.provider.createOrder(wanted));
      expect(failure).toMatchObject({ code: 'offer_repriced' });
      const { detail } = failure as { detail: { current_ticket_amount: string } };
      expect(Number(detail.current_ticket_amount)).toBe(Number(live.offer.total_amount_decimal));
      expect(await airline.provider.findOrder(wanted.reference, wanted.offerId)).toBeNull();
      await expectOrders(wanted.reference, 0);
    });

    /** One that can be ordered with a seat that costs something. */
    async function seated() {
      for (const found of await search(airline.route)) {
        if (found.total_currency !== 'USD' || !airline.isBookable(found)) continue;
        const live = await airline.provider.offer(found.offer_id);
        const [map] = (await live.seatMaps?.()) ?? [];
        const [one] = (map ? seatsOn(map) : []).flatMap(({ designator, sold }) =>
          sold.flatMap(({ currency, amount }) => (currency === 'USD' && amount > 0n ? { designator, amount } : [])),
        );
        if (map && one) return { live, map, one };
      }
      throw new Error('no seats are sold');
    }

    test('a chosen seat is a part of the price, and is sold once', async (context) => {
      if (!airline.books) return context.skip();
      const { live, map, one } = await seated();
      const seats = [{ passenger_index: 0, segment_index: map.segment_index, designator: one.designator }];
      const withSeat = formatUsdc(parseUsdc(live.offer.total_amount_decimal) + one.amount);
      const bare = request(live, { seats });
      expect(await failureOf(airline.provider.createOrder(bare))).toMatchObject({ code: 'offer_repriced' });
      await expectOrders(bare.reference, 0);
      const wanted = request(live, { seats, expectedAmountDecimal: withSeat });
      const order = await airline.provider.createOrder(wanted);
      expect([Number(order.totalAmountDecimal), order.seats]).toEqual([Number(withSeat), seats]);
      const again = (await search(airline.route, 1)).filter(
        ({ comparison_key, total_currency, offer_id }) =>
          comparison_key === live.offer.comparison_key && total_currency === 'USD' && offer_id !== live.offer.offer_id,
      );
      let asked = 0;
      for (const { offer_id } of again) {
        const next = await airline.another().offer(offer_id);
        const shown = (await next.seatMaps?.())?.find(({ segment_index }) => segment_index === map.segment_index);
        const sold = shown && seatsOn(shown).find(({ designator }) => designator === one.designator)?.sold;
        if (!sold) continue;
        asked += 1;
        expect(sold).toEqual([]);
        const late = request(next, { seats });
        expect(await failureOf(airline.provider.createOrder(late))).toMatchObject({ code: 'seat_unavailable' });
        await expectOrders(late.reference, 0);
        break;
      }
      expect(asked).toBe(1);
    });

    test('a price that rose meanwhile is never paid in silence', async (context) => {
      if (!airline.repricing) return context.skip();
      const wanted = request(await fresh(airline.repricing));
      expect(await failureOf(airline.provider.createOrder(wanted))).toMatchObject({ code: 'offer_repriced' });
      await expectOrders(wanted.reference, 0);
    });

    test('refused means that nothing was ordered, and that it is known', async (context) => {
      if (!airline.refusing) return context.skip();
      const wanted = request(await fresh(airline.refusing));
      const before = await airline.books?.all();
      expect(isRefusal(await failureOf(airline.provider.createOrder(wanted)))).toBe(true);
      expect(await airline.another().findOrder(wanted.reference, wanted.offerId)).toBeNull();
      expect(await airline.books?.all()).toBe(before);
    });

    test('an order whose answer was lost is found, and never made again', async (context) => {
      if (!airline.losing) return context.skip();
      const wanted = request(await fresh(airline.losing.route));
      await airline.losing.begin();
      const failure = await failureOf(airline.provider.createOrder(wanted));
      expect(isRefusal(failure)).toBe(false);
      await airline.later(10_000);
      const again = await airline.another().createOrder(wanted);
      expect(await airline.provider.findOrder(wanted.reference, wanted.offerId)).toMatchObject({
        providerOrderId: again.providerOrderId,
      });
      await expectOrders(wanted.reference, 1);
    });

    test('what is not known is said to be unknown, to every process, and nothing is ordered on top of it', async (context) => {
      if (!airline.unknowing) return context.skip();
      const wanted = request(await fresh(airline.unknowing.route));
      await airline.unknowing.begin();
      const before = await airline.books?.all();
      for (const provider of [airline.provider, airline.provider, airline.another()]) {
        expect(isRefusal(await failureOf(provider.createOrder(wanted)))).toBe(false);
        expect(await provider.findOrder(wanted.reference, wanted.offerId)).not.toBeNull();
      }
      await airline.later(3_600_000);
      expect(await airline.another().findOrder(wanted.reference, wanted.offerId)).not.toBeNull();
      expect(await airline.books?.all()).toBe(before);
    });

    test('an order is cancelled once, and stays cancelled', async () => {
      const { provider } = airline;
      const order = await provider.createOrder(request(await fresh()));
      const quote = await provider.cancellationQuote?.(order.providerOrderId);
      if (quote) {
        if (quote.refundAmountDecimal !== null) expect(quote.refundAmountDecimal).toMatch(DECIMAL);
        expect(quote.refundAmountDecimal === null).toBe(quote.refundCurrency === null);
      }
      const cancelled = await provider.cancel(order.providerOrderId, quote?.quoteId);
      expect(cancelled.status).toBe('cancelled');
      expect((await provider.cancel(order.providerOrderId)).status).toBe('cancelled');
      expect((await airline.another().order(order.providerOrderId)).status).toBe('cancelled');
      expect(await provider.cancellationQuote?.(order.providerOrderId)).toBeOneOf([null, undefined]);
    });

    test('a refund that is not told is null, never nothing', async (context) => {
      const { provider, quoteless } = airline;
      if (!quoteless || !provider.cancellationQuote) return context.skip();
      const order = await provider.createOrder(request(await fresh()));
      await quoteless();
      expect(await provider.cancellationQuote(order.providerOrderId)).toMatchObject({
        refundAmountDecimal: null,
        refundCurrency: null,
      });
    });

    test('names that the airline would refuse are named before anything is paid', async () => {
      const { provider } = airline;
      const { offer } = await fresh();
      expect(provider.passengerIssues?.(PEOPLE.slice(0, 1), offer) ?? []).toEqual([]);
      const [person] = PEOPLE;
      if (!person || !provider.passengerIssues) return;
      const long = { ...person, given_name: 'Bartholomew Maximilian Sebastian' };
      const [issue] = provider.passengerIssues([long], offer);
      expect(issue?.path).toContain('given_name');
      expect(issue?.message).not.toMatch(/Bartholomew/);
    });

    test('who travels is nowhere in the log, nor in what is thrown', async () => {
      const wrong = request(await fresh(), {
        passengers: PEOPLE.slice(0, 1).map((one) => ({ ...one, phone_number: '+4420718387501234567' })),
      });
      const failure = await failureOf(airline.provider.createOrder(wrong));
      const written = [String(failure), JSON.stringify(failure), ...airline.lines()].join('\n');
      expect(written).not.toMatch(PRIVATE);
    });
  });
}
