import type { Command as Commander } from 'commander';
import type { OfferOptions } from '../commands/offer/run.ts';
import type { SearchOptions } from '../commands/search/run.ts';
import type { Command } from './context.ts';
import { airportOption, choiceOption, clockTimeOption, integerOption, usdcOption } from './options.ts';

type Runs = <O extends object>(
  load: () => Promise<Command<O>>,
) => (this: Commander, ...given: unknown[]) => void;

const CABINS = ['economy', 'premium_economy', 'business', 'first'] as const;
const SORTS = ['price', 'duration', 'departure', 'emissions'] as const;

/** `search`: a list of a day, the prices of days around it, or of a month. */
export function addSearchCommand(program: Commander, runs: Runs): void {
  program
    .command('search')
    .argument('<from>', 'airport or city, such as LIS or lisbon', airportOption)
    .argument('<to>', 'airport or city, such as BER or berlin', airportOption)
    .description('Search live flight offers (paid, 0.10 USDC and up)')
    .requiredOption('--depart <date>', 'day of departure: 2026-12-20, tomorrow, +30d, fri')
    .option('--return <date>', 'day of the flight back')
    .option('--adults <n>', 'travellers, 1 to 9', integerOption('--adults', 1, 9))
    .option('--cabin <cabin>', CABINS.join(', '), choiceOption('--cabin', CABINS))
    .option('--max-stops <n>', 'stops in each direction', integerOption('--max-stops', 0, 10))
    .option('--depart-after <time>', 'not before, such as 06:30', clockTimeOption('--depart-after'))
    .option('--depart-before <time>', 'not after, such as 12:00', clockTimeOption('--depart-before'))
    .option('--max-price <amount>', 'for all travellers together', usdcOption('--max-price'))
    .option('--sort <key>', SORTS.join(', '), choiceOption('--sort', SORTS))
    .option('--limit <n>', 'how many to show (20)', integerOption('--limit', 1, 500))
    .option('--flex <days>', 'prices up to so many days either side, 1 to 3', integerOption('--flex', 1, 3))
    .option('--cheapest-day', 'the price of every day of the month of --depart')
    .option('--all-fares', 'every fare on a line of its own, not grouped by itinerary')
    .option('--wait', 'wait for slower offers, with --json too')
    .option('--no-wait', 'the first answer, without waiting for slower offers')
    .option('--ndjson', 'a line of JSON for each offer as it arrives, then one with the status')
    .action(runs<SearchOptions>(async () => (await import('../commands/search/run.ts')).search));
}

/** `offer`: one offer, or the fares of its itinerary. */
export function addOfferCommand(program: Commander, runs: Runs): void {
  program
    .command('offer <offer-id>')
    .description('Fresh price, extras and fare menu of one offer (paid, 0.01 USDC; lowcost 0.10)')
    .option('--fares', 'the fares of its itinerary side by side, and what a bag costs with each')
    .action(runs<OfferOptions>(async () => (await import('../commands/offer/run.ts')).offer));
}
