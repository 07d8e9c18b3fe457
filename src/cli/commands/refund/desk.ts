import type { OperatorClient } from '../../../client/index.ts';
import { parseUsdc } from '../../../kernel/money.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import {
  type BoardControls,
  type BoardKey,
  canDrawLive,
  harmlessDocument,
  loadBoard,
  type Paint,
  readyFor,
  wrap,
} from '../../../terminal/index.ts';
import type { RefundCase, RefundCaseSummary } from '../../../wire/flights/index.ts';
import { toldLines } from '../../interruption/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import {
  approvalLines,
  type DeskMode,
  type DeskShown,
  deskLines,
  journeyText,
  mailLines,
  outcomeLine,
} from '../../view/flights/index.ts';
import { approvePrepared, checkRejection, type OwnAmount, prepareApproval, unfinishedLines } from './run.ts';
import type * as spec from './spec.ts';

/**
 * The refund queue and its cases, live on a terminal, with a key for each command.
 * @throws Problem `input_required` where there is no terminal, `usage`, `interrupted`
 */
export const refundDesk: Run<typeof spec.refundDesk> = async (context, { sort }) => {
  checkTerminal(context);
  const { session, terminal, clock, streams } = context;
  const operator = await session.operator();
  const { showBoard } = await loadBoard();
  const { stream } = streams.stderr;
  if (!stream) throw noTerminal();
  const closing = new AbortController();
  const signal = AbortSignal.any([context.signal, closing.signal]);
  const { paint } = terminal.asideScreen;
  const opened: { desk: Desk; watching: Promise<void> }[] = [];
  try {
    await showBoard(
      (controls) => {
        const ports = { operator, session, clock, paint, sort, signal, controls };
        const desk = openDesk(ports);
        opened.push({ desk, watching: desk.watch().catch(controls.fail) });
        return {
          draw: (size) => deskLines(desk.shown, size, clock.now(), paint),
          isTyping: () => desk.shown.mode.kind === 'writing',
          press: pressAt(desk, ports),
        };
      },
      { input: process.stdin, output: stream, signal: context.signal },
    );
  } catch (error) {
    const isDeciding = opened.some(({ desk }) => desk.shown.mode.kind === 'busy');
    throw isProblem(error, 'interrupted') ? left(isDeciding) : error;
  } finally {
    closing.abort();
    for (const { desk, watching } of opened) {
      await watching;
      // The screen of the desk is gone: its acts stay on the terminal's own.
      for (const line of desk.done) terminal.done(line);
    }
  }
  return 0;
};

const COMMANDS = [farelock`refund queue`, farelock`help refund approve`];

function checkTerminal(context: CommandContext): void {
  const { terminal, globals } = context;
  const { json, quiet } = terminal.settings;
  if (json || quiet || globals.yes || globals.dryRun) {
    throw problem('usage', {
      message: 'The desk is for a person: it takes no --json, --quiet, --yes or --dry-run.',
      fix: FOR_SCRIPTS,
      next: COMMANDS,
    });
  }
  if (!terminal.canAsk || !canDrawLive(context)) throw noTerminal();
}

const FOR_SCRIPTS = 'For scripts: refund queue, show, claim, note, approve and reject.';

const noTerminal = () =>
  problem('input_required', {
    message: 'The refund desk needs a terminal that can move its cursor.',
    fix: FOR_SCRIPTS,
    next: COMMANDS,
  });

const left = (isDeciding: boolean) =>
  problem('interrupted', {
    message: isDeciding
      ? 'Interrupted during a decision: it may be on record, and then the service carries it out.'
      : 'Interrupted. Nothing was in progress.',
    fix: 'What was decided is on record.',
    next: [farelock`refund queue`],
  });

interface DeskPorts extends Pick<CommandContext, 'session' | 'clock' | 'signal'> {
  readonly operator: OperatorClient;
  readonly paint: Paint;
  readonly sort: 'age' | 'journey' | undefined;
  readonly controls: BoardControls;
}

/** Continues with the answer: a text, or nothing for a yes. */
type Then = (text: string) => Promise<void>;

type Desk = ReturnType<typeof openDesk>;

const POLL_MS = 2000;

/** A short look at a case does not read it: each reading is in the audit trail. */
const REST_MS = 150;

const MOST = 200;
const BROWSING: DeskMode = { kind: 'browsing' };

type State = { -readonly [Name in keyof DeskShown]: DeskShown[Name] };

