import { beforeAll, expect, test } from 'vitest';
import { type DeskShown, deskLines } from '../../src/cli/view/flights/refund-desk.ts';
import { plainPaint } from '../../src/terminal/paint.ts';
import { readyFor, textWidth } from '../../src/terminal/text.ts';
import type { RefundCase } from '../../src/wire/flights/index.ts';

const HAN = [
  ...'天地玄黃宇宙洪荒日月盈昃辰宿列張寒來暑往秋收冬藏閏餘成歲律呂調陽雲騰致雨露結為霜金生麗水玉出崑岡劍號巨闕珠稱夜光果珍李柰菜重芥薑海',
];

const caseOf = (reason: string) =>
  ({
    request_id: 'ref_1',
    intent_id: 'int_1',
    order_id: 'ord_1',
    status: 'received',
    route: 'LIS-BER',
    journey_date: '2026-12-20',
    passenger_count: 1,
    requested_at: '2026-11-21T09:00:00Z',
    claimed_by: null,
    fare: { owner_name: 'TAP', fare_brand_name: null },
    refund_rule: { kind: 'refundable', payout_amount: 1, penalty_amount: 0 },
    captured_amount: 1,
    airline_quote: null,
    refund_wallet: 'wallet',
    decision: null,
    last_error: null,
    contact: null,
    reason,
    notes: [],
    payout_tx_hash: null,
    timeline: [],
  }) as unknown as RefundCase;

beforeAll(() => readyFor(HAN.join('')));

test('every letter of a reason is on the desk, also of scripts that take two cells and leave no blanks', () => {
  const shown = caseOf(HAN.join(''));
  for (let columns = 40; columns <= 160; columns++) {
    const desk: DeskShown = {
      cases: [],
      isRead: true,
      selected: shown.request_id,
      shown,
      pane: 'case',
      scroll: 0,
      mode: { kind: 'browsing' },
      said: () => [],
      away: null,
    };
    const lines = deskLines(desk, { columns, rows: 80 }, Date.UTC(2026, 10, 22), plainPaint);
    const text = lines.join('\n');
    expect(
      HAN.filter((letter) => !text.includes(letter)),
      `${columns} columns`,
    ).toEqual([]);
    expect(lines.filter((line) => line.includes('天') && textWidth(line) >= columns)).toEqual([]);
  }
});
