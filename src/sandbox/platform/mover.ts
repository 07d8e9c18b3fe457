import type { Fetch, HttpResponse } from '../../kernel/http.ts';
import { jsonOf } from '../../partner/platforms/index.ts';
import { PLATFORM_PARTNERS, type PlatformPorts } from './app.ts';
import { STEPS, type Step } from './behaviour-table.ts';
import type { BookedOrder } from './books.ts';

interface MoverPorts extends Pick<PlatformPorts, 'books' | 'clock' | 'stepMs'> {
  readonly fetch: Fetch;
  /** Without a final slash. */
  readonly serviceUrl: string;
  /** `<svc>` of its procedure paths. */
  readonly serviceName: string;
  /** The partner's API key; null if its orders stay. */
  readonly keyOf: (partnerId: string) => Promise<string | null>;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10_000;

/** Consecutive refusals after which an order is left alone. */
const MOST_REFUSALS = 40;

/** The pause after a call without an answer. */
const UNHEARD_WAIT_MS = 2_000;

/**
 * Advances orders by UpdateOrder with the partner's key. An update names the order's version, so orders that others
 * moved stay as they are. It keeps its Idempotency-Key until it is answered, so it applies once; a refused update gets
 * a new key, because the old one would repeat the refusal. @returns the number of accepted updates
 */
export async function moveDue(ports: MoverPorts): Promise<number> {
  const { books, clock } = ports;
  let moved = 0;
  for (;;) {
    const order = books.claimDue(clock.now());
    if (!order) return moved;
    if (await move(ports, order)) moved++;
  }
}

async function move(ports: MoverPorts, order: BookedOrder): Promise<boolean> {
  const { books, clock, stepMs } = ports;
  const { steps, version, attempts } = order;
  const way: readonly Step[] = STEPS[order.outcome];
  const step = way[steps];
  const partner = PLATFORM_PARTNERS.find(({ slug }) => slug === order.partner);
  const key = partner ? await ports.keyOf(partner.partnerId) : null;
  if (!step || key === null) {
    books.moved({ ...order, dueAtMs: null });
    return false;
  }
  const response = await ports
    .fetch({
      method: 'POST',
      url: `${ports.serviceUrl}/${ports.serviceName}.core.v1.partner.Service/UpdateOrder`,
      headers: {
        'content-type': 'application/json',
        'x-api-key': key,
        'if-match': `"${version}"`,
        'idempotency-key': `${order.orderId}:${steps}:${attempts}`,
      },
      body: JSON.stringify({
        orderId: order.orderId,
        status: step.status,
        ...step.details(order.orderId, toAmountOf(order)),
      }),
      signal: AbortSignal.timeout(10_000),
    })
    // An update without an answer is sent again.
    .catch(() => null);
  const isTaken = response !== null && response.status >= 200 && response.status < 300;
  const next = isTaken ? versionIn(response) : null;
  if (next !== null) {
    const isLast = steps + 1 >= way.length;
    const dueAtMs = isLast ? null : clock.now() + stepMs;
    books.moved({ ...order, steps: steps + 1, version: next, attempts: 0, dueAtMs });
    return true;
  }
  if (response === null || isTaken || response.status >= 500) {
    books.moved({ ...order, dueAtMs: clock.now() + UNHEARD_WAIT_MS });
    return false;
  }
  // Others moved it, or it cannot move there: stop scripting it.
  const isOver = response.status === 409 || response.status === 400 || attempts + 1 >= MOST_REFUSALS;
  const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(10, attempts));
  books.moved({ ...order, attempts: attempts + 1, dueAtMs: isOver ? null : clock.now() + waitMs });
  return false;
}

const toAmountOf = ({ answer }: BookedOrder): string => (JSON.parse(answer) as { toAmount: string }).toAmount;

/** Null for a torn or foreign answer, which counts as none. */
function versionIn(response: HttpResponse): number | null {
  const body = jsonOf(Buffer.from(response.body ?? '')) as { order?: { version?: unknown } } | null | undefined;
  return typeof body?.order?.version === 'number' ? body.order.version : null;
}
