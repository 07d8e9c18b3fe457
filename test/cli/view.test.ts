import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { evidenceLines } from '../../src/cli/commands/stuck/run.ts';
import { offerLines } from '../../src/cli/view/flights/offer.ts';
import {
  axisText,
  barText,
  numberedOffers,
  type SearchTitle,
  scaleOf,
  searchLines,
  searchView,
  timelineOf,
} from '../../src/cli/view/flights/search.ts';
import { bookingPhase, intentLines, moneyStage, statusLines } from '../../src/cli/view/flights/status.ts';
import { firstOfferLines } from '../../src/cli/view/index.ts';
import { plainPaint } from '../../src/terminal/paint.ts';
import { fieldLines, tsvLines } from '../../src/terminal/table.ts';
import { cut, harmless, harmlessDocument, harmlessJson, textWidth, wrap } from '../../src/terminal/text.ts';
import { fromTo, hoursAndMinutes } from '../../src/terminal/times.ts';
import type { Slice } from '../../src/wire/flights/index.ts';
import { rounds } from '../rounds.ts';
import { intent, offerWith, option, response, segment, slice, viaMadrid } from './offers.ts';

const title: SearchTitle = {
  from: 'LIS',
  to: 'BER',
  depart: '2026-12-20',
  return: undefined,
  adults: 1,
  cabin: 'economy',
  grouped: true,
};
const flexible = option({
  offer_id: 'off_flex',
  fare_brand_name: 'Flex',
  refundable: true,
  changeable: true,
  total_amount_decimal: '201.5',
  checked_bags_included: 1,
});
const other = option({ offer_id: 'off_other', owner_name: 'Other seller', total_amount_decimal: '155.00' });
const offers = [
  offerWith([slice()], [option(), flexible, other]),
  offerWith([viaMadrid], [option({ offer_id: 'off_mad', fare_brand_name: null, checked_bags_included: null })]),
];
const screen = (width: number) => ({ paint: plainPaint, width });
const drawn = (width: number, changed = {}) => searchLines(response(offers), { ...title, ...changed }, screen(width));

