import type { Found, Outcome } from './shrink.ts';
import { BEGINNING_MS } from './world.ts';

const at = (ms: number): string => `${((ms - BEGINNING_MS) / 1000).toFixed(1)}`.padStart(11);

/** What happened, line by line, and what went wrong in between. */
export const storyOf = ({ story }: Outcome): string[] =>
  story.map(({ atMs, who, what }) => `${at(atMs)}  ${who.padEnd(14)} ${what}`);

/** A failing seed as it is printed: how to have it again, which changes it takes, and its story. */
export function reportOf({ schedule, outcome }: Found, world: string): string[] {
  const only = schedule.only === null ? '' : ` --only '${[...schedule.only].join(',')}'`;
  const noise = schedule.noise ? '' : ' --no-noise';
  return [
    '',
    `Seed ${schedule.seed} breaks: ${outcome.violation?.rule}`,
    `  ${outcome.violation?.why.split('\n').join('\n  ')}`,
    `npm run sim -- --world ${world} --seed ${schedule.seed}${noise}${only}`,
    '',
    `It takes ${outcome.changes.length}:`,
    ...outcome.changes.map(({ atMs, key, what }) => `${at(atMs)}  ${key}: ${what}`),
    '',
    'The story:',
    ...storyOf(outcome),
    '',
  ];
}
