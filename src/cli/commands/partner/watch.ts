import { canonicalJson } from '../../../kernel/json.ts';
import { isProblem, type Problem, problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import type { GetOrderDetailsResponse, Order } from '../../../wire/partner/index.ts';
import type { PartnerAccess } from '../../session/index.ts';
import type { ExitCode } from '../../settings/index.ts';
import type { CommandContext, OptionsOf, Run } from '../../spec/index.ts';
import { nextLines, quoted } from '../../view/index.ts';
import { changeLines, ENDS, type ShownOrder, statusWords } from '../../view/partner/index.ts';
import type * as spec from './spec.ts';

const MOST_FAILURES = 30;

/**
 * A line for every change of an order until it ends. Exit 0 when the payment was processed, 8 when the order was
 * refunded or canceled, or failed.
 */
export const orderWatch: Run<typeof spec.partnerOrdersWatch> = async (context, { orderId, every, ...who }) => {
  const { session, signal } = context;
  const access = await session.partner(who);
  const seen: { order: ShownOrder | null } = { order: null };
  try {
    return await follow(context, access, { orderId, every, ...who }, seen);
  } catch (error) {
    if (!signal.aborted || error !== signal.reason || seen.order === null) throw error;
    throw leftAt(context, seen.order, who.partner, error);
  }
};

async function follow(
  context: CommandContext,
  access: PartnerAccess,
  { orderId, every, partner }: OptionsOf<typeof spec.partnerOrdersWatch>,
  seen: { order: ShownOrder | null },
): Promise<ExitCode> {
  const { terminal, session, clock, signal } = context;
  for (;;) {
    const dueAtMs = await session.work();
    const now = await look(context, access, orderId, every);
    for (const state of statesSince(seen.order, now)) {
      const before = seen.order;
      terminal.event(state, { lines: (now, screen) => changeLines(now, before, screen) });
      seen.order = state;
    }
    const end = ENDS[now.order.status];
    if (end) {
      terminal.settle();
      terminal.aside(nextLines(showCommand(orderId, partner)));
      return end === 'done' ? 0 : 8;
    }
    terminal.phase(statusWords(now.order.status));
    const untilDue = dueAtMs === null ? every : Math.max(10, dueAtMs - clock.now());
    await clock.sleep(Math.min(every, untilDue), signal);
    signal.throwIfAborted();
  }
}

/** The name in an order of each field of a change. */
const FIELDS: Readonly<Record<string, keyof ShownOrder>> = { toAmount: 'destinationAmount' };

/**
 * The states that an order went through since it was last seen, the one that it has now last. What came in between is
 * read from its history, which names the fields that changed, and not what was in them: one that changed again later is
 * left out of the states before.
 */
function statesSince(
  before: ShownOrder | null,
  { order, allowedStatuses, history = [] }: GetOrderDetailsResponse,
): ShownOrder[] {
  const now: ShownOrder = { ...order, ...(allowedStatuses === undefined ? {} : { allowedStatuses }) };
  if (before === null) return [now];
  if (canonicalJson(now) === canonicalJson(before)) return [];
  const missed = history.filter(({ version }) => version > before.version && version < order.version);
  const between = missed.map(({ version, toStatus, at }): ShownOrder => {
    const fieldsOf = (since: number, until: number) =>
      history
        .filter((change) => change.version > since && change.version <= until)
        .flatMap(({ fields }) => fields.map((field) => FIELDS[field] ?? field));
    const [earlier, later] = [fieldsOf(before.version, version), fieldsOf(version, order.version)];
    const known = Object.entries(order).filter(([name]) => !later.includes(name));
    const unchanged = Object.entries(before).filter(
      ([name]) => later.includes(name) && !earlier.includes(name) && name !== 'allowedStatuses',
    );
    const state = { ...Object.fromEntries(known), ...Object.fromEntries(unchanged) };
    return { ...(state as Order), status: toStatus, version, updatedAt: at };
  });
  return [...between, now];
}

const showCommand = (orderId: string, partner: string | undefined): string =>
  `farelock partner orders show ${quoted(orderId)} --history${partner ? ` --partner ${quoted(partner)}` : ''}`;

/** Only the looking was cut off: the order goes its way. */
function leftAt(
  { session }: CommandContext,
  { id, status }: ShownOrder,
  partner: string | undefined,
  error: unknown,
): Problem {
  const code = isProblem(error, 'timed_out') ? 'timed_out' : 'interrupted';
  const goesOn = session.isEmbedded ? 'continues when a command runs' : 'continues';
  return problem(code, {
    message: `${problem(code).message} The order was last seen ${statusWords(status)}, and ${goesOn}.`,
    fix: 'Watching changes nothing: start again whenever you like.',
    next: [farelock`partner orders watch ${id} ${partner ? ['--partner', partner] : []}`],
    cause: error,
  });
}

/** The order as it is; a service that is briefly away is asked again. */
async function look(
  { terminal, clock, signal }: CommandContext,
  { client }: PartnerAccess,
  orderId: string,
  every: number,
): Promise<GetOrderDetailsResponse> {
  for (let failures = 1; ; failures++) {
    signal.throwIfAborted();
    try {
      return await client.orderWithHistory(orderId, { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (!isProblem(error) || error.kind.retryable !== true || failures > MOST_FAILURES) throw error;
      terminal.phase(`No connection, trying again (${failures} of ${MOST_FAILURES})`);
      await clock.sleep(Math.max(every, (error.retryAfter ?? 0) * 1000), signal);
    }
  }
}
