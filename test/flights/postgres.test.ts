import { afterAll, beforeAll, describe } from 'vitest';
import { getCurrentSuite } from 'vitest/suite';
import { proofDescribe } from '../proof-only.ts';
import { isProof, rounds } from '../rounds.ts';
import { migratedStore } from '../service/migrated.ts';
import { newDatabases, postgresIsInstalled } from '../store/postgres.ts';
import { worldDatabase } from './world-database.ts';

/**
 * The journeys that move money or forget people, on PostgreSQL as on a file: the very same tests, once more. In the gate
 * those whose locks, claims, conflicts or statements are others there; in the proof all of them.
 */

/** Declares the tests of a file once more: this process may have loaded it already. */
const again = (file: string): Promise<void> => import(`${file}?on-postgres`).then(() => undefined);

/** Keeps of the tests and describes that the imported file declared those whose titles begin so. */
function keepInGate(...titles: string[]): void {
  if (isProof) return;
  const { tasks } = getCurrentSuite();
  const gone = titles.filter((title) => !tasks.some(({ name }) => name.startsWith(title)));
  if (gone.length > 0) throw new Error(`no test is called ${gone.join(', ')}`);
  tasks.splice(0, tasks.length, ...tasks.filter(({ name }) => titles.some((title) => name.startsWith(title))));
}

describe.skipIf(!postgresIsInstalled)(
  postgresIsInstalled ? 'on PostgreSQL' : 'on PostgreSQL: skipped, no PostgreSQL binary is installed',
  async () => {
    let databases: Awaited<ReturnType<typeof newDatabases>>;
    const inAFile = { ...worldDatabase };
    beforeAll(async () => {
      databases = await newDatabases(migratedStore);
      worldDatabase.next = databases.next;
      worldDatabase.stride = rounds(11, 1);
    });
    afterAll(async () => {
      Object.assign(worldDatabase, inAFile);
    });
    describe('refund requests', async () => {
      await again('./refunds/requests.test.ts');
      keepInGate('a refund request');
    });
    describe('approvals', async () => {
      await again('./refund-treasury.test.ts');
      keepInGate('an approval of more than the treasury holds');
    });
    proofDescribe('the sweeper', () => again('./upkeep/sweeper.test.ts'));
    describe('lowcost', async () => {
      await again('./offers/lowcost.test.ts');
      keepInGate('two processes page through one search', 'the answer to a purchase is lost');
    });
    describe('affiliates', async () => {
      await again('./bookings/affiliates.test.ts');
      keepInGate('credit is pending from the capture', 'several workers at once');
    });
    describe('a database that was put back', async () => {
      await again('./reconcile.test.ts');
      keepInGate('every act that a database forgot');
    });
    proofDescribe('bookings that are authorized', () => again('./authorized.test.ts'));
    describe('what is stuck', async () => {
      await again('./desk/stuck-others.test.ts');
      keepInGate('what one operator says of a case', 'a cancellation that begins while an operator');
    });
  },
);
