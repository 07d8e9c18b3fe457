import type { FlightsPorts } from '../ports.ts';

/** The ports of the sweeper. */
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