describe('search', () => {
  const names = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.constantFrom(
      '東京航空エクスプレス運輸',
      '👩‍👩‍👧‍👦 Air',
      'Ünïted Ai\u0301rways of the Far and Farther East',
      'B'.repeat(60),
    ),
  );
  const fares = fc.record({
    owner_name: names,
    fare_brand_name: fc.option(names),
    total_amount_decimal: fc.constantFrom('9.5', '151.20', '9999999.99'),
    total_currency: fc.constantFrom('USD', 'EUR', 'CHF'),
    checked_bags_included: fc.option(fc.nat(9)),
  });
  const found = fc.record({
    carrier: names,
    fares: fc.array(fares, { minLength: 1, maxLength: 4 }),
    isReturn: fc.boolean(),
    technical: fc.nat(2),
    co2: fc.option(fc.nat(99_999)),
  });
  const itinerary = ({
    carrier,
    fares: sold,
    isReturn,
    technical,
    co2,
  }: typeof found extends fc.Arbitrary<infer Found> ? Found : never) => {
    const out = slice([segment({ marketing_carrier_name: carrier })]);
    const back = { ...viaMadrid, technical_stops: technical };
    const options = sold.map((fare, index) => option({ ...fare, offer_id: `off_${index}` }));
    return { ...offerWith(isReturn ? [out, back] : [back], options), total_emissions_kg: co2 };
  };

  test('no line is wider than the terminal from 60 columns up, whatever the names', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 57, max: 160 }),
        fc.array(found, { minLength: 1, maxLength: 12 }),
        fc.constantFrom('price', 'emissions'),
        fc.boolean(),
        (width, listed, sort, grouped) => {
          const list = { ...response(listed.map(itinerary)), total_offers: 400 };
          const asked = { ...title, return: '2026-12-28', adults: 9, cabin: 'premium_economy', sort, grouped };
          const lines = searchLines(harmlessDocument(list), asked, screen(width));
          expect(lines.filter((line) => textWidth(line) > width)).toEqual([]);
          expect(lines.filter((line) => /3h30|10h50/.test(line)).length).toBeGreaterThanOrEqual(listed.length);
        },
      ),
      { numRuns: rounds(40, 150) },
    );
  });

  test('names are whole at every width: on one line where there is room for them, else on two', () => {
    const [airline, brand, seller] = ['Tower Bridge Airways', 'Seat & Freedom', 'Farefinch'];
    const out = slice([segment({ marketing_carrier_name: airline })]);
    const sold = option({ fare_brand_name: brand, owner_name: seller });
    const list = response([offerWith([out], [sold])]);
    const isBeside = new Set<boolean>();
    for (let width = 60; width <= 160; width++) {
      const lines = searchLines(list, title, screen(width));
      const journey = lines.find((line) => line.includes('06:35')) ?? '';
      expect(journey, `${width} columns`).toContain(airline);
      expect(lines.join('\n'), `${width} columns`).toMatch(new RegExp(`${brand}.* via ${seller}`));
      isBeside.add(journey.includes(brand));
      expect(lines.filter((line) => textWidth(line) > width)).toEqual([]);
    }
    expect(isBeside.size).toBe(2);
  });

  test('an itinerary is a line with times, bar, duration, stops, airline and its cheapest fare', () => {
    const [line = ''] = drawn(100).filter((one) => one.includes('06:35'));
    expect(line).toMatch(/^06:35–11:05\s+━+\s+3h30\s+direct\s+Zephyr Atlantic\s+1 Light\s+0 no {2}– +151\.20$/);
  });

  test('where there is no room beside it, a fare stands under its journey', () => {
    const at = drawn(60).findIndex((one) => one.includes('06:35'));
    const [journey = '', fare = ''] = drawn(60).slice(at);
    expect(journey).toMatch(/^→ 06:35–11:05\s+━+\s+3h30\s+direct\s+Zephyr Atlantic$/);
    expect(fare).toMatch(/^ +1 Light\s+0 no {2}– +151\.20$/);
  });

  test('fare families unfold under it, and pricier sellers of the same are counted', () => {
    const text = drawn(80).join('\n');
    expect(text).toMatch(/1\.2 Flex\s+1 yes yes +201\.50/);
    expect(text).toMatch(/^ +1 more seller, higher price$/m);
    expect(text).not.toMatch(/155\.00/);
  });

  test('the seller is named where it is not the airline, and the airline always', () => {
    const sold = response([offerWith([slice()], [option({ owner_name: 'Wayloft' })]), ...offers]);
    for (const width of [60, 80, 100, 140]) {
      const lines = searchLines(sold, title, screen(width)).join('\n');
      expect(lines).toMatch(/151\.20 via Wayloft$/m);
      expect(lines.match(/Zephyr Atlantic/g)).toHaveLength(3);
    }
  });

  test('two airlines of a direction are the first and how many more', () => {
    const [first, second] = viaMadrid.segments;
    const both = { ...viaMadrid, segments: [first, { ...second, marketing_carrier_name: 'Norvia' }] };
    const list = response([offerWith([both as Slice])]);
    expect(searchLines(list, title, screen(80)).join('\n')).toMatch(/Zephyr Atlantic \+1/);
  });

  test('CO2 is there where there is room, and at any width when the list is sorted by it', () => {
    expect(drawn(60).join('\n')).not.toMatch(/CO2|141 kg/);
    for (const lines of [drawn(60, { sort: 'emissions' }), drawn(100, { sort: 'emissions' }), drawn(140)]) {
      expect(lines.join('\n')).toMatch(/CO2[\s\S]* 141 kg/);
    }
  });

  test('the next day is +1, and a layover shows in the bar', () => {
    const [line = ''] = drawn(100).filter((one) => one.includes('21:10'));
    expect(line).toMatch(/21:10–09:00\+1/);
    expect(line).toMatch(/━╌+━/);
    expect(line).toMatch(/1 MAD/);
  });

  test('undisclosed is a dash with a footnote, and never zero or no', () => {
    const lines = drawn(100);
    expect(lines.find((line) => line.includes('21:10'))).toMatch(/2 –\s+–/);
    expect(lines.at(-1)).toMatch(/^– not disclosed/);
  });

  test('every width has durations, a wide one flight numbers', () => {
    for (const width of [60, 80, 100]) expect(drawn(width).join('\n')).toMatch(/3h30/);
    expect(drawn(140).join('\n')).toMatch(/ZA412 NV88/);
  });

  test('nothing found is said, not drawn', () => {
    expect(searchLines(response([]), title, screen(80))).toEqual(['No offers match.']);
  });

  test('numbers on the screen stand for offer ids', () => {
    expect(numberedOffers(response(offers), true)).toEqual({ '1': 'off_light', '1.2': 'off_flex', '2': 'off_mad' });
    expect(numberedOffers(response(offers), false)).toEqual({ '1': 'off_light', '2': 'off_mad' });
  });

  test('a pipe gets a row for each offer, beginning with its id', () => {
    const rows = searchView(title).rows?.(response(offers)) ?? [];
    expect(rows.map(([id]) => id)).toEqual(['off_light', 'off_mad']);
    expect(tsvLines(rows)[0]?.split('\t')).toHaveLength(12);
  });
});

