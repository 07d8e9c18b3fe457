import type { PaymentReceipt } from '../../../client/base/index.ts';
import type { Bags } from '../../../kernel/domain/bags.ts';
import type { OfferSort } from '../../../kernel/domain/offers.ts';
import type { WantedSeat } from '../../../kernel/domain/seats.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { isProblem, type Problem } from '../../../kernel/problems.ts';
import { farelock, lineOf, type NextStep } from '../../../kernel/shell-word.ts';
import {
  brokenLine,
  type Output,
  padEnd,
  type StepPrompts,
  type Terminal,
  textWidth,
  wrapBehind,
} from '../../../terminal/index.ts';
import type {
  Intent,
  Offer,
  OfferDetailsResponse,
  Passenger,
  SearchRequestInput,
  SearchResponse,
} from '../../../wire/flights/index.ts';
import { toldLines } from '../../interruption/index.ts';
import { bagFlags } from '../../searching/index.ts';
import { usdcOf } from '../../session/index.ts';
import type { ExitCode } from '../../settings/index.ts';
import type { CommandContext } from '../../spec/index.ts';
import type { SearchTitle } from '../../view/flights/index.ts';
import type { Remembered } from '../search/index.ts';
import type { Airlines } from './narrowing.ts';

export interface Place {
  readonly iata: string;
  readonly said: string;
}

export interface Searched {
  readonly request: SearchRequestInput;
  readonly list: SearchResponse;
  readonly title: SearchTitle;
}

export type Found = Remembered<Searched>;

/** The passengers; `travellers` has the names of saved ones, null for the others. */
export interface Party {
  readonly passengers: readonly Passenger[];
  readonly travellers: readonly (string | null)[];
}

/** The journey as far as it is known. Each step fills in its part. */
export class Trip {
  from: Place | null = null;
  to: Place | null = null;
  /** YYYY-MM-DD */
  depart: string | null = null;
  /** YYYY-MM-DD; null one way. */
  back: string | null = null;
  adults = 1;
  /** Ages when the last direction departs, of the travellers under 18. */
  childAges: readonly number[] = [];
  /** Further flights, each as `FCO-LIS@2026-12-28`, in place of a return. */
  onward: readonly string[] = [];
  /** For each traveller. */
  bags: Bags = { checked: 0, carry_on: 0 };
  found: Found | null = null;
  readonly arrangement = asFound();
  /** Loaded with the first list. */
  airlines: Airlines | null = null;
  /** The chosen itinerary. `marked` is the offer id of its row in the list. */
  offer: Offer | null = null;
  marked: string | null = null;
  offerId: string | null = null;
  /** The seats of a fare, once they are read, and the chosen seats. */
  seats: {
    readonly offerId: string;
    readonly details: OfferDetailsResponse | null;
    readonly chosen: readonly WantedSeat[];
    /** `14B, 14C for 21.00 USD` */
    readonly said: string;
  } | null = null;
  intent: Intent | null = null;
  party: Party | null = null;
  /** The payments so far, in order: decimal USDC and the purpose. */
  readonly paid: { readonly amount: string; readonly what: string }[] = [];
  /** The journey of a fare that an earlier run locked: `LIS → BER  2026-12-21`. */
  journey: string | null = null;
  /** True after a fare is gone: the passengers stay the same. */
  isPartyKept = false;
  /** The intent whose booking a person has agreed to; `isBooked` once that is known. */
  booking: { readonly intent: Intent; readonly isBooked: boolean } | null = null;
}

/** The arrangement of a new list. A person's changes stay when they return to the list. */
export const asFound = () => ({
  sort: 'price' as OfferSort,
  isDirect: false,
  hasBag: false,
  isRefundable: false,
  text: '',
});

export interface Walk {
  readonly context: CommandContext;
  readonly ask: StepPrompts;
  readonly trip: Trip;
  readonly transcript: Transcript;
}

export type StepName =
  | 'resume'
  | 'from'
  | 'to'
  | 'depart'
  | 'return'
  | 'adults'
  | 'search'
  | 'itinerary'
  | 'fare'
  | 'lock'
  | 'passengers'
  | 'review';

/** Asks, does its part, and returns the next step, `back` for the one before, or the exit code to end with. */
export type Step = (walk: Walk) => Promise<StepName | 'back' | ExitCode>;

/**
 * Goes from step to step until one of them ends the walk. Going back leads to the step before, and removes its lines
 * from the screen unless something was paid since.
 */
