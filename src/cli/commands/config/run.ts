import { join } from 'node:path';
import { didYouMean } from '../../../kernel/nearest.ts';
import { problem } from '../../../kernel/problems.ts';
import { farelock, lineOf, shell } from '../../../kernel/shell-word.ts';
import { writeWhole } from '../../../kernel/storage.ts';
import { type ListColumn, listView, type Screen } from '../../../terminal/index.ts';
import {
  type Environment,
  givenTo,
  isKept,
  isProfileName,
  KEPT_NAMES,
  type KeptName,
  OUTSIDE,
  readSetting,
  rowOf,
  SETTING_NAMES,
  type SettingName,
  type Settings,
  type SettingValues,
  USUAL_PER_CALL,
  type UserSettings,
  wrongVariables,
} from '../../settings/index.ts';
import type { CommandContext, Run } from '../../spec/index.ts';
import type { DocumentOf } from '../../spec/published.ts';
import { printPlan } from '../../view/index.ts';
import { changed, settingsInEffect, withoutSecrets, withProfile } from './index.ts';
import type * as result from './result.ts';
import type * as spec from './spec.ts';

type ListedSetting = DocumentOf<typeof result.configGet>;

export const configList: Run<typeof spec.configList> = async (context, { showOrigin }) => {
  const settings = await settingsInEffect(context);
  const listed: ListedSetting[] = [
    { key: 'profile', ...settings.profile },
    ...KEPT_NAMES.map((key) => listedSetting(settings, key)),
  ];
  context.terminal.result({ settings: listed }, listedView(showOrigin === true));
  return 0;
};

function listedSetting(settings: Settings, key: KeptName): ListedSetting {
  const found = settings.values.get(key);
  if (found) return { key, ...found, value: withoutSecrets(key, found.value) };
  const value = key === 'limits.per_call' ? USUAL_PER_CALL : settings.isEmbedded ? embedded(key) : null;
  return { key, value, origin: 'default', source: null };
}

const embedded = (key: KeptName): string | null =>
  key === 'flights_url' || key === 'partner_url' || key === 'rpc_url' ? 'embedded' : null;

const listedView = (showOrigin: boolean) =>
  listView('settings', {
    columns: (screen) => [
      { title: 'Setting', cell: ({ key }) => key },
      { title: 'Value', cuts: true, cell: ({ value }) => value ?? screen.paint.dim('–') },
      ...(showOrigin ? [originColumn(screen)] : []),
    ],
    row: ({ key, value, origin, source }: ListedSetting) => (showOrigin ? [key, value, origin, source] : [key, value]),
  });

const originColumn = ({ paint }: Screen): ListColumn<ListedSetting> => ({
  title: 'From',
  cuts: true,
  cell: ({ origin, source }) => paint.dim(source === null ? origin : `${origin}  ${source}`),
});

type ShownSetting = DocumentOf<typeof result.configShow>['settings'][number];

/** Shows every setting, or only those that are set. A wrong value is shown as such and does not end the command. */
export const configShow: Run<typeof spec.configShow> = async (context, { effective }) => {
  const { environment } = context;
  const wrong = new Map(wrongVariables(environment).map(({ name, problem }) => [name, problem]));
  const sound = { ...environment };
  for (const name of wrong.keys()) {
    const { env } = rowOf(name);
    for (const variable of [env ?? '', `${env}_FILE`]) delete sound[variable];
  }
  const settings = await settingsInEffect({ ...context, environment: sound });
  const all = SETTING_NAMES.map((key): ShownSetting => {
    const { of, env, secret = false } = rowOf(key);
    const problem = wrong.get(key);
    const found = problem ? { value: null, origin: 'environment', source: env } : inEffect(key, settings, sound);
    return { key, of, ...found, variable: env, secret, wrong: problem?.message ?? null };
  });
  const shown = effective ? all : all.filter(({ origin }) => origin !== 'default');
  context.terminal.result({ settings: shown }, shownView);
  return 0;
};

function inEffect(key: SettingName, settings: Settings, environment: Environment): Omit<ListedSetting, 'key'> {
  if (key === 'profile') return settings.profile;
  if (isKept(key)) return listedSetting(settings, key);
  const given = givenTo(key, environment);
  const { secret, usual = null } = rowOf(key);
  if (given === undefined) return { value: usual, origin: 'default', source: null };
  return { value: secret ? null : withoutSecrets(key, given.text), origin: given.origin, source: given.source };
}

const valueText = ({ value, source, secret }: ShownSetting) => (secret && source !== null ? '(set)' : value);

const shownView = listView('settings', {
  none: 'Nothing is set.',
  columns: (screen) => [
    { title: 'Setting', cell: ({ key }) => key },
    {
      title: 'Value',
      cuts: true,
      cell: (one) => (one.wrong === null ? (valueText(one) ?? screen.paint.dim('–')) : screen.paint.bad(one.wrong)),
    },
    originColumn(screen),
  ],
  row: (one: ShownSetting) => [one.key, valueText(one), one.origin, one.source, one.wrong],
});

export const configGet: Run<typeof spec.configGet> = async (context, { key }) => {
  const settings = await settingsInEffect(context);
  const name = key === 'profile' ? null : keptNamed(key);
  const found = name === null ? settings.profile : settings.values.get(name);
  const value = found?.value ?? (name === null ? null : listedSetting(settings, name).value);
  context.terminal.result(
    { key, value, origin: found?.origin ?? 'default', source: found?.source ?? null },
    { lines: () => (value === null ? [] : [value]) },
  );
  return 0;
};

