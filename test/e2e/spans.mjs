// A process that loads this first writes its spans into the file that TEST_SPANS names, a line each: the SDK of
// OpenTelemetry as `node --import` brings it.
import { appendFileSync } from 'node:fs';
import { NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';

const lineOf = (span) => {
  const { name, kind, attributes, links, status, parentSpanContext } = span;
  const { traceId: trace, spanId: id } = span.spanContext();
  return JSON.stringify({
    name,
    kind,
    attributes,
    links,
    status,
    trace,
    id,
    parent: parentSpanContext?.spanId ?? null,
  });
};

const exporter = {
  export(spans, done) {
    for (const span of spans) appendFileSync(process.env.TEST_SPANS, `${lineOf(span)}\n`);
    done({ code: 0 });
  },
  shutdown: async () => undefined,
};
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
