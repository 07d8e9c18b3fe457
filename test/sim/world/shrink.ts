import type { Schedule } from './chance.ts';
import type { World } from './world.ts';

export type Outcome = ReturnType<World['outcome']>;
export type Play = (schedule: Schedule) => Promise<Outcome>;

export interface Found {
  readonly schedule: Schedule;
  readonly outcome: Outcome;
}

const MOST_TRIES = 160;

/**
 * The smallest part of a failing schedule that still breaks the same rule: without noise, then with fewer and fewer of
 * its changes (delta debugging: Zeller and Hildebrandt, 2002). Whatever is left out leaves the rest as it was.
 */
export async function shrink(play: Play, failing: Found, told: (text: string) => void): Promise<Found> {
  const rule = failing.outcome.violation?.rule;
  let best = failing;
  let tries = 0;
  const breaks = async (schedule: Schedule): Promise<boolean> => {
    if (++tries > MOST_TRIES) return false;
    const outcome = await play(schedule);
    if (outcome.violation?.rule !== rule) return false;
    best = { schedule, outcome };
    told(`${outcome.changes.length} changes left`);
    return true;
  };
  const { seed } = failing.schedule;
  const keys = () => best.outcome.changes.map(({ key }) => key);
  const withOnly = (only: readonly string[], noise = best.schedule.noise): Schedule => ({
    seed,
    noise,
    only: new Set(only),
  });
  await breaks(withOnly(keys(), false));
  for (let parts = 2; ; ) {
    const all = keys();
    if (all.length === 0 || tries > MOST_TRIES) return best;
    const size = Math.ceil(all.length / parts);
    let hasShrunk = false;
    for (let from = 0; from < all.length && !hasShrunk; from += size) {
      hasShrunk = await breaks(withOnly([...all.slice(0, from), ...all.slice(from + size)]));
    }
    if (hasShrunk) parts = Math.max(2, parts - 1);
    else if (size === 1) return best;
    else parts = Math.min(all.length, parts * 2);
  }
}
