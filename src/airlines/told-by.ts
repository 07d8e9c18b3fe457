import type { AirlineTold } from '../effects/airline-effects.ts';
import { isProblem } from '../kernel/problems.ts';

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** What an airline said with an error, as the port carries it; null where it said nothing of its own. */
export function toldBy(error: unknown): AirlineTold | null {
  // A refusal has the airline's answer as its cause.
  const said = error instanceof Error && !isProblem(error) ? error.cause : error;
  if (!isProblem(said)) return null;
  const told = { code: text(said.detail?.airline_code), request_id: text(said.detail?.airline_request_id) };
  return told.code === null && told.request_id === null ? null : told;
}
