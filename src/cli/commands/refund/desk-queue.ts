import type { OperatorClient } from '../../../client/index.ts';
import { HOUR_MS } from '../../../kernel/clock.ts';
import { isFound, searchable } from '../../../kernel/domain/refund-search.ts';
import { isProblem } from '../../../kernel/problems.ts';
import { type BoardControls, harmlessDocument, readyFor } from '../../../terminal/index.ts';
import type { RefundCase, RefundCaseSummary } from '../../../wire/flights/index.ts';
import type { CommandContext } from '../../spec/index.ts';
import { type DeskFilter, type DeskShown, type DeskSort, proposedOf, withLines } from '../../view/flights/index.ts';

export type DeskState = { -readonly [Name in keyof DeskShown]: DeskShown[Name] };

interface QueuePorts extends Pick<CommandContext, 'session' | 'clock' | 'signal'> {
  readonly operator: OperatorClient;
  readonly controls: BoardControls;
}

/** A page of the service's list. With its cursor, a single page can be read again. */
interface Page {
  readonly cursor: string | undefined;
  readonly ids: readonly string[];
}

const PAGE = 200;
/** The desk lists at most 10,000 requests; a search looks through ten times as many. */
const MOST_PAGES = 50;
const MOST_SEARCHES = 200;

/** A case is read only once the mark rests on it this long: each reading is in the audit trail. */
const REST_MS = 150;
/** Requests of the other pages may be out of date for this long. */
const WHOLE_MS = 30_000;
/** A key that is pressed sooner was meant for the previous case. */
const LOOK_MS = 1000;

/** Moves the mark, and reads a case once the mark rests on it. */
function createMark({ operator, clock, signal, controls }: QueuePorts, desk: DeskState) {
  let movedAtMs = 0;
  const readCase = async (id: string): Promise<void> => {
    try {
      const shown = await operator.show(id, { signal });
      const clean = withLines(shown, harmlessDocument(shown));
      await readyFor(JSON.stringify(clean));
      if (desk.selected === id) Object.assign(desk, { shown: clean, unread: null });
    } catch (error) {
      if (signal.aborted || desk.selected !== id) return;
      if (!isProblem(error)) return controls.fail(error);
      const isAway = ['network_unreachable', 'timed_out'].includes(error.code);
      const fix = isAway ? 'The desk tries again by itself.' : error.fix;
      desk.unread = [error.message, fix, 'g tries again now, ↓ goes to the next request.'];
    }
    controls.redraw();
  };
  return {
    select(id: string | null): void {
      if (id !== desk.selected) Object.assign(desk, { selected: id, shown: null, unread: null, scroll: 0 });
      if (id === null) return;
      clock
        .sleep(REST_MS, signal)
        .then(() => (desk.selected === id && !signal.aborted ? readCase(id) : undefined))
        .catch(controls.fail);
    },
    /** Notes that the mark moves without a key. */
    moves: () => {
      movedAtMs = clock.now();
    },
    /** True right after the mark has moved without a key. */
    hasJustMoved: () => clock.now() - movedAtMs < LOOK_MS,
  };
}

