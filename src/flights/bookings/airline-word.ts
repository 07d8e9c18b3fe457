import type { ProviderOrder } from '../../airlines/provider.ts';
import { isProblem } from '../../kernel/problems.ts';
import { isLowcost } from '../offers/lowcost.ts';
import type { FlightsPorts } from '../ports.ts';
import type { IntentRow } from '../rows.ts';
import { orderOf } from './lowcost-orders.ts';

/** `none`: it knows of no order. `unknown`: it does not answer. */
export type AirlineWord = ProviderOrder | 'none' | 'unknown';

/** What the airline, or the website it was bought on, says about the order of an intent at this moment. */
export async function askAirline(
  ports: Pick<FlightsPorts, 'provider' | 'lowcost' | 'log'>,
  intent: IntentRow,
): Promise<AirlineWord> {
  try {
    if (!isLowcost(intent.offer_id)) {
      if (!ports.provider) return 'unknown';
      return (await ports.provider.findOrder(intent.intent_id, intent.offer_id)) ?? 'none';
    }
    if (!ports.lowcost) return 'unknown';
    const outcome = await ports.lowcost.find(intent.intent_id);
    return outcome ? orderOf(intent, outcome) : 'none';
  } catch (error) {
    ports.log('warn', 'airline_silent', {
      intent_id: intent.intent_id,
      error_code: isProblem(error) ? error.code : error instanceof Error ? error.name : 'unknown',
    });
    return 'unknown';
  }
}

export const statusOf = (word: AirlineWord): ProviderOrder['status'] | 'none' | 'unknown' =>
  typeof word === 'string' ? word : word.status;