describe('bars', () => {
  test('take exactly their cells, and show every leg and layover however short', () => {
    const timelines = [timelineOf(slice()), timelineOf(viaMadrid)];
    for (const cells of [8, 12, 40]) {
      for (const timeline of timelines) {
        const bar = barText(timeline, scaleOf(timelines), cells, plainPaint);
        expect([...bar]).toHaveLength(cells);
        expect(bar).toMatch(timeline.parts.length > 1 ? /━╌+━/ : /━/);
      }
    }
  });

  test('the axis never grows beyond its cells', () => {
    for (const cells of [8, 11, 24, 48]) {
      for (const hours of [1, 5, 24, 60])
        expect(axisText({ from: 300, to: 300 + hours * 60 }, cells)).toHaveLength(cells);
    }
  });
});

describe('where the money is', () => {
  const at = Date.parse('2026-11-21T09:10:00Z');
  const booked = { booking_requested_at: '2026-11-21T09:01:00.000Z', order_id: 'ord_1' };
  test.each([
    ['unpaid', {}],
    ['expired', { expires_at: '2026-11-21T09:05:00.000Z' }],
    ['ticketing', booked],
    ['capturing', { ...booked, ticketed_at: '2026-11-21T09:02:00.000Z' }],
    ['refunding', { ...booked, refund_reason: 'ticketing_failed' }],
    ['refunding', { refund_reason: 'refund_account_missing' }],
    [
      'captured',
      { ...booked, status: 'booked' as const, ticketed_at: '2026-11-21T09:02:00.000Z', capture_tx_hash: 'captx' },
    ],
    [
      'refunded',
      { ...booked, status: 'refunded' as const, refund_tx_hash: 'refundtx', refund_reason: 'ticketing_failed' },
    ],
  ])('%s', (stage, changed) => {
    const shown = intent(changed);
    expect(moneyStage(shown, at)).toBe(stage);
    const text = statusLines(shown, { nowMs: at, fundedBy: 'fundtx', isVerbose: true }, screen(80)).join('\n');
    expect(text).toMatch(/^int_01example/);
    if (stage === 'captured') expect(text).toMatch(/funded[\s\S]*fundtx[\s\S]*captured[\s\S]*151\.20 USDC[\s\S]*captx/);
    if (stage === 'refunded') expect(text).toMatch(/funded[\s\S]*ticketing failed[\s\S]*refunded[\s\S]*refundtx/);
    expect(text).toMatch(/✓ locked[\s\S]*2026-11-21 09:00:00 UTC/);
    if (stage === 'unpaid') expect(text).not.toMatch(/✓ funded/);
    if (stage === 'captured') expect(text).toMatch(/09:01:00 UTC, 60 s later[\s\S]*09:02:00 UTC, 60 s later/);
  });

  test('a trip that was given up is told as booked first, and never as paid back whole', () => {
    const given = intent({
      ...booked,
      status: 'refunded',
      ticketed_at: booked.booking_requested_at,
      captured_at: booked.booking_requested_at,
      capture_tx_hash: 'captx',
      refund_reason: 'refund_request_approved',
      refunded_at: booked.booking_requested_at,
      refund_tx_hash: 'refundtx',
    });
    const text = statusLines(given, { nowMs: at, fundedBy: 'fundtx', isVerbose: true }, screen(80)).join('\n');
    expect(text).toMatch(/funded[\s\S]*ticketed[\s\S]*captured[\s\S]*captx[\s\S]*refunded[\s\S]*refundtx/);
    expect(text).toMatch(/refunded +what the fare rule gives back, to/);
    expect(text).not.toContain('not booked');
  });

  test('one that a restored service has forgotten promises no money that has left the escrow', () => {
    const forgotten = intent({ operator_review_since: '2026-11-21T09:30:00.000Z', refund_reason: 'database_behind' });
    const text = statusLines(forgotten, { nowMs: at }, screen(400)).join(' ');
    expect(text).toContain('have left the escrow');
    expect(text).not.toMatch(/are in the escrow|anyone can refund/);
  });

  test('one whose last step failed says with what, and promises no time', () => {
    const failing = intent({ ...booked, order_id: null, booking_held_up_by: 'too_many_open_files' });
    const text = statusLines(failing, { nowMs: at }, screen(200)).join('\n');
    expect(text).toContain('Ticketing, held up by too_many_open_files and tried again.');
    expect(bookingPhase(failing, 'ticketing')).not.toContain('usually');
    expect(bookingPhase({ ...failing, booking_held_up_by: null }, 'ticketing')).toContain('usually');
  });

  test('one that takes longer than usual says who may have to look at it, and what becomes of the money', () => {
    const hanging = intent({ ...booked, order_id: null });
    const said = (minutes: number) =>
      statusLines(hanging, { nowMs: Date.parse(booked.booking_requested_at) + minutes * 60_000 }, screen(200)).join(
        ' ',
      );
    expect(said(9)).not.toMatch(/longer than usual/);
    expect(said(11)).toMatch(
      /longer than usual \(requested 11 min ago\).*an operator.*anyone can refund the escrow from 20/,
    );
  });

  test('an intent is told with its escrow, its deadline and where refunds go', () => {
    expect(intentLines(intent(), at, screen(80)).join('\n')).toMatch(/151\.20 USDC[\s\S]*in 20 min/);
  });
});

