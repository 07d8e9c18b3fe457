import {
  type BoardSize,
  counted,
  cut,
  fieldLines,
  fold,
  type Paint,
  padEnd,
  textWidth,
  unpainted,
} from '../../../terminal/index.ts';
import type { RefundCase, RefundCaseSummary } from '../../../wire/flights/index.ts';
import { caseLines, queueLines } from './refund.ts';

/** The act of an operator at the live desk. */
export type DeskMode =
  | { readonly kind: 'browsing' | 'help' }
  | { readonly kind: 'busy'; readonly doing: string }
  | { readonly kind: 'writing'; readonly question: string; readonly typed: string }
  | {
      readonly kind: 'asking';
      readonly question: string;
      /** Said while it is done. */
      readonly doing: string;
      /** The effects of a yes. */
      lines(width: number): readonly string[];
    };

export interface DeskShown {
  readonly cases: readonly RefundCaseSummary[];
  /** False until the queue was read for the first time. */
  readonly isRead: boolean;
  readonly selected: string | null;
  /** The selected case; null: it is being read. */
  readonly shown: RefundCase | null;
  /** On a narrow screen there is one pane at a time. */
  readonly pane: 'queue' | 'case';
  /** Lines of the case above its first visible one. */
  readonly scroll: number;
  /** How the last act ended. */
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

const hasTwoPanes = ({ columns }: BoardSize): boolean => columns >= TWO_PANES;

/** The desk as lines that fit the screen: the queue on the left, the case on the right. */
export function deskLines(desk: DeskShown, size: BoardSize, nowMs: number, paint: Paint): string[] {
  // The last cell stays free: a terminal that has filled it puts the cursor on the next line.
  const width = size.columns - 1;
  const foot = footLines(desk, size, paint);
  // Typed text may need several lines.
  const typed = Math.floor(textWidth(foot.at(-1) ?? '') / size.columns);
  const room = Math.max(1, size.rows - 2 - foot.length - typed);
  const queueWidth = size.columns >= WIDE ? WIDE_QUEUE_WIDTH : QUEUE_WIDTH;
  const body = hasTwoPanes(size)
    ? beside(
        queuePane(desk, nowMs, paint, queueWidth, room),
        casePane(desk, nowMs, paint, width - queueWidth - BETWEEN.length, room),
        queueWidth,
        paint,
        room,
      )
    : desk.mode.kind === 'help' || desk.mode.kind === 'asking' || desk.pane === 'case'
      ? casePane(desk, nowMs, paint, width, room)
      : queuePane(desk, nowMs, paint, width, room);
  const filled = [...body, ...Array<string>(Math.max(0, room - body.length)).fill('')].slice(0, room);
  return [...[titleLine(desk, paint), '', ...filled].map((line) => cut(line, width)), ...foot];
}

function titleLine({ cases, isRead, away }: DeskShown, paint: Paint): string {
  const taken = cases.filter((one) => one.claimed_by !== null).length;
  const count = isRead ? `${cases.length} waiting, ${taken} claimed` : 'reading the queue';
  return `${paint.bold('Refund desk')}  ${count}${away === null ? '' : `  ${paint.bad('✗')} ${away}`}`;
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

/** The rows around the selected one, which has a mark in front. */
function queuePane(
  { cases, isRead, selected }: DeskShown,
  nowMs: number,
  paint: Paint,
  width: number,
  room: number,
): string[] {
  if (cases.length === 0) return isRead ? ['Nothing is waiting for a decision.'] : [];
  const rows = cases.map((one) => ({ ...one, number: one.request_id === selected ? '▸' : ' ' }));
  const [heading = '', ...lines] = queueLines(rows, nowMs, { paint, width });
  const at = cases.findIndex((one) => one.request_id === selected);
  const most = Math.max(1, room - 1);
  const from = Math.max(0, Math.min(at - Math.floor(most / 2), lines.length - most));
  const marked = lines.map((line, index) => (index === at ? paint.bold(line) : line));
  return [heading.replace('#', ' '), ...marked.slice(from, from + most)];
}

function casePane(desk: DeskShown, nowMs: number, paint: Paint, width: number, room: number): string[] {
  const lines = caseText(desk, nowMs, paint, width).flatMap((line) => wholeLines(line, width));
  const scroll = Math.max(0, Math.min(desk.scroll, lines.length - room));
  const shown = lines.slice(scroll, scroll + room);
  const isMore = lines.length > scroll + room;
  return isMore
    ? [...shown.slice(0, -1), paint.dim(`… ${counted(lines.length - scroll - room + 1, 'line')} more: Space`)]
    : shown;
}

/** A line on as many as it takes, so that the destination of money is never cut. */
function wholeLines(line: string, width: number): string[] {
  const plain = unpainted(line);
  if (textWidth(line) <= width || plain !== line) return [cut(line, width)];
  const label = /^\s*(\S.*? {2,})?/.exec(plain)?.[0] ?? '';
  const hang = ' '.repeat(textWidth(label));
  return fold(plain.slice(label.length), Math.max(2, width - textWidth(label))).map((part, at) =>
    cut((at === 0 ? label : hang) + part, width),
  );
}

function caseText({ mode, shown, selected }: DeskShown, nowMs: number, paint: Paint, width: number): readonly string[] {
  if (mode.kind === 'help') return helpLines(width, paint);
  if (mode.kind === 'asking') return mode.lines(width);
  if (selected === null) return [];
  return shown === null ? ['Reading the case …'] : caseLines(shown, nowMs, { paint, width });
}

const HELP = [
  ['↑ ↓', 'previous case, next case (also k, j)'],
  ['Enter', 'open the case; ← or Esc goes back to the queue'],
  ['Space', 'scroll down in the case; b scrolls up'],
  ['c', 'claim the case, so that nobody else decides it'],
  ['u', 'give it back (unclaim)'],
  ['n', 'write a note on it'],
  ['a', 'approve it with the amount of the fare rule'],
  ['o', 'approve it with an amount of your own'],
  ['r', 'reject it; you see the e-mail first'],
  ['g', 'refresh the queue'],
  ['q', 'quit'],
] as const;

const helpLines = (width: number, paint: Paint): string[] => [
  'Nothing is paid or changed until you have seen the plan and pressed y.',
  '',
  ...fieldLines(paint.bold, HELP, width),
];

const KEYS = '↑↓ move  c claim  n note  a approve  r reject  ? help  q quit';
const QUEUE_KEYS = '↑↓ move  Enter open  a approve  r reject  ? help  q quit';
const CASE_KEYS = '← back  c claim  n note  a approve  r reject  ? help';

/** The end of the last act, and the keys; or the question. */
function footLines(desk: DeskShown, size: BoardSize, paint: Paint): string[] {
  const width = size.columns - 1;
  const { mode, pane } = desk;
  const said = desk.said(width).slice(0, MOST_SAID);
  const above = ['', ...said].map((line) => cut(line, width));
  switch (mode.kind) {
    case 'busy':
      return [...above, cut(`${mode.doing} …`, width)];
    case 'writing':
      return [...above, cut(paint.dim('Enter continues, Esc cancels'), width), `${mode.question}: ${mode.typed}`];
    case 'asking':
      return [...above, cut(`${paint.bold(mode.question)}  y yes, n no`, width)];
    case 'help':
      return [...above, 'Any key goes back'];
    case 'browsing':
      return [...above, paint.dim(hasTwoPanes(size) ? KEYS : pane === 'case' ? CASE_KEYS : QUEUE_KEYS)];
  }
}
