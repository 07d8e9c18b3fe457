import { problem } from '../../kernel/problems.ts';
import { known, profileName, readJsonFile, readLimits, type SettingValues } from './file.ts';

/** Settings that a project may have: which of the user's profiles, and limits that are lower than the user's. */
export interface ProjectSettings {
  readonly path: string;
  readonly profile: string | null;
  readonly limits: SettingValues;
}

/**
 * A project file comes with a repository: whoever wrote it is not trusted. It can't name a keypair, an address, a
 * key file or a host, and it can't raise a limit; it is refused rather than ignored when it tries.
 * @throws Problem `settings_invalid` naming file and key
 */
export function readProjectSettings(path: string): ProjectSettings {
  const file = readJsonFile(path, false);
  const forbidden = Object.keys(file).find((key) => FORBIDDEN.has(key));
  if (forbidden !== undefined) {
    throw problem('settings_invalid', {
      message: `${path} sets ${forbidden}, which a project file is not allowed to set.`,
      fix: 'It may choose a profile and lower limits. Set FARELOCK_PROJECT_FILE=off to ignore it.',
      detail: { file: path, key: forbidden },
    });
  }
  known(path, '', file, ['profile', 'limits']);
  return {
    path,
    profile: profileName(path, 'profile', file.profile),
    limits: readLimits(path, 'limits', file.limits),
  };
}

const FORBIDDEN = new Set([
  'profiles',
  'flights_url',
  'partner_url',
  'http_hosts',
  'rpc_url',
  'cluster',
  'keypair',
  'api_key',
  'api_key_file',
  'customer_token',
  'customer_token_file',
  'operator_key',
  'operator_key_file',
]);
