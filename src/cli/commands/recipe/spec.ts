import { argument, command, option, required } from '../../spec/index.ts';

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
