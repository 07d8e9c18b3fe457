import { firstAnswer } from '../../kernel/first-answer.ts';
import type { Fetch, HttpResponse } from '../../kernel/http.ts';
import { overNetwork } from '../../kernel/network.ts';

/** After this time the next address is asked beside a slow one. */
const SLOW_MS = 250;
/** A call that acts goes to another address only after the first has had time to carry it out. */
const ACTING_MS = 15_000;
const READS = /"method":"(get|is|simulate|minimum)/;

/** The answer of a busy node, a broken gateway or a server that is no node. */
class Unusable extends Error {
  override readonly name = 'Unusable';
  constructor(readonly response: HttpResponse) {
    super(`it answered ${response.status}`);
  }
}

/** The fetch of web3.js to a real cluster: a call without a timely answer goes to the next address too. */
export function rpcDoor(urls: readonly string[]): { readonly url: string; readonly fetch: Fetch } {
  const send = overNetwork('follow');
  const [url = '', ...others] = urls;
  if (others.length === 0) return { url, fetch: send };
  const sendTo =
    (request: Parameters<Fetch>[0], to: string) =>
    async (signal: AbortSignal): Promise<HttpResponse> => {
      const signals = request.signal ? [request.signal, signal] : [signal];
      const response = await send({ ...request, url: to, signal: AbortSignal.any(signals) });
      if (response.status === 429 || response.status >= 500) throw new Unusable(response);
      return response;
    };
  return {
    url,
    async fetch(request) {
      try {
        return await firstAnswer(
          urls.map((to) => sendTo(request, to)),
          { patienceMs: READS.test(request.body ?? '') ? SLOW_MS : ACTING_MS, isFinal: () => false },
        );
      } catch (error) {
        if (error instanceof Unusable) return error.response;
        throw error;
      }
    },
  };
}
