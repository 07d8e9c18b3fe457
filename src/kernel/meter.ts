/** Measurements of a process, by what is measured. Their labels have few values each: no ids, no addresses of people. */
export interface Measured {
  /** `route`: the declared path. */
  request: { readonly route: string; readonly method: string; readonly code: string };
  /** A request that was turned away under load. */
  shed: { readonly why: 'requests' | 'event_loop' };
  /** A payment's outcome; with the time from sending to knowing, for those that were sent here. */
  payment: { readonly outcome: 'settled' | 'refused' | 'failed' | 'unknown' };
  rpc: { readonly endpoint: string; readonly method: string; readonly result: string };
  /** Slots by which an answer was behind the newest known one, not seconds. */
  slot_lag: { readonly endpoint: string };
  airline: { readonly airline: string; readonly call: string; readonly result: string };
}

/** Takes a measurement; some have seconds. */
export type Meter = <M extends keyof Measured>(what: M, labels: Measured[M], amount?: number) => void;

export const noMeter: Meter = () => undefined;

/** Runs `work` and gives its error (undefined: none) and seconds to `ended`. */
export async function timed<T>(work: () => Promise<T>, ended: (error: unknown, seconds: number) => void): Promise<T> {
  // The clock of node:perf_hooks takes ten modules to load.
  const begun = process.uptime();
  const seconds = () => process.uptime() - begun;
  try {
    const result = await work();
    ended(undefined, seconds());
    return result;
  } catch (error) {
    ended(error, seconds());
    throw error;
  }
}
