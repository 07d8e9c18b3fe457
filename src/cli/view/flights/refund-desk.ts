import { MINUTE_MS } from '../../../kernel/clock.ts';
import {
  type BoardSize,
  clustersOf,
  counted,
  cut,
  dayAndMonth,
  fieldLines,
  fold,
  fromNow,
  grouped,
  harmless,
  type Paint,
  padEnd,
  padStart,
  type Typed,
  textWidth,
  unpainted,
  wrap,
} from '../../../terminal/index.ts';
import type { RefundCase, RefundCaseSummary } from '../../../wire/flights/index.ts';
import { caseLines, holderText, payoutText } from './refund.ts';

/** The state of the live desk: what its operator is doing. */
export type DeskMode =
  | { readonly kind: 'browsing' | 'help' }
  | { readonly kind: 'busy'; readonly doing: string }
  | {
      readonly kind: 'writing';
      readonly question: string;
      readonly typed: Typed;
      /** The effects of Enter and Esc, or the mistake. */
      readonly hint: string;
    }
  | {
      readonly kind: 'asking';
      readonly question: string;
      /** Shown while it is being done. */
      readonly doing: string;
      /** True if there are words that `e` changes. */
      readonly hasWords: boolean;
      /** The effects of a yes. */
      lines(width: number): readonly string[];
    };

export const FILTERS = ['mine', 'unclaimed', 'payable', 'leaving within 48 h'] as const;
export type DeskFilter = (typeof FILTERS)[number];
export const SORTS = ['age', 'departure', 'pay-out'] as const;
export type DeskSort = (typeof SORTS)[number];

export interface DeskShown {
  /** The requests that search and filters leave, in order. */
  readonly cases: readonly RefundCaseSummary[];
  /** Number of requests read, and (`total`) of those waiting; null if the service does not say. */
  readonly loaded: number;
  readonly total: number | null;
  /** The operator's name. */
  readonly operator: string | null;
  readonly search: string;
  readonly filters: ReadonlySet<DeskFilter>;
  readonly sort: DeskSort;
  /** False until the queue was read for the first time. */
  readonly isRead: boolean;
  /** The time of the last answer of the service. */
  readonly readAtMs: number;
  readonly selected: string | null;
  /** The selected case; null while it is being read. */
  readonly shown: RefundCase | null;
  /** Why the selected case could not be read, and what to do. */
  readonly unread: readonly string[] | null;
  /** On a narrow screen there is one pane at a time. */
  readonly pane: 'queue' | 'case';
  /** Lines of the case above its first visible one. */
  readonly scroll: number;
  /** The outcome of the last act. */
  said(width: number): readonly string[];
  /** Why the queue could not be read again. */
  readonly away: string | null;
  readonly mode: DeskMode;
}

const TWO_PANES = 80;
const QUEUE_WIDTH = 40;
const WIDE_QUEUE_WIDTH = 61;
const WIDE = 130;
const BETWEEN = ' │ ';
const MOST_SAID = 4;
const MOST_TYPED = 6;

/** The queue is read every two seconds: an older picture is marked as old. */
const OLD_MS = 6_000;

/** `isOld` is true while the service is silent. */
type Drawn = DeskShown & { readonly isOld: boolean };

const hasTwoPanes = ({ columns }: BoardSize): boolean => columns >= TWO_PANES;

/** The desk as lines that fit the screen: the queue on the left, the case on the right. */
export function deskLines(shown: DeskShown, size: BoardSize, nowMs: number, paint: Paint): string[] {
  const { isRead, away, readAtMs } = shown;
  const desk = { ...shown, isOld: isRead && (away !== null || nowMs - readAtMs > OLD_MS) };
  // The last cell stays free: a terminal that has filled it puts the cursor on the next line.
  const width = size.columns - 1;
  // Ages count whole minutes, so that an unchanged picture is not drawn again.
  const minuteMs = Math.ceil(nowMs / MINUTE_MS) * MINUTE_MS;
  const foot = footLines(desk, size, paint);
  const room = Math.max(1, size.rows - 2 - foot.length);
  const queueWidth = size.columns >= WIDE ? WIDE_QUEUE_WIDTH : QUEUE_WIDTH;
  const queue = queuePane(desk, minuteMs, paint, hasTwoPanes(size) ? queueWidth : width, room);
  const body =
    hasTwoPanes(size) && desk.mode.kind !== 'help'
      ? beside(
          queue.lines,
          casePane(desk, minuteMs, paint, width - queueWidth - BETWEEN.length, room),
          queueWidth,
          paint,
          room,
        )
      : desk.mode.kind === 'help' || desk.mode.kind === 'asking' || desk.pane === 'case'
        ? casePane(desk, minuteMs, paint, width, room)
        : queue.lines;
  const filled = [...body, ...Array<string>(Math.max(0, room - body.length)).fill('')].slice(0, room);
  return [...[titleLine(desk, queue, nowMs, paint, width), '', ...filled].map((line) => cut(line, width)), ...foot];
}

