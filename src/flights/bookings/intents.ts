import { asInteger } from '../../kernel/money.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import type { PaidCall } from '../../payments/index.ts';
import type { CreateIntentRequest, Intent } from '../../wire/flights/index.ts';
import {
  bookingWait,
  createAttempts,
  type FlightsPorts,
  type IntentRow,
  intentRecord,
  latestRequest,
  orderChangeOf,
  refundRequestOf,
  rejectionReason,
  shownIntent,
} from '../base/index.ts';
import { createIntentCall } from './create-intent.ts';
import type { Escrows } from './escrows.ts';
import type { Funds } from './funds.ts';
import { isCodeOf } from './identity.ts';
import { finishCreation } from './under-way.ts';

/** Booking intents: POST /air/intents and GET /air/intents/{intent_id}. */
export function createIntents(ports: FlightsPorts, escrows: Escrows, funds: Funds) {
  const { store, secrets } = ports;
  const judge = createAttempts(ports);
  const tools = { ports, escrows, funds };
  return {
    creation: (request: CreateIntentRequest, url: string, client: string): PaidCall =>
      createIntentCall(tools, request, url, client),

    finishCreation: (row: IntentRow) => finishCreation(ports, row),

    /**
     * For anybody; with the support code, the words of an operator that rejected a refund too. A code is judged however
     * the intent stands: a wrong one learns nothing from the answer.
     * @throws Problem `intent_not_found`, `support_code_mismatch`, `too_many_attempts`
     */
    async show(intentId: string, code: string | null, client: string): Promise<Intent> {
      const row = await shownIntent(store, intentId);
      const isProven = code !== null && code.trim() !== '';
      if (isProven && !(await judge({ intentId, client }, () => isCodeOf(secrets, row, code)))) {
        throw problem('support_code_mismatch', {
          message: 'The customer support code does not belong to this intent.',
        });
      }
      if (row.status === 'active') {
        return intentRecord(row, await observed(escrows, row), { booking: await bookingWait(store, intentId) });
      }
      const request = await latestRequest(store, intentId);
      return intentRecord(row, row.observed_amount, {
        refundRequest: refundRequestOf(request),
        rejectionReason: isProven ? rejectionReason(secrets, request) : undefined,
        orderChange: ports.provider?.changesSchedules ? await orderChangeOf(store, intentId) : undefined,
      });
    },
  };
}

export type Intents = ReturnType<typeof createIntents>;

/** What the vault holds now; what it was seen to hold last when the cluster doesn't answer. */
async function observed(escrows: Escrows, row: IntentRow): Promise<number | null> {
  try {
    return asInteger(await escrows.held(row));
  } catch (error) {
    if (!isProblem(error, 'cluster_failed')) throw error;
    return row.observed_amount;
  }
}
