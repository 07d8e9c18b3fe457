import type { OperatorClient } from '../../../client/index.ts';
import { formatUsdc, parseUsdc } from '../../../kernel/money.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import {
  type BoardControls,
  type BoardKey,
  canDrawLive,
  counted,
  harmlessDocument,
  loadBoard,
  type Paint,
  readyFor,
  retyped,
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
  FILTERS,
  journeyText,
  mailLines,
  outcomeLine,
  withLines,
} from '../../view/flights/index.ts';
import { createQueue, type DeskState } from './desk-queue.ts';
import { approvePrepared, checkRejection, type OwnAmount, prepareApproval, unfinishedLines } from './run.ts';
import type * as spec from './spec.ts';

/**
 * Shows the refund queue and its cases, live on a terminal, with a key for each command.
 * @throws Problem `input_required` without a terminal, `usage`, `interrupted`
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
      // The desk's screen is gone: prints what was done on the terminal itself.
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

/** Continues with the answer, which is a text, or empty for a yes. */
type Then = (text: string) => Promise<void>;

interface Doing {
  readonly yes?: Then;
  /** Called after each key that writes. */
  readonly onType?: (text: string) => void;
  readonly onLeave?: () => void;
  /** Changes the words of a question. */
  readonly reword?: () => void;
}

type Desk = ReturnType<typeof openDesk>;

/** Instead of "run the command again": in the desk a key is pressed again. */
const AGAIN = 'Once the service answers, the case shows whether it was done. If not, press the key again.';

const POLL_MS = 2000;
const TICK_MS = 1000;
const BROWSING: DeskMode = { kind: 'browsing' };

function openDesk(ports: DeskPorts) {
  const { clock, paint, controls, signal } = ports;
  const desk: DeskState = {
    cases: [],
    loaded: 0,
    total: null,
    operator: null,
    search: '',
    filters: new Set(),
    sort: ports.sort === 'journey' ? 'departure' : 'age',
    isRead: false,
    readAtMs: clock.now(),
    selected: null,
    shown: null,
    unread: null,
    pane: 'queue',
    scroll: 0,
    said: () => [],
    away: null,
    mode: BROWSING,
  };
  const done: string[] = [];
  const queue = createQueue(ports, desk);
  const modes = createModes(ports, desk);
  const { say } = modes;
  return {
    ...modes,
    shown: desk as DeskShown,
    queue,
    /** Decisions and notes made here, a line each. */
    done: done as readonly string[],
    move(rows: number) {
      const to = Math.min(Math.max(queue.placeOf(desk.selected) + rows, 0), desk.cases.length - 1);
      say();
      queue.select(desk.cases[to]?.request_id ?? null);
    },
    scroll(lines: number) {
      desk.scroll = Math.max(0, desk.scroll + lines);
    },
    turnTo(pane: DeskShown['pane']) {
      desk.pane = pane;
    },
    narrow(change: Partial<Pick<DeskShown, 'search' | 'filters'>>) {
      Object.assign(desk, change);
      say();
      queue.arrange();
    },
    finish(changed: RefundCase, how: Parameters<typeof outcomeLine>[1]) {
      const clean = withLines(changed, harmlessDocument(changed));
      const line = outcomeLine(clean, how, paint);
      done.push(line);
      const isOpen = how === 'decided' && ['approved', 'stuck'].includes(clean.status);
      queue.take(clean, how === 'decided');
      say(`${paint.good('✓')} ${line}`, ...(isOpen ? unfinishedLines(clean) : []));
    },
    async watch() {
      const every = async (ms: number, task: () => Promise<void> | void) => {
        while (!signal.aborted) {
          await task();
          await clock.sleep(ms, signal);
        }
      };
      await Promise.all([
        every(POLL_MS, () => (desk.mode.kind === 'busy' ? undefined : queue.refresh())),
        // Keeps the shown age of the data current while the service does not answer.
        every(TICK_MS, controls.redraw),
      ]);
    },
  };
}

