import { expect, test } from 'vitest';
import { trustOf } from '../../../src/cli/session/paying.ts';
import { profileOf } from '../../../src/cli/session/profile-in-use.ts';
import type { GlobalOptions } from '../../../src/cli/settings/profile.ts';
import { lineOf } from '../../../src/kernel/shell-word.ts';
import type { Terminal } from '../../../src/terminal/terminal.ts';
import { worldClock } from '../../clock.ts';
import { temporaryHome } from '../memory.ts';

/** The question whether a key that can replace a program is trusted: asked once, and remembered in the home. */

const GLOBALS: GlobalOptions = { timeout: 60_000, color: false, input: true };
const KEY = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const PROGRAM = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';

function terminalThat(answer: boolean, canAsk = true) {
  const said: string[] = [];
  const terminal = {
    canAsk,
    review: (lines: readonly string[]) => void said.push(...lines),
    note: (line: string) => void said.push(line),
    ask: () => ({ confirm: async () => answer }),
  } as unknown as Terminal;
  return { said, terminal };
}

test.each(['environment', 'staging'])('a yes is remembered in profile %s, and a no is not', async (name) => {
  const place = temporaryHome();
  const { home } = place;
  const environment: Record<string, string> =
    name === 'environment' ? { FARELOCK_FLIGHTS_URL: 'https://flights.example' } : {};
  const profileNow = async () => {
    const profile = await profileOf(environment, GLOBALS, home, home);
    return { ...profile, name };
  };
  try {
    const before = { profile: await profileNow(), home, clock: worldClock };
    const no = terminalThat(false);
    const doubting = trustOf({ ...before, terminal: no.terminal });
    expect(await doubting.accept?.(PROGRAM, KEY)).toBe(false);
    expect(doubting.isAccepted(KEY)).toBe(false);
    expect(no.said.join('\n')).toContain(`${KEY} can replace it`);

    const yes = terminalThat(true);
    const trusting = trustOf({ ...before, terminal: yes.terminal });
    expect(await trusting.accept?.(PROGRAM, KEY)).toBe(true);
    expect(trusting.isAccepted(KEY)).toBe(true);
    const globals = name === 'environment' ? GLOBALS : { ...GLOBALS, profile: name };
    const after = await profileOf(environment, globals, home, home);
    expect(after.upgradeAuthorities).toEqual([KEY]);
  } finally {
    place.close();
  }
});

test('nobody who is not there is asked: the command that says yes is named', async () => {
  const profile = await profileOf({}, GLOBALS, '/nowhere', '/nowhere');
  const given = { profile: { ...profile, name: 'staging' }, home: '/nowhere', clock: worldClock };
  const trust = trustOf({ ...given, terminal: terminalThat(true, false).terminal });
  expect(trust.accept).toBeNull();
  expect(lineOf(trust.acceptCommand(KEY))).toBe(`farelock config set upgrade_authorities ${KEY} --profile staging`);
});
