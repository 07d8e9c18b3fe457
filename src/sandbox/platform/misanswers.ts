import type { Clock } from '../../kernel/clock.ts';
import { HttpResponse } from '../../kernel/http.ts';
import type { Behaviour } from './behaviour-table.ts';

type Kind = NonNullable<Behaviour['answer']>['kind'];

/** Longer than anybody waits for an answer. */
const SILENCE_MS = 60_000;
const HUGE_BYTES = 300 * 1024;

const JSON_TYPE = { 'content-type': 'application/json' };
const HTML_TYPE = { 'content-type': 'text/html' };

const right = (answer: string) => new HttpResponse(200, answer, JSON_TYPE);

/** A right answer, given wrongly: late, torn, or with something in it that must not be taken. */
export async function misanswered(
  kind: Kind,
  answer: string,
  { clock, slowMs }: { readonly clock: Clock; readonly slowMs: number },
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  const changed = (change: object) => right(JSON.stringify({ ...(JSON.parse(answer) as object), ...change }));
  switch (kind) {
    case 'slow':
      await clock.sleep(slowMs, signal);
      return right(answer);
    case 'silent':
      await clock.sleep(SILENCE_MS, signal);
      return right(answer);
    case 'torn':
      return torn(answer);
    case 'bad_gateway':
      return new HttpResponse(502, '<html>Bad gateway</html>', HTML_TYPE);
    case 'no_instructions':
      return changed({ depositInstructions: undefined });
    case 'not_json':
      return new HttpResponse(200, '<html>Thank you</html>', HTML_TYPE);
    case 'huge':
      return changed({ padding: 'x'.repeat(HUGE_BYTES) });
    case 'http_url':
      return changed({ redirectUrl: 'http://redirecta.sandbox.farelock.invalid/start' });
    case 'bad_status':
      return changed({ status: 'DONE' });
    case 'bad_amount':
      return changed({ toAmount: '-1' });
    case 'redirect':
      return new HttpResponse(307, null, { location: 'https://elsewhere.invalid/' });
  }
}

/** Announces the whole answer, sends half of it, and ends. */
function torn(answer: string): HttpResponse {
  const half = answer.slice(0, Math.floor(answer.length / 2));
  const length = String(Buffer.byteLength(answer));
  return new HttpResponse(200, half, { ...JSON_TYPE, 'content-length': length });
}
