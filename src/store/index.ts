export * from './leases.ts';
export * from './marks.ts';
export * from './open.ts';
export * from './piles.ts';
export * from './queue.ts';
export * from './remove.ts';
export * from './retry.ts';
export * from './watch.ts';
