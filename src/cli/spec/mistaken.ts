import type { Command as Commander, CommanderError } from 'commander';
import { nearest } from '../../kernel/nearest.ts';
import { quoted } from '../../kernel/shell-word.ts';
import { shownUrl } from '../../kernel/shown-url.ts';

/** A word of a command line that was likely meant to be another one. */
export interface Mistake {
  readonly at: number;
  readonly given: string;
  readonly meant: string;
}

/**
 * The first word that is no command where one stands, but nearly is: `serach`, or `intent shwo`, which the command
 * that `intent` stands for would otherwise take for an offer id.
 */
export function mistakenCommand(program: Commander, argv: readonly string[]): Mistake | null {
  let group = program;
  for (const [at, given] of argv.entries()) {
    if (given.startsWith('-')) return null;
    const child = group.commands.find((one) => one.name() === given);
    if (!child) {
      const names = group.commands.map((one) => one.name());
      const [meant] = /^[a-z][a-z-]+$/.test(given) ? nearest(given, names, 1) : [];
      return meant === undefined ? null : { at, given, meant };
    }
    if (child.commands.length === 0) return null;
    group = child;
  }
  return null;
}

/** The command that a command line names, as far as it names one: `partner orders show`. */
export function namedCommand(program: Commander, argv: readonly string[]): string[] {
  const names: string[] = [];
  let group = program;
  for (const word of argv) {
    const child = group.commands.find((one) => one.name() === word);
    if (!child && word.startsWith('-')) continue;
    if (!child) break;
    names.push(word);
    group = child;
  }
  return names;
}

/** The lists that show the ids of a group's commands. */
const LISTS: Readonly<Record<string, string>> = {
  order: 'intent list',
  payments: 'payments list',
  refund: 'refund queue',
  stuck: 'stuck list',
  travellers: 'travellers list',
};

/** Where what is missing is listed, or else how the command reads; nothing when no command was named. */
export function whereToLook(error: CommanderError, command: readonly string[]): string[] {
  const [, missing = ''] =
    error.code === 'commander.missingArgument' ? (/'([a-z-]+)'/.exec(error.message) ?? []) : [];
  const lists: Readonly<Record<string, string | null>> = {
    'offer-id': 'help search',
    'intent-id': 'intent list',
    'order-id': 'partner orders list',
    'attestation-id': 'attestations list',
    id: LISTS[command[0] ?? ''] ?? null,
  };
  const look = lists[missing] ?? (command.length > 0 ? ['help', ...command].join(' ') : null);
  return look === null ? [] : [`farelock ${look}`];
}

/** The option that there is not, and the one that was likely meant. */
export function mistakenOption(program: Commander, argv: readonly string[]): Mistake | null {
  let command = program;
  for (const [at, word] of argv.entries()) {
    if (word === '--') return null;
    const child = command.commands.find((one) => one.name() === word);
    if (child) command = child;
    if (!word.startsWith('--')) continue;
    const [given = ''] = word.split('=', 1);
    const names = [...command.options, ...program.options].flatMap(({ long }) => (long ? [long] : []));
    if (names.includes(given) || given === '--help') continue;
    const [meant] = nearest(given, names, 1);
    return meant === undefined ? null : { at, given, meant };
  }
  return null;
}

/** The command line with the mistake put right, as a shell takes it. */
export const corrected = (argv: readonly string[], { at, given, meant }: Mistake): string[] =>
  argv.map((word, index) => (index === at ? meant + word.slice(given.length) : word));

/** To copy; without what is a secret in an address, which is for whoever repeats it to fill in. */
export const commandLine = (argv: readonly string[]): string =>
  ['farelock', ...argv.map((word) => withoutKeys(word))].join(' ');

function withoutKeys(word: string): string {
  const [, option = '', value = ''] = /^(--[\w-]+=)?(.*)$/s.exec(word) ?? [];
  const shown = shownUrl(value);
  return shown === value ? quoted(word) : `${option}${shown}`;
}
