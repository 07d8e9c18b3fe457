import { didYouMean } from '../../../kernel/nearest.ts';
import { problem } from '../../../kernel/problems.ts';
import { farelock } from '../../../kernel/shell-word.ts';
import { shownUrls } from '../../../kernel/shown-url.ts';
import { rpcNames } from '../../../solana/index.ts';
import { listView } from '../../../terminal/index.ts';
import {
  isProfileName,
  KEPT_NAMES,
  loadWrite,
  readSetting,
  rowOf,
  type SettingValues,
  textsOf,
  type UserSettings,
} from '../../settings/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import { nextLines } from '../../view/index.ts';
import { changed, settingsInEffect, withoutSecrets, withProfile } from './index.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';

type ListedProfile = DocumentOf<typeof result.configProfileList>['profiles'][number];

export const profileList: Run<typeof spec.configProfileList> = async (context) => {
  const { profile } = await settingsInEffect(context);
  const { readOwnSettings } = await loadWrite();
  const { profiles } = readOwnSettings(context.session.home);
  const names = [...new Set(['local', ...Object.keys(profiles), profile.value])];
  const listed = names.map((name): ListedProfile => {
    const own = profiles[name] ?? {};
    return {
      name,
      used: name === profile.value,
      flights_url: name === 'local' ? 'embedded' : shownOrNull(own.flights_url),
      partner_url: shownOrNull(own.partner_url) ?? (name === 'local' ? 'embedded' : null),
      cluster: name === 'local' ? 'embedded' : (own.cluster ?? shownOrNull(own.rpc_url)),
    };
  });
  context.terminal.result({ profiles: listed }, profilesView);
  return 0;
};

const shownOrNull = (address: string | undefined): string | null =>
  address === undefined ? null : shownUrls(rpcNames(address));

const profilesView = listView('profiles', {
  columns: ({ paint }) => [
    { title: ' ', cell: ({ used }) => (used ? paint.good('*') : '') },
    { title: 'Profile', cell: ({ name }) => name },
    { title: 'Flights', cell: (one) => one.flights_url ?? '–' },
    { title: 'Partner', cell: (one) => one.partner_url ?? '–' },
    { title: 'Cluster', cell: ({ cluster }) => cluster ?? '–' },
  ],
  row: (one: ListedProfile) => [one.used ? '*' : '', one.name, one.flights_url, one.partner_url, one.cluster],
});

/** Adds a profile; never overwrites an existing one. */
export const profileAdd: Run<typeof spec.configProfileAdd> = async (context, options) => {
  const { name } = options;
  if (!isProfileName(name) || name === 'local') {
    throw problem('usage', {
      message: `"${name}" cannot be the name of a profile.`,
      fix: 'Use letters, digits, - and _; local and environment are taken.',
    });
  }
  const settings = settingsGiven({ ...options, keypair: context.globals.keypair });
  if (settings.flights_url === undefined && settings.partner_url === undefined) {
    throw problem('usage', {
      message: 'A profile needs the address of a service.',
      fix: 'Add --flights-url, --partner-url or both.',
    });
  }
  if (settings.rpc_url !== undefined && settings.cluster !== undefined) {
    throw problem('usage', { message: 'Use either --rpc-url or --cluster, not both.', fix: 'Leave one of them out.' });
  }
  const add = (before: UserSettings) => {
    if (Object.hasOwn(before.profiles, name)) {
      throw problem('usage', {
        message: `A profile ${name} already.`,
        fix: 'Change it with config set, or remove it first.',
        next: [farelock`config set <key> <value> --profile ${name}`],
      });
    }
    return { ...withProfile(before, name, () => settings), ...(options.use && { profile: name }) };
  };
  const shown = Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, withoutSecrets(key, value)]));
  const document = { profile: name, settings: shown, used: options.use === true };
  const said = `Profile ${name} is added${options.use ? ' and in use' : ''}`;
  await changed(context, [`Add profile ${name}.`], add, document, said);
  if (!options.use && !context.globals.dryRun) context.terminal.aside(nextLines(`farelock config profile use ${name}`));
  return 0;
};

function settingsGiven(options: object): SettingValues {
  const texts = textsOf(options);
  const settings: SettingValues = {};
  for (const name of KEPT_NAMES) {
    const text = texts[name];
    if (text !== undefined) settings[name] = readSetting(name, text, rowOf(name).flag ?? name);
  }
  return settings;
}

export const profileUse: Run<typeof spec.configProfileUse> = (context, { name }) => useProfile(context, name);

export async function useProfile(context: CommandContext, name: string): Promise<0> {
  const { terminal, environment, globals } = context;
  const use = (settings: UserSettings) => {
    if (name !== 'local') checkKnown(settings, name);
    return { ...settings, profile: name === 'local' ? null : name };
  };
  await changed(context, [`Use profile ${name}.`], use, { profile: name, used: true }, `Profile ${name} is in use`);
  const variable = ['FARELOCK_PROFILE', 'FARELOCK_FLIGHTS_URL'].find((one) => environment[one]);
  if (variable !== undefined && !globals.dryRun) terminal.note(`${variable} is set and takes precedence.`);
  return 0;
}

/** Removes a profile, but not the key files that it names. */
export const profileRemove: Run<typeof spec.configProfileRemove> = (context, { name }) => {
  const remove = (settings: UserSettings) => {
    checkKnown(settings, name);
    const { [name]: _gone, ...profiles } = settings.profiles;
    return { ...settings, profiles, profile: settings.profile === name ? null : settings.profile };
  };
  const document = { profile: name, removed: true };
  return changed(context, [`Remove profile ${name}.`], remove, document, `Profile ${name} is removed`);
};

function checkKnown({ profiles }: UserSettings, name: string): void {
  if (Object.hasOwn(profiles, name)) return;
  throw problem('usage', {
    message: `There is no profile "${name}". ${didYouMean(name, ['local', ...Object.keys(profiles)])}`.trim(),
    fix: `Known: ${['local', ...Object.keys(profiles)].join(', ')}.`,
    next: [farelock`config profile list`],
  });
}
