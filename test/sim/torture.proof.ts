import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, test, vi } from 'vitest';
import { chances, rounds, seedOr } from '../rounds.ts';
import { audit, isLeftOpen } from './torture/books.ts';
import { affiliate, flight, lowcost, stuck, unattended } from './torture/flight-lives.ts';
import { openKiller, openPoints } from './torture/killer.ts';
import { type Life, openLife, type Purchases } from './torture/life.ts';
import { compliance, keyed, orders } from './torture/partner-lives.ts';
import { openEmbedded, openRemote, type Victim } from './torture/places.ts';

/**
 * Real processes, killed (kill -9) at each of the system's calls in turn, and taken up as a user would: by the command
 * that was told, the same command again, or the worker. With every second death the power fails, too: what nobody has
 * waited for is gone from the disk. In the end all books are one story. `npm run torture` kills 1,000 times.
 */

const SEED = seedOr(20_261_121);
const folder = mkdtempSync(join(tmpdir(), 'farelock-torture-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HERE: Victim = 'tool and services in one process';

/** How often each kind of life is interrupted. */
const KINDS: readonly (readonly [string, Victim, (life: Life) => Promise<void>, number])[] = [
  ['flight', HERE, flight, 210],
  ['flight', 'service', flight, 150],
  ['flight', 'tool', flight, 120],
  ['lowcost', HERE, lowcost, 100],
  ['lowcost', 'service', lowcost, 50],
  ['affiliate', HERE, affiliate, 70],
  ['stuck', HERE, stuck, 70],
  ['unattended', HERE, unattended, 40],
  ['orders', HERE, orders, 70],
  ['orders', 'service', orders, 50],
  ['compliance', HERE, compliance, 40],
  ['compliance', 'service', compliance, 30],
];

const told = KINDS.map(([kind, victim, live, kills]) => ({ kind, victim, live, kills: rounds(0, kills) }));

// They wait more than they work.
vi.setConfig({ maxConcurrency: 3 });

describe.concurrent.each(told)('$kind', ({ kind, victim, live, kills }) => {
  test(`the ${victim} dies ${kills} times, and the books agree`, async ({ expect }) => {
    const killer = openKiller(folder);
    const place = await (victim === HERE ? openEmbedded(killer) : openRemote(killer, victim));
    const points = openPoints(SEED);
    const purchases: Purchases = new Map();
    const problems: string[] = [];
    const given = { ...{ kind, place, points, purchases, problems }, chance: chances(SEED) };
    try {
      await keyed(place);
      for (let number = 0; points.kills() < kills && number < kills; number++) {
        await live(openLife({ ...given, number }));
      }
      await openLife({ ...given, number: -1 }).unattended('none', () => !isLeftOpen(place.serviceHome));
      problems.push(...audit(place, purchases));
      expect(problems, `seed ${SEED}`).toEqual([]);
      expect(points.kills(), points.report()).toBeGreaterThanOrEqual(kills);
    } finally {
      process.stdout.write(
        `${kind}: ${points.kills()} kills, with ${place.powerFailures()} of them the power failed\n${points.report()}\n`,
      );
      await place.close();
      killer.close();
    }
  }, 1_800_000);
});
