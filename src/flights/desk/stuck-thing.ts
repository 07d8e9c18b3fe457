import type { AirlineTold, EffectKind } from '../../effects/index.ts';
import type { StuckItem } from '../../wire/flights/index.ts';
import type { FlightsPorts } from '../base/index.ts';

/** Something that waits for a person, as it stands; what was decided about it is in the audit trail. */
export type StuckThing = Omit<StuckItem, 'decided'>;

/** Of what is no booking. */
export const NEITHER = { stuck_in: null, escrow: null, airline: null, ask: null } as const;

const NOTHING: AirlineTold = { code: null, request_id: null };

/** The airline's words about the last attempt to order, or to cancel, for an intent. */
export async function lastTold(
  store: FlightsPorts['store'],
  intentId: string,
  kind: Extract<EffectKind, 'airline_order' | 'airline_cancel'>,
): Promise<AirlineTold> {
  const last = await store
    .selectFrom('effects')
    .select('detail')
    .where('subject', '=', intentId)
    .where('kind', '=', kind)
    .orderBy('attempt', 'desc')
    .limit(1)
    .executeTakeFirst();
  return last?.detail == null ? NOTHING : (JSON.parse(last.detail) as AirlineTold);
}

/** How the airline's support finds a request: ` (request abc, code)`. Empty where it named neither. */
export function foundBy({ code, request_id }: AirlineTold): string {
  const parts = [...(request_id === null ? [] : [`request ${request_id}`]), ...(code === null ? [] : [code])];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