/** The questions of the desk: one at a time, typed or answered by a key. */
function createModes({ paint, controls, signal, session }: DeskPorts, desk: DeskState) {
  let doing: Doing = {};
  const enter = (mode: DeskMode, next: Doing = {}): void => {
    desk.mode = mode;
    desk.scroll = 0;
    doing = next;
    controls.redraw();
  };
  const say = (...lines: string[]): void => {
    desk.said = (width) => lines.flatMap((line) => wrap(line, width));
  };
  /** Runs the task of a key, and shows its refusal; `back` then returns to what was typed. */
  const run = (said: string, task: () => Promise<void>, back = () => enter(BROWSING)): void => {
    let isRefused = false;
    say();
    enter({ kind: 'busy', doing: said });
    task()
      .catch(async (error: unknown) => {
        if (signal.aborted) return;
        if (!isProblem(error)) return controls.fail(error);
        isRefused = true;
        if (error.kind.next?.includes('<again>')) {
          desk.said = (width) => [`${paint.bad('✗')} ${error.message}`, ...wrap(AGAIN, width)];
          return;
        }
        const lines = await toldLines(error, {
          argv: ['refund', 'desk'],
          invocation: { name: 'refund desk', options: { id: desk.selected }, globals: {} },
          session,
        });
        desk.said = (width) => lines({ paint, width });
      })
      .finally(() => {
        if (desk.mode.kind !== 'busy') return;
        if (isRefused) back();
        else enter(BROWSING);
      });
  };
  return {
    enter,
    say,
    run,
    write: (question: string, hint: string, then: Then, before = '') =>
      enter({ kind: 'writing', question, typed: { before, after: '' }, hint }, { yes: then }),
    answer(said: string, text: string) {
      const { mode } = desk;
      const answered = doing;
      const { yes } = answered;
      if (yes) run(said, () => yes(text), mode.kind === 'writing' ? () => enter(mode, answered) : undefined);
    },
    retype(key: BoardKey) {
      const { mode } = desk;
      if (mode.kind !== 'writing') return;
      const typed = retyped(mode.typed, key);
      desk.mode = { ...mode, typed };
      void readyFor(typed.before + typed.after)?.then(controls.redraw);
      doing.onType?.(typed.before + typed.after);
    },
    reword: () => doing.reword?.(),
    leave() {
      if (doing.onLeave) doing.onLeave();
      else say('Nothing changed.');
      enter(BROWSING);
    },
  };
}

/** The keys of the live desk: the same acts as the commands, each after its question. */
function pressAt(desk: Desk, ports: DeskPorts): (key: BoardKey) => void {
  const keys = deskKeys(desk, ports);
  return (key) => {
    const { mode } = desk.shown;
    const { name } = key;
    const isEnter = name === 'return' || name === 'enter';
    switch (mode.kind) {
      case 'browsing':
        return keys[name]?.();
      case 'help':
        return name === ' ' ? desk.scroll(PAGE) : desk.enter(BROWSING);
      case 'writing': {
        const text = (mode.typed.before + mode.typed.after).trim();
        if (name === 'escape') return desk.leave();
        if (!isEnter) return desk.retype(key);
        // An empty search shows all.
        if (text === '' && mode.question === SEARCH) return desk.leave();
        return text === '' ? undefined : desk.answer(mode.question, text);
      }
      case 'asking':
        if (name === 'y' || isEnter) return desk.answer(mode.doing, '');
        if (name === ' ') return desk.scroll(PAGE);
        if (name === 'e') return desk.reword();
        if (['n', 'q', 'escape'].includes(name)) desk.leave();
        return;
      case 'busy':
        return;
    }
  };
}

type Keys = Readonly<Record<string, () => void>>;

const PAGE = 10;
const SEARCH = 'Search';

/** The keys while nothing is asked; `DESK_KEYS` says what they do. */
export const deskKeys = (desk: Desk, ports: DeskPorts): Keys => ({
  ...movingKeys(desk, ports),
  ...listingKeys(desk),
  ...actingKeys(desk, ports),
});

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
    home: () => desk.move(-Infinity),
    end: () => desk.move(Infinity),
    return: open,
    right: open,
    left: back,
    ' ': () => desk.scroll(PAGE),
    b: () => desk.scroll(-PAGE),
    '?': () => desk.enter({ kind: 'help' }),
    q: controls.close,
  };
}

function listingKeys(desk: Desk): Keys {
  const { queue } = desk;
  const all = () => desk.narrow({ search: '', filters: new Set() });
  const toggle = (at: number) => () => {
    const filters = new Set(desk.shown.filters);
    const name = FILTERS[at];
    if (name && !filters.delete(name)) filters.add(name);
    desk.narrow({ filters });
  };
  const search = async (text: string): Promise<void> => {
    const isWhole = await queue.search(text);
    desk.say(
      `${counted(desk.shown.cases.length, 'request')} with “${text}”, the customers’ words included. Esc shows all.`,
      ...(isWhole ? [] : ['There are more requests than a search looks through.']),
    );
  };
  return {
    '/': () =>
      desk.enter(
        {
          kind: 'writing',
          question: SEARCH,
          typed: { before: desk.shown.search, after: '' },
          hint: 'Enter looks in the customers’ words too, Esc shows all',
        },
        { yes: search, onType: (text) => desk.narrow({ search: text.trim() }), onLeave: all },
      ),
    ...Object.fromEntries(FILTERS.map((_name, at): [string, () => void] => [String(at + 1), toggle(at)])),
    '0': all,
    escape: () => (desk.shown.pane === 'case' ? desk.turnTo('queue') : all()),
    A: () => void queue.sortBy('age'),
    D: () => void queue.sortBy('departure'),
    P: () => void queue.sortBy('pay-out'),
    g: () => desk.run('Reading the queue', () => queue.refresh(true)),
  };
}

