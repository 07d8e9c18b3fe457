import { afterAll, beforeAll, describe } from 'vitest';
import { rounds } from '../rounds.ts';
import { migratedStore } from '../service/migrated.ts';
import { newDatabases, postgresIsInstalled } from '../store/postgres.ts';
import { worldDatabase } from './world-database.ts';

/** The journeys that move money or forget people, on PostgreSQL as on a file: the very same tests, once more. */

describe.skipIf(!postgresIsInstalled)(
  postgresIsInstalled ? 'on PostgreSQL' : 'on PostgreSQL: skipped, no PostgreSQL binary is installed',
  async () => {
    let databases: Awaited<ReturnType<typeof newDatabases>>;
    const inAFile = worldDatabase.next;
    beforeAll(async () => {
      databases = await newDatabases(migratedStore);
      worldDatabase.next = databases.next;
      worldDatabase.stride = rounds(5, 1);
    });
    afterAll(async () => {
      Object.assign(worldDatabase, { next: inAFile, stride: 1 });
      await databases.close();
    });
    describe('refund requests', () => import('./refunds/requests.test.ts').then(() => undefined));
    describe('approvals', () => import('./refund-treasury.test.ts').then(() => undefined));
    describe('the sweeper', () => import('./upkeep/sweeper.test.ts').then(() => undefined));
    describe('lowcost', () => import('./offers/lowcost.test.ts').then(() => undefined));
    describe('affiliates', () => import('./bookings/affiliates.test.ts').then(() => undefined));
    describe('a database that was put back', () => import('./reconcile.test.ts').then(() => undefined));
    describe('what is stuck', () => import('./desk/stuck-others.test.ts').then(() => undefined));
  },
);
