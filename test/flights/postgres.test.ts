import { afterAll, beforeAll, describe } from 'vitest';
import { postgresIsInstalled, startPostgres, type TestPostgres } from '../store/postgres.ts';
import { worldDatabase } from './world-database.ts';

/** The journeys that move money or forget people, on PostgreSQL as on a file: the very same tests, once more. */

describe.skipIf(!postgresIsInstalled)(
  postgresIsInstalled ? 'on PostgreSQL' : 'on PostgreSQL: skipped, no PostgreSQL binary is installed',
  async () => {
    let server: TestPostgres;
    let databases = 0;
    const inAFile = worldDatabase.next;
    beforeAll(async () => {
      server = await startPostgres();
      worldDatabase.next = async () => {
        const name = `world_${databases++}`;
        const { default: pg } = await import('pg');
        const client = new pg.Client({ connectionString: server.url });
        await client.connect();
        await client.query(`create database ${name}`);
        await client.end();
        const url = new URL(server.url);
        url.pathname = `/${name}`;
        return url.href;
      };
    });
    afterAll(async () => {
      worldDatabase.next = inAFile;
      await server.close();
    });
    describe('refund requests', () => import('./refunds/requests.test.ts').then(() => undefined));
    describe('approvals', () => import('./refund-treasury.test.ts').then(() => undefined));
    describe('the sweeper', () => import('./upkeep/sweeper.test.ts').then(() => undefined));
    describe('lowcost', () => import('./offers/lowcost.test.ts').then(() => undefined));
    describe('affiliates', () => import('./affiliates/affiliates.test.ts').then(() => undefined));
    describe('what is stuck', () => import('./desk/stuck-others.test.ts').then(() => undefined));
  },
);
