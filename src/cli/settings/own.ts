import { existsSync } from 'node:fs';
import { userFileOf } from '../session/profile.ts';
import { readUserSettings, type UserSettings } from './file.ts';

/** The user's own settings, with nothing over them; empty without a file. @throws Problem `settings_invalid` */
export function readOwnSettings(home: string): UserSettings {
  const path = userFileOf(home);
  return existsSync(path) ? readUserSettings(path) : { path, profile: null, limits: {}, profiles: {} };
}
