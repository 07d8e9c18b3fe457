import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { openStore, type ServiceTables } from '../../../src/service/home.ts';
import { type Leased, takeRow, whileHeld } from '../../../src/store/leases.ts';

// Takes the pay-out `one` of the database <url>, and says whether it got it; with `hold`, keeps it until it is ended.
const [url, how] = process.argv.slice(2);
if (!url) throw new Error('the address is missing');
const PAYOUTS: Leased<ServiceTables, 'affiliate_payouts'> = {
  table: 'affiliate_payouts',
  key: 'payout_id',
  open: sql`state = 'open'`,
  leaseMs: 10_000,
  mostMs: 60_000,
};
const store = await openStore(url);
const ports = { store, clock: systemClock, log: silentLog };
const row = await takeRow(ports, PAYOUTS, 'one');
process.stdout.write(`${row ? 'taken' : 'held by another'}\n`);
if (row && how === 'hold') await whileHeld(ports, PAYOUTS, row, () => sleep(600_000));
await store.destroy();
