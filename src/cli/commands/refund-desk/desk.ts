import type { OperatorClient } from '../../../client/operator.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { isProblem } from '../../../kernel/problems.ts';
import type { BoardControls } from '../../../terminal/board.ts';
import { readyFor } from '../../../terminal/clusters.ts';
import type { Paint } from '../../../terminal/paint.ts';
import { harmlessDocument, wrap } from '../../../terminal/text.ts';
import type { RefundCase, RefundCaseSummary } from '../../../wire/flights/index.ts';
import { toldLines } from '../../interruption/told.ts';
import type { Session } from '../../session/session.ts';
import { outcomeLine } from '../../view/flights/refund.ts';
import type { DeskMode, DeskShown } from '../../view/flights/refund-desk.ts';
import { unfinishedLines } from '../refund-cases/deciding.ts';

export interface DeskPorts {
  readonly operator: OperatorClient;
  readonly session: Session;
  readonly clock: Clock;
  readonly paint: Paint;
  readonly sort: 'age' | 'journey' | undefined;
  readonly signal: AbortSignal;
  readonly controls: BoardControls;
}

/** Goes on with a text that was asked for, or with a yes. */
type Then = (text: string) => Promise<void>;

/** The live desk: what is on it, and what changes that. */
export interface Desk {
  readonly shown: DeskShown;
  /** Decisions and notes made at this desk, a line each. */
  readonly done: readonly string[];
  enter(mode: DeskMode, then?: Then): void;
  /** Runs what a key has begun. What it is refused with is shown in its place. */
  run(doing: string, task: () => Promise<void>): void;
  /** Goes on with the answer to what was asked. */
  answer(doing: string, text: string): void;
  /** Takes what was typed so far. */
  retype(typed: string): void;
  say(...lines: string[]): void;
  /** The case that many rows further, or before. */
  move(rows: number): void;
  scroll(lines: number): void;
  turnTo(pane: DeskShown['pane']): void;
  /** Says what an act has changed, and reads the queue again. */
  finish(changed: RefundCase, how: Parameters<typeof outcomeLine>[1]): Promise<void>;
  refresh(): Promise<void>;
  /** Reads the queue again and again, until the signal. */
  watch(): Promise<void>;
}

const POLL_MS = 2000;
/** Who only passes by a case does not read it: each reading is in the audit trail. */
const REST_MS = 150;
const MOST = 200;
const BROWSING: DeskMode = { kind: 'browsing' };

type State = { -readonly [Name in keyof DeskShown]: DeskShown[Name] };

export function openDesk(ports: DeskPorts): Desk {
  const { clock, paint, controls, signal, session } = ports;
  const desk: State = {
    cases: [],
    isRead: false,
    selected: null,
    shown: null,
    pane: 'queue',
    scroll: 0,
    said: () => [],
    away: null,
    mode: BROWSING,
  };
  const done: string[] = [];
  let then: Then | null = null;
  const reader = createReader(ports, desk);

  const enter = (mode: DeskMode, next: Then | null = null): void => {
    desk.mode = mode;
    desk.scroll = 0;
    then = next;
    controls.redraw();
  };
  const say = (...lines: string[]): void => {
    desk.said = (width) => lines.flatMap((line) => wrap(line, width));
  };
  const run = (doing: string, task: () => Promise<void>): void => {
    say();
    enter({ kind: 'busy', doing });
    task()
      .catch(async (error: unknown) => {
        if (signal.aborted) return;
        if (!isProblem(error)) return controls.fail(error);
        const lines = await toldLines(error, {
          argv: ['refund', 'desk'],
          invocation: { name: 'refund desk', options: { id: desk.selected }, globals: {} },
          session,
        });
        desk.said = (width) => lines({ paint, width });
      })
      .finally(() => {
        if (desk.mode.kind === 'busy') enter(BROWSING);
      });
  };
  return {
    shown: desk,
    done,
    enter,
    run,
    say,
    answer(doing, text) {
      const next = then;
      if (next) run(doing, () => next(text));
    },
    retype(typed) {
      if (desk.mode.kind === 'writing') desk.mode = { ...desk.mode, typed };
    },
    move(rows) {
      const at = desk.cases.findIndex((one) => one.request_id === desk.selected);
      const to = Math.min(Math.max(at + rows, 0), desk.cases.length - 1);
      say();
      reader.select(desk.cases[to]?.request_id ?? null);
    },
    scroll(lines) {
      desk.scroll = Math.max(0, desk.scroll + lines);
    },
    turnTo(pane) {
      desk.pane = pane;
    },
    async finish(changed, how) {
      const one = harmlessDocument(changed);
      const line = outcomeLine(one, how);
      done.push(line);
      const isOpen = how === 'decided' && ['approved', 'stuck'].includes(one.status);
      say(`${paint.good('✓')} ${line}`, ...(isOpen ? unfinishedLines(one) : []));
      if (desk.selected === one.request_id) desk.shown = one;
      await reader.refresh();
    },
    refresh: reader.refresh,
    async watch() {
      while (!signal.aborted) {
        if (desk.mode.kind !== 'busy') await reader.refresh();
        await clock.sleep(POLL_MS, signal);
      }
    },
  };
}

/** Reads from the service: the queue all the time, and the case that is looked at. */
function createReader({ operator, session, clock, sort, signal, controls }: DeskPorts, desk: State) {
  const failed = (error: unknown): void => {
    if (signal.aborted) return;
    if (!isProblem(error)) controls.fail(error);
    else desk.away = error.message;
    controls.redraw();
  };
  const read = async (id: string): Promise<void> => {
    const shown = await clean(operator.show(id, { signal }));
    if (desk.selected !== id) return;
    desk.shown = shown;
    controls.redraw();
  };
  const select = (id: string | null): void => {
    if (id !== desk.selected) {
      desk.selected = id;
      desk.shown = null;
      desk.scroll = 0;
    }
    if (id === null) return;
    clock
      .sleep(REST_MS, signal)
      .then(() => (desk.selected === id && !signal.aborted ? read(id) : undefined))
      .catch(failed);
  };
  /** A case that was decided makes room for the next one; what somebody else has changed is read again. */
  const take = (cases: readonly RefundCaseSummary[]): void => {
    const at = desk.cases.findIndex((one) => one.request_id === desk.selected);
    const before = desk.cases[at];
    const now = cases.find((one) => one.request_id === desk.selected);
    desk.cases = cases;
    desk.isRead = true;
    // Its own decisions are made while it is busy.
    if (!now && before && desk.mode.kind !== 'busy') {
      desk.said = () => ['Another operator has decided that case. This is the next one.'];
    }
    if (!now) select(cases[Math.min(Math.max(at, 0), cases.length - 1)]?.request_id ?? null);
    else if (now.status !== before?.status || now.claimed_by !== before.claimed_by) select(now.request_id);
  };
  return {
    select,
    async refresh(): Promise<void> {
      try {
        await session.work();
        const queue = await clean(operator.queue({ sort, limit: MOST }, { signal }));
        desk.away = null;
        take(queue.refund_requests);
        controls.redraw();
      } catch (error) {
        failed(error);
      }
    },
  };
}

/** Text from elsewhere, harmless for a terminal, and with the widths of its characters known. */
async function clean<T>(coming: Promise<T>): Promise<T> {
  const document = harmlessDocument(await coming);
  await readyFor(JSON.stringify(document));
  return document;
}
