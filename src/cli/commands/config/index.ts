import { shownUrls } from '../../../kernel/shown-url.ts';
import { rpcNames } from '../../../solana/index.ts';
import {
  changeUserSettings,
  resolveSettings,
  type Settings,
  type SettingValues,
  settingsFiles,
  type UserSettings,
} from '../../settings/index.ts';
import type { CommandContext } from '../../spec/index.ts';
import { printPlan } from '../../view/index.ts';

/** The settings of this command line, and the origin of each. */
export const settingsInEffect = ({
  environment,
  globals,
  session,
  folder,
}: Pick<CommandContext, 'environment' | 'globals' | 'session' | 'folder'>): Promise<Settings> =>
  resolveSettings({
    environment,
    globals,
    home: session.home,
    ...settingsFiles(session.home, environment, folder ?? process.cwd()),
  });

export const withProfile = (
  settings: UserSettings,
  name: string,
  change: (own: SettingValues) => SettingValues,
): UserSettings => ({ ...settings, profiles: { ...settings.profiles, [name]: change(settings.profiles[name] ?? {}) } });

/** Hides the key that an RPC provider's address often contains: the output goes to screens and logs. */
export const withoutSecrets = (key: string, value: string): string =>
  key.endsWith('_url') ? shownUrls(rpcNames(value)) : value;

/** Changes the user's settings and says so; a dry run prints the steps instead. */
export async function changed(
  { terminal, session, clock, globals }: CommandContext,
  steps: readonly string[],
  change: (settings: UserSettings) => UserSettings,
  document: object,
  said: string,
): Promise<0> {
  if (globals.dryRun) return printPlan(terminal, steps);
  await changeUserSettings(session.home, clock, change);
  terminal.result(document, { lines: () => [] });
  terminal.done(said);
  return 0;
}
