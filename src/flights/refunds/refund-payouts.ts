import { type SqlBool, sql } from 'kysely';
import { isProblem, problem } from '../../kernel/problems.ts';
import { openQueue } from '../../store/index.ts';
import type { FlightsPorts, RefundRequestRow } from '../base/index.ts';
import { BY_HAND_CODE } from '../bookings/index.ts';
import { QUOTE_GONE } from './airline-quote.ts';
import { carryOut, type RefundTools } from './carry-out.ts';
import { dropUnpaidRequest, receive } from './requests.ts';
import { BY_HAND, movedTo, REFUNDS, UNSETTLED } from './states.ts';

const MOST_AT_ONCE = 50;

/**
 * What the worker does about refund requests: those whose payment was left open are received or dropped, and those
 * that an operator approved are carried out.
 */
export function createRefundPayouts(ports: FlightsPorts) {
  const queue = openQueue(ports, REFUNDS);
  const tools: RefundTools = { ports, queue };
  const work = {
    perform: (row: RefundRequestRow) => (row.state === 'settling' ? settle(ports, row) : carryOut(tools, row)),
    failed: (row: RefundRequestRow, error: unknown) => putOff(tools, row, error),
  };
  return {
    /** Carries one approved request out as far as it goes now; what is left, the worker does. */
    async carryOutNow(requestId: string): Promise<void> {
      const row = await queue.claim([sql<SqlBool>`request_id = ${requestId}`]);
      if (row) await queue.take(row, work);
    },

    /** Takes everything that is due. */
    runDue: () => queue.runDue(work, MOST_AT_ONCE),
  };
}

/** The request's own process may have died: the settlement journal knows what became of its money. */
async function settle(ports: FlightsPorts, row: RefundRequestRow): Promise<void> {
  const outcome = await ports.paywall.outcome(row.payment_key);
  if (outcome === 'unknown') throw problem('payment_pending');
  if (outcome === 'failed') await dropUnpaidRequest(ports, row.payment_key);
  else await receive(ports, row, 'runner');
}

/** Puts a step off, longer each time; in the end it waits for a person, and pages one. */
function putOff({ ports, queue }: RefundTools, row: RefundRequestRow, error: unknown): Promise<void> {
  const byHand = isProblem(error) && error.detail?.by_hand === true;
  // A quote that is gone comes back by an operator's agreement to the next one alone.
  const isTheirs = byHand || isProblem(error, QUOTE_GONE);
  const policy = row.state === 'settling' ? UNSETTLED : isTheirs ? BY_HAND : REFUNDS.retry;
  return queue.postpone(
    row,
    error,
    ({ verdict, failures, code: name }) => {
      const code = byHand ? BY_HAND_CODE : name;
      const isStuck = verdict === 'given_up';
      return {
        change: {
          ...(isStuck ? movedTo(row, 'stuck', 'runner') : {}),
          last_error: code,
          updated_at_ms: ports.clock.now(),
        },
        also: isStuck
          ? (tx) =>
              ports.outbox.enqueue(tx, {
                kind: 'page',
                dedupKey: `page:refund_stuck:${row.request_id}:${row.fence}`,
                intentId: row.intent_id,
                event: 'refund_stuck',
                text: `The refund of ${row.intent_id} is stuck and needs a decision: ${code}. See farelock stuck show ${row.request_id}.`,
                fields: { request_id: row.request_id, intent_id: row.intent_id, error: code },
              })
          : undefined,
        log: () =>
          ports.log('warn', isStuck ? 'refund_stuck' : 'refund_postponed', {
            request_id: row.request_id,
            attempts: failures,
            error_code: code,
          }),
      };
    },
    policy,
  );
}
