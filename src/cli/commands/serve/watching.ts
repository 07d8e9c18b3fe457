import { version } from '../../../../package.json' with { type: 'json' };
import type { Log } from '../../../kernel/log.ts';
import { type Meter, noMeter } from '../../../kernel/meter.ts';
import type { Reading } from '../../../service/index.ts';
import { drainable, listening, type Where } from './index.ts';
import type { Traces } from './traces.ts';

interface Measured {
  readonly cluster: { readonly network: string };
  readings(): Promise<readonly Reading[]>;
}

const NONE = {
  meter: noMeter,
  isOn: false,
  listen: async (_service: Measured, _own: () => readonly Reading[] = () => []): Promise<string | null> => null,
  stop: async () => undefined,
};

/** Opens /metrics on a port of its own; without one, loads nothing. @param isFile true if the database is a file */
export async function startMetrics(where: Omit<Where, 'option'> | undefined, isFile: boolean): Promise<typeof NONE> {
  if (!where) return NONE;
  const { openMetrics } = await import('./metrics.ts');
  const metrics = openMetrics();
  let stop = async (): Promise<undefined> => undefined;
  return {
    meter: metrics.meter as Meter,
    isOn: true,
    /** @param own gauges of the process. @returns the address of /metrics */
    async listen(service, own = () => []) {
      const database = isFile ? 'file' : 'postgresql';
      const labels = { version, node: process.versions.node, database, network: service.cluster.network };
      const build: Reading = { name: 'farelock_build_info', labels, value: 1 };
      const server = metrics.server(async () => [build, ...own(), ...(await service.readings())]);
      server.listen(where.port, where.host);
      const origin = await listening(server, { ...where, option: '--metrics' });
      stop = async () => void (await drainable(server)());
      return `${origin}/metrics`;
    },
    stop: () => stop(),
  };
}

/** Spans of requests and calls where a variable of OpenTelemetry (OTEL_*) is set; else loads nothing. */
export async function startTraces(environment: NodeJS.ProcessEnv, log: Log): Promise<Traces | null> {
  const isAsked = Object.keys(environment).some((name) => name.startsWith('OTEL_'));
  if (!isAsked || environment.OTEL_SDK_DISABLED === 'true') return null;
  return (await import('./traces.ts')).openTraces(environment, log);
}

/** The meter for metrics, traces or both; undefined if nothing is measured. */
export function meterOf({ isOn, meter }: Pick<typeof NONE, 'isOn' | 'meter'>, traces: Traces | null) {
  if (!traces) return isOn ? meter : undefined;
  const both: Meter = (what, labels, amount) => {
    meter(what, labels, amount);
    traces.meter(what, labels, amount);
  };
  return both;
}
