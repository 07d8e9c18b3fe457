import type { Clock } from '../../kernel/clock.ts';
import type { Behaviour } from './behaviour-table.ts';

type Kind = NonNullable<Behaviour['answer']>['kind'];

/** Longer than anybody waits for an answer. */
const SILENCE_MS = 60_000;
const HUGE_BYTES = 300 * 1024;

const json = { 'content-type': 'application/json' };

/** A right answer, given wrongly: late, torn, or with something in it that must not be taken. */
export async function misanswered(
  kind: Kind,
  answer: string,
  { clock, slowMs }: { readonly clock: Clock; readonly slowMs: number },
  signal: AbortSignal,
): Promise<Response> {
  const changed = (change: object) =>
    new Response(JSON.stringify({ ...(JSON.parse(answer) as object), ...change }), { headers: json });
  switch (kind) {
    case 'slow':
      await clock.sleep(slowMs, signal);
      return new Response(answer, { headers: json });
    case 'silent':
      await clock.sleep(SILENCE_MS, signal);
      return new Response(answer, { headers: json });
    case 'torn':
      return torn(answer);
    case 'bad_gateway':
      return new Response('<html>Bad gateway</html>', {
        status: 502,
        headers: { 'content-type': 'text/html' },
      });
    case 'no_instructions':
      return changed({ depositInstructions: undefined });
    case 'not_json':
      return new Response('<html>Thank you</html>', { headers: { 'content-type': 'text/html' } });
    case 'huge':
      return changed({ padding: 'x'.repeat(HUGE_BYTES) });
    case 'http_url':
      return changed({ redirectUrl: 'http://redirecta.sandbox.farelock.invalid/start' });
    case 'bad_status':
      return changed({ status: 'DONE' });
    case 'bad_amount':
      return changed({ toAmount: '-1' });
    case 'redirect':
      return new Response(null, { status: 307, headers: { location: 'https://elsewhere.invalid/' } });
  }
}

/** Announces the whole answer, sends half of it, and ends. */
function torn(answer: string): Response {
  const bytes = new TextEncoder().encode(answer);
  const half = bytes.slice(0, Math.floor(bytes.length / 2));
  return new Response(half, { headers: { ...json, 'content-length': String(bytes.length) } });
}