/** Keeps the known requests, and the list of those that pass the search and the filters. */
function createList(ports: QueuePorts, desk: DeskState) {
  const { clock, controls } = ports;
  const { select, moves, hasJustMoved } = createMark(ports, desk);
  const known = new Map<string, RefundCaseSummary>();
  let found: { readonly wanted: string; readonly ids: ReadonlySet<string> } | null = null;
  const placeOf = (id: string | null) => desk.cases.findIndex((one) => one.request_id === id);
  return {
    known,
    select,
    hasJustMoved,
    placeOf,
    /** Sets the requests that the service found for this text, also in the customers' words. */
    find: (text: string, ids: ReadonlySet<string>) => {
      found = { wanted: searchable(text), ids };
    },
    /** Makes the list again. The mark stays on its case, or else in its place. */
    arrange(): void {
      const at = placeOf(desk.selected);
      const before = desk.cases[at];
      const wanted = searchable(desk.search);
      const nowMs = clock.now();
      const hasText = (one: RefundCaseSummary) =>
        wanted === '' || isFound(one, wanted) || (found?.wanted === wanted && found.ids.has(one.request_id));
      desk.cases = inOrder(
        [...known.values()].filter(
          (one) => hasText(one) && [...desk.filters].every((name) => PASSES[name](one, desk.operator, nowMs)),
        ),
        desk.sort,
      );
      desk.loaded = known.size;
      const now = desk.cases[placeOf(desk.selected)];
      if (!now) {
        // The desk is busy while it carries out its own decisions.
        if (before && !known.has(before.request_id) && desk.mode.kind !== 'busy') {
          moves();
          desk.said = () => ['Another operator has decided that case. This is the next one.'];
        }
        select(desk.cases[Math.min(Math.max(at, 0), desk.cases.length - 1)]?.request_id ?? null);
      } else if (desk.shown && (now.status !== desk.shown.status || now.claimed_by !== desk.shown.claimed_by)) {
        select(now.request_id);
      }
      controls.redraw();
    },
  };
}

/** Keeps the queue and the selected case as the service last showed them. */
export function createQueue(ports: QueuePorts, desk: DeskState) {
  const { session, signal, controls } = ports;
  const { known, select, hasJustMoved, placeOf, find, arrange } = createList(ports, desk);
  const reader = createReader(ports, desk, known, arrange);

  const refresh = async (isAll = false): Promise<void> => {
    try {
      const wasAway = desk.away !== null;
      await session.work();
      await (isAll ? reader.readAll() : reader.readNear());
      if (desk.unread && (wasAway || isAll)) select(desk.selected);
    } catch (error) {
      if (signal.aborted) return;
      if (!isProblem(error)) controls.fail(error);
      else desk.away = error.message;
      controls.redraw();
    }
  };
  return {
    select,
    hasJustMoved,
    placeOf,
    arrange,
    refresh,
    async sortBy(sort: DeskSort): Promise<void> {
      desk.sort = sort;
      arrange();
      select(desk.cases[0]?.request_id ?? null);
      if (reader.isCut()) await refresh(true);
    },
    /** Looks for the text in the customers' words too. @returns false if there was too much to look through */
    async search(text: string): Promise<boolean> {
      const ids = new Set<string>();
      let cursor: string | undefined;
      let calls = 0;
      do {
        const { refund_requests: rows, next_cursor } = await reader.read(cursor, text);
        for (const one of rows) {
          ids.add(one.request_id);
          known.set(one.request_id, one);
        }
        cursor = next_cursor ?? undefined;
      } while (cursor !== undefined && ++calls < MOST_SEARCHES);
      find(text, ids);
      arrange();
      return cursor === undefined;
    },
    /** Takes over a case as an act has left it. After a decision, selects the next case that waits. */
    take(one: RefundCase, isDecided: boolean): void {
      const at = placeOf(one.request_id);
      const next = [...desk.cases.slice(at + 1), ...desk.cases.slice(0, Math.max(0, at))].find(
        ({ status, claimed_by: holder }) => status === 'received' && (holder === null || holder === desk.operator),
      );
      reader.acted();
      if (['refunded', 'rejected'].includes(one.status)) {
        if (known.delete(one.request_id) && desk.total !== null) desk.total--;
      } else known.set(one.request_id, one);
      if (desk.selected === one.request_id) desk.shown = one;
      arrange();
      if (isDecided && next) select(next.request_id);
    },
  };
}

