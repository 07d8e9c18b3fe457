import type { HttpRequest, HttpResponse, Trail } from '../../../kernel/http.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Meter } from '../../../kernel/meter.ts';
import type { Traces } from './traces.ts';

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'PUT']);

interface RequestPorts {
  readonly meter: Meter;
  readonly traces: Traces | null;
  /** Gets a line for each request; null if none is wanted. */
  readonly log: Log | null;
}

/** Measures requests, and logs each: only ids, no address, no query, no body. */
export function watchRequests({ meter, traces, log }: RequestPorts) {
  let inFlight = 0;

  function ended(request: HttpRequest, trail: Trail, { status, body, headers }: HttpResponse, seconds: number): void {
    const method = METHODS.has(request.method) ? request.method : 'other';
    meter('request', { route: trail.route ?? 'none', method, code: String(status) }, seconds);
    log?.('info', 'request', {
      request_id: headers['x-request-id'] ?? null,
      route: trail.route ?? null,
      method,
      status,
      duration_ms: Math.round(seconds * 1000),
      payment_id: trail.paymentId ?? null,
      intent_id: trail.intentId ?? createdIn(status, body),
    });
  }

  return {
    inFlight: () => inFlight,
    /** @param isOurs true if a trusted proxy sent it. @param answer gets the request with a trail to write to */
    async answered(
      request: HttpRequest,
      isOurs: boolean,
      answer: (request: HttpRequest) => Promise<HttpResponse>,
    ): Promise<HttpResponse> {
      const trail: Trail = {};
      const begun = process.uptime();
      inFlight++;
      try {
        const asked = () => answer({ ...request, trail });
        const given = await (traces ? traces.request(request, trail, isOurs, asked) : asked());
        ended(request, trail, given, process.uptime() - begun);
        return given;
      } finally {
        inFlight--;
      }
    },
  };
}

/** The id of the intent that a call has created. */
const createdIn = (status: number, body: string | null): string | null =>
  status === 201 ? (/"intent_id":"(int_\w{1,40})"/.exec(body ?? '')?.[1] ?? null) : null;
