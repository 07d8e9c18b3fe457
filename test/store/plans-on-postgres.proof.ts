import { afterAll, beforeAll, describe } from 'vitest';
import { worldDatabase } from '../flights/world-database.ts';
import { proofDescribe } from '../proof-only.ts';
import { newDatabases, postgresIsInstalled } from './postgres.ts';

/** The same lives as on a file, held against what PostgreSQL means to do for each statement. */
describe.skipIf(!postgresIsInstalled)('on PostgreSQL', async () => {
  let databases: Awaited<ReturnType<typeof newDatabases>>;
  const inAFile = worldDatabase.next;
  beforeAll(async () => {
    databases = await newDatabases();
    worldDatabase.next = databases.next;
  });
  afterAll(async () => {
    worldDatabase.next = inAFile;
  });
  describe('flights', () => import('./plans-flights.test.ts').then(() => undefined));
  proofDescribe('partners', () => import('./plans-partner.test.ts').then(() => undefined));
});
