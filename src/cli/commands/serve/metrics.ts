import { createServer, type Server } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Meter } from '../../../kernel/meter.ts';
import type { Reading } from '../../../service/index.ts';
import { METRICS } from './metrics-table.ts';

/** Bounds of OpenTelemetry's http.server.request.duration. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

type Labels = Readonly<Record<string, string>>;

export interface Metrics {
  readonly meter: Meter;
  /** Serves GET /metrics. @param readings the gauges at this moment */
  server(readings: () => Promise<readonly Reading[]>): Server;
}

/** This file loads prom-client: import it only if metrics are wanted. */
export function openMetrics(): Metrics {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const { counters, gauges, histograms } = registered(register);
  const observe = (name: string, labels: Labels, seconds: number) => histograms.get(name)?.observe(labels, seconds);

  const meter: Meter = (what, labels, amount = 0) => {
    const named = labels as Labels;
    if (what === 'request') observe('farelock_http_request_duration_seconds', named, amount);
    if (what === 'rpc') observe('farelock_rpc_duration_seconds', named, amount);
    if (what === 'airline') observe('farelock_airline_call_duration_seconds', named, amount);
    if (what === 'slot_lag') gauges.get('farelock_cluster_slot_lag')?.set(named, amount);
    if (what === 'shed') counters.get('farelock_http_requests_shed_total')?.inc(named);
    if (what !== 'payment') return;
    counters.get('farelock_payments_total')?.inc(named);
    if (amount > 0) observe('farelock_settlement_duration_seconds', named, amount);
  };

  async function text(readings: () => Promise<readonly Reading[]>): Promise<string> {
    const found = await readings();
    for (const name of new Set(found.map(({ name }) => name))) gauges.get(name)?.reset();
    for (const { name, labels, value } of found) gauges.get(name)?.set(labels, value);
    return register.metrics();
  }

  return {
    meter,
    server: (readings) =>
      createServer((request, response) => {
        const isAsked = request.method === 'GET' && /^\/metrics(\?|$)/.test(request.url ?? '');
        if (!isAsked) return response.writeHead(404).end();
        text(readings).then(
          (body) => response.writeHead(200, { 'content-type': register.contentType }).end(body),
          () => response.writeHead(500).end(),
        );
      }),
  };
}

/** Registers every metric of the table. Counters without labels and totals of known outcomes begin at zero. */
function registered(register: Registry) {
  const counters = new Map<string, Counter>();
  const gauges = new Map<string, Gauge>();
  const histograms = new Map<string, Histogram>();
  for (const [name, { type, labels, says, ...metric }] of Object.entries(METRICS)) {
    const configuration = { name, help: says, labelNames: labels, registers: [register] };
    if (type === 'counter') counters.set(name, new Counter(configuration));
    else if (type === 'gauge') gauges.set(name, new Gauge(configuration));
    else {
      const buckets = 'buckets' in metric ? [...metric.buckets] : BUCKETS;
      histograms.set(name, new Histogram({ ...configuration, buckets }));
    }
  }
  for (const outcome of ['settled', 'refused', 'failed', 'unknown'])
    counters.get('farelock_payments_total')?.inc({ outcome }, 0);
  for (const why of ['requests', 'event_loop']) counters.get('farelock_http_requests_shed_total')?.inc({ why }, 0);
  return { counters, gauges, histograms };
}