describe('text', () => {
  test('widths count cells, not characters or colour', () => {
    expect(['abc', 'Núñez', 'e\u0301', '東京', '\u001b[1mab\u001b[0m'].map(textWidth)).toEqual([3, 5, 1, 4, 2]);
  });

  test('is cut with an ellipsis and wrapped at spaces', () => {
    expect(cut('Zephyr Atlantic', 8)).toBe('Zephyr…');
    expect(cut('Zephyr', 8)).toBe('Zephyr');
    expect(wrap('one two three', 7)).toEqual(['one two', 'three']);
  });

  test('from elsewhere cannot act on the terminal', () => {
    expect(harmless('a\u001b[2Jb\r\nc\u009bd\u202ee')).toBe('a\ufffd[2Jb\ufffd\ufffdc\ufffdd\ufffde');
    expect(harmlessJson({ a: '\u009b\u202e' })).toBe('{"a":"\\u009b\\u202e"}');
    expect(tsvLines([['a\tb', null, 1]])).toEqual(['a b\t\t1']);
  });

  test('fields without a value are left out, the others line up', () => {
    expect(
      fieldLines(
        (text) => text,
        [
          ['A', '1'],
          ['Long', null],
          ['Bcd', '2'],
        ],
      ),
    ).toEqual(['A    1', 'Bcd  2']);
  });

  test('times', () => {
    expect(fromTo('2026-12-20T23:00:00', '2026-12-22T01:00:00')).toBe('23:00–01:00+2');
    expect(fromTo('2026-12-20T01:00:00', '2026-12-19T23:00:00')).toBe('01:00–23:00-1');
    expect(hoursAndMinutes(65)).toBe('1h05');
  });
});

test('the page that was kept of a visit is shown line by line, and drives no terminal', () => {
  const kept = {
    ...{ evidence_id: 'e1', at: '2026-11-23T03:52:26Z', outcome: 'captcha', step: 'till \u001b[2J' },
    ...{ carrier: 'X9', recipe_version: 1, screenshot_file: null, text_file: null },
    text: 'http://x/pay\n\n  Are you\u001b[31m a person?\nYes',
  };
  const lines = evidenceLines([kept], { paint: plainPaint, width: 60 } as never);
  expect(lines.slice(-3)).toEqual(['  http://x/pay', '  Are you\ufffd[31m a person?', '  Yes']);
  expect(lines.join('\n')).not.toContain('\u001b');
});

test('Next: skips offers that cannot be locked, and says why where there is no other', () => {
  const [pounds, dollars] = [
    { offer_id: 'off_1', total_currency: 'GBP' },
    { offer_id: 'off_2', total_currency: 'USD' },
  ];
  expect(firstOfferLines([pounds, dollars], (id) => id)).toEqual(['Next: farelock intent off_2']);
  expect(firstOfferLines([pounds], (id) => id)).toEqual(['Next: try another day: only offers in USD can be locked']);
});

test('the note about what an airline left out is of its data, not of a dash in its words', () => {
  const told = {
    ...offerWith([slice([segment({})])]),
    fare_brand_name: 'Eco – Light',
    conditions: {
      change_allowed: false,
      change_penalty_amount: null,
      change_penalty_currency: null,
      refund_allowed: true,
      refund_penalty_amount: '40.00',
      refund_penalty_currency: 'USD',
    },
    supported_loyalty_programmes: ['TP'],
  };
  const noteOf = (offer: typeof told) =>
    offerLines({ offer, available_services: [] } as unknown as Parameters<typeof offerLines>[0], {}, 0, {
      paint: plainPaint,
      width: 100,
    }).some((line) => line.startsWith('– not disclosed'));
  expect(noteOf(told)).toBe(false);
  expect(noteOf({ ...told, conditions: { ...told.conditions, refund_penalty_amount: null as never } })).toBe(true);
});