export async function follow(walk: Walk, steps: Readonly<Record<StepName, Step>>, start: StepName): Promise<ExitCode> {
  const { transcript, trip } = walk;
  /** Marks the state before a step writes or pays anything. */
  const begin = (name: StepName) => ({ name, mark: transcript.mark(), paid: trip.paid.length });
  const before: ReturnType<typeof begin>[] = [];
  let at = begin(start);
  for (;;) {
    const next = await steps[at.name](walk);
    if (typeof next === 'number') return next;
    if (next === 'back') {
      const last = before.pop();
      if (last === undefined) walk.context.terminal.note('This is the first question; Ctrl-C quits.');
      const isUndone = last !== undefined && last.paid === trip.paid.length && transcript.takeBack(last.mark);
      at = isUndone ? last : begin(last?.name ?? at.name);
      continue;
    }
    // The same question again is not a new step.
    if (next === at.name) continue;
    const seen = before.findIndex(({ name }) => name === next);
    // Returning to an earlier step forgets those after it.
    if (seen >= 0) before.splice(seen);
    else before.push(at);
    at = begin(next);
  }
}

const LABEL_WIDTH = 10;

/** Writes the line of an answered step and the command that does the same. Nothing personal may be in either. */
export function said(
  { context: { terminal }, transcript }: Walk,
  label: string,
  value: string,
  command: NextStep,
): void {
  const { paint, width } = terminal.asideScreen;
  const lines = wrapBehind(`${paint.dim(padEnd(label, LABEL_WIDTH))} `, value, width);
  for (const line of lines) terminal.note(line);
  transcript.same(command);
}

/** Asks a question with two answers; false for the second one, and for going back. */
export async function agrees({ ask }: Walk, message: string, yes: string, no: string): Promise<boolean> {
  const lines = [
    { name: yes, value: true },
    { name: no, value: false },
  ];
  const answer = await ask.choose({ message, lines });
  return answer.kind === 'answer' && answer.value;
}

type Transcript = ReturnType<typeof openTranscript>;

/** Enough to see the state of the walk, with room for the question. */
const AGAIN_LINES = 6;

const ESCAPE = '\u001b[';

/** Keeps the lines that a walk has written, so that going back a step can remove them. */
export function openTranscript(terminal: Terminal, stderr: Output) {
  let written: string[] = [];
  let commands: { readonly at: number; readonly command: string }[] = [];
  // Lines before this index can't be taken back: a result was printed after them.
  let fixed = 0;
  const keeping = (lines: readonly string[], write: () => void) => {
    written.push(...lines);
    write();
  };
  const settling = (write: () => void) => {
    fixed = written.length;
    write();
  };
  const columns = () => Math.max(1, stderr.columns ?? 80);
  const rowsOf = (line: string) =>
    brokenLine(line, columns())
      .split('\n')
      .reduce((rows, part) => rows + Math.max(1, Math.ceil(textWidth(part) / columns())), 0);
  const kept: Terminal = {
    ...terminal,
    note: (text) => keeping([text], () => terminal.note(text)),
    review: (lines) => keeping(lines, () => terminal.review(lines)),
    aside: (lines) => keeping(lines, () => terminal.aside(lines)),
    done: (text) => keeping([`✓ ${text}`], () => terminal.done(text)),
    result: (document, view) => settling(() => terminal.result(document, view)),
    event: (document, view) => settling(() => terminal.event(document, view)),
    tell: (lines) => settling(() => terminal.tell(lines)),
  };
  return {
    terminal: kept,
    /** Writes a command to copy that does the same: never wrapped, and only once for consecutive steps. */
    same(step: NextStep): void {
      const command = lineOf(step);
      if (commands.at(-1)?.command === command) return;
      commands.push({ at: written.length, command });
      kept.note(terminal.asideScreen.paint.dim(`  $ ${command}`));
    },
    mark: () => written.length,
    /** Removes the lines after the mark. If one of them can't be removed, keeps all and returns false. */
    takeBack(mark: number): boolean {
      const rows = written.slice(mark).reduce((sum, line) => sum + rowsOf(line), 0);
      if (mark < fixed || rows >= (stderr.rows ?? 24)) return false;
      if (rows > 0) stderr.write(`\r${ESCAPE}${rows}A${ESCAPE}J`);
      written = written.slice(0, mark);
      commands = commands.filter(({ at }) => at < mark);
      return true;
    },
    /** Writes the last lines again, on a screen that was cleared. */
    again() {
      for (const line of written.slice(-AGAIN_LINES)) terminal.note(line);
    },
  };
}

