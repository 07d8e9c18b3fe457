import type { Command as Commander } from 'commander';
import type { AirportsOptions } from './commands/airports.ts';
import type { Command } from './context.ts';

type Runs = <O extends object>(
  load: () => Promise<Command<O>>,
) => (this: Commander, ...given: unknown[]) => void;

/** `airports`: which code a name stands for. */
export function addAirportCommand(program: Commander, runs: Runs): void {
  program
    .command('airports')
    .argument('[text...]', 'city, name or code; also the start of one, or with a small mistake')
    .description('Find the code of an airport (free)')
    .action(runs<AirportsOptions>(async () => (await import('./commands/airports.ts')).airports));
}
