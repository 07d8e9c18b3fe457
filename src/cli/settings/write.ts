import { chmodSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { loadLock } from '../../client/journal/index.ts';
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
const LONGEST_WAIT_MS = 5_000;

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
  const unlock = await locked(path, clock);
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
  const { lockBeside } = await loadLock();
  for (let waitedMs = 0; ; waitedMs += LOCK_PAUSE_MS) {
    const unlock = lockBeside(path);
    if (unlock) return unlock;
    if (waitedMs > LONGEST_WAIT_MS) {
      throw problem('timed_out', { message: 'Another command is changing the settings.' });
    }
    await clock.sleep(LOCK_PAUSE_MS);
  }
}

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