/** `Refund desk  12-31 of 214 (3,060 waiting) · mine, payable · by departure`, in the longest words that fit. */
function titleLine(
  desk: Drawn,
  { from, to }: { readonly from: number; readonly to: number },
  nowMs: number,
  paint: Paint,
  width: number,
): string {
  const { cases, loaded, isRead, isOld, away, filters, search, sort, readAtMs } = desk;
  const total = desk.total ?? loaded;
  const isWhole = cases.length === total;
  const age = `as of ${fromNow(new Date(readAtMs).toISOString(), nowMs)}`;
  const said = (names: string, why: string) =>
    [
      isRead
        ? `${cases.length === 0 ? '0' : `${grouped(from)}-${grouped(to)}`} of ${grouped(cases.length)}`
        : `reading ${loaded === 0 ? 'the queue' : grouped(loaded)}${desk.total === null ? '' : ` of ${grouped(total)}`}`,
      isRead && !isWhole ? `(${grouped(total)} waiting${loaded < total ? `, ${grouped(loaded)} read` : ''})` : '',
      names && `· ${names}`,
      search && `· “${search}”`,
      sort === 'age' ? '' : `· by ${sort}`,
      ...(isOld ? [`${paint.bad('✗')} ${age}${why}`] : []),
      ...(!isRead && away !== null ? [`${paint.bad('✗')} ${away}`] : []),
    ]
      .filter(Boolean)
      .join(' ');
  const all = [...filters].join(', ');
  const few = filters.size > 1 ? counted(filters.size, 'filter') : all;
  const silent = ': the service is silent';
  const lines = [
    [all, away === null ? silent : `: ${away}`],
    [few, silent],
    [few, ''],
  ].map(([names = '', why = '']) => `${paint.bold('Refund desk')}  ${said(names, why)}`);
  return lines.find((line) => textWidth(line) <= width) ?? lines.at(-1) ?? '';
}

const beside = (
  left: readonly string[],
  right: readonly string[],
  width: number,
  paint: Paint,
  room: number,
): string[] =>
  Array.from({ length: room }, (_, at) =>
    `${padEnd(cut(left[at] ?? '', width), width)}${paint.dim(BETWEEN)}${right[at] ?? ''}`.trimEnd(),
  );

/** The rows around the selected one, which has a mark in front; `from` and `to` count from 1. */
function queuePane(
  { cases, isRead, selected, operator, search, filters }: DeskShown,
  nowMs: number,
  paint: Paint,
  width: number,
  room: number,
) {
  const isNarrowed = search !== '' || filters.size > 0;
  const none = isNarrowed ? 'No request matches. Esc shows all.' : 'Nothing is waiting for a decision.';
  if (cases.length === 0) return { from: 0, to: 0, lines: isRead ? [none] : [] };
  const at = cases.findIndex((one) => one.request_id === selected);
  const most = Math.max(1, room - 1);
  const from = Math.max(0, Math.min(at - Math.floor(most / 2), cases.length - most));
  const rows = cases.slice(from, from + most).map((one) => {
    const isSelected = one.request_id === selected;
    const line = rowText(
      `${isSelected ? '▸' : ' '}${claimMark(one, operator)}`,
      [
        one.booking_reference ?? '–',
        one.route.replace('-', '→'),
        dayAndMonth(one.journey_date),
        payoutText(one),
        shortAge(one.requested_at, nowMs),
        holderText(one, paint),
      ],
      width,
    );
    return isSelected ? paint.bold(line) : line;
  });
  const heading = rowText('', ['Ref', 'Route', 'Leaves', 'Pay-out', 'Age', 'Claimed by'], width);
  return { from: from + 1, to: from + rows.length, lines: [paint.dim(heading), ...rows] };
}

/** Widths of the queue's columns, the same on every page, so that nothing jumps. The last has what is left. */
const CELLS = [6, 7, 6, 10, 5];

function rowText(mark: string, cells: readonly string[], width: number): string {
  const [reference = '', route = '', day = '', payout = '', age = '', holder = ''] = cells;
  const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0] = CELLS;
  const line = [
    padEnd(mark, 2) + padEnd(cut(reference, first), first),
    padEnd(cut(route, second), second),
    padEnd(day, third),
    padStart(payout, fourth),
    padStart(age, fifth),
  ].join(' ');
  return width - textWidth(line) < 12 ? line : cut(`${line}  ${holder}`, width);
}

/** `3 d`, `5 h`, `12 m` */
const shortAge = (instant: string, nowMs: number): string =>
  fromNow(instant, nowMs).replace(/ ago$/, '').replace(' days', ' d').replace(' min', ' m');

/** Marks the status or the holder of a row, for screens without a column for the holder. */
function claimMark({ status, claimed_by: holder }: RefundCaseSummary, operator: string | null): string {
  if (status === 'stuck') return '!';
  if (status === 'approved') return '…';
  return holder === null ? ' ' : holder === operator ? '•' : '○';
}

