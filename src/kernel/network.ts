import { type Fetch, HttpResponse, readBody } from './http.ts';
import { problem } from './problems.ts';

/** No answer of a service comes near it. */
const MOST_ANSWER_BYTES = 64 * 1024 * 1024;

/**
 * Sends requests over the network. A redirect is given as the answer unless it is told otherwise: followed, it would
 * carry keys, codes and passengers along, past the hosts that were agreed to.
 */
export const overNetwork =
  (redirect: 'manual' | 'follow' | 'error' = 'manual'): Fetch =>
  async ({ url, body, signal, ...rest }) => {
    const init = { ...rest, redirect, body: body || null, signal: signal ?? null };
    const { status, headers, body: stream } = await fetch(url, init);
    const bytes = await readBody(stream ?? '', MOST_ANSWER_BYTES);
    if (bytes === null)
      throw problem('unexpected_answer', { message: `${new URL(url).host} answered without end.` });
    return new HttpResponse(status, new TextDecoder().decode(bytes), Object.fromEntries(headers));
  };
