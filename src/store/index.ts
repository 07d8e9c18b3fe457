export {
  type Leased,
  LeaseLost,
  type LeasePorts,
  leaseIsOver,
  leaseTime,
  markRow,
  serverAheadMs,
  takeRow,
  unlessLost,
  whileHeld,
} from './leases.ts';
export * from './marks.ts';
export * from './open.ts';
export * from './queue.ts';
export * from './remove.ts';
export * from './retry.ts';
export * from './watch.ts';