function casePane(desk: Drawn, nowMs: number, paint: Paint, width: number, room: number): string[] {
  const lines = caseText(desk, nowMs, paint, width).flatMap((line) => wholeLines(line, width));
  const scroll = Math.max(0, Math.min(desk.scroll, lines.length - room));
  const shown = lines.slice(scroll, scroll + room);
  const isMore = lines.length > scroll + room;
  return isMore
    ? [...shown.slice(0, -1), paint.dim(`… ${counted(lines.length - scroll - room + 1, 'line')} more: Space`)]
    : shown;
}

/** Breaks a line rather than cut it, so that the destination of money is always whole; its label may be painted. */
function wholeLines(line: string, width: number): string[] {
  const plain = unpainted(line);
  const label = /^\s*(\S.*? {2,})?/.exec(plain)?.[0] ?? '';
  const value = plain.slice(label.length);
  if (textWidth(line) <= width || !line.endsWith(value)) return [cut(line, width)];
  const hang = ' '.repeat(textWidth(label));
  return fold(value, Math.max(2, width - textWidth(label))).map((part, at) =>
    cut((at === 0 ? line.slice(0, line.length - value.length) : hang) + part, width),
  );
}

function caseText(desk: Drawn, nowMs: number, paint: Paint, width: number): readonly string[] {
  const { mode, shown, selected, unread, isOld } = desk;
  if (mode.kind === 'help') return helpLines(width, paint);
  if (mode.kind === 'asking') return mode.lines(width);
  if (selected === null) return [];
  if (unread) return [`${paint.bad('✗')} This case can’t be read.`, ...unread.flatMap((line) => wrap(line, width))];
  if (shown === null && isOld) return ['No answer yet.', ...wrap('↓ goes to the next request, q quits.', width)];
  return shown === null ? ['Reading the case …'] : caseLines(shown, nowMs, { paint, width });
}

/** Every key of the desk, and what it does. */
export const DESK_KEYS = [
  ['a', 'approve: shows the plan, Enter pays out'],
  ['x', 'reject: shows the e-mail, Enter sends it, e rewrites it (also r)'],
  ['o', 'approve with an amount of your own'],
  ['c, u', 'claim the case, so that only you decide it; give it back'],
  ['n', 'write a note; a pasted text keeps its lines'],
  ['↑ ↓', 'previous request, next request (also k, j; PgUp, PgDn; Home, End)'],
  ['Enter, ←', 'open the case, back to the queue'],
  ['Space, b', 'scroll down in the case, up'],
  ['/', 'search ids, references, routes, days; Enter: the customers’ words too'],
  ['1 2 3 4', 'only mine, unclaimed, payable, leaving within 48 h'],
  ['0, Esc', 'all again: no search, no filter'],
  ['A D P', 'sort by age, departure, pay-out'],
  ['g', 'read everything again'],
  ['?, q', 'these keys, quit'],
] as const;

const helpLines = (width: number, paint: Paint): string[] => [
  ...wrap('Nothing is paid or sent before you have seen it and pressed Enter.', width),
  ...wrap('• yours, ○ another operator’s, … being paid out, ! needs you', width),
  '',
  ...fieldLines(paint.bold, DESK_KEYS, width),
];

const KEYS = 'a approve  x reject  n note  c claim  / search  1-4 filter  ? all keys  q quit';
const QUEUE_KEYS = '↑↓ Enter  a approve  x reject  / search  ? all keys';
const CASE_KEYS = '← back  a approve  x reject  n note  ? all keys';

/** The outcome of the last act, and the keys or the question. */
function footLines(desk: DeskShown, size: BoardSize, paint: Paint): string[] {
  const width = size.columns - 1;
  const { mode, pane } = desk;
  const said = desk.said(width).slice(0, MOST_SAID);
  const above = ['', ...said].map((line) => cut(line, width));
  switch (mode.kind) {
    case 'busy':
      return [...above, cut(`${mode.doing} …`, width)];
    case 'writing': {
      const { before, after } = mode.typed;
      const text = after === '' ? before : `${before}▏${after}`;
      const lines = `${mode.question}: ${text}`.split('\n').flatMap((line) => fold(harmless(line), width));
      const last = lines.at(-1) ?? '';
      // The cursor is placed by UTF-16 units, of which an emoji has up to eleven: so the last line is short.
      if (last.length > width)
        lines.splice(-1, 1, clustersOf(last).slice(0, -1).join(''), clustersOf(last).at(-1) ?? '');
      const hidden = lines.length - MOST_TYPED;
      return [
        ...above,
        ...wrap(mode.hint, width).map((line) => paint.dim(line)),
        ...(hidden > 0 ? [paint.dim(`… ${counted(hidden, 'line')} above`)] : []),
        ...lines.slice(Math.max(0, hidden)).map((line) => line || ' '),
      ];
    }
    case 'asking':
      return [
        ...above,
        cut(`${paint.bold(mode.question)}  Enter yes, Esc no${mode.hasWords ? ', e other words' : ''}`, width),
      ];
    case 'help':
      return [...above, 'Press any key to return; Space scrolls'];
    case 'browsing':
      return [...above, paint.dim(cut(hasTwoPanes(size) ? KEYS : pane === 'case' ? CASE_KEYS : QUEUE_KEYS, width))];
  }
}
