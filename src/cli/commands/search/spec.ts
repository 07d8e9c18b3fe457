import { ALLIANCES } from '../../../kernel/domain/alliances.ts';
import {
  agesOption,
  airportOption,
  argument,
  arrivalTimeOption,
  bagOptions,
  choice,
  clockTimeOption,
  collected,
  command,
  hoursOption,
  integerOption,
  option,
  required,
  usdcOption,
} from '../../spec/index.ts';

/** The options for the journey, of every command that searches. */
export const journeyOptions = [
  required('--depart <date>', 'day of departure: 2026-12-20, 20 Dec, tomorrow, +30d, fri'),
  option('--return <date>', 'return date'),
  option('--adults <n>', 'travellers, 1 to 9, aged 18 or over (12 with some sellers)', integerOption(1, 9)),
  option('--child-ages <ages>', 'ages under 18 when the last direction departs: 8,1; under 2 on a lap', agesOption),
  choice('--cabin <cabin>', ['economy', 'premium_economy', 'business', 'first']),
  ...bagOptions,
] as const;

/** Filters of offers: the service hides those that do not pass, and counts them by filter. */
export const filterOptions = [
  option('--max-stops <n>', 'stops in each direction', integerOption(0, 10)),
  option('--depart-after <time>', 'earliest departure, such as 06:30', clockTimeOption),
  option('--depart-before <time>', 'latest departure, such as 12:00', clockTimeOption),
  option('--arrive-after <time>', 'earliest arrival: 18:00, or 09:30+1 a day later', arrivalTimeOption),
  option('--arrive-before <time>', 'latest arrival', arrivalTimeOption),
  option('--max-duration <time>', 'of each direction, such as 12h30m', hoursOption),
  option('--airline <codes>', 'only flights of these airlines: TP,LH', collected),
  option('--not-airline <codes>', 'no flight of these airlines', collected),
  choice('--alliance <name>', ALLIANCES),
  option('--no-basic', "without each airline's most restricted fares"),
  option('--refundable', 'refundable fares only'),
  option('--with-bag', 'a checked bag is included'),
  option('--max-price <amount>', 'for all travellers together', usdcOption),
] as const;

export const search = command({
  name: 'search',
  summary: 'Search live flight offers (paid, 0.10 USDC and up)',
  arguments: [
    argument('<from>', 'airport or city: LIS, lisbon; LON is any airport of London', airportOption),
    argument('<to>', 'airport or city, such as BER or berlin', airportOption),
  ],
  options: [
    ...journeyOptions,
    option('--onward <flight>', 'a further flight: FCO@24dec, or NAP-LIS@28dec from elsewhere; up to 3', collected),
    ...filterOptions,
    choice('--sort <key>', ['price', 'duration', 'departure', 'emissions']),
    option('--limit <n>', 'how many to show (20)', integerOption(1, 500)),
    option('--flex <days>', 'also compare prices 1 to 3 days either side', integerOption(1, 3)),
    option('--cheapest-day', 'compare prices for every day in the month of --depart'),
    option('--all-fares', 'one line per fare, not grouped by itinerary'),
    option('--wait', 'wait for slower offers, even with --json'),
    option('--no-wait', 'show the first answer, without slower offers'),
    option('--ndjson', 'one line of JSON per offer as it arrives, then one with the status'),
  ],
  effect: 'pays',
  examples: [
    'farelock search LIS BER --depart +30d',
    'farelock search lis jfk --depart fri --max-stops 0 --json offers',
    'farelock search LIS BER --depart +30d --return +37d --flex 1 --yes',
    'farelock search LIS BER --depart +30d --cheapest-day --max-payment 5',
    'farelock search LON BER --depart 20dec --yes',
    'farelock search LIS BER --depart +30d --onward FCO@+34d --onward LIS@+37d --adults 2 --child-ages 8,1',
    'farelock search LIS BER --depart +30d --bags 1 --carry-on',
    'farelock search LIS BER --depart +30d --alliance star --no-basic --arrive-before 18:00',
  ],
});

export const searchUpdates = command({
  name: 'search updates',
  summary: 'List the slower offers of a search as they arrive; free, for 30 minutes',
  arguments: [argument('<search-id>', 'search_id of the search')],
  options: [
    option('--cursor <cursor>', 'only newer offers: the cursor of the last answer'),
    option('--wait', 'wait until every seller has answered'),
  ],
  effect: 'reads',
  examples: ['farelock search updates sch_… --wait --json'],
  list: 'offers',
});
