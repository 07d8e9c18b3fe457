import { accessSync, constants } from 'node:fs';
import { hostname } from 'node:os';
import { sql } from 'kysely';
import { auditAlone, BY_SERVICE, defaultOptions as usual } from '../flights/base/index.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Ids } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { formatUsdc } from '../kernel/money.ts';
import { problem } from '../kernel/problems.ts';
import { loadCompliancePolicy } from '../partner/compliance/index.ts';
import { inTurn } from '../store/base/index.ts';
import { MOST_AHEAD_MS, markOnce, readMark, serverAheadMs } from '../store/index.ts';
import { plannedSellers } from './airlines.ts';
import type { Home } from './home.ts';
import type { ServiceOptions } from './types.ts';

/** The settings that all processes of one PostgreSQL share, as texts for a person; no secrets. */
type Fleet = Readonly<Record<string, string>>;

const FLEET = 'fleet_settings';

async function fleetOf({ cluster, program }: Home, options: ServiceOptions): Promise<Fleet> {
  const { caps, seed = 'farelock', purgeAfterDays = usual.purgeAfterDays, partner } = options;
  const usdc = (amount: bigint | null | undefined) => (amount == null ? 'none' : `${formatUsdc(amount)} USDC`);
  const [provider, lowcost] = plannedSellers(options).map(({ name }) => name);
  const { loadPolicy } = await loadCompliancePolicy();
  return {
    escrow_program: program,
    usdc_mint: cluster.usdcMint,
    provider: provider ?? 'none',
    lowcost: lowcost ?? 'none',
    ...([provider, lowcost].includes('sandbox') && { seed }),
    cap_per_booking: usdc(caps?.perPayment),
    cap_per_day: usdc(caps?.perDay),
    most_creations: String(options.mostCreations ?? usual.mostUnpaidCreations),
    hold_after_ticket: String(options.holdAfterTicketMinutes ?? 0),
    purge_after_days: String(purgeAfterDays),
    retention_days: String(loadPolicy(partner?.compliancePolicyFile).retentionDays),
  };
}

/**
 * Saves the settings of a database's first process, and requires them of every later one. Accepted changes become
 * those of all processes, and are audited. @throws Problem `fleet_differs`
 */
export async function joinFleet(
  home: Home,
  options: ServiceOptions,
  { clock, ids }: { readonly clock: Clock; readonly ids: Ids },
): Promise<void> {
  const { store } = home;
  const mine = await fleetOf(home, options);
  const noted = JSON.parse(await markOnce(store, FLEET, JSON.stringify(mine))) as Fleet;
  const changes = differencesOf(noted, mine);
  if (changes.length > 0 && !options.acceptsChanges) throw differs(changes);
  if (changes.length === 0 && Object.keys(mine).every((name) => name in noted)) return;
  await inTurn(store, [FLEET], async (tx) => {
    const now = JSON.parse((await readMark(tx, FLEET)) ?? '{}') as Fleet;
    const value = JSON.stringify({ ...now, ...mine });
    await sql`update meta set value = ${value} where key = ${FLEET}`.execute(tx);
  });
  for (const { setting, database, here } of changes) {
    const act = { ...BY_SERVICE, action: 'fleet.change', subject: setting, detail: { from: database, to: here } };
    await auditAlone({ store, clock, ids }, act);
  }
}

/** Warns at the start about everything that a read-only home prevents. Keys and PostgreSQL work without writing. */
export function sayWhatNeedsDisk(options: ServiceOptions, { log }: { readonly log: Log }): void {
  try {
    accessSync(options.home, constants.W_OK);
  } catch {
    const { smtpUrl, pageUrl, telegramToken } = options.notify ?? {};
    const needs = [
      plannedSellers(options).some(({ name }) => name === 'sandbox') && 'the sandbox airline tickets nothing',
      smtpUrl === undefined && 'mails wait for FARELOCK_SMTP_URL',
      pageUrl === undefined && telegramToken === undefined && 'pages wait for FARELOCK_PAGE_URL',
    ].filter((one) => one !== false);
    if (needs.length > 0)
      log('warn', 'home_not_writable', {
        home: options.home,
        message: `${options.home} is read-only: ${needs.join(', ')}.`,
      });
  }
}

/** Compares this machine's clock with the database's. @throws Problem `clock_differs` */
export async function checkClock({ store }: Home, { clock }: { readonly clock: Clock }): Promise<void> {
  const aheadMs = await serverAheadMs(store, clock);
  if (aheadMs === null || Math.abs(aheadMs) <= MOST_AHEAD_MS) return;
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const side = aheadMs > 0 ? 'behind' : 'ahead of';
  throw problem('clock_differs', {
    message: `The clock of ${hostname()} is ${seconds} seconds ${side} the database's.`,
    detail: { machine: hostname(), seconds: aheadMs > 0 ? -seconds : seconds },
  });
}

/** Ignores a setting that only one side knows: it belongs to another version. */
const differencesOf = (noted: Fleet, mine: Fleet) =>
  Object.entries(mine).flatMap(([setting, here]) => {
    const database = noted[setting];
    return database === undefined || database === here ? [] : [{ setting, database, here }];
  });

const differs = (changes: ReturnType<typeof differencesOf>) =>
  problem('fleet_differs', {
    message: `The processes of this database run with other settings: ${changes
      .map(({ setting, database, here }) => `${setting} is ${database} there and ${here} here`)
      .join('; ')}.`,
    detail: { differences: changes },
  });
