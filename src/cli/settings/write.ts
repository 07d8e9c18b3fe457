import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { makeFolder, onFile } from '../../kernel/storage.ts';
import { readUserSettings, type SettingValues, type UserSettings } from './file.ts';
import { userFileOf } from './profile.ts';

/** The user's own file, without other sources; empty if there is none. @throws Problem `settings_invalid` */
export function readOwnSettings(home: string): UserSettings {
  const path = userFileOf(home);
  return existsSync(path) ? readUserSettings(path) : { path, profile: null, limits: {}, profiles: {} };
}

const LOCK_PAUSE_MS = 50;

/** An older lock belongs to a process that is gone. */
const STALE_LOCK_MS = 5_000;

/**
 * Changes the user's settings file, which is written whole or not at all, mode 0600. Two commands at once take turns,
 * so that neither overwrites what the other has written, such as a lower limit.
 * @throws Problem `settings_invalid`
 */
export async function changeUserSettings(
  home: string,
  clock: Clock,
  change: (settings: UserSettings) => UserSettings,
): Promise<UserSettings> {
  const path = userFileOf(home);
  onFile(path, () => makeFolder(dirname(path)));
  const unlock = await locked(`${path}.lock`, clock);
  try {
    const after = change(readOwnSettings(home));
    const { default: Conf } = await import('conf');
    const conf = new Conf<Record<string, unknown>>({
      cwd: home,
      configName: 'config',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
    });
    onFile(path, () => {
      conf.store = fileOf(after);
      chmodSync(path, 0o600);
    });
    return after;
  } finally {
    unlock();
  }
}

async function locked(path: string, clock: Clock): Promise<() => void> {
  for (let waitedMs = 0; ; waitedMs += LOCK_PAUSE_MS) {
    try {
      mkdirSync(path, { mode: 0o700 });
      return () => rmSync(path, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (waitedMs > STALE_LOCK_MS) {
      if (isStale(path)) moveAway(path);
      else throw problem('timed_out', { message: 'Another command is changing the settings.' });
    }
    await clock.sleep(LOCK_PAUSE_MS);
  }
}

/** Renames a stale lock before removing it: of two commands that find it stale, one takes it away. */
function moveAway(path: string): void {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  rmSync(aside, { recursive: true, force: true });
}

const isStale = (path: string): boolean => {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && Math.abs(Date.now() - found.mtimeMs) > STALE_LOCK_MS;
};

/** Builds the content of the file: limits in a table of their own, hosts as a list. */
function fileOf(settings: UserSettings): Record<string, unknown> {
  const limits = limitsOf(settings.limits);
  return {
    ...(settings.profile !== null && { profile: settings.profile }),
    ...(limits && { limits }),
    ...(Object.keys(settings.profiles).length > 0 && {
      profiles: Object.fromEntries(
        Object.entries(settings.profiles).map(([name, values]) => {
          const own = limitsOf(values);
          const rest = Object.entries(values).filter(([key]) => !key.startsWith('limits.'));
          return [name, { ...Object.fromEntries(rest), ...(own && { limits: own }) }];
        }),
      ),
    }),
  };
}

function limitsOf(values: SettingValues): Record<string, unknown> | null {
  const limits = Object.entries(values)
    .filter(([key]) => key.startsWith('limits.'))
    .map(([key, value]) => [
      key.slice('limits.'.length),
      key === 'limits.hosts' ? value.split(',').filter(Boolean) : value,
    ]);
  return limits.length === 0 ? null : Object.fromEntries(limits);
}
