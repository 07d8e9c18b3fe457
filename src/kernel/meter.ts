/** The measurements of a process and their labels. A label has few values: no ids, no addresses of people. */
export interface Measured {
  /** `route`: the declared path. */
  request: { readonly route: string; readonly method: string; readonly code: string };
  /** A request that was turned away under load. */
  shed: { readonly why: 'requests' | 'event_loop' };
  /** A payment's outcome, with the seconds from sending to the outcome if this process sent it. */
  payment: { readonly outcome: 'settled' | 'refused' | 'failed' | 'unknown' };
  rpc: { readonly endpoint: string; readonly method: string; readonly result: string };
  /** Counts the slots, not seconds, that an answer is behind the newest known slot. */
  slot_lag: { readonly endpoint: string };
  airline: { readonly airline: string; readonly call: string; readonly result: string };
}

/** `amount`: seconds, or the slots of `slot_lag`. */
export type Meter = <M extends keyof Measured>(what: M, labels: Measured[M], amount?: number) => void;

export const noMeter: Meter = () => undefined;

/** Runs `work`, then calls `ended` with its error, if any, and the seconds it took. */
export async function timed<T>(work: () => Promise<T>, ended: (error: unknown, seconds: number) => void): Promise<T> {
  // node:perf_hooks would load ten modules.
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
