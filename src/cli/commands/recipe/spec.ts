import { airportOption, argument, choiceOption, command, integerOption, option, required } from '../../spec/index.ts';

export const recipeCheck = command({
  name: 'recipe check',
  summary: "Name every mistake of recipes for carriers' sites; exit 8 when there are some",
  arguments: [argument('[files...]', 'files or folders; default: those of FARELOCK_RECIPES')],
  effect: 'reads',
  examples: ['farelock recipe check sandbox-hopper.json', 'farelock recipe check recipes --json'],
  list: 'mistakes',
});

export const recipeNew = command({
  name: 'recipe new',
  summary: "Write the beginning of a recipe for a carrier's site, with a comment for each part",
  arguments: [argument('<carrier>', 'two letters or digits of the carrier')],
  options: [
    required('--site <url>', 'address of its home page'),
    option('--name <name>', 'name of the carrier'),
    option('--out <file>', 'file to write; never an existing one'),
  ],
  effect: 'local',
  examples: ['farelock recipe new X9 --site https://www.carrier.example --out x9.json'],
});

const TRIAL_PAGES = ['offers', 'fares', 'passengers', 'till'] as const;

const siteArgument = argument('[url]', "where the carrier's site is reached, instead of the recipe's base");

const journey = [
  required('--from <airport>', 'three letters', airportOption),
  required('--to <airport>', 'three letters', airportOption),
  required('--depart <date>', 'day of departure: 2027-01-10, 10 Jan, +30d'),
  option('--return <date>', 'day of the way back'),
  option('--adults <n>', 'invented travellers, 1 to 9', integerOption(1, 9), 1),
] as const;

export const recipeTry = command({
  name: 'recipe try',
  summary:
    "Visit a carrier's site by a recipe, up to its till; pays nothing, without a card or a press; exit 8 short of the page",
  arguments: [argument('<recipe>', 'its file; parts after --until may be unfinished'), siteArgument],
  options: [
    ...journey,
    option('--until <page>', `the last page: ${TRIAL_PAGES.join(', ')}`, choiceOption(TRIAL_PAGES), 'till'),
    option('--out <folder>', 'for pictures, names and what was read (trial-<carrier>)'),
    option('--anew', 'walk from the search, not from where the last trial stopped'),
  ],
  effect: 'runs',
  examples: [
    'farelock recipe try x9.json --from VIE --to LIS --depart +30d --until offers',
    'farelock recipe try x9.json http://127.0.0.1:4050 --from VIE --to LIS --depart +30d --json till',
  ],
});

export const recipeDoctor = command({
  name: 'recipe doctor',
  summary:
    "Walk a carrier's site of today to its till, and say what moved since the recipe and the last trial; exit 8 where something did",
  arguments: [argument('<recipe>', 'its file'), siteArgument],
  options: [...journey, option('--out <folder>', 'folder of the last trial (trial-<carrier>)')],
  effect: 'runs',
  examples: ['farelock recipe doctor x9.json --from VIE --to LIS --depart +30d'],
});

export const recipeRecord = command({
  name: 'recipe record',
  summary: "Walk through a carrier's site in a browser, and keep the walk as the draft of a recipe; nothing is paid",
  arguments: [argument('<url>', 'address of its home page')],
  options: [
    required('--out <file>', 'file to write; never an existing one'),
    required('--carrier <code>', 'two letters or digits of the carrier'),
    option('--name <name>', 'name of the carrier'),
    required('--from <airport>', 'three letters', airportOption),
    required('--to <airport>', 'three letters', airportOption),
    required('--depart <date>', 'day of departure: 2027-01-10, 10 Jan, +30d'),
    option('--headed', 'open a window of the browser, too'),
  ],
  effect: 'runs',
  examples: [
    'farelock recipe record https://www.carrier.example --carrier X9 --from VIE --to LIS --depart +30d --out x9.json',
  ],
});
