import type { Command as Commander } from 'commander';
import type { AirportsOptions } from '../commands/airports/run.ts';
import type { CompletionOptions } from '../commands/completion/run.ts';
import type { SchemaOptions } from '../commands/schema/run.ts';
import type { Command } from './context.ts';
import { choiceOption } from './options.ts';

type Runs = <O extends object>(
  load: () => Promise<Command<O>>,
) => (this: Commander, ...given: unknown[]) => void;

/** `airports`: which code a name stands for. */
export function addAirportCommand(program: Commander, runs: Runs): void {
  program
    .command('airports')
    .argument('[text...]', 'city, name or code; also the start of one, or with a small mistake')
    .description('Find the code of an airport (free)')
    .action(runs<AirportsOptions>(async () => (await import('../commands/airports/run.ts')).airports));
}

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** `schema` and `completion`: for scripts and shells. */
export function addScriptCommands(program: Commander, runs: Runs): void {
  program
    .command('schema')
    .argument('[command...]', 'such as search, or error; without one the names of all')
    .description("JSON Schema of a command's --json document")
    .action(runs<SchemaOptions>(async () => (await import('../commands/schema/run.ts')).schema));
  program
    .command('completion')
    .argument('<shell>', SHELLS.join(', '), choiceOption('shell', SHELLS))
    .description('A script that completes commands, options and values in your shell')
    .action(runs<CompletionOptions>(async () => (await import('../commands/completion/run.ts')).completion));
}
