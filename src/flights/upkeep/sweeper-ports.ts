import type { FlightsPorts } from '../ports.ts';

/** What the sweeper works with. */
export type SweeperPorts = Pick<
  FlightsPorts,
  | 'store'
  | 'clock'
  | 'ids'
  | 'log'
  | 'cluster'
  | 'effects'
  | 'authority'
  | 'outbox'
  | 'options'
  | 'provider'
  | 'lowcost'
>;
