import type { Look, Notice, Watch } from '../../../client/journal/index.ts';
import { instant } from '../../../kernel/clock.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { isSpoken, type ListColumn, listLines, type Screen, type View } from '../../../terminal/index.ts';
import { money } from '../../view/index.ts';
import type { LookDocument, WatchFacts } from './result.ts';

const usdcOf = (atomic: number): string => formatUsdc(BigInt(atomic));

export function factsOf(watch: Watch, looks: readonly Look[]): WatchFacts {
  const prices = looks.flatMap(({ price }) => price ?? []);
  return {
    watch_id: watch.watchId,
    title: watch.title,
    state: watch.state,
    below: usdcOf(watch.below),
    every_seconds: Math.round(watch.everyMs / 1000),
    daily: usdcOf(watch.perDay),
    until: instant(watch.untilMs),
    notify: [...watch.notify],
    next_look_at: watch.state === 'ended' ? null : instant(watch.nextAtMs),
    paid_amount: usdcOf(looks.reduce((sum, { paid, most }) => sum + (paid ?? most), 0)),
    lowest: prices.length === 0 ? null : usdcOf(Math.min(...prices)),
  };
}

export function looksOf(watch: Watch, looks: readonly Look[], notices: readonly Notice[]): LookDocument[] {
  let before: number | null = null;
  return looks.map((look): LookDocument => {
    const { price } = look;
    const change: number | null = price === null || before === null ? null : price - before;
    before = price ?? before;
    const status = look.state !== 'done' ? look.state : price === null ? 'none' : 'found';
    return {
      number: look.number,
      at: instant(look.begun_at_ms),
      status,
      price: price === null ? null : usdcOf(price),
      change: change === null ? null : usdcOf(change),
      is_below: price !== null && price < watch.below,
      offer_id: look.offer_id,
      says: look.says,
      paid_amount: look.paid === null ? null : usdcOf(look.paid),
      notices: notices.filter(({ number }) => number === look.number).map(({ way, state }) => ({ way, state })),
    };
  });
}

const COLUMNS: readonly ListColumn<LookDocument>[] = [
  { title: 'When (UTC)', cell: ({ at }) => at.slice(0, 16).replace('T', ' ') },
  { title: 'Price', align: 'right', cell: ({ price }) => (price === null ? '–' : `${money(price)} USD`) },
  { title: 'Change', align: 'right', cell: ({ change }) => changeText(change) },
  { title: 'Cheapest offer', cuts: true, cell: ({ says }) => says },
  { title: 'Paid', align: 'right', cell: ({ paid_amount }) => (paid_amount === null ? '?' : money(paid_amount)) },
];

function changeText(change: string | null): string {
  if (change === null || Number(change) === 0) return '';
  return Number(change) < 0 ? `−${money(change.slice(1))}` : `+${money(change)}`;
}

/** A line for each look, in the columns of the history. */
export const lookView: View<LookDocument> = {
  lines({ at, price, change, says, paid_amount, is_below }, { paint }) {
    const when = at.slice(0, 16).replace('T', ' ');
    const cost = price === null ? '–' : `${money(price)} USD`;
    const said = is_below ? paint.good(paint.bold(cost.padStart(12))) : cost.padStart(12);
    return [`${paint.dim(when)} ${said} ${changeText(change).padStart(8)}  ${says}${paint.dim(paidText(paid_amount))}`];
  },
  rows: (look) => [[look.at, look.status, look.price, look.change, look.offer_id, look.says, look.paid_amount]],
};

const paidText = (paid: string | null): string => (paid === null || Number(paid) === 0 ? '' : `  paid ${money(paid)}`);

export const historyView: View<WatchFacts & { looks: LookDocument[] }> = {
  list: 'looks',
  lines(document, screen) {
    const { paint } = screen;
    const { looks, title, below, lowest, state, daily, paid_amount } = document;
    const prices = looks.flatMap(({ price }) => (price === null ? [] : [Number(price)]));
    return [
      `${paint.bold(title)}  ${paint.dim(`${STATES[state]} · below ${money(below)} USD`)}`,
      ...(looks.length === 0 ? ['No look yet.'] : listLines(screen, looks, COLUMNS)),
      ...(prices.length > 1 && !isSpoken(paint) ? ['', sparkLine(prices, screen)] : []),
      '',
      paint.dim(
        `${lowest === null ? '' : `lowest ${money(lowest)} USD · `}paid ${money(paid_amount)} USDC · at most ${money(daily)} a day`,
      ),
    ];
  },
  rows: ({ looks }) => looks.map(({ at, status, price, offer_id, says }) => [at, status, price, offer_id, says]),
};

const STATES = { running: 'not below yet', fell: 'below', ended: 'ended' } as const;
const BARS = '▁▂▃▄▅▆▇█';

/** Draws the prices from left to right; only the last ones if there is no room for all. */
export function sparkLine(prices: readonly number[], { paint, width }: Screen): string {
  const shown = prices.slice(-Math.max(8, width - 30));
  const [least, most] = [Math.min(...shown), Math.max(...shown)];
  const bars = shown.map((price) => BARS[most === least ? 0 : Math.round(((price - least) / (most - least)) * 7)]);
  return `${least.toFixed(2)} ${paint.accent(bars.join(''))} ${most.toFixed(2)}`;
}

export const watchesView = (nowMs: number): View<{ watches: WatchFacts[] }> => ({
  list: 'watches',
  lines: ({ watches }, screen) =>
    watches.length === 0
      ? ['No watches.']
      : listLines(screen, watches, [
          { title: 'Watch', cell: ({ watch_id }) => watch_id },
          { title: 'What', cuts: true, cell: ({ title }) => title },
          { title: 'Below', align: 'right', cell: ({ below }) => money(below) },
          { title: 'Lowest', align: 'right', cell: ({ lowest }) => (lowest === null ? '–' : money(lowest)) },
          { title: 'State', cell: ({ state, until }) => (Date.parse(until) < nowMs ? STATES.ended : STATES[state]) },
          { title: 'Paid', align: 'right', cell: ({ paid_amount }) => money(paid_amount) },
        ]),
  rows: ({ watches }) =>
    watches.map(({ watch_id, title, below, lowest, state, paid_amount }) => [
      ...[watch_id, title, below, lowest, state, paid_amount],
    ]),
});