export function searchCommand(trip: Trip, filters: readonly string[] = []) {
  const { from, to, depart, back, adults, childAges, onward, bags } = trip;
  const more = [
    ...(back === null ? [] : ['--return', back]),
    ...onward.flatMap((flight) => ['--onward', flight]),
    ...(adults === 1 ? [] : ['--adults', String(adults)]),
    ...(childAges.length === 0 ? [] : ['--child-ages', childAges.join(',')]),
    ...bagFlags(bags),
    ...filters,
  ];
  return farelock`search ${from?.iata ?? '<from>'} ${to?.iata ?? '<to>'} --depart ${depart ?? '<date>'} ${more}`;
}

/** The `book` command: names the travellers if all are saved, or else a file. */
export const bookingCommand = (intentId: string, party: Party | null) =>
  farelock`book ${intentId} ${savedTravellers(party) ?? ['--passengers', 'passengers.json']}`;

/** The same after a walk that ended early: no file was written, so the command asks for unsaved travellers. */
export const bookingCommandNow = (intentId: string, party: Party | null) =>
  farelock`book ${intentId} ${savedTravellers(party) ?? []}`;

function savedTravellers(party: Party | null): string[] | null {
  const names = party?.travellers ?? [];
  const areSaved = names.length > 0 && names.every((name) => name !== null);
  return areSaved ? names.flatMap((name) => ['--traveller', name]) : null;
}

/** True for a refusal that another answer may avoid. */
export const isTurnedDown = (error: unknown): error is Problem =>
  isProblem(error) && [2, 3, 5].includes(error.kind.exit) && !isProblem(error, 'input_required');

/** @param same the command that is refused in the same way */
export async function sayProblem(
  { context }: Walk,
  error: Problem,
  same: { readonly name: string; readonly argv: readonly string[]; readonly options?: object },
): Promise<void> {
  const { terminal, session } = context;
  terminal.settle();
  const lines = await toldLines(error, {
    argv: same.argv,
    invocation: { name: same.name, options: same.options ?? {}, globals: context.globals },
    session,
  });
  for (const line of lines(terminal.asideScreen)) terminal.note(line);
}

const TOP_UP = 1_000_000_000n;

/** Atomic USDC of the wallet that pays. */
export async function balanceOf({ context: { session } }: Walk): Promise<bigint> {
  const [cluster, wallet] = await Promise.all([session.cluster(), session.wallet()]);
  const { usdcAccount } = await usdcOf(cluster, wallet.address);
  return (await cluster.tokenBalance(usdcAccount)) ?? 0n;
}

/** Makes a paid call and notes its cost. If there is too little play money, offers more and tries again. */
export async function paidCall<T extends { readonly payment: PaymentReceipt | null }>(
  walk: Walk,
  what: string,
  call: () => Promise<T>,
): Promise<T> {
  const { trip } = walk;
  for (;;) {
    try {
      const answer = await call();
      if (answer.payment) trip.paid.push({ amount: answer.payment.amount, what });
      return answer;
    } catch (error) {
      if (!isProblem(error, 'insufficient_funds') || !(await topUp(walk, TOP_UP))) throw error;
    }
  }
}

/** Offers play money, never on a real cluster; true if it was taken. `least`: the missing amount, atomic USDC. */
export async function topUp(walk: Walk, least: bigint): Promise<boolean> {
  const { session, terminal } = walk.context;
  if (!session.isEmbedded) return false;
  const { faucet } = await session.openLocal();
  if (!faucet) return false;
  const amount = least > TOP_UP ? ((least + TOP_UP - 1n) / TOP_UP) * TOP_UP : TOP_UP;
  terminal.settle();
  const balance = await balanceOf(walk);
  const question = `The wallet has ${terminal.usdc(balance)}: not enough. Get play money from the embedded cluster?`;
  if (!(await agrees(walk, question, `Get ${terminal.usdc(amount)} of play money`, 'No'))) return false;
  await faucet.airdropUsdc((await session.wallet()).address, amount);
  terminal.done(`${terminal.usdc(amount)} of play money`);
  walk.transcript.same(farelock`wallet airdrop --usdc ${formatUsdc(amount)}`);
  return true;
}
