import { isOrderStatus, type OrderStatus } from '../../../kernel/domain/order-moves.ts';
import { problem } from '../../../kernel/problems.ts';
import { harmless, isRecord } from '../../../terminal/index.ts';
import type { DepositInstructions, GetOrderDetailsResponse, UpdateOrderRequest } from '../../../wire/partner/index.ts';
import { checkRows, codeIssues, fieldNamed, planRows, rowOf, standingOf, statusesAfter } from '../../apply/index.ts';
import { askText, confirmLive, readJson, sourceName } from '../../session/index.ts';
import type { CommandContext, OptionsOf, Run } from '../../spec/index.ts';
import { printPlan } from '../../view/index.ts';
import { orderLines } from '../../view/partner/index.ts';
import type * as spec from './spec.ts';

/** Without a given change, asks for one or names the allowed statuses. */
export const orderUpdate: Run<typeof spec.partnerOrdersUpdate> = async (context, options) => {
  const { terminal, session, signal, globals } = context;
  await session.work();
  const access = await session.partner(options);
  const { client } = access;
  const seen = await (globals.dryRun
    ? client.orderWithHistory(options.orderId, { signal })
    : client.order(options.orderId, { signal }));
  const given = await givenChange(context, options);
  const isAsked = Object.keys(given).length === 0;
  const request: UpdateOrderRequest = {
    orderId: options.orderId,
    ...(isAsked ? await askedChange(context, seen) : given),
  };
  const before = seen.order.status;
  if (globals.dryRun) {
    const why = refusalOfRequest(request, seen, options.ifMatch);
    const steps =
      why === null
        ? [...changeSteps(request, seen), `Send this to the ${await access.environment()} environment.`]
        : [`Be refused: ${why}`];
    printPlan(terminal, steps, { request, allowedStatuses: allowedOf(seen) });
    return why === null ? 0 : 8;
  }
  const words = request.status && request.status !== before ? `${before} → ${request.status}` : 'these fields';
  await confirmLive(context, access, options.live === true, `Update ${request.orderId}: ${words}?`);
  const { order, allowedStatuses } = await client.updateOrder(request, {
    signal,
    idempotencyKey: options.idempotencyKey,
    // A person chose for the order as it was shown: not for a newer one.
    ifMatch: options.ifMatch ?? (isAsked ? versionOf(seen) : undefined),
  });
  terminal.result({ ...order, ...(allowedStatuses !== undefined && { allowedStatuses }) }, { lines: orderLines });
  return 0;
};

/** Predicts why the service would refuse a request, by the service's rules; null if it would not. */
function refusalOfRequest(
  request: UpdateOrderRequest,
  seen: GetOrderDetailsResponse,
  ifMatch: string | undefined,
): string | null {
  const { rows, issues } = rowOf({ row: 1, line: 1 }, { ...request });
  // `hasUnknown` allows an update without a change, which repeats the order's values.
  const { checked, issues: wrong } = checkRows(rows.map((row) => ({ ...row, hasUnknown: true })));
  const [issue] = [...issues, ...wrong];
  if (issue) return [issue.field, issue.message].filter((part) => part !== null).join(' ');
  const version = versionOf(seen);
  const expected = ifMatch?.replace(/^"|"$/g, '');
  if (expected !== undefined && !/^\d{1,15}$/.test(expected)) return '--if-match is not a version of an order';
  if (expected !== undefined && version !== undefined && Number(expected) !== Number(version))
    return `The order has version ${version}, not ${expected}.`;
  return planRows(checked, new Map([[request.orderId, standingOf(seen)]]))[0]?.why ?? null;
}

function changeSteps(request: UpdateOrderRequest, { order }: GetOrderDetailsResponse): string[] {
  const { orderId, status = order.status, depositInstructions, returnDetails, toAmount, ...plain } = request;
  const moves = (now: object, before: object = {}): string[] => {
    const had = new Map(Object.entries(before));
    return Object.entries(now)
      .filter(([name, value]) => value !== undefined && value !== had.get(name))
      .map(([name, value]) => `Change ${name}: ${String(had.get(name) ?? '–')} → ${String(value)}.`);
  };
  const steps = [
    ...(status === order.status ? [] : [`Move ${orderId}: ${order.status} → ${status}.`]),
    ...moves(plain, order),
    ...(toAmount === undefined || toAmount === order.destinationAmount
      ? []
      : [`Change the amount to receive: ${order.destinationAmount ?? '–'} → ${toAmount}.`]),
    ...moves(depositInstructions ?? {}, order.depositInstructions),
    ...moves(returnDetails ?? {}, order.returnDetails),
  ];
  return steps.length > 0 ? steps : [`Change nothing: ${orderId} is ${status} and has these values.`];
}