function actingKeys(desk: Desk, ports: DeskPorts): Keys {
  const { operator, signal } = ports;
  const options = { signal };
  const { approve, askAmount } = approvals(desk, ports);
  const startRejection = rejections(desk, ports);
  /** Acts on the selected case, and brings its pane to the front. */
  const on = (act: (one: RefundCaseSummary) => void) => () => {
    const { cases, selected } = desk.shown;
    const one = cases[desk.queue.placeOf(selected)];
    if (!one) return;
    if (desk.queue.hasJustMoved()) return desk.say('The mark has just moved to another case: look at it first.');
    desk.turnTo('case');
    act(one);
  };
  return {
    c: on(({ request_id: id }) =>
      desk.run('Claiming', async () => desk.finish(await operator.claim(id, options), 'claimed')),
    ),
    u: on(({ request_id: id }) =>
      desk.run('Giving it back', async () => desk.finish(await operator.release(id, false, options), 'released')),
    ),
    n: on(({ request_id: id }) =>
      desk.write('Note', 'Enter saves it, Esc cancels', async (text) =>
        desk.finish(await operator.note(id, text, options), 'noted'),
      ),
    ),
    a: on(({ request_id: id }) => desk.run('Preparing the plan', () => approve(id, {}))),
    o: on((one) => askAmount(one)),
    x: on(startRejection),
    r: on(startRejection),
  };
}

/** Puts the effect of a yes under the heading of its case. */
const about =
  (one: RefundCaseSummary, paint: Paint, lines: (width: number) => readonly string[]) => (width: number) => [
    paint.bold([journeyText(one), one.booking_reference].filter(Boolean).join(', ')),
    '',
    ...lines(width),
  ];

function approvals(desk: Desk, { operator, paint, signal }: DeskPorts) {
  const options = { signal };
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
        hasWords: false,
        lines: about(harmlessDocument(prepared.shown), paint, (width) => approvalLines(plan, { paint, width })),
      },
      { yes: carryOut },
    );
  };
  const askAmount = (one: RefundCaseSummary, wrong = ''): void =>
    desk.write('Pay out, in USDC', wrong || 'Enter continues, Esc cancels', async (typed) => {
      const amount = amountIn(typed);
      const most = BigInt(one.captured_amount);
      if (amount === null) return askAmount(one, `Enter an amount such as ${formatUsdc(most)}.`);
      if (amount > most) return askAmount(one, `Enter ${formatUsdc(most)} or less.`);
      if (amount === 0n) return askAmount(one, 'Enter more than 0. To pay nothing, press Esc, then x.');
      desk.write('Reason (kept in the audit log)', 'Enter shows the plan, Esc cancels', (note) =>
        approve(one.request_id, { amount, note }),
      );
    });
  return { approve, askAmount };
}

/** The message for a fare without refund; the operator writes any other reason. */
const NOT_REFUNDABLE = 'The fare you booked is not refundable, so no amount can be paid back.';

function rejections(desk: Desk, { operator, paint, signal }: DeskPorts): (one: RefundCaseSummary) => void {
  const options = { signal };
  /** The last message that was written here: the next one begins with it. */
  let lastWords: string | null = null;
  const askWords = (one: RefundCaseSummary, before = ''): void =>
    desk.write(
      'Message to the customer',
      'Enter shows the e-mail, Esc cancels',
      (reason) => reject(one, reason),
      before,
    );
  const reject = async (one: RefundCaseSummary, reason: string): Promise<void> => {
    const { mail } = await operator.planRejection(one.request_id, reason, options);
    desk.enter(
      {
        kind: 'asking',
        question: mail ? 'Reject, and send this?' : 'Reject the request?',
        doing: 'Rejecting',
        hasWords: true,
        lines: about(one, paint, (width) => mailLines(mail, { paint, width })),
      },
      {
        yes: async () => {
          desk.finish(await operator.reject(one.request_id, reason, options), 'decided');
          if (reason !== NOT_REFUNDABLE) lastWords = reason;
        },
        reword: () => askWords(one, reason),
      },
    );
  };
  return (one) =>
    desk.run('Reading the case', async () => {
      const words = one.refund_rule.kind === 'non_refundable' ? NOT_REFUNDABLE : lastWords;
      if (words !== null) return reject(one, words);
      await checkRejection(operator, one.request_id, options);
      askWords(one);
    });
}

function amountIn(typed: string): bigint | null {
  try {
    return parseUsdc(typed);
  } catch (error) {
    if (isProblem(error)) return null;
    throw error;
  }
}
