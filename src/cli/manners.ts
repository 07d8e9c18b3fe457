import type { TerminalSettings } from '../terminal/terminal.ts';
import type { Environment } from './spec/globals.ts';
import type { Invocation } from './spec/tree.ts';

/** How a command that was understood is to speak. */
export const settingsOf = (
  { globals, options }: Invocation,
  fields: string[] | null,
  environment: Environment,
): TerminalSettings => ({
  json: globals.json !== undefined || 'ndjson' in options,
  fields,
  quiet: globals.quiet === true,
  verbose: globals.verbose === true,
  input: globals.input,
  color: globals.color,
  pager: globals.pager !== false && !isPlain(globals, environment),
  plain: isPlain(globals, environment),
});

/** Enough of the settings to print a problem with, from a command line that was not understood. */
export const scannedSettings = (argv: readonly string[], environment: Environment): TerminalSettings => ({
  json: argv.some((word) => /^--(nd)?json(=|$)/.test(word)),
  fields: null,
  quiet: false,
  verbose: argv.includes('--verbose') || argv.includes('-v'),
  input: false,
  color: !argv.includes('--no-color'),
  pager: false,
  plain: argv.includes('--plain') || isPlainAlways(environment),
});

const isPlain = ({ plain }: Invocation['globals'], environment: Environment): boolean =>
  plain === true || isPlainAlways(environment);

const isPlainAlways = ({ FARELOCK_PLAIN }: Environment): boolean =>
  FARELOCK_PLAIN !== undefined && !['', '0', 'false'].includes(FARELOCK_PLAIN);