/** Another deployment's answers have no version. */
const versionOf = ({ order }: GetOrderDetailsResponse): string | undefined =>
  order.version === undefined ? undefined : String(order.version);

/** The moves that the service allows, or else those of the table. */
const allowedOf = ({ order, allowedStatuses }: GetOrderDetailsResponse): readonly OrderStatus[] =>
  allowedStatuses ?? statusesAfter(order.status);

type Change = Omit<UpdateOrderRequest, 'orderId'>;

async function givenChange(
  context: CommandContext,
  options: OptionsOf<typeof spec.partnerOrdersUpdate>,
): Promise<Change> {
  const { status, sourceTransactionId, destinationTransactionId, reason, customerFacingReason, toAmount } = options;
  const { depositInstructions: source } = options;
  const returnDetails = without({ reason: options.returnReason, refundReferenceId: options.refundReferenceId });
  return {
    ...without({ status, sourceTransactionId, destinationTransactionId, reason, customerFacingReason, toAmount }),
    ...(Object.keys(returnDetails).length > 0 && { returnDetails }),
    ...(source !== undefined && { depositInstructions: await depositOf(context, source) }),
  };
}

const without = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [name in keyof T]?: Exclude<T[name], undefined>;
  };

async function depositOf(context: CommandContext, source: string): Promise<DepositInstructions> {
  const given = await readJson(context, source);
  if (isRecord(given) && Object.values(given).every((value) => typeof value === 'string')) {
    const named = Object.entries(given).map(([name, value]) => [nameIn('depositInstructions', name), value]);
    const twice = named.find(([name], index) => named.findIndex(([other]) => other === name) !== index);
    if (!twice) return knownDeposit(source, Object.fromEntries(named) as Record<string, string>);
    throw problem('file_unreadable', {
      message: `${sourceName(source)} gives ${String(twice[0])} twice.`,
      fix: 'Name it once.',
    });
  }
  throw problem('file_unreadable', {
    message: `${sourceName(source)} has no deposit instructions.`,
    fix: 'Use a JSON object of strings, such as { "iban": "DE89…", "depositMessage": "…" }.',
  });
}

/** @throws Problem `file_unreadable` for an unknown name, currency or network, with what was probably meant */
function knownDeposit(source: string, given: Record<string, string>): DepositInstructions {
  const unknown = rowOf({ row: 1, line: 1 }, { orderId: '-', depositInstructions: given }).issues;
  const issues = [...unknown, ...codeIssues(given)].map(({ field, message }) => ({ path: field ?? '', message }));
  if (issues.length === 0) return given as DepositInstructions;
  throw problem('file_unreadable', {
    message: `${sourceName(source)} cannot be sent.`,
    fix: 'Change the fields above. Nothing was sent.',
    detail: { issues },
  });
}

/** The field of a group by one of its names in files; an unknown name stays. */
const nameIn = (group: string, name: string): string => fieldNamed(`${group}.${name}`)?.slice(group.length + 1) ?? name;

async function askedChange(context: CommandContext, seen: GetOrderDetailsResponse): Promise<Change> {
  const { terminal } = context;
  const { id, status } = seen.order;
  const allowed = allowedOf(seen);
  const from =
    allowed.length === 0
      ? `${id} is ${status}, which is final.`
      : `${id} is ${status}; it can go to ${allowed.join(', ')}.`;
  if (!terminal.canAsk || allowed.length === 0) {
    throw problem('usage', {
      message: `No change was given. ${from}`,
      fix: 'Add --status, or a field to change: see farelock partner orders update --help.',
    });
  }
  terminal.note(harmless(from));
  const prompts = terminal.ask('--status');
  const chosen = await prompts.choose(
    'Move it to',
    allowed.map((name) => ({ name, value: name })),
  );
  if (!isOrderStatus(chosen) || chosen !== 'ERROR') return { status: chosen };
  return { status: chosen, reason: await askText(context, '--status', 'Reason, for the partner') };
}
