import { canonicalJson } from '../../../kernel/json.ts';
import { isProblem, problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import type { GetOrderDetailsResponse, Order } from '../../../wire/partner/index.ts';
import type { PartnerAccess } from '../../session/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import { nextLines } from '../../view/index.ts';
import { changeLines, ENDS, type ShownOrder, statusWords } from '../../view/partner/index.ts';
import type * as spec from './spec.ts';

const MOST_FAILURES = 30;

/**
 * Prints a line for every change of an order until it ends. Exit 0 when the payment was processed, 8 when the order was
 * refunded or canceled, or failed.
 */
export const orderWatch: Run<typeof spec.partnerOrdersWatch> = async (context, { orderId, every, ...who }) => {
  const { terminal, session, clock, signal } = context;
  const forPartner = who.partner ? ['--partner', who.partner] : [];
  const access = await session.partner(who);
  let seen: ShownOrder | null = null;
  try {
    for (;;) {
      const dueAtMs = await session.work();
      const now = await look(context, access, orderId, every);
      for (const state of statesSince(seen, now)) {
        const before: ShownOrder | null = seen;
        terminal.event(state, { lines: (shown, screen) => changeLines(shown, before, screen) });
        seen = state;
      }
      const end = ENDS[now.order.status];
      if (end) {
        terminal.settle();
        terminal.aside(nextLines(farelock`partner orders show ${orderId} --history ${forPartner}`));
        return end === 'done' ? 0 : 8;
      }
      terminal.phase(statusWords(now.order.status));
      const untilDue = dueAtMs === null ? every : Math.max(10, dueAtMs - clock.now());
      await clock.sleep(Math.min(every, untilDue), signal);
      signal.throwIfAborted();
    }
  } catch (error) {
    if (!signal.aborted || error !== signal.reason || seen === null) throw error;
    const { id, status } = seen;
    const code = isProblem(error, 'timed_out') ? 'timed_out' : 'interrupted';
    const goesOn = session.isEmbedded ? 'continues when a command runs' : 'continues';
    throw problem(code, {
      message: `${problem(code).message} The order was last seen ${statusWords(status)}, and ${goesOn}.`,
      fix: 'Watching changes nothing: start again whenever you like.',
      next: [farelock`partner orders watch ${id} ${forPartner}`],
      cause: error,
    });
  }
};

/** Fields of a change that an order names differently. */
const FIELDS: Readonly<Record<string, keyof ShownOrder>> = { toAmount: 'destinationAmount' };

/**
 * The states of an order since it was last seen, the present one last. The states in between come from its history,
 * which names changed fields without their values: a field that changed before a state and again after it is left out.
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

/** Reads the order; a service that is briefly away is asked again. */
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