/** Reads the queue page by page into `known`. */
function createReader(
  { operator, clock, signal }: QueuePorts,
  desk: DeskState,
  known: Map<string, RefundCaseSummary>,
  arrange: () => void,
) {
  let pages: Page[] = [];
  /** The sort order of `pages`; their cursors are valid only in this order. */
  let order: 'age' | 'journey' = 'age';
  let isCut = false;
  let wholeAtMs = 0;
  /** Counts the desk's own acts: a page that was asked for before one is older than `known`. */
  let acts = 0;

  const read = async (cursor: string | undefined, search?: string) => {
    const queue = harmlessDocument(await operator.queue({ sort: order, limit: PAGE, cursor, search }, { signal }));
    await readyFor(JSON.stringify(queue));
    Object.assign(desk, { away: null, readAtMs: clock.now(), operator: queue.operator ?? null });
    if (search === undefined) desk.total = queue.total ?? null;
    return queue;
  };
  const readAll = async (): Promise<void> => {
    const readIn = desk.sort === 'departure' ? 'journey' : 'age';
    order = readIn;
    const before = acts;
    const isFirst = !desk.isRead;
    const next: Page[] = [];
    const rows: RefundCaseSummary[] = [];
    let cursor: string | undefined;
    do {
      const { refund_requests: page, next_cursor } = await read(cursor);
      // Drops the rows if the desk has acted or its order has changed meanwhile; the next refresh reads again.
      if (acts !== before || order !== readIn) return;
      next.push({ cursor, ids: page.map((one) => one.request_id) });
      rows.push(...page);
      cursor = next_cursor ?? undefined;
      if (!isFirst) continue;
      for (const one of page) known.set(one.request_id, one);
      desk.isRead = true;
      arrange();
    } while (cursor !== undefined && next.length < MOST_PAGES);
    known.clear();
    for (const one of rows) known.set(one.request_id, one);
    pages = next;
    isCut = cursor !== undefined;
    wholeAtMs = clock.now();
    arrange();
  };
  return {
    read,
    readAll,
    isCut: () => isCut,
    acted: () => {
      acts++;
    },
    /** Reads the page of the selected case again, or all pages if more has changed. */
    async readNear(): Promise<void> {
      const at = Math.max(
        0,
        pages.findIndex(({ ids }) => ids.includes(desk.selected ?? '')),
      );
      const page = pages[at];
      if (!page) return readAll();
      const before = acts;
      const { refund_requests: rows, next_cursor } = await read(page.cursor);
      if (acts !== before) return;
      const isEnd = next_cursor === null;
      const ids = new Set(rows.map((one) => one.request_id));
      // A new request has pushed others onto the next page.
      if (!isEnd && rows.some((one) => !known.has(one.request_id))) return readAll();
      for (const id of page.ids) if (!ids.has(id)) known.delete(id);
      for (const one of rows) known.set(one.request_id, one);
      pages[at] = { cursor: page.cursor, ids: isEnd ? [...ids] : page.ids.filter((id) => ids.has(id)) };
      if (isEnd) pages.length = at + 1;
      arrange();
      const isWhole = isCut || desk.total === null || known.size === desk.total;
      if (!isWhole && clock.now() - wholeAtMs > WHOLE_MS) await readAll();
    },
  };
}

const PASSES: Readonly<
  Record<DeskFilter, (one: RefundCaseSummary, operator: string | null, nowMs: number) => boolean>
> = {
  mine: ({ claimed_by: holder }, operator) => holder !== null && holder === operator,
  unclaimed: ({ claimed_by: holder }) => holder === null,
  payable: (one) => (proposedOf(one) ?? 0) > 0,
  // A day of departure is local to the airport: it begins up to 14 hours before the day of UTC, and ends up to 12 after it.
  'leaving within 48 h': ({ journey_date: day }, _operator, nowMs) =>
    dayOf(nowMs - 12 * HOUR_MS) <= day && day <= dayOf(nowMs + (48 + 14) * HOUR_MS),
};

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const ORDERS: Readonly<Record<DeskSort, (one: RefundCaseSummary) => number>> = {
  age: (one) => Date.parse(one.requested_at),
  departure: (one) => Date.parse(one.journey_date),
  'pay-out': (one) => -(proposedOf(one) ?? -1),
};

function inOrder(cases: readonly RefundCaseSummary[], sort: DeskSort): RefundCaseSummary[] {
  return cases
    .map((one) => ({ one, key: ORDERS[sort](one) }))
    .sort((a, b) => a.key - b.key || (a.one.request_id < b.one.request_id ? -1 : 1))
    .map(({ one }) => one);
}