function openDesk(ports: DeskPorts) {
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
  /** Runs the task of a key, and shows its refusal. */
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
    shown: desk as DeskShown,
    /** Decisions and notes made here, a line each. */
    done: done as readonly string[],
    enter,
    run,
    say,
    answer(doing: string, text: string) {
      const next = then;
      if (next) run(doing, () => next(text));
    },
    retype(typed: string) {
      if (desk.mode.kind === 'writing') desk.mode = { ...desk.mode, typed };
    },
    move(rows: number) {
      const at = desk.cases.findIndex((one) => one.request_id === desk.selected);
      const to = Math.min(Math.max(at + rows, 0), desk.cases.length - 1);
      say();
      reader.select(desk.cases[to]?.request_id ?? null);
    },
    scroll(lines: number) {
      desk.scroll = Math.max(0, desk.scroll + lines);
    },
    turnTo(pane: DeskShown['pane']) {
      desk.pane = pane;
    },
    async finish(changed: RefundCase, how: Parameters<typeof outcomeLine>[1]) {
      const one = harmlessDocument(changed);
      const line = outcomeLine(one, how, paint);
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

/** Reads the queue and the selected case from the service. */
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
  /** Selects the next case after a decision, and reads a case again that somebody else has changed. */
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

/** Makes text from elsewhere harmless for a terminal, and loads the widths of its characters. */
async function clean<T>(coming: Promise<T>): Promise<T> {
  const document = harmlessDocument(await coming);
  await readyFor(JSON.stringify(document));
  return document;
}

/** The keys of the live desk: the same acts as the commands, each after its question. */
function pressAt(desk: Desk, ports: DeskPorts): (key: BoardKey) => void {
  const keys = { ...movingKeys(desk, ports), ...actingKeys(desk, ports) };
  return ({ name, typed }) => {
    const { mode } = desk.shown;
    switch (mode.kind) {
      case 'browsing':
        return keys[name]?.();
      case 'help':
        return desk.enter({ kind: 'browsing' });
      case 'writing':
        if (name === 'escape') return leaveAlone(desk);
        if (name !== 'return' && name !== 'enter') return desk.retype(typed);
        if (mode.typed.trim() !== '') desk.answer(mode.question, mode.typed.trim());
        return;
      case 'asking':
        if (name === 'y') return desk.answer(mode.doing, '');
        if (name === 'space') return desk.scroll(PAGE);
        if (['n', 'q', 'escape', 'return'].includes(name)) leaveAlone(desk);
        return;
      case 'busy':
        return;
    }
  };
}

type Keys = Readonly<Record<string, () => void>>;

const PAGE = 10;

function leaveAlone(desk: Desk): void {
  desk.say('Nothing changed.');
  desk.enter({ kind: 'browsing' });
}

function movingKeys(desk: Desk, { controls }: DeskPorts): Keys {
  const up = () => desk.move(-1);
  const down = () => desk.move(1);
  const back = () => desk.turnTo('queue');
  const open = () => desk.turnTo('case');
  return {
    up,
    k: up,
    down,
    j: down,
    pageup: () => desk.move(-PAGE),
    pagedown: () => desk.move(PAGE),
    return: open,
    right: open,
    left: back,
    escape: back,
    space: () => desk.scroll(PAGE),
    b: () => desk.scroll(-PAGE),
    g: () => desk.run('Reading the queue', desk.refresh),
    '?': () => desk.enter({ kind: 'help' }),
    q: controls.close,
  };
}

function actingKeys(desk: Desk, { operator, paint, signal }: DeskPorts): Keys {
  const options = { signal };
  /** Acts on the selected case, and brings its pane to the front. */
  const on = (act: (id: string) => void) => () => {
    const { selected } = desk.shown;
    if (selected === null) return;
    desk.turnTo('case');
    act(selected);
  };
  const write = (question: string, then: Then) => desk.enter({ kind: 'writing', question, typed: '' }, then);

  /** Shows the effect of a yes under its case. */
  const about =
    (one: RefundCaseSummary | undefined, lines: (width: number) => readonly string[]) => (width: number) => [
      ...(one ? [paint.bold(journeyText(one)), ''] : []),
      ...lines(width),
    ];

  const approve = async (id: string, own: OwnAmount): Promise<void> => {
    const prepared = await prepareApproval(operator, id, own, options);
    const carryOut = async () => desk.finish(await approvePrepared(operator, prepared, options), 'decided');
    const { plan } = prepared;
    if (plan === null) return carryOut();
    desk.enter(
      {
        kind: 'asking',
        question: `Pay out ${paint.usdc(plan.payout_amount)}?`,
        doing: 'Cancelling and paying out',
        lines: about(prepared.shown, (width) => approvalLines(plan, { paint, width })),
      },
      carryOut,
    );
  };
  const reject = async (id: string, reason: string): Promise<void> => {
    const one = desk.shown.cases.find(({ request_id }) => request_id === id);
    const { mail } = await operator.planRejection(id, reason, options);
    desk.enter(
      {
        kind: 'asking',
        question: 'Reject the request?',
        doing: 'Rejecting',
        lines: about(one, (width) => mailLines(mail, { paint, width })),
      },
      async () => desk.finish(await operator.reject(id, reason, options), 'decided'),
    );
  };

  return {
    c: on((id) => desk.run('Claiming', async () => desk.finish(await operator.claim(id, options), 'claimed'))),
    u: on((id) =>
      desk.run('Giving it back', async () => desk.finish(await operator.release(id, false, options), 'released')),
    ),
    n: on((id) => write('Note', async (text) => desk.finish(await operator.note(id, text, options), 'noted'))),
    a: on((id) => desk.run('Preparing the plan', () => approve(id, {}))),
    o: on((id) =>
      write('Pay out, in USDC', async (typed) => {
        const amount = parseUsdc(typed);
        write('Why, for the record', (note) => approve(id, { amount, note }));
      }),
    ),
    r: on((id) =>
      desk.run('Reading the case', async () => {
        await checkRejection(operator, id, options);
        write('Message to the customer', (reason) => reject(id, reason));
      }),
    ),
  };
}
