import { createRequire } from 'node:module';
import {
  type Attributes,
  context,
  isSpanContextValid,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { version } from '../../../../package.json' with { type: 'json' };
import type { HttpRequest, HttpResponse, Trail } from '../../../kernel/http.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Measured, Meter } from '../../../kernel/meter.ts';

/** Traces of requests and of their calls to airlines and cluster: routes, codes and our own ids, nothing personal. */
export interface Traces {
  readonly meter: Meter;
  /** Runs `answer` as a span. @param isOurs true if a trusted proxy sent it: its trace goes on; others are linked */
  request(
    request: HttpRequest,
    trail: Trail,
    isOurs: boolean,
    answer: () => Promise<HttpResponse>,
  ): Promise<HttpResponse>;
  /** Sends the recorded spans, within a time limit. */
  stop(): Promise<void>;
}

const STOP_MS = 3_000;
const SDK = '@opentelemetry/sdk-node';

/** Uses the SDK that `--import` has loaded, else starts the one that is installed; it reads OTEL_* itself. */
export function openTraces(environment: NodeJS.ProcessEnv, log: Log): Traces {
  const tracerNow = () => trace.getTracer('farelock', version);
  const isLoaded = isSpanContextValid(tracerNow().startSpan('farelock').spanContext());
  const sdk = isLoaded ? null : startSdk(environment, log);
  // Taken again: a tracer from before the SDK never learns of one that uses another copy of the API.
  const tracer = tracerNow();

  const ended = (name: string, seconds: number, attributes: Attributes, result?: string): void => {
    const startTime = Date.now() - seconds * 1000;
    const span = tracer.startSpan(name, { kind: SpanKind.CLIENT, startTime, attributes });
    if (result !== undefined && result !== 'ok') failed(span, result);
    span.end();
  };

  return {
    meter(what, labels, amount) {
      if (amount === undefined) return;
      if (what === 'rpc') {
        const { endpoint, method, result } = labels as Measured['rpc'];
        ended(method, amount, { 'rpc.system': 'jsonrpc', 'rpc.method': method, 'server.address': endpoint }, result);
      }
      if (what === 'airline') {
        const { airline, call, result } = labels as Measured['airline'];
        ended(`${airline} ${call}`, amount, { 'farelock.airline': airline, 'farelock.call': call }, result);
      }
      if (what === 'payment') {
        const { outcome } = labels as Measured['payment'];
        ended('settle', amount, { 'farelock.outcome': outcome }, outcome === 'settled' ? 'ok' : outcome);
      }
    },

    async request(request, trail, isOurs, answer) {
      const sent = propagation.extract(context.active(), request.headers);
      const caller = trace.getSpanContext(sent);
      const span = tracer.startSpan(
        request.method,
        { kind: SpanKind.SERVER, root: !isOurs, links: caller && !isOurs ? [{ context: caller }] : [] },
        isOurs ? sent : context.active(),
      );
      try {
        const given = await context.with(trace.setSpan(context.active(), span), answer);
        if (trail.route) span.updateName(`${request.method} ${trail.route}`);
        span.setAttributes(saidOf(request, trail, given));
        if (given.status >= 500) failed(span, String(given.status));
        return given;
      } finally {
        span.end();
      }
    },

    async stop() {
      const provider = trace.getTracerProvider() as { getDelegate?(): { forceFlush?(): Promise<void> } };
      const sent = sdk ? sdk.shutdown() : provider.getDelegate?.().forceFlush?.();
      const late = new Promise<void>((resolve) => setTimeout(resolve, STOP_MS).unref());
      await Promise.race([sent, late]).catch((error: unknown) =>
        log('warn', 'traces_not_sent', { error_name: error instanceof Error ? error.name : typeof error }),
      );
    },
  };
}

/** Attributes by the semantic conventions of HTTP, without the query and the client's address. */
const saidOf = ({ method }: HttpRequest, trail: Trail, { status, headers }: HttpResponse): Attributes => ({
  'http.request.method': method,
  'http.response.status_code': status,
  ...(trail.route ? { 'http.route': trail.route } : {}),
  ...(headers['x-request-id'] ? { 'farelock.request_id': headers['x-request-id'] } : {}),
  ...(trail.paymentId ? { 'farelock.payment_id': trail.paymentId } : {}),
  ...(trail.intentId ? { 'farelock.intent_id': trail.intentId } : {}),
});

function failed(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

interface Sdk {
  start(): void;
  shutdown(): Promise<void>;
}

/** Users install the SDK beside the tool; the build does not contain it. */
function startSdk(environment: NodeJS.ProcessEnv, log: Log): Sdk | null {
  try {
    const { NodeSDK } = createRequire(import.meta.url)(SDK) as { NodeSDK: new (options: object) => Sdk };
    const sdk = new NodeSDK(environment.OTEL_SERVICE_NAME ? {} : { serviceName: 'farelock' });
    sdk.start();
    return sdk;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND';
    log('warn', isMissing ? 'otel_sdk_missing' : 'otel_sdk_failed', {
      reason: isMissing ? `OTEL_* is set, and ${SDK} is not installed beside farelock` : (error as Error).name,
    });
    return null;
  }
}