/** Sets a setting. A secret is read from standard input and kept in a file of its own. */
export const configSet: Run<typeof spec.configSet> = async (context, { key, value }) => {
  if (key === 'profile') {
    const { useProfile } = await import('./profile.ts');
    return useProfile(context, value);
  }
  const profile = changedProfile(context);
  const name = isSecretName(key) ? keptNamed(`${key}_file`) : keptNamed(key);
  checkPlace(profile, name);
  sayLimits(context, name, value);
  const text = isSecretName(key) ? await keepSecret(context, profile, key, value) : readSetting(name, value, key);
  const shown = withoutSecrets(name, text);
  return changed(
    context,
    [`Set ${name} of profile ${profile} to ${shown}.`],
    (settings) => withProfile(settings, profile, (own) => ({ ...withoutRival(own, name), [name]: text })),
    { profile, key: name, value: shown },
    `${name} of profile ${profile} is ${shown}`,
  );
};

export const configUnset: Run<typeof spec.configUnset> = async (context, { key }) => {
  const named = isSecretName(key) ? `${key}_file` : key;
  const steps = [`Unset ${named}.`];
  if (context.globals.dryRun) return printPlan(context.terminal, steps);
  if (named === 'profile') {
    const local = (settings: UserSettings) => ({ ...settings, profile: null });
    return changed(context, steps, local, { key: named, unset: true }, 'The profile in use is local');
  }
  const name = keptNamed(named);
  const profile = changedProfile(context);
  sayLimits(context, name, 'none');
  return changed(
    context,
    steps,
    (settings) => withProfile(settings, profile, ({ [name]: _gone, ...rest }) => rest),
    { profile, key: name, unset: true },
    `${name} of profile ${profile} is not set`,
  );
};

/** Notes that limits now have a command of their own; `config set` still takes them. */
function sayLimits({ terminal, session }: CommandContext, name: KeptName, value: string): void {
  const { of, flag } = rowOf(name);
  if (of !== 'limits') return;
  const command = farelock`wallet limits set ${flag ?? ''} ${value} --profile ${session.profile.name}`;
  terminal.aside([`${name} is now set with ${lineOf(command)}`]);
}

/** Drops `rpc_url` and `cluster` before one of them is set, since both name the cluster. */
function withoutRival(own: SettingValues, setting: SettingName): SettingValues {
  const { rpc_url: _url, cluster: _cluster, ...rest } = own;
  return setting === 'rpc_url' || setting === 'cluster' ? rest : own;
}

/** @throws Problem `usage` for a profile made of addresses in the environment, which has no place in the file */
function changedProfile({ session }: CommandContext): string {
  const { name } = session.profile;
  if (isProfileName(name)) return name;
  throw problem('usage', {
    message: 'This profile comes from environment variables and has no settings of its own.',
    fix: 'Name one with --profile, or add one.',
    next: [farelock`config profile add <name> --flights-url <url>`],
  });
}

/** @throws Problem `usage` listing the settings */
function keptNamed(key: string): KeptName {
  const name = key.replaceAll('-', '_');
  if (isKept(name)) return name;
  throw problem('usage', {
    message: `There is no setting "${key}". ${didYouMean(name, KEPT_NAMES)}`.trim(),
    fix: `The settings are profile, ${KEPT_NAMES.join(', ')}; from standard input also ${SECRET_NAMES.join(', ')}.`,
  });
}

/** @throws Problem `usage` for a setting that the embedded profile can't have */
function checkPlace(profile: string, name: KeptName): void {
  if (profile !== 'local' || !OUTSIDE.some((outside) => outside === name)) return;
  throw problem('usage', {
    message: `Profile local is embedded: it has no ${name}.`,
    fix: 'Add a profile for another service.',
    next: [farelock`config profile add <name> --flights-url <url>`],
  });
}

/** A secret is not a setting: a private file keeps it, and a setting names the file. */
const SECRET_NAMES = ['api_key', 'customer_token', 'operator_key'] as const;

type SecretName = (typeof SECRET_NAMES)[number];

const isSecretName = (name: string): name is SecretName => SECRET_NAMES.some((one) => one === name);

/**
 * Reads a secret from standard input and keeps it in a file of the home, mode 0600.
 * @returns the file's path
 * @throws Problem `usage` for a secret in argv, where other processes and the shell's history can read it
 */
async function keepSecret(
  { session, globals, streams }: CommandContext,
  profile: string,
  name: SecretName,
  value: string,
): Promise<string> {
  // A dry run does not even read the secret.
  if (globals.dryRun && value === '-') return 'a private file of the home';
  if (value !== '-') {
    throw problem('usage', {
      message: `${name} does not belong on the command line: others can read it there.`,
      fix: 'Write - and send the key on standard input. Replace a key that you typed here.',
      next: [shell`farelock config set ${name} - < key.txt`],
    });
  }
  const secret = (await streams.stdin.text()).trim();
  if (!/^[\x21-\x7e]{8,16000}$/.test(secret)) {
    throw problem('usage', {
      message: 'Standard input is not one line with a key.',
      fix: `Pipe it in: farelock config set ${name} - < key.txt`,
    });
  }
  const path = join(session.home, 'keys', `${profile}.${name.replaceAll('_', '-')}`);
  writeWhole(path, `${secret}\n`);
  return path;
}
