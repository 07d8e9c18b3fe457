import { readBounded } from '../../kernel/bounded-file.ts';
import { didYouMean } from '../../kernel/nearest.ts';
import { isProblem, type Problem, problem } from '../../kernel/problems.ts';
import { farelock } from '../../kernel/shell-word.ts';
import type { Environment } from './profile.ts';
import { SETTING_NAMES, SETTINGS, type Setting, type SettingName } from './table.ts';

export const rowOf = (name: SettingName): Setting => SETTINGS[name];

/** The type of the value that the reader of a setting returns. */
type ValueOf<Name extends SettingName> = NonNullable<ReturnType<(typeof SETTINGS)[Name]['read']>>;

export type SettingTexts = Partial<Record<SettingName, string>>;

/** The text of a setting, and the flag or variable that gives it. */
interface Given {
  readonly text: string;
  readonly origin: 'flag' | 'environment';
  readonly source: string;
}

/** Reads the settings that the options of a command give, as texts: lists are joined, switches left out. */
export function textsOf(options: object): SettingTexts {
  const given = new Map<string, unknown>(Object.entries(options));
  const texts: SettingTexts = {};
  for (const name of SETTING_NAMES) {
    const option = rowOf(name)
      .flag?.slice(2)
      .replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase());
    const value = option && given.get(option);
    const isGiven = typeof value === 'string' || typeof value === 'number' || Array.isArray(value);
    if (isGiven) texts[name] = [value].flat().join(',');
  }
  return texts;
}

/** Returns the flag, else the variable, else the file named by the variable with `_FILE`. @throws Problem `usage` */
export function givenTo(name: SettingName, environment: Environment, flags: SettingTexts = {}): Given | undefined {
  const { env, file, secret, flag = '' } = rowOf(name);
  const option = flags[name];
  if (option !== undefined) return { text: option, origin: 'flag', source: flag };
  if (env === null) return undefined;
  const text = file || secret ? environment[env]?.trim() : environment[env];
  if (text) return { text, origin: 'environment', source: env };
  const path = file && environment[`${env}_FILE`];
  const held = path && contentOf(`${env}_FILE`, path);
  return held ? { text: held, origin: 'environment', source: `${env}_FILE` } : undefined;
}

const MOST_BYTES = 65_536;

function contentOf(variable: string, path: string): string {
  const unreadable = (why: string) =>
    problem('usage', {
      message: `The file that ${variable} names cannot be read (${why}).`,
      fix: 'Check the path and who may read it, or unset the variable.',
    });
  let bytes: Buffer | null;
  try {
    bytes = readBounded(path, { mostBytes: MOST_BYTES });
  } catch (error) {
    throw unreadable((error as NodeJS.ErrnoException).code ?? 'unknown');
  }
  if (!bytes) throw unreadable('too large');
  return bytes.toString('utf8').trim();
}

/** The settings of a command line and its environment, each read when it is used. */
export function settingsIn(environment: Environment, options: object = {}) {
  const flags = textsOf(options);
  /** @throws Problem `usage`, or the code of the setting's row */
  return <const Name extends SettingName>(name: Name): ValueOf<Name> | undefined => {
    const given = givenTo(name, environment, flags);
    return given && readSetting(name, given.text, given.source);
  };
}

/** @throws Problem `usage`, or the code of the setting's row */
export function readSetting<const Name extends SettingName>(name: Name, text: string, source: string): ValueOf<Name> {
  const value = rowOf(name).read(text, process.cwd());
  if (value === undefined) throw refusal(name, text, source);
  return value as ValueOf<Name>;
}

/** The problem for a wrong setting, the same for every source. */
export function refusal(name: SettingName, text: string, source: string): Problem {
  const { read, code = 'usage', example } = rowOf(name);
  const { wanted, choices, isRepeated } = read;
  const hint = isRepeated && choices ? didYouMean(text, choices) : '';
  const wish = isRepeated && choices ? `one of ${choices.join(', ')}` : example;
  return problem(code, {
    message: `${source.endsWith('_FILE') ? `The file of ${source}` : source} must be ${wanted}${isRepeated ? ` (got ${text})` : ''}.${hint && ` ${hint}`}`,
    fix: source.startsWith('--') ? `Use ${wish}, or leave it out.` : `Set it to ${wish}, or unset it.`,
    next: [farelock`config show --effective`],
  });
}

/** Finds the variables with wrong values, and the problem of each. */
export const wrongVariables = (environment: Environment): { name: SettingName; problem: Problem }[] =>
  SETTING_NAMES.flatMap((name) => {
    try {
      const given = givenTo(name, environment);
      if (given) readSetting(name, given.text, given.source);
      return [];
    } catch (error) {
      if (!isProblem(error)) throw error;
      return [{ name, problem: error }];
    }
  });

/** Warns of a key on the command line, where others can see it. */
export const keyInArgument = (name: SettingName): string => {
  const { flag, env } = rowOf(name);
  return `${flag} holds a key: others on this machine can read it in the list of processes. Give it in ${env}, or in a file that ${env}_FILE names.`;
};
