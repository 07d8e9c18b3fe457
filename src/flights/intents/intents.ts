import { asInteger } from '../../kernel/money.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { PaidCall } from '../../payments/terms.ts';
import type { Escrows } from '../booking/escrows.ts';
import type { FlightsPorts } from '../ports.ts';
import type { IntentRow } from '../rows.ts';
import type { CreateIntentRequest, Intent } from '../wire.ts';
import { createIntentCall } from './create-intent.ts';
import type { Funds } from './funds.ts';
import { intentRecord, refundRequestOf, reviewSinceMs, shownIntent } from './intent-record.ts';
import { finishCreation } from './under-way.ts';

/** Booking intents: POST /air/intents and GET /air/intents/{intent_id}. */
export function createIntents(ports: FlightsPorts, escrows: Escrows, funds: Funds) {
  const { store } = ports;
  const tools = { ports, escrows, funds };
  return {
    creation: (request: CreateIntentRequest, url: string, client: string): PaidCall =>
      createIntentCall(tools, request, url, client),

    finishCreation: (row: IntentRow) => finishCreation(ports, row),

    /** @throws Problem `intent_not_found` */
    async show(intentId: string): Promise<Intent> {
      const row = await shownIntent(store, intentId);
      if (row.status === 'active') {
        return intentRecord(row, await observed(escrows, row), {
          reviewSinceMs: await reviewSinceMs(store, intentId),
        });
      }
      const refundRequest = await refundRequestOf(store, intentId);
      return intentRecord(row, row.observed_amount, { refundRequest });
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
