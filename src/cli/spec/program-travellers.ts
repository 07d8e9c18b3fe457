import type { Command as Commander } from 'commander';
import type { TravellerNameOptions, TravellersAddOptions } from '../commands/travellers/run.ts';
import type { Command } from './context.ts';

type Runs = <O extends object>(
  load: () => Promise<Command<O>>,
) => (this: Commander, ...given: unknown[]) => void;

const commands = () => import('../commands/travellers/run.ts');

/** `travellers`: who flies often. */
export function addTravellerCommands(program: Commander, runs: Runs): void {
  const travellers = program.command('travellers').description('Saved travellers, encrypted in this home');
  travellers
    .command('list', { isDefault: true })
    .description('Names, and which passports are missing or have expired')
    .action(runs<object>(async () => (await commands()).travellersList));
  travellers
    .command('add')
    .argument('<name>', 'what you call them, such as ana')
    .argument('[file]', 'JSON file with one passenger, - for standard input; on a terminal it asks')
    .description('Save a traveller for `book --traveller`')
    .option('--replace', 'write over the traveller of that name')
    .action(runs<TravellersAddOptions>(async () => (await commands()).travellersAdd));
  travellers
    .command('show <name>')
    .description('Everything that is kept of a traveller, in clear')
    .action(runs<TravellerNameOptions>(async () => (await commands()).travellersShow));
  travellers
    .command('remove <name>')
    .description('Remove a traveller for good')
    .action(runs<TravellerNameOptions>(async () => (await commands()).travellersRemove));
}
