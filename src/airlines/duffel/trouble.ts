import type { Clock } from '../../kernel/clock.ts';
import type { Transport } from './transport.ts';

const KEPT_MS = 60_000;
/** /ready is answered within two seconds. */
const MOST_MS = 1_500;

/**
 * Asks with the smallest call whether Duffel takes the token. Only its own refusal counts: silence, or the page of a gateway,
 * says nothing about a token.
 */
export function createTrouble({
  transport,
  clock,
}: {
  readonly transport: Transport;
  readonly clock: Clock;
}) {
  let last: { readonly atMs: number; readonly told: Promise<string | null> } | null = null;
  const ask = async (): Promise<string | null> => {
    const answer = await transport.send({
      operation: 'token',
      method: 'GET',
      path: '/air/airports?limit=1',
      mostMs: MOST_MS,
    });
    return answer.kind === 'answer' && answer.types.includes('authentication_error')
      ? `it does not take the token (${answer.codes[0] ?? answer.status})`
      : null;
  };
  return (): Promise<string | null> => {
    const nowMs = clock.now();
    if (!last || Math.abs(nowMs - last.atMs) >= KEPT_MS) last = { atMs: nowMs, told: ask() };
    return last.told;
  };
}
